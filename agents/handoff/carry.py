"""Context policies: which part of the conversation the next agent starts with.

A policy takes the history of the leaving agent and returns the items the next one starts with. The
state's digest is not carried: every model request shows it afresh. livekit-agents 1.8.9 drops tool
calls that the new agent does not own, so their results have to travel as text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from livekit.agents.llm import ChatItem, ChatMessage

from agents.handoff.model_output import replace_lone_surrogates, without_instruction_tags

Carry: TypeAlias = Callable[[Sequence[ChatItem]], list[ChatItem]]
"""Takes the history of the leaving agent and returns the items the next one starts with."""

_NOTE = re.compile(r"\(\w+: .*\)", re.DOTALL)
"""A tool's result, or the arguments of a handoff, as text."""


def nothing() -> Carry:
    """Carry nothing; the next agent knows only the state."""
    return lambda items: []


def digest() -> Carry:
    """Carry the user's last message only; the state's digest says the rest. The default.

    Earlier unanswered messages are carried too, except a single one that a tool has acted on. If a
    reply was shown several messages, its tool calls cannot be attributed to one: all the messages
    are carried, with the tools' results.
    """

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        ends = max((at for at, item in enumerate(items) if _is_message(item, "user")), default=-1)
        waiting = unanswered(items[: ends + 1])
        words: list[ChatItem] = []
        for item in items[waiting[0] : ends + 1] if waiting else ():
            if _is_message(item, "user") or is_note(item):
                words.append(item)
            elif item.type == "function_call_output" and not item.is_error:
                words.append(note(item.name, item.output))
        while words and (is_note(words[0]) or is_note(words[min(1, len(words) - 1)])):
            del words[0]  # a single message, already acted on
        return words

    return carry


def last(count: int) -> Carry:
    """Carry the last ``count`` messages of user and agents, without tool calls."""

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        messages = [item for item in items if _is_message(item, "user", "assistant")]
        return list(messages[-count:]) if count > 0 else []

    return carry


def full() -> Carry:
    """Carry every message, and tool results as text."""

    def carry(items: Sequence[ChatItem]) -> list[ChatItem]:
        carried: list[ChatItem] = []
        for item in items:
            if _is_message(item, "user", "assistant"):
                carried.append(item)
            elif item.type == "function_call_output" and item.output:
                carried.append(note(item.name, item.output))
        return carried

    return carry


def unanswered(items: Sequence[ChatItem]) -> list[int]:
    """Return the indexes of the user's messages that no reply has answered.

    A reply to several messages that was interrupted, or that stopped to call tools, answers none of
    them: its words cannot be attributed to one. A single message is answered by any reply.
    """
    # From the end: everything before the last complete reply is answered, and a history is long.
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
    """Whether a message is a note and not an agent's words."""
    return _is_message(item, "assistant") and _NOTE.fullmatch(item.text_content or "") is not None


def note(name: str, text: str) -> ChatMessage:
    """Make a message that no one has spoken, to tell a model something, such as a tool's result.

    >>> note("ask_rate", "A night is 120 euros.").text_content
    '(ask_rate: A night is 120 euros.)'
    """
    return ChatMessage(role="assistant", content=[f"({name}: {text})"])


def with_arguments(
    carried: Sequence[ChatItem], arguments: Mapping[str, Any] | None
) -> list[ChatItem]:
    """Add the arguments of a handoff to the carried items, before the user's last messages.

    Args:
        carried: The items that the context policy carries.
        arguments: The message of the agent that hands over to the next agent, as JSON; None for none.
    """
    items = list(carried)
    if arguments is not None:
        at = len(items)
        while at > 0 and _is_message(items[at - 1], "user"):
            at -= 1
        text = without_instruction_tags(json.dumps(arguments, ensure_ascii=False))
        items.insert(at, note("handed_over", replace_lone_surrogates(text)))
    return items


def _is_message(item: ChatItem, *roles: str) -> TypeGuard[ChatMessage]:
    return item.type == "message" and item.role in roles
