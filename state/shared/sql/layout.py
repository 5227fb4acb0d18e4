"""Migrates a database's tables from any released layout to the present one, in one transaction."""

import threading
from pathlib import Path

from alembic.command import stamp, upgrade
from alembic.config import Config
from sqlalchemy import Connection, inspect, text

from state.shared.sql.tables import layout_of, metadata, version_table

_SCRIPTS = Path(__file__).parent / "migrations"
_LOCK_NUMBER = 0x6A6F75726E616C
_ONE_AT_A_TIME = threading.Lock()
"""Alembic keeps its working data in module globals (alembic 1.20)."""


def upgrade_layout(connection: Connection) -> None:
    """Run every missing migration within the open transaction.

    Two programs at once: the second one finds it done. SQLite's write transaction keeps it out meanwhile; on
    PostgreSQL an advisory lock does.
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
            stamp(config, "0001")  # the first release did not use alembic's version table
        upgrade(config, "head")
