"""A fake client in a fake room; it gives the answers its test has set."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Answer = str | Callable[[str], str] | Callable[[str], Awaitable[str]]
"""A client's answer to a call: a text, or a function of the payload that returns or raises it."""


@dataclass(frozen=True, slots=True)
class Received:
    """A call that a client received.

    Args:
        method: The method.
        payload: The payload.
        at: The time by the room's clock, in seconds.
    """

    method: str
    payload: str
    at: float

    @property
    def data(self) -> Any:
        """The payload, parsed."""
        return json.loads(self.payload)


class FakeClient:
    """A participant in a fake room, controlled by a test."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.received: list[Received] = []
        """Every call received, oldest first."""
        self.silent = False
        """Whether it never responds, not even with an acknowledgement: a phone, a killed page."""
        self._has: dict[str, tuple[Answer, float]] = {}
        self._lacks: set[str] = set()

    def has(self, method: str, answer: Answer = "{}", *, after_s: float = 0.0) -> None:
        """Add a method.

        Args:
            method: Its name.
            answer: Its answer.
            after_s: How long it takes, by the room's clock, in seconds.
        """
        self._lacks.discard(method)
        self._has[method] = (answer, after_s)

    def lacks(self, method: str) -> None:
        """Remove a method but expect calls to it; they get 1400."""
        self._has.pop(method, None)
        self._lacks.add(method)

    def named(self, method: str) -> list[Any]:
        """Return the parsed payloads of a method's calls, oldest first."""
        return [one.data for one in self.received if one.method == method]

    def expects(self, method: str) -> bool:
        """Whether the test expects calls to this method."""
        return method in self._has or method in self._lacks

    def answer_to(self, method: str) -> tuple[Answer, float] | None:
        """Return the answer and its delay in seconds; ``None`` if there is no such method."""
        return self._has.get(method)


async def spoken(answer: Answer, payload: str) -> str:
    """Resolve an answer to its text."""
    if isinstance(answer, str):
        return answer
    said = answer(payload)
    return await said if inspect.isawaitable(said) else said
