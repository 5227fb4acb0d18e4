"""A call as any model sees it, sorted: the agent, the order as data, the messages, the tools' answers."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from livekit.agents.llm import ChatContext, ChatItem

from agents.handoff import DATA_MARK, carry


@dataclass(frozen=True)
class Words:
    """One message of the guest or of this agent."""

    id: str
    text: str
    by_guest: bool


@dataclass(frozen=True)
class Outcome:
    """The outcome of a tool call; ``code`` is empty if it was done."""

    name: str
    arguments: Mapping[str, Any]
    output: str
    code: str = ""
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether the tool did what it was asked."""
        return not self.code

    @property
    def is_transfer(self) -> bool:
        """Whether it was a handoff, which acts on nothing."""
        return self.name.startswith(_TRANSFER)


@dataclass(frozen=True)
class Scene:
    """One request, seen from inside.

    Args:
        agent: The heading of the instructions, in lower snake case.
        order: The order as the request shows it.
        dialogue: What was said in this agent's hearing, oldest first.
        outcomes: What its tools answered to the guest's last words.
        tools: What it may call.
    """

    agent: str
    order: Mapping[str, Any]
    dialogue: tuple[Words, ...]
    outcomes: tuple[Outcome, ...]
    tools: frozenset[str]
    told: str = ""
    """Instructions for this reply alone."""
    answered: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    """The tools' answers to each of the guest's messages, by the message's id."""

    @property
    def welcomes_back(self) -> bool:
        """Whether the guest has been here before and is to be welcomed back."""
        return "the guest back" in self.told.lower()

    @property
    def guest(self) -> Words | None:
        """The guest's words that have no answer yet."""
        if self.dialogue and self.dialogue[-1].by_guest:
            return self.dialogue[-1]
        return None

    @property
    def waiting(self) -> tuple[Words, ...]:
        """The guest's messages that have no answer yet, oldest first; ``guest`` is the last of them."""
        return self.dialogue[len(self.dialogue) - _waiting(self.dialogue) :]

    @property
    def opening(self) -> bool:
        """Whether this agent has not spoken yet."""
        return not any(not words.by_guest for words in self.dialogue)

    @property
    def last_said(self) -> str:
        """The last words of this agent before the guest's."""
        return next((words.text for words in reversed(self.dialogue) if not words.by_guest), "")

    @property
    def said(self) -> tuple[str, ...]:
        """The words of this agent, the last first."""
        return tuple(words.text for words in reversed(self.dialogue) if not words.by_guest)

    def said_before(self, text: str) -> bool:
        """Whether this agent has said something already."""
        return any(text in words.text for words in self.dialogue if not words.by_guest)

    def before_last_said(self) -> Words | None:
        """The guest's words this agent answered last."""
        seen = False
        for words in reversed(self.dialogue):
            if not words.by_guest:
                seen = True
            elif seen:
                return words
        return None

    @property
    def overtaken(self) -> bool:
        """Whether nothing could be done because the guest did something on their page meanwhile."""
        codes = [one.code for one in self.outcomes]
        conflicts = codes.count(_CONFLICT)
        return 0 < conflicts <= _MOST_CONFLICTS and {*codes} <= {_CONFLICT, "sibling_failed"}

    @property
    def to_try_again(self) -> tuple[Outcome, ...]:
        """Calls that were overtaken beside one that was done, which is not repeated."""
        codes = {one.code for one in self.outcomes}
        if not codes <= {"", _CONFLICT, "sibling_failed"} or "" not in codes:
            return ()
        made = [(one.name, one.arguments) for one in self.outcomes]
        return tuple(
            one
            for place, one in enumerate(self.outcomes)
            if one.code == _CONFLICT
            and made[place] not in made[place + 1 :]
            and made.count(made[place]) <= _MOST_CONFLICTS
        )

    @property
    def last_outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of tools, without calls that were overtaken and repeated."""
        return tuple(
            one
            for place, one in enumerate(self.outcomes)
            if one.code != _CONFLICT
            or not any(later.name == one.name for later in self.outcomes[place + 1 :])
        )

    def can(self, tool: str) -> bool:
        """Whether a tool is offered."""
        return tool in self.tools


_CONFLICT = "version_conflict"
_MOST_CONFLICTS = 2
"""How often what was overtaken is decided again, in one reply."""


def _waiting(dialogue: Sequence[Words]) -> int:
    """Return how many of the guest's messages stand at the end."""
    counted = (at for at, words in enumerate(reversed(dialogue)) if not words.by_guest)
    return next(counted, len(dialogue))


