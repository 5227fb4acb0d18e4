"""How long things may take, and how all of them are given up at once."""

import asyncio
import contextlib
import weakref


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

    def hang_up(self) -> None:
        """Let every limit expire, now and from now on."""
        self.over = True
        for limit in tuple(self._running):
            with contextlib.suppress(RuntimeError):  # it has ended already
                limit.reschedule(0)
