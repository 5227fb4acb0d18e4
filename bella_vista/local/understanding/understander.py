"""The whole of the understanding on any menu, from text to wishes."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from bella_vista.local.english import ask, lexicon, vocabulary
from bella_vista.local.english.sentences import line_words
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.english.talking import patterns as patterns_of
from bella_vista.local.understanding.deciding.deciding import Decided, Deciding
from bella_vista.local.understanding.deciding.explain import explained
from bella_vista.local.understanding.meaning import (
    NO_ORDER,
    Asked,
    Draft,
    LineSeen,
    OrderSeen,
    Question,
    Understanding,
)
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Meaning, Names
from bella_vista.local.understanding.messages.clauses import clauses
from bella_vista.local.understanding.messages.persons import shares, without_names
from bella_vista.local.understanding.messages.pieces import NAME, STOP, WORD, cut
from bella_vista.local.understanding.messages.rewording import reworded
from bella_vista.local.understanding.messages.telling import in_turn
from bella_vista.local.understanding.order.combining import combined
from bella_vista.local.understanding.order.corrections import changed_line, in_another_line
from bella_vista.local.understanding.order.parts import on_order
from bella_vista.local.understanding.pending import Pending
from bella_vista.local.understanding.statements.heard import Heard, asks_before
from bella_vista.local.understanding.statements.on_answers import CONDITIONS, Condition, OnAnswers
from bella_vista.local.understanding.statements.questions import Questions
from bella_vista.local.understanding.statements.statements import SETTLING, Statements
from bella_vista.local.understanding.statements.talk import Talk, comment, kept, remark
from bella_vista.local.understanding.words.phrases import small_words
from bella_vista.local.understanding.words.tokens import LISTED, Found, Token, Words, number_at
from state.contact import with_written_postcode
from state.menu import Menu
from state.menu.families import families_of

__all__ = [
    "NO_ORDER",
    "Asked",
    "Draft",
    "LineSeen",
    "OrderSeen",
    "Question",
    "Understander",
    "Understanding",
    "as_json",
]


def as_json(understanding: Understanding) -> dict[str, Any]:
    """Show an understanding as the command line does.

    >>> as_json(Understanding("Hi"))
    {'text': 'Hi', 'commands': [], 'answers': [], 'question': None, 'not_understood': []}
    """
    question = understanding.question
    asked = [ask(one) for one in (question, *question.rest)] if question is not None else []
    return {
        "text": understanding.text,
        "commands": [draft.as_dict() for draft in understanding.commands],
        "answers": list(dict.fromkeys(one.kind for one in understanding.answers)),
        "question": " ".join(dict.fromkeys(asked)) or None,
        "not_understood": list(understanding.not_understood),
    }


class Understander:
    """Understands guests of one house.

    Args:
        menu: What can be ordered; its names are indexed once in a process.
    """

    def __init__(self, menu: Menu) -> None:
        self._house = _house_of(menu)

    def understand(
        self,
        text: str,
        *,
        pending: Question | None = None,
        order: OrderSeen = NO_ORDER,
        expects: str | None = None,
        now: datetime | None = None,
        topic: str | None = None,
        topic_size: str | None = None,
        explain: Callable[[str], object] | None = None,
    ) -> Understanding:
        """Understand one line.

        Args:
            text: What the guest said or typed, whatever it is.
            pending: What was asked back and not answered yet.
            order: The order as the guest knows it.
            expects: What was asked for: ``yes_no``, ``choice``, ``rating``, ``amount``, ``name``,
                ``contact``, ``fulfilment``, ``address``, ``time``, ``comment`` or ``open``.
            now: The present time, aware.
            topic: The dish that was asked about before: "I'll take two" means that.
            topic_size: The size that was asked about.
            explain: Takes the lines that say which readings there were and what each word cost.
        """
        now = now if now is not None else datetime.now(UTC)
        written = with_written_postcode(text, self._house.postcodes)
        if pending is not None and 1 < len(LISTED.findall(written)) == self._combos(pending):
            written = LISTED.sub(r" . number \1:", written)  # each of the combos that wait
        words = self._house.names.spelt(Words.read(written))
        if not words.tokens or _JSON_KEY.search(text):  # copied data is nothing that a guest says
            return Understanding(text)
        if expects not in ("rating", "comment") and words.whole(pattern("a score")):
            return Understanding(text)
        if expects == "comment" and words.whole(pattern("rates anew")):
            expects = "rating"
        if expects == "comment" and (said := comment(words)):
            return Understanding(text, tuple(kept(said, words)))
        first = words.find(pattern("tells each")) if pending is not None else None
        if (
            pending is not None
            and first is not None
            and not first.first
            and (count := self._combos(pending))
        ):
            rest = words.part(first.last, len(words))
            name = str(pending.draft.fields["name"]) if pending.draft is not None else ""
            combo = self._house.kitchen.combo(name)
            parts = {dish for part in combo.parts for dish in part.dishes} if combo else set()
            if any(parts & {*piece.dishes} for piece in cut(rest, self._house.names)):
                each = self._each(words, name, count, order, now) if count > 1 else None
                if each is not None:
                    return each
                if count == 1:
                    words = rest
                elif self._tells_all(words, name, count):
                    pass
                else:
                    words = Words.read(f"the first one is {rest.said}")
        if pending is not None and (each := self._several(words, pending, order, now)) is not None:
            return replace(each, text=text)
        if (meant := self._another_line(words, order)) is not None:
            return Understanding(text, tuple(meant))
        hearing = _Hearing(self._house, order, expects, now, topic, topic_size)
        hearing.hear(words, pending)
        understanding = hearing.understanding(text, pending)
        if explain is not None:
            for line in explained(hearing.read, hearing.weighed):
                explain(line)
        return understanding

    def _combos(self, pending: Question) -> int:
        """Return how many combos a question is about, if nothing was said yet of what is in them."""
        fields = pending.draft.fields if pending.draft is not None else {}
        bare = pending.code == "choice_missing" and not pending.rest
        told = [tuple(part.values()) for part in fields.get("parts") or ()]
        if not bare or not self._house.kitchen.only_fixed(str(fields.get("name")), told):
            return 0
        return int(fields.get("quantity") or 1)

    def _tells_all(self, words: Words, name: str, count: int) -> bool:
        """Whether each of several that wait is told: "one with beef and one with pork"."""
        house = self._house
        return in_turn(words.tokens, house.names, house.kitchen, (name, count))[1] == count

    def _several(
        self, words: Words, pending: Question, order: OrderSeen, now: datetime
    ) -> Understanding | None:
        """Take "one large vanilla and one banana" for two of the one thing that waits for a choice.

        Of several combos that wait for a part, "one with a cola and one with water" tells each.
        """
        draft, tokens = pending.draft, words.tokens
        if draft is None or draft.op != "add_item" or pending.code != "choice_missing":
            return None
        if pending.rest or not draft.fields.keys() <= {"name", "quantity", "parts"}:
            return None
        starts = [at for at in range(len(tokens)) if not at or tokens[at - 1].word in _LISTS]
        told: list[tuple[int, str]] = []
        for first, last in pairwise((*starts, len(tokens) + 1)):
            number = number_at(tokens, first)
            if number is None and tokens[first].word in ("a", "an"):
                told.append((1, f"one with {words.typed(first, last - 1)}"))
            elif number is not None:
                many, at = words.typed(first, first + number[1]), first + number[1]
                rest = words.typed(at, last - 1).removeprefix("with ")
                told.append((number[0], f"{many} with {rest}" if starts[1:] else rest))
        count, name = sum(number for number, _ in told), str(draft.fields["name"])
        if told_of := draft.fields.get("parts"):
            parts = [str(part["name"]) for part in told_of if part.keys() == {"name"}]
            if (
                len(parts) < len(told_of)
                or len(told) < len(starts)
                or count < 2
                or draft.fields.get("quantity") != count
            ):
                return None
            each = Words.read(", ".join(said for _, said in told))
            return self._each(each, f"{name} with {', '.join(parts)}", count, order, now)
        if len(told) < 2 or draft.fields.get("quantity", 1) != 1:
            return None
        return self._each(words, name, count, order, now)

    def _each(
        self, words: Words, name: str, count: int, order: OrderSeen, now: datetime
    ) -> Understanding | None:
        """Take "one with cod, the other with shrimp" for several as if it came with their name."""
        whole = self.understand(f"{count} {name}, {words.line}", order=order, now=now)
        same = all(
            one.op == "add_item" and name.startswith(one.fields["name"]) for one in whole.commands
        )
        told = sum(int(one.fields["quantity"]) for one in whole.commands) if same else 0
        alone = len(whole.commands) == 1 and whole.commands[0].fields.get("name") == name
        if told != count or alone or whole.question or whole.not_understood:
            return None
        return replace(whole, text=words.line, settled=True)

    def _another_line(self, words: Words, order: OrderSeen) -> Sequence[Draft] | None:
        """Take "no, I meant the second one" for the line in which the last change belongs."""
        changed, found = changed_line(order), words.whole(pattern("means another line"))
        if changed is None or found is None:
            return None
        old, new = changed
        what = next(one for one in found.groupdict().values() if one)
        named = self.understand(f"remove {what}", order=replace(order, before=None)).commands
        ids = {draft.fields.get("line_id") for draft in named if draft.op == "remove_item"}
        if what.startswith("the other"):
            ids = {one.id for one in order.items if one.name == old.name and one is not new}
        other = next((one for one in order.items if {one.id} == ids and one is not new), None)
        return None if other is None else in_another_line(old, new, other, self._house.kitchen)

    def shares(self, text: str) -> Sequence[tuple[frozenset[str], frozenset[str]]]:
        """Return who gets something by a message: the words that point at them, and the dishes they may get."""
        words = self._house.names.spelt(Words.read(text))
        return [
            (share.person, self._dishes(share.words)) for share in shares(words, self._house.names)
        ]

    def _dishes(self, words: Words) -> frozenset[str]:
        named = (self._house.names.longest(words.tokens, at) for at in range(len(words)))
        return frozenset(dish for one in named if one is not None for dish in one[1].dishes)

    def only_begins(self, text: str) -> bool:
        """Whether somebody only began to speak: "I would like", "um"."""
        words = self._house.names.spelt(Words.read(text))
        return all(piece.does(*_BEGINS) for piece in cut(words, self._house.names))


_LISTS = (",", "and", ";", "&")
"""What stands between the things of a list."""
_FITS = 0.3
"""So much a reading may cost on an order that it fits."""
_OF_DISHES = frozenset({"contents", "diets", "allergens", "price"})
"""Questions about a dish."""

_BEGINS = (
    *(STOP, lexicon.TAKE, lexicon.FILLER, lexicon.AND, lexicon.BUT),
    *(lexicon.PRONOUN, lexicon.SHOULD, lexicon.ARTICLE, lexicon.TO, lexicon.SORRY),
)


@dataclass(frozen=True)
class _House:
    """Knowledge of one house, the same for every line."""

    names: Names
    kitchen: Kitchen
    deciding: Deciding
    statements: Statements
    questions: Questions
    on_answers: OnAnswers
    postcodes: Sequence[str]

    @classmethod
    def of(cls, menu: Menu) -> "_House":
        names, kitchen = Names(menu), Kitchen(menu)
        delivery = menu.restaurant.delivery
        return cls(
            names=names,
            kitchen=kitchen,
            deciding=Deciding(menu, kitchen),
            statements=Statements(menu, names),
            questions=Questions(menu, names, kitchen),
            on_answers=OnAnswers(names, kitchen),
            postcodes=delivery.postcodes if delivery is not None else (),
        )


_KEPT = 8
"""How many menus' indexes are kept: a process that serves rooms has one menu, until it is changed."""


