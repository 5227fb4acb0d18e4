"""Journals in a database, SQLite or PostgreSQL, written by a thread so that no event loop waits for a disk."""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from state.shared.errors import JournalFault, NotStored
from state.shared.journal import Entry, Listed, Stored

if TYPE_CHECKING:
    from state.shared.sql_tables import Database

T = TypeVar("T")

logger = logging.getLogger(__name__)


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
        self._thread = _DatabaseThread(
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
        return self._stored(row, (), fence)

    async def take(self, state_id: str) -> Stored:
        """Hold a state from now on: whoever held it before gets TakenOver for his next write.

        Raises:
            UnknownState: There is none of this id.
            OtherOwner: It is somebody else's.
            JournalFault: The database cannot be used, or a row of it is damaged.
        """
        row, fence, entries = await self._thread.ask(lambda database: database.take(state_id))
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

    async def list(self, limit: int = 50) -> "list[Listed]":
        """List the newest states first, each as it stands now.

        Raises:
            JournalFault: The database cannot be used.
        """
        return await self._thread.ask(lambda database: database.newest(limit))

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

    def __init__(self, thread: "_DatabaseThread", state_id: str, fence: int | None) -> None:
        self._thread = thread
        self._state_id = state_id
        self._fence = fence

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        """Start writing an entry down, unless the state was taken by somebody else."""
        try:
            return self._thread.ask(
                lambda database: database.append(self._state_id, self._fence, entry)
            )
        except JournalFault as fault:
            raise NotStored(fault.why) from fault

    async def after(self, version: int) -> Sequence[Entry]:
        """Read the entries above a version, oldest first."""
        return await self._thread.ask(lambda database: database.after(self._state_id, version))


class _DatabaseThread:
    """Carries out requests one after the other, in the order they came.

    A daemon: a process that ends without closing it is not kept alive, and what was acknowledged is on
    disk by then.
    """

    def __init__(self, open_database: "Callable[[], Database]") -> None:
        self._open = open_database
        self._requests: queue.SimpleQueue[_Request[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    def ask(self, work: "Callable[[Database], T]") -> "asyncio.Future[T]":
        """Have something done; the future ends by itself, whether or not anybody waits for it.

        Raises:
            JournalFault: The thread was closed.
        """
        if self._closed:
            raise JournalFault("The database", "it was closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="journal", daemon=True)
            self._thread.start()
        request = _Request(work)
        self._requests.put(request)
        return request.answer

    async def close(self) -> None:
        """Finish what was asked for, let go of the database and end the thread."""
        if self._thread is not None and not self._closed:
            last = self.ask(lambda database: database.close())
            self._closed = True
            self._requests.put(None)
            with suppress(
                JournalFault
            ):  # it could not even be opened: there is nothing to let go of
                await last
            self._thread.join()
        self._closed = True

    def _serve(self) -> None:
        database: Database | None = None
        while (request := self._requests.get()) is not None:
            try:
                database = database or self._open()
            except BaseException as error:
                request.fail(error)
            else:
                request.carry_out(database)


class _Request(Generic[T]):
    """Something to do in the thread, and the future that hears of it."""

    def __init__(self, work: "Callable[[Database], T]") -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[T] = self._loop.create_future()

    def carry_out(self, database: "Database") -> None:
        try:
            result = self._work(database)
        except BaseException as error:  # whoever waits must hear of it, and the next one be served
            self.fail(error)
        else:
            self._tell(lambda: self.answer.set_result(result))

    def fail(self, error: BaseException) -> None:
        self._tell(lambda: self.answer.set_exception(error))

    def _tell(self, settle: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(lambda: None if self.answer.done() else settle())
        except RuntimeError:
            logger.debug("the event loop that asked is closed")


def _open(url: str, **settings: Any) -> "Database":
    from state.shared.sql_tables import Database

    return Database(url, **settings)
