"""How long things may take, and how all of them are given up at once."""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)

HEED_S = 0.5
"""How long what is given up may take to put things away, in seconds."""


class Limits:
    """The time limits that run in one call."""

    def __init__(self) -> None:
        self.over = False
        self._running: weakref.WeakSet[asyncio.Timeout] = weakref.WeakSet()

    def within(self, seconds: float) -> asyncio.Timeout:
        """Limit how long something may take: an async context manager.

        Raises:
            TimeoutError: On leaving it: the time is over, or the call has been hung up.
        """
        limit = asyncio.timeout(0 if self.over else seconds)
        self._running.add(limit)
        return limit

    async def carried_out(
        self, work: Coroutine[Any, Any, T], seconds: float, writing: Callable[[], bool]
    ) -> T:
        """Carry out an application's own work, and leave it to itself when it does not heed its end.

        Args:
            work: What to do.
            seconds: How long it may take.
            writing: Whether a change is on its way to the journal, which is waited for: its outcome is told.

        Raises:
            TimeoutError: The time is over, or the call has been hung up.
        """
        task = asyncio.ensure_future(work)
        try:
            async with self.within(seconds):
                await asyncio.wait((task,))
        except (TimeoutError, asyncio.CancelledError):
            if not task.done():
                task.cancel()
                await asyncio.wait((task,), timeout=HEED_S)
                while not task.done() and writing():
                    await asyncio.wait((task,), timeout=HEED_S)
            if not task.done():
                logger.warning("something that was given up does not end")
                task.add_done_callback(_unheard)
                raise
            if task.cancelled():
                raise
        return task.result()

    def hang_up(self) -> None:
        """Let every limit expire, now and from now on."""
        self.over = True
        for limit in tuple(self._running):
            with contextlib.suppress(RuntimeError):  # it has ended already
                limit.reschedule(0)


def _unheard(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.warning("something that was given up failed in the end")