def scene_of(context: ChatContext, tools: frozenset[str]) -> Scene:
    """Sort a request's context.

    A tool call belongs to the message whose id stands in its own; any other to the guest's last words before it.
    """
    agent, told = "", ""
    order: dict[str, Any] = {}
    dialogue: list[Words] = []
    answered: dict[str, list[Outcome]] = {"": []}
    last = ""
    calls: dict[str, Mapping[str, Any]] = {}
    for item in context.items:
        if item.type == "function_call":
            calls[item.call_id] = _arguments(item.arguments)
        elif item.type == "function_call_output":
            if item.name.startswith(_TRANSFER) and _INTERRUPTED in item.output:
                continue  # it may be tried again
            about = next((one for one in answered if one and one in item.call_id), last)
            answered[about].append(
                _outcome(item.name, calls.get(item.call_id, {}), item.output, item.is_error)
            )
        elif item.type == "message":
            text = item.text_content or ""
            if item.role == "system":
                told = text if agent else ""
                agent = agent or _heading(text)
            elif item.role == "user" and text.startswith(DATA_MARK):
                order = _arguments(text.removeprefix(DATA_MARK))
            elif carry.is_note(item):
                pass  # what an agent before did stands in the order
            elif item.role == "assistant":
                said = Words(_id(item), text, by_guest=False)
                # A reply to several that was cut short answers none of them: they wait on, behind it.
                waited = _waiting(dialogue) if item.interrupted else 0
                dialogue.insert(len(dialogue) - (waited if waited > 1 else 0), said)
            elif item.role == "user":
                # A call that changed nothing is repeated by the reply to the guest's present words.
                for outcomes in answered.values():
                    if not any(map(_changed, outcomes)):
                        outcomes.clear()
                last = _id(item)
                answered[last] = []
                dialogue.append(Words(last, text, by_guest=True))
    told_of = {message: tuple(outcomes) for message, outcomes in answered.items()}
    return Scene(agent, order, tuple(dialogue), told_of[last], tools, told, told_of)


_READS, _TRANSFER = frozenset({"tell", "find_on_menu"}), "transfer_to_"
"""The tools that change nothing, and how the names begin of those that hand over."""

_INTERRUPTED = "interrupted"
"""Stands in what a handoff answers that the guest has interrupted, as ours and as livekit's."""

_REFUSAL = re.compile(
    r'^Not(?:hing was changed| handed over)\. (?P<code>\w+): (?P<message>.*?)(?: (?P<facts>\{".*\}))?$',
    re.DOTALL,
)


def _outcome(name: str, arguments: Mapping[str, Any], output: str, is_error: bool) -> Outcome:
    if not is_error:
        return Outcome(name, arguments, output)
    found = _REFUSAL.match(output)
    if found is not None and (name, found["code"]) == ("remove_item", "not_found"):
        return Outcome(name, arguments, output)  # taken off on the page meanwhile, as was wanted
    if found is None:
        return Outcome(name, arguments, output, code="internal", message=output)
    return Outcome(
        name,
        arguments,
        output,
        code=found["code"],
        message=found["message"],
        facts=_arguments(found["facts"] or "{}"),
    )


def _changed(outcome: Outcome) -> bool:
    """Whether a message was acted on: then it is not acted on again, though the reply was interrupted."""
    return outcome.done and outcome.name not in _READS and not outcome.is_transfer


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _heading(text: str) -> str:
    found = re.match(r"#\s*(.+)", text.strip())
    return found[1].strip().lower().replace(" ", "_") if found else ""


def _id(item: ChatItem) -> str:
    return item.id
