"""How the local model plays any of the agents: what all four do alike."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bella_vista.local.answers import Answers, so_far
from bella_vista.local.english.sentences import ask, joined, say, statement_of
from bella_vista.local.reports import Reports
from bella_vista.local.scene import Outcome, Scene
from bella_vista.local.topics import Topic
from bella_vista.local.understanding.meaning import Draft, Question, Understanding
from state.menu import Menu
from state.privacy.redaction import CARD as CARD_MARK

ORDERING = frozenset({"open", "review", "confirmed"})
"""The stages in which the guest may change the order."""

CHANGING = frozenset(
    {"add_item", "change_item", "remove_item", "set_fulfilment", "read_back", "reopen_order"}
)
"""Commands that only the order taker gives."""

_ORDERS = frozenset({"add_item", "change_item"})


@dataclass(frozen=True)
class ToolCall:
    """One tool call to make."""

    name: str
    arguments: Mapping[str, Any]

    def as_json(self) -> str:
        """Return the arguments as a model writes them."""
        return json.dumps(self.arguments, ensure_ascii=False)

    def as_data(self) -> dict[str, Any]:
        """Return it as it comes back in a history."""
        return {"name": self.name, "arguments": json.loads(self.as_json())}


@dataclass(frozen=True)
class Move:
    """One reply: words, or tools, or both.

    Args:
        say: What was done, and what the guest wanted to know.
        calls: The tools it calls.
        asks: Its last words: usually the next question.
        about: The id of the message that its tools are called for.
    """

    say: str = ""
    calls: tuple[ToolCall, ...] = ()
    asks: str = ""
    about: str = ""

    @property
    def words(self) -> str:
        """All that it says."""
        return joined(self.say, self.asks)


@dataclass(frozen=True)
class Situation:
    """Everything one reply is decided on.

    Args:
        scene: What the request shows.
        order: The order as data, with times in words.
        heard: What the guest's last words were understood to mean.
        topic: What this agent had asked before them.
        menu: The menu.
        now: The present time.
        answers: Answers questions.
        reports: Says what tools did.
    """

    scene: Scene
    order: Mapping[str, Any]
    heard: Understanding
    topic: Topic
    menu: Menu
    now: datetime
    answers: Answers
    reports: Reports
    before: Mapping[str, str] = field(default_factory=dict)
    """The lines in words as they were when the guest spoke, by their id."""
    lacks_postcode: bool = False
    """Whether the guest named an address before, and not yet its postcode."""
    lacks_time: bool = False
    """Whether the guest picks it up, at a time that is not possible."""

    @property
    def stage(self) -> str:
        """Where the order stands."""
        return str(self.order.get("stage", "open"))

    @property
    def items(self) -> Sequence[Mapping[str, Any]]:
        """The lines of the order."""
        return self.order.get("items") or ()

    def meant(self, *intents: str) -> bool:
        """Whether the guest meant any of these."""
        return any(intent in self.heard.intents for intent in intents)

    def tried(self, tool: str) -> Outcome | None:
        """The outcome of a tool since the guest spoke, if it was called."""
        return next((one for one in reversed(self.scene.outcomes) if one.name == tool), None)

    def did(self, tool: str) -> bool:
        """Whether a tool was called since the guest spoke, and did what it was asked."""
        return any(one.name == tool and one.done for one in self.scene.outcomes)

    @property
    def went_wrong(self) -> bool:
        """Whether anything was refused since the guest spoke."""
        made_good = {one.name for one in self.scene.outcomes if one.done} & _ONE_OF_A_KIND
        return any(not one.done and one.name not in made_good for one in self.scene.outcomes)

    @property
    def nothing_meant(self) -> bool:
        """Whether the guest's words meant nothing that was understood."""
        heard = self.heard
        given_up = (*heard.dropped, *heard.unchanged)
        meant = (heard.commands, heard.answers, heard.intents, heard.question, given_up)
        return not any(meant)

    @property
    def undone(self) -> bool:
        """Whether the guest wanted something done, and nothing was tried."""
        if any(not one.is_transfer for one in self.scene.outcomes):
            return False
        wanted = any(not _known(one.op, one.fields, self) for one in self.heard.commands)
        return wanted or self.meant("cancel", "place")


