"""Compares things with descriptions: a name, a choice, "the one without mayo"."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.readings.said import Option, Said
from state.menu.english import EMPTY
from state.menu.words import stems

USUAL = frozenset(("plain", "regular", "normal", "standard"))
_AMOUNTS = frozenset(stems("no extra light double triple half other 1 2 3 4 5 6 7 8 9 on the side"))


def plainest(names: Sequence[str]) -> tuple[str, ...]:
    """Keep of several dishes the one whose words all others have too: "guava", not "guava and cheese"."""
    words = [set(stems(name)) for name in names]
    found = [
        name for name, own in zip(names, words, strict=True) if all(own <= one for one in words)
    ]
    return tuple(found) if len(found) == 1 else tuple(names)


class Matcher:
    """Compares things with what is said of them.

    Args:
        index: The menu's names.
        kitchen: What the menu makes of things.
    """

    def __init__(self, index: Index, kitchen: Kitchen) -> None:
        self._index = index
        self._kitchen = kitchen
        self._masks: dict[tuple[str, ...], int] = {}

    def mask(self, item: Item) -> int:
        """Return the bits of the dishes a thing may be."""
        mask = self._masks.get(item.names)
        if mask is None:
            mask = reduce(or_, map(self._index.bit, item.names), 0)
            self._masks[item.names] = mask
        return mask

    def named(self, mask: int, things: Iterable[Item]) -> list[Item]:
        """Return the things that may be of some dishes."""
        return [item for item in things if self.mask(item) & mask]

    def has(self, item: Item, words: str) -> bool:
        """Whether something is in a thing, or was chosen for it."""
        if self._kitchen.has(item.name, words):
            return True
        said = set(stems(words))
        return any(
            said <= set(stems(change)) and not change.startswith("no ") for change in item.changes
        ) or any(self.has(part, words) for part in item.parts)

    def able(self, item: Item, said: Said) -> bool:
        """Whether all that is said can be said of a thing."""
        mask = self.mask(item)
        for part in item.parts:
            mask |= self.mask(part)
        if said.size is not None and not mask & said.size.mask:
            return False
        return all(
            self.has(item, option.entity.words) or mask & option.entity.own
            if option.no
            else mask & option.entity.mask
            for option in said.options
        )

    def make_plain(self, item: Item, said: Said) -> None:
        """Take "plain" and "regular" for what they say where they are no choice of a thing."""
        mask = self.mask(item)
        for option in [one for one in said.options if one.entity.words in USUAL]:
            if not mask & option.entity.mask:
                said.options.remove(option)
                said.plain = True
        if said.size is not None and said.size.words in USUAL and not mask & said.size.mask:
            said.size, said.plain = None, True

    def is_called(self, item: Item, change: str, words: str) -> bool:
        """Whether a change of a thing is what some words name."""
        own, named = set(stems(change.removeprefix("no "))), set(stems(words))
        called = self._kitchen.made(item.name, words)
        if not named <= own and called is not None and len(called) == 1:
            named = set(stems(called[0]))
        if not named <= own:
            return False
        # "Medium" is another thing than "medium well".
        other = self._kitchen.made(item.name, change)
        if own - named <= _AMOUNTS or not called or not other or called == other:
            return True
        return self._kitchen.choice(item.name, change) == called[0]

    def made_with(self, items: Sequence[Item], options: Sequence[Option]) -> list[Item]:
        """Return the things that have all these options, or lack them where they are to be left off."""
        return [item for item in items if all(self._made_with(item, one) for one in options)]

    def described(self, items: Sequence[Item], options: Sequence[Option]) -> list[Item]:
        """Return the things that some options tell from others: how they are made, or are called.

        "The bacon one" is the one with bacon; else the one that is called so, or has it as it comes. "The
        one without mayo" has none, where another one has some.
        """
        if made := self.made_with(items, options):
            return made
        if any(one.no for one in options):
            own = [replace(one, no=False) for one in options if one.no]
            lacking = [item for item in items if not any(self._made_with(item, o) for o in own)]
            return lacking if len(lacking) < len(items) and len(own) == len(options) else []
        words = " ".join(one.entity.words for one in options)
        return self.called(items, words) or [
            item
            for item in items
            if all(self.has(item, one.entity.words) for one in options)
            and not any(self._made_with(item, replace(one, no=True)) for one in options)
        ]

    def having(self, items: Sequence[Item], options: Sequence[Option]) -> list[Item]:
        """Return the things that hold one of some options: "whatever has egg on it"."""
        return [
            item
            for item in items
            if any(
                self.has(item, one.entity.words)
                and not self._made_with(item, replace(one, no=True))
                for one in options
            )
        ]

    def called(self, items: Sequence[Item], words: str) -> list[Item]:
        """Return the things whose names hold some words."""
        said = set(stems(words))
        return [item for item in items if said <= set(stems(item.name or ""))]

    def _made_with(self, item: Item, option: Option) -> bool:
        words = option.entity.words.removeprefix("no ")  # "no ice" may be a choice of its own
        off = option.no or words != option.entity.words
        return any(
            off == change.startswith("no ") and self.is_called(one, change, words)
            for one in (item, *item.parts)
            for change in one.changes
        )

    def plain_beside(self, items: Sequence[Item]) -> list[Item]:
        """Return the things as they come that stand beside others of the same dish with changes."""
        changed = {item.name for item in items if item.changes}
        return [item for item in items if not item.changes and item.name in changed]

    def kin(self, item: Item, said: Said) -> Said | None:
        """Take an option that a thing cannot have for another dish of its kind that is called so.

        "With mango", said of a lychee fizz, is a mango fizz.
        """
        for option in said.options:
            if option.no or self.mask(item) & option.entity.mask:
                continue
            alike = self.kindred(item, option.entity.words)
            if len(alike) == 1:
                bit = self._index.bit(alike[0])
                rest = [one for one in said.options if one is not option]
                head = self._index.entity(bit.bit_length())
                return replace(said, head=head, mask=bit, words=alike[0], options=rest)
        return None

    def words_of(self, item: Item) -> set[str]:
        """Return the words by which a thing is called on the menu."""
        dish = self._kitchen.dish(item.name)
        called = (item.name or "", *(dish.aliases if dish is not None else ()))
        return {word for name in called for word in stems(name)} - EMPTY

    def kindred(self, item: Item, words: str) -> list[str]:
        """Return the other dishes of a thing's kind that are called so."""
        own, section, said = self.words_of(item), self.section(item), set(stems(words))
        return [
            name
            for name in self._index.names(self._index.all)
            if said <= (called := set(stems(name)))
            and called & own
            and name != item.name
            and (dish := self._kitchen.dish(name)) is not None
            and dish.section == section
        ]

    def plain_kin(self, item: Item) -> str | None:
        """Return the other dish of a thing's kind that is called plain: plain naan of garlic naan."""
        own = set(stems(item.name or "")) - EMPTY
        found = set()
        for name in self._index.names(self._index.all):
            dish = self._kitchen.dish(name)
            for called in map(set, map(stems, (name, *dish.aliases) if dish is not None else ())):
                if called & USUAL and called - USUAL and called - USUAL <= own:
                    found.add(name)
        found.discard(item.name)
        return found.pop() if len(found) == 1 else None

    def section(self, item: Item) -> str:
        """Return the section of the menu that a thing is of."""
        dish = self._kitchen.dish(item.name)
        return dish.section if dish is not None else ""
