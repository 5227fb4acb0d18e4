"""Finds which things on the order a guest points at: "the pizza", "the second one", "one of them"."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bella_vista.local.english import lexicon as lex
from bella_vista.local.english import numbers
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.pieces import NUMBER, WORD, Piece
from state.menu.words import stems


@dataclass
class Meant:
    """The things a phrase points at: so many pieces of each; no number means all of it.

    Args:
        items: The things, oldest first.
        count: How many pieces of them.
        several: Whether the words fit several things of which only one is meant.
        pointed: Whether the phrase pointed at anything at all.
        words: What was said.
    """

    items: list[Item] = field(default_factory=list)
    count: int | None = None
    several: bool = False
    pointed: bool = False
    words: str = ""


_POINTING = (lex.PRONOUN, lex.THEM, lex.ORDINAL, lex.ALL, lex.REST, lex.OTHER)


class References:
    """What can be pointed at.

    Args:
        names: The menu's names.
        kitchen: What the menu makes of things.
        known: The order's lines as things.
        ordered: What was ordered in the same message.
    """

    def __init__(
        self, names: Names, kitchen: Kitchen, known: Sequence[Item], ordered: Sequence[Item]
    ) -> None:
        self._names = names
        self._kitchen = kitchen
        self.known = known
        self.ordered = ordered
        self.changed: Item | None = None

    @property
    def things(self) -> list[Item]:
        """What there is to point at, oldest first; what was taken off is not among it."""
        return [item for item in (*self.known, *self.ordered) if not _is_gone(item)]

    def divided(self, pieces: Sequence[Piece]) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """Cut "the second pizza large" into what is meant and what it is to be."""
        at = 0
        while at < len(pieces):
            piece = pieces[at]
            if piece.does(lex.PRONOUN, lex.THEM):
                at += 1
                break
            if piece.does(lex.OF) and at:
                at += 1
                continue
            if piece.does(lex.ORDINAL, lex.THE, lex.ALL, lex.REST, lex.OTHER, lex.FILLER):
                at += 1
                continue
            plain = piece.does(lex.PLAIN) or piece.also == lex.PLAIN or piece.sizes
            if piece.changes and at and _is_one(pieces, at + 1) and self.made_with(piece):
                at += 2
                break
            if plain and at + 1 < len(pieces) and self._stands(pieces[at + 1]):
                at += 1
                continue
            if piece.does(NUMBER) and at and pieces[at - 1].does(lex.OTHER, lex.REST):
                at += 1
                continue
            if piece.does(NUMBER) and at + 1 < len(pieces):
                following = pieces[at + 1]
                if (
                    following.does(lex.THEM, lex.OF)
                    or self.points(following)
                    or piece.also == lex.PRONOUN
                ):
                    at += 1
                    continue
                break
            if self.points(piece):
                at += 1
                break
            break
        if at and at < len(pieces) and pieces[at].also == lex.PRONOUN:
            at += 1
        told = pieces[:at]
        if not told or self.points(told[-1]) or any(p.does(*_POINTING) for p in told):
            return told, pieces[at:]
        # "One decaf" means one of them; "two of the banana bread" means nothing that is there.
        alone = told[-1].does(NUMBER) or told[-1].also == lex.PRONOUN
        return (told, pieces[at:]) if alone else ((), pieces)

    def _stands(self, piece: Piece) -> bool:
        """Whether a word stands for something on the order: "one", or its name."""
        return piece.does(lex.PRONOUN, lex.THEM) or piece.also == lex.PRONOUN or self.points(piece)

    def points(self, piece: Piece) -> bool:
        """Whether a name means something that is on the order."""
        return bool(self.called(piece, self.things))

    def made_with(self, piece: Piece) -> list[Item]:
        """Return the things that were ordered with a choice: "the tofu one"."""
        said = stems(piece.words)
        return [
            item
            for item in self.things
            if any(
                set(said) <= set(stems(change)) and not change.startswith("no ")
                for change in item.changes
            )
        ]

    def reference_at(self, pieces: Sequence[Piece]) -> bool:
        """Whether a run of pieces begins by pointing at something."""
        if not pieces or not self.things:
            return False
        first = pieces[0]
        if first.does(NUMBER) and len(pieces) > 1:
            if pieces[1].does(lex.THEM):
                return True
            if pieces[1].does(lex.OF):
                return self.reference_at(pieces[2:])
        if first.does(lex.PRONOUN, lex.ALL, lex.ORDINAL, lex.OTHER, lex.REST):
            return True
        if first.does(lex.THE) and len(pieces) > 2 and _is_one(pieces, 2):
            if pieces[1].changes and self.made_with(pieces[1]):
                return True
        later = next((p for p in pieces if p.head or p.changes or p.does(WORD)), None)
        if first.does(lex.THE):
            return later is not None and self.points(later)
        return later is first and self.points(first)

    def last_thing(self) -> Meant:
        """Return what was ordered last."""
        things = self.things
        return Meant(things[-1:], pointed=True)

    def called(self, piece: Piece, things: Sequence[Item]) -> list[Item]:
        """Return the things a name may mean: dishes first, then kinds of dishes."""
        by_dish = [item for item in things if item.name in piece.dishes]
        if by_dish:
            return by_dish
        sections = set(piece.sections)
        by_section = [
            item for item in things if item.name and self._names.section_of(item.name) in sections
        ]
        if by_section:
            return by_section
        if piece.head or piece.does(WORD) or piece.changes:
            words = set(stems(piece.words))
            return [
                item
                for item in things
                if item.name and words <= _name_words(item, self._kitchen) and words
            ]
        return []

    def meant(self, pieces: Sequence[Piece]) -> Meant:
        """Find what a phrase points at."""
        things = self.things
        meant = Meant(words=" ".join(piece.words for piece in pieces))
        count = next((piece.value for piece in pieces if piece.does(NUMBER)), None)
        ordinal = next(
            (numbers.ORDINALS[p.words.removeprefix("the ")] for p in pieces if p.does(lex.ORDINAL)),
            None,
        )
        made = next(
            (
                (piece, items)
                for at, piece in enumerate(pieces)
                if piece.changes and _is_one(pieces, at + 1) and (items := self.made_with(piece))
            ),
            None,
        )
        if made is not None:
            pieces = [piece for piece in pieces if piece is not made[0]]
            things = made[1]
        named = [(piece, self.called(piece, things)) for piece in pieces]
        found = next((items for piece, items in named if items and not piece.does(NUMBER)), None)
        every = any(piece.does(lex.ALL) for piece in pieces)
        pronoun = any(
            piece.does(lex.PRONOUN, lex.THEM, lex.OTHER, lex.REST) or piece.also == lex.PRONOUN
            for piece in pieces
        )
        if found is None and any(
            piece.does(WORD) or piece.head or piece.changes for piece in pieces
        ):
            return meant
        if not (found or every or pronoun or ordinal or count):
            return meant
        meant.pointed = True
        if made is not None and found is None:
            found = made[1]
            count = None if count == 1 else count
        candidates: Sequence[Item] = found if found is not None else things
        candidates = self._narrowed(candidates, pieces) if found or len(things) > 1 else candidates
        if ordinal is not None:
            return self._by_number(meant, candidates, ordinal)
        if every:
            meant.items = list(candidates)
            return meant
        if found is None:
            candidates = self._pronoun_means(candidates, pieces, count)
        meant.items = list(candidates)
        meant.several = len(candidates) > 1
        if (
            meant.several
            and count is None
            and any(piece.does(lex.THE) for piece in pieces[:1])
            and any(piece.head and _plural(piece, meant.items) for piece in pieces)
        ):
            meant.several = False
        total = sum(item.quantity or 1 for item in meant.items)
        if count is not None and not (len(meant.items) == 1 and count >= total):
            meant.count = count
        return meant

    def _pronoun_means(
        self, candidates: Sequence[Item], pieces: Sequence[Piece], count: int | None
    ) -> Sequence[Item]:
        several = [item for item in candidates if (item.quantity or 1) > 1]
        others = next((at for at, p in enumerate(pieces) if p.does(lex.OTHER, lex.REST)), None)
        if others is not None and len(candidates) > 1:
            number = next((p.value for p in pieces[others:] if p.does(NUMBER)), None)
            so_many = [item for item in candidates if (item.quantity or 1) == number]
            if so_many:
                return so_many
        if any(piece.does(lex.THEM) for piece in pieces) and several:
            return several[-1:]
        if count is not None and several:
            return several[-1:]
        if any(piece.does(lex.OTHER) for piece in pieces) and len(candidates) == 2:
            unchanged = [item for item in candidates if item is not self.changed]
            return unchanged if len(unchanged) == 1 else candidates[:1]
        described = any(piece.sizes or piece.changes for piece in pieces)
        return candidates if described and len(candidates) < len(self.things) else candidates[-1:]

    def _narrowed(self, items: Sequence[Item], pieces: Sequence[Piece]) -> Sequence[Item]:
        """Keep the things of the size, or with the changes, that were said."""
        for piece in pieces:
            if piece.does(lex.PLAIN) or piece.also == lex.PLAIN:
                plain = [item for item in items if not item.changes]
                # What is called plain has another of its kind beside it that is not.
                beside = [
                    item
                    for item in plain
                    if any(other.changes and other.name == item.name for other in items)
                ]
                if beside:
                    items = beside
                    continue
                items = plain or items
            if piece.sizes:
                sized = [
                    item
                    for item in items
                    if item.size and self._kitchen.size(item.name, piece.words) == item.size
                ]
                items = sized or items
        return items

    def _by_number(self, meant: Meant, items: Sequence[Item], ordinal: int) -> Meant:
        """Take the second thing; or one piece of a line when there is only one line of two."""
        index = ordinal - 1 if ordinal > 0 else len(items) + ordinal
        if (
            len(items) == 1
            and (items[0].quantity or 1) > 1
            and 1 < ordinal <= (items[0].quantity or 1)
        ):
            meant.items, meant.count = list(items), 1
        elif 0 <= index < len(items):
            meant.items = [items[index]]
        return meant


def _is_one(pieces: Sequence[Piece], at: int) -> bool:
    """Whether "one" or "ones" stands at a place."""
    return at < len(pieces) and pieces[at].words in ("one", "ones")


def _plural(piece: Piece, items: Sequence[Item]) -> bool:
    """Whether a name speaks of several: "the Marinaras"."""
    named = any((item.name or "").casefold().endswith("s") for item in items)
    return piece.words.endswith("s") and not (piece.dishes and named)


def _is_gone(item: Item) -> bool:
    return item.line is not None and item.gone >= (item.quantity or 1)


def _name_words(item: Item, kitchen: Kitchen) -> set[str]:
    dish = kitchen.dish(item.name)
    combo = kitchen.combo(item.name)
    thing = dish or combo
    names = (thing.name, *thing.aliases) if thing else (item.words,)
    return {word for name in names for word in stems(name)}
