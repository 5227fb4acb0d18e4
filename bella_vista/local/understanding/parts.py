"""Changes to what belongs to a combo on the order: "make the coke large", "rings instead of the fries"."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import LineSeen, Question
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.pieces import Piece
from bella_vista.local.understanding.references import References
from bella_vista.local.understanding.reshaping import Reshaping
from state.menu.words import stems

_SHOWN = re.compile(r"(?P<named>[^(]+?)(?: \((?P<changes>.*)\))?")
"""A part as the order shows it: its size and name, and in brackets how it is made."""


def on_order(line: LineSeen, kitchen: Kitchen) -> Item:
    """Take a line of the order as a thing that can be spoken of; a combo with what was chosen for it."""
    item = Item.of_line(line)
    if kitchen.combo(line.name) is not None:
        parts = [_part(shown, line.name, kitchen) for shown in line.parts]
        item.parts = [part for part in parts if part is not None]
    return item


def _part(shown: str, combo: str, kitchen: Kitchen) -> Item | None:
    found = _SHOWN.fullmatch(shown)
    had = kitchen.combo(combo)
    if found is None or had is None:
        return None
    dishes = [name for part in had.parts for name in part.dishes if found["named"].endswith(name)]
    if not dishes:
        return None
    name = max(dishes, key=len)
    changes = found["changes"].split(", ") if found["changes"] else []
    return Item(
        words=name,
        names=(name,),
        size=found["named"].removesuffix(name).strip() or None,
        changes=changes,
        yielding=len(changes),
    )


class _Reader(Protocol):
    """What carries out changes on things."""

    def read(self, pieces: Sequence[Piece]) -> bool: ...

    @property
    def questions(self) -> list[Question]: ...


class Parts:
    """Carries out what a guest wants changed within a combo, as if its parts were an order of their own.

    Args:
        kitchen: What the menu makes of things.
        references: What can be pointed at.
        reshaping: Remembers which lines are not as they were.
        reader: Makes what carries out changes on some things, and the new things among them.
    """

    def __init__(
        self,
        kitchen: Kitchen,
        references: References,
        reshaping: Reshaping,
        reader: Callable[[Sequence[Item]], tuple[_Reader, Orders]],
    ) -> None:
        self._kitchen = kitchen
        self._references = references
        self._reshaping = reshaping
        self._reader = reader

    def read(self, pieces: Sequence[Piece]) -> bool:
        """Carry out a clause if it speaks of a part of a combo, and of nothing else on the order."""
        things = self._references.things
        heads = [piece for piece in pieces if piece.head]
        if any(self._references.called(piece, things) for piece in heads):
            return False
        for item in reversed(things):
            parts = _counted(item)
            told = any(
                piece.changes and following.words == "one" and _made_with(piece, parts)
                for piece, following in pairwise(pieces)
            )
            if told or any(self._references.called(piece, parts) for piece in heads):
                return self._change(item, parts, pieces)
        return False

    def read_last(self, pieces: Sequence[Piece]) -> bool:
        """Carry out what can only be meant for a part of the combo ordered last: "with oat milk"."""
        last = self._references.things[-1:]
        heads = [piece for piece in pieces if piece.dishes]
        if not last or not last[0].parts or last[0].line is None or heads:
            return False
        return self._change(last[0], _counted(last[0]), pieces)

    def _change(self, item: Item, parts: list[Item], pieces: Sequence[Piece]) -> bool:
        changes, orders = self._reader(parts)
        if not changes.read(pieces):
            return False
        wanted = [
            part.copy(1)
            for part in (*parts, *orders.items)
            for _ in range((part.quantity or 1) - part.gone)
        ]
        fits = all(self._room(item, wanted[:at], part) for at, part in enumerate(wanted)) and len(
            wanted
        ) == len(item.parts)
        if changes.questions or not fits:
            words = " ".join(piece.words for piece in pieces if piece.head)
            facts = {"words": words, "combo": item.name}
            self._reshaping.questions.append(Question("not_found", facts))
            return True
        item.parts = wanted
        self._reshaping.touch(item)
        return True

    def _room(self, item: Item, before: Sequence[Item], part: Item) -> bool:
        combo = self._kitchen.combo(item.name)
        taken = [one.name or "" for one in before]
        return combo is not None and any(
            self._kitchen.room_for(combo, taken, name) for name in part.names
        )


def _counted(item: Item) -> list[Item]:
    """Take the parts of a combo as lines: two that are alike are one line of two."""
    counted: list[Item] = []
    for number, part in enumerate(item.parts):
        same = next((one for one in counted if _alike(one, part)), None)
        if same is not None:
            same.quantity = (same.quantity or 1) + 1
            continue
        fresh = part.copy(1)
        fresh.yielding = part.yielding
        fresh.line = LineSeen(f"{number}", 1, part.name or "", part.size, tuple(part.changes))
        counted.append(fresh)
    return counted


def _alike(one: Item, other: Item) -> bool:
    return (one.name, one.size, one.changes) == (other.name, other.size, other.changes)


def _made_with(piece: Piece, parts: Sequence[Item]) -> bool:
    said = stems(piece.words)
    return any(stems(change) == said for part in parts for change in part.changes)
