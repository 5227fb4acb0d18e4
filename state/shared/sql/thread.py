"""The thread that carries requests to a database out, so that no event loop waits for a disk or a server."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from state.shared.errors import JournalFault, StateError

if TYPE_CHECKING:
    from state.shared.sql.connection import Link


class Opened(Protocol):
    """What a thread works on."""

    @property
    def link(self) -> "Link":
        """The connection that a request uses."""
        ...

    def close(self) -> None:
        """Let go of the connection."""


T = TypeVar("T")
D = TypeVar("D", bound=Opened)

logger = logging.getLogger(__name__)

ANSWER_S = 5.0
"""How long a request may take, in seconds; then it is broken off."""

GIVE_UP_S = 4.0
"""How long one that was broken off may take to find out what became of it, in seconds."""

_UNANSWERED = "the database does not answer"


class DatabaseThread(Generic[D]):
    """Carries out requests one after the other, in the order they came.

    A daemon: a process that ends without closing it is not kept alive, and what was acknowledged is on
    disk by then.
    """

    def __init__(self, open_database: Callable[[], D]) -> None:
        self._open = open_database
        self._requests: queue.SimpleQueue[_Request[D, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._database: D | None = None
        self._at_work: _Request[D, Any] | None = None
        self._closed = False

    def ask(
        self,
        work: Callable[[D], T],
        *,
        timed: bool = True,
        unknown: Callable[[], StateError] = lambda: JournalFault(
            "The database", _UNANSWERED, passing=True
        ),
    ) -> "asyncio.Future[T]":
        """Have something done; the future ends by itself, whether or not anybody waits for it.

        What has not begun in time is never done. What has begun is broken off.

        Args:
            work: What to do.
            timed: Whether there is a limit to it.
            unknown: What is raised when nobody can say what became of it after it was broken off.

        Raises (through the future):
            JournalFault: The thread was closed, or is stuck.
        """
        request = _Request(work, unknown)
        if self._closed:
            request.refuse("it was closed")
            return request.answer
        if (stuck := self._at_work) is not None and stuck.overdue:
            request.refuse(_UNANSWERED)
            return request.answer
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="journal", daemon=True)
            self._thread.start()
        if timed:
            request.expire(self._break_off)
        self._requests.put(request)
        return request.answer

    async def close(self) -> None:
        """Finish what was asked for, let go of the database and end the thread, unless it is stuck."""
        if self._thread is not None and not self._closed:
            last = self.ask(lambda database: database.close())
            self._closed = True
            self._requests.put(None)
            # It could not even be opened, or does not answer: there is nothing to let go of.
            with suppress(JournalFault):
                await last
            self._thread.join(timeout=0 if last.exception() else None)
        self._closed = True

    def _break_off(self, request: "_Request[D, Any]") -> None:
        if self._database is not None and self._at_work is request:
            self._database.link.break_off()

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            if not request.begin():
                continue
            self._at_work = request
            try:
                database = self._database = self._database or self._open()
            except BaseException as error:
                request.fail(error)
            else:
                request.carry_out(database)
            self._at_work = None


class _Request(Generic[D, T]):
    """Something to do in the thread, and the future that hears of it."""

    def __init__(self, work: Callable[[D], T], unknown: "Callable[[], StateError]") -> None:
        self._work = work
        self._unknown = unknown
        self._loop = asyncio.get_running_loop()
        self._asked = time.monotonic()
        self._timed = False
        self._state = threading.Lock()
        self._begun = False
        self._dropped = False
        self._ended = False
        self.answer: asyncio.Future[T] = self._loop.create_future()

    @property
    def overdue(self) -> bool:
        """Whether it should have ended long ago, and has not."""
        return self._timed and not self._ended and time.monotonic() - self._asked > ANSWER_S

    def expire(self, break_off: "Callable[[_Request[D, T]], None]") -> None:
        """Break it off when its time is over."""
        self._timed = True
        timer = self._loop.call_later(ANSWER_S, self._late, break_off)
        self.answer.add_done_callback(lambda _: timer.cancel())

    def _late(self, break_off: "Callable[[_Request[D, T]], None]") -> None:
        with self._state:
            self._dropped = not self._begun
        if self._dropped:
            self.refuse(_UNANSWERED)
            return
        break_off(self)
        timer = self._loop.call_later(GIVE_UP_S, self._give_up, break_off)
        self.answer.add_done_callback(lambda _: timer.cancel())

    def _give_up(self, break_off: "Callable[[_Request[D, T]], None]") -> None:
        self._settle(self._unknown())
        # What it was trying since must not keep the thread for ever either.
        break_off(self)

    def refuse(self, why: str) -> None:
        """Never do it, and tell; called in the event loop."""
        self._settle(JournalFault("The database", why, passing=why == _UNANSWERED))

    def begin(self) -> bool:
        """Whether it is still to be done; from here on nobody can say that it was not."""
        with self._state:
            self._begun = not self._dropped
        return self._begun

    def carry_out(self, database: D) -> None:
        """Do it, and tell."""
        try:
            result = self._work(database)
        except BaseException as error:  # whoever waits must hear of it, and the next one be served
            self.fail(error)
        else:
            self._tell(lambda: self._succeed(result))

    def _succeed(self, result: T) -> None:
        if not self.answer.done():
            self.answer.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Tell that it failed."""
        self._tell(lambda: self._settle(error))

    def _settle(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def _tell(self, settle: Callable[[], object]) -> None:
        self._ended = True
        try:
            self._loop.call_soon_threadsafe(settle)
        except RuntimeError:
            logger.debug("the event loop that asked is closed")
