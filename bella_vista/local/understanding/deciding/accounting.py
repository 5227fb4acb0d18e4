"""Holds a reading against what comes of it: whatever the guest said is in the order, or was lost."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.deciding.held import (
    Held,
    Line,
    Thing,
    has_less,
    number_in,
    only_called,
)
from bella_vista.local.understanding.deciding.whole import WholeLine
from bella_vista.local.understanding.grammar.edges import NO_EDGE
from bella_vista.local.understanding.grammar.grammar import NOTHING, ON
from bella_vista.local.understanding.grammar.states import Step
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.readings.reading import told_of
from bella_vista.local.understanding.readings.regrouping import deal_sizes
from bella_vista.local.understanding.readings.said import Option, Said
from bella_vista.local.understanding.words.tokens import Token
from state.menu.words import stems

_UNDOING = ("undo", "put-back")
_IT = ("it", "them", "of-them")
_SHARES = ("other", "rest", "all")
_SEVERAL, _BEFORE = ("both", "each"), ("with", "on", "for", "in", "to")


class Accounting:
    """Says what of a reading is in no command and no question.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of words.
    """

    def __init__(self, index: Index, kitchen: Kitchen) -> None:
        self._index = index
        self._kitchen = kitchen
        self.held = Held(index, kitchen)
        self._whole = WholeLine(index, self.held)

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
        said, _ = deal_sizes(said)
        lines = self.held.lines(drafts, questions, known)
        asked = _asked(questions)
        which = {one.place for q in questions if isinstance(one := q.facts.get("said"), Said)}
        lost: list[str] = []
        for at, one in enumerate(said):
            several = (
                at and one.ref == "all" and said[at - 1].plural
            )  # "for the biscuits, all four"
            if (
                known
                and one.ref in _SHARES
                and not (one.kept or one.used or one.correct or several)
            ):
                lost.append(told_of(one, said[at + 1 :], tokens))
            if any(later.ref in _UNDOING for later in said[at:]):
                continue
            if self._called_off(one, said, at, lines):
                continue
            after = said[at + 1] if at + 1 < len(said) else None
            for about in (one, one.become):
                if about is not None:
                    lost.extend(tokens[place].word for place in about.written_over)
            points = one.more and one.become is None and (one.head or one.ref)
            if points and not any(line.waits or line.quantity > line.had for line in lines):
                lost.append(told_of(one, said[at + 1 :], tokens))
            same = one.ref == "same" and one.verb in ("", "add") and not (one.head or waiting)
            if same and known and not any(line.quantity > line.had for line in lines):
                lost.append(told_of(one, said[at + 1 :], tokens))
            put_there = one.joint == ON and one.partial and one.ref and one.become is None
            if put_there and not one.described:
                lost.append(told_of(one, said[at + 1 :], tokens))  # "on one of them": what?
            if one.more and one.kept:
                lost.append(told_of(one, said[at + 1 :], tokens))  # "another one the way it was"
            if (word := self._of_several(one, said[at + 1 :], lines, tokens)) is not None:
                lost.append(word)
            if at and _only_a_number(one) and _removes(said[at - 1]):
                lost.append(told_of(said[at - 1], said[at + 1 :], tokens))
                continue
            if one.only_points and any(self.held.turned(line, one.mask) for line in lines):
                continue  # "which one do you mean?", "the salmon bowl", which gave way
            if after is not None and self._is_of_another(one, after, lines):
                lost.append(one.words)
            if waiting and self._had_nowhere(one, lines):
                continue  # it could not be had, and so it is left out
            if one.kept and one.become is None and self._as_it_was(one, lines):
                continue
            if any(later.kept and _takes_back(later, one) for later in said[at + 1 :]):
                continue
            if after is not None and _is_announced(one, after):
                of_it = [line for line in lines if self.held.named(line, one.mask, before=True)]
                if any(after.become or self._went(one, line) for line in of_it):
                    continue
            if after is not None and one.verb == "remove" and self._gave_way(one, after, lines):
                continue
            if any(self._turned_at_once(one, later, lines) for later in said[at + 1 :]):
                between = range(one.place, after.place if after is not None else 0)
                if not any(step.first in between and step.edge is NO_EDGE for step in steps):
                    continue
            if any(self._turned_at_once(earlier, one, lines) for earlier in said[:at]):
                one = replace(one, head=None, ref="it")
            if at and one.exact and one.count is None and _removes(said[at - 1]):
                one = replace(one, verb="")
            if at and one.verb == "remove" and self._left_off(one, said[at - 1], lines):
                continue
            if one.place in which or one.count == 0 or self._is_asked(one, asked):
                continue
            if after is not None and after.correct and one.verb != "remove":
                again = any(_says_again(after, earlier) for earlier in said[:at])
                if after.firmly and not again and self._stands_beside(one, after, lines):
                    lost.append(told_of(after, said[at + 2 :], tokens))
                one = _taken_back(one, after)
            if any(later.become is not None and later.become.size for later in said[at + 1 :]):
                one = replace(one, size=None)  # "a medium latte, oh and make it large"
            one = self._superseded(one, said[at + 1 :])
            of_it = [line for line in lines if self.held.named(line, one.mask)] if one.head else []
            whole = any(line.quantity - line.had == one.count for line in of_it)
            if after is not None and not whole and self._another_kind(after, one, lines):
                one = replace(one, count=_less(one.count, after.count))  # "two, one of them diet"
            for later in said[at + 1 :]:
                if later.partial and later.become and later.become.head and _means(later, one):
                    one = replace(one, count=_less(one.count, later.count))
            split = after is not None and after.head is None and after.described
            split = split or (after is not None and after.ref == "other" and bool(after.become))
            words = self._missing(
                one, lines, asked, counted=not _counted_again(one, said[at + 1 :]), split=split
            )
            if words is not None:
                lost.append(words or told_of(one, said[at + 1 :], tokens))
        if not lost and not waiting:
            lost.extend(self._whole.too_many(said, lines))
        if not lost and not waiting:
            lost.extend(self._whole.lost(steps, said, lines, tokens))
        return list(dict.fromkeys(lost))

    def _called_off(self, one: Said, said: Sequence[Said], at: int, lines: Sequence[Line]) -> bool:
        """Whether a dish is ordered and taken off in one message: "and a latte, no wait, cancel the latte"."""
        about = said[:at] if one.verb == "remove" else said[at + 1 :]
        removes = one.verb == "remove"
        others = [
            o for o in about if o.head and o.mask & one.mask and (o.verb == "remove") != removes
        ]
        there = any(self.held.named(line, one.mask, before=True) for line in lines)
        return one.head is not None and bool(others) and not there

    def _superseded(self, said: Said, following: Sequence[Said]) -> Said:
        """Leave out choices that a later change excludes: "whole milk, actually make that skim".

        What is said not to be wanted after all is no longer wanted: "and jam, eh, no jam".
        """
        changes = [later.become for later in following if later.become is not None]
        new = [option.words for one in changes if one.head is None for option in one.options]
        names = self._index.names(said.mask) if said.head is not None and new else ()
        off = _denied_after(said, following)
        kept = [
            option
            for option in said.options
            if not (
                option.entity.words in off
                and not option.no
                and option.place < off[option.entity.words]
            )
            and not any(self._kitchen.excludes(n, option.words, w) for n in names[:1] for w in new)
        ]
        return said if len(kept) == len(said.options) else replace(said, options=kept)

    def _is_asked(self, said: Said, asked: frozenset[str]) -> bool:
        """Whether a question names what an item is about."""
        if said.strange or said.few:
            return True
        words = said.words or " ".join(option.entity.words for option in said.options)
        return bool(words) and set(stems(words)) <= asked

    def _missing(
        self,
        said: Said,
        lines: Sequence[Line],
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
        if said.excepted and not said.become and not (said.described and said.head):
            stays = [line for line in lines if line.quantity and line.things == line.before]
            stays += [line for line in lines if line.quantity and not line.had]
            if not any(said.head is None or self.held.named(line, said.mask) for line in stays):
                return said.words
            return None
        if said.verb == "remove" or said.off or said.denied or said.verb == "instead-of":
            return self._not_gone(said, lines)
        about = said.become if said.become is not None else said
        if said.verb == "swap" and said.head is None and said.options and about.options:
            changed = [line for line in lines if line.changed]
            if any(self.held.has(line, said.options[0], just_now=True) for line in changed):
                about = replace(about, options=said.options)  # "sub ranch for the mayo"
        if about.empty and said.become is not None:
            lost = [o for o in said.options if not any(self.held.has(one, o) for one in lines)]
            return said.words if said.head is not None else lost[0].words if lost else None
        if about.empty:
            return None
        if (
            said.ref
            and not said.head
            and not said.become
            and not about.described
            and about.number is None
        ):
            return None
        if said.back and said.head is not None and self._put_back(said, lines):
            return None
        if said.verb == "swap" and said.become is None and said.head is not None:
            if any(self.held.turned(line, said.mask) for line in lines):
                return None  # "swap the tea in the meal for a cola"
        found = [line for line in lines if line.quantity > 0 or line.waits]
        if said.become is not None and said.head is not None:
            turned = [line for line in found if self.held.named(line, said.mask, before=True)]
            if not turned and not (said.on and said.definite and said.mask & (said.mask - 1)):
                return said.words
            turned = turned or found  # "ketchup on the sandwich", which is called otherwise
            found = turned if about.head is None else found
        if said.become is not None and said.size is not None and not about.size:
            if not any(self.held.sized(line, said.size) for line in lines):
                return said.size.words  # "as a double, and no pickles on the other one"
        if said.lines and about.described:
            found = [line for line in found if not line.id or line.id in said.lines]
        if about.head is not None:
            found = [
                line
                for line in found
                if self.held.named(line, about.mask)
                or self.held.chosen(line, about.words)
                or ((not line.had or line.renamed) and self.held.called(line, about.words))
            ]
            if not found:
                return about.words
        so_made = any(
            len(thing.changes) > len(about.options) or (thing.size and not about.size)
            for line in found
            for thing in line.things
        )
        if said.copies and not (so_made or any(line.had for line in lines)):
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
            if not any(self.held.has(line, option) or only_called(line, option) for line in found):
                return option.words
        for part in about.parts or said.parts:
            if part.head is not None and not any(
                self.held.holds(line, part, asked) for line in found
            ):
                return part.words
        for note in about.notes:
            undone = note.startswith("not ") and any(line.before != line.things for line in found)
            if not undone and not any(note in line.note for line in lines):
                return note
        for option in about.options:
            if option.sole and not any(self.held.alone(line, option) for line in found):
                return option.words
        options = [one for one in about.options if not set(stems(one.entity.words)) <= asked]
        if said.ref == "having":
            had = [one for line in found if line.changed for one in line.before]
            made = [o for o in options if any(self.held.made_with(one, o) for one in had)]
            options = [one for one in options if one not in made]
        elif said.definite and len(options) > 1 and not said.article:
            options = options[self._telling(options, found) :]
        if about.head is None:  # "two buns, one pork belly and one tofu"
            new = [line for line in found if not line.had or line.renamed]
            options = [one for one in options if not any(only_called(line, one) for line in new)]
        named = found
        size = about.size
        if size is not None and set(stems(size.words)) <= asked:
            size = None
        fitting = [
            line
            for line in found
            if (size is None or self.held.sized(line, size, options))
            and all(self.held.has(line, option) for option in options)
        ]
        if not fitting:
            for option in options:
                if not any(self.held.has(line, option) for line in found):
                    return option.words
            if size is not None and not any(self.held.sized(i, size, options) for i in found):
                return size.words
        if not fitting and self._shared_out(found, options):
            return None
        found = fitting
        if not found:
            return ""
        for option in about.replaced:
            chosen = [line for line in lines if self._had(option, line)]
            gone = about.options and (not chosen or any(self._gone(option, one) for one in chosen))
            if self._still_there(option, lines) and not gone:
                return option.words
        number = about.count if about.count is not None else said.count
        if said.become is not None and said.count not in (None, number):
            return ""
        if number is None and said.ref in ("other", "one") and about.options and not said.plural:
            number = 1 if said.ref == "other" or said.article or not said.definite else None
        told = said.definite and any(  # "of the three teas": so many there were
            line.had == number and self.held.named(line, about.mask, before=True) for line in lines
        )
        if counted and not told and number is not None and not self._counted(number, about, found):
            kin = [line for line in lines if self.held.called(line, about.words)]
            dealt = (
                sum(line.quantity for line in kin) == number
            )  # "two naans, one plain one garlic"
            if not dealt and not (split and about.head and self._counted(number, about, named)):
                return ""
        if said.exact and said.count is not None and said.head is not None:
            plain = [line for line in found if said.plain and not line.things[0].changes]
            found = [line for line in found if line.had] if split else found
            if sum(line.quantity for line in plain or found) > said.count:
                return ""
        return None

    def _put_back(self, said: Said, lines: Sequence[Line]) -> bool:
        """Whether what was left off a line, and is the name of a dish as well, is on it again."""
        off = set(stems(said.words))
        return any(
            change.startswith("no ") and off <= set(stems(change)) and change not in thing.changes
            for line in lines
            for thing, was in zip(line.things, line.before, strict=False)
            for change in was.changes
        )

    def _went(self, said: Said, line: Line) -> bool:
        """Whether there is less of a line that was of some dish, or it is another one now."""
        return bool(line.before) and (line.quantity < line.had or self.held.turned(line, said.mask))

    def _gave_way(self, said: Said, after: Said, lines: Sequence[Line]) -> bool:
        """Whether what was to go became what comes instead: "I do not want that, a tea instead"."""
        mask = said.mask if said.head is not None else 0
        return bool(after.instead and after.head and (mask or said.ref)) and any(
            line.renamed
            and self.held.named(line, after.mask)
            and (not mask or self.held.turned(line, mask))
            for line in lines
        )

    def _turned_at_once(self, said: Said, after: Said, lines: Sequence[Line]) -> bool:
        """Whether something new became another dish: "a latte, actually make that a mocha"."""
        become = after.become
        if become is None or become.head is None or said.head is None or not _means(after, said):
            return False
        if said.verb not in ("", "add") or not said.mask & ~become.mask:
            return False
        if (said.count or 1) > 1 and not (become.count or become.plural):
            return False  # "two lattes, make that a mocha"
        new = [line for line in lines if not line.had]
        was = replace(said, mask=said.mask & ~become.mask)
        turned = any(self.held.named(line, become.mask) for line in new)
        return turned and not any(self.held.holds(line, was, frozenset()) for line in new)

    def _left_off(self, said: Said, before: Said, lines: Sequence[Line]) -> bool:
        """Whether what is named lost what the thing before it lost: "no egg in the stew and the roll"."""
        if not before.on or before.become is None or not before.become.options:
            return False
        return any(
            self.held.named(line, said.mask)
            and all(
                one.no and self.held.has(line, one, just_now=True) for one in before.become.options
            )
            for line in lines
        )

    def _telling(self, options: Sequence[Option], lines: Sequence[Line]) -> int:
        """Return 1 where the first option tells which is meant: "the vanilla shake be chocolate"."""
        return int(
            any(
                line.things != line.before
                and any(self.held.made_with(thing, options[0]) for thing in line.before)
                and any(
                    self._kitchen.same_group(name, options[0].entity.words, other.entity.words)
                    for name in line.things[0].names
                    for other in options[1:]
                )
                for line in lines
            )
        )

    def _not_gone(self, said: Said, lines: Sequence[Line]) -> str | None:
        """Return what was to go and is still there."""
        if said.verb == "instead-of" and not (said.head or said.ref or said.described):
            return None  # "two, not three"
        if said.verb == "instead-of" and said.lines:
            meant = [line.id not in said.lines for line in lines if line.changed]
            if meant and all(meant):
                return None  # "the tofu one, not the pork one"
        named = [line for line in lines if self.held.named(line, said.mask, before=True)]
        if said.verb == "instead-of" and said.head and any(map(has_less, named)):
            return None  # something moved: "the cheese on the chicken one, not the beef one"
        again = [line for line in named if line.resized or line.quantity > line.had]
        if said.verb == "instead-of" and said.head and again:
            return None  # "large fries instead of the regular fries", "two teas instead of the tea"
        if said.head and any(self.held.has_fewer(line, said.mask) for line in named):
            return None  # "not these drinks in the feast: three colas and a water"
        if said.head is None and not said.ref and said.options:
            for option in said.options:
                off, soft = Option(option.entity, no=True), said.verb != "remove"
                went = any(self.held.has(line, off, just_now=True) for line in lines)
                went = went or (bool(option.amount) and self._less_of(option, lines))
                own = Option(option.entity)
                had = any(self.held.chosen_for(one, own) for line in lines for one in line.before)
                soft = soft and not had  # "hot instead of mild", where one of two is mild
                if not went and not (soft and any(self.held.has(line, off) for line in lines)):
                    return off.words
            return None
        gone = [line for line in lines if line.quantity < line.had]
        gone = [line for line in gone if not line.quantity or self._fewer(line, lines)]
        if said.head is not None:
            gone = [line for line in gone if self.held.named(line, said.mask, before=True)]
            turned = [line for line in lines if self.held.turned(line, said.mask)]
            there = [line for line in lines if line.quantity and self.held.named(line, said.mask)]
            if said.verb == "instead-of" and self._not_in_copy(said, lines):
                return None  # "another meal with a salad instead of the fries"
            if not gone and (turned or not there) and not said.options:
                return None  # it gave way, or never came to be
        if not gone:
            return "" if said.head is not None or said.verb == "remove" else None
        for option in said.options:
            if not any(
                self.held.made_with(thing, option) or only_called(line, option)
                for line in gone
                for thing in line.before
            ):
                return option.words
        if said.count is not None and not said.half:
            amounts = [line.had - line.quantity for line in gone]
            if said.count not in (*amounts, sum(amounts)):
                return ""
        return None

    def _is_of_another(self, said: Said, after: Said, lines: Sequence[Line]) -> bool:
        """Whether what is said right behind a name made something else so: "the americano iced"."""
        begins = after.head or after.ref or after.number or after.joint != NOTHING
        if begins or not (said.head and said.only_points and after.described):
            return False
        changed = [line for line in lines if line.changed and not line.waits]
        return bool(changed) and not any(self.held.named(line, said.mask) for line in changed)

    def _not_in_copy(self, said: Said, lines: Sequence[Line]) -> bool:
        """Whether something is new that lacks what one like it on the order has."""
        like = [line.before[0].names for line in lines if self._holds(line.before, said.mask)]
        return any(
            line.things[0].names in like and not self._holds(line.things, said.mask)
            for line in lines
            if not (line.had or line.waits)
        )

    def _holds(self, things: Sequence[Thing], mask: int) -> bool:
        """Whether a combo has one of some dishes."""
        return any(self.held.is_one(thing, mask) for thing in things[1:])

    def _less_of(self, option: Option, lines: Sequence[Line]) -> bool:
        """Whether there is no longer as much of something: "never mind the extra corn"."""
        much = replace(option, no=False)
        return any(
            any(self.held.made_with(thing, much) for thing in line.before)
            and not any(self.held.made_with(thing, much) for thing in line.things)
            for line in lines
        )

    def _gone(self, option: Option, line: Line) -> bool:
        """Whether a line had something that it has no more."""
        there = any(self.held.chosen_for(thing, option) for thing in line.things)
        return self._had(option, line) and not there

    def _had(self, option: Option, line: Line) -> bool:
        return any(self.held.chosen_for(thing, option) for thing in line.before)

    def _still_there(self, option: Option, lines: Sequence[Line]) -> bool:
        """Whether what was to give way is wherever it was: as a choice, or as a part of a combo."""
        had = [line for line in lines if self.held.holds_words(line.before, option)]
        names = [line.before[0].names for line in had]
        new = [line for line in lines if not line.had and line.things[0].names in names]
        return bool(had) and all(self.held.holds_words(line.things, option) for line in had + new)

    def _fewer(self, line: Line, lines: Sequence[Line]) -> bool:
        """Whether there are fewer of a dish, and not only some that are made otherwise now."""
        names = line.before[0].names
        left = sum(one.quantity for one in lines if one.things[0].names == names)
        return left < sum(one.had for one in lines if one.before and one.before[0].names == names)

    def _had_nowhere(self, said: Said, lines: Sequence[Line]) -> bool:
        """Whether something is to be left out that nothing has."""
        if said.verb != "remove" or said.head is not None or not said.options:
            return False
        options = [Option(one.entity) for one in said.options]
        return not any(
            self.held.made_with(thing, option)
            for line in lines
            for thing in (*line.things, *line.before)
            for option in options
        )

    def _as_it_was(self, said: Said, lines: Sequence[Line]) -> bool:
        """Whether what is to stay did: as many as there were, with all that was named."""
        return any(
            (line.quantity and line.had)
            and (said.head is None or self.held.named(line, said.mask))
            and all(self.held.has(line, option) for option in said.options)
            for line in lines
        )

    def _another_kind(self, some: Said, of: Said, lines: Sequence[Line]) -> bool:
        """Whether some of what was ordered is to be another dish: "two colas, one of them diet"."""
        return bool(
            some.partial
            and some.head
            and not some.mask & of.mask
            and not any(
                line.had and self.held.named(line, some.mask, before=True) for line in lines
            )
        )

    def _of_several(
        self,
        said: Said,
        following: Sequence[Said],
        lines: Sequence[Line],
        tokens: Sequence[Token],
    ) -> str | None:
        """Return "both" or "each" if what is to be on several things came on one only."""
        about = said.become if said.become is not None else said
        last = following[0].place if following else len(tokens)
        if following and following[0].ref == "all" and not following[0].used:
            last += 1
        for at in range(said.place + 1, min(last, len(tokens))):
            ends = at + 1 == len(tokens) or tokens[at + 1].stop or tokens[at + 1].word == "of"
            if not ends or tokens[at].word not in _SEVERAL:
                continue
            if tokens[at].word == "each" and said.head and said.article and not about.options:
                named = [line for line in lines if self.held.named(line, said.mask)]
                if sum(line.quantity for line in named) < 2:
                    return "each"  # "a cola each"
            if tokens[at - 1].word not in _BEFORE:
                continue
            for option in about.options[-1:]:
                pieces = sum(line.quantity for line in lines if self.held.has(line, option))
                if 0 < pieces < 2 and not option.no:
                    return tokens[at].word
        return None

    def _stands_beside(self, said: Said, correction: Said, lines: Sequence[Line]) -> bool:
        """Whether what was corrected stands beside its correction, both of them new."""
        about = correction.become if correction.become is not None else correction
        new = [line for line in lines if line.quantity > line.had]
        if said.head is None or about.empty:
            return False
        old = [line for line in new if self.held.holds(line, said, frozenset())]
        if about.head is not None:
            fresh = [line for line in new if self.held.named(line, about.mask)]
        else:
            fresh = [line for line in new if self.held.named(line, said.mask)]
            fresh = [line for line in fresh if all(self.held.has(line, o) for o in about.options)]
            fresh = [line for line in fresh if not about.size or self.held.sized(line, about.size)]
        return bool(old and fresh) and not any(line in fresh for line in old)

    def _counted(self, number: int, said: Said, lines: Sequence[Line]) -> bool:
        amounts = [line.quantity for line in lines]
        more = [line.quantity - line.had for line in lines]
        less = [line.had - line.quantity for line in lines]
        sums = (sum(amounts), sum(one for one in more if one > 0))
        if number in (*amounts, *more, *less, *sums) or any(line.waits for line in lines):
            return True
        alike: dict[tuple[str, ...], int] = {}  # "make it two, one of them decaf"
        for line in lines:
            names = line.things[0].names
            alike[names] = alike.get(names, 0) + line.quantity
        if number in [alike[line.things[0].names] for line in lines if line.changed]:
            return True
        for line in lines:
            for thing in line.things:
                pieces = number_in(thing.size or "")
                each = pieces if thing is not line.things[0] else 0  # of a part, in each combo
                if pieces and number in (pieces * max(1, line.quantity), each):
                    return True
                had = {0, *(number_in(one) or 1 for was in line.before for one in was.changes)}
                if any(
                    number_in(change) - old == number for change in thing.changes for old in had
                ):
                    return True
            parts = [thing for thing in line.things[1:] if self.held.is_one(thing, said.mask)]
            wanted = [option for option in said.options if not option.no]
            made = [part for part in parts if all(self.held.made_with(part, one) for one in wanted)]
            if said.head is None and wanted:
                made = [
                    part
                    for part in line.things[1:]
                    if all(self.held.made_with(part, one) for one in wanted)
                ]
            if (said.head or made) and number in (len(parts), len(made)):
                return True
        return False

    def _shared_out(self, lines: Sequence[Line], options: Sequence[Option]) -> bool:
        """Whether one thing cannot have all options, so that several of it have one each."""
        names = {name for line in lines for name in line.things[0].names}
        return len(names) == 1 and any(
            self._kitchen.excludes_in_a_list(name, one.words, other.words)
            for name in names
            for at, one in enumerate(options)
            for other in options[at + 1 :]
        )


def _asked(questions: Sequence[Question]) -> frozenset[str]:
    """Return the stems of everything that is asked about by name."""
    named: set[str] = set()
    for question in questions:
        if question.code == "choice_missing":
            continue
        named.update(stems(str(question.facts.get("words") or "")))
    return frozenset(named)


def _denied_after(said: Said, following: Sequence[Said]) -> dict[str, int]:
    """Return the choices that are denied in an item, or right after it, with the places of it."""
    options = [*said.options]
    after = following[0] if following else Said()
    if not (after.head or after.ref or after.number or after.become or after.size):
        options += after.options
    return {
        one.entity.words: one.place
        for one in options
        if one.no and not (one.amount or one.half or one.side)
    }


def _only_a_number(said: Said) -> bool:
    return said.count is not None and not (said.head or said.ref or said.described or said.become)


def _takes_back(kept: Said, earlier: Said) -> bool:
    """Whether what stays is what was to go, or the size it had: "no wait, keep the large"."""
    if kept.head is not None:
        return earlier.verb == "remove" and bool(kept.mask & earlier.mask)
    about = earlier.become if earlier.become is not None else earlier
    return kept.size is not None and about.size is not None and not kept.ref


def _means(after: Said, said: Said) -> bool:
    """Whether a change speaks of what was ordered before: "the small cola", "it"."""
    options = {one.words for one in said.options}
    told = after.size is not None or bool(after.options)
    if after.head is not None:
        named = bool(after.mask & said.mask)
    else:
        named = after.ref in _IT or (after.ref == "one" and told)
    sized = after.size is None or (said.size is not None and said.size.words == after.size.words)
    return named and sized and all(one.words in options for one in after.options)


def _says_again(correction: Said, earlier: Said) -> bool:
    """Whether a correction only says how many of an earlier thing there are to be."""
    if correction.head is not None:
        return correction.counts and bool(correction.mask & earlier.mask)
    told = {one.words for one in correction.options}
    return bool(correction.count and told) and told <= {one.words for one in earlier.options}


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


def _is_announced(said: Said, after: Said) -> bool:
    """Whether something is only named, so that it is changed: "the cola, make it a lemonade"."""
    named = said.head is not None and said.definite and not (said.described or said.verb)
    changed = after.become is not None or after.verb == "remove" or after.off
    return named and said.number is None and after.ref == "it" and changed


def _counted_again(said: Said, following: Sequence[Said]) -> bool:
    """Whether a later item says another number: "make it four", "make that two colas"."""
    for one in following:
        corrects = one.correct and _says_again(one, said)
        same = corrects or one.verb == "change" and one.mask & said.mask
        about = one.become if one.become is not None else one if same else None
        if about is not None and about.count is not None:
            return True
    return False
