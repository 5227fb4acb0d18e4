"""Every state of one owner in one database: what an application begins, holds, reads and forgets by."""

import asyncio
import builtins
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from state.shared.errors import JournalFault, LeaseLost
from state.shared.journal import Entry, Listed, Moment, Stored
from state.shared.lease import Lease
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
    """Every state of one owner in one database, and the thread that reads and writes it.

    Who works where is kept in a lease store beside it, which has a thread and a connection of its own: a
    renewal waits for no change of a state. What is worked on where is kept with the states.

    Nothing is opened before it is first needed; SQLAlchemy is imported then, in the thread. What fails
    once is tried again with the next request.

    Args:
        url: ``sqlite:///path``, ``sqlite:////absolute/path`` or ``postgresql://user@host/name``.
        owner: Whose states these are; ``None`` sees everybody's and begins none.
        schema: The number of the states' form; raise it when older programs could not read the new one.
        create: Whether a database that is not there is made, readable by this user alone.
        now: The present time, aware.
    """

    def __init__(
        self,
        url: str,
        *,
        owner: str | None,
        schema: int,
        create: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._owner = owner
        self._now = now
        self._fences: dict[str, int] = {}
        self._thread = DatabaseThread(
            lambda: _open(url, owner=owner, schema=schema, create=create, now=now)
        )
        self._lease_thread = DatabaseThread(lambda: _open_leases(url, owner, now))
        self._migrated = False

    async def create(
        self, state_id: str, make: Callable[[int], str], *, speaker: str | None = None
    ) -> Stored:
        """Begin a state and hold it.

        Args:
            state_id: Its id, used by no other.
            make: Makes the state, as JSON text, for the ordinal it gets: 1 for its owner's first, then 2.
                Called within the transaction, in the thread; perhaps more than once.
            speaker: Who speaks at the start.

        Raises:
            JournalFault: The database cannot be used, or has the id.
        """
        if self._owner is None:
            raise ValueError("a state needs an owner")
        row, fence = await self._thread.ask(
            lambda database: database.create(state_id, make, speaker)
        )
        self._fences[state_id] = fence
        return self._stored(row, (), fence)

    async def take(self, state_id: str) -> Stored:
        """Hold a state from now on: whoever held it before gets TakenOver for his next write.

        Raises:
            UnknownState: There is none of this id.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """
        row, fence, entries = await self._thread.ask(lambda database: database.take(state_id))
        self._fences[state_id] = fence
        return self._stored(row, entries, fence)

    async def read(self, state_id: str) -> Stored:
        """Read a state without search it.

        Its journal writes beside whoever holds it: the next version, under his fence. That is how staff
        change what a guest's call holds; the holder takes it in with his next write.

        Raises:
            UnknownState: There is none of this id.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """
        row, entries = await self._thread.ask(lambda database: database.read(state_id))
        return self._stored(row, entries, None)

    async def list(self, limit: int = 50) -> "builtins.list[Listed]":
        """List the newest states first, each as it stands now.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: database.newest(limit))

    def record(self, state_id: str, *said: Moment) -> "asyncio.Future[None]":
        """Start writing down what was said in a call, after what was written before.

        Returns a future that ends by itself; a conversation need not wait for it. What is withdrawn by its gate
        before its writing begins is left out.

        Raises (through the future):
            JournalFault: It was not written.
            OutcomeUnknown: The database stopped answering over it.
            UnknownState: There is no such state.
            TakenOver: It was held here, and somebody else holds it now.
        """
        if not said:
            nothing = asyncio.get_running_loop().create_future()
            nothing.set_result(None)
            return nothing
        return self._thread.write(TranscriptRows(state_id, self._fences.get(state_id), said))

    async def said(self, state_id: str) -> "builtins.list[Moment]":
        """Read what was said while a state was worked on, in its order.

        Raises:
            UnknownState: There is none of this id.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: database.said(state_id))

    # -- who works where ---------------------------------------------------------------------------

    async def take_place(
        self,
        place: str,
        holder: str,
        *,
        seconds: float,
        supersedes: str | None = None,
        tries: int | None = None,
    ) -> Lease:
        """Hold a place from now on; of two who ask at once one gets it.

        A place is taken only while states can be written. Who holds it already only renews it. Returns the lease with what went on there before and did not
        end: whoever gets it goes on with that.

        Args:
            place: Where: any name.
            holder: Who: a name that nobody else has, ever.
            seconds: How long the place is his unless he renews it.
            supersedes: A holder who is known to be dead, or to leave; his time need not be over.
            tries: How many died there before, where whoever sent this one has counted; else it is counted here.

        Raises:
            LeaseHeld: Somebody else works there.
            JournalFault: The database cannot be used. Asking again does no harm.
        """
        self._needs_owner()
        await self._in_places(lambda places: places.check_connection(writes=True))
        lease = await self._in_leases(
            lambda leases: leases.take(place, holder, seconds, supersedes, tries)
        )
        # After the lease is ours: whoever had it before may have settled until then.
        return await self._in_places(lambda places: _joined(lease, places.at(place)))

    async def assign(self, place: str, holder: str, *, state_id: str, guest: str | None) -> None:
        """Write down what is worked on at a place, and for whom. Any other place where it was loses it.

        Args:
            place: The place.
            holder: Who holds it.
            state_id: The state that is worked on there from now on.
            guest: Whom it is worked on for.

        Raises:
            LeaseLost: The place is not his any more.
            TakenOver: The state was held here, and somebody else holds it now.
            UnknownState: There is no such state.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used. Asking again does no harm.
        """
        self._needs_owner()
        fence = self._fences.get(state_id)

        def assign(before: "Place | None") -> "asyncio.Future[builtins.list[Place] | None]":
            return self._in_places(
                lambda places: places.assign(place, holder, state_id, guest, fence, before)
            )

        for _ in range(_TRIES):
            before = await self._in_places(lambda places: places.at(place))
            # Whoever takes the place after this and settles there changes what was read before it.
            await self._in_leases(lambda leases: leases.check(place, holder))
            if await _end_other_leases(assign(before), self._lease_thread) is not None:
                return
        raise JournalFault(f"The place {place}", "too many others are writing")

    async def renew(self, place: str, holder: str, *, seconds: float) -> None:
        """Hold a place for some time more, however late that is, as long as nobody else has taken it.

        Args:
            place: The place.
            holder: Who holds it.
            seconds: How long it is his from now on.

        Raises:
            LeaseLost: It is not his any more.
            JournalFault: The database cannot be used; the lease runs on as it was.
        """
        self._needs_owner()
        await self._in_leases(lambda leases: leases.renew(place, holder, seconds))

    async def leave_place(self, place: str, holder: str, *, done: bool) -> None:
        """Hold a place no longer. Who has lost it leaves it as it is.

        Args:
            place: The place.
            holder: Who holds it.
            done: Whether what went on there has ended, so that the next one begins anew and nothing of the
                guest is kept there. Otherwise the next one goes on with it.

        Raises:
            JournalFault: The database cannot be used. Asking again does no harm.
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
        """List the places where something did not end and whose holder's time is over, the longest first.

        Raises:
            JournalFault: The database cannot be used.
        """
        known = await self._in_places(lambda places: places.all())
        leases, now = await self._in_leases(lambda leases: leases.all())
        leased = {(lease.owner, lease.place) for lease in leases}
        if any((one.owner, one.place) not in leased for one in known):
            # What had ended in between has neither a lease nor a state by now.
            still = set(await self._in_places(lambda places: places.all()))
            known = [one for one in known if one in still]
        return _expired(leases, known, now)

    async def lease_at(self, place: str) -> Lease | None:
        """Read who works at a place and on what; ``None`` when nothing goes on there.

        Raises:
            JournalFault: The database cannot be used.
        """
        self._needs_owner()
        lease = await self._in_leases(lambda leases: leases.at(self._owner, place))
        return await self._in_places(lambda places: _joined(lease, places.at(place)))

    async def lease_of(self, state_id: str) -> Lease | None:
        """Read where a state is worked on; ``None`` when it is nowhere.

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
            # The leases that an older release has left are carried over by that.
            await self._in_places(lambda places: places.check_connection(writes=False))
            self._migrated = True
        return await self._lease_thread.ask(work, timed=timed)

    async def try_writing(self) -> None:
        """Write to the database, and to the lease store, without changing anything.

        Raises:
            JournalFault: One of them cannot be written to.
        """
        await self._in_places(lambda places: places.try_write())
        await self._in_leases(lambda leases: leases.try_write())

    # -- looking for what must go, and taking it out -----------------------------------------------

    async def search(self, matches: Callable[[str], bool]) -> "builtins.list[str]":
        """List the ids of the states of which something is stored that a function says yes to.

        Args:
            matches: Gets every text that is stored: states and commands as JSON, keys, what was said, places
                and guests. Called in the thread.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> builtins.list[str]:
            from state.shared.sql.erasure import search

            return search(database, self._owner, matches, places)

        places = await self._in_leases(lambda leases: leases.matching(matches))
        return await self._thread.ask(work, timed=False)

    async def files(self) -> "builtins.list[Path]":
        """Let go of the database and name the files it lies in; those of a server are not to be had.

        Raises:
            JournalFault: The thread is stuck.
        """

        def work(database: "Database") -> builtins.list[Path]:
            from state.shared.sql.erasure import files

            return files(database)

        beside = await self._in_leases(lambda leases: leases.files())
        return [*await self._thread.ask(work, timed=False), *beside]

    async def rewrite(self, state_id: str, edit: "Edit") -> None:
        """Rewrite all that is stored of a state, and drop what was said and where it was worked on.

        Whoever holds it gets TakenOver for his next write, and has lost his place. What is deleted can still be read in the
        database's files until ``wipe``.

        Args:
            state_id: Its id.
            edit: Takes a state as JSON text, and the commands that led to it; returns both without
                what must go. Called in the thread.

        Raises:
            UnknownState: There is none of this id.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """

        def work(database: "Database") -> builtins.list[tuple[str, str]]:
            from state.shared.sql.erasure import rewrite

            return rewrite(database, state_id, edit)

        there = await self._thread.ask(work, timed=False)
        if there:
            await self._in_leases(lambda leases: leases.end(there))

    async def last_said(self, before: datetime) -> datetime | None:
        """Return when the last was said of what was said before a time, aware; ``None`` when nothing was.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> datetime | None:
            from state.shared.sql.erasure import last_said

            return last_said(database, self._owner, before)

        return await self._thread.ask(work)

    async def drop_said(self, before: datetime) -> int:
        """Delete what was said before a time, aware; returns how many moments that were.

        So does what is known of places whose holders' time was over by then.

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
        """Give up the places that no state was named for yet and that a function says yes to.

        Those of a state go with ``rewrite``. Returns how many they were.

        Args:
            matches: Gets the names of the place and of its holder. Called in the thread.

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
        """Leave nothing of what was deleted in the database's own files.

        A PostgreSQL server's write-ahead log, replicas and backups are its administrator's.

        Raises:
            JournalFault: The database cannot be used, or another program is reading it just now.
        """

        def work(database: "Database") -> None:
            from state.shared.sql.erasure import wipe

            wipe(database)

        await self._thread.ask(work, timed=False)
        await self._in_leases(lambda leases: leases.wipe(), timed=False)

    async def close(self) -> None:
        """Finish what was asked for and let go of the database; nothing can be asked after it."""
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
        )


class _SqlJournal:
    """One state's journal: held by a fence, or written beside whoever holds it."""

    def __init__(
        self, thread: "DatabaseThread[Database]", state_id: str, fence: int | None
    ) -> None:
        self._thread = thread
        self._state_id = state_id
        self._fence = fence

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry down, unless the state was taken by somebody else."""
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
    """Put what both stores know of a place together.

    A place without a lease is one whose holder's time is over: whoever settled it held it last.
    """
    if place is None:
        return lease
    if lease is None:
        lease = Lease(place.place, place.owner, place.holder or None, place.at, place.at)
    return replace(lease, state_id=place.state_id, guest=place.guest)


def _expired(leases: Sequence[Lease], places: "Sequence[Place]", now: datetime) -> list[Lease]:
    """List the places whose holders' time is over, the longest first."""
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
    """Wait until a state is settled; those who worked on it elsewhere lose their leases, waited for or not."""
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
        # Whoever has that lease finds with the next write that the state is somebody else's.
        logger.warning("a lease of another place could not be ended: %s", fault)
