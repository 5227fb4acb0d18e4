"""Holds a reading against what comes of it: whatever the guest said is in the order, or was lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bella_vista.local.understanding.grammar import JOINTS
from bella_vista.local.understanding.index import Entity, Index
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.outcome import USUAL
from bella_vista.local.understanding.parts import on_order
from bella_vista.local.understanding.reading import Option, Said
from bella_vista.local.understanding.search import Step
from bella_vista.local.understanding.tokens import Token, number_at, tokenize
from state.menu.words import stems

_AND, _CORRECT = JOINTS.index("and"), JOINTS.index("correct")
_AGAIN = ("same", "again")
_UNDOING = ("undo", "put-back")
_ANY = 1_000
_SHARES = ("other", "rest", "all")
_WHOLE, _NAMED = ("all", "whole"), ("dish", "option", "one", "size", "other", "it")
_BESIDE = frozenset(("the", "filler", "aside", "on", "amount", "a", "for", "with"))
_SEVERAL, _BEFORE = ("both", "each"), ("with", "on", "for", "in", "to")


@dataclass(slots=True)
class _Thing:
    """One dish, with how it is made: by itself, or as a part of a combo."""

    names: tuple[str, ...]
    size: str | None
    changes: tuple[str, ...]


@dataclass(slots=True)
class _Line:
    """A line of the order as it is in the end, or a wish that waits for an answer.

    Args:
        things: The dish, and for a combo its parts.
        before: The same as they were before the line of the guest.
        quantity: How many there are in the end.
        had: How many there were.
        note: What the kitchen is asked.
        waits: Whether a question is open about it.
        id: The line of the order that it was; nothing for what is new.
    """

    things: list[_Thing] = field(default_factory=list)
    before: list[_Thing] = field(default_factory=list)
    quantity: int = 0
    had: int = 0
    note: str = ""
    waits: bool = False
    id: str = ""

    @property
    def changed(self) -> bool:
        """Whether it is not as it was."""
        return self.things != self.before or self.quantity != self.had


class Accounting:
    """Says what of a reading is in no command and no question.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of words.
    """

    def __init__(self, index: Index, kitchen: Kitchen) -> None:
        self._index = index
        self._kitchen = kitchen
        self._made: dict[tuple[object, ...], bool] = {}

    def lost(
        self,
        said: Sequence[Said],
        drafts: Sequence[Draft],
        questions: Sequence[Question],
        known: Sequence[Item],
        waiting: Sequence[Item],
        tokens: Sequence[Token],
        steps: Sequence[Step],
    ) -> list[str]:
        """Return the guest's words for everything that got lost.

        Args:
            said: The reading, item by item, as it was before it was carried out.
            drafts: The commands that came of it.
            questions: The questions that came of it.
            known: The lines of the order before.
            waiting: What waits for an answer.
            tokens: The words of the guest.
            steps: The reading, word by word.
        """
        lines = self._lines(drafts, questions, known)
        asked = _asked(questions)
        which = {one.place for q in questions if isinstance(one := q.facts.get("said"), Said)}
        lost: list[str] = []
        for at, one in enumerate(said):
            if known and one.ref in _SHARES and not (one.kept or one.used or one.correct):
                if one.ref == "all" and self._all_have(said[max(0, at - 1)], lines):
                    continue
                lost.append(_words(one, said[at + 1 :], tokens))
            if any(later.ref in _UNDOING for later in said[at:]):
                continue
            after = said[at + 1] if at + 1 < len(said) else None
            for about in (one, one.become):
                if about is not None:
                    lost.extend(tokens[place].word for place in about.written_over)
            points = one.more and one.become is None and (one.head or one.ref)
            if points and not any(line.waits or line.quantity > line.had for line in lines):
                lost.append(_words(one, said[at + 1 :], tokens))
            if (word := self._of_several(one, said[at + 1 :], lines, tokens)) is not None:
                lost.append(word)
            if at and _only_a_number(one) and _removes(said[at - 1]):
                lost.append(_words(said[at - 1], said[at + 1 :], tokens))
                continue
            if waiting and self._had_nowhere(one, lines):
                continue  # it could not be had, and so it is left out
            if one.kept and one.become is None and self._as_it_was(one, lines):
                continue
            if at and one.exact and one.count is None and _removes(said[at - 1]):
                one = replace(one, verb="")
            if at and one.verb == "remove" and self._left_off(one, said[at - 1], lines):
                continue
            if at and one.verb == "remove" and any(earlier.spared for earlier in said[:at]):
                one = replace(one, spared=True)
            if one.place in which or one.count == 0 or self._is_asked(one, asked):
                continue
            if after is not None and after.correct and one.verb != "remove":
                if after.firmly and self._stands_beside(one, after, lines):
                    lost.append(_words(after, said[at + 2 :], tokens))
                one = _taken_back(one, after)
            if any(later.become is not None and later.become.size for later in said[at + 1 :]):
                one = replace(one, size=None)  # "a medium latte, oh and make it large"
            one = self._superseded(one, said[at + 1 :])
            if after is not None and self._another_kind(after, one, lines):
                one = replace(one, count=_less(one.count, after.count))  # "two, one of them diet"
            split = after is not None and after.head is None and after.described
            words = self._missing(
                one, lines, asked, counted=not _counted_again(said[at + 1 :]), split=split
            )
            if words is not None:
                lost.append(words or _words(one, said[at + 1 :], tokens))
        if not lost and not waiting:
            lost.extend(self._too_many(said, lines))
        if not lost and not waiting:
            lost.extend(self._denied(steps, said, lines, tokens))
            lost.extend(self._not_as_told(steps, lines, tokens))
            lost.extend(self._too_wide(said, lines, tokens))
            lost.extend(self._headings(steps, said, tokens))
            lost.extend(self._grown(steps, said, lines))
        return list(dict.fromkeys(lost))

    def _superseded(self, said: Said, following: Sequence[Said]) -> Said:
        """Leave out choices that a later change excludes: "whole milk, actually make that skim"."""
        changes = [later.become for later in following if later.become is not None]
        new = [option.words for one in changes if one.head is None for option in one.options]
        names = self._index.names(said.mask) if said.head is not None and new else ()
        kept = [
            option
            for option in said.options
            if not any(self._kitchen.excludes(n, option.words, w) for n in names[:1] for w in new)
        ]
        return said if len(kept) == len(said.options) else replace(said, options=kept)

    # -- what came of it -------------------------------------------------------------------------------------

    def _lines(
        self, drafts: Sequence[Draft], questions: Sequence[Question], known: Sequence[Item]
    ) -> list[_Line]:
        there: dict[str, _Line] = {}
        for item in known:
            if item.line is None:
                continue
            seen = on_order(item.line, self._kitchen)
            things = [
                _Thing(one.names, one.size, tuple(one.changes)) for one in (seen, *seen.parts)
            ]
            amount = item.line.quantity
            there[item.line.id] = _Line(list(things), things, amount, amount, id=item.line.id)
        lines = list(there.values())
        waiting = [question.draft for question in questions if question.draft is not None]
        for draft in (*drafts, *waiting):
            fields = draft.fields
            line = there.get(str(fields.get("line_id")))
            if draft.op == "remove_item" and line is not None:
                line.quantity -= int(fields.get("quantity", line.quantity))
            elif draft.op in ("add_item", "change_item"):
                if line is None:
                    line = _Line()
                    lines.append(line)
                line.waits = draft in waiting
                old = line.things[0].size if line.things else None
                if old and "name" in fields and "size" not in fields:
                    size = self._kitchen.size(str(fields["name"]), old)
                    fields = {**fields, "size": size} if size else fields
                _fill(line, fields)
        for question in questions:
            name = question.facts.get("name")
            if question.draft is not None and name and not question.draft.fields.get("name"):
                lines.append(_Line([_Thing((str(name),), None, ())], waits=True))
        return lines

    # -- what was said ---------------------------------------------------------------------------------------

    def _is_asked(self, said: Said, asked: frozenset[str]) -> bool:
        """Whether a question names what an item is about."""
        if said.strange or said.few:
            return True
        words = said.words or " ".join(option.entity.words for option in said.options)
        return bool(words) and set(stems(words)) <= asked

    def _missing(
        self,
        said: Said,
        lines: Sequence[_Line],
        asked: frozenset[str],
        *,
        counted: bool,
        split: bool,
    ) -> str | None:
        """Return what is missing of an item: some of its words, or nothing for all of it.

        Args:
            said: The item.
            lines: The order in the end.
            asked: The stems of what is asked about.
            counted: Whether its number is to be there.
            split: Whether what follows says that some of them are different.
        """
        if (
            said.verb == "remove"
            or said.off
            or said.denied
            or said.spared
            or said.verb == "instead-of"
        ):
            return self._not_gone(said, lines)
        about = said.become if said.become is not None else said
        if said.verb == "swap" and said.head is None and said.options and about.options:
            if any(self._has(line, said.options[0], just_now=True) for line in lines):
                about = replace(about, options=said.options)  # "sub ranch for the mayo"
        if about.empty:
            return said.words if said.become is not None and said.head is not None else None
        if (
            said.ref
            and not said.head
            and not said.become
            and not about.described
            and about.number is None
        ):
            return None
        found = [line for line in lines if line.quantity > 0 or line.waits]
        if said.become is not None and said.head is not None:
            turned = [line for line in found if self._named(line, said.mask, before=True)]
            if not turned:
                return said.words
            found = turned if about.head is None else found
        if said.lines and about.described:
            found = [line for line in found if not line.id or line.id in said.lines]
        if about.head is not None:
            found = [
                line
                for line in found
                if self._named(line, about.mask) or self._chosen(line, about.words)
            ]
            if not found:
                return about.words
        if said.copies and not any(line.had for line in lines):
            return "same"
        if said.verb == "swap" and said.become is None and said.head and not said.replaced:
            if any(line.waits for line in lines):
                return None
            return said.words
        if said.verb == "swap" and about.plain and not about.options:
            if not any(
                new.changes != old.changes
                for line in found
                for new, old in zip(line.things, line.before, strict=False)
            ):
                return "plain"  # it may be the name of another dish
        for option in said.options if said.on else ():
            if not any(self._has(line, option) or _called(line, option) for line in found):
                return option.words
        for part in about.parts or said.parts:
            if part.head is not None and not any(self._holds(line, part, asked) for line in found):
                return part.words
        for note in about.notes:
            undone = note.startswith("not ") and any(line.before != line.things for line in found)
            if not undone and not any(note in line.note for line in lines):
                return note
        options = [one for one in about.options if not set(stems(one.entity.words)) <= asked]
        if said.definite and len(options) > 1 and not said.article:
            options = options[self._telling(options, found) :]
        if about.head is None:  # "two buns, one pork belly and one tofu"
            new = [line for line in found if not line.had]
            options = [one for one in options if not any(_called(line, one) for line in new)]
        named = found
        size = about.size
        if size is not None and set(stems(size.words)) <= asked:
            size = None
        fitting = [
            line
            for line in found
            if (size is None or self._sized(line, size))
            and all(self._has(line, option) for option in options)
        ]
        if not fitting:
            for option in options:
                if not any(self._has(line, option) for line in found):
                    return option.words
            if size is not None and not any(self._sized(line, size) for line in found):
                return size.words
        if not fitting and self._shared_out(found, options):
            return None
        found = fitting
        if not found:
            return ""
        for option in about.replaced:
            if not about.options and all(self._has(line, option) for line in found):
                return option.words
        number = about.count if about.count is not None else said.count
        if said.become is not None and said.count not in (None, number):
            return ""
        if number is None and said.ref in ("other", "one") and about.options and not said.plural:
            number = 1 if said.ref == "other" or said.article else None
        told = said.definite and any(  # "of the three teas": so many there were
            line.had == number and self._named(line, about.mask, before=True) for line in lines
        )
        if counted and not told and number is not None and not self._counted(number, about, found):
            words = set(stems(about.words))
            kin = [line for line in lines if words and self._called(line, words)]
            dealt = (
                sum(line.quantity for line in kin) == number
            )  # "two naans, one plain one garlic"
            if not dealt and not (split and about.head and self._counted(number, about, named)):
                return ""
        if said.exact and said.count is not None and said.head is not None:
            if sum(line.quantity for line in found) > said.count:
                return ""
        return None

    def _left_off(self, said: Said, before: Said, lines: Sequence[_Line]) -> bool:
        """Whether what is named lost what the thing before it lost: "no egg in the stew and the roll"."""
        if not before.on or before.become is None or not before.become.options:
            return False
        return any(
            self._named(line, said.mask)
            and all(one.no and self._has(line, one, just_now=True) for one in before.become.options)
            for line in lines
        )

    def _telling(self, options: Sequence[Option], lines: Sequence[_Line]) -> int:
        """Return 1 where the first option tells which is meant: "the vanilla shake be chocolate"."""
        return int(
            any(
                line.things != line.before
                and any(self._with(thing, options[0]) for thing in line.before)
                and any(
                    self._kitchen.same_group(name, options[0].entity.words, other.entity.words)
                    for name in line.things[0].names
                    for other in options[1:]
                )
                for line in lines
            )
        )

    def _not_gone(self, said: Said, lines: Sequence[_Line]) -> str | None:
        """Return what was to go and is still there."""
        if said.spared:
            stays = [line for line in lines if line.quantity and self._named(line, said.mask)]
            return None if stays or said.ref else said.words
        if said.verb == "instead-of" and not (said.head or said.ref or said.described):
            return None  # "two, not three"
        if said.verb == "instead-of" and said.lines:
            meant = [line.id not in said.lines for line in lines if line.changed]
            if meant and all(meant):
                return None  # "the tofu one, not the pork one"
        if said.head is None and not said.ref and said.options:
            for option in said.options:
                off = Option(option.entity, no=True)
                if not any(self._has(line, off, just_now=True) for line in lines):
                    return off.words
            return None
        gone = [line for line in lines if line.quantity < line.had]
        if said.head is not None:
            gone = [line for line in gone if self._named(line, said.mask, before=True)]
            turned = [line for line in lines if self._turned(line, said.mask)]
            there = [line for line in lines if line.quantity and self._named(line, said.mask)]
            if not gone and (turned or not there) and not said.options:
                return None  # it gave way, or never came to be
        if not gone:
            return "" if said.head is not None or said.verb == "remove" else None
        for option in said.options:
            if not any(self._with(thing, option) for line in gone for thing in line.before):
                return option.words
        if said.count is not None and not said.half:
            amounts = [line.had - line.quantity for line in gone]
            if said.count not in (*amounts, sum(amounts)):
                return ""
        return None

    def _had_nowhere(self, said: Said, lines: Sequence[_Line]) -> bool:
        """Whether something is to be left out that nothing has."""
        if said.verb != "remove" or said.head is not None or not said.options:
            return False
        options = [Option(one.entity) for one in said.options]
        return not any(
            self._with(thing, option)
            for line in lines
            for thing in (*line.things, *line.before)
            for option in options
        )

    def _turned(self, line: _Line, mask: int) -> bool:
        other = bool(line.before) and line.things[0].names != line.before[0].names
        return self._named(line, mask, before=True) and (other or not self._named(line, mask))

    def _too_many(self, said: Sequence[Said], lines: Sequence[_Line]) -> Iterator[str]:
        """Name each dish of which more came than was said."""
        if any(
            one.copies or (one.head is None and (one.more or one.ref in _AGAIN)) for one in said
        ):
            return
        added: dict[str, int] = {}
        for line in lines:
            names = line.things[0].names if not line.waits else ()
            if len(names) == 1:
                had = line.had if line.before else 0
                added[names[0]] = added.get(names[0], 0) + line.quantity - had
        for name, count in added.items():
            bit = self._index.bit(name)
            there = any(self._is(thing, bit) for line in lines for thing in line.before)
            told: list[int] = []
            for at, one in enumerate(said):
                after = said[at + 1] if at + 1 < len(said) else None
                if one.mask & bit and after is not None and after.verb == "instead-of":
                    told.append(one.number or 1)  # as many come for what is to go
                    continue
                told.extend(_told(one, bit, there=there or bool(told)))
                if at and one.partial and one.count and said[at - 1].number is None:
                    told.append(one.count)  # "tacos, three of them with guacamole"
            if told and count > sum(told):
                yield name

    def _as_it_was(self, said: Said, lines: Sequence[_Line]) -> bool:
        """Whether what is to stay did: as many as there were, with all that was named."""
        return any(
            (line.quantity and line.had)
            and (said.head is None or self._named(line, said.mask))
            and all(self._has(line, option) for option in said.options)
            for line in lines
        )

    def _all_have(self, said: Said, lines: Sequence[_Line]) -> bool:
        """Whether more than one thing is as it was said just before: "no ice in any of them"."""
        options = [*said.options, *(said.become.options if said.become is not None else ())]
        having = [line for line in lines if all(self._has(line, one) for one in options)]
        return bool(options) and sum(line.quantity for line in having) > 1

    def _denied(
        self,
        steps: Sequence[Step],
        said: Sequence[Said],
        lines: Sequence[_Line],
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
                had = [any(self._with(one, option) for one in line.before) for line in lines]
                changed = [line.before != line.things for line in lines]
                if (True, False) in zip(had, changed, strict=True) and any(changed):
                    continue  # "not the chicken one, the paneer one should be hot"
            if does == "option" and "on" not in between:
                if not self._left_out(Option(denied.edge.entity), lines):
                    yield f"not {tokens[denied.first].word}"
            elif does == "number":
                number = denied.edge.value
                for line in lines:
                    about = not heads or self._named(line, heads, before=True)
                    same = line.before == line.things and line.quantity == line.had
                    size = line.things[0].size if line.things else None
                    if about and same and number in (line.had, _number_in(size or "")):
                        yield f"not {tokens[denied.first].word}"
                        break
            elif does in _WHOLE or ("on" in between and does in _NAMED):
                if not any(_has_less(line) for line in lines):
                    words = [token.word for token in tokens[step.first : denied.first + 1]]
                    yield " ".join(words)

    def _not_as_told(
        self, steps: Sequence[Step], lines: Sequence[_Line], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Name what is to go and was put on instead, and what is to stay and was left off."""
        told = [step for step in steps if step.edge.does not in _BESIDE or _stays(step)]
        for at, step in enumerate(told):
            does, before, after = step.edge.does, told[at - 1 : at], told[at + 1 : at + 2]
            for one in after if does in ("remove", "keep") else before:
                if one.edge.does != "option":
                    continue
                if does == "keep" and any(later.edge.does == "off" for later in told[at + 2 :]):
                    continue  # "leave the basil off"
                option = Option(one.edge.entity)
                off = Option(one.edge.entity, no=True)
                if does == "remove" or does == "off":
                    wrong = not any(self._has(line, off, just_now=True) for line in lines) and any(
                        self._chosen_for(thing, option) or self._has(line, option)
                        for line in lines
                        if line.quantity and line.things != line.before
                        for thing in line.things
                    )
                elif does in ("keep", "stays") or _stays(step):
                    wrong = any(
                        change.startswith("no ") and self._with(thing, off)
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
        """Name each kind of choices that was asked for beside a dish: "with a side of salsa"."""
        told = {place for one in said for place in (*one.told, *(one.become or one).told)}
        for before, step in pairwise(steps):
            if step.edge.does != "group" or step.first in told:
                continue
            if before.edge.does in ("with", "and", "a") and not any(
                option.entity.mask & step.edge.entity.mask and option.place > step.first
                for one in said
                for option in (*one.options, *(one.become or one).options)
            ):
                yield tokens[step.first].word

    def _too_wide(
        self, said: Sequence[Said], lines: Sequence[_Line], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Name what was said of one thing and came to be of more, and what was to come back and did not."""
        changed = [line for line in lines if line.had and line.things != line.before]
        for at, one in enumerate(said):
            alone = len(said) == 1 and one.ref == "other" and not one.head
            if alone and len(changed) > 1:
                yield _words(one, said[at + 1 :], tokens)
            if at and one.correct and one.partial and one.count and one.options:
                having = [line for line in lines if all(self._has(line, o) for o in one.options)]
                if sum(line.quantity for line in having) > one.count:
                    yield _words(one, said[at + 1 :], tokens)
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

    def _left_out(self, option: Option, lines: Sequence[_Line]) -> bool:
        """Whether something went, or is nowhere that was spoken of."""
        for line in lines:
            was = any(self._chosen_for(thing, option) for thing in line.before)
            now = any(self._chosen_for(thing, option) for thing in line.things)
            if was and (not now or line.quantity < line.had):
                return True
        return not any(
            self._chosen_for(thing, option)
            for line in lines
            if line.quantity > 0
            for thing in line.things
        )

    def _chosen_for(self, thing: _Thing, option: Option) -> bool:
        """Whether an option was chosen by its own name, not by one that contains it."""
        said = set(stems(option.entity.words))
        for name in thing.names:
            made = self._kitchen.made(name, option.words)
            if made:
                return set(made) <= set(thing.changes)
        return any(
            said == set(stems(change)) for change in thing.changes if not change.startswith("no ")
        )

    def _grown(
        self, steps: Sequence[Step], said: Sequence[Said], lines: Sequence[_Line]
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
            has = sum(one.quantity for one in lines if one.things and one.things[0].names == names)
            if has > had and has not in told and has != sums:
                yield names[0]

    def _another_kind(self, some: Said, of: Said, lines: Sequence[_Line]) -> bool:
        """Whether some of what was ordered is to be another dish: "two colas, one of them diet"."""
        return bool(
            some.partial
            and some.head
            and not some.mask & of.mask
            and not any(line.had and self._named(line, some.mask, before=True) for line in lines)
        )

    def _of_several(
        self,
        said: Said,
        following: Sequence[Said],
        lines: Sequence[_Line],
        tokens: Sequence[Token],
    ) -> str | None:
        """Return "both" or "each" if what is to be on several things came on one only."""
        about = said.become if said.become is not None else said
        last = following[0].place if following else len(tokens)
        last += 1 if following and following[0].ref == "all" and not following[0].described else 0
        for at in range(said.place + 1, min(last, len(tokens))):
            ends = at + 1 == len(tokens) or tokens[at + 1].stop or tokens[at + 1].word == "of"
            if not ends or tokens[at].word not in _SEVERAL:
                continue
            if tokens[at].word == "each" and said.head and said.article and not about.options:
                named = [line for line in lines if self._named(line, said.mask)]
                if sum(line.quantity for line in named) < 2:
                    return "each"  # "a cola each"
            if tokens[at - 1].word not in _BEFORE:
                continue
            for option in about.options[-1:]:
                pieces = sum(line.quantity for line in lines if self._has(line, option))
                if 0 < pieces < 2 and not option.no:
                    return tokens[at].word
        return None

    def _stands_beside(self, said: Said, correction: Said, lines: Sequence[_Line]) -> bool:
        """Whether what was corrected stands beside its correction, both of them new."""
        about = correction.become if correction.become is not None else correction
        new = [line for line in lines if line.quantity > line.had]
        if said.head is None or about.empty:
            return False
        old = [line for line in new if self._holds(line, said, frozenset())]
        if about.head is not None:
            fresh = [line for line in new if self._named(line, about.mask)]
        else:
            fresh = [line for line in new if self._named(line, said.mask)]
            fresh = [line for line in fresh if all(self._has(line, o) for o in about.options)]
            fresh = [line for line in fresh if not about.size or self._sized(line, about.size)]
        return bool(old and fresh) and not any(line in fresh for line in old)

    def _holds(self, line: _Line, said: Said, asked: frozenset[str]) -> bool:
        """Whether one dish of a line is all that was said."""
        return any(
            self._is(thing, said.mask)
            and (said.size is None or self._of_size(thing, said.size))
            and all(
                self._with(thing, option)
                for option in said.options
                if not set(stems(option.entity.words)) <= asked
            )
            for thing in line.things
        )

    def _counted(self, number: int, said: Said, lines: Sequence[_Line]) -> bool:
        amounts = [line.quantity for line in lines]
        more = [line.quantity - line.had for line in lines]
        less = [line.had - line.quantity for line in lines]
        sums = (sum(amounts), sum(one for one in more if one > 0))
        if number in (*amounts, *more, *less, *sums) or any(line.waits for line in lines):
            return True
        for line in lines:
            for thing in line.things:
                pieces = _number_in(thing.size or "")
                if pieces and pieces * max(1, line.quantity) == number:
                    return True
                had = {0, *(_number_in(one) or 1 for was in line.before for one in was.changes)}
                if any(
                    _number_in(change) - old == number for change in thing.changes for old in had
                ):
                    return True
            named = sum(any(self._is(thing, said.mask) for _ in (0,)) for thing in line.things[1:])
            if said.head is not None and named == number:
                return True
        return False

    def _called(self, line: _Line, words: set[str]) -> bool:
        return any(words <= set(stems(name)) for thing in line.things for name in thing.names)

    # -- one line --------------------------------------------------------------------------------------------

    def _named(self, line: _Line, mask: int, *, before: bool = False) -> bool:
        things = (*line.things, *line.before) if before else line.things
        return any(self._is(thing, mask) for thing in things)

    def _chosen(self, line: _Line, words: str) -> bool:
        """Whether the name of a dish is also one of the choices of a line."""
        said = set(stems(words))
        return any(said <= set(stems(change)) for thing in line.things for change in thing.changes)

    def _is(self, thing: _Thing, mask: int) -> bool:
        return any(self._index.bit(name) & mask for name in thing.names)

    def _sized(self, line: _Line, size: Entity) -> bool:
        return any(self._of_size(thing, size) for thing in line.things)

    def _of_size(self, thing: _Thing, size: Entity) -> bool:
        for name in thing.names:
            dish = self._kitchen.dish(name)
            if dish is None:
                continue
            meant = self._kitchen.size(name, size.words)
            if not dish.sizes or (meant is not None and meant == (thing.size or dish.implied_size)):
                return True
        return len(thing.names) > 1

    def _has(self, line: _Line, option: Option, *, just_now: bool = False) -> bool:
        """Whether an option is in a line, or a thing that is not wanted is not.

        Args:
            line: The line.
            option: The option.
            just_now: Whether it has to have come about just now.
        """
        if option.side and option.words in line.note:
            option = replace(option, side=False)
        if option.no and option.entity.kind == "group":
            words = option.entity.words
            for thing in line.things:
                if any(self._kitchen.chooses(one, words, thing.changes) for one in thing.names):
                    return True  # "no bun, a lettuce wrap"
        if option.no and option.amount:  # "no extra jalapenos"
            much = replace(option, no=False)
            return not any(self._with(thing, much) for thing in line.things)
        if option.no:
            was = any(self._with(thing, Option(option.entity)) for thing in line.before)
            now = any(self._with(thing, Option(option.entity)) for thing in line.things)
            if now and not any(self._with(thing, option) for thing in line.things):
                return False
            if was and not now:
                return True
            if not just_now and not now and not self._possible(line, option):
                return True
        return any(self._with(thing, option) for thing in line.things)

    def _shared_out(self, lines: Sequence[_Line], options: Sequence[Option]) -> bool:
        """Whether one thing cannot have all options, so that several of it have one each."""
        names = {name for line in lines for name in line.things[0].names}
        return len(names) == 1 and any(
            self._kitchen.excludes(name, one.words, other.words)
            for name in names
            for at, one in enumerate(options)
            for other in options[at + 1 :]
        )

    def _possible(self, line: _Line, option: Option) -> bool:
        return any(
            self._kitchen.has(name, option.entity.words)
            for thing in line.things
            for name in thing.names
        )

    def _with(self, thing: _Thing, option: Option) -> bool:
        """Whether a dish is made with an option, or without what is not wanted."""
        key = (thing.names, thing.size, thing.changes, option.words)
        if key not in self._made:
            if len(self._made) > 20_000:
                self._made.clear()
            self._made[key] = self._is_made(thing, option)
        return self._made[key]

    def _is_made(self, thing: _Thing, option: Option) -> bool:
        for name in thing.names:
            meant = self._kitchen.made(name, option.words)
            if meant is not None and set(meant) <= set(thing.changes):
                if meant or option.no:
                    return True
                # It comes so, unless something else took its place.
                both = [*thing.changes, option.words]
                if self._kitchen.canonical(name, thing.size, both) == thing.changes:
                    return True
        if option.words in USUAL and all(
            self._kitchen.made(name, option.words) is None for name in thing.names
        ):
            return not thing.changes  # "one regular", which is no choice of it
        said = set(stems(option.entity.words))
        if option.words == option.entity.words and not any(
            change.startswith("no ") and said <= set(stems(change)) for change in thing.changes
        ):
            for name in thing.names:
                means = {
                    one
                    for words in self._kitchen.made(name, option.words) or ()
                    for one in stems(words)
                }
                for content in map(set, map(stems, self._kitchen.contents(name))):
                    if said <= content or means == content:
                        return True  # the chashu of a ramen that comes with pork
        called = [said]
        for name in thing.names:
            if meant := self._kitchen.made(name, option.entity.words):
                called.append(set(stems(self._kitchen.choice(name, meant[0]))))
        for change in thing.changes:
            words = set(stems(change))
            if (
                any(one <= words for one in called)
                and change.startswith("no ") == option.no
                and (not option.amount or option.amount in change.split())
                and (option.count < 2 or _number_in(change) >= option.count)
                and (not option.half or option.half.split()[0] in change.split())
                and (not option.side or change.endswith("on the side"))
            ):
                return True
        return len(thing.names) > 1 or self._is_kind(thing, option)

    def _is_kind(self, thing: _Thing, option: Option) -> bool:
        """Whether it is said of a choice how much there is to be of its kind: "easy on the dressing"."""
        if not (option.amount or option.side):
            return False
        for name in thing.names:
            for change in thing.changes:
                if self._kitchen.is_kind(name, change, option.entity.words):
                    words = option.of(self._kitchen.choice(name, change))
                    if set(self._kitchen.made(name, words) or ("",)) <= set(thing.changes):
                        return True
        return False


def _stays(step: Step) -> bool:
    """Whether words say that something is right as it is."""
    return step.edge.does == "filler" and bool({"fine", "stays"} & set(step.edge.words.split()))


def _has_less(line: _Line) -> bool:
    """Whether a line lost something that it had, or there are fewer of it."""
    if line.quantity < line.had:
        return True
    before = {change for thing in line.before for change in thing.changes}
    return not before <= {change for thing in line.things for change in thing.changes}


def _called(line: _Line, option: Option) -> bool:
    """Whether what may be an option is only what a dish is called: "no onions in the chicken"."""
    said = set(stems(option.entity.words))
    return any(said <= set(stems(name)) for thing in line.things for name in thing.names)


def _fill(line: _Line, fields: Mapping[str, Any]) -> None:
    old = line.things[0] if line.things else _Thing((), None, ())
    possible = tuple(str(one) for one in fields.get("possible") or ())
    names = (str(fields["name"]),) if fields.get("name") else possible or old.names
    changes = fields.get("modifications")
    size = fields.get("size")
    own = _Thing(
        names,
        str(size) if size else old.size if names == old.names else None,
        tuple(changes) if changes is not None else old.changes,
    )
    parts = line.things[1:]
    if fields.get("parts"):
        parts = [
            _Thing((str(one["name"]),), one.get("size"), tuple(one.get("modifications") or ()))
            for one in fields["parts"]
        ]
    line.things = [own, *parts]
    line.quantity = int(fields.get("quantity", line.quantity or 1))
    line.note = str(fields.get("note") or line.note)


def _asked(questions: Sequence[Question]) -> frozenset[str]:
    """Return the stems of everything that is asked about by name."""
    named: set[str] = set()
    for question in questions:
        if question.code == "choice_missing":
            continue
        named.update(stems(str(question.facts.get("words") or "")))
    return frozenset(named)


@lru_cache(maxsize=4_000)
def _number_in(words: str) -> int:
    number = number_at(tokenize(words), 0) if words else None
    return number[0] if number is not None else 0


def _told(said: Said, bit: int, *, there: bool) -> Iterator[int]:
    """Say how many of a dish an item may bring: none, where it only speaks of those that are there."""
    if said.head is None and said.become is None and not (said.partial and said.described):
        tallied = any(option.entity.tallied & bit for option in said.options)
        pointing = said.definite or said.ref not in ("", "one")
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
            yield 0
        else:
            yield one.count or said.count or 1


def _only_a_number(said: Said) -> bool:
    return said.count is not None and not (said.head or said.ref or said.described or said.become)


def _less(count: int | None, others: int | None) -> int | None:
    return count - others if count and others and count > others else count


def _removes(said: Said) -> bool:
    return said.verb == "remove" and said.head is not None


def _taken_back(said: Said, correction: Said) -> Said:
    """Return what holds of an item after its correction."""
    about = correction.become if correction.become is not None else correction
    if about.head is not None and not said.parts:
        return Said()
    return replace(
        said,
        count=None if about.number is not None else said.count,
        size=None if about.size is not None else said.size,
        options=[] if about.options else said.options,
    )


def _counted_again(following: Sequence[Said]) -> bool:
    """Whether a later item says another number: "make it four"."""
    return any(one.become is not None and one.become.count is not None for one in following)


def _words(said: Said, following: Sequence[Said], tokens: Sequence[Token]) -> str:
    """Return the guest's words for a whole item."""
    last = following[0].place if following else len(tokens)
    run = [token.word for token in tokens[said.place : max(last, said.place + 1)] if not token.stop]
    while len(run) > 1 and run[-1] in ("and", "with", "the", "a", "also", "then", "please"):
        run.pop()
    return " ".join(run)
