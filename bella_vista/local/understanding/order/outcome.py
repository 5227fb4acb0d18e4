"""The order as one reading leaves it, and the acts that change it."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bella_vista.local.english import numbers
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.meaning import LineSeen, Question
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.item_writer import ItemWriter
from bella_vista.local.understanding.order.matching import USUAL, Matcher, plainest
from bella_vista.local.understanding.order.parts import on_order
from bella_vista.local.understanding.readings.said import Option, Said
from bella_vista.local.understanding.words.tokens import number_at, tokenize
from state.menu.words import stems

NOT_THERE, NO_EFFECT, NEW_THOUGH_THERE, LOOSE, WHICH, OTHER = 2.0, 2.0, 1.0, 2.2, 0.6, 0.5
"""Costs of a reading that does not fit the order."""


@dataclass(frozen=True, slots=True)
class Which:
    """A change that waits until the line is known.

    Args:
        lines: The lines it may be.
        said: What was said.
        drop: Whether the line is to go.
        count: How many pieces of it.
    """

    lines: list[Item]
    said: Said
    drop: bool
    count: int | None


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation in which a line is said, beside the order.

    Args:
        topic: A dish that was spoken of before.
        which: What waits until it is known with which line.
        before: The lines before what was changed last, where that is known.
        reviewed: Whether the order has been read back and waits for a yes.
        sold_out: What of the order is sold out now.
        topic_size: The size of the dish that was spoken of.
    """

    topic: str | None = None
    which: Which | None = None
    before: Sequence[Item] | None = None
    reviewed: bool = False
    sold_out: Sequence[str] = ()
    topic_size: str | None = None


