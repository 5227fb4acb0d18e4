"""Starts at most N calls per event-loop tick so that a burst cannot starve other callers."""

import asyncio
from collections import deque

STARTS_PER_TICK = 4
"""How many calls start in one event-loop tick; each takes up to a millisecond."""


class StartLimiter:
    """Starts at most N calls per event-loop tick: round robin over callers, in order within each caller.

    A caller with one call does not wait for another's hundred. Only starts are counted, so running calls block
    nothing.

    Args:
        per_tick: How many calls start in one event-loop tick.
    """

    def __init__(self, per_tick: int = STARTS_PER_TICK) -> None:
        self._per_tick = per_tick
        self._left = per_tick
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By caller; the next caller first."""
        self._refill_scheduled = False

    async def wait_to_start(self, identity: str) -> None:
        """Wait until a call may start; returns at once unless many have started in this tick."""
        if self._left > 0 and not self._waiting:
            self._left -= 1
            self._schedule_refill()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(identity, deque()).append(turn)
        self._schedule_refill()
        await turn

    def _schedule_refill(self) -> None:
        if not self._refill_scheduled:
            self._refill_scheduled = True
            asyncio.get_running_loop().call_soon(self._refill)

    def _refill(self) -> None:
        self._refill_scheduled = False
        self._left = self._per_tick
        while self._left > 0 and self._waiting:
            identity = next(iter(self._waiting))
            turns = self._waiting.pop(identity)
            turn = turns.popleft()
            if turns:
                self._waiting[identity] = turns  # to the end of the queue
            if not turn.done():  # a cancelled call does not count
                turn.set_result(None)
                self._left -= 1
        if self._waiting:
            self._schedule_refill()
