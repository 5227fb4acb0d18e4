"""Makes things on the order what a guest wants: another dish, size, number or way, or nothing at all."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.pieces import NUMBER, STOP, WORD, Piece
from bella_vista.local.understanding.references import Meant, References


class Reshaping:
    """Changes things, and remembers which lines are not as they were.

    Args:
        names: The menu's names.
        kitchen: What the menu makes of things.
        orders: What was ordered in the same message.
        references: What can be pointed at.
    """

    def __init__(
        self, names: Names, kitchen: Kitchen, orders: Orders, references: References
    ) -> None:
        self._names = names
        self._kitchen = kitchen
        self._orders = orders
        self._references = references
        self.questions: list[Question] = []
        self.touched: list[Item] = []
        self.place = 0

    def carries(self, item: Item, words: str) -> bool:
        """Whether something is in a dish, or was chosen for it."""
        if self._kitchen.has(item.name, words):
            return True
        if not self._kitchen.fits(item.name, words):
            return False
        size = self._kitchen.size(item.name, item.size or "") if item.size else None
        before = self._kitchen.canonical(item.name or "", size, item.changes)
        after = self._kitchen.canonical(item.name or "", size, [*item.changes, f"no {words}"])
        return before != after

    def able(self, item: Item, change: str) -> bool:
        """Whether a change makes sense on a thing."""
        if change.startswith("no "):
            return self.carries(item, change.removeprefix("no "))
        return self._kitchen.answers(item.name, change)

    def fits_any(self, piece: Piece, items: Sequence[Item]) -> bool:
        """Whether one of some things can be had with what a name says."""
        return any(self._kitchen.fits(item.name, piece.words) for item in items)

    def names_dish(self, pieces: Sequence[Piece]) -> bool:
        """Whether words that are no whole name are part of one: "gnocchi"."""
        words = " ".join(piece.words for piece in pieces if piece.does(WORD))
        return bool(words) and len(self._names.resolve(words).names) == 1

    def told(self, pieces: Sequence[Piece], items: Sequence[Item]) -> list[str]:
        """Read changes as they would be said of a thing."""
        probe = items[-1].copy(1) if items else None
        if probe is None:
            return []
        probe.changes, probe.size = [], None
        orders = Orders(self._names, self._kitchen)
        orders.attach(probe)
        orders.read([piece for piece in pieces if not piece.does(lex.TAKE)])
        if any(item is not probe for item in orders.items):
            return []
        return [*probe.changes, *probe.unknown]

    def become(self, meant: Meant, new: Sequence[Piece]) -> bool:
        """Make things another dish, or another size, number or way."""
        head = next((piece for piece in new if piece.dishes), None)
        changes_only = (
            head is not None
            and head.changes
            and not _after_article(new, head)
            and self.fits_any(head, meant.items)
        )
        if changes_only or (head is None and not self.names_dish(new)):
            return self._become_like(meant, new) or self.reshape(meant, new)
        orders = Orders(self._names, self._kitchen)
        orders.read(new)
        if not orders.items:
            return False
        fresh = orders.items[0]
        for item in meant.items:
            target = self._portion(item, meant.count)
            target.words, target.names, target.near = fresh.words, fresh.names, fresh.near
            target.unknown = list(fresh.unknown)
            if fresh.size is not None:
                target.size = fresh.size
            elif target.size and self._kitchen.size(fresh.name, target.size) is None:
                target.size = None
            target.changes = [
                change for change in target.changes if self._kitchen.fits(fresh.name, change)
            ] + fresh.changes
            if fresh.counted:
                target.quantity = fresh.quantity
            self.touch(target)
        return True

    def _become_like(self, meant: Meant, new: Sequence[Piece]) -> bool:
        """Make a plain naan a garlic one, where garlic is nothing on it but the name of another."""
        words = " ".join(p.words for p in new if p.changes or p.does(WORD))
        item = meant.items[0] if len(meant.items) == 1 else None
        if item is None or not words or self._kitchen.answers(item.name, words):
            return False
        kind = (item.name or "").split()[-1:]
        meaning = self._names.meaning(" ".join([words, *kind]))
        if meaning is None or len(meaning.dishes) != 1:
            return False
        target = self._portion(item, meant.count)
        target.words = target.name or words
        target.names, target.changes = (meaning.dishes[0],), []
        self.touch(target)
        return True

    def reshape(self, meant: Meant, new: Sequence[Piece]) -> bool:
        """Give things a size, a number or changes."""
        if not meant.items or not new:
            return False
        count = next((piece for piece in new if piece.does(NUMBER)), None)
        content = [
            p for p in new if not p.does(lex.FILLER, STOP, lex.ARTICLE, lex.PRONOUN, lex.ONLY)
        ]
        if count is not None and len(content) == 1:
            return self.set_count(meant, count.value)
        done = False
        for item in meant.items:
            probe = item.copy(1)
            probe.changes, probe.size = [], None
            orders = Orders(self._names, self._kitchen)
            orders.attach(probe)
            orders.read([p for p in new if not p.does(lex.TAKE)])
            if orders.items or not (probe.changes or probe.size or probe.unknown):
                continue
            target = self._portion(item, meant.count)
            target.size = probe.size or target.size
            target.changes.extend(probe.changes)
            target.unknown.extend(probe.unknown)
            if probe.quantity and probe.quantity > 1:
                target.quantity = probe.quantity
            self.touch(target)
            done = True
        return done

    def add(self, meant: Meant, changes: Sequence[str]) -> bool:
        """Give changes to things."""
        for item in meant.items:
            target = self._portion(item, meant.count)
            target.changes.extend(changes)
            self.touch(target)
        return True

    def set_count(self, meant: Meant, count: int) -> bool:
        """Make things so many."""
        for item in meant.items:
            item.quantity = count
            self.touch(item)
        return bool(meant.items)

    def take_off(self, item: Item, count: int | None) -> None:
        """Take so many pieces of a thing off; all of them without a number."""
        total = item.quantity or 1
        item.gone = total if count is None else min(total, item.gone + count)
        if item.line is None:
            item.quantity = total - item.gone
            item.gone = 0
            if not item.quantity:
                self._orders.items.remove(item)
            return
        self.touch(item)

    def _portion(self, item: Item, count: int | None) -> Item:
        """Return the thing itself, or so many pieces of it as a thing of their own."""
        total = item.quantity or 1
        if count is None or count >= total:
            return item
        item.quantity = total - count
        self.touch(item)
        part = item.copy(count)
        part.spoken, part.source = self.place, item
        self._orders.items.append(part)
        return part

    def touch(self, item: Item) -> None:
        """Note that a line is not as it was."""
        self._references.changed = item
        if item.line is not None and item not in self.touched:
            item.spoken = self.place
            self.touched.append(item)

    def ask_which(self, meant: Meant, new: Sequence[Piece], *, drop: bool = False) -> bool:
        """Ask which of several lines is meant; what was wanted of it waits."""
        lines = [item for item in meant.items if item.line is not None]
        if not lines:
            return False
        facts = {
            "words": meant.words,
            "possible": [_shown(item) for item in lines],
            "line_ids": [item.line.id for item in lines if item.line],
            "change": "" if drop else " ".join(piece.words for piece in new),
            "drop": drop,
            "count": meant.count,
        }
        self.questions.append(Question("which_line", facts))
        return True


def _after_article(pieces: Sequence[Piece], head: Piece) -> bool:
    at = pieces.index(head)
    return at > 0 and pieces[at - 1].does(lex.ARTICLE)


def _shown(item: Item) -> str:
    parts = [str(item.quantity or 1), item.size or "", item.name or item.words]
    said = " ".join(part for part in parts if part)
    return f"{said} ({', '.join(item.changes)})" if item.changes else said
