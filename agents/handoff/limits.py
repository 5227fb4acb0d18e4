"""How long things may take, and how all of them are given up at once."""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from state.shared import Basis, StateError

T = TypeVar("T")

logger = logging.getLogger(__name__)

HEED_S = 0.5
"""How long what is given up may take to put things away, in seconds."""

_LOOK_S = 0.05
"""How often it is looked whether a change that is waited for has been made, in seconds."""


class GivenUp(StateError):
    """The work that asks for a change was given up before."""

    code = "given_up"

    def __init__(self) -> None:
        super().__init__("This was given up before. Nothing was changed.")


class StillRunning(TimeoutError):
    """Work was given up and does not end: what it does outside the state may still happen."""


class Broken(Exception):
    """Work raised what is no ``Exception``, such as ``SystemExit``: that ends the work and nothing else."""


class Silence:
    """Limits how long something may be silent, again and again, with one timer: an async context manager.

    An ``asyncio.timeout`` for each of a reply's pieces costs more than all else that is done with them.

    Args:
        limit: What is expired when the silence has lasted too long; without a time of its own.
        seconds: How long it may last.

    Raises:
        TimeoutError: On leaving it: it lasted too long, or the call has been hung up.
    """

    def __init__(self, limit: asyncio.Timeout, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None

    async def __aenter__(self) -> Self:
        """Begin to wait."""
        await self._limit.__aenter__()
        self.begins()
        self._timer = self._loop.call_later(self._seconds, self._look)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop waiting."""
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def begins(self) -> None:
        """Count from now on."""
        self._since = self._loop.time()

    def ends(self) -> None:
        """Something came: do not count while it is dealt with."""
        self._since = None

    def _look(self) -> None:
        now = self._loop.time()
        until = (now if self._since is None else self._since) + self._seconds
        if until > now:
            self._timer = self._loop.call_at(until, self._look)
        elif not self._limit.expired():
            self._limit.reschedule(now)


class Limits:
    """The time limits that run in one call."""

    def __init__(self) -> None:
        self.over = False
        self._running: weakref.WeakSet[asyncio.Timeout] = weakref.WeakSet()

    def within(self, seconds: float | None) -> asyncio.Timeout:
        """Limit how long something may take: an async context manager.

        Args:
            seconds: How long; ``None`` limits it to the call's own time.

        Raises:
            TimeoutError: On leaving it: the time is over, or the call has been hung up.
        """
        limit = asyncio.timeout(0 if self.over else seconds)
        self._running.add(limit)
        return limit

    def silence(self, seconds: float) -> Silence:
        """Limit how long something may be silent that goes on for as long as it is not."""
        return Silence(self.within(None), seconds)

    async def carried_out(
        self, work: Coroutine[Any, Any, T], seconds: float, basis: Basis | None = None
    ) -> T:
        """Carry out an application's own work, and leave it to itself when it does not heed its end.

        Its own time is limited. What it waits for its changes to be made is not counted, and work that is
        given up changes nothing afterwards.

        Args:
            work: What to do.
            seconds: How long it may take.
            basis: What its changes are decided on; without one no version is checked.

        Raises:
            TimeoutError: The time is over, or the call has been hung up.
            StillRunning: The same, and the work goes on.
            Broken: It raised what is no ``Exception``.
        """
        basis = basis or Basis(None, None)
        with basis:
            task = asyncio.ensure_future(_contained(work))
        try:
            async with self.within(None):
                await _in_time(task, seconds, basis)
        except (TimeoutError, asyncio.CancelledError) as error:
            if not task.done():
                task.cancel()
                await asyncio.wait((task,), timeout=HEED_S)
                while not task.done() and basis.writing:
                    await asyncio.wait((task,), timeout=HEED_S)
            if not task.done():
                logger.warning("a tool or hook that was given up does not end")
                basis.give_up(GivenUp())
                task.add_done_callback(_unheard)
                if isinstance(error, TimeoutError):
                    raise StillRunning from None
                raise
            if task.cancelled():
                raise
        finally:
            if task.done():
                basis.end()
        return task.result()

    def hang_up(self) -> None:
        """Let every limit expire, now and from now on."""
        self.over = True
        for limit in tuple(self._running):
            with contextlib.suppress(RuntimeError):  # it has ended already
                limit.reschedule(0)


async def _in_time(task: "asyncio.Task[Any]", seconds: float, basis: Basis) -> None:
    """Wait for work; raises ``TimeoutError`` when its own time is over and no change is on its way."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not task.done():
        left = seconds - (loop.time() - began - basis.waited_s)
        if left <= 0 and not basis.writing:
            raise TimeoutError
        await asyncio.wait((task,), timeout=max(left, _LOOK_S))


async def _contained(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # ``sys.exit`` in a tool must not end the process of a call
        raise Broken(type(error).__name__) from error


def _unheard(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.warning("a tool or hook that was given up failed in the end")
