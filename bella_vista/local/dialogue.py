"""The local model's mind: understands what was said once, and lets the agent's policy go on from there."""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from textwrap import shorten
from typing import Any, TypeVar

from bella_vista.local import listed
from bella_vista.local.agents import policy_of
from bella_vista.local.answers import Answers
from bella_vista.local.english.sentences import ask, joined, line_words, say
from bella_vista.local.english.talking import blocks, pattern, words_of
from bella_vista.local.policy import CHANGING, ORDERING, Move, Situation, ToolCall
from bella_vista.local.refusals import Refusals
from bella_vista.local.reports import Reports
from bella_vista.local.scene import Outcome, Scene, Words
from bella_vista.local.topics import EXPECTS, Topic, topic
from bella_vista.local.understanding.meaning import (
    NO_PERSON,
    Asked,
    Draft,
    OrderSeen,
    Question,
    Understanding,
)
from bella_vista.local.understanding.understander import Understander
from bella_vista.local.understanding.words.tokens import Words as Said
from bella_vista.local.understanding.words.tokens import number_at
from state.contact import postcode_in
from state.menu import Menu
from state.privacy.redaction import CARD
from state.times import said_time

K = TypeVar("K")
V = TypeVar("V")

_NAME_WORDS = 2
_OTHER_WORDS, _A_PERSON = 3, 4
"""The times in a row at which a question is put in other words, and at which a person is called."""
_GOING_ON = CHANGING | {"choose_payment", "set_tip", "apply_coupon", "set_customer", "add_note"}
"""After these the guest goes on with the order, so that a question was not put in vain."""
_OPEN = frozenset({Topic.ANYTHING_ELSE, Topic.SUGGESTION, Topic.WANTED, Topic.READ_AGAIN})
"""Questions that wait for nothing in particular, so that they are never put in vain."""
_ENDING = ("done", "no", "place")
_TO_CHOOSE = frozenset(
    {"ambiguous", "choice_missing", "choice_not_possible", "either", "which_line"}
)
"""Questions that the guest can answer with one of the possible choices."""
_LETTERS = re.compile(r"(?:[^\W\d_][ .-]+){2,}[^\W\d_][ .]*")
"""A name of which nothing but the letters is said."""
_REMEMBERED = 2_000
"""How many messages are remembered over all conversations; a turn needs only its own and the one before."""

_ON_A_YES = frozenset({"confirm_order", "place_order"})
"""Tools that act only on the order that the guest said yes to."""

_OF_THE_ORDER = frozenset(
    {
        *(Topic.ANYTHING_ELSE, Topic.READ_AGAIN, Topic.CONFIRM, Topic.PAYMENT, Topic.TIP),
        *(Topic.PLACE, Topic.RATING),
    }
)
"""Topics that any agent may have asked about, because the guest had gone that far on their page."""

_Key = tuple[str, str]

_NOT_SAID = "-answer"
"""How the ids of answers end that are said together with those to the messages after."""

_LONGEST_QUOTE = 80
_LONGEST_REASON = 200
IN_VAIN = "In vain"
"""How the reason for the staff begins when a question was put again and again."""


@dataclass(frozen=True)
class _Passed:
    """The outcome of one of several messages, told together with that of the last one.

    Args:
        agent: Whose reply it is.
        words: What would be said to it alone.
        say: What was done for it, and what the guest wanted to know.
        about: What has to be said to it by name: that it was not followed or not done, why it failed, or a question.
        question: The question among that, which the guest may have answered in the next message.
        settles: Whether it answers a question that was open.
        failed: Whether a tool that was called for it was refused or failed; ``about`` says why.
        leaves: Whether it says goodbye, which only the last message of a reply ends the call by.
    """

    agent: str
    words: str
    say: str
    about: str = ""
    question: str = ""
    settles: bool = False
    failed: bool = False
    leaves: bool = False


