"""Accounts for what no single item of a reading tells: what was denied, what grew, what is too wide."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bella_vista.local.understanding.deciding.held import Held, Line, has_less, number_in
from bella_vista.local.understanding.grammar.states import Step
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.readings.reading import told_of
from bella_vista.local.understanding.readings.said import Option, Said
from bella_vista.local.understanding.words.tokens import Token
from state.menu.words import stems

_AGAIN = ("same", "again")
_ANY = 1_000
_WHOLE, _NAMED = ("all", "whole"), ("dish", "option", "one", "size", "other", "it")
_BEGINS_HEADING = ("with", "and", "a", "the", "comma", "stop")
_BESIDE = frozenset(("the", "filler", "aside", "on", "amount", "a", "for", "with"))


class WholeLine:
    """Names what is lost of a whole line.

    Args:
        index: The menu's names.
        held: What the lines of an order hold.
    """

    def __init__(self, index: Index, held: Held) -> None:
        self._index = index
        self._held = held

    def lost(
        self,
        steps: Sequence[Step],
        said: Sequence[Said],
        lines: Sequence[Line],
        tokens: Sequence[Token],
    ) -> Iterator[str]:
        """Name what is lost, where each item by itself came to something.

        Args:
            steps: The reading, word by word.
            said: The reading, item by item.
            lines: The order in the end.
            tokens: The words of the guest.
        """
        yield from self._denied(steps, said, lines, tokens)
        yield from self._not_as_told(steps, lines, tokens)
        yield from self._too_wide(said, lines, tokens)
        yield from self._headings(steps, said, tokens)
        yield from self._grown(steps, said, lines)
        yield from _split_alike(lines)

    def too_many(self, said: Sequence[Said], lines: Sequence[Line]) -> Iterator[str]:
        """Name each dish of which more came than was said."""
        if any(one.copies or one.ref in _AGAIN or (one.head is None and one.more) for one in said):
            return
        added: dict[str, int] = {}
        had: dict[str, int] = {}
        for line in lines:
            names = line.things[0].names if not line.waits else ()
            if len(names) == 1:
                before = line.before[0].names[0] if line.before else names[0]
                had[before] = had.get(before, 0) + line.had
                added[names[0]] = added.get(names[0], 0) + line.quantity - line.had
                if line.renamed:
                    added[before] = added.get(before, 0) - line.had
        for name, count in added.items():
            bit = self._index.bit(name)
            there = any(self._held.is_one(thing, bit) for line in lines for thing in line.before)
            told: list[int] = []
            for at, one in enumerate(said):
                after = said[at + 1] if at + 1 < len(said) else None
                if one.mask & bit and after is not None and after.verb == "instead-of":
                    told.append(one.number or 1)  # as many come for what is to go
                    continue
                if one.twice and one.mask & bit and one.count is None and not one.more:
                    told.append(had.get(name, 0))
                told.extend(_told(one, bit, there=there or bool(told), had=had.get(name, 0)))
                if one.correct and one.ref == "all" and one.count:
                    told.append(one.count)  # "two, no wait, three, all without onions"
                if at and one.ref == "other" and said[at - 1].mask & bit:
                    told.append(1)  # "one latte hot, the other iced"
                if at and one.partial and one.count and said[at - 1].number is None:
                    told.append(one.count)  # "tacos, three of them with guacamole"
            if told and count > sum(told):
                yield name

    def _denied(
        self,
        steps: Sequence[Step],
        said: Sequence[Said],
        lines: Sequence[Line],
        tokens: Sequence[Token],
    ) -> Iterator[str]:
        """Name what is said not to be so and still is: "swiss, not pepper jack"."""
        heads = 0
        for one in said:
            heads |= one.mask if one.head is not None else 0
            heads |= one.become.mask if one.become is not None and one.become.head else 0
        for at, step in enumerate(steps):
            if step.edge.does != "instead-of" or "not" not in step.edge.words.split():
                continue
            after = [one for one in steps[at + 1 : at + 6] if one.edge.does not in _BESIDE]
            if not after:
                continue
            denied = after[0]
            between = [one.edge.does for one in steps[at + 1 :] if one.first < denied.first]
            if denied.edge.does == "size" and len(after) > 1 and after[1].edge.does == "option":
                denied = after[1]
            does = denied.edge.does
            points = len(after) > 1 and after[1].edge.does in ("one", "number")
            if does == "option" and points:
                option = Option(denied.edge.entity)
                had = [
                    any(self._held.made_with(one, option) for one in line.before) for line in lines
                ]
                changed = [line.before != line.things for line in lines]
                if (True, False) in zip(had, changed, strict=True) and any(changed):
                    continue  # "not the chicken one, the paneer one should be hot"
            fresh = [line for line in lines if not (line.had or line.waits)]
            if does == "option" and fresh:
                option = Option(denied.edge.entity)
                if not any(
                    self._held.made_with(one, option) for line in fresh for one in line.things
                ):
                    continue  # "the same but hot, not mild"
            if does == "option" and "on" not in between:
                if not self._held.left_out(Option(denied.edge.entity), lines):
                    yield f"not {tokens[denied.first].word}"
            elif does == "number":
                number = denied.edge.value
                for line in lines:
                    about = not heads or self._held.named(line, heads, before=True)
                    same = line.before == line.things and line.quantity == line.had
                    size = line.things[0].size if line.things else None
                    if about and same and number in (line.had, number_in(size or "")):
                        yield f"not {tokens[denied.first].word}"
                        break
            elif does in _WHOLE or ("on" in between and does in _NAMED):
                if not any(has_less(line) for line in lines):
                    words = [token.word for token in tokens[step.first : denied.first + 1]]
                    yield " ".join(words)

    def _not_as_told(
        self, steps: Sequence[Step], lines: Sequence[Line], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Name what is to go and was put on instead, and what is to stay and was left off."""
        told = [step for step in steps if step.edge.does not in _BESIDE or _stays(step)]
        for at, step in enumerate(told):
            does, before, after = step.edge.does, told[at - 1 : at], told[at + 1 : at + 2]
            for one in after if does in ("remove", "keep") else before:
                if one.edge.does != "option" or one.edge.entity.words.startswith("no "):
                    continue
                if does == "keep" and any(later.edge.does == "off" for later in told[at + 2 :]):
                    continue  # "leave the basil off"
                if does == "remove" and any(
                    step.first < other.first < one.first and other.edge.does == "amount"
                    for other in steps
                ):
                    continue  # "never mind the extra corn": it may come anyway
                option = Option(one.edge.entity)
                off = Option(one.edge.entity, no=True)
                put = any(
                    earlier.edge.does == "option" and earlier.edge.entity is one.edge.entity
                    for earlier in told[:at]
                    if earlier is not one
                )  # "with extra cheese. Never mind the cheese": what comes anyway stays
                if does == "remove" or does == "off":
                    wrong = not any(
                        self._held.has(line, off, just_now=True) for line in lines
                    ) and any(
                        self._held.chosen_for(thing, option)
                        or (not put and self._held.has(line, option))
                        for line in lines
                        if line.quantity and line.things != line.before
                        for thing in line.things
                    )
                elif does in ("keep", "kept") or _stays(step):
                    wrong = any(
                        change.startswith("no ") and self._held.made_with(thing, off)
                        for line in lines
                        if line.things != line.before
                        for thing in line.things
                        for change in thing.changes
                    )
                else:
                    wrong = False
                if wrong:
                    yield tokens[one.first].word

    def _headings(
        self, steps: Sequence[Step], said: Sequence[Said], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Name each kind of choices that was asked for: "with a side of salsa", "rice for two"."""
        told = {place for one in said for place in (*one.told, *(one.become or one).told)}
        for before, step in pairwise((None, *steps)):
            if step is None or step.edge.does != "group" or step.first in told:
                continue
            if (before is None or before.edge.does in _BEGINS_HEADING) and not any(
                option.entity.mask & step.edge.entity.mask and option.place > step.first
                for one in said
                for option in (*one.options, *(one.become or one).options)
            ):
                yield tokens[step.first].word

    def _too_wide(
        self, said: Sequence[Said], lines: Sequence[Line], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Name what was said of one thing and came to be of more, and what was to come back and did not."""
        changed = [line for line in lines if line.had and line.things != line.before]
        for at, one in enumerate(said):
            alone = len(said) == 1 and one.ref == "other" and not one.head
            if alone and len(changed) > 1:
                yield told_of(one, said[at + 1 :], tokens)
            if at and one.correct and one.partial and one.count and one.options:
                having = [
                    line for line in lines if all(self._held.has(line, o) for o in one.options)
                ]
                if sum(line.quantity for line in having) > one.count:
                    yield told_of(one, said[at + 1 :], tokens)
            if one.back and one.head is not None:
                named = set(stems(one.words))
                without = (
                    change
                    for line in lines
                    for thing in line.things
                    for change in thing.changes
                    if change.startswith("no ")
                )
                if any(named & set(stems(change)) for change in without):
                    yield one.words

    def _grown(
        self, steps: Sequence[Step], said: Sequence[Said], lines: Sequence[Line]
    ) -> Iterator[str]:
        """Name each dish that was on the order and grew, though the guest speaks of those that are there."""
        does = [step.edge.does for step in steps]
        shares = {"other", "rest", "of-them", "ordinal"} & set(does) or does.count("one") > 1
        corrects = "correct" in does[1:]
        if not (shares or corrects):
            return
        if any(one.more or one.copies or one.ref in _AGAIN or one.verb == "add" for one in said):
            return
        told = {one.count for one in said} | {one.become.count for one in said if one.become}
        sums = sum(one.count or 0 for one in said if one.verb != "remove")
        seen: set[tuple[str, ...]] = set()
        for line in lines:
            if not line.before or line.before[0].names in seen:
                continue
            names = line.before[0].names
            seen.add(names)
            had = sum(one.had for one in lines if one.before and one.before[0].names == names)
            now = [one for one in lines if one.things and one.things[0].names == names]
            has = sum(one.quantity for one in now)
            more = [one for one in now if one.quantity > one.had]
            recounted = all(one.had and one.quantity in told for one in more)
            if has > had and has not in told and has != sums and not recounted:
                yield names[0]


def _stays(step: Step) -> bool:
    """Whether words say that something is right as it is."""
    return step.edge.does == "filler" and bool({"fine", "stays"} & set(step.edge.words.split()))


def _split_alike(lines: Sequence[Line]) -> Iterator[str]:
    """Name what some of a line became that is the same as the rest of it."""
    for line in lines:
        fresh = (one for one in lines if not one.had and not one.waits)
        if line.quantity < line.had and any(one.things == line.things for one in fresh):
            yield " ".join(line.things[0].names)


def _told(said: Said, bit: int, *, there: bool, had: int) -> Iterator[int]:
    """Say how many of a dish an item may bring: none, where it only speaks of those that are there."""
    if said.head is None and said.become is None and not (said.partial and said.described):
        # "Latte, two sugars", but "a gelato with lemon and one with vanilla".
        tallied = said.ref != "one" and any(one.entity.tallied & bit for one in said.options)
        pointing = said.definite or said.ref not in ("", "one")
        if there and said.definite and said.size is not None and said.number is None:
            return  # "a large one and a small one, the small without ham"
        if said.size is not None or not (said.options and (tallied or pointing)):
            yield said.count or 1  # "and one half pint", "flat white, three please"
    if (said.become or said).count is not None and (said.become or said.verb == "change"):
        yield _ANY  # "the tiramisu should be two": whether it is two is another matter
    if said.recounts:
        yield _ANY
    for one in (said, said.become):
        if one is None or one.head is None or not one.mask & bit:
            continue
        if one.few or (one is said.become and one.count is None and said.count is None):
            yield _ANY
        elif there and (one.partial or one.definite) and not one.more and one is said:
            yield one.count if one.partial and one.count and one.count > had > 0 else 0
        else:
            yield one.count or said.count or 1