class _Houses(threading.local):
    """The menus that a thread has indexed, with their indexes, which remember the words they were asked for."""

    def __init__(self) -> None:
        self.known: list[tuple[Menu, _House]] = []


_houses = _Houses()


def _house_of(menu: Menu) -> _House:
    """Return what is known of a menu; it takes hundreds of milliseconds once, and every call needs it."""
    for known, house in _houses.known:
        if known is menu or known == menu:
            return house
    house = _House.of(menu)
    _houses.known.insert(0, (menu, house))
    del _houses.known[_KEPT:]
    return house


class _Hearing:
    """One line while it is being understood."""

    def __init__(
        self,
        house: _House,
        order: OrderSeen,
        expects: str | None,
        now: datetime,
        topic: str | None,
        topic_size: str | None,
    ) -> None:
        self._house = house
        self._order = order
        self._expects = expects
        self._now = now
        self._known = [on_order(line, house.kitchen) for line in order.items]
        before = order.before
        self._before = [on_order(line, house.kitchen) for line in before.items] if before else None
        self._topic, self._topic_size = topic, topic_size
        self._left: list[Token] = []
        self._said: list[tuple[int, Words]] = []
        self.weighed: list[Decided] = []
        self._gap = False
        self._unheard: list[str] = []
        self._heard = Heard()
        self._answers: list[Asked] = []
        self._talk = Talk(house.names, self._heard, expects)
        self._pending: Pending | None = None
        self._cleared = False
        self._question = Words("", ())
        self._condition: Condition | None = None
        self._changes: dict[str, str] = {}
        self._hanging: list[tuple[bool, str | None, Words]] = []

    @property
    def read(self) -> Sequence[Token]:
        """The rest of the line once all but the order was taken out of it."""
        return self._left

    # -- hearing -------------------------------------------------------------------------------------------

    def hear(self, words: Words, pending: Question | None) -> None:
        """Take in a whole line."""
        if pending is not None:
            self._pending = Pending(pending, self._house.names, self._house.kitchen, self._known)
            if pending.code == "missing" and pending.facts.get("needs") in ("time", "tip"):
                self._expects = {"time": "time", "tip": "amount"}[str(pending.facts["needs"])]
            elif pending.code == "not_valid" and pending.facts.get("field") == "rating":
                self._expects = "rating"
            words = self._without_giving_up(words, self._pending)
        words = self._without_taken_back(words)
        words = self._house.statements.whole(
            self._without_empty(self._without_laughter(without_names(words, self._house.names))),
            self._heard,
            self._order,
            self._expects,
        )
        words = self._keeps_off(words)
        names, kitchen = self._house.names, self._house.kitchen
        waiting = self._pending.items if self._pending is not None else ()
        of_combo = any(kitchen.combo(item.name) is not None for item in waiting)
        words = reworded(words, names, self._known, waiting, combo=of_combo)
        words = combined(words, names, kitchen, self._known)
        if self._expects == "rating":
            words = self._house.statements.rating(words, self._heard)
        for clause in clauses(words, self._house.names):
            kept = len(self._left)
            self._clause(clause)
            self._gap = self._gap or len(self._left) == kept
        if self._closes():
            self._without_remarks()

    def _about_dish(self, asked: Asked, words: Words) -> Asked:
        """Take "is it vegan?" for the dish that was asked about just before."""
        named = any(piece.dishes for piece in cut(words, self._house.names))
        left = cut(Words("", tuple(self._left)), self._house.names)
        dishes = {piece.dishes for piece in left if piece.dishes and not piece.changes}
        before = self._answers[-1].subject if self._answers else self._topic
        if before is None and len(dishes) == 1 and len(only := dishes.pop()) == 1:
            before = only[0]  # "a carbonara. Is there egg in it?"
        points = not words_of("it of a dish").isdisjoint(token.word for token in words.tokens)
        known = before is not None and self._house.kitchen.dish(before) is not None
        if asked.kind in _OF_DISHES and known and points and not named:
            return replace(asked, subject=before)
        return asked

    def _without_giving_up(self, words: Words, pending: Pending) -> Words:
        """Take "forget it, just the knots" for giving up what was asked about, not a thing on the order."""
        found = words.find(pattern("gives up"))
        if found is None or found.first or not pending.give_up():
            return words
        self._heard.meant("nothing")
        return words.part(found.last, len(words))

    def _without_taken_back(self, words: Words) -> Words:
        """Leave out the one dish of a message that its end takes back: "a latte, oh never mind"."""
        found = words.find(pattern("takes back at the end"))
        if found is None or not found.first:
            return words
        before = words.part(0, found.first)
        dishes = [one.dishes for one in cut(before, self._house.names) if one.dishes]
        there = any({*item.names} & {*dishes[0]} for item in self._known) if dishes else True
        if len(dishes) != 1 or there:  # of what is on the order, it is taken off
            return words
        self._heard.meant("nothing")
        return words.part(found.last, len(words))

    def _without_laughter(self, words: Words) -> Words:
        """Leave out "lol" and its like, which say nothing wherever they stand."""
        laughs, longest = words_of("laughter"), self._house.names.longest
        kept = [
            token
            for at, token in enumerate(words.tokens)
            if token.word not in laughs or longest(words.tokens, at) is not None
        ]
        return words if len(kept) == len(words) else Words(words.line, tuple(kept))

    def _without_empty(self, words: Words) -> Words:
        """Leave out what only leads to an order, or says that something of it stays."""
        for name in ("leads to an order", "people fed"):
            if name == "people fed" and words.find(pattern("none for one")) is not None:
                continue  # "no fries for the kid"
            for found in reversed([*words.find_all(pattern(name))]):
                places = range(max(0, found.first - _LONGEST_NAME), found.last)
                inside = ((at, self._house.names.longest(words.tokens, at)) for at in places)
                if any(
                    one is not None and one[1].dishes and at + one[0] > max(found.first, at + 1)
                    for at, one in inside
                ):
                    continue  # a menu has a "dinner for two"
                words = Words(words.line, words.tokens[: found.first] + words.tokens[found.last :])
        words = self._without_one(words)
        if self._known and (stays := words.find(pattern("stays as it is"))) is not None:
            first, last = stays.span(words, "what")
            named = self._house.names.longest(words.tokens, first)
            if named is not None and first + named[0] <= last:
                words = words.without(stays.first, stays.last)
        return words

    def _without_one(self, words: Words) -> Words:
        """Leave out the "one" of a size in a change: "the latte should be a large one, with oat milk"."""
        tokens = words.tokens
        for at in range(_LEAST_BEFORE_ONE, len(tokens)):
            if tokens[at].word != "one" or tokens[at - 2].word not in ("a", "an"):
                continue
            begins = max(0, at - _MOST_BEFORE_ONE)
            makes = any(token.word in ("make", "be") for token in tokens[begins : at - 2])
            named = self._house.names.longest(tokens, at - 1)
            sized = named is not None and named[0] == 1 and named[1].sizes and not named[1].dishes
            if makes and sized:
                return Words(words.line, tokens[:at] + tokens[at + 1 :])
        return words

    def _keeps_off(self, words: Words) -> Words:
        """Leave off what a guest does not eat; where no dish can be had without it, tell what the menu says."""
        found = words.find(pattern("keeps off"))
        if found is None or asks_before(words, found.first):
            return words
        spans = (found.span(words, group) for group in ("what", "what2", "what3"))
        first, last = next(span for span in spans if span != (0, 0))
        what = words.part(first, last).said
        itself = self._house.names.longest(words.tokens, first)
        if itself and any({*item.names} & {*itself[1].dishes} for item in self._known):
            return words  # what is ordered is taken off
        if found.match["what3"] and any("i" in line.person for line in self._order.items):
            return words  # of what is theirs
        dishes: list[Sequence[str]] = []
        at = 0
        while at < len(words):
            named = self._house.names.longest(words.tokens, at)
            if named is not None and not found.first <= at < found.last:
                dishes.append(named[1].dishes)
                at += named[0] - 1
            at += 1
        sure = list(dict.fromkeys(names[0] for names in dishes if len(names) == 1))
        known = [*sure, *(item.name for item in self._known)]
        has = [self._house.kitchen.has(name, what) for name in known]
        if any(has) and all(has[: len(sure)]):  # one of several dishes may be the one without it
            no = replace(words.tokens[found.first], word="no", stem="no", raw="no")
            kept = (*words.tokens[: found.first], no, *words.tokens[first:last])
            return Words(words.line, (*kept, *words.tokens[found.last :]))
        if not (families_of(what) or vocabulary.is_food(what)):
            return words
        subject = sure[0] if len(sure) == 1 else None
        self._answers.append(Asked("allergens", subject=subject, allergen=what))
        return words.without(found.first, found.last)

    def _one_of_several(self, words: Words) -> Words:
        """Remove one of several: "no coffee for him", where two coffees are on the order."""
        found = words.find(pattern("none for one"))
        if found is None or found.first or any(not one.stop for one in words.tokens[found.last :]):
            return words
        first, last = found.span(words, "what")
        named = self._house.names.longest(words.tokens, first)
        if named is None or first + named[0] != last:
            return words
        meant = [item for item in self._known if {*item.names} & {*named[1].dishes}]
        if not any((item.quantity or 1) > 1 for item in meant):
            return words
        no = words.tokens[first - 1]
        fewer = (replace(no, word=word, stem=word, raw=no.word) for word in ("one", "fewer"))
        return Words(words.line, (*fewer, *words.tokens[first:last]))

    def _if_there_is_none(self, words: Words) -> Words:
        """Leave only what is wanted if the dish that was asked for is not there: "if not, the cod"."""
        found = words.find(pattern("if there is none"))
        asked = self._answers[-1] if self._answers else None
        if found is None or found.first or asked is None or asked.kind != "menu":
            return words
        first = found.last
        if self._house.kitchen.serves(asked.subject):
            stops = (at for at in range(first, len(words)) if words.tokens[at].stop)
            first = next(stops, len(words))  # "if not the cod, and a coke"
        return words.part(first, len(words))

    def _on_answer(self, words: Words) -> Words | None:
        """Take what hangs on the answer to a question; nothing where it is not to be ordered by that answer."""
        asked = self._answers[-1] if self._answers else None
        if asked is not None and asked.kind in CONDITIONS:
            read = self._house.on_answers.read(words, asked, self._question)
            self._condition, words = read or (self._condition, words)
        if self._condition is None or not _content(words):
            return words
        condition, words = self._house.on_answers.applied(self._condition, words)
        if condition.change:  # where the menu does not tell, that is said
            self._changes[condition.dish if self._condition.met else ""] = condition.change
        ends = words.tokens[-1:] and words.tokens[-1].breaks
        self._condition = None if ends else replace(condition, change="")
        asks = words.tokens[0].word in words_of("asking")
        if pattern("does without the dish").fullmatch(words.said.strip(" .,!")) and self._said:
            if condition.met is not False:  # what was ordered hangs on the answer
                self._let_wait(offers=condition.met is None)
            return None
        if condition.met or asks:
            return words
        self._hanging.append((condition.offers, self._topic, words))
        return None

    def _with_change(self, draft: Draft) -> Draft:
        """Leave off a dish what is not wanted if it is there, or add what is not."""
        name = str(draft.fields.get("name"))
        if draft.op != "add_item" or not (what := self._changes.pop(name, "")):
            return draft
        told = (*draft.fields.get("modifications", ()), what)
        changes = self._house.kitchen.canonical(name, draft.fields.get("size"), told)
        return replace(draft, fields={**draft.fields, "modifications": [*changes]})

    def _hung(self, alone: bool) -> tuple[Sequence[Question], Sequence[str]]:
        """Return the question whether to order what hangs on an unknown answer, and what is not ordered."""
        drafts: list[Draft] = []
        lines: list[str] = []
        for _, topic, words in self._hanging:
            inner = _Hearing(self._house, self._order, None, self._now, topic, None)
            inner.hear(words.trimmed(words_of("joints")), None)
            heard = inner.understanding(words.line, None)
            asked = (heard.question, *heard.question.rest) if heard.question else ()
            told = [*heard.commands, *(one.draft for one in asked if one.draft is not None)]
            drafts += [one for one in told if one.op != "add_item" or "name" in one.fields]
            if told and all(one.op == "add_item" and "name" in one.fields for one in told):
                lines += [line_words(one.fields) for one in told]
            elif told or asked or heard.not_understood:
                lines.append(f'"{words.typed().strip(" .,!?")}"')
        allergic = self._order.allergies or self._heard.has("add_allergy")
        if not drafts or not alone or allergic or not all(one[0] for one in self._hanging):
            return (), lines
        why = "unsaid" if self._answers[-1].kind == "contents" else None
        facts = {"needs": "order_anyway", "lines": lines, "orders": tuple(drafts), "why": why}
        return [Question("missing", facts, drafts[0])], ()

    def _clause(self, words: Words) -> None:
        hanging = self._on_answer(words)
        if hanging is None:
            return
        words = self._one_of_several(hanging)
        offers = self._pending is not None and self._pending.offers(words)
        if not (offers or self._drops_topic(words)):
            words = self._talk.take(words)
        if self._talk.answer and self._pending is not None and not self._pending.settled:
            self._pending.hears(self._talk.answer)
        self._cleared = self._cleared or "start over" in self._heard.intents
        if not _content(words):
            return
        if self._expects in (None, "open") and self._declines(words):
            self._heard.meant("no")
            return
        words = self._if_there_is_none(words)
        if not _content(words):
            return
        if (other := words.find(pattern("asks another"))) is not None:
            self._heard.meant("wait")
            words = self._without_aside(words, other.first)
            if not _content(words):
                return
        may = self._asks_if_one_may(words)
        asked = may or self._asked_alike(words) or self._house.questions.find(words, self._known)
        asked = self._about_dish(asked, words) if asked is not None else None
        if asked is None and self._answers and self._answers[-1].kind in _OF_DISHES and self._topic:
            if words.trimmed(frozenset()).whole(pattern("asks of it")):
                asked = Asked("contents", subject=self._topic)
        if (asked is None or asked.kind == "facts") and words.said.startswith(_ASKS_YOU):
            dishes = any(piece.dishes for piece in cut(words, self._house.names))
            if not dishes and self._house.statements.address(words) is not None:
                asked = Asked("service")  # "can you bring food to 88 Mott Street?"
        if asked is not None and asked.kind == "contents" and asked.words:
            if "wait" in self._heard.intents:
                return  # "let me see what's in the cookie jar"
        wish = pattern("names a wish").match(words.said) is not None
        wish = wish or pattern("do it with").match(words.said) is not None
        wish = not may and (wish or (asked is not None and self._is_wish(asked, words)))
        if wish:
            asked = None
        elif asked is not None and not (asked.kind == "payment" and self._expects == "choice"):
            if asked.kind in ("price", "total") and (added := self._asked_to_add(words)):
                self._answers += added[:-1]
                asked = added[-1]
            elif asked.kind == "service":
                asked = self._with_address(asked, words)
            elif asked.kind in _OF_A_DISH and asked.subject is None and asked.words is None:
                asked = replace(asked, subject=self._topic)  # "and what is in it?"
            elif asked.kind == "total" and self._topic is not None:
                if pattern("asks how much is that").fullmatch(words.said.rstrip(" ?")):
                    asked = Asked("price", subject=self._topic)
            self._answers.append(asked)
            self._question, self._condition = words, None
            self._topic, self._topic_size = asked.dish or asked.subject, asked.size
            return
        if asked is not None:
            self._answers.append(asked)
        if asked is None and not wish and _only_asks(words):
            self._unheard.append(words.typed().strip(" .,!?"))
            return
        if self._pending is not None and not self._pending.settled:
            rest = self._pending.answer(words, self._heard)
            if rest is None:
                return
            words = rest
        before = len(self._heard.drafts)
        words = self._without_statements(words)
        if len(self._heard.drafts) > before:
            words = self._talk.ends(words)
        if self._expects in _NO_FOOD and self._pending is None and self._is_bare(words):
            return
        if (example := words.find(pattern("for example"))) is not None:
            if self._house.names.longest(words.tokens, example.last) is not None:
                words = words.without(example.first, example.last)
        if self._left and self._gap:
            self._left.append(_PAUSE)
        self._gap = False
        self._said.append((len(self._left), words))
        self._left.extend(words.tokens)

    def _let_wait(self, *, offers: bool) -> None:
        """Order what was said last only when the guest has heard the answer."""
        first, words = self._said.pop()
        del self._left[first:]
        self._hanging.append((offers, self._topic, words))

    def _asked_to_add(self, price: Words) -> Sequence[Asked]:
        """Let a change wait whose price is asked for; returns the questions for what it names."""
        words = self._said[-1][1] if self._said else Words("", ())
        of_that = price.trimmed(frozenset()).whole(pattern("asks how much is that"))
        if not of_that or pattern("asks before adding").match(words.said) is None:
            return ()
        kitchen, pieces = self._house.kitchen, cut(words, self._house.names)
        dishes = {one.dishes[0]: one for one in pieces if len(one.dishes) == 1}
        subjects: list[str] = []
        for piece in pieces:  # the burrata that is put on a pizza is no dish
            on = [one for one in dishes if kitchen.fits(one, piece.words) and piece.changes]
            on = [one for one in on if dishes[one] is not piece]
            subjects += (
                [kitchen.choice(on[0], piece.words)]
                if on
                else [n for n in dishes if dishes[n] is piece]
            )
        if not dishes:
            return ()
        self._let_wait(offers=True)
        return [Asked("price", subject=one) for one in dict.fromkeys(subjects)]

    def _drops_topic(self, words: Words) -> bool:
        """Whether what is on the order and was asked about is not wanted: "is it hot? ok, skip it then"."""
        there = any(item.name == self._topic for item in self._known)
        return there and pattern("drops it").fullmatch(words.said.strip(" .,!")) is not None

    def _closes(self) -> bool:
        """Whether the guest is past their food: what names none of it is a remark then."""
        if self._expects in SETTLING:
            return self._pending is None or self._pending.settled
        settles = ("choose_payment", "set_tip", "set_fulfilment", "set_customer")
        return "done" in self._heard.intents or any(map(self._heard.has, settles))

    def _without_remarks(self) -> None:
        """Leave out the clauses that say nothing of an order; beside the way or the name they end it."""
        paid = self._expects in ("choice", "amount") or self._heard.has("set_tip")
        remarks = [
            (first, words)
            for first, words in self._said
            if remark(words, self._house.names, numbers=paid) and not self._takes_topic(words)
        ]
        for first, words in reversed(remarks):
            del self._left[first : first + len(words)]
        only = not _content(Words("", tuple(self._left))) and not self._answers
        said = [[one.word for one in words.tokens if not one.stop] for _, words in remarks]
        told = max((len(run) for run in said if all(map(_is_english, run))), default=0)
        if told >= _A_REMARK and only and self._known and self._expects in (None, "open"):
            if not self._heard.questions and self._pending is None:
                self._heard.meant("done")

    def _takes_topic(self, words: Words) -> bool:
        """Whether so many are wanted of the dish that was asked about: "ok, I'll have one"."""
        takes = any(piece.does(lexicon.TAKE) for piece in cut(words, self._house.names))
        counted = any(number_at(words.tokens, at) is not None for at in range(len(words)))
        return self._topic is not None and takes and counted

    def _asked_alike(self, words: Words) -> Asked | None:
        """Read the question before about another dish: "is the risotto ok, and what about the stew?"."""
        if not self._answers or self._answers[-1].kind not in _CONDITIONS:
            return None
        if words.whole(pattern("and that")) is None or "about" not in words.said.split():
            return None
        named = [piece.dishes for piece in cut(words, self._house.names) if piece.dishes]
        alike = len(named) == 1 and len(named[0]) == 1
        return replace(self._answers[-1], subject=named[0][0]) if alike else None

    def _asks_if_one_may(self, words: Words) -> Asked | None:
        """Read "can she have the soup?" after an allergy, and "can I have it?" of a dish that meets it."""
        noted = [one.fields["name"] for _, one in self._heard.drafts if one.op == "add_allergy"]
        allergies = [*self._order.allergies, *map(str, noted)]
        bare = words.trimmed(words_of("soft words"))
        found = bare.whole(pattern("asks if one may")) if allergies else None
        if found is None:
            return None
        first, last = Found.of(bare, found).span(bare, "dish")
        named = self._house.names.longest(bare.tokens, first)
        if named is None or first + named[0] != last or len(named[1].dishes) != 1:
            return None
        dish = named[1].dishes[0]
        met = any(self._house.kitchen.families_met(dish, one) for one in allergies)
        orders = found["who"] in ("i", "we") and not met
        return None if orders else Asked("allergens", subject=dish)

    def _is_bare(self, words: Words) -> bool:
        """Whether nothing of an order is said: an answer to what was asked of something else."""
        pieces = cut(words, self._house.names)
        ordering = (WORD, NAME, lexicon.TAKE, lexicon.MAKE, lexicon.SWAP, lexicon.DROP)
        return not any(piece.does(*ordering) for piece in pieces)

    def _without_aside(self, words: Words, first: int) -> Words:
        """Leave out what is asked of somebody else; what follows an "okay" is the order again."""
        again = words.part(first, len(words)).find(pattern("goes on after asking"))
        return words.part(first + again.last, len(words)) if again is not None else words.part(0, 0)

    def _declines(self, words: Words) -> bool:
        """Whether the guest declines what is not on the order: "no garlic knots", "no dessert today"."""
        run = words.trimmed(words_of("around declining"))
        skips = pattern("skips a dish").match(run.said)
        first = len(skips.group().split()) if skips is not None else 1
        if skips is None and run.said.split()[:1] != ["no"]:
            return False
        topic = self._topic.casefold().split() if self._topic and not self._known else []
        if skips is not None and run.part(first, len(run)).said in topic:
            return True
        named = self._house.names.longest(run.tokens, first) if len(run) > first else None
        if named is None or first + named[0] != len(run):
            return False
        meaning = named[1]
        dish = bool(meaning.dishes or meaning.sections) and not meaning.choice
        return dish and not self._has(meaning)

    def _has(self, meaning: Meaning) -> bool:
        """Whether a dish that may be meant is on the order, or part of a combo."""
        known = [one for item in self._known for one in (item, *item.parts)]
        return any({*item.names} & {*meaning.dishes} for item in known)

    def _without_statements(self, words: Words) -> Words:
        """Take out what is no order; but part of a name is none: "a jar of Sunday sauce"."""
        heard = self._heard
        drafts, intents, questions = [*heard.drafts], [*heard.intents], [*heard.questions]
        left = self._house.statements.take(
            words, heard, order=self._order, expects=self._expects, now=self._now
        )
        kept = {token.start for token in left.tokens if not token.stop}
        for at, token in enumerate(words.tokens):
            if token.start in kept or token.stop:
                continue
            for first in range(max(0, at - _LONGEST_NAME), at + 1):
                named = self._house.names.longest(words.tokens, first)
                if named is None or first + named[0] <= at or not named[1].own:
                    continue
                if any(one.start in kept for one in words.tokens[first : first + named[0]]):
                    heard.drafts, heard.intents, heard.questions = drafts, intents, questions
                    return words
        return left

    def _is_wish(self, asked: Asked, words: Words) -> bool:
        """Whether a question is only polite: "can I pay cash instead?", "can I split it?"."""
        said = words.said
        if self._expects == "fulfilment" and said.startswith(("can ", "could ", "would ")):
            if any(words.find(pattern(way)) for way in ("pickup", "delivery")):
                return True
        for_the_order = said.split()[1:2] == ["i"] or (self._known and _BRINGS_IT.match(said))
        if asked.kind in ("facts", "service") and for_the_order:
            if self._house.statements.address(words) is not None:
                return True  # "can I get this delivered to 8 Wellington Street?"
        if asked.kind == "service" and pattern("wishes for a time").match(said) is not None:
            return any(words.find(way) is not None for way in patterns_of("hours"))
        if pattern("asks to use").match(said) and self._house.statements.names_code(words):
            return True
        if asked.kind in _OF_THE_HOUSE and pattern("asks to note").match(said) is not None:
            return True
        if any(pattern(one).fullmatch(said.rstrip(" ?")) for one in ("supplies", "doorstep")):
            return True
        swaps = "instead" in said.split() and asked.kind in _OF_THE_HOUSE
        if self._known and swaps:  # "could the kids have a pizza instead?"
            return any(piece.dishes for piece in cut(words, self._house.names))
        if asked.kind == "service" and said.startswith(_BRINGS):
            return any(piece.dishes for piece in cut(words, self._house.names))
        if self._known and pattern("can it be").match(said) is not None:
            return any(piece.changes or piece.sizes for piece in cut(words, self._house.names))
        if (self._known or self._left) and pattern("requests").match(said) is not None:
            return True
        wishes = (pattern("pays otherwise"), pattern("uses code"))
        if asked.kind in _OF_THE_HOUSE and pattern("orders").match(said) is not None:
            return any(piece.dishes for piece in cut(words, self._house.names))
        money = asked.kind in ("payment", "facts")
        return money and any(wish.search(said) is not None for wish in wishes)

    def _with_address(self, asked: Asked, words: Words) -> Asked:
        """Note the address of "could you deliver to 12 High Street?"."""
        address = self._house.statements.address(words)
        if address is None:
            return asked
        fields = {"kind": "delivery", "address": address}
        known = address == self._order.address or " " not in address
        if known or not self._house.statements.delivers_to(address):
            pass
        elif words.said.startswith(("could you ", "would you ")):
            self._heard.wish(words, "set_fulfilment", **fields)
        elif words.said.startswith(("can ", "will ", "could ", "would ")):
            draft = Draft("set_fulfilment", fields)
            self._heard.asked(Question("missing", {"needs": "note_address"}, draft))
        return replace(asked, words=address)

    # -- the result ----------------------------------------------------------------------------------------

    def understanding(self, text: str, pending: Question | None) -> Understanding:
        """Decide what was ordered, and put everything that was wanted in the order it was said."""
        if self._orders_anew():
            self._heard.instead("cancel_order", "cancel", "start over")
            self._cleared = True
        decided = self._decided()
        settled = self._pending.close(self._heard, decided) if self._pending is not None else False
        drafts = [*self._heard.drafts]
        questions = [*self._heard.questions, *decided.questions]
        hung, unmet = self._hung(not questions)
        questions.extend(hung)
        if not self._heard.has("cancel_order"):
            drafts.extend(self._placed(decided))
        if self._cleared:
            drafts[:0] = [
                (-1, Draft("remove_item", {"line_id": line.id})) for line in self._order.items
            ]
        drafts.sort(key=lambda pair: pair[0])
        drafts = [(at, self._with_change(draft)) for at, draft in drafts]
        questions = [
            replace(one, draft=self._with_change(one.draft)) if one.draft else one
            for one in questions
        ]
        commands = [draft for _, draft in drafts]
        for line in self._order.items:
            if what := self._changes.pop(line.name, ""):
                fields = {"line_id": line.id, "modifications": [*line.modifications, what]}
                commands.append(Draft("change_item", fields))
        if any(one.code == "ambiguous" for one in questions):  # "we need drinks, what do you have?"
            self._answers = [one for one in self._answers if one != Asked("menu")]
        for question in questions:
            if question.code == "over_limit":
                reason = f"The guest wants {question.facts.get('asked')} of {question.facts.get('name')}."
                commands.append(Draft("call_person", {"reason": reason}))
        return Understanding(
            text,
            tuple(commands),
            tuple(self._answers),
            tuple(self._heard.intents),
            _chained(questions),
            settled,
            (*self._unheard, *decided.not_understood),
            already=not commands and not questions and self._is_already(decided),
            unmet=(*unmet, *(f'"{what}"' for what in self._changes.values())),
            age=self._heard.age,
        )

    def _is_already(self, decided: Decided) -> bool:
        """Whether an order is as a line asks for: "the pepperoni with the thin crust", which it has."""
        if decided.reading is None or decided.passed or decided.not_understood or self._unheard:
            return False
        fits = decided.cost - decided.reading.cost < _FITS
        told = (one.become or one for one in decided.said)
        return fits and bool(self._known) and any(one.options or one.size for one in told)

    def _orders_anew(self) -> bool:
        """Whether something of the menu is said behind a cancellation: "cancel it all. A cola, please"."""
        cancelled = [at for at, draft in self._heard.drafts if draft.op == "cancel_order"]
        names = self._house.names
        return bool(cancelled) and any(
            token.start > cancelled[-1] and names.longest(self._left, at) is not None
            for at, token in enumerate(self._left)
        )

    def _decided(self) -> Decided:
        """Decide on everything that was left of the line when all else was taken out of it."""
        said = any(not token.stop for token in self._left)
        still = self._tell_in_turn()
        if self._pending is not None:
            if "done" in self._heard.intents:
                self._pending.ends()
            self._pending.before(said)
        waiting = self._pending.items if self._pending is not None else []
        taken = self._pending is not None and self._pending.settled
        if not said and not taken:
            return Decided()
        known = [] if self._cleared else self._known
        which = self._pending.which if self._pending is not None else None
        decided, self.weighed = self._house.deciding.decide(
            self._left,
            known,
            waiting,
            topic=self._topic,
            topic_size=self._topic_size,
            which=which,
            taken=taken,
            before=self._before,
            reviewed=self._order.reviewed,
            sold_out=self._order.sold_out,
        )
        return decided if still is None else replace(decided, questions=[*decided.questions, still])

    def _tell_in_turn(self) -> Question | None:
        """Take what is said of the first of several combos for that one; returns what the others wait for."""
        pending, house = self._pending, self._house
        item = pending.items[0] if pending is not None and pending.items else None
        waiting: tuple[str, int] | None = None
        if item is not None and item.name and item.quantity:
            parts = [(one.name, *filter(None, (one.size, *one.changes))) for one in item.parts]
            described = item.size or item.changes or item.splits or item.parts
            bare = house.kitchen.dish(item.name) is not None and not described
            if bare or house.kitchen.only_fixed(item.name, parts):
                waiting = item.name, item.quantity
        self._left, told = in_turn(self._left, house.names, house.kitchen, waiting)
        if pending is None or item is None or not told:
            return None
        return pending.taken_out(told)

    def _placed(self, decided: Decided) -> Iterator[tuple[int, Draft]]:
        """Give each command the place in the line that it was said at."""
        for at, draft in decided.drafts:
            inside = 0 <= at < len(self._left)
            yield (self._left[at].start if inside else 0), draft