class Dialogue:
    """Decides every reply of every agent, from what its request shows.

    What a guest's message was understood to mean, and what was asked back, is remembered by that message:
    the reply after its tools, and the answer to a question, go on from the same understanding. What is
    not known any more is understood again.

    Args:
        menu: What can be ordered.
        now: The present time, aware.
    """

    def __init__(self, menu: Menu, now: Callable[[], datetime]) -> None:
        self._menu = menu
        self._now = now
        self._understander = Understander(menu)
        self._answers = Answers(menu)
        self._reports = Reports(self._answers, Refusals(menu, self._here))
        self._understood: OrderedDict[str, Understanding] = OrderedDict()
        self._orders: OrderedDict[str, OrderSeen] = OrderedDict()
        self._shares: OrderedDict[str, Sequence[tuple[frozenset[str], frozenset[str]]]] = (
            OrderedDict()
        )
        self._open: OrderedDict[_Key, Question] = OrderedDict()
        self._asked: OrderedDict[str, tuple[str, Topic]] = OrderedDict()
        self._passed: OrderedDict[str, _Passed] = OrderedDict()
        self._made: OrderedDict[str, tuple[ToolCall, ...]] = OrderedDict()
        self._put: OrderedDict[_Key, tuple[str, int, int]] = OrderedDict()
        self._lines: OrderedDict[str, Mapping[str, str]] = OrderedDict()

    def _here(self) -> datetime:
        return self._now().astimezone(self._menu.restaurant.zone)

    def move(self, scene: Scene) -> Move:
        """Decide the next reply: to what the guest said last, or to each of several messages in their order.

        Of several, each is acted on as if it had come alone, after what the ones before it have brought; what
        would be said to each is said in the end, in one reply.
        """
        waiting = scene.waiting
        if len(waiting) < 2:
            return self._next(scene)[0]
        dialogue = scene.dialogue[: len(scene.dialogue) - len(waiting)]
        passed: list[_Passed] = []
        for words in waiting[:-1]:
            here = replace(
                scene, dialogue=(*dialogue, words), outcomes=scene.answered.get(words.id, ())
            )
            one = self._passed.get(words.id)
            if one is None:
                move, now = self._next(here)
                if move.calls and not move.words:
                    return move
                one = self._pass(move, now, words)
                if (
                    not one.about
                ):  # another agent may do it yet, or this one when the guest speaks on
                    _keep(self._passed, words.id, one)
            _add(passed, one)
            dialogue = here.dialogue
            if one.agent == scene.agent:
                dialogue = (*dialogue, Words(f"{words.id}{_NOT_SAID}", one.words, by_guest=False))
        move, now = self._next(replace(scene, dialogue=(*dialogue, waiting[-1])))
        if move.calls and not move.words:
            return move
        _add(passed, self._pass(move, now, waiting[-1]))
        *before, last = passed
        said = [text for one in before for text in (one.say, _unless_asked(one, move, last))]
        asks = move.asks
        if last.failed:
            return replace(move, say=joined(*said, f"{_named(waiting[-1])} {move.say}"))
        if now.undone and not scene.tools:
            asks = joined(last.about, asks)
        elif last.about and not (now.undone or last.leaves):
            asks = f"{_named(waiting[-1])} {asks}"
        return replace(move, say=joined(*said, move.say), asks=asks)

    def _pass(self, move: Move, now: Situation, words: Words) -> _Passed:
        """Take down what a message came to."""
        told = question = ""
        leaves = any(call.name == "end_call" for call in move.calls)
        if now.nothing_meant and not move.say and not _acted(now.scene.outcomes):
            told = "" if self._understander.only_begins(words.text) else say("not understood")
        elif now.heard.question is not None:
            told = question = ask(now.heard.question)
        elif now.undone:
            told = say("not done")
        elif leaves:
            told = say("still here")
        done = move.say
        if failed := bool(done) and now.went_wrong:
            told, done = joined(done, question), ""
        return _Passed(
            now.scene.agent,
            move.words,
            done,
            f"{_named(words)} {told}" if told else "",
            question,
            settles=now.heard.settled,
            failed=failed,
            leaves=leaves,
        )

    def _next(self, scene: Scene) -> tuple[Move, Situation]:
        """Decide the next move for the guest's last message, and on what."""
        about = scene.guest.id if scene.guest is not None else ""
        move, now = self._move(scene)
        if missing := _missing(self._made.pop(about, ()), scene.outcomes):
            move = Move(calls=missing)
        elif about and move.calls:
            _keep(self._made, about, move.calls)
        elif about:
            move = self._patient(move, now, about)
        return replace(move, about=about), now

    def _patient(self, move: Move, now: Situation, about: str) -> Move:
        """Put a question that was not answered twice in other words, and then let a person help."""
        scene = now.scene
        subject = topic(move.asks) if now.heard.question is None else Topic.NOTHING
        question = str(subject or move.asks)
        before = scene.before_last_said()
        key = (scene.agent, before.id if before else "")
        last, times, put = self._put.get(key, ("", 0, 0))
        went_on = any(one.done and one.name in _GOING_ON for one in scene.outcomes)
        said = next((one.id for one in reversed(scene.dialogue) if not one.by_guest), "")
        put = 1 if last != question or subject else put + (not said.endswith(_NOT_SAID))
        if last != question or (went_on and subject):
            times = 1
        # Of several messages each is answered in one reply. A guest who asks something, or goes on with the
        # order, has not answered in vain; but once a person was called, nothing is put again.
        elif times >= _A_PERSON or not (said.endswith(_NOT_SAID) or now.heard.answers or went_on):
            times += 1
        if not question or subject in _OPEN or not move.asks.endswith(("?", ".")):
            return move
        _keep(self._put, (scene.agent, about), (question, times, put))
        # A yes chooses nothing: the same words would not help.
        lost = times > 1 and (now.meant("puzzled") or (now.meant("yes") and not subject))
        if times < _OTHER_WORDS and not lost:
            if put > _OTHER_WORDS and (went_on or now.heard.answers):
                return replace(move, asks=say("ask anything_else"))  # it still waits for an answer
            if put < _OTHER_WORDS:
                return move
        called = now.order.get("person_wanted") or now.tried("call_person")
        if times == _A_PERSON and not called and scene.can("call_person"):
            reason = f"{IN_VAIN}: {move.asks}"
            return Move(calls=(ToolCall("call_person", {"reason": reason[:_LONGEST_REASON]}),))
        if times > _A_PERSON and called:
            return replace(move, asks=say("asked in vain wait"))
        asked = now.heard.question
        possible = asked.possible if asked is not None else ()
        name = asked.facts.get("name") if asked is not None and asked.code in _TO_CHOOSE else None
        block = f"again {subject}" if subject else "again question"
        if block not in blocks("sentences"):
            return move
        ways = now.menu.restaurant.payment
        return replace(move, asks=say(block, name=name, possible=possible, ways=ways))

    def _move(self, scene: Scene) -> tuple[Move, Situation]:
        now = self._here()
        asked = self._asked_before(scene)
        again: Sequence[Outcome] = ()
        if scene.overtaken:  # the order is another one by now: what was said is looked at again
            if any(one.name in _ON_A_YES for one in scene.outcomes):
                asked = Topic.NOTHING
            scene = replace(scene, outcomes=())
        elif not (again := [one for one in scene.to_try_again if one.name not in _ON_A_YES]):
            if any(one.code for one in scene.outcomes):
                scene = replace(scene, outcomes=scene.last_outcomes)
        heard = self._heard(scene, asked, now)
        situation = Situation(
            scene=scene,
            order=_with_times(scene.order, now),
            heard=heard,
            topic=asked,
            menu=self._menu,
            now=now,
            answers=self._answers,
            reports=self._reports,
            before=self._lines.get(scene.guest.id if scene.guest is not None else "", {}),
            lacks_postcode=self._address_begun(scene) is not None,
            lacks_time=self._lacks_time(scene),
        )
        if again:
            return Move(calls=tuple(ToolCall(one.name, one.arguments) for one in again)), situation
        move = policy_of(scene.agent, situation.stage).move(situation)
        if scene.guest is not None and not move.calls:
            self._remember_question(scene, scene.guest, heard)
        return move, situation

    def _asked_before(self, scene: Scene) -> Topic:
        """Return what the guest was asked before they spoke, unless their page has answered it in the order already."""
        asked = next((found for text in scene.said if (found := topic(text))), Topic.NOTHING)
        if scene.guest is None:
            return asked
        key = scene.guest.id
        if key not in self._asked:
            still_open = not _answered(asked, scene.order)
            _keep(self._asked, key, (scene.agent, asked if still_open else Topic.NOTHING))
        agent, remembered = self._asked[key]
        # An agent that takes over goes on from what the one before had asked about the order.
        if agent == scene.agent or (scene.opening and remembered in _OF_THE_ORDER):
            return remembered
        return asked

    def _heard(self, scene: Scene, asked: Topic, now: datetime) -> Understanding:
        guest = scene.guest
        if guest is None:
            return Understanding(text="")
        # By the message alone: the next agent goes on from what this one understood.
        key = guest.id
        if key not in self._understood:
            before = scene.before_last_said()
            pending = self._open.get((scene.agent, before.id)) if before is not None else None
            understood = self._with_begun(scene, asked, pending, now)
            text = _whole_number(guest.text.replace(CARD, " "), before, pending)
            understood = understood or self._understood_as(text, pending, scene, asked, now)
            understood = self._with_time(understood, scene)
            understood = self._with_kind(understood, scene)
            understood = self._with_asked_postcode(understood, scene)
            lines = {str(one["id"]): line_words(one) for one in scene.order.get("items") or ()}
            _keep(self._lines, key, lines)
            _keep(self._understood, key, understood)
        return self._understood[key]

    def _with_begun(
        self, scene: Scene, asked: Topic, pending: Question | None, now: datetime
    ) -> Understanding | None:
        """Understand a postcode, or a floor, together with the address that it belongs to."""
        if scene.guest is None:
            return None
        said = Said.read(scene.guest.text)
        way = scene.order.get("fulfilment") or {}
        begun = self._address_begun(scene) if asked is Topic.POSTCODE else None
        floor = said.find(pattern("floor of an address"))
        if begun is None and floor is not None and not floor.first and way.get("address"):
            said = said.part(floor.span(said, "floor")[0], len(said))
            address, said = _with_unit(str(way["address"]), said)
            asked = Topic.ADDRESS
            begun = Draft("set_fulfilment", {"address": address})
        if begun is None:
            return self._with_corrected_postcode(scene, scene.guest.text)
        address = str(begun.fields["address"])
        found = said.find(pattern("postcode is"))
        rest = said.typed(found.last if found is not None and not found.first else 0)
        if any(" ".join(two).casefold() in rest.casefold() for two in pairwise(address.split())):
            return None  # the whole of it is said again
        understood = self._understood_as(f"{address}, {rest}", pending, scene, asked, now)
        wish = next((one for one in understood.commands if one.op == "set_fulfilment"), None)
        told = str(wish.fields.get("address", "")) if wish is not None else ""
        if wish is None or len(told) < len(address) or told == way.get("address"):
            return None
        kept = {name: begun.fields[name] for name in ("when",) if name in begun.fields}
        whole = replace(wish, fields={**kept, **wish.fields})
        commands = tuple(whole if one is wish else one for one in understood.commands)
        return replace(understood, text=scene.guest.text, commands=commands)

    def _with_corrected_postcode(self, scene: Scene, text: str) -> Understanding | None:
        """Put a postcode that is said alone in the place of the one on the order: "10014, sorry"."""
        way = scene.order.get("fulfilment") or {}
        address, delivery = str(way.get("address") or ""), self._menu.restaurant.delivery
        if way.get("kind") != "delivery" or not address or delivery is None:
            return None
        code = Said.read(text).trimmed(words_of("around a postcode")).said
        if not re.fullmatch(r"\d{4,5}", code) or not postcode_in(code, delivery.postcodes)[1]:
            return None
        numbers = [one for one in re.finditer(r"\b\d+\b", address) if len(one[0]) == len(code)]
        if not numbers or numbers[-1][0] == code:
            return None
        begins, ends = numbers[-1].span()
        whole = f"{address[:begins]}{code}{address[ends:]}"
        wish = Draft("set_fulfilment", {"kind": "delivery", "address": whole})
        return Understanding(text, (wish,))

    def _has_postcode(self, wish: Draft) -> bool:
        delivery = self._menu.restaurant.delivery
        codes = delivery.postcodes if delivery is not None else ()
        return postcode_in(str(wish.fields.get("address", "")), codes)[1]

    def _address_begun(self, scene: Scene) -> Draft | None:
        """Return the guest's wish that named an address without its postcode, however long ago."""
        for words in reversed(scene.dialogue):
            heard = self._understood.get(words.id)
            if heard is None or words is scene.guest:
                continue
            wishes = [one for one in heard.commands if one.op == "set_fulfilment"]
            if wishes:
                whole = not wishes[-1].fields.get("address") or self._has_postcode(wishes[-1])
                return None if whole else wishes[-1]
            if {"no", "nothing"} & set(heard.intents):
                return None
        return None

    def _with_time(self, understood: Understanding, scene: Scene) -> Understanding:
        """Give a pickup or a delivery the time that was said before it, however long ago."""
        wish = next((d for d in understood.commands if d.op == "set_fulfilment"), None)
        if wish is None or "when" in wish.fields or scene.order.get("fulfilment"):
            return understood
        said = (question for one in reversed(scene.dialogue) for question in self._timed(one))
        question = next(said, None)
        when = question.draft.fields.get("when") if question and question.draft else None
        if question is not None and when is None:  # only the day was said
            facts = {"needs": "time", "day": question.facts["day"]}
            asked = Question("missing", facts, wish)
            commands = tuple(one for one in understood.commands if one is not wish)
            return replace(
                understood, commands=commands, question=_both(understood.question, asked)
            )
        if when is None:
            return understood
        timed = replace(wish, fields={**wish.fields, "when": when})
        commands = tuple(timed if one is wish else one for one in understood.commands)
        return replace(understood, commands=commands)

    def _with_kind(self, understood: Understanding, scene: Scene) -> Understanding:
        """Give a time the pickup or delivery that was said before it, with another time: "Tuesday at noon then"."""
        question = understood.question
        if question is None or question.facts.get("needs") != "fulfilment" or question.rest:
            return understood
        wish = self._refused_way(scene)
        if wish is None:
            return understood
        told = question.draft.fields if question.draft is not None else {}
        kept = {name: one for name, one in wish.fields.items() if name != "when"}
        command = Draft("set_fulfilment", {**kept, **told})
        return replace(understood, commands=(*understood.commands, command), question=None)

    def _refused_way(self, scene: Scene) -> Draft | None:
        """Return the pickup or delivery that the guest asked for before and that was not possible as they said it."""
        if scene.order.get("fulfilment"):
            return None
        earlier = (self._understood.get(words.id) for words in reversed(scene.dialogue))
        wishes = (one for heard in earlier if heard is not None for one in heard.commands)
        wish = next((one for one in wishes if one.op == "set_fulfilment"), None)
        return wish if wish is not None and "kind" in wish.fields else None

    def _lacks_time(self, scene: Scene) -> bool:
        """Whether the guest said that they pick it up, and only the time was not possible."""
        wish = self._refused_way(scene)
        return wish is not None and wish.fields["kind"] == "pickup" and "when" in wish.fields

    def _with_asked_postcode(self, understood: Understanding, scene: Scene) -> Understanding:
        """Give an address the postcode that was asked about before it: "do you deliver to 10002?"."""
        wish = next((d for d in understood.commands if d.op == "set_fulfilment"), None)
        if wish is None or not wish.fields.get("address") or self._has_postcode(wish):
            return understood
        asked = (
            one.words
            for words in reversed(scene.dialogue)
            if (heard := self._understood.get(words.id)) is not None
            for one in heard.answers
            if one.kind == "service" and one.words
        )
        postcode = next((words for words in asked if self._is_postcode(words)), None)
        if postcode is None:
            return understood
        whole = replace(
            wish, fields={**wish.fields, "address": f"{wish.fields['address']}, {postcode}"}
        )
        commands = tuple(whole if one is wish else one for one in understood.commands)
        return replace(understood, commands=commands)

    def _is_postcode(self, text: str) -> bool:
        delivery = self._menu.restaurant.delivery
        return delivery is not None and text in delivery.postcodes

    def _timed(self, words: Words) -> Sequence[Question]:
        """Return what some words of the guest's asked back that named a time or a day, not yet what for."""
        heard = self._understood.get(words.id)
        question = heard.question if heard is not None else None
        # "Two peas, one is for tomorrow" tells of the food.
        food = heard is not None and any(one.op.endswith("_item") for one in heard.commands)
        return [
            one
            for one in ((question, *question.rest) if question is not None else ())
            if one.draft is not None
            and one.draft.op == "set_fulfilment"
            and one.facts.get("needs") == "fulfilment"
            and (one.draft.fields.get("when") or (one.facts.get("day") and not food))
        ]

    def _understood_as(
        self, text: str, pending: Question | None, scene: Scene, asked: Topic, now: datetime
    ) -> Understanding:
        before = scene.before_last_said()
        order = self._order_since(scene, before)
        answered = self._understood.get(before.id) if before is not None else None
        last = answered.answers[-1] if answered and answered.answers else None
        about = (last.dish or last.subject) if last is not None else None
        size = last.size if last is not None else None
        if pending is not None and pending.draft is not None:
            about = about or pending.draft.fields.get("name")
        gone = [name for name in order.sold_out if name in scene.last_said]
        about = gone[0] if len(gone) == 1 else about

        if answered is not None and answered.answers:
            text = _asked_alike(text, answered.answers[-1])
            of_order = answered.commands or answered.answers[-1].kind in ("order", "total")
            if not (of_order or pending):
                names = [dish.name for dish in self._menu.dishes]
                text = listed.named(text, listed.told(scene.last_said, names))
            text = text if answered.commands else _without_giving_up(text)
        text = _without_echo(text) if asked else text

        def understand(expects: str | None) -> Understanding:
            return self._understander.understand(
                text,
                pending=pending,
                order=order,
                expects=expects,
                now=now,
                topic=about,
                topic_size=size,
            )

        if before is not None and answered is not None and _breaks_off(before.text, answered):
            whole = self._understander.understand(f"{before.text} {text}", order=order, now=now)
            if whole.question is None and any(one.op == "add_item" for one in whole.commands):
                return whole
        if _changes_time(text, answered, scene.order):
            return understand("time")
        if answered is not None and _tips(text, answered):
            return understand("amount")
        if _rates(text, scene.order):
            return understand("rating")
        # A dish is a dish even where a name was asked for; only what is nothing else is a name.
        understood = understand("name too" if asked is Topic.NAME else EXPECTS.get(asked))
        if _may_be_a_name(text, understood, scene, asked):
            understood = understand(EXPECTS[Topic.NAME])
        if asked is Topic.CONFIRM and _is_number(re.split(r"[.,!] ", text)[0]):
            # "4. good" may be a rating that comes too early, or a quantity without its dish.
            return Understanding(text, not_understood=(text.strip(" .,!?"),))
        if asked is Topic.NAME and scene.agent != "greeter" and _is_number(text):
            understood = Understanding(text, not_understood=(text.strip(" .,!?"),))
        if scene.order.get("guest") and not _tells_name(text):
            kept = [
                one
                for one in understood.commands
                if "name" not in one.fields or one.op != "set_customer"
            ]
            understood = replace(understood, commands=tuple(kept))  # "for Tom the same"
        if asked is Topic.TIP and answered is not None and "yes" in understood.intents:
            understood = _tips_as_reckoned(understood, answered)
        ends = bool({"done", "place"} & {*understood.intents})
        if pending is not None and pending.code == "unclear" and ends and not understood.settled:
            unheard = (str(pending.facts["words"]),) if pending.facts.get("words") else ()
            unheard = (*understood.not_understood, *unheard)
            return _given_up(replace(understood, not_understood=unheard), pending)
        waiting = _to_choose(pending, understood) if pending is not None else None
        answers = understood if waiting is pending else replace(understood, settled=False)
        if waiting is not None and _still_waits(waiting, answers):
            if ends:
                unasked = _not_asked_yet(waiting)
                if unasked:
                    intents = tuple(one for one in understood.intents if one not in _ENDING)
                    asked_before = [one for one in waiting.rest if one not in unasked]
                    question = replace(unasked[0], rest=tuple(unasked[1:]))
                    understood = replace(understood, question=question, intents=intents)
                    return _given_up(understood, replace(waiting, rest=tuple(asked_before)))
                either = [one for one in (waiting, *waiting.rest) if one.code == "either"]
                likelier = (draft for one in either for draft in one.facts["orders"][0])
                commands = (*likelier, *understood.commands)
                taken = tuple(one.possible[0] for one in either)
                understood = replace(understood, commands=commands, taken=taken)
                return self._as_they_come(understood, waiting, order, now)
            understood = replace(understood, question=_both(understood.question, waiting))
        elif waiting is not None and waiting is pending and understood.settled:
            if not (understood.commands or understood.question):  # it was given up
                understood = _given_up(understood, replace(waiting, rest=()))
        return understood

    def _as_they_come(
        self, understood: Understanding, waiting: Question, order: OrderSeen, now: datetime
    ) -> Understanding:
        """Take what only cannot be had as it was said, as it comes; name what is not ordered at all."""
        left: list[Question] = []
        for one in (waiting, *waiting.rest):
            held = one.facts.get("possible") or one.facts.get("listed")  # such as an allergen
            plain = one.code == "choice_not_possible" and not held
            agreed = (
                self._understander.understand(
                    "yes", pending=replace(one, rest=()), order=order, now=now
                )
                if plain and one.draft is not None and one.draft.op == "add_item"
                else None
            )
            if agreed is None or agreed.question is not None or len(agreed.commands) != 1:
                left.append(one)
                continue
            name = f"the {agreed.commands[0].fields['name']}"
            understood = replace(
                understood,
                commands=(*understood.commands, *agreed.commands),
                plain=(*understood.plain, name),
            )
        return _given_up(understood, replace(left[0], rest=tuple(left[1:]))) if left else understood

    def _order_since(self, scene: Scene, before: Words | None) -> OrderSeen:
        """Return the order, with what it was before the guest's last message changed it."""
        order = OrderSeen.from_digest(scene.order)
        if scene.guest is not None:
            _keep(self._orders, scene.guest.id, order)
        earlier = self._orders.get(before.id) if before is not None else None
        changed = earlier is not None and earlier.items != order.items
        persons = self._persons(scene, order)
        items = tuple(replace(one, person=persons.get(one.id, NO_PERSON)) for one in order.items)
        earlier = replace(earlier, before=None) if changed and earlier else None
        return replace(order, items=items, before=earlier)

    def _persons(self, scene: Scene, order: OrderSeen) -> Mapping[str, frozenset[str]]:
        """Return for whom each line is: of the dishes that a message named for somebody, the first line that came."""
        said = [one for one in scene.dialogue if one.by_guest and one.id in self._orders]
        persons: dict[str, frozenset[str]] = {}
        wanted: list[tuple[frozenset[str], set[str]]] = []
        for words, following in zip(said, [*said[1:], None], strict=True):
            if words.id not in self._shares:
                _keep(self._shares, words.id, self._understander.shares(words.text))
            shares = [(person, set(dishes)) for person, dishes in self._shares[words.id]]
            wanted += shares
            after = self._orders[following.id] if following is not None else order
            before = {line.id: line.quantity for line in self._orders[words.id].items}
            new = [line for line in after.items if line.id not in before]
            if len(new) == len(shares) == 1:  # "the same for my sister"
                shares[0][1].add(new[0].name)
            for line in after.items:
                if line.id in before:
                    if line.quantity > before[line.id]:
                        persons.pop(line.id, None)  # it may be for two people now
                    continue
                theirs = [(person, dishes) for person, dishes in wanted if line.name in dishes]
                if theirs and (line.quantity == 1 or len(theirs) == 1):
                    persons[line.id] = theirs[0][0]
                    theirs[0][1].discard(line.name)
        return persons

    def _remember_question(self, scene: Scene, guest: Words, heard: Understanding) -> None:
        question = heard.question
        for outcome in scene.outcomes:
            if question is None and outcome.code in _TO_CHOOSE and outcome.facts.get("possible"):
                question = Question(
                    code=outcome.code,
                    facts=dict(outcome.facts),
                    draft=Draft(op=outcome.name, fields=dict(outcome.arguments)),
                )
        if question is not None:
            _keep(self._open, (scene.agent, guest.id), question)


