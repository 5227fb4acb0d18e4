"""Operations on the journal's tables, one transaction each.

Runs in the journal's thread and is imported only there. SQLite and PostgreSQL run the same statements.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection, RowMapping, Table, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from state.shared.errors import (
    JournalFault,
    NotStored,
    OtherOwner,
    OutcomeUnknown,
    StateError,
    TakenOver,
    UnknownState,
)
from state.shared.journal import WITHDRAWN, Entry, Listed, Moment, VersionTaken
from state.shared.schema import Schema
from state.shared.sql import driver_statements
from state.shared.sql.connection import DatabaseConnection
from state.shared.sql.dialects import NOT_EXPECTED, is_deadlock
from state.shared.sql.driver_statements import StateHead
from state.shared.sql.rows import (
    LOCKED,
    EntryRow,
    LockNotGranted,
    RetryAlone,
    Row,
    RowResult,
    TranscriptRows,
)
from state.shared.sql.tables import (
    LAYOUT,
    encode,
    entries,
    layout_of,
    moments,
    seal_of_entry,
    seal_of_state,
    states,
    written,
)

T = TypeVar("T")

FIRST_FENCE = 1
TRIES = 5
_ORDINALS = 0x6F7264
"""The class of our PostgreSQL advisory locks; the second key is a hash of the owner."""
NEWER = "a newer release of this program has written it"

_latest = (
    select(func.max(entries.c.version))
    .where(entries.c.state_id == states.c.state_id)
    .correlate(states)
    .scalar_subquery()
)
# Built once: building a statement takes longer than executing it.
_ONE = select(states).where(states.c.state_id == bindparam("id"))
_HIGHEST = select(func.max(states.c.ordinal)).where(states.c.owner == bindparam("owner"))
_SEAL_OF = select(entries.c.checksum).where(
    entries.c.state_id == bindparam("id"), entries.c.version == bindparam("version")
)
_ABOVE = (
    select(entries)
    .where(entries.c.state_id == bindparam("id"), entries.c.version > bindparam("above"))
    .order_by(entries.c.version)
)
_NEWEST = (
    select(states, entries)
    .select_from(
        states.outerjoin(
            entries, (entries.c.state_id == states.c.state_id) & (entries.c.version == _latest)
        )
    )
    .order_by(states.c.opened_at.desc(), states.c.ordinal.desc())
)
_LOCK_OWNER = select(func.pg_advisory_xact_lock(_ORDINALS, func.hashtext(bindparam("owner"))))
"""On a server, makes processes that create states of one owner do it one after the other."""
_TAKE = update(states).where(states.c.state_id == bindparam("id")).values(fence=bindparam("held"))
_BEGIN = insert(states)
_SAID = select(moments).where(moments.c.state_id == bindparam("id")).order_by(moments.c.position)
_SAID_AT = select(moments).where(
    moments.c.state_id == bindparam("id"), moments.c.position == bindparam("at_position")
)

_Rows: TypeAlias = list[dict[str, Any]]


class Database:
    """One connection to the journal's tables.

    Args:
        address: The database URL.
        owner: The owner of the states; ``None`` reads all states.
        schema: The states' own schema; rows with a higher one are not read, earlier ones are migrated.
        create: Whether a missing database may be created.
        now: Returns the present time, aware.
    """

    def __init__(
        self,
        address: str,
        *,
        owner: str | None,
        schema: Schema,
        create: bool,
        now: Callable[[], datetime],
    ) -> None:
        self.db = DatabaseConnection(
            address, create=create, on_open=partial(_ensure_layout, create=create)
        )
        self._owner = owner
        self._migrations = schema
        self._schema = schema.version
        self._now = now

    def close(self) -> None:
        """Close the connection; the next request reopens it."""
        self.db.close()

    # -- holding and writing ----------------------------------------------------------------------

    def create(
        self, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        """Store a new state under its owner's next ordinal; return its row and its fence."""
        for _ in range(TRIES):
            try:
                return self.db.run(
                    lambda connection: self._begin(connection, state_id, make, speaker), writes=True
                )
            except IntegrityError:  # a process without the lock took the ordinal
                continue
        raise JournalFault(self.db.name, "too many others are writing")

    def _begin(
        self, connection: Connection, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        if connection.execute(_ONE, {"id": state_id}).first() is not None:
            raise JournalFault(state_id, "it exists already")
        if connection.dialect.name == "postgresql":
            connection.execute(_LOCK_OWNER, {"owner": self._owner})
        ordinal = (connection.scalar(_HIGHEST, {"owner": self._owner}) or 0) + 1
        row: dict[str, Any] = {
            "state_id": state_id,
            "owner": self._owner,
            "ordinal": ordinal,
            "schema": self._schema,
            "opened_at": written(self._now()),
            "state": make(ordinal),
            "speaker": speaker,
        }
        row |= {"fence": FIRST_FENCE, "checksum": seal_of_state(row)}
        connection.execute(_BEGIN, row)
        return row, FIRST_FENCE

    def take(
        self, state_id: str, accept: Callable[[Mapping[str, Any], tuple[Entry, ...], int], T]
    ) -> tuple[T, int]:
        """Take a state: from now on its previous holder cannot write.

        Args:
            state_id: The state.
            accept: Called with its row, its entries and the new fence; if it raises, nothing is changed.

        Returns:
            The result of ``accept``, and the fence.
        """

        def take(connection: Connection) -> tuple[T, int]:
            row = self.state(connection, state_id, hold=True)
            fence = row["fence"] + 1
            taken = accept(self.migrated(row), self._entries(connection, state_id, 0), fence)
            connection.execute(_TAKE, {"id": state_id, "held": fence})
            return taken, fence

        return self.db.run(take, writes=True)

    def write(self, wanted: Sequence[Row], *, alone: bool = False) -> list[RowResult]:
        """Write entries and transcript rows in one transaction, in order; return the result of each.

        One that is refused does not affect the others. If the row that made the whole transaction fail is not
        known, each gets ``RetryAlone``.

        Effects of a change outside the database (a message, a charge, a job for a printer) belong in a
        table of their own, written in this transaction; delivering them is a separate task.

        Args:
            wanted: The rows to write.
            alone: Whether it is a single one, which waits for locks held elsewhere and never gets ``RetryAlone``.
        """
        batch = _Batch(wanted, alone)
        try:
            if self._write_single(batch):
                return [None]
            self.db.write(lambda driver: self._write(driver, batch), batch.check_stored)
        except OutcomeUnknown:
            return batch.outcomes(lambda one: OutcomeUnknown())
        except RetryAlone:
            if not alone:
                return batch.outcomes(lambda one: RetryAlone())
            return batch.outcomes(self._conflict)
        except JournalFault as fault:
            if batch.can_retry_alone(fault):
                return batch.outcomes(lambda one: RetryAlone())
            why = fault
            if fault.why == LOCKED and not batch.begun:
                return batch.outcomes(lambda one: LockNotGranted(one.error_for(why)))
            return batch.outcomes(lambda one: one.error_for(why))
        return batch.outcomes(None)

    def _write(self, driver: Any, batch: "_Batch") -> None:
        batch.begin()
        now = written(self._now())
        state_ids = [one.state_id for one in batch.wanted]
        said = any(isinstance(one, TranscriptRows) for one in batch.wanted)
        heads = driver_statements.lock_heads(driver, state_ids, waits=batch.alone, said=said)
        for at, one in enumerate(batch.wanted):
            found = heads.get(one.state_id)
            try:
                if found is None and not batch.alone:
                    raise RetryAlone  # locked elsewhere, or missing
                if isinstance(one, EntryRow):
                    batch.rows_of[at], heads[one.state_id] = self._entry_rows(one, found, now)
                else:
                    batch.rows_of[at], heads[one.state_id] = _transcript_rows(one, found, now)
            except (StateError, VersionTaken, RetryAlone) as refusal:
                batch.refused[at] = refusal
        for table, rows in batch.rows().items():
            if not driver_statements.insert(driver, table, rows):
                raise RetryAlone

    def _write_single(self, batch: "_Batch") -> bool:
        """Write the most frequent case, the next version of one state held here, in one step of SQLite."""
        one = batch.wanted[0]
        if len(batch.wanted) > 1 or batch.alone or not isinstance(one, EntryRow):
            return False
        if one.fence is None or self._owner is None or not self.db.polls_lock:
            return False
        row = self._row(one, one.fence, self._owner, written(self._now()))
        batch.rows_of[0] = [row]
        statement, values = driver_statements.insert_next(row)
        return self.db.write_in_one_step(statement, values, one.entry.gate, batch.check_stored)

    def _entry_rows(
        self, one: EntryRow, found: StateHead | None, now: str
    ) -> tuple[_Rows, StateHead]:
        entry, fence = one.entry, one.fence
        if found is None:
            raise NotStored("it is not in the database any more")
        if fence is not None and found.fence > fence:
            raise TakenOver
        if found.version < entry.version - 1 or (fence is not None and found.fence < fence):
            raise NotStored("the database has lost what was written before")
        if found.version >= entry.version:
            raise VersionTaken
        if entry.gate is not None and not entry.gate.begin():
            raise NotStored(WITHDRAWN)
        row = self._row(one, found.fence, found.owner, now)
        return [row], StateHead(found.owner, found.fence, entry.version, found.position)

    def _row(self, one: EntryRow, fence: int, owner: str, now: str) -> dict[str, Any]:
        entry = one.entry
        row: dict[str, Any] = {
            "state_id": one.state_id,
            "version": entry.version,
            "commands": encode(entry.commands),
            "touched": encode(entry.touched),
            "state": entry.state,
            "speaker": entry.speaker,
            "actor": entry.actor,
            "key": entry.key,
            "body": entry.body,
            "fence": fence,
            "schema": self._schema,
            "owner": owner,
            "at": now,
            "turn": entry.turn,
        }
        row["checksum"] = seal_of_entry(row)
        return row

    def _conflict(self, one: Row) -> Exception:
        if isinstance(one, EntryRow):  # its key exists already
            return VersionTaken()
        return JournalFault(self.db.name, NOT_EXPECTED)

    # -- reading ----------------------------------------------------------------------------------

    def read(
        self, state_id: str, *, migrated: bool = True
    ) -> tuple[Mapping[str, Any], tuple[Entry, ...]]:
        """Read a state without taking it, in the present form or as it is stored."""

        def read(connection: Connection) -> tuple[Mapping[str, Any], tuple[Entry, ...]]:
            row = self.state(connection, state_id)
            if not migrated:
                return row, tuple(map(_entry, self.rows(connection, state_id, 0)))
            return self.migrated(row), self._entries(connection, state_id, 0)

        return self.db.run(read, writes=False)

    def fence(self, state_id: str) -> int:
        """Read the fence of a state's holder."""
        return self.db.run(
            lambda connection: int(self.state(connection, state_id)["fence"]), writes=False
        )

    def after(self, state_id: str, version: int) -> tuple[Entry, ...]:
        """Read a state's entries above a version."""
        return self.db.run(
            lambda connection: self._entries(connection, state_id, version), writes=False
        )

    def newest(self, limit: int | None, of: Collection[str] | None = None) -> list[Listed]:
        """List the owner's states, or these of them, newest first; a damaged one is marked and hides no other."""
        newest = _NEWEST if self._owner is None else _NEWEST.where(states.c.owner == self._owner)
        if of is not None:
            newest = newest.where(states.c.state_id.in_([*of]))
        return self.db.run(
            lambda connection: [
                self._listed(row) for row in connection.execute(newest.limit(limit)).mappings()
            ],
            writes=False,
        )

    def said(self, state_id: str) -> list[Moment]:
        """Read a state's transcript in order."""

        def read(connection: Connection) -> list[Moment]:
            self.state(connection, state_id)
            return [
                Moment(
                    turn=row["turn"],
                    kind=row["kind"],
                    who=row["who"],
                    text=row["text"],
                    at=datetime.fromisoformat(row["at"]),
                    utterance=row["utterance"],
                )
                for row in connection.execute(_SAID, {"id": state_id}).mappings()
            ]

        return self.db.run(read, writes=False)

    def state(self, connection: Connection, state_id: str, *, hold: bool = False) -> dict[str, Any]:
        """Read a state's first row and verify its checksum."""
        wanted = _ONE.with_for_update() if hold else _ONE
        found = connection.execute(wanted, {"id": state_id}).mappings().one_or_none()
        if found is None:
            raise UnknownState(state_id)
        row = dict(found)
        if self._owner is not None and row["owner"] != self._owner:
            raise OtherOwner(state_id)
        self._check(row, seal_of_state(row), _name(row))
        return row

    def _entries(self, connection: Connection, state_id: str, above: int) -> tuple[Entry, ...]:
        return tuple(_entry(self.migrated(row)) for row in self.rows(connection, state_id, above))

    def rows(
        self, connection: Connection, state_id: str, above: int
    ) -> Iterable[Mapping[str, Any]]:
        """Read the entries above a version, verifying each checksum and that none is missing."""
        rows = connection.execute(_ABOVE, {"id": state_id, "above": above}).mappings()
        for expected, found in enumerate(rows, above + 1):
            row = dict(found)
            if row["version"] != expected:
                raise JournalFault(f"Version {expected} of {state_id}", "it is missing")
            self._check(row, seal_of_entry(row), _name(row))
            yield row

    def migrated(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row with its state in the present form."""
        if row["schema"] == self._schema:
            return row
        state = self._migrations.migrated(row["state"], row["schema"], _name(row))
        return {**row, "state": state, "schema": self._schema}

    def _listed(self, row: RowMapping) -> Listed:
        begun = {column.name: row[column] for column in states.columns}
        last = {column.name: row[column] for column in entries.columns}
        newest: Mapping[str, Any] = begun if last["version"] is None else last
        speaker, version = newest["speaker"], last["version"] or 0
        state = fault = None
        try:
            self._check(begun, seal_of_state(begun), _name(begun))
            if newest is last:
                self._check(last, seal_of_entry(last), _name(last))
            state = self.migrated(newest)["state"]
        except JournalFault as error:
            fault = error
        return Listed(
            state_id=begun["state_id"],
            ordinal=begun["ordinal"],
            owner=begun["owner"],
            version=version,
            state=state,
            speaker=speaker,
            fault=fault,
            schema=self._schema,
        )

    def _check(self, row: Mapping[str, Any], seal: str, what: str) -> None:
        if isinstance(row["schema"], int) and row["schema"] > self._schema:
            raise JournalFault(what, NEWER)
        if row["checksum"] != seal:
            raise JournalFault(what, "it is damaged")


class _Batch:
    """Rows to write in one transaction, and their results.

    Args:
        wanted: The rows to write.
        alone: Whether it is a single one that is not retried.
    """

    def __init__(self, wanted: Sequence[Row], alone: bool) -> None:
        self.wanted = wanted
        self.alone = alone
        self.refused: dict[int, Exception] = {}
        """The error of each refused one, by its index in the batch."""
        self.rows_of: dict[int, _Rows] = {}
        """The rows of each other one, by its index."""
        self.begun = False
        """Whether its transaction has begun."""
        self._stored: set[int] = set()

    def begin(self) -> None:
        """Discard results from a connection that was lost."""
        self.begun = True
        self.refused.clear()
        self.rows_of.clear()

    def rows(self) -> dict[Table, _Rows]:
        """Return the rows by table."""
        rows: dict[Table, _Rows] = {}
        for at, new in self.rows_of.items():
            table = entries if isinstance(self.wanted[at], EntryRow) else moments
            rows.setdefault(table, []).extend(new)
        return rows

    def check_stored(self, connection: Connection) -> bool:
        """Check on a new connection which rows were stored, after the answer to the commit was lost."""
        # Take the states' locks: the server may still be committing.
        driver = connection.connection.dbapi_connection
        driver_statements.lock_heads(
            driver, [self.wanted[at].state_id for at in self.rows_of], waits=True, said=False
        )
        self._stored = {
            at for at, rows in self.rows_of.items() if not rows or _is_there(connection, rows[-1])
        }
        return len(self._stored) == len(self.rows_of)

    def can_retry_alone(self, fault: JournalFault) -> bool:
        """Whether the fault may be due to one of them, or to all of them together."""
        if self.alone or not self.begun:
            return False
        return is_deadlock(fault.__cause__) or (len(self.wanted) > 1 and not fault.passing)

    def outcomes(self, failed: Callable[[Row], Exception] | None) -> list[RowResult]:
        """Return the result of each.

        Args:
            failed: Returns the error of those that were not refused; ``None`` if they are stored.
        """
        return [
            self.refused[at]
            if at in self.refused
            else None
            if failed is None or at in self._stored
            else failed(one)
            for at, one in enumerate(self.wanted)
        ]


def _transcript_rows(
    one: TranscriptRows, found: StateHead | None, now: str
) -> tuple[_Rows, StateHead]:
    if found is None:
        raise UnknownState(one.state_id)
    if one.fence is not None and found.fence > one.fence:
        raise TakenOver
    rows: _Rows = [
        {
            "state_id": one.state_id,
            "position": position,
            "at": written(moment.at) if moment.at is not None else now,
            "turn": moment.turn,
            "kind": moment.kind,
            "who": moment.who,
            "text": moment.text,
            "utterance": moment.utterance,
        }
        for position, moment in enumerate(
            (moment for moment in one.moments if moment.gate is None or moment.gate.begin()),
            found.position + 1,
        )
    ]
    return rows, StateHead(found.owner, found.fence, found.version, found.position + len(rows))


def _name(row: Mapping[str, Any]) -> str:
    """Name a row for errors."""
    part = f"Version {row['version']}" if "version" in row else "The beginning"
    return f"{part} of {row['state_id']}"


def _is_there(connection: Connection, row: Mapping[str, Any]) -> bool:
    if "checksum" in row:
        at = {"id": row["state_id"], "version": row["version"]}
        return bool(connection.scalar(_SEAL_OF, at) == row["checksum"])
    at = {"id": row["state_id"], "at_position": row["position"]}
    found = connection.execute(_SAID_AT, at).mappings().one_or_none()
    return found is not None and dict(found) == row


def _ensure_layout(db: DatabaseConnection, *, create: bool) -> None:
    """Check that the tables have the present layout; create or migrate them if needed."""
    # Importing alembic takes time, and most databases are up to date.
    found = db.run(layout_of, writes=False)
    if found is None and not create:
        raise JournalFault(db.name, "nothing was ever stored in it")
    if found != LAYOUT and (found is None or found < LAYOUT):
        from alembic.util import CommandError

        from state.shared.sql.layout import upgrade_layout

        try:
            db.run(upgrade_layout, writes=True)
        except CommandError as error:  # none of the scripts has this revision
            raise JournalFault(db.name, NOT_EXPECTED) from error
        found = db.run(layout_of, writes=False)
    if found != LAYOUT:
        newer = found is not None and found > LAYOUT
        raise JournalFault(db.name, NEWER if newer else NOT_EXPECTED)


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(
        version=row["version"],
        commands=tuple(json.loads(row["commands"])),
        state=row["state"],
        speaker=row["speaker"],
        actor=row["actor"],
        key=row["key"],
        body=row["body"],
        touched=tuple(json.loads(row["touched"])),
        turn=row["turn"],
    )
