"""Bring a database's tables up to date, forwards from every released layout, in one transaction."""

import threading
from pathlib import Path

from alembic.command import stamp, upgrade
from alembic.config import Config
from sqlalchemy import Connection, inspect, text

from state.shared.sql.tables import layout_of, metadata, version_table

_SCRIPTS = Path(__file__).parent / "migrations"
_LOCK_NUMBER = 0x6A6F75726E616C
_ONE_AT_A_TIME = threading.Lock()
"""Alembic keeps what it works on in globals of its modules (alembic 1.20)."""


def upgrade_layout(connection: Connection) -> None:
    """Run every migration that a database lacks, within the transaction that is open.

    Of two programs that come to it at once the second finds it done: the transaction of SQLite, begun
    for writing, keeps it out meanwhile; on PostgreSQL a lock of our own does.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})"))
    config = Config(
        attributes={
            "connection": connection,
            "metadata": metadata,
            "version_table": version_table.name,
        }
    )
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    marked = inspect(connection).has_table(version_table.name)
    with _ONE_AT_A_TIME:
        if not marked and layout_of(connection) is not None:
            stamp(config, "0001")  # the first release left no mark of alembic's
        upgrade(config, "head")