def _acted(outcomes: Sequence[Outcome]) -> bool:
    """Whether anything was done, beside what an agent does of itself when another has handed over to it."""
    return any(not one.is_transfer and one.name != "read_back" for one in outcomes)


def _named(words: Words) -> str:
    return say("about", words=shorten(words.text, _LONGEST_QUOTE, placeholder=" ..."))


def _add(passed: list[_Passed], one: _Passed) -> None:
    """Add what a message came to. A question is asked once, and not when the next message answers it."""
    if one.settles and passed and (settled := passed[-1].question):
        passed[:] = [
            replace(known, about="") if known.question == settled else known for known in passed
        ]
    if one.question and any(known.question == one.question for known in passed):
        one = replace(one, about="")
    if one.leaves:
        passed[:] = [replace(known, about="") if known.leaves else known for known in passed]
    passed.append(one)


def _unless_asked(one: _Passed, move: Move, last: _Passed) -> str:
    """Return what has to be said by name, except what the reply asks or does anyway."""
    if one.leaves and last.leaves:
        return ""
    return "" if one.question and one.question in move.words else one.about


def _missing(made: Sequence[ToolCall], outcomes: Sequence[Outcome]) -> tuple[ToolCall, ...]:
    """Find the calls that came to nothing though others of their reply did: it was broken off between them."""
    if len(outcomes) >= len(made) or not outcomes:
        return ()
    left = [one.name for one in outcomes]
    missing: list[ToolCall] = []
    # Those that came out as they were made first: of two alike, the other one is missing.
    came_out = [{"name": one.name, "arguments": one.arguments} for one in outcomes]
    for one in sorted(made, key=lambda one: one.as_data() not in came_out):
        if one.name in left:
            left.remove(one.name)
        else:
            missing.append(one)
    return tuple(missing)


