"""The data shared by all calls of one process, and the outcomes of a room job."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic

from livekit.agents.llm import LLM

from agents.app.app import App
from agents.app.live import LiveSettings
from agents.app.parts import C, Channel, S
from agents.app.recordings import Recordings
from agents.app.rooms.media import Media
from agents.app.rooms.silence import SILENCE_POLICIES, SilencePolicy
from agents.app.rooms.turn_times import Measured
from state.shared import SqlStore

USER_WAIT_S = 120.0
"""How long an agent waits in a room for a user, in seconds."""


class RoomOutcome(Enum):
    """How a room job ended; the value is its text in the log."""

    COMPLETED = "completed"
    """An agent ended the call, or the user left."""
    NO_USER = "no user"
    """No user came."""
    STOPPED = "stopped"
    """The job is shut down during a call; another agent may continue it."""
    SUPERSEDED = "superseded"
    """Another agent serves this user; this agent left without speaking."""
    DISCONNECTED = "disconnected"
    """The connection to the room was lost for good; the state is stored and can be resumed."""
    NO_SPEECH = "no speech"
    """Speech failed on a phone call; the caller has been told."""
    FAILED = "failed"
    """The conversation failed; another agent has to continue it."""


@dataclass(frozen=True)
class ProcessContext(Generic[S, C]):
    """The data shared by all calls of one process.

    Args:
        model: Builds the language model of a call.
        models: Builds the language models of single agents.
        media: Builds the speech models, if any are configured.
        grace_s: How long a user may be away before the call ends, in seconds.
        transcript: Whether the transcript stores the words of user and agents.
        transcript_days: How long the transcript is kept, in days.
        agent: The agent name of dispatches, which names the rooms' leases.
        silence: How long a user may be silent, by channel.
        user_wait_s: How long to wait for a user, in seconds.
        live: The settings that staff change while calls run.
        recordings: The recordings of calls; ``None`` if calls are not recorded.
        measured: Called with the latency of each answer.
    """

    app: App[S, C]
    context: C
    store: SqlStore
    model: Callable[[], LLM[Any]]
    media: Media
    secret: str
    grace_s: float
    transcript: bool = True
    transcript_days: int = 30
    agent: str = "agent"
    silence: Mapping[Channel, SilencePolicy] = field(default_factory=lambda: SILENCE_POLICIES)
    models: Callable[[], Mapping[str, LLM[Any]]] = dict
    user_wait_s: float = USER_WAIT_S
    live: LiveSettings = field(default_factory=LiveSettings)
    recordings: Recordings | None = None
    measured: Measured = lambda latency: None

    def __post_init__(self) -> None:
        """Read the live settings from the store of the states."""
        self.live.read_from(self.store)
