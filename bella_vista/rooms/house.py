"""What all calls of one process share, and how one of them can end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from livekit.agents.llm import LLM

from bella_vista.rooms.media import Media
from bella_vista.rooms.patience import PATIENCE, Patience
from state.context import OrderContext
from state.order import Channel
from state.shared import SqlStore

NOBODY_S = 120.0
"""How long an agent waits in a room for somebody to serve, in seconds."""


class Outcome(Enum):
    """How a call ended."""

    OVER = "over"
    """It is over: an agent said goodbye, or the guest has left."""
    NOBODY = "nobody came"
    """There was nobody to serve."""
    WITHDRAWN = "another agent has it"
    """Another agent serves this guest; this one left without a word."""
    CUT_OFF = "the room is gone"
    """The connection was lost for good; the order is kept and can be gone on with."""
    UNSPOKEN = "there was no speech for a telephone"
    """A caller could not be heard or spoken to; they have been told so."""
    FAILED = "it broke off"
    """The conversation broke; somebody else has to go on with it."""


@dataclass(frozen=True)
class House:
    """What all calls of one process share.

    Args:
        context: The menu, the clock, the ids.
        store: Keeps the orders.
        model: Makes the language model of a call.
        media: Makes the speech models, if any are set up.
        secret: What resume codes are made with.
        grace_s: How long a guest may be away, in seconds.
        words: Whether what is said is kept.
        words_days: For how many days.
        agent: The name that clients are told.
        patience: How long a guest may be silent, by channel.
        patience_of: How long a model may be silent, in seconds, where it says so.
        nobody_s: How long to wait for somebody to serve, in seconds.
    """

    context: OrderContext
    store: SqlStore
    model: Callable[[], LLM[Any]]
    media: Media
    secret: str
    grace_s: float
    words: bool = True
    words_days: int = 30
    agent: str = "bella-vista"
    patience: Mapping[Channel, Patience] = field(default_factory=lambda: PATIENCE)
    patience_of: Callable[[LLM[Any]], float | None] = lambda model: None
    nobody_s: float = NOBODY_S
