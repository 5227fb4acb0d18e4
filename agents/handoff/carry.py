"""What of the conversation travels to the next agent.

A policy takes the history the leaving agent sees and returns the items the next one starts with. The
state's digest needs no carrying: every agent is shown it afresh with each request. livekit-agents 1.8.9
drops tool calls a new agent does not own, so whatever of them is to travel has to become text.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeGuard

from livekit.agents.llm import ChatItem, ChatMessage, FunctionCallOutput

Carry: TypeAlias = Callable[[Sequence[ChatItem]], list[ChatItem]]
"""Takes the history of the leaving agent and returns what the next one starts with."""

_NOTE = re.compile(r"\(\w+: .*\)", re.DOTALL)
"""What a tool answered, as text."""


def nothing() -> Carry:
    """Carry nothing; the next agent knows the state and no words."""
    return lambda items: []


def digest() -> Carry:
    """Carry the guest's last words only; the state's digest says the rest. The default.

    Messages before them that nobody has answered travel as well, unless a tool has acted on one of them alone. Of
    several that a reply was shown together nobody can say which its tools were for: they travel with what was done.
    """

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        ends = max((at for at, item in enumerate(items) if _is_message(item, "user")), default=-1)
        waiting = unanswered(items[: ends + 1])
        words: list[ChatItem] = []
        for item in items[waiting[0] : ends + 1] if waiting else ():
            if _is_message(item, "user") or is_note(item):
                words.append(item)
            elif item.type == "function_call_output" and not item.is_error:
                words.append(_note(item))
        while words and (is_note(words[0]) or is_note(words[min(1, len(words) - 1)])):
            del words[0]  # one message alone was acted on
        return words

    return carry


def last(count: int) -> Carry:
    """Carry the last so many messages of guest and agents, without tool traffic."""

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
                carried.append(_note(item))
        return carried

    return carry


def unanswered(items: Sequence[ChatItem]) -> list[int]:
    """Return the places of the user's messages that no reply has answered.

    A reply to several that was interrupted, or broken off after it had called tools, answers none of them: nobody
    can say which its words were for. One message is answered by whatever was said to it.
    """
    # From the end: all before the last reply that came to its end is answered, and a history is long.
    start = next((at + 1 for at in range(len(items) - 1, -1, -1) if _ends(items, at)), 0)
    waiting: list[int] = []
    for at in range(start, len(items)):
        if _is_message(items[at], "user"):
            waiting.append(at)
        elif len(waiting) == 1 and _is_reply(items[at]):
            waiting.clear()
    return waiting


def _is_reply(item: ChatItem) -> bool:
    return _is_message(item, "assistant") and not is_note(item)


def _ends(items: Sequence[ChatItem], at: int) -> bool:
    """Whether an item is a reply that came to its end: not interrupted, and no tool called after it."""
    item = items[at]
    if item.type != "message" or item.interrupted or not _is_reply(item):
        return False
    return at + 1 == len(items) or items[at + 1].type != "function_call"


def is_note(item: ChatItem) -> bool:
    """Whether a message is what a tool answered, as text, and nothing that an agent has said."""
    return _is_message(item, "assistant") and _NOTE.fullmatch(item.text_content or "") is not None


def _note(output: FunctionCallOutput) -> ChatMessage:
    return ChatMessage(role="assistant", content=[f"({output.name}: {output.output})"])


def _is_message(item: ChatItem, *roles: str) -> TypeGuard[ChatMessage]:
    return item.type == "message" and item.role in roles
