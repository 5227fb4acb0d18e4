"""What a call tells those who listen to it: a terminal, a page, a test.

A listener is a plain function that gets every event in order, inside the event loop, and must not
wait. ``turn`` counts what the guest has said; the greeting belongs to turn 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

EndReason = Literal["input_ended", "guest_left", "voice_ended", "failed"]


@dataclass(frozen=True, slots=True)
class Heard:
    """The guest said something; the text is as it was let in."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A voice said something; ``interrupted`` when the guest cut it short."""

    turn: int
    voice: str
    text: str
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool that is no transfer has ended, well or not."""

    turn: int
    voice: str
    name: str
    arguments: Mapping[str, Any]
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Another voice speaks from here on."""

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
class YourTurn:
    """The guest may speak: everything that belongs to this turn has been said."""

    turn: int
    voice: str
    version: int
    expects: str


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """A voice speaks again although it was the guest's turn."""

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
    | YourTurn
    | TurnWithdrawn
    | Ended
)
Listener: TypeAlias = Callable[[Event], None]
