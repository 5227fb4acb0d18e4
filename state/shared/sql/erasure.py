"""Erases personal data from a database, and searches for what is left."""

import json
from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Text, bindparam, delete, select, true, update

from state.shared.command import WHOLE
from state.shared.errors import JournalFault
from state.shared.sql.database import Database
from state.shared.sql.places import release
from state.shared.sql.tables import (
    encode,
    entries,
    last_states,
    moments,
    places,
    seal_of_entry,
    seal_of_state,
    states,
    written,
)

Edit: TypeAlias = Callable[
    [str, tuple[dict[str, JsonValue], ...]], tuple[str, tuple[dict[str, JsonValue], ...]]
]
"""Takes a state as JSON text and the commands that led to it; returns both without what must be erased."""

_ROWS = 200
"""How many rows are fetched at a time: a whole database need not fit into memory."""
_EDIT_STATE = (
    update(states)
    .where(states.c.state_id == bindparam("id"))
    .values(
        state=bindparam("new_state"),
        schema=bindparam("new_schema"),
        fence=bindparam("new_fence"),
        checksum=bindparam("new_seal"),
    )
)
_EDIT_ENTRY = (
    update(entries)
    .where(entries.c.state_id == bindparam("id"), entries.c.version == bindparam("of_version"))
    .values(
        state=bindparam("new_state"),
        schema=bindparam("new_schema"),
        commands=bindparam("new_commands"),
        touched=bindparam("new_touched"),
        key=None,
        body=None,
        checksum=bindparam("new_seal"),
    )
)
_DELETE_TRANSCRIPT = delete(moments).where(moments.c.state_id == bindparam("id"))


def rewrite(database: Database, state_id: str, edit: Edit, migrated: bool) -> list[tuple[str, str]]:
    """Rewrite everything stored of a state, and delete its transcript and its place.

    Returns its places by owner and name, whose leases have to be ended. The present holder can write no more.

    Every version gets the present schema, or without a migration that of the first version. Idempotency keys are
    deleted too, since a client may have derived them from personal data. So are the names of changed parts: each
    entry counts as a change of the whole state from then on.
    """

    def rewrite(connection: Connection) -> list[tuple[str, str]]:
        row = database.state(connection, state_id, hold=True)
        changed = [dict(one) for one in database.rows(connection, state_id, 0)]
        if migrated:
            row = dict(database.migrated(row))
            changed = [dict(database.migrated(one)) for one in changed]
        row["state"], _ = edit(row["state"], ())
        connection.execute(
            _EDIT_STATE,
            {
                "id": state_id,
                "new_state": row["state"],
                "new_schema": row["schema"],
                "new_fence": row["fence"] + 1,
                "new_seal": seal_of_state(row),
            },
        )
        for entry in changed:
            state, commands = edit(entry["state"], tuple(json.loads(entry["commands"])))
            entry |= {"state": state, "commands": encode(commands), "touched": encode([WHOLE])}
            entry |= {"key": None, "body": None, "schema": row["schema"]}
            connection.execute(
                _EDIT_ENTRY,
                {
                    "id": state_id,
                    "of_version": entry["version"],
                    "new_state": state,
                    "new_schema": entry["schema"],
                    "new_commands": entry["commands"],
                    "new_touched": entry["touched"],
                    "new_seal": seal_of_entry(entry),
                },
            )
        connection.execute(_DELETE_TRANSCRIPT, {"id": state_id})
        return release(connection, state_id)

    return database.db.run(rewrite, writes=True)


def last_said(database: Database, owner: str | None, before: datetime) -> datetime | None:
    """Return the time of the last transcript row before a time; ``None`` if there is none."""
    old = (moments.c.at < written(before)) & _is_of(owner, moments.c.state_id)
    last = select(moments.c.at).where(old).order_by(moments.c.at.desc()).limit(1)
    at = database.db.run(lambda connection: connection.scalar(last), writes=False)
    return datetime.fromisoformat(at) if at is not None else None


def drop_said(database: Database, owner: str | None, before: datetime) -> int:
    """Delete transcript rows older than a time; return how many."""
    old = delete(moments).where(moments.c.at < written(before), _is_of(owner, moments.c.state_id))
    return database.db.run(lambda connection: connection.execute(old).rowcount, writes=True)


def _is_of(owner: str | None, state_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a state is of an owner; ``None`` is every owner."""
    if owner is None:
        return true()
    return state_id.in_(select(states.c.state_id).where(states.c.owner == owner))


def wipe(database: Database) -> None:
    """Remove deleted data from the database files.

    SQLite: the file is rewritten and the WAL truncated. PostgreSQL: the tables are rewritten; its WAL, replicas and
    backups are up to its administrator.
    """
    db = database.db
    if not db.is_sqlite:
        tables = (
            f"VACUUM (FULL) {table.name}"
            for table in (places, last_states, entries, moments, states)
        )
        db.run_outside_transaction("SET statement_timeout = 0", *tables)
        return
    busy = db.run_outside_transaction(
        "PRAGMA temp_store = MEMORY", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"
    )[0]
    if busy:
        raise JournalFault(db.name, "another program is reading it, so traces are left")


def search(
    database: Database,
    owner: str | None,
    matches: Callable[[str], bool],
    at: Collection[tuple[str, str]],
) -> list[str]:
    """List the states with any stored text that matches, in no particular order.

    Args:
        database: The database.
        owner: The states' owner; ``None`` searches all.
        matches: The function.
        at: Places by owner and name, whose states are listed in any case.
    """

    def search(connection: Connection) -> list[str]:
        found: dict[str, None] = {}
        for table in (states, entries, moments, places, last_states):
            texts = [column for column in table.columns if isinstance(column.type, Text)]
            rows = select(table.c.state_id, *texts).where(_is_of(owner, table.c.state_id))
            for state_id, *stored in connection.execute(rows).yield_per(_ROWS):
                if state_id not in found and any(map(matches, filter(None, stored))):
                    found[state_id] = None
        there = connection.execute(select(places.c.owner, places.c.place, places.c.state_id))
        found.update({one.state_id: None for one in there if (one.owner, one.place) in at})
        return list(found)

    return database.db.run(search, writes=False)


def files(database: Database) -> list[Path]:
    """List the existing files of a SQLite database, with no write in progress."""
    db = database.db
    if db.file is None:
        return []
    db.close()
    beside = [Path(f"{db.file}{ending}") for ending in ("", "-wal", "-shm", "-journal")]
    return [path for path in beside if path.exists()]
