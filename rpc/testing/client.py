"""The far end of a fake room: a client that answers what it was told to answer."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Answer = str | Callable[[str], str] | Callable[[str], Awaitable[str]]
"""What a client says to a call: a text, or a function of the payload that returns or raises it."""


@dataclass(frozen=True, slots=True)
class Received:
    """A call that came to a client.

    Args:
        method: What was called.
        payload: The text as it came.
        at: When, by the room's clock, in seconds.
    """

    method: str
    payload: str
    at: float

    @property
    def data(self) -> Any:
        """The payload, read."""
        return json.loads(self.payload)


class FakeClient:
    """Somebody in a fake room, as a test holds him.

    Args:
        identity: As he joined.
    """

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.received: list[Received] = []
        """Every call that reached it, oldest first."""
        self.silent = False
        """Whether nothing comes back from it, not even that a call arrived: a phone, a killed page."""
        self._has: dict[str, tuple[Answer, float]] = {}
        self._lacks: set[str] = set()

    def has(self, method: str, answer: Answer = "{}", *, after_s: float = 0.0) -> None:
        """Let it have a method.

        Args:
            method: Its name.
            answer: What it says.
            after_s: How long it takes for that, by the room's clock, in seconds.
        """
        self._lacks.discard(method)
        self._has[method] = (answer, after_s)

    def lacks(self, method: str) -> None:
        """Let it not have a method, and expect it to be called all the same: it answers 1400."""
        self._has.pop(method, None)
        self._lacks.add(method)

    def named(self, method: str) -> list[Any]:
        """Return the payloads that came for a method, read, oldest first."""
        return [one.data for one in self.received if one.method == method]

    def expects(self, method: str) -> bool:
        """Whether the test has said what happens to such a call."""
        return method in self._has or method in self._lacks

    def answer_to(self, method: str) -> tuple[Answer, float] | None:
        """Return what it says and after how long, or nothing when it has no such method."""
        return self._has.get(method)


async def spoken(answer: Answer, payload: str) -> str:
    """Return what an answer comes to."""
    if isinstance(answer, str):
        return answer
    said = answer(payload)
    return await said if inspect.isawaitable(said) else said
