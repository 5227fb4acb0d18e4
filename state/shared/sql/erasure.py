"""Take out of a database what must not stay in it, and look whether it is gone."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from pydantic import JsonValue
from sqlalchemy import Connection, Table, Text, bindparam, delete, func, or_, select, update

from state.shared.errors import JournalFault
from state.shared.sql.database import Database
from state.shared.sql.tables import (
    SEALED_ENTRY,
    SEALED_STATE,
    encode,
    entries,
    moments,
    seal,
    states,
)

Edit: TypeAlias = Callable[
    [str, tuple[dict[str, JsonValue], ...]], tuple[str, tuple[dict[str, JsonValue], ...]]
]
"""Takes a state as JSON text, and the commands that led to it; returns both without what must go."""

_CHUNK = 1 << 20
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
        key=None,
        body=None,
        checksum=bindparam("new_seal"),
    )
)
_UNSAY = delete(moments).where(moments.c.state_id == bindparam("id"))


def rewrite(database: Database, state_id: str, edit: Edit) -> None:
    """Rewrite all that is stored of a state, and drop what was said; who held it writes no more.

    Idempotency keys go too: a client may have made them of what must not stay.
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
                "new_seal": seal(row, SEALED_STATE),
            },
        )
        for entry in changed:
            state, commands = edit(entry["state"], tuple(json.loads(entry["commands"])))
            entry |= {"state": state, "commands": encode(commands), "key": None, "body": None}
            connection.execute(
                _EDIT_ENTRY,
                {
                    "id": state_id,
                    "of_version": entry["version"],
                    "new_state": state,
                    "new_commands": entry["commands"],
                    "new_seal": seal(entry, SEALED_ENTRY),
                },
            )
        connection.execute(_UNSAY, {"id": state_id})

    database.link.run(rewrite, writes=True)


def drop_said(database: Database, owner: str | None, before: datetime) -> int:
    """Delete what was said before a time; returns how many moments that were."""
    old = delete(moments).where(
        moments.c.at < before.astimezone(UTC).isoformat(timespec="microseconds")
    )
    if owner is not None:
        owned = select(states.c.state_id).where(states.c.owner == owner)
        old = old.where(moments.c.state_id.in_(owned))
    return database.link.run(lambda connection: connection.execute(old).rowcount, writes=True)


def wipe(database: Database) -> None:
    """Leave nothing of what was deleted in the database's own files.

    SQLite: the file is written anew and the write-ahead file emptied. PostgreSQL: the tables are written
    anew; its write-ahead log, replicas and backups are its administrator's.
    """
    link = database.link
    if not link.is_sqlite:
        tables = (f"VACUUM (FULL) {table.name}" for table in (entries, moments, states))
        link.outside("SET statement_timeout = 0", *tables)
        return
    busy = link.outside("PRAGMA temp_store = MEMORY", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")[
        0
    ]
    if busy:
        raise JournalFault(link.name, "another program is reading it, so traces are left")


def found(database: Database, texts: Sequence[str]) -> list[str]:
    """Say where in the database texts can still be read: its files, or its tables; case is ignored."""
    link = database.link
    if link.file is not None:
        link.close()  # so that nothing is on its way
        file = str(link.file)
        beside = [Path(file + ending) for ending in ("", "-wal", "-shm", "-journal")]
        wanted = [text.lower().encode() for text in texts]
        return [str(path) for path in beside if path.exists() and holds(path, wanted)]
    return link.run(
        lambda connection: [
            f"the table {table.name}"
            for table in (states, entries, moments)
            if connection.execute(_rows_with(table, texts)).first() is not None
        ],
        writes=False,
    )


def holds(path: Path, wanted: Sequence[bytes]) -> bool:
    """Whether one of some lower-case texts stands in a file."""
    longest = max((len(text) for text in wanted), default=0)
    with path.open("rb") as file:
        return any(text in piece for piece in _pieces(file, longest) for text in wanted)


def _pieces(file: BinaryIO, overlap: int) -> Iterator[bytes]:
    tail = b""
    while chunk := file.read(_CHUNK):
        piece = tail + chunk.lower()
        yield piece
        tail = piece[-overlap:]


def _rows_with(table: Table, texts: Sequence[str]) -> Any:
    columns = [column for column in table.columns if isinstance(column.type, Text)]
    return (
        select(table.c.state_id)
        .where(
            or_(
                *(
                    func.lower(column).contains(text.lower(), autoescape=True)
                    for column in columns
                    for text in texts
                )
            )
        )
        .limit(1)
    )
