"""Questions of the accounting about a line of the order, as it is in the end and as it was before."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.menu.index import Entity, Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.matching import USUAL
from bella_vista.local.understanding.order.parts import on_order
from bella_vista.local.understanding.readings.said import Option, Said
from bella_vista.local.understanding.words.tokens import number_at, tokenize
from state.menu.words import stems


@dataclass(slots=True)
class Thing:
    """One dish, with how it is made: by itself, or as a part of a combo."""

    names: tuple[str, ...]
    size: str | None
    changes: tuple[str, ...]


@dataclass(slots=True)
class Line:
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

    things: list[Thing] = field(default_factory=list)
    before: list[Thing] = field(default_factory=list)
    quantity: int = 0
    had: int = 0
    note: str = ""
    waits: bool = False
    id: str = ""

    @property
    def changed(self) -> bool:
        """Whether it is not as it was."""
        return self.things != self.before or self.quantity != self.had

    @property
    def renamed(self) -> bool:
        """Whether it, or a part of it, became another dish."""
        return bool(self.before) and [t.names for t in self.things] != [
            t.names for t in self.before
        ]

    @property
    def resized(self) -> bool:
        """Whether it is of another size now."""
        return bool(self.before) and self.things[0].size != self.before[0].size

    def shown(self) -> dict[str, Any]:
        """Return it as an order shows its lines."""
        parts = [
            {"name": part.names[0], "size": part.size, "modifications": sorted(part.changes)}
            for part in self.things[1:]
        ]
        own = self.things[0]
        return {
            "id": self.id,
            "name": own.names[0],
            "quantity": self.quantity,
            "size": own.size,
            "modifications": sorted(own.changes),
            "parts": parts,
            "note": self.note,
        }


class Held:
    """Says what the lines of an order hold.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of words.
    """

    def __init__(self, index: Index, kitchen: Kitchen) -> None:
        self._index = index
        self._kitchen = kitchen
        self._made: dict[tuple[object, ...], bool] = {}

    def lines(
        self, drafts: Sequence[Draft], questions: Sequence[Question], known: Sequence[Item]
    ) -> list[Line]:
        """Return the lines of the order as they are in the end, and wishes that wait."""
        there: dict[str, Line] = {}
        for item in known:
            if item.line is None:
                continue
            seen = on_order(item.line, self._kitchen)
            things = [Thing(one.names, one.size, tuple(one.changes)) for one in (seen, *seen.parts)]
            amount = item.line.quantity
            there[item.line.id] = Line(list(things), things, amount, amount, id=item.line.id)
        lines = list(there.values())
        waiting = [question.draft for question in questions if question.draft is not None]
        for draft in (*drafts, *waiting):
            fields = draft.fields
            line = there.get(str(fields.get("line_id")))
            if draft.op == "remove_item" and line is not None:
                line.quantity -= int(fields.get("quantity", line.quantity))
            elif draft.op in ("add_item", "change_item"):
                if line is None:
                    line = Line()
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
                lines.append(Line([Thing((str(name),), None, ())], waits=True))
        return lines

    def named(self, line: Line, mask: int, *, before: bool = False) -> bool:
        """Whether a line is of some dishes, or has them in a combo.

        Args:
            line: The line.
            mask: The dishes.
            before: Whether it may also have been so before.
        """
        things = (*line.things, *line.before) if before else line.things
        return any(self.is_one(thing, mask) for thing in things)

    def turned(self, line: Line, mask: int) -> bool:
        """Whether a line was of some dish and is another one now."""
        other = bool(line.before) and line.things[0].names != line.before[0].names
        return self.named(line, mask, before=True) and (other or not self.named(line, mask))

    def has_fewer(self, line: Line, mask: int) -> bool:
        """Whether a line had more of some dish, of several that are meant, in a combo."""
        before, now = (
            Counter(thing.names for thing in things[1:] if self.is_one(thing, mask))
            for things in (line.before, line.things)
        )
        return bool(before - now)

    def chosen(self, line: Line, words: str) -> bool:
        """Whether the name of a dish is also one of the choices of a line."""
        said = set(stems(words))
        return any(said <= set(stems(change)) for thing in line.things for change in thing.changes)

    def called(self, line: Line, words: str) -> bool:
        """Whether a line is of the kind that some words name."""
        return bool(words) and any(
            self._kitchen.is_kind_of(name, words) for thing in line.things for name in thing.names
        )

    def is_one(self, thing: Thing, mask: int) -> bool:
        """Whether a thing may be of some dishes."""
        return any(self._index.bit(name) & mask for name in thing.names)

    def alone(self, line: Line, option: Option) -> bool:
        """Whether "just" this is on a line: it does not come anyway, or something else was left off."""
        comes = any(
            self._kitchen.has(name, option.entity.words)
            for thing in line.things
            for name in thing.names
        )
        left_off = (change.startswith("no ") for one in line.things for change in one.changes)
        return option.no or bool(option.amount) or not comes or any(left_off)

    def sized(self, line: Line, size: Entity, options: Sequence[Option] = ()) -> bool:
        """Whether a thing of a line is of a size; "regular, but on rye" has that choice beside it."""
        return any(self._of_size(thing, size, options) for thing in line.things)

    def _of_size(self, thing: Thing, size: Entity, options: Sequence[Option]) -> bool:
        for name in thing.names:
            dish = self._kitchen.dish(name)
            if dish is None:
                continue
            meant = self._kitchen.size(name, size.words)
            if meant is None and size.words in USUAL:
                return len(thing.changes) <= len(options)  # where that is no size of it
            if not dish.sizes or (meant is not None and meant == (thing.size or dish.implied_size)):
                return True
        return len(thing.names) > 1

    def has(self, line: Line, option: Option, *, just_now: bool = False) -> bool:
        """Whether an option is in a line, or a thing that is not wanted is not.

        Args:
            line: The line.
            option: The option.
            just_now: Whether it has to have come about just now.
        """
        if option.side and line.note:
            if any(words in line.note for words in self._kinds_on_the_side(line.things, option)):
                return True
            if option.words in line.note:
                option = replace(option, side=False)
        if option.entity.kind == "group" and (option.no or line.things != line.before):
            words = option.entity.words
            for thing in line.things:
                made = product(thing.names, thing.changes)
                if any(self._kitchen.is_kind(name, change, words) for name, change in made):
                    return True  # "no bun, a lettuce wrap", "two flavors, mild and hot"
        if option.no and option.amount:  # "no extra jalapenos"
            much = replace(option, no=False)
            return not any(self.made_with(thing, much) for thing in line.things)
        if option.no:
            was = any(self.made_with(thing, Option(option.entity)) for thing in line.before)
            now = any(self.made_with(thing, Option(option.entity)) for thing in line.things)
            own = Option(option.entity)
            if just_now and any(self.chosen_for(thing, own) for thing in line.before):
                return not any(self.chosen_for(thing, own) for thing in line.things)
            if now and not any(self.made_with(thing, option) for thing in line.things):
                return False
            if was and not now:
                return True
            if not just_now and not now and not self._possible(line, option):
                return True
            if just_now:
                return any(
                    self.made_with(thing, option) and self._kitchen.made(name, option.words)
                    for thing in line.things
                    for name in thing.names
                )
        return any(self.made_with(thing, option) for thing in line.things)

    def _kinds_on_the_side(self, things: Sequence[Thing], option: Option) -> Iterator[str]:
        """Say which choices "the dressing on the side" may be: "ranch on the side"."""
        for thing in things:
            for name, change in product(thing.names, thing.changes):
                if self._kitchen.is_kind(name, change, option.entity.words):
                    yield option.of(self._kitchen.choice(name, change))

    def _possible(self, line: Line, option: Option) -> bool:
        return any(
            self._kitchen.has(name, option.entity.words)
            for thing in line.things
            for name in thing.names
        )

    def holds(self, line: Line, said: Said, asked: frozenset[str]) -> bool:
        """Whether one dish of a line is all that was said."""
        return any(
            self.is_one(thing, said.mask)
            and (said.size is None or self._of_size(thing, said.size, said.options))
            and all(
                self.made_with(thing, option)
                for option in said.options
                if not set(stems(option.entity.words)) <= asked
            )
            for thing in line.things
        )

    def holds_words(self, things: Sequence[Thing], option: Option) -> bool:
        """Whether things have an option, or a part of that name."""
        words = set(stems(option.entity.words))
        own = Option(option.entity)
        called = any(words <= set(stems(name)) for thing in things[1:] for name in thing.names)
        return called or any(self.made_with(thing, own) for thing in things)

    def left_out(self, option: Option, lines: Sequence[Line]) -> bool:
        """Whether something went, or is nowhere that was spoken of."""
        for line in lines:
            was = any(self.chosen_for(thing, option) for thing in line.before)
            now = any(self.chosen_for(thing, option) for thing in line.things)
            if was and (not now or line.quantity < line.had):
                return True
        return not any(
            self.chosen_for(thing, option)
            for line in lines
            if line.quantity > 0
            for thing in line.things
        )

    def chosen_for(self, thing: Thing, option: Option) -> bool:
        """Whether an option was chosen by its own name, not by one that contains it."""
        said = set(stems(option.entity.words))
        for name in thing.names:
            made = self._kitchen.made(name, option.words)
            if made:
                return set(made) <= set(thing.changes)
        return any(
            said == set(stems(change)) for change in thing.changes if not change.startswith("no ")
        )

    def made_with(self, thing: Thing, option: Option) -> bool:
        """Whether a dish is made with an option, or without what is not wanted."""
        key = (thing.names, thing.size, thing.changes, option.words)
        if key not in self._made:
            if len(self._made) > 20_000:
                self._made.clear()
            self._made[key] = self._is_made(thing, option)
        return self._made[key]

    def _is_made(self, thing: Thing, option: Option) -> bool:
        if option.side and not frozenset(thing.changes).isdisjoint(
            self._kinds_on_the_side([thing], option)
        ):
            return True
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
        if option.half and not (option.no or option.amount):
            if any(
                said == set(stems(one)) for n in thing.names for one in self._kitchen.contents(n)
            ):
                return True  # "half mushrooms, half just cheese"
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
                and (option.count < 2 or number_in(change) >= option.count)
                and (not option.half or option.half.split()[0] in change.split())
                and (not option.side or change.endswith("on the side"))
            ):
                return True
        return len(thing.names) > 1 or self._is_kind(thing, option)

    def _is_kind(self, thing: Thing, option: Option) -> bool:
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


def only_called(line: Line, option: Option) -> bool:
    """Whether what may be an option is only what a dish is called: "no onions in the chicken"."""
    said = set(stems(option.entity.words))
    return any(said <= set(stems(name)) for thing in line.things for name in thing.names)


def has_less(line: Line) -> bool:
    """Whether a line lost something that it had, or there are fewer of it."""
    if line.quantity < line.had:
        return True
    before = {change for thing in line.before for change in thing.changes}
    return not before <= {change for thing in line.things for change in thing.changes}


def _fill(line: Line, fields: Mapping[str, Any]) -> None:
    old = line.things[0] if line.things else Thing((), None, ())
    possible = tuple(str(one) for one in fields.get("possible") or ())
    names = (str(fields["name"]),) if fields.get("name") else possible or old.names
    changes = fields.get("modifications")
    size = fields.get("size")
    own = Thing(
        names,
        str(size) if size else old.size if names == old.names else None,
        tuple(changes) if changes is not None else old.changes,
    )
    parts = line.things[1:]
    if fields.get("parts"):
        parts = [
            Thing((str(one["name"]),), one.get("size"), tuple(one.get("modifications") or ()))
            for one in fields["parts"]
        ]
    line.things = [own, *parts]
    line.quantity = int(fields.get("quantity", line.quantity or 1))
    line.note = str(fields.get("note") or line.note)


@lru_cache(maxsize=4_000)
def number_in(words: str) -> int:
    """Return the number that some words begin with; 0 when there is none."""
    number = number_at(tokenize(words), 0) if words else None
    return number[0] if number is not None else 0
