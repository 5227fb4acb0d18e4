"""What all calls of one process share, and the outcomes of a room job."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from livekit.agents.llm import LLM

from bella_vista.rooms.media import Media
from bella_vista.rooms.silence import SILENCE_POLICIES, SilencePolicy
from state.context import OrderContext
from state.order import Channel
from state.shared import SqlStore

GUEST_WAIT_S = 120.0
"""How long an agent waits in a room for a guest, in seconds."""


class RoomOutcome(Enum):
    """How a room job ended; the value is what the log says."""

    COMPLETED = "completed"
    """An agent ended the call, or the guest left."""
    NO_GUEST = "no guest"
    """No guest came."""
    SUPERSEDED = "superseded"
    """Another agent serves this guest; this one left without speaking."""
    DISCONNECTED = "disconnected"
    """The connection to the room was lost for good; the order is stored and can be resumed."""
    NO_SPEECH = "no speech"
    """Speech failed on a phone call; the caller has been told."""
    FAILED = "failed"
    """The conversation failed; another agent has to continue it."""


@dataclass(frozen=True)
class ProcessContext:
    """What all calls of one process share.

    Args:
        context: The menu, the clock, the id generator.
        store: Keeps the orders.
        model: Builds the language model of a call.
        media: Builds the speech models, if any are configured.
        secret: Signs resume codes.
        grace_s: How long a guest may be away before the call ends, in seconds.
        words: Whether the transcript stores what is said.
        words_days: For how many days.
        agent: The agent name that clients are told.
        silence: How long a guest may be silent, by channel.
        reply_limit_of: Returns how long a model may be silent, in seconds, if the model says
            so.
        guest_wait_s: How long to wait for a guest, in seconds.
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
    silence: Mapping[Channel, SilencePolicy] = field(default_factory=lambda: SILENCE_POLICIES)
    reply_limit_of: Callable[[LLM[Any]], float | None] = lambda model: None
    guest_wait_s: float = GUEST_WAIT_S
