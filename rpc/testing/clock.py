"""A clock controlled by the test."""

import asyncio
import heapq
from itertools import count

ROUNDS = 50
"""How many event-loop ticks run before the clock advances, so that pending work completes."""


class FakeClock:
    """A clock that advances only when told to; call it for the present time in seconds.

    >>> clock = FakeClock()
    >>> clock()
    0.0
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        """Return the present time in seconds."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has advanced by this time; replaces ``asyncio.sleep``."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Advance the clock and wake sleepers in order."""
        end = self._now + seconds
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._now, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
                await self._settle()
        self._now = end
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
