"""What of the conversation travels to the next voice.

A policy takes the history the leaving voice sees and returns the items the next one starts with. The
state's digest needs no carrying: every voice is shown it afresh with each request. livekit-agents 1.8.9
drops tool calls a new voice does not own, so whatever of them is to travel has to become text.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from livekit.agents.llm import ChatItem, ChatMessage

Carry: TypeAlias = Callable[[Sequence[ChatItem]], list[ChatItem]]
"""Takes the history of the leaving voice and returns what the next one starts with."""


def nothing() -> Carry:
    """Carry nothing; the next voice knows the state and no words."""
    return lambda items: []


def digest() -> Carry:
    """Carry the guest's last words only; the state's digest says the rest. The default.

    Words before them that nobody has answered or acted on, since the guest spoke on, are his last words too.
    """

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        words: list[ChatItem] = []
        for item in reversed(items):
            if _is_message(item, "user"):
                words.append(item)
            elif words and (_is_message(item, "assistant") or _was_done(item)):
                break
        return words[::-1]

    return carry


def last(count: int) -> Carry:
    """Carry the last so many messages of guest and voices, without tool traffic."""

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        messages = [item for item in items if _is_message(item, "user", "assistant")]
        return list(messages[-count:]) if count > 0 else []

    return carry


def full() -> Carry:
    """Carry every message, and what tools answered as text."""

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        carried: list[ChatItem] = []
        for item in items:
            if _is_message(item, "user", "assistant"):
                carried.append(item)
            elif item.type == "function_call_output" and item.output:
                carried.append(
                    ChatMessage(role="assistant", content=[f"({item.name}: {item.output})"])
                )
        return carried

    return carry


def _was_done(item: ChatItem) -> bool:
    return item.type == "function_call_output" and not item.is_error


def _is_message(item: ChatItem, *roles: str) -> bool:
    return item.type == "message" and item.role in roles
