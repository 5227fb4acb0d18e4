"""Every state of one owner in one database: what an application begins, holds, reads and forgets by."""

import asyncio
import builtins
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from state.shared.errors import OutcomeUnknown
from state.shared.journal import Entry, Listed, Moment, Stored
from state.shared.lease import Lease
from state.shared.sql.thread import DatabaseThread

if TYPE_CHECKING:
    from state.shared.sql.database import Database
    from state.shared.sql.erasure import Edit
    from state.shared.sql.leases import Leases

T = TypeVar("T")


class SqlStore:
    """Every state of one owner in one database, and the thread that reads and writes it.

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
        """Read a state without holding it.

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
        fence = self._fences.get(state_id)
        return self._thread.ask(
            lambda database: database.record(state_id, fence, said), unknown=OutcomeUnknown
        )

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

        Who holds it already only renews it. Returns the lease with what went on there before and did not
        end: whoever gets it goes on with that.

        Args:
            place: Where: any name.
            holder: Who: a name that nobody else has, ever.
            seconds: How long the place is his unless he renews it.
            supersedes: A holder who is known to be dead, or to leave; his time need not be over.
            tries: How many died there before, where whoever sent this one has counted; else it is counted here.

        Raises:
            Held: Somebody else works there.
            JournalFault: The database cannot be used. Asking again does no harm.
        """
        return await self._at_places(lambda at: at.take(place, holder, seconds, supersedes, tries))

    async def settle(self, place: str, holder: str, *, state_id: str, guest: str | None) -> None:
        """Write down what is worked on at a place, and for whom. Any other place where it was loses it.

        Args:
            place: The place.
            holder: Who holds it.
            state_id: The state that is worked on there from now on.
            guest: Whom it is worked on for.

        Raises:
            Lost: The place is not his any more.
            TakenOver: The state was held here, and somebody else holds it now.
            UnknownState: There is no such state.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used. Asking again does no harm.
        """
        fence = self._fences.get(state_id)
        await self._at_places(lambda at: at.settle(place, holder, state_id, guest, fence))

    async def renew(self, place: str, holder: str, *, seconds: float) -> None:
        """Hold a place for some time more, however late that is, as long as nobody else has taken it.

        Args:
            place: The place.
            holder: Who holds it.
            seconds: How long it is his from now on.

        Raises:
            Lost: It is not his any more.
            JournalFault: The database cannot be used; the lease runs on as it was.
        """
        await self._at_places(lambda at: at.renew(place, holder, seconds))

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
        await self._at_places(lambda at: at.leave(place, holder, done=done))

    async def lost_places(self) -> "builtins.list[Lease]":
        """List the places where something did not end and whose holder's time is over, the longest first.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: self._leases(database).lost())

    async def lease_at(self, place: str) -> Lease | None:
        """Read who works at a place and on what; ``None`` when nothing goes on there.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._at_places(lambda at: at.at(place))

    async def lease_of(self, state_id: str) -> Lease | None:
        """Read where a state is worked on; ``None`` when it is nowhere.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: self._leases(database).of(state_id))

    def _at_places(self, work: "Callable[[Leases], T]") -> "asyncio.Future[T]":
        if self._owner is None:
            raise ValueError("a place needs an owner")
        return self._thread.ask(lambda database: work(self._leases(database)))

    def _leases(self, database: "Database") -> "Leases":
        from state.shared.sql.leases import Leases

        return Leases(database.link, self._owner, self._now)

    # -- looking for what must go, and taking it out -----------------------------------------------

    async def holding(self, look: Callable[[str], bool]) -> "builtins.list[str]":
        """List the ids of the states of which something is stored that a function says yes to.

        Args:
            look: Gets every text that is stored: states and commands as JSON, keys, what was said, places
                and guests. Called in the thread.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> builtins.list[str]:
            from state.shared.sql.erasure import holding

            return holding(database, self._owner, look)

        return await self._thread.ask(work, timed=False)

    async def files(self) -> "builtins.list[Path]":
        """Let go of the database and name the files it lies in; those of a server are not to be had.

        Raises:
            JournalFault: The thread is stuck.
        """

        def work(database: "Database") -> builtins.list[Path]:
            from state.shared.sql.erasure import files

            return files(database)

        return await self._thread.ask(work, timed=False)

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

        def work(database: "Database") -> None:
            from state.shared.sql.erasure import rewrite

            rewrite(database, state_id, edit)

        await self._thread.ask(work, timed=False)

    async def drop_said(self, before: datetime) -> int:
        """Delete what was said before a time, aware; returns how many moments that were.

        So does what is known of places whose holders' time was over by then.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> int:
            from state.shared.sql.erasure import drop_said

            return drop_said(database, self._owner, before)

        return await self._thread.ask(work)

    async def drop_leases(self, look: Callable[[str], bool]) -> int:
        """Give up the places that no state was named for yet and that a function says yes to.

        Those of a state go with ``rewrite``. Returns how many they were.

        Args:
            look: Gets the names of the place and of its holder. Called in the thread.

        Raises:
            JournalFault: The database cannot be used.
        """

        def work(database: "Database") -> int:
            from state.shared.sql.erasure import drop_leases

            return drop_leases(database, self._owner, look)

        return await self._thread.ask(work)

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

    async def close(self) -> None:
        """Finish what was asked for and let go of the database; nothing can be asked after it."""
        await self._thread.close()

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

    def __init__(self, thread: "DatabaseThread", state_id: str, fence: int | None) -> None:
        self._thread = thread
        self._state_id = state_id
        self._fence = fence

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry down, unless the state was taken by somebody else."""
        return self._thread.ask(
            lambda database: database.append(self._state_id, self._fence, entry),
            unknown=OutcomeUnknown,
        )

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first."""
        return await self._thread.ask(lambda database: database.after(self._state_id, version))


def _open(url: str, **settings: Any) -> "Database":
    from state.shared.sql.database import Database

    return Database(url, **settings)