class Outcome:
    """A copy of the order that one reading is carried out on.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of things.
        lines: The lines of the order as things; they are changed.
        waiting: The things that wait for an answer; they are changed.
        words: The words of the line.
        situation: What the line is said upon.
    """

    def __init__(
        self,
        index: Index,
        kitchen: Kitchen,
        lines: Sequence[Item],
        waiting: Sequence[Item],
        words: Sequence[str],
        situation: Situation,
    ) -> None:
        self.index = index
        self.kitchen = kitchen
        self.matcher = Matcher(index, kitchen)
        """Compares things with descriptions."""
        self.writer = ItemWriter(kitchen, self.matcher)
        """Writes into things what was said of them."""
        self.lines = lines
        self.waiting = list(waiting)
        self._words = words
        self.items: list[Item] = []
        """The new things."""
        self.touched: list[Item] = []
        """The lines that are not as they were."""
        self.settled: list[Item] = []
        """The things that waited for an answer and got one."""
        self.questions: list[Question] = []
        self.penalty = 0.0
        """The cost of all that does not fit the order."""
        self.place = 0
        """The place in the line that is carried out now."""
        self.spoken: Item | None = None
        """The thing that was spoken of last."""
        self.leaving = 0
        """The bits of the dishes that the rest of the line takes off."""
        self.put: Sequence[Option] = ()
        """Choices that were put on something just now: "the cheese on the beef one"."""
        self.removed: Item | None = None
        """The thing that was taken off last."""
        self.fewer: Item | None = None
        """The line of which there are fewer now: "only one coke, the other one should be a water"."""
        self.situation = situation
        """The situation in which the line is said."""
        self.which = situation.which
        """The change that waits until the line is known."""
        self.gives_way: Item | None = None
        """The thing that is to give way to what is named next."""
        self.part_gives_way: Said | None = None
        """What is to give way to it and is no line of the order, but may be a part of a combo."""
        self.several_give_way = False
        """Whether that was said of several, so that "a cola" leaves one."""
        self.announced: list[Item] = []
        """The thing that was announced, and those that were named for it."""
        self.excepted: list[Item] = []
        """The things that what is said now does not hold for."""

    # -- what there is ---------------------------------------------------------------------------------------

    @property
    def there(self) -> list[Item]:
        """The lines that are not taken off, and not excepted."""
        return [
            item
            for item in self.lines
            if item.gone < (item.quantity or 1) and item not in self.excepted
        ]

    @property
    def things(self) -> list[Item]:
        """Everything that is on the order or new."""
        return [*self.there, *(item for item in self.items if item not in self.excepted)]

    @property
    def last(self) -> Item | None:
        """The thing that "it" means."""
        things = self.things
        if self.leaving:
            stays = [item for item in things if not self.matcher.mask(item) & self.leaving]
            things = stays or things
        if self.spoken is not None and self.spoken in things:
            return self.spoken
        just = None if self.items else self.changed_just_before(counted=True)
        return just if just in things else things[-1] if things else None

    def changed_just_before(self, *, counted: bool) -> Item | None:
        """Return the one line that the guest's last message ordered or changed, or only ``counted`` again."""
        old = {one.line.id: one.line for one in self.situation.before or () if one.line}
        made = [
            item
            for item in (self.lines if self.situation.before is not None else ())
            if (line := item.line) is not None
            and old.get(line.id) != line
            and (counted or line.id not in old or _uncounted(old[line.id]) != _uncounted(line))
        ]
        return made[0] if len(made) == 1 else None

    def asked_about(self) -> str | None:
        """Return the dish that was asked about before, is not on the order and waits for no answer."""
        topic = self.situation.topic
        bit = self.index.bit(topic or "")
        return topic if bit and not self.matcher.named(bit, [*self.things, *self.waiting]) else None

    def of_lines(self, said: Said) -> list[Item]:
        """Return the things on the lines that a description means."""
        return [item for item in self.there if item.line and item.line.id in said.lines]

    def gave_way(self, mask: int) -> bool:
        """Whether a line, or some of it, was of a dish or had it in a combo, and no longer is or has."""
        pieces = ((item, item.source) for item in self.items if item.source is not None)
        return any(
            self.matcher.named(mask, was.parts)
            and not self.matcher.named(mask, (item, *item.parts))
            for item, was in pieces
        ) or any(
            self.matcher.named(mask, (was, *was.parts))
            and not self.matcher.named(mask, (item, *item.parts))
            for item in self.touched
            if item.line is not None
            for was in (on_order(item.line, self.kitchen),)
        )

    @property
    def length(self) -> int:
        """How many words the line has."""
        return len(self._words)

    def told(self, places: Iterable[int]) -> str:
        """Return the guest's words at some places."""
        return " ".join(self._words[at] for at in sorted(places))

    def after_pauses(self, wanted: Container[str]) -> Iterator[int]:
        """Find the places of some words that follow a pause, or that a number follows."""
        for at, (before, word) in enumerate(pairwise(self._words), 1):
            following = self._words[at + 1] if at + 1 < len(self._words) else ""
            counts = following.isdigit() or following in numbers.UNITS
            if word in wanted and (counts or not before.isalnum()):
                yield at

    def says_but(self, said: Said) -> bool:
        """Whether a "but" stands between what something is called and how it is to be."""
        first = said.named[1]
        told = [*said.told, said.sized - 1] if said.sized > first else said.told
        last = min(told, default=first)
        return "but" in self._words[first:last]

    # -- new things ------------------------------------------------------------------------------------------

    def make(self, said: Said) -> Item:
        """Make a thing of what was said; it is on no order yet."""
        names = self.index.names(self.narrowed(said.mask, said))
        quantity = None if said.few else said.count if said.count is not None else 1
        names, said = self.called_by_option(names, said)
        names = plainest(names) if said.plain else names
        item = Item(words=said.words, names=names, quantity=quantity)
        if said.strange:
            item.words = self.told({*said.unknown, *range(*said.named)})
            item.names, item.near = (), names[:3]
        elif said.weak and not said.described and not said.parts:
            item.names, item.near = (), names
        item.counted = said.count is not None or said.article
        before = self.told(range(said.place, said.named[0])).split()
        item.portions = not words_of("portions").isdisjoint(before)
        first = min(said.told, default=said.named[1])
        item.listed = self.told(range(said.named[1], first)) in (",", ":")
        item.spoken, item.filling = said.place, said.filling
        self.give(item, said)
        for part in said.parts:
            called = self._of_combo(item, part.mask)
            count, several = part.count or 1, len(called) != 1 or part.size is not None
            pieces = None if several else self.kitchen.in_pieces(called[0], count)
            for _ in range(min(pieces[1] if pieces else count, 12)):
                chosen = Item(part.words, called, size=pieces[0] if pieces else None)
                chosen.filling = part.filling
                self.give(chosen, part)
                item.parts.append(chosen)
        return item

    def called_by_option(self, names: tuple[str, ...], said: Said) -> tuple[tuple[str, ...], Said]:
        """Take "pho with chicken" for the chicken pho, where several are called pho."""
        for option in said.options if len(names) > 1 else ():
            words = set(stems(option.entity.words))
            called = tuple(name for name in names if words <= set(stems(name)))
            if len(called) == 1 and not option.no:
                rest = [one for one in said.options if one is not option]
                return called, replace(said, options=rest)
        return names, said

    def narrowed(self, mask: int, said: Said) -> int:
        """Keep of several dishes those that can be as it is said."""
        if not mask & (mask - 1):
            return mask
        for option in said.options:
            if (
                option.no
                and self.index.bit(self._exact(mask, said.words) or "") & ~option.entity.own
            ):
                continue  # "a burrito bowl with no rice" is no burrito
            mask = mask & (option.entity.own if option.no else option.entity.mask) or mask
        return mask & said.size.mask or mask if said.size is not None else mask

    def _exact(self, mask: int, words: str) -> str | None:
        """Return the dish whose whole name some words are."""
        said = stems(words)
        return next((name for name in self.index.names(mask) if stems(name) == said), None)

    def _of_combo(self, item: Item, mask: int) -> tuple[str, ...]:
        names = self.index.names(mask)
        combo = self.kitchen.combo(item.name)
        allowed = {name for part in combo.parts for name in part.dishes} if combo else set()
        return plainest([name for name in names if name in allowed] or names)

    def add(self, item: Item) -> Item:
        """Order a thing."""
        self.items.append(item)
        self.spoken = item
        return item

    def order(
        self, said: Said, words: str, names: tuple[str, ...], count: int | None = None
    ) -> Item:
        """Order some dish of which it was only said how it is to be."""
        item = Item(words=words, names=names, quantity=count or said.count or 1)
        item.counted, item.spoken = count is not None or said.count is not None, said.place
        self.give(item, said)
        if words == self.situation.topic and item.size is None:
            item.size = self.situation.topic_size  # "how much is the large? one of those, then"
        return self.add(item)

    def repeat(self, item: Item, said: Said) -> None:
        """Order some more of a thing, with what is said to be different."""
        fresh = item.copy(said.count or 1)
        told = fresh.changes[item.yielding :] if item.copied else []
        fresh.changes = [  # of a copy, what was told of it alone takes the place of what it had
            one
            for one in fresh.changes
            if not any(self.kitchen.excludes(item.name, one, other) for other in told)
        ]
        fresh.spoken, fresh.copied, fresh.yielding = said.place, True, len(fresh.changes)
        if self._plain_one(item, said):
            fresh.changes, fresh.yielding = [], 0
            said = replace(said, options=[], size=None)
        elif self._told_in_full(item, said):
            lacks = self.kitchen.lacks(item.name, [option.words for option in said.options])
            fresh.changes = [
                one
                for one in fresh.changes
                if lacks
                and self.kitchen.must_choose(item.name, one)
                and not any(
                    self.kitchen.same_group(item.name or "", one, option.words)
                    for option in said.options
                )
            ]
            fresh.yielding = len(fresh.changes)
        if said.head is None and (turned := self.matcher.kin(item, said)) is not None:
            self.give_place(fresh, self.make(turned))  # "the same but with turkey"
            said = Said()
        for part in said.parts:
            same = self.matcher.named(part.mask, fresh.parts)
            if part.mask & (part.mask - 1) and len(same) == 1:
                self.give(same[0], part)  # "the same sandwich, but on rye"
            else:
                self.takes_part(fresh, self.make(part))
        gone = [one for one in said.replaced if not self.matcher.called(item.parts, one.words)]
        self.give(fresh, replace(said, replaced=gone))
        self.add(fresh)

    def _told_in_full(self, item: Item, said: Said) -> bool:
        """Whether one more is told in full: "a burger without onions and another with cheese" has onions."""
        begins = " ".join(self._words[said.place :])
        return item.line is None and pattern("told in full").match(begins) is not None

    def _plain_one(self, item: Item, said: Said) -> bool:
        """Whether one more of a thing with changes is to be without them: "another one regular"."""
        told = [one.entity for one in said.options] + ([said.size] if said.size else [])
        if not item.changes or not told or any(one.words not in USUAL for one in told):
            return False
        return not any(
            self.kitchen.excludes(item.name, change, one.words)
            for change in item.changes
            for one in told
            if one.kind == "option"
        )

    # -- changing a thing ------------------------------------------------------------------------------------

    def touch(self, item: Item) -> None:
        """Note that a thing was spoken of, and its line changed."""
        self.spoken = item
        if item.line is not None and item not in self.touched:
            item.spoken = self.place
            self.touched.append(item)

    def puts_back(self, words: str) -> bool:
        """Put back what was left off a thing, though it is a dish as well: "put the kimchi back"."""
        said = set(stems(words))
        for item in reversed(self.there):
            for change in item.changes:
                if change.startswith("no ") and said <= set(stems(change)):
                    item.changes.remove(change)
                    item.yielding = min(item.yielding, len(item.changes))
                    self.touch(item)
                    return True
        return False

    def leaves_other(self, options: Sequence[Option], goal: Sequence[Item]) -> bool:
        """Take options off the only other thing that has them; returns whether there is one."""
        had = [item for item in self.matcher.made_with(self.things, options) if item not in goal]
        if len(had) == 1:
            self.writer.give_way(had[0], options)
            self.touch(had[0])
        return len(had) == 1

    def give(self, item: Item, said: Said) -> None:
        """Give a thing the size, changes and notes that were said."""
        if said.unknown and not said.strange:
            item.unknown.append(self.told(said.unknown))
        if not self.writer.give(item, said):
            self.penalty += NOT_THERE

    def change(self, item: Item, said: Said) -> None:
        """Change what is said of a thing; the rest of it stays."""
        if said.plain and not said.options and not said.size:
            if item.changes:
                item.changes = self.kitchen.needed(item.name, item.changes)
            elif said.usual in USUAL and self.kitchen.size(item.name, "regular"):
                item.size = "regular"
        if said.count == 0:
            self.take_off(item, None)
            return
        said = self.in_pieces(item, said)
        if said.count is not None:
            self.count(item, said.count)
        if said.size is not None and (part := self._part_of_size(item, said.size.words)):
            part.size, said = said.size.words, replace(said, size=None)
        elif said.size is not None and item.line is not None and item.parts:
            self.penalty += NOT_THERE  # a combo has no sizes: rather one of its parts
        if item.line is None and said.verb != "add":
            item.yielding = len(item.changes)  # "with whole milk, actually make that skim"
        left_off = item in self.touched or any(one.no for one in said.options)
        if said.exact and said.definite and left_off:  # "no blue cheese, just the ranch"
            counted = [o for o in said.options if o.count == 1 and o.entity.tallied and not o.no]
            there = [one for one in counted if self.matcher.made_with([item], [one])]
            said = replace(said, options=[one for one in said.options if one not in there])
            many = number_at(tokenize(said.size.words), 0) if said.size and there else None
            if many is not None and any(one.startswith(f"{many[0]} ") for one in item.changes):
                said = replace(said, size=None)  # "just the three ranch"
        if said.verb != "add" and not said.more:
            self.writer.count_anew(item, said.options)
        chosen_anew = item in self.touched and len(item.changes) > item.yielding
        if said.instead and item.yielding and not chosen_anew:
            self.writer.of_same_group(item, said.options)
        for told in said.parts if item.source is not None else ():
            self.takes_part(item, self.make(told))  # "one of the meals with a cola"
        self.give(item, said)
        self.touch(item)

    def in_pieces(self, item: Item, said: Said) -> Said:
        """Take a number for the size of what comes in so many pieces, the last part first: "wings, twelve"."""
        able = [item, *item.parts] if said.count is not None and said.size is None else []
        for part in reversed(able):
            found = self.kitchen.in_pieces(part.name, said.count or 1)
            if found is not None and found[0] == part.size:
                return replace(said, count=found[1])  # "make that two dozen", of a dozen
            if found is not None and found[1] == 1 and not (part.size or part.counted):
                part.size = found[0]
                return replace(said, count=None)
        return said

    def _part_of_size(self, item: Item, size: str) -> Item | None:
        """Return the only part of a combo that comes in a size: "make it a double"."""
        if self.kitchen.size(item.name, size):
            return None
        able = [part for part in item.parts if self.kitchen.size(part.name, size)]
        return able[0] if len(able) == 1 else None

    def change_each(self, become: Said, found: Sequence[Item], count: int | None = None) -> None:
        """Change each of some things, or make it another dish; so many pieces of it where that is said."""
        for item in found:
            target = self.pieces(item, count)
            if become.head is None and (turned := self.matcher.kin(target, become)) is not None:
                self.replace(target, turned)
                continue
            other = become.head is not None and not self.matcher.named(become.mask, [target])
            if other and not become.on:
                self.replace(target, become)
            else:
                self.change(target, become)

    def count(self, item: Item, count: int) -> None:
        """Make it so many; or of another size, where it comes by the piece."""
        dish, pieces = self.kitchen.dish(item.name), self.kitchen.in_pieces(item.name, count)
        for size in dish.sizes if dish is not None and item.quantity == 1 else ():
            if stems(size)[:1] == (str(count),) or pieces == (size, 1):  # "half a dozen"
                item.size = size
                return
        if item.line is not None and count < (item.quantity or 1):
            self.fewer = item
        item.quantity = count

    def counts_kind(self, item: Item, said: Said) -> bool:
        """Whether only a number is said of the kind that a thing was called: "two ham pizzas, no, three pizzas"."""
        named = set(stems(said.words))
        if said.count is None or not named:
            return False
        kinds = self.index.kinds.get(self.matcher.mask(item), frozenset())
        of_kind = named <= kinds and named.isdisjoint(self.matcher.words_of(item))
        return of_kind or named < set(stems(item.words))

    def replace(self, item: Item, said: Said) -> None:
        """Make a thing another dish; what was said of it stays as far as it can."""
        if self.counts_kind(item, said) and not (said.options or said.parts):
            self.change(item, replace(said, head=None))
            return
        if self.matcher.named(said.mask, [item]) and item.name and said.described:
            self.change(item, replace(said, head=None))
            return
        if self._into_combo(item, said):
            return
        fresh = self.make(said)
        if self.takes_part(item, fresh):
            return
        self.give_place(item, fresh)
        if said.count is not None:
            item.quantity = said.count

    def takes_part(self, item: Item, fresh: Item) -> bool:
        """Put a dish in the place of a part of a combo: "change the cola to a sprite in the combo"."""
        combo = self.kitchen.combo(item.name)
        for at, part in reversed(list(enumerate(item.parts))) if combo and fresh.name else ():
            rest = [one.name or "" for one in item.parts if one is not part]
            if combo is not None and self.kitchen.room_for(combo, rest, fresh.name or ""):
                self.writer.keep_told_size(part, fresh)
                item.parts[at] = fresh
                self.touch(item)
                return True
        return False

    def give_place(self, item: Item, fresh: Item) -> None:
        """Put another thing in the place of one; what was said of that stays as far as it can."""
        if len(fresh.names) > 1:  # "swap the beef taco for a chicken one"
            kin = [one for one in fresh.names if one in self.matcher.kindred(item, fresh.words)]
            fresh.names = (kin[0],) if len(kin) == 1 else fresh.names
        told = len(fresh.changes)
        self.writer.keep_choices(item, fresh)
        kept = len(fresh.changes) - told
        self.become(item, fresh)
        item.yielding = kept

    def become(self, item: Item, fresh: Item) -> None:
        """Put another thing in the place of one."""
        item.words, item.names, item.near = fresh.words, fresh.names, fresh.near
        item.size, item.changes, item.parts = fresh.size, list(fresh.changes), fresh.parts
        item.unknown, item.yielding = list(fresh.unknown), 0
        if fresh.counted and (fresh.quantity or 1) > 1:
            item.quantity = fresh.quantity
        self.touch(item)

    def _into_combo(self, item: Item, said: Said) -> bool:
        """Make a dish a combo with it: "make that a meal"."""
        if said.mask & ~self.index.combos or not item.name:
            return False
        own = self.index.bit(item.name)
        fitting = [
            bit for bit, parts in self.index.parts.items() if bit & said.mask and parts & own
        ]
        if not fitting:
            return False
        part = item.copy(1)
        fresh = self.make(replace(said, mask=sum(fitting)))
        for one, told in zip(fresh.parts, said.parts, strict=False):
            self._move_in(item, one, told)
        fresh.parts.insert(0, part)
        fresh.size, fresh.counted = None, False
        self.become(item, fresh)
        return True

    def _move_in(self, item: Item, part: Item, told: Said) -> None:
        """Let what is on the order become a part of a combo: "make it a meal with the fries"."""
        first = told.named[0]
        before = self._words[max(first - 1, 0) : first + 1]  # a name may hold its article
        others = [one for one in self.there if one is not item and one.names == part.names]
        if len(others) != 1 or words_of("points at").isdisjoint(before):
            return
        part.size = part.size or others[0].size
        part.changes = part.changes or [*others[0].changes]
        self.take_off(others[0], 1)

    def pieces(self, item: Item, count: int | None) -> Item:
        """Return so many pieces as a thing of their own, or the thing itself where these are all."""
        total = item.quantity or 1
        if count is None or count >= total:
            return item
        item.quantity = total - count
        self.touch(item)
        part = item.copy(count)
        part.source, part.yielding, part.spoken = item, len(item.changes), self.place
        at = len(self.items) if item.line is not None else self.items.index(item) + 1
        self.items.insert(at, part)
        return part

    def split(self, item: Item, said: Said, count: int | None) -> None:
        """Make so many of several new things different; all that are left where no number is said."""
        probe = Item(words=item.words, names=item.names)
        self.matcher.make_plain(probe, said)
        if any(
            o.carried and o.joined and not self.kitchen.has(item.name, o.entity.words)
            for o in said.options
        ):
            self.penalty += OTHER  # "no mayo and avocado": rather with that
        self.give(probe, said)
        size = said.size.words if said.size is not None else None
        item.splits.append(Split(count, size, probe.changes, probe.notes))

    # -- taking off ------------------------------------------------------------------------------------------

    def take_off(self, item: Item, count: int | None) -> None:
        """Take so many pieces off, or the whole thing."""
        total = item.quantity or 1
        gone = total if count is None else min(total - item.gone, count)
        if item.line is None:
            item.quantity = total - gone
            if not item.quantity and item in self.items:
                self.items.remove(item)
        else:
            item.gone = min(total, item.gone + gone)
            self.touch(item)
        self.removed = item

    # -- what waits, and what is asked -----------------------------------------------------------------------

    def settle(self, item: Item) -> None:
        """Note that a thing got what it waited for."""
        if item not in self.settled:
            self.settled.append(item)
            self.penalty -= 0.5
        self.spoken = item

    def not_found(self, said: Said) -> None:
        """Ask about something that is not on the order."""
        words = said.words or " ".join(option.entity.words for option in said.options)
        self.questions.append(Question("not_found", {"words": words or "that"}))

    def ask_which(
        self, said: Said, targets: Sequence[Item], *, drop: bool = False, count: int | None = None
    ) -> bool:
        """Ask which of several lines is meant."""
        lines = [item for item in targets if item.line is not None]
        if not lines:
            return False
        one_of_size = said.ref == "one" and said.definite and said.size is not None
        asked_for = said.ref == "of-them" or said.partial or one_of_size
        self.penalty += 0.0 if asked_for else WHICH
        facts = {
            "words": said.words,
            "possible": [_shown(item) for item in lines],
            "line_ids": [item.line.id for item in lines if item.line],
            "said": said,
            "drop": drop,
            "count": count,
        }
        self.which = Which(lines, said, drop, count)
        self.questions.append(Question("which_line", facts))
        return True


def _shown(item: Item) -> str:
    parts = [str(item.quantity or 1), item.size or "", item.name or item.words]
    said = " ".join(part for part in parts if part)
    told = [*item.changes, *(part.name or part.words for part in item.parts)]
    return f"{said} ({', '.join(told)})" if told else said


def _uncounted(line: LineSeen) -> LineSeen:
    return replace(line, quantity=1)
