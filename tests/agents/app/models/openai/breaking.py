"""A provider that breaks its answers off: chat completions, responses, and those over WebSocket.

Asked the same again, it gives the same answer again, as a provider does; so a request that is repeated acts twice.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from agents.testing.providers import Answer, Providers, calls, says

LISTENS = "I am listening."
AFTER = "That is done."
WANTED = "A night, and a beer"
"""What the guest says to have it break."""

Piece = str | tuple[str, dict[str, Any]]
"""Words, or a call by name and arguments."""

Break = Literal[
    "the connection is cut",
    "the body ends",
    "an error is sent",
    "nonsense is sent",
    "nothing comes",
]

BREAKS: dict[Break, dict[str, Any]] = {
    "the connection is cut": {"breaks": "hard"},
    "the body ends": {"breaks": "soft"},
    "an error is sent": {"breaks": "error"},
    "nonsense is sent": {"breaks": "nonsense"},
    "nothing comes": {"stalls": "end"},
}


class BreakingProvider:
    """Answers what the guest wants with pieces, and breaks off after them, the first few times.

    Args:
        pieces: What arrives.
        rest: What comes after them when nothing breaks.
        breaks: How it breaks.
        times: How often.
    """

    def __init__(
        self, pieces: Sequence[Piece], rest: Sequence[Piece], breaks: Break, times: int
    ) -> None:
        self._pieces, self._rest = tuple(pieces), tuple(rest)
        self._breaks: Break = breaks
        self._left = times
        self.attempts = 0
        self.outputs: list[str] = []
        """What the tools had answered when it was asked last."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Providers]:
        async with Providers(self._answer).running() as server:
            yield server

    def _answer(self, request: dict[str, Any]) -> Answer:
        messages = request.get("messages") or request["input"]
        answered = [
            one.get("output") or one.get("content")
            for one in messages
            if one.get("type") == "function_call_output" or one.get("role") == "tool"
        ]
        wanted = [one for one in messages if one.get("role") == "user" and WANTED in str(one)]
        if answered:
            self.outputs = [str(one) for one in answered]
            return says(AFTER)
        if not wanted or messages[-1] is not wanted[-1]:
            return says(LISTENS)
        self.attempts += 1
        if not self._left:
            return _of((*self._pieces, *self._rest))
        self._left -= 1
        return _of(self._pieces, **BREAKS[self._breaks])


def _of(pieces: Sequence[Piece], **how: Any) -> Answer:
    made = [piece for piece in pieces if not isinstance(piece, str)]
    words = "".join(piece for piece in pieces if isinstance(piece, str))
    return calls(*made, say=words or None, whole_calls=len(made), **how)