_LONGEST_NAME = 5
_LEAST_BEFORE_ONE, _MOST_BEFORE_ONE = 4, 8
"""Words between "make" and the "one" of "make the iced latte a large one"."""
_A_REMARK = 3
"""From how many words on something is a remark, and not only what joins a name to a way."""
_NO_FOOD = frozenset({"fulfilment", "time", "address", "name", "choice", "amount", "rating"})
"""Questions after which a number alone is not about food."""
_JSON_KEY = re.compile(r'["\u201c\u201d]\w+["\u201c\u201d]\s*:')
_OF_THE_HOUSE = frozenset({"facts", "allergens", "diets", "service"})
_OF_A_DISH = frozenset({"contents", "price"})
_CONDITIONS = frozenset({"contents", "allergens", "diets", "price"})
_ASKS_YOU = ("can you", "could you", "will you", "would you")
_PAUSE = Token(".", ".", 0, 0, stop=True)
_BRINGS = (
    "can you deliver",
    "could you deliver",
    "can you bring",
    "could you bring",
    "can you send",
)
_BRINGS_IT = re.compile(
    r"(can|could|will|would) you (please )?(bring|deliver|send) (it|this|that|them|everything|the order)(?!\S)"
)


def _is_english(word: str) -> bool:
    return vocabulary.is_common(word) or word in small_words()


