"""Take out of a database what must not stay in it, and look whether it is gone."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue
from sqlalchemy import (
    Connection,
    Text,
    bindparam,
    delete,
    select,
    update,
)

from state.shared.command import WHOLE
from state.shared.errors import JournalFault
from state.shared.sql.database import Database
from state.shared.sql.tables import (
    encode,
    entries,
    leases,
    moments,
    seal_of_entry,
    seal_of_state,
    states,
    written,
)

Edit: TypeAlias = Callable[
    [str, tuple[dict[str, JsonValue], ...]], tuple[str, tuple[dict[str, JsonValue], ...]]
]
"""Takes a state as JSON text, and the commands that led to it; returns both without what must go."""

_ROWS = 200
"""So many rows are asked for at a time: a whole database need not fit into memory."""
_EDIT_STATE = (
    update(states)
    .where(states.c.state_id == bindparam("id"))
    .values(
        state=bindparam("new_state"), fence=bindparam("new_fence"), checksum=bindparam("new_seal")
    )
)
_EDIT_ENTRY = (
    update(entries)
    .where(entries.c.state_id == bindparam("id"), entries.c.version == bindparam("of_version"))
    .values(
        state=bindparam("new_state"),
        commands=bindparam("new_commands"),
        touched=bindparam("new_touched"),
        key=None,
        body=None,
        checksum=bindparam("new_seal"),
    )
)
_UNSAY = delete(moments).where(moments.c.state_id == bindparam("id"))
_END_LEASE = delete(leases).where(leases.c.state_id == bindparam("id"))
_DROP_LEASE = delete(leases).where(
    leases.c.owner == bindparam("of_owner"), leases.c.place == bindparam("at_place")
)


def rewrite(database: Database, state_id: str, edit: Edit) -> None:
    """Rewrite all that is stored of a state, and drop what was said; who held it writes no more.

    The lease on it, which names the guest, goes as well: who works on it finds that he has lost his place.

    Idempotency keys go too: a client may have made them of what must not stay. So do the names of the
    parts that changed: from then on each entry counts as a change of the whole.
    """

    def rewrite(connection: Connection) -> None:
        row = database.state(connection, state_id, hold=True)
        changed = [dict(entry) for entry in database.rows(connection, state_id, 0)]
        row["state"], _ = edit(row["state"], ())
        connection.execute(
            _EDIT_STATE,
            {
                "id": state_id,
                "new_state": row["state"],
                "new_fence": row["fence"] + 1,
                "new_seal": seal_of_state(row),
            },
        )
        for entry in changed:
            state, commands = edit(entry["state"], tuple(json.loads(entry["commands"])))
            entry |= {"state": state, "commands": encode(commands), "touched": encode([WHOLE])}
            entry |= {"key": None, "body": None}
            connection.execute(
                _EDIT_ENTRY,
                {
                    "id": state_id,
                    "of_version": entry["version"],
                    "new_state": state,
                    "new_commands": entry["commands"],
                    "new_touched": entry["touched"],
                    "new_seal": seal_of_entry(entry),
                },
            )
        connection.execute(_UNSAY, {"id": state_id})
        connection.execute(_END_LEASE, {"id": state_id})

    database.link.run(rewrite, writes=True)


def drop_said(database: Database, owner: str | None, before: datetime) -> int:
    """Delete what was said before a time, and leases that were over; returns how many moments that were."""
    old = delete(moments).where(moments.c.at < written(before))
    over = delete(leases).where(leases.c.until < written(before))
    if owner is not None:
        owned = select(states.c.state_id).where(states.c.owner == owner)
        old = old.where(moments.c.state_id.in_(owned))
        over = over.where(leases.c.owner == owner)

    def drop(connection: Connection) -> int:
        connection.execute(over)
        return connection.execute(old).rowcount

    return database.link.run(drop, writes=True)


def drop_leases(database: Database, owner: str | None, look: Callable[[str], bool]) -> int:
    """Delete the leases without a state that a function says yes to; returns how many those were."""

    def drop(connection: Connection) -> int:
        stateless = select(leases).where(leases.c.state_id.is_(None))
        if owner is not None:
            stateless = stateless.where(leases.c.owner == owner)
        found = [
            {"of_owner": row["owner"], "at_place": row["place"]}
            for row in connection.execute(stateless).mappings()
            if any(look(text) for text in row.values() if isinstance(text, str))
        ]
        if found:
            connection.execute(_DROP_LEASE, found)
        return len(found)

    return database.link.run(drop, writes=True)


def wipe(database: Database) -> None:
    """Leave nothing of what was deleted in the database's own files.

    SQLite: the file is written anew and the write-ahead file emptied. PostgreSQL: the tables are written
    anew; its write-ahead log, replicas and backups are its administrator's.
    """
    link = database.link
    if not link.is_sqlite:
        tables = (f"VACUUM (FULL) {table.name}" for table in (leases, entries, moments, states))
        link.outside("SET statement_timeout = 0", *tables)
        return
    busy = link.outside("PRAGMA temp_store = MEMORY", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")[
        0
    ]
    if busy:
        raise JournalFault(link.name, "another program is reading it, so traces are left")


def holding(database: Database, owner: str | None, look: Callable[[str], bool]) -> list[str]:
    """List the states of which something is stored that a function says yes to, in no particular order."""

    def holding(connection: Connection) -> list[str]:
        held: dict[str, None] = {}
        for table in (states, entries, moments, leases):
            texts = [column for column in table.columns if isinstance(column.type, Text)]
            rows = select(table.c.state_id, *texts).where(table.c.state_id.is_not(None))
            if owner is not None:
                owned = select(states.c.state_id).where(states.c.owner == owner)
                rows = rows.where(table.c.state_id.in_(owned))
            for state_id, *stored in connection.execute(rows).yield_per(_ROWS):
                if state_id not in held and any(map(look, filter(None, stored))):
                    held[state_id] = None
        return list(held)

    return database.link.run(holding, writes=False)


def files(database: Database) -> list[Path]:
    """Name the files of a SQLite database that are there, with nothing on its way into them."""
    link = database.link
    if link.file is None:
        return []
    link.close()
    beside = [Path(f"{link.file}{ending}") for ending in ("", "-wal", "-shm", "-journal")]
    return [path for path in beside if path.exists()]
