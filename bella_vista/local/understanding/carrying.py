"""Carries a reading out on what is on the order, and says how well it fits there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bella_vista.local.understanding.grammar import JOINTS
from bella_vista.local.understanding.index import Index
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.reading import Option, Said
from state.menu.words import stems

NOT_THERE, NO_EFFECT, NEW_THOUGH_THERE, LOOSE, WHICH = 2.0, 2.0, 0.7, 2.2, 0.6
"""What it costs a reading that it does not fit what is on the order."""
_FEW = 8
_APART = frozenset(JOINTS.index(name) for name in ("nothing", "comma", "stop", "verb"))
AND, OR = JOINTS.index("and"), JOINTS.index("or")
_USUAL = ("regular", "normal", "standard")


@dataclass(slots=True)
class Outcome:
    """What a reading comes to.

    Args:
        items: What is new.
        touched: The lines that are not as they were.
        questions: What has to be asked.
        settled: The things that waited for an answer and got one.
        penalty: What it costs the reading that it does not fit.
    """

    items: list[Item] = field(default_factory=list)
    touched: list[Item] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    settled: list[Item] = field(default_factory=list)
    penalty: float = 0.0


@dataclass(frozen=True, slots=True)
class Which:
    """What waits to be done until it is known with which line.

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


class Carrying:
    """Carries one reading out.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of things.
        known: The lines of the order as things; they are changed.
        waiting: The things that wait for an answer; they are changed.
        topic: A dish that was spoken of before.
        which: What waits until it is known with which line.
        words: The words of the line.
    """

    def __init__(
        self,
        index: Index,
        kitchen: Kitchen,
        known: Sequence[Item],
        waiting: Sequence[Item],
        topic: str | None,
        which: Which | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self._words = words
        self._which = which
        self._index = index
        self._kitchen = kitchen
        self._known = known
        self._waiting = list(waiting)
        self._topic = topic
        self._old: list[Item] = []
        self._removed: Item | None = None
        self._spoken: Item | None = None
        self._base: Item | None = None
        self._asked: Question | None = None
        self._place = 0
        self._announced: list[Item] = []
        self.outcome = Outcome()

    # -- the whole -------------------------------------------------------------------------------------------

    def carry(self, said: Sequence[Said]) -> Outcome:
        """Carry out all items of a reading, one after the other."""
        for at, one in enumerate(said):
            if one.empty and one.become is None:
                if one.verb in ("remove", "swap"):
                    self.outcome.penalty += NO_EFFECT
                continue
            self._one(one, said[at + 1 :])
        for item in [*self.outcome.items]:
            self._take_in(item)
        for item in self.outcome.items:
            self._size_in(item)
        return self.outcome

    def _put_in(self, item: Item, other: Item) -> None:
        """Put a dish in the place of another part of a combo that was ordered again."""
        combo = self._kitchen.combo(item.name)
        if combo is None or other.quantity != 1 or not other.name:
            return
        for at, part in enumerate(item.parts):
            rest = [one.name or "" for one in item.parts if one is not part]
            if self._kitchen.room_for(combo, rest, other.name):
                item.parts[at] = other.copy(1)
                self.outcome.items.remove(other)
                return

    def _size_in(self, item: Item) -> None:
        """Give a size that was said of a combo to the part that comes in it."""
        combo = self._kitchen.combo(item.name)
        if combo is None or item.size is None:
            return
        for part in item.parts:
            if part.size is None and self._kitchen.size(part.name, item.size) is not None:
                part.size, item.size = item.size, None
                return
        for one in combo.parts:
            name = one.dishes[0]
            if len(one.dishes) == 1 and self._kitchen.size(name, item.size) is not None:
                item.parts.append(Item(words=name, names=(name,), size=item.size))
                item.size = None
                return

    def _take_in(self, item: Item) -> None:
        """Let a combo that is not complete take in what was ordered beside it."""
        combo = self._kitchen.combo(item.name)
        if combo is None or item.line is not None or item not in self.outcome.items:
            return
        at = self.outcome.items.index(item)
        if item.copied:
            for other in self.outcome.items[at + 1 :]:
                self._put_in(item, other)
        beside = [*self.outcome.items[at + 1 :], *reversed(self.outcome.items[:at])]
        for other in beside:
            taken = [part.name or "" for part in item.parts]
            if self._kitchen.open_part(combo, taken) is None:
                return
            room = 0
            while room < (other.quantity or 1) and other.name:
                if not self._kitchen.room_for(combo, [*taken, *[other.name] * room], other.name):
                    break
                room += 1
            if room == (other.quantity or 1) and not other.splits:
                item.parts.extend(other.copy(1) for _ in range(room))
                self.outcome.items.remove(other)

    def _one(self, said: Said, following: Sequence[Said]) -> None:
        self._place = said.place
        entities = [option.entity for option in said.options]
        self.outcome.penalty += 1.0 * (len(entities) - len(set(map(id, entities))))
        if said.off and said.verb in ("", "add", "change"):
            said.verb = "remove"
        refines = not said.verb or (said.verb == "remove" and said.ref == "one" and said.definite)
        if self._which is not None and refines and self._this_one(self._which, said):
            return
        if said.verb == "instead-of" and said.become is not None:
            said.verb = "swap"
        if said.verb == "instead-of":
            self._instead_of(said)
        elif said.verb == "remove" or said.denied:
            self._remove(said)
        elif said.verb in ("change", "swap") or said.become is not None:
            self._change(said)
        elif said.partial and (said.head or said.ref) and self._part_of(said):
            pass
        elif said.head is not None:
            self._head(said, following)
        elif said.ref:
            self._pointed(said)
        else:
            self._fragment(said)

    # -- things ------------------------------------------------------------------------------------------------

    @property
    def _things(self) -> list[Item]:
        gone = [item for item in self._known if item.gone < (item.quantity or 1)]
        return [*gone, *self.outcome.items]

    def _matching(self, mask: int, things: Iterable[Item]) -> list[Item]:
        return [item for item in things if any(self._index.bit(name) & mask for name in item.names)]

    def _last(self) -> Item | None:
        things = self._things
        if self._spoken is not None and self._spoken in things:
            return self._spoken
        return things[-1] if things else None

    def _made_with(self, items: Sequence[Item], options: Sequence[Option]) -> list[Item]:
        def has(item: Item, option: Option) -> bool:
            wanted = set(stems(option.words if option.no else option.entity.words))
            return any(
                wanted <= set(stems(change)) and option.no == change.startswith("no ")
                for change in (*item.changes, *(c for part in item.parts for c in part.changes))
            )

        return [item for item in items if all(has(item, option) for option in options)]

    def _sized(self, items: Sequence[Item], size: str) -> list[Item]:
        return [
            item for item in items if item.size and self._kitchen.size(item.name, size) == item.size
        ]

    def _touch(self, item: Item) -> None:
        self._spoken = item
        if item.line is not None and item not in self.outcome.touched:
            item.spoken = self._place
            self.outcome.touched.append(item)

    def _portion(self, item: Item, count: int | None) -> Item:
        """Return the thing itself, or so many pieces of it as a thing of their own."""
        total = item.quantity or 1
        if count is None or count >= total:
            return item
        item.quantity = total - count
        self._touch(item)
        part = item.copy(count)
        part.source, part.yielding = item, len(item.changes)
        part.spoken = self._place
        self._base = item
        if item.line is None:
            part.spoken = item.spoken
            self.outcome.items.insert(self.outcome.items.index(item) + 1, part)
        else:
            self.outcome.items.append(part)
        return part

    # -- new things --------------------------------------------------------------------------------------------

    def _head(self, said: Said, following: Sequence[Said]) -> None:
        if said.instead and self._waiting and not self.outcome.settled:
            self._waiting[0].quantity = 0  # it is given up for what is named now
            self._settle(self._waiting[0], said.place)
            said.instead = False
        if self._answers(said):
            return
        if said.described and said.definite and said.count is None and not self._things_named(said):
            if self._change_part(said, replace(said, head=None)):
                return
        things = self._things
        there = self._matching(said.mask, self._known_there())
        if there and (said.copies or (said.more and not said.described)):
            item = there[-1].copy(said.count or 1)
            item.spoken, item.copied, item.yielding = said.place, True, len(item.changes)
            self._give(item, said)
            self.outcome.items.append(item)
            self._spoken = item
            return
        if there and not said.more and said.verb != "add":
            if said.described and said.count is None and said.definite and not said.article:
                self._change(said)
                return
            right = said.meant or said.definite or said.count is not None
            fewer = said.exact and (said.count or 0) < (there[-1].quantity or 1)
            taken_back = said.correct or said.after_all or (fewer and said.count is not None)
            if taken_back and right and self._set_right(said, there):
                return
            if said.definite and said.count is None and not said.described and not said.correct:
                self.outcome.penalty += NEW_THOUGH_THERE
        if said.instead or self._old:
            self._replace(said, things)
            return
        if said.correct and self.outcome.items:
            self._in_place_of(said)
            return
        if self._one_of_last(said):
            return
        if said.correct and said.meant and self._known_there() and not there:
            self._take_over(said, self._known_there()[-1:])
            return
        if self._announces(said):
            return
        if said.definite and said.count is None and self._matching(said.mask, self.outcome.items):
            self.outcome.penalty += NEW_THOUGH_THERE
        item = self._new(said)
        if said.count is not None and said.count > 1:
            self._announce(item, said, following)
        self.outcome.items.append(item)
        self._spoken = item

    def _things_named(self, said: Said) -> bool:
        return bool(self._matching(said.mask, self._things))

    def _one_of_last(self, said: Said) -> bool:
        """Take "two trays, one tray without raita" for one of the two."""
        last = self.outcome.items[-1] if self.outcome.items else None
        if last is None or not self._index_mask(last) & said.mask or said.more:
            return False
        if not last.counted and not last.changes and not last.size and said.count is not None:
            if last.names == self._names(said)[0] and last.quantity == 1:
                self.outcome.items.pop()  # "lemonades: we need four lemonades"
                return False
        left = (last.quantity or 1) - sum(split.count or 0 for split in last.splits)
        if said.joint not in _APART or (last.quantity or 1) < 2 or (said.number or 0) > left:
            return False
        if said.number is None or not said.described or said.parts:
            return False
        if said.size is not None and last.size is not None:
            return False
        self._split(last, said, said.number)
        return True

    def _known_there(self) -> list[Item]:
        return [item for item in self._known if item.gone < (item.quantity or 1)]

    def _new(self, said: Said) -> Item:
        """Make a thing of what was said."""
        names, rest = self._names(said)
        quantity = None if said.few else said.count if said.count is not None else 1
        item = Item(words=said.words, names=names, quantity=quantity)
        if said.strange:
            item.words = self._told({*said.unknown, *range(*said.named)})
            item.names, item.near, item.unknown = (), names[:3], []
        if said.weak and not said.described and not said.parts:
            item.names, item.near = (), names
        item.counted = said.count is not None or said.article
        item.spoken = said.place
        self._give(item, said, options=rest)
        for part in said.parts:
            count = part.count or 1
            for _ in range(min(count, 12)):
                chosen = Item(words=part.words, names=self._index.names(part.mask))
                self._narrow_part(item, chosen)
                self._give(chosen, part)
                item.parts.append(chosen)
        return item

    def _narrow_part(self, item: Item, part: Item) -> None:
        combo = self._kitchen.combo(item.name)
        if combo is None:
            return
        allowed = {name for one in combo.parts for name in one.dishes}
        names = tuple(name for name in part.names if name in allowed)
        if names:
            part.names = names

    def _names(self, said: Said) -> tuple[tuple[str, ...], list[Option]]:
        """Find which dishes may be meant, narrowed by how they are to be."""
        mask, options = said.mask, said.options
        if mask & (mask - 1):
            for option in options:
                if option.no:
                    narrowed = mask & option.entity.own or mask
                else:
                    narrowed = mask & option.entity.mask or mask
                mask = narrowed
            if said.size is not None:
                mask = mask & said.size.mask or mask
        return self._index.names(mask), options

    def _give(self, item: Item, said: Said, *, options: Sequence[Option] | None = None) -> None:
        """Give a thing a size, changes and notes."""
        if said.unknown and not said.strange:
            item.unknown.append(self._told(said.unknown))
        if said.size is not None:
            item.size = said.size.words
        if said.only and said.options:
            kept = {option.entity for option in said.options}
            for name in self._kitchen.contents(item.name):
                if not any(set(stems(entity.words)) & set(stems(name)) for entity in kept):
                    item.changes.append(f"no {name}")
        for option in said.options if options is None else options:
            item.changes.append(option.words)
        if said.replaced:
            self._give_way(item, said.replaced)
        if said.bare:
            item.changes.extend(f"no {name}" for name in self._kitchen.contents(item.name))
        item.notes.extend(note for note in said.notes if note not in item.notes)

    def _told(self, places: Iterable[int]) -> str:
        return " ".join(self._words[at] for at in sorted(places))

    def _announce(self, item: Item, said: Said, following: Sequence[Said]) -> None:
        """Remember "three large pizzas" when what follows says which."""
        total = 0
        for one in following:
            if one.verb not in ("", "add") or one.correct:
                break
            if one.head is not None and one.mask & said.mask and not one.mask & ~said.mask:
                total += one.number or 1
            elif one.head is None and one.described and len(item.names) > 1:
                total += one.number or 1
            else:
                break
            if total == said.count:
                self._announced = [item]
                self.outcome.penalty -= 0.6
                return

    def _announces(self, said: Said) -> bool:
        """Put what is named in the place of what was only announced."""
        base = self._announced[0] if self._announced else None
        if base is None or not self._index_mask(base) & said.mask:
            self._announced = []
            return False
        item = self._new(said)
        item.size = item.size or base.size
        item.changes[:0] = [one for one in base.changes if one not in item.changes]
        self._announced.append(item)
        self._put_announced(base, item)
        return True

    def _put_announced(self, base: Item, item: Item) -> None:
        if base in self.outcome.items:
            self.outcome.items.remove(base)
        self.outcome.items.append(item)
        self._spoken = item
        if sum(one.quantity or 1 for one in self._announced[1:]) >= (base.quantity or 1):
            self._announced = []

    def _index_mask(self, item: Item) -> int:
        mask = 0
        for name in item.names:
            mask |= self._index.bit(name)
        return mask

    def _in_place_of(self, said: Said) -> None:
        """Take back what was said last in this line: "a cola, sorry, a cappuccino"."""
        last = self.outcome.items[-1]
        item = self._new(said)
        if said.count is None and not said.article:
            item.quantity = last.quantity
            if item.size is None and last.size and self._kitchen.size(item.name, last.size):
                item.size = last.size
        if item.names == last.names and not said.described:
            last.quantity = item.quantity
            self._spoken = last
            return
        self.outcome.items[-1] = item
        self._spoken = item

    def _set_right(self, said: Said, there: Sequence[Item]) -> bool:
        """Make a line what the guest meant: "no, I wanted two tiramisus", "I said the large one"."""
        if len(there) != 1:
            return False
        item = there[0]
        if said.count is not None:
            item.quantity = said.count
        self._give(item, said)
        self._touch(item)
        return True

    def _take_over(self, said: Said, items: Sequence[Item]) -> None:
        for item in items:
            self._turn(item, said)

    # -- one instead of another ----------------------------------------------------------------------------------

    def _instead_of(self, said: Said) -> None:
        """Note what is to go: "a caprese instead of the margherita"."""
        targets = self._targets(said) if said.head is not None or said.ref else []
        if not targets and said.head is not None and self.outcome.items:
            new = self.outcome.items[-1]
            become = Said(head=said.head, mask=self._index_mask(new), words=new.words)
            if self._change_part(said, become, new):
                self.outcome.items.remove(new)
                return
        if said.head is None and not said.ref and said.options and self._last_new(said.options):
            return
        if not targets:
            if said.head is not None and not self._known_there() and self.outcome.items:
                self.outcome.penalty += 1.0
                return  # it was never ordered: nothing is to go
            self.outcome.penalty += NOT_THERE
            if said.head is not None:
                self._not_found(said)
            return
        old = targets[-1]
        fresh = [item for item in self.outcome.items if item is not old]
        if fresh and said.place > 0 and fresh[-1].spoken < said.place:
            self._swap_in(fresh[-1], old)
        else:
            self._old = [old]

    def _last_new(self, options: Sequence[Option]) -> bool:
        """Leave off "instead of" something a thing has: "ranch instead of blue cheese"."""
        item = self._spoken or (self.outcome.items[-1] if self.outcome.items else self._last())
        if item is None:
            return False
        self._give_way(item, options)
        self._touch(item)
        return True

    def _give_way(self, item: Item, options: Sequence[Option]) -> None:
        """Take off what is to give way to something else: "ranch instead of blue cheese"."""
        for option in options:
            said = set(stems(option.entity.words))
            old = [
                one for one in item.changes if one.startswith("no ") or not said <= set(stems(one))
            ]
            if len(old) < len(item.changes):
                item.yielding = min(item.yielding, len(old))
                item.changes = old
            elif self._kitchen.has(item.name, option.entity.words):
                if not self._chosen_instead(item, option):
                    item.changes.append(f"no {option.entity.words}")

    def _chosen_instead(self, item: Item, option: Option) -> bool:
        """Whether another choice takes the place of this one by itself."""
        return any(
            self._kitchen.excludes(item.name, option.entity.words, change)
            for change in item.changes
            if not change.startswith("no ")
        )

    def _swap_in(self, new: Item, old: Item) -> None:
        """Make a line another dish, and drop the new thing that said which."""
        self.outcome.items.remove(new)
        if old.line is None:
            if old in self.outcome.items:
                self.outcome.items[self.outcome.items.index(old)] = new
            return
        old.words, old.names, old.near = new.words, new.names, new.near
        old.size = new.size
        old.changes, old.parts, old.yielding = list(new.changes), new.parts, 0
        if new.counted and (new.quantity or 1) > 1:
            old.quantity = new.quantity
        self._touch(old)

    def _replace(self, said: Said, things: Sequence[Item]) -> None:
        item = self._new(said)
        old = self._old[:1] or ([self._removed] if self._removed is not None else [])
        self._old, self._removed = [], None
        if not old and said.instead:
            same = [
                one
                for one in self._known_there()
                if one.name and item.name and self._section(one.name) == self._section(item.name)
            ]
            old = same[-1:] or self._known_there()[-1:]
            if not old and self.outcome.items:
                old = self.outcome.items[-1:]
        if not old:
            self.outcome.items.append(item)
            self._spoken = item
            return
        old[0].gone = 0
        self.outcome.items.append(item)
        self._swap_in(item, old[0])
        if (
            old[0].line is None
            and old[0] not in self.outcome.items
            and item not in self.outcome.items
        ):
            self.outcome.items.append(item)

    def _section(self, name: str) -> str:
        dish = self._kitchen.dish(name)
        return dish.section if dish is not None else ""

    # -- taking off ----------------------------------------------------------------------------------------------

    def _remove(self, said: Said) -> None:
        if said.head is None and not said.ref and said.options:
            self._leave_off(said)
            return
        if said.ref in ("whole", "all") and said.head is None and not said.options and self._things:
            for item in list(self._things):
                self._take_off(item, None)
            return
        targets = self._targets(said)
        if not targets:
            self.outcome.penalty += NOT_THERE
            combo = next((i for i in self._things if self._matching(said.mask, i.parts)), None)
            if combo is not None and said.head is not None:
                self.outcome.penalty -= NOT_THERE
                facts = {"words": said.words, "combo": combo.name}
                self.outcome.questions.append(Question("not_found", facts))
            elif said.denied and said.verb != "remove":
                self.outcome.penalty -= 1.0  # "no tiramisu": there is none
            elif said.head is not None or said.ref:
                self._not_found(said)
            return
        count = said.count if said.count is not None else 1 if said.article else None
        if said.partial and count is None:
            count = 1
        if count is None and self._several(said, targets):
            self._ask_which(said, targets, drop=True)
            return
        if count is not None and len(targets) > 1 and not said.partial and not said.ordinal:
            sized = sum(item.quantity or 1 for item in targets)
            if count < sized and len({item.name for item in targets}) >= 1:
                self._ask_which(said, targets, drop=True, count=count)
                return
        if count is not None and len(targets) > 1:
            if count < sum(item.quantity or 1 for item in targets):
                self._ask_which(said, targets, drop=True, count=count)
                return
        for item in targets:
            self._take_off(item, count)

    def _take_off(self, item: Item, count: int | None) -> None:
        total = item.quantity or 1
        gone = total if count is None else min(total - item.gone, count)
        if item.line is None:
            item.quantity = total - gone
            if not item.quantity and item in self.outcome.items:
                self.outcome.items.remove(item)
        else:
            item.gone = min(total, item.gone + gone)
            self._touch(item)
        self._removed = item

    def _leave_off(self, said: Said) -> None:
        """Take something off the dishes that have it: "remove the onions"."""
        done = False
        candidates = [*reversed(self.outcome.items), *reversed(self._known_there())]
        for option in said.options:
            option.no = True
            having = [item for item in candidates if self._has(item, option.entity.words)]
            if not having:
                continue
            item = having[0]
            item.changes.append(option.words)
            self._touch(item)
            done = True
        if not done:
            self.outcome.penalty += NOT_THERE
            self._not_found(said)

    def _has(self, item: Item, words: str) -> bool:
        """Whether something is in a thing, or was chosen for it."""
        if self._kitchen.has(item.name, words):
            return True
        if item.parts and any(self._has(part, words) for part in item.parts):
            return True
        said = set(stems(words))
        return any(
            said <= set(stems(change)) and not change.startswith("no ") for change in item.changes
        )

    # -- changing ------------------------------------------------------------------------------------------------

    def _change(self, said: Said) -> None:
        become = said.become if said.become is not None else said
        if become is not said and become.empty and said.head is None:
            self.outcome.penalty += NO_EFFECT
            return
        if said.verb == "swap" and said.head is None and said.options and said.become is not None:
            if said.become.options or said.become.head:
                self._swap_option(said, said.become)
                return
        if said.on and said.head is None and not said.ref:
            if all(option.no for option in become.options):
                self._leave_off(become)
            else:
                self._fragment(become)
            return
        targets = self._targets(said)
        if become.head is not None and said.ref == "it" and become is not said:
            there = self._matching(become.mask, self._things)
            if there and not any(item in there for item in targets):
                targets = there[-1:]
        if not targets and said.head is not None and self._change_part(said, become):
            return
        if not targets:
            self._changed_nothing(said, become)
            return
        if said.on and said.count is None and said.article:
            self.outcome.penalty += 0.3
        if become is said and not said.described and said.count is None:
            self.outcome.penalty += NO_EFFECT
            return
        count = said.count if become is not said or said.partial else None
        if become is not said and not said.definite and said.ordinal is None:
            if said.article or (said.ref == "one" and said.count is None):
                count = 1
        if self._several(said, targets) and count is None:
            if self._ask_which(said, targets):
                return
        if count is not None and len(targets) > 1:
            fitting = [item for item in targets if (item.quantity or 1) >= count]
            targets = fitting[-1:] or targets[-1:]
        self._become(become, targets, count)

    def _change_part(self, said: Said, become: Said, made: Item | None = None) -> bool:
        """Change a part of a combo: "make the coke large", "a lemonade instead of the coke"."""
        for item in reversed(self._things):
            parts = self._matching(said.mask, item.parts)
            if not parts:
                continue
            part = parts[-1]
            if become.head is not None and not self._matching(become.mask, [part]):
                fresh = made if made is not None else self._new(become)
                combo = self._kitchen.combo(item.name)
                others = [one.name or "" for one in item.parts if one is not part]
                if (
                    combo is None
                    or not fresh.name
                    or not self._kitchen.room_for(combo, others, fresh.name)
                ):
                    return False
                item.parts[item.parts.index(part)] = fresh
            else:
                self._give(part, become)
            self._touch(item)
            return True
        return False

    def _changed_nothing(self, said: Said, become: Said) -> None:
        """Take a change of what is not there for an order, or say that it is not there."""
        if said.on and said.head is not None:
            self.outcome.penalty += NEW_THOUGH_THERE if self._things else 0.0
            item = self._new(replace(said, become=None, on=False))
            self._give(item, become)
            self.outcome.items.append(item)
            self._spoken = item
            return
        if become.head is not None and (said.ref or said.head is None) and not self._things:
            self.outcome.penalty += NEW_THOUGH_THERE
            self.outcome.items.append(self._new(become))
            return
        if said.head is not None and not said.definite and said.verb == "change":
            # "Make one latte decaf", where there is none: it is ordered.
            self.outcome.penalty += 1.0
            item = self._new(replace(said, become=None))
            if become is not said:
                self._give(item, become)
            self.outcome.items.append(item)
            return
        self.outcome.penalty += NOT_THERE
        if become.head is None and self._waiting and self._fill(become):
            self.outcome.penalty -= NOT_THERE
            return
        self._not_found(said)

    def _become(self, become: Said, targets: Sequence[Item], count: int | None) -> None:
        for item in targets:
            target = self._portion(item, count)
            if (
                become.head is not None
                and not become.on
                and not self._matching(become.mask, [target])
            ):
                self._turn(target, become)
            else:
                self._reshape(target, become)

    def _reshape(self, item: Item, become: Said) -> None:
        if become.plain and not become.options and not become.size:
            if item.changes:
                item.changes = []
            elif self._kitchen.size(item.name, "regular"):
                item.size = "regular"
        number = become.count
        if number is not None and number != item.quantity:
            if number == 0:
                self._take_off(item, None)
                return
            item.quantity = number
        self._give(item, become)
        self._touch(item)

    def _turn(self, item: Item, become: Said) -> None:
        """Make a thing another dish."""
        if self._matching(become.mask, [item]) and item.name and become.described:
            self._reshape(item, replace(become, head=None))
            return
        combo = become.mask & self._index.combos
        if combo and not become.mask & ~self._index.combos and item.name:
            fitting = [
                bit
                for bit, parts in self._index.parts.items()
                if bit & combo and parts & self._index.bit(item.name)
            ]
            if fitting:
                part = item.copy(1)
                part.quantity = 1
                become = replace(become, mask=sum(fitting))
                fresh = self._new(become)
                item.words, item.names = fresh.words, fresh.names
                item.parts = [part, *fresh.parts]
                item.changes, item.size, item.yielding = list(fresh.changes), None, 0
                self._touch(item)
                return
        fresh = self._new(become)
        name = fresh.name
        item.words, item.names, item.near = fresh.words, fresh.names, ()
        if fresh.size is not None:
            item.size = fresh.size
        elif item.size and (name is None or self._kitchen.size(name, item.size) is None):
            item.size = None
        item.changes = [
            one for one in item.changes if self._kitchen.fits(name, one)
        ] + fresh.changes
        item.parts = fresh.parts
        if become.count is not None:
            item.quantity = become.count
        self._touch(item)

    def _swap_option(self, said: Said, become: Said) -> None:
        """Put one thing on a dish in the place of another: "swap the ham for mushrooms"."""
        old = said.options[0].entity.words
        candidates = [*reversed(self.outcome.items), *reversed(self._known_there())]
        if said.options[0].entity.kind == "group":
            having = [item for item in candidates if self._able(item, become)]
        else:
            having = [item for item in candidates if self._has(item, old)]
        if not having and become.options:
            new = become.options[0].entity.words
            having = [item for item in candidates if self._kitchen.answers(item.name, new)]
        if not having or not become.options:
            self.outcome.penalty += NOT_THERE
            self._not_found(said)
            return
        item = having[0]
        chosen = set(stems(old))
        before = len(item.changes)
        item.changes = [
            one for one in item.changes if one.startswith("no ") or not chosen <= set(stems(one))
        ]
        if len(item.changes) == before and self._kitchen.has(item.name, old):
            if not any(
                self._kitchen.excludes(item.name, old, option.words) for option in become.options
            ):
                item.changes.append(f"no {old}")
        self._give(item, become)
        self._touch(item)

    # -- pointing ------------------------------------------------------------------------------------------------

    def _targets(self, said: Said) -> list[Item]:
        """Find the things that are meant."""
        things = self._things
        if said.head is not None:
            items = self._matching(said.mask, things)
            if not items:
                return []
            if (
                said.verb in ("remove", "change", "swap", "instead-of")
                and said.become is not None
                or said.verb in ("remove", "instead-of")
            ):
                items = self._described(said, items)
        elif said.ref:
            items = self._referred(said, things)
        elif said.options:
            items = self._made_with(things, said.options)
            if not items and said.verb == "change":
                last = self._last()
                items = [last] if last is not None else []
        else:
            last = self._last()
            items = [last] if last is not None else []
        if said.ordinal is not None and items:
            at = said.ordinal - 1 if said.ordinal > 0 else len(items) + said.ordinal
            if len(items) == 1 and (items[0].quantity or 1) >= said.ordinal > 1:
                said.partial, said.count = True, 1
                return items
            return items[at : at + 1] if 0 <= at < len(items) else []
        return items

    def _described(self, said: Said, items: list[Item]) -> list[Item]:
        if said.options:
            made = self._made_with(items, said.options)
            items = made or items
            if made:
                said.options = [] if said.become is not None else said.options
        if said.size is not None:
            items = self._sized(items, said.size.words) or items
        if said.plain:
            items = [item for item in items if not item.changes] or items
        return items

    def _referred(self, said: Said, things: list[Item]) -> list[Item]:
        described = things
        telling = said.become is not None or said.verb in ("remove", "instead-of")
        if telling and said.options:
            described = self._made_with(things, said.options)
            if described:
                said.options = []
            elif said.ref == "one":
                return []
            else:
                described = things
        if telling and said.size is not None:
            said.plain = said.plain or said.size.words in _USUAL
            if not said.plain:
                described = self._sized(described, said.size.words) or described
        if telling and said.plain:
            plain = [item for item in described if not item.changes]
            beside = [i for i in plain if any(o.changes and o.name == i.name for o in described)]
            described = beside or plain or described
        if said.ref in ("all", "whole", "neither"):
            new = list(self.outcome.items)
            return new or described
        if said.ref == "rest":
            return [item for item in described if item is not self._spoken]
        if said.ref == "other":
            others = [item for item in described if item is not self._spoken]
            return others if len(described) <= 2 else others
        several = [item for item in described if (item.quantity or 1) > 1]
        if said.ref in ("of-them", "them"):
            if said.partial or said.count is not None:
                return several[-1:] or described[-1:]
            return several[-1:] if several and several[-1] is described[-1] else described
        if said.ordinal is not None:
            return described
        if said.ref == "it" and self._removed is not None and said.verb == "change":
            self._removed.gone = 0
            return [self._removed]
        if described is not things and described:
            return described
        if said.ref == "one" and said.count is not None:
            return several[-1:] or described[-1:]
        last = self._last()
        return [last] if last is not None and last in described else described[-1:]

    def _several(self, said: Said, targets: Sequence[Item]) -> bool:
        """Whether only one of several lines is meant, and nobody said which."""
        if len(targets) < 2 or said.ref in ("all", "whole", "them", "rest"):
            return False
        return not said.plural or said.count is not None

    def _pointed(self, said: Said) -> None:
        """Carry out what points at something and has no verb: "one of them without basil"."""
        if said.ref in ("same", "again"):
            self._again(said)
            return
        if said.ref == "one":
            if (said.ordinal is not None or said.definite) and said.described and not self._waiting:
                if self._this(said):
                    return
            self._fragment(said)
            return
        if said.ref == "rest":
            self._rest(said)
            return
        if said.ref == "other" and self.outcome.items and said.described:
            self._split(self.outcome.items[-1], said, None)
            return
        if said.ref == "all" and self.outcome.items and said.described:
            for item in self.outcome.items:
                self._reshape(item, said)
            return
        if self._waiting and said.ref == "all" and said.described:
            for item in self._waiting:
                self._give(item, said)
                self.outcome.settled.append(item)
            return
        if not said.described and said.count is None:
            if said.ref in ("it", "them") and (said.more or not self._things):
                self.outcome.penalty += LOOSE
            elif said.ref in ("other", "one"):
                self.outcome.penalty += 1.0
            else:
                self.outcome.penalty += 0.8
            return
        if self._waiting and self._fill(said):
            return
        targets = self._targets(said)
        if said.correct and said.ref == "it" and said.count is not None and targets:
            self._become(said, targets, None)
            return
        if not targets:
            self.outcome.penalty += LOOSE
            return
        if said.ref in ("it", "them") and said.count is None:
            able = [item for item in targets if self._able(item, said)]
            targets = able or targets
        self._become(replace(said, head=None), targets, said.count if said.partial else None)

    def _this(self, said: Said) -> bool:
        """Carry out "the second one with ham"."""
        if said.ordinal is not None:
            targets = self._targets(said)
            if targets and all(self._able(item, said) for item in targets):
                self._become(
                    replace(said, ref="", count=None), targets, said.count if said.partial else None
                )
                return True
            if targets:
                self._ask_which(said, self._known_there())
                return True
        return False

    def _part_of(self, said: Said) -> bool:
        """Carry out "one of them without basil" on what is there."""
        if not said.described:
            self.outcome.penalty += NO_EFFECT
            return True
        if said.half:
            several = [item for item in self._things if (item.quantity or 1) > 1]
            if not several:
                return False
            said.count = (several[-1].quantity or 2) // 2
            if several[-1] in self.outcome.items and said.described:
                self._split(several[-1], said, said.count)
                return True
        if said.ref == "of-them" or said.ref in ("them", "it"):
            new = [item for item in self.outcome.items if (item.quantity or 1) > 1 or item.splits]
            if new and said.described:
                self._split(new[-1], said, said.count)
                return True
        targets = self._targets(said)
        if said.head is not None:
            new = [item for item in targets if item in self.outcome.items]
            if new and said.described:
                self._split(new[-1], said, said.count)
                return True
        if not targets or not said.described:
            return False
        fitting = [i for i in targets if (i.quantity or 1) >= (said.count or 1)]
        if len(targets) > 1 and said.head is not None and not fitting:
            return False
        target = (fitting or targets)[-1]
        self._become(replace(said, head=None, count=None), [target], said.count or 1)
        return True

    def _again(self, said: Said) -> None:
        last = self._last()
        if last is None:
            if self._topic is not None:
                self.outcome.items.append(
                    Item(words=self._topic, names=(self._topic,), quantity=said.count or 1)
                )
                return
            self.outcome.penalty += LOOSE
            return
        item = last.copy(said.count or 1)
        item.spoken, item.copied, item.yielding = said.place, True, len(item.changes)
        self._give(item, said)
        self.outcome.items.append(item)
        self._spoken = item

    def _rest(self, said: Said) -> None:
        item = self.outcome.items[-1] if self.outcome.items else None
        if item is not None and item.splits:
            self._split(item, said, None)
            return
        others = [one for one in self._things if one is not self._spoken]
        if not others:
            self.outcome.penalty += LOOSE
            return
        self._become(said, others, None)

    # -- what belongs to something -------------------------------------------------------------------------------

    def _fragment(self, said: Said) -> None:
        """Give a size, a number or changes to what they belong to."""
        if said.instead and self._old and said.options:
            said.instead = False
        asked = (
            self._topic
            if not self._matching(self._index.bit(self._topic or ""), self._things)
            else None
        )
        if asked and said.count is not None and not said.described and not said.correct:
            self.outcome.items.append(Item(words=asked, names=(asked,), quantity=said.count))
            self._spoken = self.outcome.items[-1]
            return
        if said.more:
            self._again(said)
            return
        item = self.outcome.items[-1] if self.outcome.items else None
        if self._announced and said.options:
            base = self._announced[0]
            fresh = base.copy(said.count or 1)
            fresh.names, fresh.words, fresh.source = base.names, base.words, None
            fresh.spoken = said.place
            self._give(fresh, said)
            names, _ = self._names(replace(said, mask=self._index_mask(base), head=None))
            fresh.names = names
            self._announced.append(fresh)
            self._put_announced(base, fresh)
            return
        portion = item is not None and item.source is not None and item.source.line is not None
        if portion and (said.count is not None or said.ref == "one") and self._on_order(said):
            return
        if item is not None and self._belongs(item, said):
            return
        if self._waiting and self._fill(said):
            return
        if item is None and self._on_order(said):
            return
        if item is None or said.options:
            if self._headless(said):
                return
        if (
            said.count is not None
            and not said.described
            and self._topic
            and not self._known_there()
        ):
            self.outcome.items.append(
                Item(words=self._topic, names=(self._topic,), quantity=said.count)
            )
            return
        self.outcome.penalty += LOOSE
        if (said.options or said.unknown) and not said.correct:
            words = self._told({*said.told, *said.unknown})
            self.outcome.questions.append(Question("not_on_menu", {"words": words, "near": []}))

    def _belongs(self, item: Item, said: Said) -> bool:
        """Give something to the thing that was ordered just before in the same line."""
        if not said.described:
            if said.count is None:
                return True
            if said.count == item.quantity or not item.counted or said.correct or said.ref != "one":
                item.quantity = said.count
                return True
            return False
        number = (
            said.count
            if said.count is not None
            else 1
            if said.ref == "one" or said.article
            else None
        )
        if said.exact and number == item.quantity:
            number = None  # "just one, and without olives"
        clash = said.size is not None and item.size is not None
        if clash and said.joint == OR and said.size is not None:
            item.unknown.append(f"{item.size} or {said.size.words}")
            item.size = None
            return True
        several = (item.quantity or 1) > 1
        if clash and number is None and several and not item.splits and said.size is not None:
            item.splits = [Split(1, size=item.size), Split(None, size=said.size.words)]
            item.size = None
            return True
        if (
            number is None
            and item.splits
            and said.options
            and 0 < (item.quantity or 1) - sum(split.count or 0 for split in item.splits)
        ):
            number = 1
        if clash and number is not None and said.joint == AND and not item.splits:
            number = number + 1000  # "and one small" is one more
        several = (item.quantity or 1) > 1 or bool(item.splits)
        left = (item.quantity or 1) - sum(split.count or 0 for split in item.splits)
        if number is not None and several and number <= left:
            if not self._able(item, said):
                return False
            self._split(item, said, number)
            return True
        if not self._able(item, said):
            for earlier in reversed(self.outcome.items[:-1]):
                if said.ref != "one" and number is None and self._able(earlier, said):
                    self._reshape(earlier, said)
                    return True
            return False
        number = number % 1000 if number is not None else None
        if number is not None or clash:
            if said.count is not None or said.ref == "one" or clash or item.size or item.changes:
                fresh = Item(words=item.words, names=item.names, quantity=number or 1)
                fresh.counted, fresh.spoken = True, said.place
                self._give(fresh, said)
                self.outcome.items.append(fresh)
                self._spoken = fresh
                return True
        self._reshape(item, said)
        return True

    def _split(self, item: Item, said: Said, count: int | None) -> None:
        split = Split(count)
        if said.size is not None:
            split.size = said.size.words
        probe = Item(words=item.words, names=item.names)
        self._give(probe, said)
        split.changes.extend(probe.changes)
        split.notes.extend(said.notes)
        item.splits.append(split)

    def _able(self, item: Item, said: Said) -> bool:
        """Whether all that is said can be said of a thing."""
        mask = self._index_mask(item)
        for part in item.parts:
            mask |= self._index_mask(part)
        if said.size is not None and not mask & said.size.mask:
            return False
        for option in said.options:
            if option.no:
                if not self._has(item, option.entity.words) and not mask & option.entity.own:
                    return False
            elif not mask & option.entity.mask:
                return False
        return True

    def _on_order(self, said: Said) -> bool:
        """Give something to a line of the order."""
        things = self._known_there()
        if not things:
            return False
        if not said.described:
            if said.count is None:
                return False
            last = self._last() or things[-1]
            self._recount(last, said.count)
            self._touch(last)
            return True
        able = [item for item in things if self._able(item, said)]
        if (said.count is not None or said.ref == "one") and self._base in able:
            able = [self._base]
        if not able:
            spoken = self._spoken
            if spoken is not None and spoken.source is not None and self._able(spoken, said):
                self._reshape(spoken, said)
                return True
            return False
        spoken = self._spoken
        item = spoken if spoken is not None and spoken in able else able[-1]
        number = said.count if said.count is not None else 1 if said.ref == "one" else None
        told = said.correct or said.exact
        if number is not None and told and (item.quantity or 1) <= number:
            return False
        if number is not None and (item.quantity or 1) <= number and said.ref == "one":
            fresh = Item(words=item.words, names=item.names, quantity=number, spoken=said.place)
            self._give(fresh, said)
            self.outcome.items.append(fresh)
            return True
        if said.size is not None and said.article and not said.options and item.size:
            fresh = Item(words=item.words, names=item.names, quantity=1, spoken=said.place)
            self._give(fresh, said)
            self.outcome.items.append(fresh)
            return True
        self._become(replace(said, head=None, count=None), [item], number)
        return True

    def _recount(self, item: Item, count: int) -> None:
        """Make it so many; or of another size, where it comes by the piece."""
        dish = self._kitchen.dish(item.name)
        for size in dish.sizes if dish is not None else ():
            if stems(size)[:1] == (str(count),) and item.quantity == 1:
                item.size = size
                return
        item.quantity = count

    def _headless(self, said: Said) -> bool:
        """Find the dish that only one can be: "a gluten free one with ham"."""
        wanted = [option for option in said.options if not option.no]
        if not wanted and said.size is None:
            return False
        mask = self._index.all & ~self._index.combos
        for option in wanted:
            mask &= option.entity.mask
        if said.size is not None:
            mask &= said.size.mask
        names = self._index.names(mask)
        if not names or len(names) > _FEW or not wanted:
            return False
        if said.definite and self._made_with(self._known_there(), wanted):
            self.outcome.penalty += NEW_THOUGH_THERE  # "the lamb one" is one that is there
        if said.unknown:
            names = ()
        item = Item(
            words=" ".join(option.entity.words for option in wanted),
            names=names,
            quantity=said.count or 1,
            spoken=said.place,
        )
        item.counted = said.count is not None
        self._give(item, said)
        self.outcome.items.append(item)
        self._spoken = item
        self.outcome.penalty += 0.5 if len(names) == 1 else 1.0
        return True

    # -- what waited for an answer -----------------------------------------------------------------------------

    def _answers(self, said: Said) -> bool:
        """Take a dish as the answer to which one was meant."""
        for item in self._waiting:
            if item in self.outcome.settled and said.correct and item.changes:
                item.changes.pop()
            elif item in self.outcome.settled and self._kitchen.combo(item.name) is None:
                continue
            combo = self._kitchen.combo(item.name)
            if combo is not None:
                taken = [part.name or "" for part in item.parts]
                room = [
                    n
                    for n in self._index.names(said.mask)
                    if self._kitchen.room_for(combo, taken, n)
                ]
                if room and len(room) == len(self._index.names(said.mask)) or len(room) == 1:
                    for _ in range(said.number or 1):
                        part = Item(words=said.words, names=tuple(room))
                        self._give(part, said)
                        item.parts.append(part)
                    self._settle(item, said.place)
                    self._waiting.insert(0, self._waiting.pop(self._waiting.index(item)))
                    return True
            if len(item.names) == 1 and self._kitchen.fills(item, said.words):
                item.changes.append(said.words)
                item.changes.extend(option.words for option in said.options)
                self._settle(item, said.place)
                return True
            if len(item.names) == 1 and self._named_after_all(item, said):
                names = self._index.names(said.mask)
                item.names, item.words = names, said.words
                self._give(item, said)
                self._settle(item, said.place)
                return True
            if len(item.names) < 2:
                continue
            named = [name for name in item.names if self._index.bit(name) & said.mask]
            if len(named) == 1:
                item.names, item.words, item.near = (named[0],), said.words, ()
                if said.count is not None:
                    item.quantity = said.count
                self._give(item, said)
                self._settle(item, said.place)
                return True
        return False

    def _named_after_all(self, item: Item, said: Said) -> bool:
        """Whether a dish is named where only its kind was before: "a pizza", "a large Diavola"."""
        dish = self._kitchen.dish(item.name)
        names = self._index.names(said.mask)
        if dish is None or len(names) != 1 or names[0] == item.name or said.joint == AND:
            return False
        kind = stems(dish.section)
        if not any(stems(name) == kind for name in (dish.name, *dish.aliases)):
            return False
        return self._section(names[0]) == dish.section

    def _fill(self, said: Said) -> bool:
        """Give what was said to a thing that waits for it."""
        for item in self._waiting:
            if item.quantity is None and said.count is not None:
                item.quantity = said.count
                self._give(item, said)
                self._settle(item, said.place)
                return True
        open_ones = [item for item in self._waiting if item not in self.outcome.settled]
        for item in [*open_ones, *(one for one in self._waiting if one not in open_ones)]:
            if not said.described or not self._able(item, said):
                continue
            number = said.count
            if number is None and said.ref == "one" and not said.definite:
                number = 1
            left = (item.quantity or 1) - sum(split.count or 0 for split in item.splits)
            if number is not None and (item.quantity or 1) > 1 and number <= left:
                self._split(item, said, number)
            elif (
                item in self.outcome.settled
                and said.size is not None
                and item.size is not None
                and (item.quantity or 1) > 1
                and not item.splits
            ):
                item.splits = [Split(1, size=item.size), Split(None, size=said.size.words)]
                item.size = None
            else:
                if said.correct and item in self.outcome.settled and item.changes:
                    item.changes.pop()
                self._give(item, said)
                if said.count is not None:
                    item.quantity = said.count
            if len(item.names) > 1:
                names, _ = self._names(replace(said, mask=self._index_mask(item)))
                item.names = names
            self._settle(item, said.place)
            return True
        return False

    def _settle(self, item: Item, place: int) -> None:
        if item not in self.outcome.settled:
            self.outcome.settled.append(item)
            self.outcome.penalty -= 0.5
        self._spoken = item

    def _this_one(self, which: Which, said: Said) -> bool:
        """Take what was said for the answer to which line is meant."""
        ids = [item.line.id for item in which.lines if item.line]
        lines = [item for item in self._known if item.line is not None and item.line.id in ids]
        found = lines
        if said.ref not in ("all", "whole", "them"):
            if said.head is not None:
                found = self._matching(said.mask, found)
            if said.options:
                found = self._made_with(found, said.options)
            if said.size is not None:
                found = self._sized(found, said.size.words)
            if said.plain:
                found = [item for item in found if not item.changes]
            if said.ordinal is not None:
                at = said.ordinal - 1 if said.ordinal > 0 else len(found) + said.ordinal
                found = found[at : at + 1] if 0 <= at < len(found) else []
            if len(found) != 1:
                return False
        self._which = None
        if self._asked is not None:
            self.outcome.questions.remove(self._asked)
            self.outcome.penalty -= WHICH
            self._asked = None
        else:
            self.outcome.settled.extend(found)
        for item in found:
            if which.drop:
                self._take_off(item, which.count)
            else:
                become = which.said.become or which.said
                if become is which.said:
                    become = replace(become, head=None)
                self._become(become, [item], which.count)
        return True

    # -- questions ---------------------------------------------------------------------------------------------

    def _not_found(self, said: Said) -> None:
        words = said.words or " ".join(option.entity.words for option in said.options)
        self.outcome.questions.append(Question("not_found", {"words": words or "that"}))

    def _ask_which(
        self, said: Said, targets: Sequence[Item], *, drop: bool = False, count: int | None = None
    ) -> bool:
        lines = [item for item in targets if item.line is not None]
        if not lines:
            return False
        self.outcome.penalty += WHICH
        facts = {
            "words": said.words,
            "possible": [_shown(item) for item in lines],
            "line_ids": [item.line.id for item in lines if item.line],
            "said": said,
            "drop": drop,
            "count": count,
        }
        self._asked = Question("which_line", facts)
        self._which = Which(lines, said, drop, count)
        self.outcome.questions.append(self._asked)
        return True


def _shown(item: Item) -> str:
    parts = [str(item.quantity or 1), item.size or "", item.name or item.words]
    said = " ".join(part for part in parts if part)
    return f"{said} ({', '.join(item.changes)})" if item.changes else said
