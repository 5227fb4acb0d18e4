"""How long things may take, and how all of them are given up at once."""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

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
