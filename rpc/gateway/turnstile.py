"""Lets a few calls to their work in each round of the event loop, so that a hundred at once hold nobody up."""

import asyncio
from collections import deque

AT_A_TIME = 4
"""So many calls begin their work in one round of the loop: each takes up to a millisecond."""


class Turnstile:
    """Begins work a few at a time: callers take turns, and each caller's calls begin in the order in which they came.

    So a caller with one call does not wait for another's hundred. Work that is on its way holds nobody up: only
    beginnings are counted.

    Args:
        at_a_time: How many begin in one round of the event loop.
    """

    def __init__(self, at_a_time: int = AT_A_TIME) -> None:
        self._at_a_time = at_a_time
        self._left = at_a_time
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By caller; whose turn it is next comes first."""
        self._opens = False

    async def passed(self, identity: str) -> None:
        """Wait until a call may begin; at once, unless many have begun in this round.

        Args:
            identity: Who calls.
        """
        if self._left > 0 and not self._waiting:
            self._left -= 1
            self._open_soon()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(identity, deque()).append(turn)
        self._open_soon()
        await turn

    def _open_soon(self) -> None:
        if not self._opens:
            self._opens = True
            asyncio.get_running_loop().call_soon(self._open)

    def _open(self) -> None:
        self._opens = False
        self._left = self._at_a_time
        while self._left > 0 and self._waiting:
            identity = next(iter(self._waiting))
            turns = self._waiting.pop(identity)
            turn = turns.popleft()
            if turns:
                self._waiting[identity] = turns  # behind the others
            if not turn.done():  # whoever was cancelled meanwhile takes nobody's place
                turn.set_result(None)
                self._left -= 1
        if self._waiting:
            self._open_soon()
