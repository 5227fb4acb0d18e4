"""The session of a call, and its history in the order in which items were added."""

from typing import Any, TypeVar

from livekit.agents import AgentEvent, AgentSession
from livekit.agents.llm import ChatContext
from livekit.agents.voice.events import EventTypes
from livekit.rtc import EventEmitter

U = TypeVar("U")


class History(ChatContext):
    """A chat context that appends every item.

    livekit-agents 1.8.9 orders items by ``created_at``, wall clock time: after the clock is set
    back, the newest message would be placed before older replies and count as answered.
    """

    def copy(self, **how: Any) -> "History":
        """Copy it; arguments as ``ChatContext.copy``."""
        return History(super().copy(**how).items)

    def find_insertion_index(self, *, created_at: float) -> int:
        """Return the index of the end."""
        return len(self.items)

    def merge(self, other_chat_ctx: ChatContext, **how: Any) -> "History":
        """Add the items that only another history has, each after its predecessor there.

        Args:
            other_chat_ctx: The other history.
            how: Arguments as ``ChatContext.merge``.
        """
        items, count = self.items, len(self.items)
        super().merge(other_chat_ctx, **how)  # appended
        added = {item.id: item for item in items[count:]}
        if added:
            del items[count:]
            at = 0
            for item in other_chat_ctx.items:
                if (new := added.get(item.id)) is not None:
                    items.insert(at, new)
                    at += 1
                elif (known := self.index_by_id(item.id)) is not None:
                    at = known + 1
        return self


class CallSession(AgentSession[U]):
    """An AgentSession that does not retain its event history and keeps items in order.

    livekit-agents 1.8.9 keeps every event of a session, the user's words included, for a report at
    the end of the job: 12 KiB a turn, half of a text conversation's memory. A call emits its own
    events and is recorded by its journal; the report is not used.
    """

    @property
    def _chat_ctx(self) -> ChatContext:
        return self._items

    @_chat_ctx.setter
    def _chat_ctx(self, given: ChatContext) -> None:
        self._items = History(given.items)

    def emit(self, event: EventTypes, arg: AgentEvent) -> None:
        """Emit an event without retaining it."""
        EventEmitter.emit(self, event, arg)