def _answered(asked: Topic, order: Mapping[str, Any]) -> bool:
    """Whether there is nothing left to answer to a question about a step of the order."""
    stage = str(order.get("stage", "open"))
    match asked:
        case Topic.CONFIRM:
            return stage != "review"
        case Topic.TIP:
            return "tip" in order or stage not in ORDERING
        case Topic.PAYMENT | Topic.KEEP:
            return stage not in ORDERING
        case Topic.PLACE:
            return stage != "confirmed"
    return False


def _asked_alike(text: str, before: Asked) -> str:
    """Write out a question that is the one before about something else: "and the calzone?"."""
    found = pattern("and that").fullmatch(Said.read(text).said)
    block = f"asks {before.kind} alike"
    if found is None or block not in blocks("talking"):
        return text
    if not (text.endswith("?") or found["asks"]):
        return text  # "and the calzone" orders one
    return blocks("talking")[block][0].format(
        what=found["what"], allergen=before.allergen, diet=before.diet
    )


def _without_giving_up(text: str) -> str:
    """Leave out that what was only asked about is not wanted: "forget that, make mine a medium"."""
    words = Said.read(text)
    found = words.find(pattern("gives up"))
    if found is None or found.first:
        return text
    return words.part(found.last, len(words)).typed()


def _breaks_off(text: str, understood: Understanding) -> bool:
    """Whether a message ended before its dish: "could I have two", of which only "two" is asked."""
    question = understood.question
    if question is None or question.code != "unclear" or understood.commands:
        return False
    return Said.read(text).said.endswith(str(question.facts.get("words") or text))


