"""The history of a call, in the order in which its items appeared."""

from typing import Any

from livekit.agents.llm import ChatContext


class History(ChatContext):
    """A chat context that adds every item at its end.

    An item's place is its sequence number. livekit-agents 1.8.9 places items by ``created_at``, the wall
    clock's time: after a step back of the clock the newest words would stand before older replies, and be
    taken for answered.
    """

    def copy(self, **how: Any) -> "History":
        """Copy it; arguments as ``ChatContext.copy``."""
        return History(super().copy(**how).items)

    def find_insertion_index(self, *, created_at: float) -> int:
        """Return the end of it, whatever the clock says."""
        return len(self.items)

    def merge(self, other_chat_ctx: ChatContext, **how: Any) -> "History":
        """Add what another history has besides, each item after the one that it follows there.

        Args:
            other_chat_ctx: The other history.
            how: Arguments as ``ChatContext.merge``.
        """
        items, count = self.items, len(self.items)
        super().merge(other_chat_ctx, **how)  # at the end
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
