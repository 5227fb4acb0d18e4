"""The thread that runs database requests, so that no event loop waits for a disk or a server."""

import asyncio
import logging
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from state.shared.errors import JournalFault, OutcomeUnknown, StateError
from state.shared.journal import UncancellableFuture
from state.shared.sql.rows import (
    LOCKED,
    UNANSWERED,
    LockNotGranted,
    RetryAlone,
    Row,
    RowResult,
)

if TYPE_CHECKING:
    from state.shared.sql.connection import DatabaseConnection


class HasConnection(Protocol):
    """The database or store that a thread works on."""

    @property
    def db(self) -> "DatabaseConnection":
        """The connection used by requests."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class RowWriter(HasConnection, Protocol):
    """A database that rows are written to."""

    def write(self, wanted: Sequence[Row], *, alone: bool = False) -> list[RowResult]:
        """Write rows in one transaction; return the result of each."""
        ...


T = TypeVar("T")
D = TypeVar("D", bound=HasConnection)
W = TypeVar("W", bound=RowWriter)

logger = logging.getLogger(__name__)

WAIT_S = 10.0
"""How long a request may wait in the queue, in seconds; then it fails without having started."""

LOCK_S = 10.0
"""How long a request may wait in the queue and for SQLite's write lock together, in seconds.

For the lock it waits ``dialects.BUSY_S`` in any case."""

ANSWER_S = 5.0
"""How long a started request may take, in seconds; then it is interrupted. Waiting for the write lock does not count."""

GIVE_UP_S = 4.0
"""How long an interrupted request may take to find out its outcome, in seconds; then it is abandoned."""

GROUP = 64
"""The maximum number of rows in one transaction."""

GROUP_S = 0.02
"""How long queued rows are collected into one transaction before it begins, in seconds."""

SLOW_S = 0.1
"""A transaction that took this long, in seconds, makes the next one wait ``GROUP_S`` for rows not queued yet.