class Policy(ABC):
    """How one agent goes on. Subclasses decide the calls, the next question and the opening."""

    def move(self, now: Situation) -> Move:
        """Decide one reply."""
        if now.scene.guest is None:
            return Move(say=self.open(now))
        asks_again = now.meant("repeat") and not (now.heard.commands or now.heard.answers)
        if asks_again and not now.scene.outcomes and now.scene.last_said:
            return Move(say=now.scene.last_said)
        calls = tuple(self._calls(now))
        if calls:
            return Move(calls=calls)
        if _puts_through(now):
            asked = next((one for one in now.heard.commands if one.op == "call_person"), None)
            reason = (
                asked.fields["reason"] if asked is not None else "The guest asked for a person."
            )
            return Move(
                self._said(now), (call("put_through", reason=reason),), say("person connecting")
            )
        if self.leaves(now) and now.scene.can("end_call"):
            return Move(self._said(now), (call("end_call"),), self.farewell(now))
        asks = self.ask(now)
        said = self._said(now)
        if asks:  # "Do you have wings? Two, please": that there are none is said once
            said = said.removesuffix(asks).removesuffix(f"{asks.partition('. ')[0]}.")
        return Move(said.rstrip(), asks=asks)

    # -- what an agent decides -----------------------------------------------------------------------

    @abstractmethod
    def open(self, now: Situation) -> str:
        """Say the first words when the guest has said nothing that waits for an answer."""

    @abstractmethod
    def calls(self, now: Situation) -> Sequence[ToolCall]:
        """Name the tools to call next; none ends this turn in words."""

    @abstractmethod
    def ask(self, now: Situation) -> str:
        """Say the last words of a reply: usually the next question."""

    def leaves(self, now: Situation) -> bool:
        """Whether the guest is done with the call; with a yes to an order that is not placed they are not."""
        unplaced = bool(now.items) and now.stage in ORDERING
        agrees = unplaced and now.meant("yes", "right", "done", "place")
        return now.meant("bye") and not now.heard.commands and not agrees

    def farewell(self, now: Situation) -> str:
        """Say goodbye, and the truth about an order that was not placed."""
        if now.items and now.stage in ORDERING:
            return say("goodbye kept")
        return say("goodbye")

    # -- what all do alike --------------------------------------------------------------------------

    def _calls(self, now: Situation) -> Sequence[ToolCall]:
        beyond = [one for one in now.scene.outcomes if one.code == "over_limit"]
        if any(one.facts.get("what") != "tip" for one in beyond) and (
            now.tried("call_person") is None and now.scene.can("call_person")
        ):
            return [
                call("call_person", reason="The guest wants more than the house's limits allow.")
            ]
        if now.scene.outcomes:
            return self.calls(now)
        return [*self._common(now), *self.calls(now)]

    def _common(self, now: Situation) -> list[ToolCall]:
        made = drafts(now, *_COMMON)
        if _puts_through(now):
            return [one for one in made if one.name != "call_person"]
        if now.meant("status") and now.stage in ORDERING:  # it cannot be late yet
            made = [one for one in made if one.name != "call_person"]
        if any(one.name == "call_person" for one in made) or not now.scene.can("call_person"):
            return made
        if now.meant("status") and _is_late(now):
            made.append(call("call_person", reason="Complaint: the guest waits for the order."))
        elif now.meant("human"):
            made.append(call("call_person", reason="The guest asked for a person."))
        elif now.nothing_meant and _in_vain(now) > 2 and not now.order.get("person_wanted"):
            made.append(call("call_person", reason="The guest is not understood."))
        return made

    def _said(self, now: Situation) -> str:
        """Say what was done, then answer what was asked, then name what was not understood."""
        guest, heard = now.scene.guest, now.heard
        told = [*_handed_over(now), *self.worth_saying(now)]
        report = now.reports.of(told, now.order, now.before)
        unheard = [one for one in heard.not_understood if len(one) > 1 and not now.nothing_meant]
        alone = not (heard.commands or heard.answers)
        return joined(
            say("card alone" if guest.text == CARD_MARK else "card")
            if guest is not None and CARD_MARK in guest.text
            else "",
            report,
            *(say(one) for one in _TOLD_AT_ONCE if now.meant(one)),
            say("wait") if heard.intents == ("wait",) and alone else "",
            say("too young", names=[*too_young(now), *_removed_for_age(now)]),
            now.answers.booking() if now.meant("booking") else "",
            self._status(now) if now.meant("status") else "",
            *_without_repetition(
                (
                    now.answers.answer(asked, now.order, now.now) or say("fact unknown")
                    for asked in heard.answers
                ),
                report,
            ),
            self._warned(now),
            self._no_promise(now, told),
            say("thanks")
            if now.meant("thanks") and not now.meant("done", "bye", "no") and alone
            else "",
            say("taken", taken=heard.taken),
            say("taken plain", names=heard.plain),
            say("unmet", lines=heard.unmet),
            say("dropped", names=heard.dropped),
            say("unchanged", names=heard.unchanged),
            *(statement_of(one) for one in _told_besides(heard.question)),
            say("story not understood")
            if len(unheard) > _A_STORY and not (heard.commands or heard.question)
            else say("words not understood", words=[f'"{one}"' for one in unheard]),
        )

    def _warned(self, now: Situation) -> str:
        """Warn of a dish that meets an allergy before more is asked about it, once."""
        question, allergies = now.heard.question, now.order.get("allergies") or ()
        if question is None or question.draft is None or question.draft.op != "add_item":
            return ""
        warning = now.answers.against(question.draft.fields.get("name"), [*map(str, allergies)])
        return "" if now.scene.said_before(warning) else warning

    def _no_promise(self, now: Situation, told: Sequence[Outcome]) -> str:
        """Say once in a reply that no dish is promised to be free of anything, and shorter the next time."""
        noted = any(one.name == "add_allergy" and one.done for one in told)
        about = ("allergens", "contents", "section")[: 3 if now.order.get("allergies") else 1]
        if not noted and not any(asked.kind in about for asked in now.heard.answers):
            return ""
        whole = say("no promise")
        return say("no promise again") if now.scene.said_before(whole) else whole

    def worth_saying(self, now: Situation) -> Sequence[Outcome]:
        """Which outcomes are told; an agent leaves out what it says otherwise in the same breath."""
        return now.scene.outcomes

    def _status(self, now: Situation) -> str:
        if now.stage in ORDERING:
            return joined(so_far(now.order), say("not placed yet") if now.items else "")
        if now.stage == "failed":
            return say("status failed", reason=str(now.order.get("reason") or "").rstrip(" .!"))
        ready = (now.order.get("fulfilment") or {}).get("ready")
        return say("status", stage=now.stage, ready=ready)

    def cancelling(self, now: Situation) -> list[ToolCall]:
        """Cancel the order when the guest has said so twice."""
        if (
            now.topic is Topic.KEEP
            and now.meant("yes", "cancel")
            and not any(one.op in _ORDERS for one in now.heard.commands)  # "ok, one tea instead"
            and now.tried("cancel_order") is None
        ):
            return [call("cancel_order")]
        return []

    def wants_to_cancel(self, now: Situation) -> bool:
        """Whether the guest has asked, for the first time, to call everything off."""
        asked = now.meant("cancel") or any(
            draft.op == "cancel_order" for draft in now.heard.commands
        )
        return asked and now.topic is not Topic.KEEP

    def question(self, now: Situation) -> str:
        """Ask back what was not clear."""
        return ask(now.heard.question) if now.heard.question is not None else ""

    def confused(self, now: Situation) -> str:
        """Say that nothing was understood; offer a person when that happens again and again."""
        if not now.nothing_meant or now.scene.outcomes or _has_card(now):
            return ""
        if now.heard.already:
            return say("already so")
        return say("not understood again" if _in_vain(now) else "not understood")