def _changes_time(text: str, before: Understanding | None, order: Mapping[str, Any]) -> bool:
    """Whether a time is corrected: "no wait, 8 30", or follows a "when?" of the guest's."""
    said = Said.read(text).said
    asks = before.answers[-1].aspect if before is not None and before.answers else None
    if asks == "wait" and pattern("only an hour").fullmatch(said):
        return True
    timed = (order.get("fulfilment") or {}).get("when") is not None
    timed = timed or any("when" in one.fields for one in (before.commands if before else ()))
    return timed and pattern("corrects time").fullmatch(said) is not None


def _tips(text: str, before: Understanding) -> bool:
    """Whether a number is a tip, because the guest has just said how they pay, or another tip."""
    tipped = any(one.op == "set_tip" for one in before.commands)
    if tipped and pattern("another tip").fullmatch(Said.read(text).said) is not None:
        return True
    pays = any(one.op == "choose_payment" for one in before.commands)
    pays = pays or (before.question is not None and before.question.facts.get("needs") == "payment")
    tokens = Said.read(text).tokens
    number = number_at(tokens, 0) if tokens else None
    return pays and number is not None and number[1] == sum(not one.stop for one in tokens)


def _rates(text: str, order: Mapping[str, Any]) -> bool:
    """Whether a number alone rates an order that was placed, whatever was said since that was asked."""
    placed = order.get("stage", "open") not in ORDERING and not order.get("rating")
    return placed and _is_number(text)


