"""What can be asked of the journal's tables, one transaction each.

Runs in the journal's own thread and is imported there. SQLite and PostgreSQL take the same statements.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from state.shared.errors import JournalFault, NotStored, OtherOwner, TakenOver, UnknownState
from state.shared.journal import Entry, Listed, Moment, VersionTaken
from state.shared.sql.connection import Link
from state.shared.sql.dialects import NOT_EXPECTED
from state.shared.sql.quick import Quick
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

FIRST_FENCE = 1
TRIES = 5
_ORDINALS = 0x6F7264
"""Which of a PostgreSQL server's free locks is ours, beside the owner's number."""
NEWER = "a newer release of this program has written it"

_latest = (
    select(func.max(entries.c.version))
    .where(entries.c.state_id == states.c.state_id)
    .correlate(states)
    .scalar_subquery()
)
# Built once: building a statement takes longer than carrying it out.
_ONE = select(states).where(states.c.state_id == bindparam("id"))
_HIGHEST = select(func.max(states.c.ordinal)).where(states.c.owner == bindparam("owner"))
_PRESENT = (
    select(states.c.owner, states.c.fence, _latest)
    .where(states.c.state_id == bindparam("id"))
    .with_for_update(of=states)
)
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
_IN_TURN = select(func.pg_advisory_xact_lock(_ORDINALS, func.hashtext(bindparam("owner"))))
"""Lets those who begin states of one owner on a server do it one after the other."""
_TAKE = update(states).where(states.c.state_id == bindparam("id")).values(fence=bindparam("held"))
_BEGIN = insert(states)
_WRITE = Quick(insert(entries))
_BEFORE = Quick(_PRESENT)
_SAID = select(moments).where(moments.c.state_id == bindparam("id")).order_by(moments.c.position)
_SAID_AT = select(moments).where(
    moments.c.state_id == bindparam("id"), moments.c.position == bindparam("at_position")
)
_LAST_SAID = select(func.max(moments.c.position)).where(moments.c.state_id == bindparam("id"))
_SAY = insert(moments)


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
        self.link = Link(address, create=create, settle=partial(_settle, create=create))
        self._owner = owner
        self._schema = schema
        self._now = now

    def close(self) -> None:
        """Let go of the connection; the next request opens it again."""
        self.link.close()

    # -- holding and writing ----------------------------------------------------------------------

    def create(
        self, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        """Store a new state under its owner's next ordinal; returns its row and the fence it is held by."""
        for _ in range(TRIES):
            try:
                return self.link.run(
                    lambda connection: self._begin(connection, state_id, make, speaker), writes=True
                )
            except IntegrityError:  # somebody took the ordinal who does not wait his turn
                continue
        raise JournalFault(self.link.name, "too many others are writing")

    def _begin(
        self, connection: Connection, state_id: str, make: Callable[[int], str], speaker: str | None
    ) -> tuple[Mapping[str, Any], int]:
        if connection.execute(_ONE, {"id": state_id}).first() is not None:
            raise JournalFault(state_id, "it exists already")
        if connection.dialect.name == "postgresql":
            connection.execute(_IN_TURN, {"owner": self._owner})
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

    def take(self, state_id: str) -> tuple[Mapping[str, Any], int, tuple[Entry, ...]]:
        """Hold a state from now on: whoever held it before writes no more."""

        def take(connection: Connection) -> tuple[Mapping[str, Any], int, tuple[Entry, ...]]:
            row = self.state(connection, state_id, hold=True)
            fence = row["fence"] + 1
            connection.execute(_TAKE, {"id": state_id, "held": fence})
            return row, fence, self._entries(connection, state_id, 0)

        return self.link.run(take, writes=True)

    def append(self, state_id: str, fence: int | None, entry: Entry) -> None:
        """Write the next version down.

        What has to happen outside because of it (a ticket for the kitchen, a message, a charge) belongs
        into a table of its own, written in this transaction; delivering it is somebody else's work.

        Args:
            state_id: Whose entry it is.
            fence: The number it is held by; ``None`` writes under whoever holds it.
            entry: What to write.
        """
        row: dict[str, Any] = {}

        def append(connection: Connection) -> None:
            row.update(self._append(connection, state_id, fence, entry))

        def happened(connection: Connection) -> bool:
            # The row's lock: a server may be committing still, though its answer got lost.
            connection.execute(_PRESENT, {"id": state_id}).first()
            found = connection.scalar(_SEAL_OF, {"id": state_id, "version": entry.version})
            return found is not None and found == row.get("checksum")

        try:
            self.link.run(append, writes=True, happened=happened)
        except JournalFault as fault:
            raise NotStored(fault.why) from fault
        except IntegrityError:  # the version is there, or the key
            raise VersionTaken from None

    def _append(
        self, connection: Connection, state_id: str, fence: int | None, entry: Entry
    ) -> dict[str, Any]:
        present = _BEFORE.run(connection, {"id": state_id})
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
            "commands": encode(entry.commands),
            "touched": encode(entry.touched),
            "state": entry.state,
            "speaker": entry.speaker,
            "actor": entry.actor,
            "key": entry.key,
            "body": entry.body,
            "fence": held,
            "schema": self._schema,
            "owner": owner,
            "at": written(self._now()),
            "turn": entry.turn,
        }
        row["checksum"] = seal_of_entry(row)
        _WRITE.run(connection, row)
        return row

    def record(self, state_id: str, fence: int | None, said: Sequence[Moment]) -> None:
        """Write down what was said, after what was written before.

        Args:
            state_id: What it was said about.
            fence: The number that state is held by; ``None`` writes whoever holds it.
            said: What was said. What was withdrawn meanwhile is left out.
        """
        if not said:
            return
        at = written(self._now())
        rows: list[dict[str, Any]] = []

        def record(connection: Connection) -> None:
            present = connection.execute(_PRESENT, {"id": state_id}).one_or_none()
            if present is None:
                raise UnknownState(state_id)
            if fence is not None and present.fence > fence:
                raise TakenOver
            last = connection.scalar(_LAST_SAID, {"id": state_id}) or 0
            rows[:] = [
                {
                    "state_id": state_id,
                    "position": position,
                    "at": written(moment.at) if moment.at is not None else at,
                    "turn": moment.turn,
                    "kind": moment.kind,
                    "who": moment.who,
                    "text": moment.text,
                }
                for position, moment in enumerate(
                    (one for one in said if one.gate is None or one.gate.begin()), last + 1
                )
            ]
            if rows:
                connection.execute(_SAY, rows)

        def happened(connection: Connection) -> bool:
            if not rows:
                return True
            connection.execute(_PRESENT, {"id": state_id}).first()
            last = {"id": state_id, "at_position": rows[-1]["position"]}
            found = connection.execute(_SAID_AT, last).mappings().one_or_none()
            return found is not None and dict(found) == rows[-1]

        self.link.run(record, writes=True, happened=happened)

    # -- reading ----------------------------------------------------------------------------------

    def read(self, state_id: str) -> tuple[Mapping[str, Any], tuple[Entry, ...]]:
        """Read a state without holding it."""

        def read(connection: Connection) -> tuple[Mapping[str, Any], tuple[Entry, ...]]:
            return self.state(connection, state_id), self._entries(connection, state_id, 0)

        return self.link.run(read, writes=False)

    def after(self, state_id: str, version: int) -> tuple[Entry, ...]:
        """Read a state's entries above a version."""
        return self.link.run(
            lambda connection: self._entries(connection, state_id, version), writes=False
        )

    def newest(self, limit: int | None) -> list[Listed]:
        """List the owner's states, the newest first; a damaged one says so and hides no other."""
        newest = _NEWEST if self._owner is None else _NEWEST.where(states.c.owner == self._owner)
        return self.link.run(
            lambda connection: [
                self._listed(row) for row in connection.execute(newest.limit(limit)).mappings()
            ],
            writes=False,
        )

    def said(self, state_id: str) -> list[Moment]:
        """Read what was said while a state was worked on, in its order."""

        def read(connection: Connection) -> list[Moment]:
            self.state(connection, state_id)
            return [
                Moment(
                    turn=row["turn"],
                    kind=row["kind"],
                    who=row["who"],
                    text=row["text"],
                    at=datetime.fromisoformat(row["at"]),
                )
                for row in connection.execute(_SAID, {"id": state_id}).mappings()
            ]

        return self.link.run(read, writes=False)

    def state(self, connection: Connection, state_id: str, *, hold: bool = False) -> dict[str, Any]:
        """Read how a state began, as it was sealed."""
        wanted = _ONE.with_for_update() if hold else _ONE
        found = connection.execute(wanted, {"id": state_id}).mappings().one_or_none()
        if found is None:
            raise UnknownState(state_id)
        row = dict(found)
        if self._owner is not None and row["owner"] != self._owner:
            raise OtherOwner(state_id)
        self._check(row, seal_of_state(row), f"The beginning of {state_id}")
        return row

    def _entries(self, connection: Connection, state_id: str, above: int) -> tuple[Entry, ...]:
        return tuple(self._entry(row) for row in self.rows(connection, state_id, above))

    def rows(
        self, connection: Connection, state_id: str, above: int
    ) -> Iterable[Mapping[str, Any]]:
        """Read the rows above a version, each as it was sealed and none missing."""
        rows = connection.execute(_ABOVE, {"id": state_id, "above": above}).mappings()
        for expected, found in enumerate(rows, above + 1):
            row = dict(found)
            if row["version"] != expected:
                raise JournalFault(f"Version {expected} of {state_id}", "it is missing")
            self._check(row, seal_of_entry(row), f"Version {expected} of {state_id}")
            yield row

    def _entry(self, row: Mapping[str, Any]) -> Entry:
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

    def _listed(self, row: RowMapping) -> Listed:
        begun = {column.name: row[column] for column in states.columns}
        last = {column.name: row[column] for column in entries.columns}
        state_id, version = begun["state_id"], last["version"]
        fault = None
        try:
            self._check(begun, seal_of_state(begun), f"The beginning of {state_id}")
            if version is not None:
                self._check(last, seal_of_entry(last), f"Version {version} of {state_id}")
        except JournalFault as error:
            fault = error
        newest = begun if version is None else last
        return Listed(
            state_id=state_id,
            ordinal=begun["ordinal"],
            owner=begun["owner"],
            version=version or 0,
            state=None if fault is not None else newest["state"],
            speaker=newest["speaker"],
            fault=fault,
        )

    def _check(self, row: Mapping[str, Any], seal: str, what: str) -> None:
        if isinstance(row["schema"], int) and row["schema"] > self._schema:
            raise JournalFault(what, NEWER)
        if row["checksum"] != seal:
            raise JournalFault(what, "it is damaged")


def _settle(link: Link, *, create: bool) -> None:
    """Find the tables as this program knows them, or bring them there."""
    # Alembic takes its time to import, and most databases are up to date.
    found = link.run(layout_of, writes=False)
    if found is None and not create:
        raise JournalFault(link.name, "nothing was ever stored in it")
    if found != LAYOUT and (found is None or found < LAYOUT):
        from alembic.util import CommandError

        from state.shared.sql.layout import bring_up_to_date

        try:
            link.run(bring_up_to_date, writes=True)
        except CommandError as error:  # a mark that none of the scripts has
            raise JournalFault(link.name, NOT_EXPECTED) from error
        found = link.run(layout_of, writes=False)
    if found != LAYOUT:
        newer = found is not None and found > LAYOUT
        raise JournalFault(link.name, NEWER if newer else NOT_EXPECTED)