_A_STORY = 2
"""More pieces than these of a message that orders nothing are not named one by one."""
_ONE_OF_A_KIND = frozenset({"set_customer", "set_fulfilment", "set_tip", "choose_payment"})
_COMMON = frozenset({"set_customer", "remove_allergy", "add_allergy", "add_note", "call_person"})
_TOLD_AT_ONCE = ("robot", "a human", "rules", "abuse", "no allergies")
"""Intents that one fixed sentence answers."""
_TOLD = _COMMON | {"apply_coupon"}
"""Tools of the agent before whose outcome this agent tells."""


def call(tool: str, /, **arguments: Any) -> ToolCall:
    """Make a tool call."""
    return ToolCall(tool, arguments)


def _told_besides(question: Question | None) -> Sequence[Question]:
    """Return what is told before another question is asked, as it needs no answer: "no egg" that is not there."""
    rest = question.rest if question is not None else ()
    return [
        one for one in rest if one.code == "not_on_menu" and one.draft is None and not one.waited
    ]


def _puts_through(now: Situation) -> bool:
    """Whether the guest wants a person and can be put through to one."""
    offered = now.scene.can("put_through") and now.tried("put_through") is None
    return offered and now.meant("human")


def drafts(now: Situation, *ops: str) -> list[ToolCall]:
    """The guest's wishes of these kinds, as tool calls, as far as the tools are offered."""
    wanted = [
        draft
        for draft in _merged(now.heard.commands)
        if draft.op in ops
        and now.scene.can(draft.op)
        and draft.fields.get("name") not in too_young(now)
        and not _known(draft.op, draft.fields, now)
        # "My card number is ..." chooses nothing.
        and not (draft.op == "choose_payment" and _has_card(now))
    ]
    return [call(draft.op, **draft.fields) for draft in wanted]


