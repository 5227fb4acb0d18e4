"""The states of one owner in a database: create, take, read, lease, erase."""

import asyncio
import builtins
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from state.shared.errors import JournalFault, LeaseLost
from state.shared.journal import Entry, Listed, Moment, Stored
from state.shared.lease import Lease
from state.shared.schema import Migration, Schema
from state.shared.sql.rows import EntryRow, TranscriptRows
from state.shared.sql.thread import DatabaseThread

if TYPE_CHECKING:
    from state.shared.sql.database import Database
    from state.shared.sql.erasure import Edit
    from state.shared.sql.leases import Leases
    from state.shared.sql.places import Place, Places

T = TypeVar("T")

logger = logging.getLogger(__name__)

_TRIES = 5


class SqlStore:
    """The states of one owner in a database, and the thread that reads and writes it.

    Leases are kept in a separate lease store with a thread and a connection of its own, so that a renewal waits for
    no change of a state. What a place works on is stored with the states.

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
        self._owner = owner
        self._now = now
        self._schema = forms = Schema(schema, migrate)
        self._fences: dict[str, int] = {}
        self._thread = DatabaseThread(
            lambda: _open(url, owner=owner, schema=forms, create=create, now=now)
        )
        self._lease_thread = DatabaseThread(lambda: _open_leases(url, owner, now))
        self._migrated = False

    async def create(
        self, state_id: str, make: Callable[[int], str], *, speaker: str | None = None
    ) -> Stored:
        """Create a state and hold it.

        Args:
            state_id: A unique id.
            make: Returns the state as JSON text for its ordinal: 1 for its owner's first state, then 2. Called within
                the transaction, in the thread, perhaps more than once.
            speaker: The first active agent.

        Raises:
            JournalFault: The database cannot be used, or the id exists.
        """
        if self._owner is None:
            raise ValueError("a state needs an owner")
        row, fence = await self._thread.ask(
            lambda database: database.create(state_id, make, speaker)
        )
        self._fences[state_id] = fence
        return self._stored(row, (), fence)

    async def take(
        self, state_id: str, *, check: Callable[[Stored], object] | None = None
    ) -> Stored:
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

        def take(database: "Database") -> tuple[Stored, int]:
            return database.take(state_id, checked)

        def checked(row: Mapping[str, Any], entries: tuple[Entry, ...], fence: int) -> Stored:
            stored = self._stored(row, entries, fence)
            if check is not None:
                check(stored)
            return stored

        stored, self._fences[state_id] = await self._thread.ask(take)
        return stored

    async def read(self, state_id: str) -> Stored:
        """Read a state without taking it.

        Its journal writes beside the present holder: the next version, under the holder's fence. That is how staff
        change the state of a running call; the holder loads the change with its next write.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """
        row, entries = await self._thread.ask(lambda database: database.read(state_id))
        return self._stored(row, entries, None)

    async def list(self, limit: int = 50) -> "builtins.list[Listed]":
        """List the newest states first, each in its present version.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: database.newest(limit))

    def record(self, state_id: str, *said: Moment) -> "asyncio.Future[None]":
        """Start appending to a call's transcript, after what was written before.

        Returns a future that completes on its own, so a conversation need not wait for it. Rows withdrawn by their
        gate before writing begins are left out.

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
        return self._thread.write(TranscriptRows(state_id, self._fences.get(state_id), said))

    async def said(self, state_id: str) -> "builtins.list[Moment]":
        """Read the transcript of a state in order.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: database.said(state_id))

    # -- leases ------------------------------------------------------------------------------------

    async def take_place(
        self,
        place: str,
        holder: str,
        *,
        seconds: float,
        supersedes: str | None = None,
        tries: int | None = None,
    ) -> Lease:
        """Take the lease on a place; of two concurrent requests one succeeds.

        A lease is granted only while states can be written. If the caller holds it already, it is renewed. The
        returned lease names the state the place works on if the work there has not finished: the caller continues it.

        Args:
            place: The place, by any name.
            holder: The holder, by a name that is never used again.
            seconds: How long the lease lasts unless it is renewed.
            supersedes: A holder known to be dead or leaving; its lease need not have expired.
            tries: How many holders died there before, if the dispatcher has counted; else it is counted here.

        Raises:
            LeaseHeld: Another holder's lease has not expired.
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._needs_owner()
        await self._in_places(lambda places: places.check_connection(writes=True))
        lease = await self._in_leases(
            lambda leases: leases.take(place, holder, seconds, supersedes, tries)
        )
        # After taking the lease: until then the previous holder may have assigned a state.
        return await self._in_places(lambda places: _joined(lease, places.at(place)))

    async def assign(self, place: str, holder: str, *, state_id: str, guest: str | None) -> None:
        """Record which state a place works on, and for whom. The state is removed from any other place.

        Args:
            place: The place.
            holder: The holder of its lease.
            state_id: The state it works on from now on.
            guest: The user it is for.

        Raises:
            LeaseLost: The caller no longer holds the lease.
            TakenOver: The state was held here, and another process holds it now.
            UnknownState: There is no such state.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._needs_owner()
        fence = self._fences.get(state_id)

        def assign(before: "Place | None") -> "asyncio.Future[builtins.list[Place] | None]":
            return self._in_places(
                lambda places: places.assign(place, holder, state_id, guest, fence, before)
            )

        for _ in range(_TRIES):
            before = await self._in_places(lambda places: places.at(place))
            # A holder that takes the lease after this check and assigns a state changes the row read before it.
            await self._in_leases(lambda leases: leases.check(place, holder))
            if await _end_other_leases(assign(before), self._lease_thread) is not None:
                return
        raise JournalFault(f"The place {place}", "too many others are writing")

    async def renew(self, place: str, holder: str, *, seconds: float) -> None:
        """Renew the lease on a place, however late, unless another holder has taken it.

        Args:
            place: The place.
            holder: The holder.
            seconds: How long the lease lasts from now on.

        Raises:
            LeaseLost: The caller no longer holds the lease.
            JournalFault: The database cannot be used; the lease is unchanged.
        """
        self._needs_owner()
        await self._in_leases(lambda leases: leases.renew(place, holder, seconds))

    async def leave_place(self, place: str, holder: str, *, done: bool) -> None:
        """Release the lease on a place. A no-op if the caller no longer holds it.

        Args:
            place: The place.
            holder: The holder.
            done: Whether the work there has finished: the next holder starts anew, and nothing about the user is
                kept there. Otherwise the next holder continues it.

        Raises:
            JournalFault: The database cannot be used. It is safe to retry.
        """
        self._needs_owner()
        if not done:
            await self._in_leases(lambda leases: leases.leave(place, holder, done=False))
            return
        before = await self._in_places(lambda places: places.at(place))
        try:
            await self._in_leases(lambda leases: leases.check(place, holder))
        except LeaseLost:
            return
        if before is not None:
            await self._in_places(lambda places: places.close(before))
        await self._in_leases(lambda leases: leases.leave(place, holder, done=True))

    async def lost_places(self) -> "builtins.list[Lease]":
        """List the places with unfinished work whose lease has expired or was released, oldest first.

        Raises:
            JournalFault: The database cannot be used.
        """
        known = await self._in_places(lambda places: places.all())
        leases, now = await self._in_leases(lambda leases: leases.all())
        leased = {(lease.owner, lease.place) for lease in leases}
        if any((one.owner, one.place) not in leased for one in known):
            # Work that finished between the two reads has neither a lease nor a state by now.
            still = set(await self._in_places(lambda places: places.all()))
            known = [one for one in known if one in still]
        return _expired(leases, known, now)

    async def lease_at(self, place: str) -> Lease | None:
        """Return the lease on a place with its state; ``None`` if there is neither.

        Raises:
            JournalFault: The database cannot be used.
        """
        self._needs_owner()
        lease = await self._in_leases(lambda leases: leases.at(self._owner, place))
        return await self._in_places(lambda places: _joined(lease, places.at(place)))

    async def lease_of(self, state_id: str) -> Lease | None:
        """Return the lease on the place where a state is worked on; ``None`` if there is none.

        Raises:
            JournalFault: The database cannot be used.
        """
        there = await self._in_places(lambda places: places.of(state_id))
        if there is None:
            return None
        return await self._in_leases(
            lambda leases: _joined(leases.at(there.owner, there.place), there)
        )

    def _needs_owner(self) -> None:
        if self._owner is None:
            raise ValueError("a place needs an owner")

    def _in_places(self, work: "Callable[[Places], T]") -> "asyncio.Future[T]":
        return self._thread.ask(lambda database: work(_places(database, self._owner, self._now)))

    async def _in_leases(self, work: "Callable[[Leases], T]", *, timed: bool = True) -> T:
        if not self._migrated:
            # This migrates the leases of an older release.
            await self._in_places(lambda places: places.check_connection(writes=False))
            self._migrated = True
        return await self._lease_thread.ask(work, timed=timed)

    async def try_writing(self) -> None:
        """Write to the database and the lease store without changing anything.

        Raises:
            JournalFault: One of them cannot be written to.
        """
        await self._in_places(lambda places: places.try_write())
        await self._in_leases(lambda leases: leases.try_write())

    # -- searching and erasing ---------------------------------------------------------------------

    async def search(self, matches: Callable[[str], bool]) -> "builtins.list[str]":
        """List the ids of the states with any stored text that matches.

        Args:
            matches: Called in the thread with every stored text: states and commands as JSON, keys, transcripts,
                places and guests.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> builtins.list[str]:
            from state.shared.sql.erasure import search

            return search(database, self._owner, matches, places)

        places = await self._in_leases(lambda leases: leases.matching(matches))
        return await self._thread.ask(work, timed=False)

    async def files(self) -> "builtins.list[Path]":
        """Close the connection and list the database's files; a server's are not listed.

        Raises:
            JournalFault: The thread is stuck.
        """

        def work(database: "Database") -> builtins.list[Path]:
            from state.shared.sql.erasure import files

            return files(database)

        beside = await self._in_leases(lambda leases: leases.files())
        return [*await self._thread.ask(work, timed=False), *beside]

    async def rewrite(self, state_id: str, edit: "Edit") -> None:
        """Rewrite everything stored of a state, and delete its transcript and its place.

        The present holder's next write raises ``TakenOver``, and it loses its lease. Deleted data can still be read
        in the database's files until ``wipe``.

        Args:
            state_id: Its id.
            edit: Takes a state as JSON text and the commands that led to it; returns both without what must be
                erased. Called in the thread.

        Raises:
            UnknownState: There is no state with this id.
            OtherOwner: It belongs to another owner.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """

        def work(database: "Database") -> builtins.list[tuple[str, str]]:
            from state.shared.sql.erasure import rewrite

            return rewrite(database, state_id, edit)

        there = await self._thread.ask(work, timed=False)
        if there:
            await self._in_leases(lambda leases: leases.end(there))

    async def last_said(self, before: datetime) -> datetime | None:
        """Return the time of the last transcript row before a time, aware; ``None`` if there is none.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> datetime | None:
            from state.shared.sql.erasure import last_said

            return last_said(database, self._owner, before)

        return await self._thread.ask(work)

    async def drop_said(self, before: datetime) -> int:
        """Delete transcript rows older than a time, aware; return how many.

        Places whose lease expired before that time are deleted too.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> int:
            from state.shared.sql.erasure import drop_said

            return drop_said(database, self._owner, before)

        left = await self._in_leases(lambda leases: leases.drop(before))
        await self._in_places(lambda places: places.drop(before, left))
        return await self._thread.ask(work)

    async def drop_leases(self, matches: Callable[[str], bool]) -> int:
        """End the matching leases of places that no state was assigned to yet; return how many.

        Places with a state are deleted by ``rewrite``.

        Args:
            matches: Called in the thread with the names of the place and its holder.

        Raises:
            JournalFault: The database cannot be used.
        """
        found = await self._in_leases(lambda leases: leases.matching(matches))
        settled = {
            (one.owner, one.place) for one in await self._in_places(lambda places: places.all())
        }
        ended = [one for one in found if one not in settled]
        await self._in_leases(lambda leases: leases.end(ended))
        return len(ended)

    async def wipe(self) -> None:
        """Remove deleted data from the database files.

        A PostgreSQL server's WAL, replicas and backups are up to its administrator.

        Raises:
            JournalFault: The database cannot be used, or another program is reading it.
        """

        def work(database: "Database") -> None:
            from state.shared.sql.erasure import wipe

            wipe(database)

        await self._thread.ask(work, timed=False)
        await self._in_leases(lambda leases: leases.wipe(), timed=False)

    async def close(self) -> None:
        """Finish all requests and close the database; nothing can be requested afterwards."""
        await self._thread.close()
        await self._lease_thread.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _stored(
        self, row: Mapping[str, Any], entries: tuple[Entry, ...], fence: int | None
    ) -> Stored:
        return Stored(
            state_id=row["state_id"],
            ordinal=row["ordinal"],
            opened_at=datetime.fromisoformat(row["opened_at"]),
            initial=row["state"],
            first_speaker=row["speaker"],
            entries=entries,
            journal=_SqlJournal(self._thread, row["state_id"], fence),
            schema=self._schema.version,
        )


class _SqlJournal:
    """The journal of one state: held by a fence, or written beside its holder."""

    def __init__(
        self, thread: "DatabaseThread[Database]", state_id: str, fence: int | None
    ) -> None:
        self._thread = thread
        self._state_id = state_id
        self._fence = fence

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry; refused if another process has taken the state."""
        return self._thread.write(EntryRow(self._state_id, self._fence, entry))

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first."""
        return await self._thread.ask(lambda database: database.after(self._state_id, version))


def _open(url: str, **settings: Any) -> "Database":
    from state.shared.sql.database import Database

    return Database(url, **settings)


def _open_leases(url: str, owner: str | None, now: Callable[[], datetime]) -> "Leases":
    from state.shared.sql.leases import Leases

    return Leases(url, owner, now)


def _places(database: "Database", owner: str | None, now: Callable[[], datetime]) -> "Places":
    from state.shared.sql.places import Places

    return Places(database.db, owner, now)


@overload
def _joined(lease: Lease, place: "Place | None") -> Lease: ...
@overload
def _joined(lease: Lease | None, place: "Place") -> Lease: ...
@overload
def _joined(lease: Lease | None, place: "Place | None") -> Lease | None: ...
def _joined(lease: Lease | None, place: "Place | None") -> Lease | None:
    """Combine the lease with the state of its place.

    If the lease is missing it has expired, and the last holder is the one that assigned the state.
    """
    if place is None:
        return lease
    if lease is None:
        lease = Lease(place.place, place.owner, place.holder or None, place.at, place.at)
    return replace(lease, state_id=place.state_id, guest=place.guest)


def _expired(leases: Sequence[Lease], places: "Sequence[Place]", now: datetime) -> list[Lease]:
    """List the places whose lease has expired, the longest expired first."""
    known = {(one.owner, one.place): one for one in places}
    over: list[Lease] = []
    for lease in leases:
        place = known.pop((lease.owner, lease.place), None)
        if lease.holder is None or lease.until <= now:
            over.append(_joined(lease, place))
    over += [_joined(None, place) for place in known.values()]
    return sorted(over, key=lambda lease: lease.until)


async def _end_other_leases(
    settled: "asyncio.Future[list[Place] | None]", thread: "DatabaseThread[Leases]"
) -> "list[Place] | None":
    """Wait until a state is assigned; holders that worked on it elsewhere lose their leases in any case."""
    ends: list[asyncio.Future[None]] = []

    def end(settled: "asyncio.Future[list[Place] | None]") -> None:
        if not settled.cancelled() and settled.exception() is None:
            ends.extend(thread.ask(partial(_end_lease, one)) for one in settled.result() or ())
        for one in ends:
            one.add_done_callback(_log_failure)

    settled.add_done_callback(end)
    elsewhere = await asyncio.shield(settled)
    if ends:
        await asyncio.wait(ends)
    return elsewhere


def _end_lease(place: "Place", leases: "Leases") -> None:
    leases.end([(place.owner, place.place)], place.holder)


def _log_failure(ended: "asyncio.Future[None]") -> None:
    if not ended.cancelled() and (fault := ended.exception()) is not None:
        # The holder of that lease finds out with its next write, which raises ``TakenOver``.
        logger.warning("ending the lease of another place failed: %s", fault)
