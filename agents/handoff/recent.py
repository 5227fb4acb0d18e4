"""How much of a long talk with one voice its model is shown."""

from collections.abc import Sequence

from livekit.agents.llm import ChatItem


def recent(items: Sequence[ChatItem], most: int) -> list[ChatItem]:
    """Return the instructions at the head of a history and its last part, about ``most`` items long.

    The last part begins with something the guest said, so that no tool's answer stands without its call.
    It is cut in steps of half of ``most`` and not at every turn: what a provider has cached of a prompt is
    good for as long as its beginning stays the same.
    """
    head = next((at for at, item in enumerate(items) if not _instructs(item)), len(items))
    talk = items[head:]
    if len(talk) <= most:
        return list(items)
    step = max(1, most // 2)
    cut = -(-(len(talk) - most) // step) * step
    after = (at for at in range(cut, len(talk)) if _is_guests(talk[at]))
    before = (at for at in range(cut - 1, -1, -1) if _is_guests(talk[at]))
    return [*items[:head], *talk[next(after, next(before, 0)) :]]


def _instructs(item: ChatItem) -> bool:
    return item.type == "message" and item.role in ("system", "developer")


def _is_guests(item: ChatItem) -> bool:
    return item.type == "message" and item.role == "user"