def too_young(now: Situation) -> Sequence[str]:
    """Name the dishes on the order or just wanted for which the guest says that they are too young."""
    age = now.heard.age
    if age is None:
        return ()
    names = [line["name"] for line in now.items]
    names += [one.fields.get("name") for one in now.heard.commands]
    dishes = (now.menu.dish(str(name)) for name in dict.fromkeys(names))
    return [one.name for one in dishes if one is not None and (one.minimum_age or 0) > age]


def _removed_for_age(now: Situation) -> list[str]:
    """Name the lines that were just removed because the guest is too young for them."""
    asked = any(one.op == "remove_item" for one in now.heard.commands)
    if now.heard.age is None or asked:
        return []
    gone = (one.arguments.get("line_id") for one in now.scene.outcomes if one.name == "remove_item")
    return [now.before[str(one)] for one in gone if str(one) in now.before]


def _merged(wishes: Sequence[Draft]) -> list[Draft]:
    """Take what is said of one thing in one breath together: two calls would get in each other's way."""
    merged: list[Draft] = []
    for wish in wishes:
        same = next((one for one in merged if one.op == wish.op in _ONE_OF_A_KIND), None)
        if same is None:
            merged.append(wish)
        else:
            merged[merged.index(same)] = Draft(wish.op, {**same.fields, **wish.fields})
    return merged


def cancel_question(now: Situation) -> str:
    """Ask before everything is called off."""
    if now.stage in ORDERING:
        return say("ask keep")
    return say("placed already")


def _known(op: str, fields: Mapping[str, Any], now: Situation) -> bool:
    """Whether the order says so already, as it does when another agent acted on the same words."""
    order = now.order
    match op:
        case "set_customer":
            return all(
                order.get({"name": "guest"}.get(name, name)) == value
                for name, value in fields.items()
            )
        case "add_allergy":
            known = [str(one).casefold() for one in order.get("allergies") or ()]
            return str(fields.get("name", "")).casefold() in known
        case "call_person":
            return bool(order.get("person_wanted")) and now.scene.opening
        case "add_note":
            notes = order.get("notes") or {}
            return any(str(fields.get("content")) in note for note in notes.values())
        case "apply_coupon":
            return fields.get("code") in (order.get("coupons") or ())
        case "set_fulfilment":
            way = order.get("fulfilment") or {}
            return set(fields) == {"kind"} and way.get("kind") == fields["kind"]
        case "choose_payment":
            return bool(order.get("payment") == fields.get("method"))
    return False


def _without_repetition(answers: Iterable[str], report: str) -> Iterator[str]:
    """Return answers without one that an earlier answer ends with: "do you have it, and how much is it".

    A last sentence that the report has said, such as a warning of an allergen, is left out.
    """
    said = ""
    for one in answers:
        before, end, last = one.rpartition(". ")
        if end and last in report:
            one = f"{before}."
        if not said.endswith(one):
            yield one
            said = one


def _handed_over(now: Situation) -> list[Outcome]:
    """Return the outcomes of the agent before for the same words: this one has to say them."""
    tried = {one.name for one in now.scene.outcomes}
    return [
        Outcome(one.op, one.fields, "")
        for one in now.heard.commands
        if now.scene.opening and one.op in _TOLD - tried and _known(one.op, one.fields, now)
    ]


def _is_late(now: Situation) -> bool:
    """Whether the order should have been ready by now."""
    fulfilment = now.order.get("fulfilment") or {}
    at = fulfilment.get("when") or fulfilment.get("ready_at")
    due = datetime.fromisoformat(at).replace(tzinfo=now.now.tzinfo) if at else None
    return due is not None and due < now.now and now.stage not in ORDERING


def _in_vain(now: Situation) -> int:
    """Return how many replies in a row said that nothing was understood."""
    began = [text.startswith(say("not understood")) for text in now.scene.said]
    return began.index(False) if False in began else len(began)


def _has_card(now: Situation) -> bool:
    return now.scene.guest is not None and CARD_MARK in now.scene.guest.text