def _is_number(text: str) -> bool:
    """Whether a message is a number and nothing else: "5", "a five"."""
    return pattern("stars").fullmatch(Said.read(text).said) is not None


def _tips_as_reckoned(understood: Understanding, before: Understanding) -> Understanding:
    """Take a yes for the tip that was reckoned just before: "how much is 15 percent?", "ok, do that"."""
    percent = next((one.words for one in before.answers if one.kind == "total" and one.words), None)
    if percent is None or understood.commands:
        return understood
    return replace(understood, commands=(Draft("set_tip", {"percentage": int(percent)}),))


def _with_unit(address: str, said: Said) -> tuple[str, Said]:
    """Put another flat in the place of the one in an address: "flat 5, not flat 3"; returns what else was said."""
    before = Said.read(address)
    known, other = _unit(before), _unit(said)
    if known is None or other is None or other[0]:
        return address, said
    begins, ends = before.tokens[known[0]].start, before.tokens[known[1] - 1].end
    whole = address[:begins] + said.typed(0, other[1]) + address[ends:]
    rest = said.part(other[1], len(said))
    wrong = rest.find(pattern("not that number"))
    if wrong is not None and not wrong.first:
        rest = rest.part(wrong.last, len(rest))
    return whole, rest.trimmed(frozenset())


