"""What a call tells those who listen to it: a terminal, a page, a test.

A listener is a plain function that gets every event in order, inside the event loop, and must not
wait. ``turn`` counts what the guest has said; the greeting belongs to turn 0.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

logger = logging.getLogger(__name__)

EndReason = Literal["input_ended", "user_left", "agent_ended", "failed"]
"""Why a call is over: nothing more to read, the guest hung up, an agent said goodbye, or it broke."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The guest said something; the text is as it was let in."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """An agent said something; ``interrupted`` when the guest cut it short."""

    turn: int
    agent: str
    text: str
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool that is no transfer has ended, well or not."""

    turn: int
    agent: str
    name: str
    arguments: Mapping[str, Any]
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Another agent speaks from here on."""

    turn: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class HandoffRefused:
    """A transfer was asked for and did not happen; ``reason`` is a code."""

    turn: int
    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The shared state changed, whoever changed it; ``commands`` are their ops."""

    turn: int
    version: int
    commands: tuple[str, ...]
    state: Any


@dataclass(frozen=True, slots=True)
class Spent:
    """What the models that reported it cost in this turn; told before ``YourTurn``, or before the end.

    A turn may have been answered by several agents; ``agent`` is the one that speaks now. When an agent
    speaks up again in the same turn, the next one tells what came on top.
    """

    turn: int
    agent: str
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class YourTurn:
    """The guest may speak: everything that belongs to this turn has been said."""

    turn: int
    agent: str
    version: int
    expects: str


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """An agent speaks again although it was the guest's turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The call is over; nothing follows."""

    reason: EndReason


Event: TypeAlias = (
    Heard
    | Said
    | ToolUsed
    | HandedOver
    | HandoffRefused
    | StateChanged
    | Spent
    | YourTurn
    | TurnWithdrawn
    | Ended
)
"""Anything a call tells."""

Listener: TypeAlias = Callable[[Event], None]
"""Is told every event in order, inside the event loop; it must not wait."""


class EventListeners:
    """Those who listen to a call, each told every event in the order in which it happened."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._untold: deque[Event] = deque()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody everything that happens; returns what ends that."""
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    def tell(self, event: Event) -> None:
        """Tell everybody; what a listener brings about by itself is told when all know the cause."""
        self._untold.append(event)
        if len(self._untold) > 1:
            return
        while self._untold:
            for listener in tuple(self._listeners):
                try:
                    listener(self._untold[0])
                except (
                    Exception,
                    asyncio.CancelledError,
                ):  # a listener's fault must not reach the conversation
                    logger.exception("a listener failed")
            self._untold.popleft()
