"""Decides what a line orders: the readings of it, carried out on the order, and the best of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.deciding.accounting import Accounting
from bella_vista.local.understanding.deciding.rivals import (
    DOUBT,
    DOUBT_OF_NEW,
    either,
    in_all,
    is_fuller,
    leaves_more,
    says_less,
)
from bella_vista.local.understanding.grammar.edges import Lattice
from bella_vista.local.understanding.grammar.grammar import BEAM
from bella_vista.local.understanding.grammar.search import Search
from bella_vista.local.understanding.grammar.states import Reading
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.lattice.lattice import lattice
from bella_vista.local.understanding.meaning import Draft, Question, not_left_off
from bella_vista.local.understanding.menu.index import Entity, Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.messages.asides import talked
from bella_vista.local.understanding.messages.persons import another_is_named, point_by_person
from bella_vista.local.understanding.order.announcing import without_kinds
from bella_vista.local.understanding.order.carrying import carry
from bella_vista.local.understanding.order.combos import with_told_parts
from bella_vista.local.understanding.order.outcome import Outcome, Situation, Which
from bella_vista.local.understanding.order.parts import on_order
from bella_vista.local.understanding.order.pointing import point
from bella_vista.local.understanding.order.settling import Settling
from bella_vista.local.understanding.readings.reading import Passed, items
from bella_vista.local.understanding.readings.said import Said
from bella_vista.local.understanding.words.phrases import ordinals, small_words
from bella_vista.local.understanding.words.tokens import Token, number_at
from state.errors import Ambiguous, NotOnMenu
from state.menu import Menu
from state.menu.english import EMPTY
from state.menu.families import families_of
from state.menu.words import stems

READINGS, GAIN = 8, 1.2
"""So many readings are carried out, as long as one more can be the best: so much it may gain there."""
SIZE_OF_TOPIC = 1.5
"""The cost of taking a size of the dish under discussion for another dish."""
OF_ANOTHER = 1.5
"""The cost of taking a dish that a combo waits for for a choice of another dish."""
LOST = 1.0
"""The cost of a reading of which something came to nothing."""
_LONG = 100
"""A line of so many words is no order of one guest: fewer readings of it are kept."""
_SHORTEST = 3
"""Letters of the beginning of a name that is said for the whole."""
_LONGEST = 80
"""Characters of what may be a dish; no dish has a longer name."""
_BETWEEN = frozenset(("comma", "stop", "filler"))
"""Words that may stand between words and their correction."""
_MEANS = frozenset(("head", "option", "ref", "part", "pass"))
"""Classes of words that do something."""
_MEANS_NOTHING = frozenset(("begin", "one", "the", "pass", "head"))
"""Classes of words before corrected words that take nothing else with them."""
_ANOTHERS = 1.5
"""The cost of changing what belongs to somebody else than the person who is named."""
_ASKING = {
    "choice_not_possible": 0.8,
    "not_on_menu": 1.0,
    "ambiguous": 0.4,
    "choice_refused": 0.8,
    "not_found": 0.5,
    "over_limit": 0.5,
    "sold_out": 0.2,
    "choice_missing": 0.3,
    "which_line": 0.3,
}


@dataclass(slots=True, eq=False)
class Decided:
    """The orders and changes of a line.

    Args:
        drafts: The commands, each with the place it was said at.
        questions: What has to be asked.
        not_understood: The guest's words that are in no command and no question.
        settled: Whether what waited for an answer got one.
        items: The things that are new.
        cost: What the reading cost, with how it fits the order.
        said: The reading, item by item.
        reading: The reading as the search found it.
        passed: The words that it passes over.
        lost: The guest's words that are in the reading and came to nothing.
        alike: What other readings decide that make the same order.
    """

    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)
    settled: bool = False
    items: list[Item] = field(default_factory=list)
    cost: float = 0.0
    said: list[Said] = field(default_factory=list)
    reading: Reading | None = None
    passed: list[Passed] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    alike: list["Decided"] = field(default_factory=list)

    @property
    def order(self) -> Any:
        """The key that tells this outcome from others."""
        drafts: dict[str, int] = {}
        for _, draft in self.drafts:
            fields = dict(draft.fields)
            number = fields.pop("quantity", 1) if draft.op == "add_item" else 1
            told = repr((draft.op, sorted(fields.items(), key=str)))
            drafts[told] = drafts.get(told, 0) + number  # two and one of the same are three
        return tuple(sorted(drafts.items())), tuple(
            (q.code, str(q.facts.get("words"))) for q in self.questions
        )


class Deciding:
    """Understands what guests of one house order.

    Args:
        menu: The menu.
        kitchen: What it makes of things.
    """

    def __init__(self, menu: Menu, kitchen: Kitchen) -> None:
        self._menu = menu
        self.index = Index(menu)
        self._kitchen = kitchen
        self._search = Search(self.index)
        self._settling = Settling(menu, kitchen)
        self._accounting = Accounting(self.index, kitchen)

    def decide(
        self,
        tokens: Sequence[Token],
        known: Sequence[Item] = (),
        waiting: Sequence[Item] = (),
        *,
        topic: str | None = None,
        topic_size: str | None = None,
        which: Which | None = None,
        taken: bool = False,
        before: Sequence[Item] | None = None,
        reviewed: bool = False,
        sold_out: Sequence[str] = (),
        beam: int | None = None,
    ) -> tuple[Decided, list[Decided]]:
        """Return what a line means, and all readings that were weighed, the best first.

        Args:
            tokens: The line, without what was taken out of it.
            known: The lines of the order.
            waiting: What waits for an answer.
            topic: A dish that was spoken of before.
            topic_size: The size that was asked about.
            which: What waits until it is known with which line.
            taken: Whether what waits has got its answer already.
            before: The lines before what was changed last, where that is known.
            reviewed: Whether the order has been read back and waits for a yes.
            sold_out: What of the order is sold out now.
            beam: How many readings are kept at each word.
        """
        numbered, tokens = _by_number(_in_turn(tokens))
        offered = {**self._on_order(known, tokens), **self._offered(waiting)}
        words = lattice(tokens, self.index, offered)
        point(words, known, self.index, self._kitchen)
        point_by_person(words, known, self.index)
        if topic is not None:
            _prefer_sizes(words, self.index.bit(topic))
        for item in waiting:
            self._prefer_parts(words, item)
        there = bool(known or waiting or topic)
        fewer = 1 if len(tokens) < _LONG else 2
        if beam is None:
            beam = BEAM // fewer
        found = self._search.readings(
            words, known=there, chosen=self._chosen(words, known), most=READINGS // fewer, beam=beam
        )
        situation = Situation(topic, which, before, reviewed, sold_out, topic_size)
        weighed: list[Decided] = []
        first: dict[Any, Decided] = {}
        for reading in found:
            if weighed and reading.cost - GAIN > min(one.cost for one in weighed):
                break
            decided = self._weigh(reading, words, known, waiting, situation, taken)
            if first.setdefault(decided.order, decided) is decided:
                weighed.append(decided)
            else:
                first[decided.order].alike.append(decided)
        if not weighed:
            return Decided(), []
        best = self._best(weighed, known, waiting, words)
        weighed.sort(key=lambda one: one.cost)
        best = self._fuller(best, weighed, known, waiting, words)
        self._account(best, words, known)
        if not (waiting or best.questions):
            self._doubt(best, weighed, known, words)
        if known and not (waiting or best.questions):
            self._doubt_of_more(best, known, words)
        best.questions.extend(numbered)
        best.questions = [self._with_listing(one, best) for one in best.questions]
        for question in [one for one in best.questions if one.facts.get("listed")]:
            _asks_before_taking(best, question)
        return best, weighed

    def _with_listing(self, question: Question, decided: Decided) -> Question:
        """Add to what cannot be left off whether the menu lists it for the dish, if only one was named."""
        words = str(question.facts.get("words"))
        if question.code != "not_on_menu" or not families_of(words):
            return question
        drafts = [draft for _, draft in decided.drafts]
        drafts += [one.draft for one in decided.questions if one.draft is not None]
        names = {str(one.fields["name"]) for one in drafts if one.fields.get("name")}
        if len(names) > 1:  # "a lasagna without egg, and a cola"
            names = {name for name in names if self._kitchen.families_met(name, words)}
        if len(names) != 1:
            return question
        name = names.pop()
        listed = self._kitchen.families_met(name, words)
        facts = {"name": name, "listed": list(listed)} if listed else {"unlisted": name}
        return replace(question, facts={**question.facts, **facts})

    def _best(
        self,
        weighed: list[Decided],
        known: Sequence[Item],
        waiting: Sequence[Item],
        words: Lattice,
    ) -> Decided:
        """Return the cheapest reading once it has paid for what it lost."""
        accounted: list[Decided] = []
        while True:
            best = min(
                weighed, key=lambda one: (round(one.cost, 3), 0 if known else len(one.questions))
            )
            if best in accounted or best.reading is None:
                return best
            best.lost = self._lost(best, known, waiting, words)
            for other in best.alike if best.lost else ():
                inside = other.cost < best.cost and any(one.within for one in other.said)
                if inside and not self._lost(other, known, waiting, words):
                    weighed[weighed.index(best)] = best = other  # "swap the fries in the meal"
                    break
            best.cost += LOST * len(best.lost)
            accounted.append(best)

    def _fuller(
        self,
        best: Decided,
        weighed: Sequence[Decided],
        known: Sequence[Item],
        waiting: Sequence[Item],
        words: Lattice,
    ) -> Decided:
        """Return a reading that is nearly as cheap, and makes more of the words: "a cup of soup"."""
        for other in weighed:
            if other.cost > best.cost + DOUBT_OF_NEW or other is best:
                continue
            if other.questions or other.reading is None or best.reading is None:
                continue
            if is_fuller(other.reading, best.reading):
                if not self._lost(other, known, waiting, words):
                    return other
        return best

    def _lost(
        self, decided: Decided, known: Sequence[Item], waiting: Sequence[Item], words: Lattice
    ) -> list[str]:
        if decided.reading is None:
            return []
        said = without_kinds(items(decided.reading)[0], self.index, self._kitchen, named=True)
        said = [*with_told_parts(said, self.index, self._kitchen)]
        drafts = [draft for _, draft in decided.drafts]
        steps = decided.reading.steps
        return self._accounting.lost(
            said, drafts, decided.questions, known, waiting, words.tokens, steps
        )

    def _doubt(
        self, best: Decided, weighed: Sequence[Decided], known: Sequence[Item], words: Lattice
    ) -> None:
        """Ask which is meant where another reading makes another order at nearly the same cost."""
        meant = [draft for _, draft in best.drafts]
        for other in weighed:
            if other.cost > best.cost + (DOUBT if known else DOUBT_OF_NEW):
                return
            if other is best or other.questions or other.reading is None or best.reading is None:
                continue
            rival = [draft for _, draft in other.drafts]
            if leaves_more(other.reading, best.reading) or says_less(rival, meant):
                continue
            question = either(meant, rival, known, self._accounting.held)
            if question is not None and not self._lost(other, known, (), words):
                best.questions.append(question)
                best.drafts = [(at, draft) for at, draft in best.drafts if draft in rival]
                return

    def _doubt_of_more(self, best: Decided, known: Sequence[Item], words: Lattice) -> None:
        """Ask whether what is there and is named again is to come to it, or is all there is to be."""
        if best.reading is None:
            return
        meant = [draft for _, draft in best.drafts]
        said, _ = items(best.reading)
        if any(one.partial for one in said) or any(one.recounts for one in best.said):
            return
        restates = any(one.word in words_of("sums up") for one in words.tokens[:1])
        rival = in_all(meant, said, known, self.index, restates=restates)
        question = either(meant, rival, known, self._accounting.held, together=True)
        if question is not None:
            best.questions.append(question)
            best.drafts = [(at, draft) for at, draft in best.drafts if draft in rival]

    def _chosen(self, words: Lattice, known: Sequence[Item]) -> dict[int, int]:
        """Return for which dishes on the order each option of a lattice was chosen: it can be left off."""
        chosen: dict[int, int] = {}
        options = {
            e.entity.number: e.entity for here in words.edges for e in here if e.does == "option"
        }
        for item in known:
            on = [one for one in item.changes if not one.startswith("no ")]
            had = {*item.changes, *(self._kitchen.choice(item.name, one) for one in on)}
            for number, option in options.items() if had else ():
                made = self._kitchen.made(item.name, option.words)
                if made and set(made) <= had:  # of "2 sugars", too
                    chosen[number] = chosen.get(number, 0) | self.index.bit(item.name or "")
        return chosen

    def _on_order(self, known: Sequence[Item], tokens: Sequence[Token]) -> dict[str, Entity]:
        """Return the words of what is on the order that name nothing else as a whole: "the cookie".

        What begins one of these words means it as well: "the cap", of a cappuccino.
        """
        begun = {
            token.stem
            for before, token in pairwise(tokens)
            if before.word in words_of("points")
            and len(token.stem) >= _SHORTEST
            and not (token.stop or self.index.knows(token.stem) or token.word in small_words())
        }
        named: dict[str, Entity] = {}
        for item in known:
            for word in stems(item.name or ""):
                other = any(
                    one.whole or one.entity.kind != "option" for _, one in self.index.at((word,), 0)
                )
                whole = [] if word in EMPTY or word.isdigit() or other else [word]
                for one in (*whole, *(short for short in begun if word.startswith(short))):
                    entity = named.setdefault(one, Entity("head", word, number=-2))
                    entity.mask |= self.index.bit(item.name or "")
        return named

    def _offered(self, waiting: Sequence[Item]) -> dict[str, Entity]:
        """Return the words of dishes that were offered: each means one of them now."""
        offered: dict[str, Entity] = {}
        for item in waiting:
            several = len(item.names) > 1
            things = [
                (name, [stems(said) for said in (name, *(thing.aliases if thing else ()))])
                for name in (item.names if several else self._open(item))
                for thing in [self._kitchen.dish(name) or self._kitchen.combo(name)]
            ]
            whole = {said[0] for _, called in things for said in called if len(said) == 1}
            for name, called in things:
                for said in called:
                    for word in said:
                        if word not in EMPTY and (several or word not in whole):
                            entity = offered.setdefault(word, Entity("head", word, number=-2))
                            entity.mask |= self.index.bit(name)
        return {
            word: one if one.mask & (one.mask - 1) else self.index.entity(one.mask.bit_length())
            for word, one in offered.items()
        }

    def _open(self, item: Item) -> Sequence[str]:
        """Return the dishes of which a combo that waits is to have some."""
        combo = self._kitchen.combo(item.name)
        taken = [part.name or "" for part in item.parts]
        still = self._kitchen.open_part(combo, taken) if combo is not None else None
        return [*taken, *(still[1] if still is not None else ())]

    def _prefer_parts(self, words: Lattice, item: Item) -> None:
        """Let a dish that a combo still waits for be no choice of another: "fried and mashed potatoes"."""
        combo = self._kitchen.combo(item.name)
        taken = [part.name or "" for part in item.parts]
        dishes = {name for part in combo.parts for name in part.dishes} if combo is not None else ()
        room = [one for one in dishes if combo and self._kitchen.room_for(combo, taken, one)]
        open_ones = sum(self.index.bit(name) for name in room)
        able = sum(self.index.bit(name) for name in {*room, *taken})
        for here in words.edges if room else ():
            parts = {one.end for one in here if one.does == "dish" and one.entity.mask & open_ones}
            for edge in here:
                if edge.does == "option" and edge.end in parts and not edge.entity.mask & able:
                    edge.cost += OF_ANOTHER

    def _weigh(
        self,
        reading: Reading,
        words: Lattice,
        known: Sequence[Item],
        waiting: Sequence[Item],
        situation: Situation,
        taken: bool,
    ) -> Decided:
        said, passed = items(reading)
        said = without_kinds(said, self.index, self._kitchen)
        said = [*with_told_parts(said, self.index, self._kitchen)]
        lines = [_copied(item) for item in known]
        open_ones = [_copied(item) for item in waiting]
        for at, line in enumerate(lines):
            for one in open_ones:
                if one.line is not None and line.line is not None and one.line.id == line.line.id:
                    lines[at] = one
        told = [token.word for token in words.tokens]
        order = Outcome(self.index, self._kitchen, lines, open_ones, told, situation)
        outcome = carry(order, said, talked(words, passed))
        decided = self._settled(outcome, lines, open_ones, taken)
        decided.said, decided.reading = said, reading
        decided.cost = reading.cost + outcome.penalty
        decided.cost += _ANOTHERS * sum(
            another_is_named(words, known, item) for item in outcome.touched
        )
        for question in decided.questions:
            decided.cost += _ASKING.get(question.code, 0.0)
        decided.passed = passed
        return decided

    def _settled(
        self, outcome: Outcome, lines: Sequence[Item], waiting: Sequence[Item], taken: bool
    ) -> Decided:
        touched = any(item in waiting for item in (*outcome.settled, *outcome.touched))
        decided = Decided(settled=taken or touched or bool(outcome.settled))
        new = list(outcome.items)
        if taken or touched:
            self._part(outcome, lines, waiting)
            new[:0] = [item for item in waiting if item.line is None]
            outcome.touched.extend(
                item for item in waiting if item.line is not None and item not in outcome.touched
            )
        for item in new:
            made, asked = self._settling.settle(item)
            if asked and item.source is not None and item.source is not item:
                asked = [self._undone(item, item.source, one) for one in asked]
            decided.drafts.extend((item.spoken, draft) for draft in made)
            decided.questions.extend(asked)
        changed: list[tuple[int, Draft]] = []
        for item in outcome.touched:
            made, asked = self._changed(item)
            changed.extend((item.spoken, draft) for draft in made)
            decided.questions.extend(asked)
        decided.drafts[:0] = changed
        decided.drafts.sort(key=lambda pair: pair[0])
        decided.questions.extend(outcome.questions)
        decided.items = new
        return decided

    def _part(self, outcome: Outcome, lines: Sequence[Item], waiting: Sequence[Item]) -> None:
        """Take the pieces that were to be different, and are now known how, off their line."""
        for item in waiting:
            line = item.source.line if item.source is not None else None
            for one in lines if line is not None else ():
                if line is not None and one.line is not None and one.line.id == line.id:
                    one.quantity = (one.quantity or 1) - (item.quantity or 1)
                    outcome.touched.insert(0, one)
                    item.source = one

    def _undone(self, item: Item, source: Item, question: Question) -> Question:
        """Leave a line as it is while some pieces of it cannot be made different yet."""
        pieces = item.quantity or 1
        source.quantity = (source.quantity or 0) + pieces
        line = {"source": source.line.id, "pieces": pieces} if source.line else {}
        return replace(question, facts={**question.facts, **line})

    def _changed(self, item: Item) -> tuple[list[Draft], list[Question]]:
        """Return the commands that make a line of the order what it is to be."""
        line = item.line
        if line is None:
            return [], []
        total = line.quantity
        left = (item.quantity or 1) - item.gone
        if left <= 0:
            return [Draft("remove_item", {"line_id": line.id})], []
        as_it_was = item.names == (line.name,) and item.size == line.size and not item.notes
        if item.gone and as_it_was and item.changes == list(line.modifications):
            return [Draft("remove_item", {"line_id": line.id, "quantity": total - left})], []
        item.quantity, item.gone = left, 0
        drafts, questions = self._settling.settle(item)
        if questions:
            return [], questions
        given = dict(drafts[0].fields) if drafts else {}
        changed: dict[str, Any] = {"line_id": line.id}
        if given.get("name") != line.name:
            changed["name"] = given.get("name")
        if item.size is not None and given.get("size") != line.size:
            changed["size"] = given.get("size")
        if given.get("quantity") != line.quantity:
            changed["quantity"] = given.get("quantity")
        kept = [one for one in line.modifications if self._kitchen.fits(item.name, one)]
        had = self._kitchen.canonical(item.name or "", item.size, kept)
        if tuple(given.get("modifications", ())) != tuple(had):
            changed["modifications"] = list(given.get("modifications", ()))
        parts = given.get("parts")
        before = self._settling.settle(on_order(line, self._kitchen))[0]
        if parts and not (before and before[0].fields.get("parts") == parts):
            changed["parts"] = parts
        if given.get("note"):
            changed["note"] = given["note"]
        return ([Draft("change_item", changed)] if len(changed) > 1 else []), []

    # -- accounting for every word ---------------------------------------------------------------------------

    def _account(self, decided: Decided, words: Lattice, known: Sequence[Item]) -> None:
        """Ask about words that were passed over, or say that they were not understood."""
        gone = _gone(decided, known)
        for told in (*decided.lost, *_of_others(decided, words)):
            decided.questions.append(Question("unclear", {"words": told}))
        named = _named(decided.reading) if decided.reading is not None else set()
        steps = decided.reading.steps if decided.reading is not None else ()
        partly = {step.first for step in steps if step.edge.does == "dish" and not step.edge.whole}
        for one in decided.said[1:]:
            if one.denied and not (one.correct or partly.isdisjoint(one.named)):
                decided.questions.append(not_left_off(one.words))  # "a coke, no lemon", of the soda
        groups = {step.first: step.edge.end - 1 for step in steps if step.edge.does == "group"}
        for run in _runs(decided.passed):
            first, last = run[0].place, run[-1].place
            while last > first and words.passed[last].kind == "filler":
                last -= 1  # "no nuts please"
            last = groups.get(last + 1, last)  # "green sauce", of sauces that there are
            told = " ".join(words.tokens[at].word for at in range(first, last + 1))
            if _declined(words, first, last) or _is_corrected(decided, last):
                continue
            kinds = {one.kind for one in run}
            if gone and stems(told) and gone.issuperset(stems(told)):
                continue  # "a full rack then, forget the half"
            if len(told.strip(".,!?")) < 2:
                continue  # a letter is no dish: "Ivy with an e"
            if not kinds & {"name", "part", "number", "no", "word", "food"}:
                if self._stands_alone(words, first, last) and not _is_talk(words, first, last):
                    decided.not_understood.append(told)  # "a hot dog and a cola"
                continue
            beside = first - 1 in named or last + 1 in named
            if (
                first
                and words.passed[first - 1].kind == "no"
                and kinds & {"word", "food", "part", "name"}
            ):
                if words.tokens[first - 1].word == "never":  # "a latte and a coke, never mind"
                    decided.questions.append(Question("unclear", {"words": f"never {told}"}))
                else:
                    decided.questions.append(not_left_off(told))
                continue
            variant = any(
                words.tokens[at].word in vocabulary.VARIANTS for at in range(first, last + 1)
            )
            if "number" in kinds:
                decided.questions.append(Question("unclear", {"words": told}))
            elif kinds <= {"word", "common"} and beside and not variant:
                decided.not_understood.append(told)
            elif (
                kinds & {"food", "name", "part"}
                or variant
                or self._stands_alone(words, first, last)
            ):
                count, length = number_at(words.tokens[: last + 1], first) or (1, 0)
                told = " ".join(told.split()[length:]) or told  # "two blorgs"
                near = list(self._near(told))
                draft = Draft("add_item", {"words": told, "quantity": count})
                decided.questions.append(
                    Question("not_on_menu", {"words": told, "near": near}, draft)
                )
            else:
                decided.not_understood.append(told)

    def _stands_alone(self, words: Lattice, first: int, last: int) -> bool:
        """Whether words stand where a dish is named: "a frappuccino"."""
        if first == 0 or last - first > 1:
            return False
        ends = last + 1 == len(words.tokens) or words.passed[last + 1].kind in (
            "stop",
            "small",
            "filler",
        )
        does = {edge.does for edge in words.edges[first - 1]}
        return ends and bool(does & {"a", "number"} or ("add" in does and "filler" not in does))

    def _near(self, words: str) -> tuple[str, ...]:
        """Name the few dishes that come closest to some words."""
        near: tuple[str, ...] = ()
        try:
            near = (self._menu.item(words[:_LONGEST]).name,)
        except (NotOnMenu, Ambiguous) as error:
            found = error.facts.get("near") or error.facts.get("possible")
            near = tuple(str(one) for one in found[:3]) if isinstance(found, list) else ()
        said = set(stems(words))
        if any(vocabulary.is_food(one) for one in said):  # chips are no slip of the pen for a chai
            near = tuple(one for one in near if said & set(stems(one)))
        return near


def _asks_before_taking(decided: Decided, denied: Question) -> None:
    """Let a dish wait for a yes that holds what was to be left off and cannot be: "carbonara without egg"."""
    own = {*str(denied.facts["words"]).split()} - {*denied.facts["listed"]}
    asked = [one.draft for one in decided.questions if one.draft and one.code == "choice_missing"]
    adds = [
        one
        for one in (*(draft for _, draft in decided.drafts), *asked)
        if one.op == "add_item"
        and one.fields.get("name") == denied.facts["name"]
        and not {*one.fields.get("note", "").split()} & own  # of that the kitchen hears
    ]
    if len(adds) == 1:
        waiting = Question("choice_not_possible", {**denied.facts, "possible": []}, adds[0])
        decided.drafts = [one for one in decided.drafts if one[1] is not adds[0]]
        kept = [one for one in decided.questions if one.draft is not adds[0]]
        decided.questions = [waiting if one is denied else one for one in kept]


def _declined(words: Lattice, first: int, last: int) -> bool:
    """Whether a sentence begins with a "no" to a food that is not on the menu: "ok, no chips then"."""
    if not first or words.tokens[first - 1].word != "no":
        return False
    if not all(vocabulary.is_food(words.tokens[at].word) for at in range(first, last + 1)):
        return False
    before = [*words.tokens[: first - 1]]
    while before and (before[-1].word == "," or before[-1].word in small_words()):
        before.pop()
    return not before or before[-1].stop


def _gone(decided: Decided, known: Sequence[Item]) -> set[str]:
    """Return the words for what changed lines were and no longer are."""
    lines = {item.line.id: item.line for item in known if item.line is not None}
    gone: set[str] = set()
    for _, draft in decided.drafts:
        line = lines.get(str(draft.fields.get("line_id"))) if draft.op == "change_item" else None
        if line is None or "name" in draft.fields:
            continue
        changes = draft.fields.get("modifications", line.modifications)
        now = [str(draft.fields.get("size", line.size or "")), *changes]
        before = {stem for one in (line.size or "", *line.modifications) for stem in stems(one)}
        gone |= before - {stem for one in now for stem in stems(one)}
    return gone


def _is_corrected(decided: Decided, last: int) -> bool:
    """Whether a dish takes the place of words that are not on the menu: "a pho, sorry, a ramen"."""
    steps = decided.reading.steps if decided.reading is not None else ()
    after = next((one for one in steps if one.first > last and one.edge.does not in _BETWEEN), None)
    if after is None or after.edge.does != "correct":
        return False
    acts = decided.reading.acts if decided.reading is not None else ()
    told = [one for one in acts if one.first > after.first and one.does in _MEANS]
    before = [one for one in acts if one.first < last]
    begun = max((at for at, one in enumerate(before) if one.does == "begin"), default=0)
    heads = [one.edge.entity.mask for one in before if one.does == "head"]
    named = told[0].edge.entity.mask if told and told[0].does == "head" else 0
    if not named or any(named & mask for mask in heads):
        return False
    return all(one.does in _MEANS_NOTHING for one in before[begun:])


def _is_talk(words: Lattice, first: int, last: int) -> bool:
    """Whether some words are what people say beside an order: "a minute", "a friend"."""
    return all(words.tokens[at].word in small_words() for at in range(first, last + 1))


def _by_number(tokens: Sequence[Token]) -> tuple[list[Question], Sequence[Token]]:
    """Ask about a dish that was called by a number, with what was said of it: the number is not known."""
    for at, token in enumerate(tokens[:-1]):
        if token.stem != "number":
            continue
        single = replace(tokens[at + 1], word=tokens[at + 1].stem)  # "two number threes"
        number = number_at([single, *tokens[at + 2 :]], 0)
        if number is None:
            continue
        last = at + 1 + number[1]
        following = [one.word for one in tokens[last : last + 3]]
        if following[:1] == ["s"]:
            last, following = last + 1, following[1:]  # "two number 3s"
        if following[:1] == ["with"]:
            while last < len(tokens) and not tokens[last].stop and tokens[last].word != "and":
                last += 1
        elif following[1:3] == ["one", "with"]:
            last = len(tokens)  # "two number ones, one with a cola"
        elif following and not tokens[last].stop and following[0] not in words_of("after a number"):
            continue
        words = " ".join(one.word for one in tokens[at : at + 1 + number[1]])
        asked = Question("not_on_menu", {"words": words, "near": []})
        begins = at - 1 if at and number_at(tokens, at - 1) is not None else at
        return [asked], [*tokens[:begins], *tokens[last:]]
    return [], tokens


def _in_turn(tokens: Sequence[Token]) -> Sequence[Token]:
    """Let "two teas, the first hot, the second iced" be two teas, one hot, one iced."""
    said = [token.word for token in tokens]
    places = [at for at in range(1, len(said)) if said[at - 1] == "the" and said[at] in ordinals()]
    turns = [ordinals()[said[at]] for at in places]
    numbers = [number_at(tokens, at) for at in range(places[0] if places else 0)]
    counted = any(number is not None and number[0] >= len(turns) for number in numbers)
    if len(turns) < 2 or turns != list(range(1, len(turns) + 1)) or not counted:
        return tokens
    dealt: list[Token] = []
    for at, token in enumerate(tokens):
        if at + 1 in places or (at - 1 in places and token.word in ("one", "ones")):
            continue
        dealt.append(replace(token, word="one", stem="one") if at in places else token)
    return dealt


def _prefer_sizes(words: Lattice, bit: int) -> None:
    """Let a size of the dish that was spoken of be no other dish: "a root beer? Two bottles"."""
    for here in words.edges:
        sizes = {edge.end for edge in here if edge.does == "size" and edge.entity.mask & bit}
        for edge in here:
            if edge.does == "dish" and edge.end in sizes and not edge.entity.mask & bit:
                edge.cost += SIZE_OF_TOPIC


def _named(reading: Reading) -> set[int]:
    """Return the places whose words are in the reading as names."""
    places: set[int] = set()
    for act in reading.acts:
        if act.edge.entity.number:
            places.update(range(act.first, act.edge.end))
    return places


def _of_others(decided: Decided, words: Lattice) -> Iterator[str]:
    """Return numbers that came to a dish though they are of what follows: "with two spoons"."""
    passed = {one.place for one in decided.passed if one.kind in ("common", "word")}
    named = False
    for act in decided.reading.acts if decided.reading is not None else ():
        named = act.does == "head" or (named and act.does != "begin")
        if named and act.does == "count" and act.edge.end in passed:
            yield f"{act.edge.words} {words.tokens[act.edge.end].word}"


def _runs(passed: Sequence[Passed]) -> Iterator[list[Passed]]:
    run: list[Passed] = []
    for one in passed:
        if one.kind == "small":
            continue
        if run and one.place != run[-1].place + 1:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _copied(item: Item) -> Item:
    fresh = replace(
        item,
        changes=list(item.changes),
        unknown=list(item.unknown),
        parts=[replace(part, changes=list(part.changes)) for part in item.parts],
        splits=list(item.splits),
        notes=list(item.notes),
    )
    return fresh
