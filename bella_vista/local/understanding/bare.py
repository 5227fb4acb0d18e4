"""Reads changes said without a verb: "without basil", "the second one large", "twice"."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.pieces import NUMBER, Piece
from bella_vista.local.understanding.references import Meant, References
from bella_vista.local.understanding.reshaping import Reshaping
from bella_vista.local.understanding.runs import listed

_TELLING = (lex.NEG, lex.WITH, lex.AMOUNT, lex.HALF, lex.SIDE, lex.PLAIN, NUMBER)
"""What says how something is to be, even when what follows is not known."""


class Bare:
    """Carries out what is only said of something on the order.

    Args:
        kitchen: What the menu makes of things.
        orders: What was ordered in the same message.
        references: What can be pointed at.
        reshaping: Makes things what they are to be.
    """

    def __init__(
        self, kitchen: Kitchen, orders: Orders, references: References, reshaping: Reshaping
    ) -> None:
        self._kitchen = kitchen
        self._orders = orders
        self._references = references
        self._reshaping = reshaping

    def read(self, pieces: Sequence[Piece]) -> bool:
        """Carry out changes said without a verb: "without basil", "the second one large"."""
        if not self._references.things or self._orders.items:
            return False
        if self._some_of_last(pieces):
            return True
        if len(pieces) == 1 and pieces[0].words in ("twice", "two times"):
            return self._reshaping.set_count(self._references.last_thing(), 2)
        kept = [piece for piece in pieces if not piece.does(lex.TAKE, lex.ONLY, lex.SORRY)]
        if not kept or any(piece.does(lex.MORE, lex.SAME) for piece in kept):
            return False
        reference, new = self._references.divided(kept)
        meant = self._references.meant(reference)
        definite = any(
            piece.does(lex.PRONOUN, lex.ORDINAL, lex.ALL, lex.THEM, lex.OTHER, lex.REST)
            for piece in reference
        ) or (any(piece.does(lex.THE) for piece in reference) and bool(new))
        if meant.items and definite:
            known = any(p.changes or p.sizes or p.head or p.does(*_TELLING) for p in new)
            if not known:
                return False
            if meant.several:
                return self._reshaping.ask_which(meant, new)
            return self._reshaping.become(meant, new)
        if any(piece.does(lex.ARTICLE, NUMBER) for piece in kept[:1]):
            return False
        return self._bare_changes(kept)

    def _some_of_last(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "two with bacon, one without onions", with four of one thing ordered last."""
        phrases = listed(pieces)
        last = self._references.last_thing().items[0]
        shares = [(phrase[0].value, phrase[1:]) for phrase in phrases if phrase[0].does(NUMBER)]
        if len(shares) != len(phrases) or sum(count for count, _ in shares) > (last.quantity or 1):
            return False
        for _, told in shares:
            says_how = told and told[0].does(lex.WITH, lex.NEG)
            changes = self._reshaping.told(told, [last]) if says_how else []
            if not changes or not all(self._reshaping.able(last, change) for change in changes):
                return False
        for count, told in shares:
            self._reshaping.reshape(Meant([last], count, pointed=True), told)
        return True

    def _bare_changes(self, pieces: Sequence[Piece]) -> bool:
        """Find whom changes are for when nobody is named: the last thing that can be had so."""
        mods = any(piece.does(lex.NEG, lex.WITH, lex.AMOUNT, lex.HALF) for piece in pieces)
        for item in reversed(self._references.things):
            dishes = [piece for piece in pieces if piece.head]
            if any(not self._kitchen.answers(item.name, piece.words) for piece in dishes):
                continue
            if any(
                not self._kitchen.answers(item.name, piece.words) and piece.own for piece in dishes
            ):
                continue
            if dishes and not mods and any(piece.own for piece in dishes):
                continue
            changes = self._reshaping.told(pieces, [item])
            size = next(
                (piece.words for piece in pieces if piece.sizes and not piece.changes), None
            )
            sized = size is not None and self._kitchen.size(item.name, size) is not None
            if size is not None and not sized:
                continue
            possible = [
                change
                for change in changes
                if self._reshaping.able(item, change.removesuffix(" on the side"))
            ]
            if (changes and len(possible) == len(changes)) or (sized and not changes):
                return self._reshaping.reshape(Meant([item], pointed=True), pieces)
        return False