The states it served queue their next rows a moment after the next transaction would have begun. Without that
wait, they and all others would take turns, and each row would cost two transactions."""

_OVERLOADED = "the database has more to do than it can in time"
_SAMPLES = 8
"""How many durations are kept; the shortest counts, since a lock or opening the database says nothing of the rest."""


class DatabaseThread(Generic[D]):
    """Runs requests in order; consecutive rows are written in one transaction.

    Several event loops may use it. It is a daemon thread: it does not keep a process alive that ends without
    closing it; acknowledged rows are on disk by then.
    """

    def __init__(self, open_database: Callable[[], D]) -> None:
        self._open = open_database
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._next: deque[_Request | None] = deque()
        """Requests taken from the queue but not started; used only by the thread."""
        self._thread: threading.Thread | None = None
        self._database: D | None = None
        # Held only briefly, while a request is queued, starts, ends, is dropped or is interrupted.
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._watchers: dict[asyncio.AbstractEventLoop, _DeadlineWatcher] = {}
        self._queue_time = _QueueTimeEstimate()
        self._closed = False

    def ask(self, work: Callable[[D], T], *, timed: bool = True) -> "asyncio.Future[T]":
        """Run work in the thread; the future completes on its own, whether or not it is awaited.

        Work that does not start in time is dropped. Work that takes too long is interrupted.

        Args:
            work: The work.
            timed: Whether it has a timeout.

        Raises (through the future):
            JournalFault: It was not done: the thread was closed, is stuck, or is overloaded.
        """
        return self._ask(None, work, timed)

    def write(self: "DatabaseThread[W]", row: Row) -> "asyncio.Future[None]":
        """Write rows together with others in the queue; the future completes on its own.

        Raises (through the future):
            JournalFault: They were not written: the thread was closed, is stuck, or is overloaded.
            OutcomeUnknown: Writing was interrupted and its outcome is not known.
            Exception: The database's result.
        """
        return self._ask(row, None, timed=True)

    def _ask(
        self,
        row: Row | None,
        work: Callable[[D], Any] | None,
        timed: bool,
        *,
        last: bool = False,
    ) -> "asyncio.Future[Any]":
        loop = asyncio.get_running_loop()
        now = time.monotonic()
        with self._lock:
            refusal = self._refusal(now, timed and not last)
            self._closed = self._closed or last
            if refusal is None:
                watcher = self._watchers.get(loop) or self._new_watcher(loop)
                request = _Request(row, work, timed, watcher, now)
                answer = request.answer
                if timed:
                    watcher.add(request)
                self._queue_time.enqueued(request)
                self._requests.put(request)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._serve, name="journal", daemon=True)
                    self._thread.start()
            else:
                answer = loop.create_future()
                answer.set_exception(refusal)
            if last:
                self._requests.put(None)
        return answer

    def _refusal(self, now: float, in_time: bool) -> JournalFault | None:
        """Return why no request is accepted, or ``None``."""
        if self._closed:
            return JournalFault("The database", "it was closed")
        work = self._running
        if work is not None and work.timed and now - self._at_work_since(work) > ANSWER_S:
            return _unavailable(UNANSWERED)
        if in_time and self._queue_time.wait_s() > WAIT_S:
            return _unavailable(_OVERLOADED)
        return None

    def _at_work_since(self, work: "_Running") -> float:
        """Return when work began; as long as it waits for a lock, when it last asked for it."""
        if self._database is None:
            return work.started_at
        return max(work.started_at, self._database.db.lock_asked_at)

    def _obstacle(self) -> str:
        """Return why a request could not start in time."""
        waits = self._database is not None and self._database.db.waits_for_lock
        return LOCKED if waits else UNANSWERED

    def _new_watcher(self, loop: asyncio.AbstractEventLoop) -> "_DeadlineWatcher":
        for other in [other for other in self._watchers if other.is_closed()]:
            del self._watchers[other]
        watcher = self._watchers[loop] = _DeadlineWatcher(loop, self.check_deadlines)
        return watcher

    async def close(self) -> None:
        """Finish all requests, close the database and end the thread, unless it is stuck."""
        if self._thread is not None and not self._closed:
            last = self._ask(None, lambda database: database.close(), True, last=True)
            # It could not be opened, or does not answer: there is nothing to close.
            with suppress(JournalFault):
                await last
            self._thread.join(timeout=0 if last.exception() else None)
        self._closed = True

    def check_deadlines(
        self, pending: "Iterable[_Request]", now: float
    ) -> "tuple[list[_Result], float]":
        """Interrupt requests that take too long; called in an event loop.

        Args:
            pending: The loop's requests, oldest first.
            now: The present time on the monotonic clock.

        Returns:
            The results of requests that failed by timeout, and when to check again.
        """
        late: list[_Result] = []
        with self._lock:
            work = self._running
            due = math.inf
            if work is not None:
                since = self._at_work_since(work)
                if work.due(since) <= now:
                    work.mark_late(now)
                    if self._database is not None:
                        self._database.db.interrupt()
                due = work.due(since)
            for request in pending:
                if request.settled:
                    continue
                if (running_in := request.running_in) is None:
                    if now < request.queued_at + WAIT_S:
                        # It may start at any moment and must be checked then as well.
                        due = min(due, request.queued_at + WAIT_S, now + ANSWER_S)
                        break
                    self._queue_time.dequeued(request)
                    late.append(_Result(request, None, _unavailable(self._obstacle())))
                elif running_in.abandoned:
                    unknown = _unavailable(UNANSWERED) if request.row is None else OutcomeUnknown()
                    late.append(_Result(request, None, unknown))
            for answer in late:
                answer.request.settled = True
        return late, due

    # -- in the thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        while (work := self._begin()) is not None:
            self._end(work, self._execute(work.requests))

    def _begin(self) -> "_Running | None":
        """Wait for the next request or batch; ``None`` at the end."""
        while (first := self._next.popleft() if self._next else self._requests.get()) is not None:
            group = [first, *self._batch_with(first)]
            with self._lock:
                if group := [request for request in group if not request.settled]:
                    work = self._running = _Running(group)
                    for request in group:
                        request.running_in = work
                        self._queue_time.dequeued(request)
                    return work
        return None

    def _batch_with(self, first: "_Request") -> "list[_Request]":
        """Take queued rows that can be written together with the first request; wait only where the disk is slow."""
        joining: list[_Request] = []
        if first.row is None or first.alone:
            return joining
        size = first.row.size
        until = time.monotonic() + GROUP_S
        waits = self._queue_time.last_group_s >= SLOW_S
        while size < GROUP and (following := self._peek(until if waits else 0.0)) is not None:
            if time.monotonic() >= until or following.row is None or following.alone:
                break
            size += following.row.size
            if size > GROUP:
                break
            joining.append(following)
            self._next.popleft()
        return joining

    def _peek(self, until: float) -> "_Request | None":
        """Return the next request and leave it queued; wait for one until then, on the monotonic clock."""
        if not self._next:
            try:
                self._next.append(self._requests.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                return None
        return self._next[0]

    def _execute(self, requests: "list[_Request]") -> "list[_Result]":
        """Run requests; never raises: every waiting future must get a result, and the thread must go on."""
        first = requests[0]
        try:
            database = self._database = self._database or self._open()
            database.db.lock_until = first.queued_at + LOCK_S
            if first.work is not None:
                return [_Result(first, first.work(database), None)]
            rows = [cast(Row, request.row) for request in requests]
            outcomes = cast(RowWriter, database).write(rows, alone=first.alone)
            return [
                _Result(request, None, outcome)
                for request, outcome in zip(requests, outcomes, strict=True)
            ]
        except BaseException as raised:
            error = raised
            if isinstance(raised, StopIteration):  # no future takes it (CPython 3.11)
                error = RuntimeError("a function raised StopIteration")
                error.__cause__ = raised
            batch_failed = len(requests) > 1 and not isinstance(error, StateError)
            return [
                _Result(request, None, RetryAlone() if batch_failed else error)
                for request in requests
            ]

    def _end(self, work: "_Running", answers: "list[_Result]") -> None:
        by_watcher: dict[_DeadlineWatcher, list[_Result]] = {}
        again: list[_Request] = []
        with self._lock:
            self._running = None
            now = time.monotonic()
            self._queue_time.record(work.requests[0], now - self._at_work_since(work))
            for answer in answers:
                request, _, error = answer
                if isinstance(error, LockNotGranted) and request.queued_at + LOCK_S <= now:
                    answer = _Result(request, None, error.error)
                elif isinstance(error, (RetryAlone, LockNotGranted)) and not request.settled:
                    request.alone = request.alone or isinstance(error, RetryAlone)
                    request.running_in = None
                    self._queue_time.enqueued(request)
                    again.append(request)
                    continue
                request.settled = True
                by_watcher.setdefault(request.watcher, []).append(answer)
        self._next.extendleft(reversed(again))
        for watcher, results in by_watcher.items():
            watcher.deliver(results)


class _Request:
    """A request to the thread and its future: rows to write, or any other work."""

    __slots__ = (
        "alone",
        "answer",
        "queued_at",
        "running_in",
        "settled",
        "row",
        "timed",
        "watcher",
        "work",
    )

    def __init__(
        self,
        row: Row | None,
        work: Callable[[Any], Any] | None,
        timed: bool,
        watcher: "_DeadlineWatcher",
        now: float,
    ) -> None:
        self.row = row
        self.work = work
        self.timed = timed
        self.watcher = watcher
        self.queued_at = now
        self.answer: asyncio.Future[Any] = (
            watcher.loop.create_future() if row is None else UncancellableFuture(loop=watcher.loop)
        )
        self.running_in: _Running | None = None
        """The batch it runs in; from then on its outcome may be unknown."""
        self.alone = False
        """Whether it must be written alone, after it failed in a batch."""
        self.settled = False
        """Whether it is done, dropped or abandoned, though its future may not be resolved yet."""


class _Result(NamedTuple):
    request: _Request
    result: Any
    error: BaseException | None


class _Running:
    """The work under way: one request, or rows written together."""

    def __init__(self, requests: list[_Request]) -> None:
        self.requests = requests
        self.timed = requests[0].timed
        self.started_at = time.monotonic()
        self.abandoned = False
        self._interrupted_at: float | None = None

    def due(self, since: float) -> float:
        """Return when to interrupt or abandon it, on the monotonic clock."""
        if not self.timed or self.abandoned:
            return math.inf
        if self._interrupted_at is None:
            return since + ANSWER_S
        return self._interrupted_at + GIVE_UP_S

    def mark_late(self, now: float) -> None:
        """Count it as interrupted; the second time as abandoned.

        It is interrupted the second time as well, so that finding out the outcome cannot block the thread forever.
        """
        self.abandoned = self._interrupted_at is not None
        self._interrupted_at = now


class _DeadlineWatcher:
    """Watches the deadlines of one event loop's requests with a single timer, set by the oldest request.

    Args:
        check_deadlines: Returns the results of late requests, and when to check again.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        check_deadlines: Callable[[Iterable[_Request], float], tuple[list[_Result], float]],
    ) -> None:
        self.loop = loop
        self._check_deadlines = check_deadlines
        self._pending: deque[_Request] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._due = math.inf

    def add(self, request: _Request) -> None:
        """Watch a request; called in the event loop."""
        self._pending.append(request)
        self._schedule(request.queued_at + min(ANSWER_S, WAIT_S))

    def deliver(self, answers: list[_Result]) -> None:
        """Resolve futures in their event loop; called in any thread."""
        try:
            self.loop.call_soon_threadsafe(self._resolve, answers)
        except RuntimeError:
            logger.debug("the event loop of the request is closed")

    def _resolve(self, answers: list[_Result]) -> None:
        for request, result, error in answers:
            if request.answer.done():
                continue
            if error is None:
                request.answer.set_result(result)
            else:
                request.answer.set_exception(error)
        while self._pending and self._pending[0].settled:
            self._pending.popleft()

    def _schedule(self, due: float) -> None:
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self.loop.call_later(due - time.monotonic(), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        late, due = self._check_deadlines(self._pending, time.monotonic())
        self._resolve(late)
        if self._pending and due < math.inf:
            self._schedule(due)


class _QueueTimeEstimate:
    """Estimates how long a new request will wait in the queue."""

    def __init__(self) -> None:
        self._rows = 0
        self._others = 0
        self._group_s = deque([0.0] * _SAMPLES, _SAMPLES)
        self._other_s = deque([0.0] * _SAMPLES, _SAMPLES)

    def enqueued(self, request: _Request) -> None:
        """Count a request that was queued."""
        self._count(request, 1)

    def dequeued(self, request: _Request) -> None:
        """Count a request that left the queue."""
        self._count(request, -1)

    def record(self, request: _Request, seconds: float) -> None:
        """Record how long a request took, or the batch it was the first of."""
        (self._other_s if request.row is None else self._group_s).append(seconds)

    @property
    def last_group_s(self) -> float:
        """How long the last batch took, in seconds."""
        return self._group_s[-1]

    def wait_s(self) -> float:
        """Return the least time a new request will wait, judging by recent durations."""
        groups = math.ceil(self._rows / GROUP)
        return groups * min(self._group_s) + self._others * min(self._other_s)

    def _count(self, request: _Request, one: int) -> None:
        if request.row is None:
            self._others += one
        else:
            self._rows += one * request.row.size


def _unavailable(why: str) -> JournalFault:
    return JournalFault("The database", why, passing=True)
