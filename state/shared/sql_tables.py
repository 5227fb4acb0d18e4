"""The journal's tables and what is done to them, one transaction each.

Runs in the journal's own thread and is imported there, when it is first needed: SQLAlchemy takes its
time. SQLite and PostgreSQL take the same statements.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    RowMapping,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from state.shared.errors import JournalFault, NotStored, OtherOwner, TakenOver, UnknownState
from state.shared.journal import Entry, Listed, VersionTaken
from state.shared.sql_connection import Link

LAYOUT = 1
"""The tables as they are below; a database with a higher number is left alone."""

FIRST_FENCE = 1
TRIES = 5
NEWER = "a newer release of this program has written it"

_metadata = MetaData()
_layout = Table("journal_layout", _metadata, Column("layout", Integer, primary_key=True))
_states = Table(
    "states",
    _metadata,
    Column("state_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("speaker", Text),
    Column("checksum", Text, nullable=False),
    UniqueConstraint("owner", "ordinal"),
)
_entries = Table(
    "entries",
    _metadata,
    Column("state_id", Text, ForeignKey("states.state_id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("commands", Text, nullable=False),
    Column("touched", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("speaker", Text),
    Column("actor", Text, nullable=False),
    Column("key", Text),
    Column("body", Text),
    Column("fence", BigInteger, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("owner", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    UniqueConstraint("state_id", "key"),
)
_latest = (
    select(func.max(_entries.c.version))
    .where(_entries.c.state_id == _states.c.state_id)
    .correlate(_states)
    .scalar_subquery()
)
# Built once: building a statement takes longer than carrying it out.
_LAYOUT_FOUND = select(func.max(_layout.c.layout))
_ONE = select(_states).where(_states.c.state_id == bindparam("id"))
_HIGHEST = select(func.max(_states.c.ordinal)).where(_states.c.owner == bindparam("owner"))
_PRESENT = (
    select(_states.c.owner, _states.c.fence, _latest)
    .where(_states.c.state_id == bindparam("id"))
    .with_for_update(of=_states)
)
_ABOVE = (
    select(_entries)
    .where(_entries.c.state_id == bindparam("id"), _entries.c.version > bindparam("above"))
    .order_by(_entries.c.version)
)
_NEWEST = (
    select(_states, _entries)
    .select_from(
        _states.outerjoin(
            _entries, (_entries.c.state_id == _states.c.state_id) & (_entries.c.version == _latest)
        )
    )
    .order_by(_states.c.opened_at.desc(), _states.c.ordinal.desc())
)
_TAKE = update(_states).where(_states.c.state_id == bindparam("id")).values(fence=bindparam("held"))
_BEGIN = insert(_states)
_WRITE = insert(_entries)
_encode = json.JSONEncoder(default=repr, separators=(",", ":")).encode
_SEALED_STATE = ("state_id", "owner", "ordinal", "schema", "opened_at", "state", "speaker")
_SEALED_ENTRY = tuple(column.name for column in _entries.columns if column.name != "checksum")


class Database:
    """One connection to the journal's tables.

    Args:
        address: The URL, as people write it.
        owner: Whose states these are; ``None`` reads everybody's.
        schema: The number of the states' own form; what a higher one wrote is not read.
        create: Whether a database that is not there may be made.
        now: The present time, aware.
    """

    def __init__(
        self,
        address: str,
        *,
        owner: str | None,
        schema: int,
        create: bool,
        now: Callable[[], datetime],
    ) -> None:
        self._owner = owner
        self._schema = schema
        self._now = now
        self._link = Link(address, create=create, settle=partial(_settle, create=create))

    # -- what can be asked ------------------------------------------------------------------------

    def create(
        self, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        """Store a new state under its owner's next ordinal; returns its row and the fence it is held by."""
        for _ in range(TRIES):
            try:
                return self._begin(state_id, make, speaker)
            except IntegrityError:  # somebody took the ordinal, on a server that lets two try
                continue
        raise JournalFault(self._link.name, "too many others are writing")

    def _begin(
        self, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        with self._link.transaction(writes=True) as connection:
            if connection.execute(_ONE, {"id": state_id}).first() is not None:
                raise JournalFault(state_id, "it exists already")
            ordinal = (connection.scalar(_HIGHEST, {"owner": self._owner}) or 0) + 1
            row: dict[str, Any] = {
                "state_id": state_id,
                "owner": self._owner,
                "ordinal": ordinal,
                "schema": self._schema,
                "opened_at": self._time(),
                "state": make(ordinal),
                "speaker": speaker,
            }
            row |= {"fence": FIRST_FENCE, "checksum": _seal(row, _SEALED_STATE)}
            connection.execute(_BEGIN, row)
        return row, FIRST_FENCE

    def take(self, state_id: str) -> tuple[Mapping[str, Any], int, tuple[Entry, ...]]:
        """Hold a state from now on: whoever held it before writes no more."""
        with self._link.transaction(writes=True) as connection:
            row = self._state(connection, state_id, hold=True)
            fence = row["fence"] + 1
            connection.execute(_TAKE, {"id": state_id, "held": fence})
            return row, fence, self._entries(connection, state_id, 0)

    def read(self, state_id: str) -> tuple[Mapping[str, Any], tuple[Entry, ...]]:
        """Read a state without holding it."""
        with self._link.transaction(writes=False) as connection:
            row = self._state(connection, state_id)
            return row, self._entries(connection, state_id, 0)

    def after(self, state_id: str, version: int) -> tuple[Entry, ...]:
        """Read a state's entries above a version."""
        with self._link.transaction(writes=False) as connection:
            return self._entries(connection, state_id, version)

    def append(self, state_id: str, fence: int | None, entry: Entry) -> None:
        """Write the next version down.

        What has to happen outside because of it (a ticket for the kitchen, a message, a charge) belongs
        into a table of its own, written in this transaction; delivering it is somebody else's work.

        Args:
            state_id: Whose entry it is.
            fence: The number it is held by; ``None`` writes under whoever holds it.
            entry: What to write.
        """
        try:
            with self._link.transaction(writes=True) as connection:
                self._append(connection, state_id, fence, entry)
        except JournalFault as fault:
            raise NotStored(fault.why) from fault
        except IntegrityError:  # the version is there, or the key
            raise VersionTaken from None

    def _append(
        self, connection: Connection, state_id: str, fence: int | None, entry: Entry
    ) -> None:
        present = connection.execute(_PRESENT, {"id": state_id}).one_or_none()
        if present is None:
            raise NotStored("it is not in the database any more")
        owner, held, latest = present
        if fence is not None and held > fence:
            raise TakenOver
        if (latest or 0) < entry.version - 1 or (fence is not None and held < fence):
            raise NotStored("the database has lost what was written before")
        row = {
            "state_id": state_id,
            "version": entry.version,
            "commands": _encode(entry.commands),
            "touched": _encode(entry.touched),
            "state": entry.state,
            "speaker": entry.speaker,
            "actor": entry.actor,
            "key": entry.key,
            "body": entry.body,
            "fence": held,
            "schema": self._schema,
            "owner": owner,
            "at": self._time(),
        }
        connection.execute(_WRITE, row | {"checksum": _seal(row, _SEALED_ENTRY)})

    def newest(self, limit: int) -> list[Listed]:
        """List the owner's states, the newest first; a damaged one says so and hides no other."""
        newest = _NEWEST if self._owner is None else _NEWEST.where(_states.c.owner == self._owner)
        with self._link.transaction(writes=False) as connection:
            return [self._listed(row) for row in connection.execute(newest.limit(limit)).mappings()]

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="microseconds")

    def close(self) -> None:
        """Let go of the connection; the next request opens it again."""
        self._link.close()

    # -- reading ----------------------------------------------------------------------------------

    def _state(
        self, connection: Connection, state_id: str, *, hold: bool = False
    ) -> dict[str, Any]:
        wanted = _ONE.with_for_update() if hold else _ONE
        found = connection.execute(wanted, {"id": state_id}).mappings().one_or_none()
        if found is None:
            raise UnknownState(state_id)
        row = dict(found)
        if self._owner is not None and row["owner"] != self._owner:
            raise OtherOwner(state_id)
        self._check(row, _SEALED_STATE, f"The beginning of {state_id}")
        return row

    def _entries(self, connection: Connection, state_id: str, above: int) -> tuple[Entry, ...]:
        rows = connection.execute(_ABOVE, {"id": state_id, "above": above}).mappings()
        entries: list[Entry] = []
        for expected, row in enumerate(rows, above + 1):
            if row["version"] != expected:
                raise JournalFault(f"Version {expected} of {state_id}", "it is missing")
            entries.append(self._entry(dict(row)))
        return tuple(entries)

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        self._check(row, _SEALED_ENTRY, f"Version {row['version']} of {row['state_id']}")
        return Entry(
            version=row["version"],
            commands=tuple(json.loads(row["commands"])),
            state=row["state"],
            speaker=row["speaker"],
            actor=row["actor"],
            key=row["key"],
            body=row["body"],
            touched=tuple(json.loads(row["touched"])),
        )

    def _listed(self, row: RowMapping) -> Listed:
        begun = {column.name: row[column] for column in _states.columns}
        last = {column.name: row[column] for column in _entries.columns}
        fault, entry = None, None
        try:
            self._check(begun, _SEALED_STATE, f"The beginning of {begun['state_id']}")
            entry = None if last["version"] is None else self._entry(last)
        except JournalFault as error:
            fault = error
        state = begun["state"] if entry is None else entry.state
        return Listed(
            state_id=begun["state_id"],
            ordinal=begun["ordinal"],
            owner=begun["owner"],
            version=last["version"] or 0,
            state=None if fault is not None else state,
            speaker=begun["speaker"] if entry is None else entry.speaker,
            fault=fault,
        )

    def _check(self, row: Mapping[str, Any], sealed: Sequence[str], what: str) -> None:
        if isinstance(row["schema"], int) and row["schema"] > self._schema:
            raise JournalFault(what, NEWER)
        if row["checksum"] != _seal(row, sealed):
            raise JournalFault(what, "it is damaged")


def _settle(link: Link, *, create: bool) -> None:
    """Find the tables as this program knows them, or make them."""
    with link.transaction(writes=False) as connection:
        there = inspect(connection).has_table(_layout.name)
    if not there and not create:
        raise JournalFault(link.name, "nothing was ever stored in it")
    if not there:
        with link.transaction(writes=True) as connection:
            _metadata.create_all(connection)
            if connection.scalar(_LAYOUT_FOUND) is None:
                connection.execute(insert(_layout), {"layout": LAYOUT})
    with link.transaction(writes=False) as connection:
        found = connection.scalar(_LAYOUT_FOUND)
    if found != LAYOUT:
        newer = found is not None and found > LAYOUT
        raise JournalFault(
            link.name, NEWER if newer else "the database does not hold what was expected"
        )


def _seal(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    return hashlib.blake2b(
        _encode([row[field] for field in fields]).encode(), digest_size=16
    ).hexdigest()
