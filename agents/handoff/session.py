"""The session a call runs in: livekit's own, which forgets what it has told and does not look at the clock."""

from typing import TypeVar

from livekit.agents import AgentEvent, AgentSession
from livekit.agents.llm import ChatContext
from livekit.agents.voice.events import EventTypes
from livekit.rtc import EventEmitter

from agents.handoff.history import History

U = TypeVar("U")


class CallSession(AgentSession[U]):
    """A session that does not keep its events, and whose history has the order in which things happened.

    livekit-agents 1.8.9 keeps every event of a session, the guest's words in them, for a report that is
    made when a job ends: 12 KiB a turn, half of what a text conversation takes. A call tells its listeners
    what happens and is kept by its journal; nobody asks for that report.
    """

    @property
    def _chat_ctx(self) -> ChatContext:
        return self._items

    @_chat_ctx.setter
    def _chat_ctx(self, given: ChatContext) -> None:
        self._items = History(given.items)

    def emit(self, event: EventTypes, arg: AgentEvent) -> None:
        """Tell those who listen, and keep nothing."""
        EventEmitter.emit(self, event, arg)