def _unit(said: Said) -> tuple[int, int] | None:
    """Return where a flat begins and ends, with what is written together with its number: "flat 4b"."""
    found = said.find(pattern("unit of an address"))
    if found is None:
        return None
    last = found.last
    tokens = said.tokens
    while (
        last < len(tokens) and tokens[last].start == tokens[last - 1].end and not tokens[last].stop
    ):
        last += 1
    return found.first, last


def _whole_number(text: str, before: Words | None, pending: Question | None) -> str:
    """Put the end of a telephone number behind its beginning: "my number is 917 555", "0148"."""
    begun = pending is not None and pending.facts.get("field") == "phone"
    digits = re.findall(r"\d[\d .-]{3,}", before.text) if begun and before is not None else []
    ends = re.fullmatch(r"\D{0,12}(\d[\d -]{1,7})\D{0,12}", text)
    return f"my number is {digits[-1]} {ends[1]}" if digits and ends is not None else text


def _without_echo(text: str) -> str:
    """Leave out a question of ours that the guest says after us: "My name? Rachel Kim"."""
    echo, asks, answer = text.partition("?")
    said = Said.read(echo).said
    return answer.strip() if asks and answer.strip() and pattern("echo").fullmatch(said) else text


def _tells_name(text: str) -> bool:
    """Whether a name in a message is the guest's, although another is known."""
    words = Said.read(text)
    return _LETTERS.fullmatch(text) is not None or any(
        words.find(pattern(name)) for name in ("name is", "i am", "spelled", "no name asked")
    )


