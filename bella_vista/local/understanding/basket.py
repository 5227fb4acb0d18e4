"""The things ordered in one message, and which of them is being spoken of."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.kitchen import Kitchen

Target = Item | Split


class Basket:
    """Collects things, and remembers whom what is said next is about.

    Args:
        kitchen: What the menu makes of things.
        known: What is on the order already, oldest first.
    """

    def __init__(self, kitchen: Kitchen, known: Sequence[Item] = ()) -> None:
        self._kitchen = kitchen
        self.known = list(known)
        self.items: list[Item] = []
        self.targets: list[Target] = []
        self.recent: list[tuple[Target, str]] = []

    # -- who is spoken of ------------------------------------------------------------------------------

    @property
    def current(self) -> Item | None:
        """The thing that is spoken of, also when only some pieces of it are."""
        target = self.targets[-1] if self.targets else None
        if isinstance(target, Item):
            return target
        return self._owner(target) if target is not None else None

    @property
    def newest(self) -> Item | None:
        """The thing that was ordered last, now or before."""
        everything = [*self.known, *self.items]
        return everything[-1] if everything else None

    @property
    def whole_targets(self) -> list[Item]:
        """The things spoken of of which not only some pieces are meant."""
        return [target for target in self.targets if isinstance(target, Item)]

    @property
    def target_names(self) -> tuple[str, ...]:
        """The dishes that are spoken of."""
        return tuple(name for target in self.targets for name in self.names_of(target))

    def names_of(self, target: Target) -> tuple[str, ...]:
        """Return which dishes a thing, or some pieces of one, may be."""
        item = target if isinstance(target, Item) else self._owner(target)
        return item.names if item else ()

    def dishes_of(self, target: Target) -> tuple[str, ...]:
        """Return which dishes something said of a thing may be about; of a combo, all it may have."""
        names = self.names_of(target)
        combos = [combo for name in names if (combo := self._kitchen.combo(name)) is not None]
        if not combos:
            return names
        return tuple(name for combo in combos for part in combo.parts for name in part.dishes)

    def _owner(self, split: Split) -> Item | None:
        things = reversed([*self.items, *self.known])
        return next((item for item in things if split in item.splits), None)

    def answers(self, words: str) -> bool:
        """Whether what is spoken of can be had like that."""
        return any(self._kitchen.answers(name, words) for name in self.target_names)

    def splittable(self, number: int) -> bool:
        """Whether so many of the thing spoken of may still be treated differently."""
        item = self.current
        if item is None or item.quantity is None or item.quantity < 2:
            return False
        used = sum(split.count or 0 for split in item.splits)
        return number <= item.quantity - used

    # -- changing things -------------------------------------------------------------------------------

    def put(self, item: Item) -> None:
        """Add a thing; what follows is about it."""
        self.items.append(item)
        self.targets = [item]

    def replace_newest(self, item: Item) -> None:
        """Put a thing in the place of the last one: "a cola, sorry, a lemonade"."""
        last = self.items[-1]
        if not item.counted and item.quantity == 1:
            item.quantity = last.quantity
        if item.size is None and last.size and self._kitchen.size(item.name, last.size):
            item.size = last.size
        self.items[-1] = item
        self.targets = [item]

    def set_size(self, words: str) -> None:
        """Give a size to whatever is spoken of and comes in it."""
        sized = [
            target
            for target in self.targets
            if any(self._kitchen.size(name, words) for name in self.names_of(target))
        ]
        for target in sized or self.targets:
            target.size = words

    def split_off(self, split: Split) -> None:
        """Treat some pieces of the thing spoken of differently; what follows is about them."""
        item = self.current
        if item is not None:
            item.splits.append(split)
            self.targets = [split]

    def like_before(self, item: Item) -> None:
        """Take the size of the same dish ordered before: "another cola"."""
        for known in reversed([*self.known, *self.items]):
            if item.name is not None and known.name == item.name:
                item.size = item.size or known.size
                return

    def share_recent(self) -> None:
        """Give what was said last of one thing to all that can have it."""
        for owner, told in self.recent:
            bare = told.removeprefix("no ")
            able = self._kitchen.has if bare != told else self._kitchen.fits
            for item in self.items:
                if item is not owner and any(able(name, bare) for name in item.names):
                    item.changes.append(told)
        self.recent = []

    def one_or_the_other(self, first: Item, second: Item) -> None:
        """Make two things one of which only one is wanted."""
        self.items.remove(second)
        first.names = tuple(dict.fromkeys((*first.names, *second.names)))
        first.words = f"{first.words} or {second.words}"
        self.targets = [first]

    # -- combos --------------------------------------------------------------------------------------------

    def narrowed(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Keep of several dishes the one that belongs to the combo just named."""
        fitting = tuple(name for name in names if self.combo_with(name, 1) is not None)
        return fitting if len(names) > 1 and len(fitting) == 1 else names

    def combo_with(self, name: str, count: int) -> Item | None:
        """Return the combo just named, if it has room for a dish."""
        last = self.items[-1] if self.items else None
        combo = self._kitchen.combo(last.name) if last else None
        if last is None or combo is None:
            return None
        taken = [part.name or "" for part in last.parts]
        if last.copied and not self._kitchen.room_for(combo, taken, name):
            for at in range(len(taken)):
                others = [*taken[:at], *taken[at + 1 :]]
                if self._kitchen.room_for(combo, others, name):
                    del last.parts[at]  # "another one with a Milkis": in the place of the cola
                    return last
        for _ in range(min(count, 50)):
            if not self._kitchen.room_for(combo, taken, name):
                return None
            taken.append(name)
        return last
