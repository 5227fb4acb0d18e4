"""The session a call runs in: livekit's own, which forgets what it has told."""

from typing import TypeVar

from livekit.agents import AgentEvent, AgentSession
from livekit.agents.voice.events import EventTypes
from livekit.rtc import EventEmitter

U = TypeVar("U")


class CallSession(AgentSession[U]):
    """A session that does not keep its events.

    livekit-agents 1.8.9 keeps every event of a session, the guest's words in them, for a report that is
    made when a job ends: 12 KiB a turn, half of what a text conversation takes. A call tells its listeners
    what happens and is kept by its journal; nobody asks for that report.
    """

    def emit(self, event: EventTypes, arg: AgentEvent) -> None:
        """Tell those who listen, and keep nothing."""
        EventEmitter.emit(self, event, arg)