def _may_be_a_name(text: str, understood: Understanding, scene: Scene, asked: Topic) -> bool:
    """Whether words that are nothing else may be the guest's name: asked for, or written like one."""
    said = Said.read(text)
    if (letter := said.find(pattern("with a letter"))) is not None:
        text = said.typed(0, letter.first).strip(" ,")  # "Yolanda, with a Y"
    if len(text.split()) > _NAME_WORDS or scene.order.get("guest"):
        return False
    written_like_one = text.istitle() and text.replace(" ", "").isalpha()
    known = words_of("first names") | words_of("given names")
    written_like_one = written_like_one or said.said in known
    if not understood.understood:
        return asked is Topic.NAME or written_like_one
    # The greeting asks for the name and the order in one breath; later questions ask for one thing.
    only_asked = asked is Topic.NAME and scene.agent != "greeter"
    question = understood.question
    off_menu = question is not None and question.code == "not_on_menu"
    nothing_else = not (understood.commands or understood.answers or understood.intents)
    return off_menu and nothing_else and (only_asked or (asked is Topic.NAME and written_like_one))


def _to_choose(pending: Question, understood: Understanding) -> Question | None:
    """Return what waits from the first question on that a guest can only answer by choosing."""
    known = pending.code == "which_line" and understood.settled
    known = known or (_stays(pending) and not understood.settled)
    asked = pending.rest if known else (pending, *pending.rest)
    for at, one in enumerate(asked):
        if one.code in _TO_CHOOSE:
            return pending if one is pending else replace(one, rest=asked[at + 1 :])
    return None


def _still_waits(pending: Question, understood: Understanding) -> bool:
    """Whether the guest neither answered what was to be chosen nor gave it up."""
    name = pending.draft.fields.get("name") if pending.draft is not None else None
    ordered = [one for one in understood.commands if one.op == "add_item"]
    # "A regular calzone then", where it was asked whether a small one may be an ordinary one.
    taken = pending.code == "choice_not_possible" and name in [
        o.fields.get("name") for o in ordered
    ]
    answered = taken or understood.settled
    given_up = {"nothing", "cancel", "bye", "start over"} & set(understood.intents)
    refused = "no" in understood.intents and "done" not in understood.intents
    waits = pending.code in _TO_CHOOSE and not _stays(pending)
    return (
        waits
        and not answered
        and not given_up
        and not refused
        and not _asked_again(pending, understood)
    )


def _stays(pending: Question) -> bool:
    """Whether a line cannot be changed as was said, so that it stays as it is: the guest has been told so."""
    changes = pending.draft is not None and pending.draft.op == "change_item"
    return pending.code == "choice_not_possible" and (changes or bool(pending.facts.get("source")))


def _not_asked_yet(pending: Question) -> Sequence[Question]:
    """Return what other dishes wait for that the guest was never asked: "that's all" does not answer it."""
    return [
        one
        for one in pending.rest
        if one.code == "choice_missing" and one.draft and _about(one) != _about(pending)
    ]


def _given_up(understood: Understanding, pending: Question) -> Understanding:
    """Name what is not ordered, and what is not changed, because a question about it was never answered."""
    ordered: list[str] = []
    changed: list[str] = []
    for one in (pending, *pending.rest):
        fields = one.draft.fields if one.draft is not None else {}
        name = fields.get("name") or one.facts.get("words")
        if one.code == "which_line":
            changed.append(f"the {name}" if name else "it")
        elif one.draft is not None and one.draft.op == "add_item" and name:
            ordered.append(f"the {name}")
        elif one.code == "choice_missing" and name:
            changed.append(f"the {name}")
    return replace(
        understood, dropped=(*dict.fromkeys(ordered),), unchanged=(*dict.fromkeys(changed),)
    )


def _asked_again(pending: Question, understood: Understanding) -> bool:
    """Whether what is asked now is what waited, or all there is to ask about it still."""
    question = understood.question
    if question is None or pending.code == "either":
        return False
    if pending.draft is None:
        return True
    return any(_about(one) == _about(pending) for one in (question, *question.rest))


def _about(question: Question) -> tuple[Any, Any, Any]:
    """Name the thing that a question is about: by its line and name, or else by the guest's words."""
    fields = question.draft.fields if question.draft is not None else {}
    name = fields.get("name")
    return fields.get("line_id"), name, None if name is not None else question.facts.get("words")


def _both(question: Question | None, pending: Question) -> Question:
    """Ask what there is to ask now, and then what waited before."""
    waited = [replace(one, rest=(), waited=True) for one in (pending, *pending.rest)]
    first, *rest = (question, *question.rest, *waited) if question is not None else waited
    return replace(first, rest=tuple(rest))


def _with_times(order: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Put the time of handover into words."""
    shown = dict(order)
    fulfilment = order.get("fulfilment")
    if isinstance(fulfilment, dict):
        for time in (fulfilment.get("when"), fulfilment.get("ready_at")):
            if time:
                ready = datetime.fromisoformat(time).replace(tzinfo=now.tzinfo)
                told = said_time(ready, now).replace("tomorrow ", f"tomorrow, {ready:%A}, ")
                shown["fulfilment"] = {**fulfilment, "ready": told}
    return shown


def _keep(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
