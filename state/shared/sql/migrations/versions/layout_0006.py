"""Moves the leases to the lease store; which state a place works on stays with the states."""

import logging
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

logger = logging.getLogger(__name__)

_LASTED_S = 2.0
"""The duration of earlier leases, in seconds."""

_STORE = (
    "CREATE TABLE IF NOT EXISTS leases (owner TEXT NOT NULL, place TEXT NOT NULL, holder TEXT,"
    " since TEXT NOT NULL, until TEXT NOT NULL, tries INTEGER NOT NULL, lasts FLOAT NOT NULL,"
    " PRIMARY KEY (owner, place)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS withdrawn (owner TEXT NOT NULL, holder TEXT NOT NULL,"
    " at TEXT NOT NULL, PRIMARY KEY (owner, holder)) WITHOUT ROWID",
)


def upgrade() -> None:
    """Move the leases, and raise the first release's layout mark."""
    op.create_table(
        "places",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, primary_key=True),
        sa.Column("state_id", sa.Text, sa.ForeignKey("states.state_id"), nullable=False),
        sa.Column("guest", sa.Text),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.UniqueConstraint("state_id"),
    )
    op.execute(
        "INSERT INTO places (owner, place, state_id, guest, holder, at)"
        " SELECT owner, place, state_id, guest, coalesce(holder, ''), since FROM leases"
        " WHERE state_id IS NOT NULL"
    )
    if op.get_bind().dialect.name == "sqlite":
        _to_a_file(op.get_bind())
        op.drop_table("leases")
    else:
        op.drop_column("leases", "state_id")
        op.drop_column("leases", "guest")
        op.add_column(
            "leases", sa.Column("lasts", sa.Float, nullable=False, server_default=str(_LASTED_S))
        )
        op.alter_column("leases", "lasts", server_default=None)
        op.create_table(
            "withdrawn",
            sa.Column("owner", sa.Text, primary_key=True),
            sa.Column("holder", sa.Text, primary_key=True),
            sa.Column("at", sa.Text, nullable=False),
        )
    op.execute("UPDATE journal_layout SET layout = 6")


def _to_a_file(connection: sa.Connection) -> None:
    """Write the leases to the lease file; if that fails, their holders only have to wait."""
    rows = connection.exec_driver_sql(
        "SELECT owner, place, holder, since, until, tries FROM leases"
    ).all()
    file = connection.exec_driver_sql("PRAGMA database_list").all()[0][2]
    if not rows or not file:
        return
    try:
        _write(f"{file}.leases", [tuple(row) for row in rows])
    except (OSError, sqlite3.Error) as error:
        logger.warning("migrating the leases failed: %s", error)


def _write(file: str, rows: Sequence[tuple[Any, ...]]) -> None:
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(file)) as store, store:
        for statement in _STORE:
            store.execute(statement)
        store.executemany(
            "INSERT OR REPLACE INTO leases (owner, place, holder, since, until, tries, lasts)"
            f" VALUES (?, ?, ?, ?, ?, ?, {_LASTED_S})",
            rows,
        )
