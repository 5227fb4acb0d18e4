"""The events of a call, for terminals, pages and tests.

A listener is a plain function. It is called with every event in order, inside the event loop, and
must not block. ``turn`` is the number of user messages so far; the greeting belongs to turn 0.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

logger = logging.getLogger(__name__)

EndReason = Literal["input_ended", "user_left", "agent_ended", "failed"]
"""Why a call is over: no more input, the user hung up, an agent ended it, or it failed."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The user said something; ``text`` is redacted."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """An agent said something; ``interrupted`` if the user cut it short."""

    turn: int
    agent: str
    text: str
    interrupted: bool = False
    version: int | None = field(default=None, compare=False)
    """The version of the state that the words were made from: the one a model request showed, or
    the one given to ``Call.speak``. None for a fallback sentence."""
    about: str | None = field(default=None, compare=False)
    """The topic given to ``Call.speak``; None for a reply."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool other than a transfer has ended, successfully or not."""

    turn: int
    agent: str
    name: str
    arguments: Mapping[str, Any]
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Another agent is active from here on; ``arguments`` if the handoff carried any."""

    turn: int
    source: str
    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments that the source passes to the target."""


@dataclass(frozen=True, slots=True)
class HandoffRefused:
    """A transfer was requested and did not happen; ``reason`` is a code."""

    turn: int
    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The shared state changed, whatever the source; ``commands`` are the ops."""

    turn: int
    version: int
    commands: tuple[str, ...]
    state: Any


@dataclass(frozen=True, slots=True)
class Spent:
    """Token usage of this turn, as reported by the models; before ``YourTurn`` or ``Ended``.

    Several agents may have answered a turn; ``agent`` is the active one. If an agent speaks again
    in the same turn, a further event reports the difference.
    """

    turn: int
    agent: str
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class YourTurn:
    """It is the user's turn: everything that belongs to this turn has been said."""

    turn: int
    agent: str
    version: int
    expects: str


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """An agent speaks again although it was the user's turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The call is over; no event follows."""

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
"""Any event of a call."""

Listener: TypeAlias = Callable[[Event], None]
"""Called with every event in order, inside the event loop; must not block."""


class EventListeners:
    """The listeners of a call; each gets every event in the order in which it happened."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._queue: deque[Event] = deque()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event; returns a function that unsubscribes it."""
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    def emit(self, event: Event) -> None:
        """Notify all listeners of an event.

        An event that a listener emits is delivered after every listener has got the current one.
        """
        self._queue.append(event)
        if len(self._queue) > 1:
            return
        while self._queue:
            for listener in tuple(self._listeners):
                try:
                    listener(self._queue[0])
                except (
                    Exception,
                    asyncio.CancelledError,
                ):  # an exception in a listener must not reach the conversation
                    logger.exception("event listener failed")
            self._queue.popleft()