def _only_asks(words: Words) -> bool:
    """Whether a clause is a question, even if nobody knows which: nothing is ordered by it."""
    tokens = [token for token in words.tokens if not token.stop]
    while tokens and tokens[0].word in words_of("soft words"):
        tokens.pop(0)
    if not tokens or (len(tokens) > 1 and tokens[1].word == "about"):
        return False
    told = tokens[0].word == "when" and len(tokens) > 1 and tokens[1].word in ("i", "we", "you")
    wonders = pattern("asks would know").match(" ".join(token.word for token in tokens)) is not None
    return wonders or (tokens[0].word in words_of("asking") and not told)


def _content(words: Words) -> bool:
    return any(not token.stop for token in words.tokens)


def _chained(questions: Sequence[Question]) -> Question | None:
    if not questions:
        return None
    unique: dict[tuple[str, str, str], Question] = {}
    for one in questions:
        key = (one.code, str(one.facts), str(one.draft))
        again = unique.get(key)
        unique[key] = _of_both(again, one) if again is not None else one
    first, *rest = unique.values()
    return replace(first, rest=tuple(rest))


def _of_both(one: Question, other: Question) -> Question:
    """Ask once about two things that are the same: "a doner for me and a doner for my wife"."""
    first, second = one.draft, other.draft
    if one.code != "choice_missing" or first is None or second is None or first.op != "add_item":
        return one
    many = [draft.fields.get("quantity") for draft in (first, second)]
    if not all(isinstance(number, int) for number in many):
        return one
    fields = {**first.fields, "quantity": sum(int(number or 0) for number in many)}
    return replace(one, draft=replace(first, fields=fields))
