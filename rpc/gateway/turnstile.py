"""Lets a few calls to their work in each round of the event loop, so that a hundred at once hold nobody up."""

import asyncio
from collections import deque

AT_A_TIME = 4
"""So many calls begin their work in one round of the loop: each takes up to a millisecond."""


class Turnstile:
    """Begins work a few at a time, in the order in which it came.

    Work that is on its way holds nobody up: only beginnings are counted.

    Args:
        at_a_time: How many begin in one round of the event loop.
    """

    def __init__(self, at_a_time: int = AT_A_TIME) -> None:
        self._at_a_time = at_a_time
        self._left = at_a_time
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens = False

    async def passed(self) -> None:
        """Wait until it is one's turn to begin; at once, unless many have begun in this round."""
        if self._left > 0 and not self._waiting:
            self._left -= 1
            self._open_soon()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
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
            turn = self._waiting.popleft()
            if not turn.done():  # whoever was cancelled meanwhile takes nobody's place
                turn.set_result(None)
                self._left -= 1
        if self._waiting:
            self._open_soon()
