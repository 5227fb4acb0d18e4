"""The states of one owner in a database: create, take, read, list; and their transcripts."""

import asyncio
import builtins
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue

from state.shared.journal import Entry, Listed, Moment, StoredState
from state.shared.numbers import refuse_long_numbers, refuse_outside_column
from state.shared.schema import Migration, Schema
from state.shared.sql.access import StoreAccess
from state.shared.sql.eraser import Eraser
from state.shared.sql.place_leases import PlaceLeases
from state.shared.sql.rows import EntryRow, TranscriptRows

if TYPE_CHECKING:
    from state.shared.sql.database import Database


class SqlStore:
    """The states of one owner in a database, with their transcripts, leases and erasure.

    Nothing is opened before it is needed; SQLAlchemy is imported then, in the thread. After a failure the next
    request tries again.

    Args:
        url: ``sqlite:///path``, ``sqlite:////absolute/path`` or ``postgresql://user@host/name``.
        owner: The owner of the states; ``None`` reads all states and creates none.
        schema: The version of the states' form, from 1. Raise it by one with every change of the states' model.
        migrate: For each earlier version a function that takes a state as the JSON object of that version and returns
            that of the next one. Called in the thread when a state is read; what is written next has the new form.
        create: Whether a missing database is created, readable by this user alone.
        now: Returns the present time, aware.

    Raises:
        ValueError: ``schema`` and ``migrate`` do not fit together.
    """

    def __init__(
        self,
        url: str,
        *,
        owner: str | None,
        schema: int,
        migrate: Mapping[int, Migration] = MappingProxyType({}),
        create: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._access = StoreAccess(
            url, owner=owner, schema=Schema(schema, migrate), create=create, now=now
        )
        self.leases = PlaceLeases(self._access)
        """The leases on places, with the states that are worked on there."""
        self.eraser = Eraser(self._access)
        """Searches all that is stored, and erases from it."""

    async def create(
        self, state_id: str, make: Callable[[int], str], *, speaker: str | None = None
    ) -> StoredState:
        """Create a state and hold it.

        Args:
            state_id: A unique id.
            make: Returns the state as JSON text for its ordinal: 1 for its owner's first state, then 2. Called within
                the transaction, in the thread, perhaps more than once.
            speaker: The first active agent.

        Raises:
            JournalFault: The database cannot be used, or the id exists.
        """
        self._access.demand_owner("a state")
        row, fence = await self._access.in_states(
            lambda database: database.create(state_id, make, speaker)
        )
        self._access.fences[state_id] = fence
        return self._stored(row, (), fence)

    async def take(
        self, state_id: str, *, check: Callable[[StoredState], object] | None = None
    ) -> StoredState:
        """Take a state: from now on its previous holder's writes raise ``TakenOver``.

        Args:
            state_id: Its id.
            check: Called with the state before it is taken, within the transaction, in the thread, perhaps more than
                once. If it raises, the state stays with its holder.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """

        def take(database: "Database") -> tuple[StoredState, int]:
            return database.take(state_id, checked)

        def checked(row: Mapping[str, Any], entries: tuple[Entry, ...], fence: int) -> StoredState:
            stored = self._stored(row, entries, fence)
            if check is not None:
                check(stored)
            return stored

        stored, self._access.fences[state_id] = await self._access.in_states(take)
        return stored

    async def read(self, state_id: str, *, migrated: bool = True) -> StoredState:
        """Read a state without taking it.

        Its journal writes beside the present holder: the next version, under the holder's fence. That is how staff
        change the state of a running call; the holder loads the change with its next write.

        Args:
            state_id: Its id.
            migrated: Whether it is brought into its present form; otherwise each version has the
                form it was stored in, and only its text can be used.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used, a row of it is damaged, or a migration fails.
        """
        row, entries = await self._access.in_states(
            lambda database: database.read(state_id, migrated=migrated)
        )
        return self._stored(row, entries, None)

    async def holds(self, state_id: str) -> bool:
        """Whether the state is still held here: no other process has taken it, and it was not erased.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used.
        """
        fence = await self._access.in_states(lambda database: database.fence(state_id))
        return fence == self._access.fences.get(state_id)

    async def list(self, limit: int = 50) -> "builtins.list[Listed]":
        """List the newest states first, each in its present version.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._access.in_states(lambda database: database.newest(limit))

    async def list_of(self, state_ids: Collection[str]) -> "builtins.list[Listed]":
        """List these states as ``list`` does; those that are missing are left out.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._access.in_states(lambda database: database.newest(None, state_ids))

    def record(self, state_id: str, *said: Moment) -> "asyncio.Future[None]":
        """Start appending to a call's transcript, after what was written before.

        Returns a future that completes on its own, so a conversation need not wait for it. Rows withdrawn by their
        gate before writing begins are left out.

        Raises:
            Unstorable: A row cannot hold the number of a turn; nothing is written.

        Raises (through the future):
            JournalFault: It was not written.
            OutcomeUnknown: The database stopped answering meanwhile.
            UnknownState: There is no such state.
            TakenOver: The state was held here, and another process holds it now.
        """
        if not said:
            nothing = asyncio.get_running_loop().create_future()
            nothing.set_result(None)
            return nothing
        for moment in said:
            refuse_outside_column("turn", moment.turn)
        return self._access.write(TranscriptRows(state_id, self._access.fences.get(state_id), said))

    async def said(self, state_id: str) -> "builtins.list[Moment]":
        """Read the transcript of a state in order.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used.
        """
        return await self._access.in_states(lambda database: database.said(state_id))

    async def settings(self) -> dict[str, JsonValue]:
        """Read the settings that apply to all states of the owner, by name.

        Raises:
            JournalFault: The database cannot be used.
        """
        self._access.demand_owner("a setting")
        return await self._access.in_states(
            lambda database: _settings().read_settings(database.db, self._access.owner)
        )

    async def set_settings(self, values: Mapping[str, JsonValue]) -> None:
        """Store settings that apply to all states of the owner; those that are not named stay as they are.

        Args:
            values: Their values as JSON, by name.

        Raises:
            JournalFault: The database cannot be used.
            Unstorable: A value holds a number with thousands of digits; nothing is stored.
        """
        self._access.demand_owner("a setting")
        for name, value in values.items():
            refuse_long_numbers(value, name)
        await self._access.in_states(
            lambda database: _settings().write_settings(database.db, self._access.owner, values)
        )

    async def replace_setting(self, name: str, seen: JsonValue, value: JsonValue) -> bool:
        """Store a setting unless another writer has changed it; returns whether it was stored.

        Args:
            name: Its name.
            seen: The value that the new one was made from, as JSON; ``None`` if there was none.
            value: The new value as JSON.

        Raises:
            JournalFault: The database cannot be used.
            Unstorable: The new value holds a number with thousands of digits; nothing is stored.
        """
        self._access.demand_owner("a setting")
        refuse_long_numbers(value, name)
        return await self._access.in_states(
            lambda database: _settings().replace_setting(
                database.db, self._access.owner, name, seen, value
            )
        )

    async def try_writing(self) -> None:
        """Write to the database and the lease store without changing anything.

        Raises:
            JournalFault: One of them cannot be written to.
        """
        await self._access.in_places(lambda places: places.try_write())
        await self._access.in_leases(lambda leases: leases.try_write())

    async def close(self) -> None:
        """Finish all requests and close the database; nothing can be requested afterwards."""
        await self._access.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _stored(
        self, row: Mapping[str, Any], entries: tuple[Entry, ...], fence: int | None
    ) -> StoredState:
        return StoredState(
            state_id=row["state_id"],
            ordinal=row["ordinal"],
            opened_at=datetime.fromisoformat(row["opened_at"]),
            initial=row["state"],
            first_speaker=row["speaker"],
            entries=entries,
            journal=_SqlJournal(self._access, row["state_id"], fence),
            schema=self._access.schema.version,
        )


def _settings() -> ModuleType:
    # Imports SQLAlchemy, so it is called in the thread.
    from state.shared.sql import settings

    return settings


class _SqlJournal:
    """The journal of one state: held by a fence, or written beside its holder."""

    def __init__(self, access: StoreAccess, state_id: str, fence: int | None) -> None:
        self._access = access
        self._state_id = state_id
        self._fence = fence

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry; refused if another process has taken the state."""
        return self._access.write(EntryRow(self._state_id, self._fence, entry))

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first."""
        return await self._access.in_states(
            lambda database: database.after(self._state_id, version)
        )
