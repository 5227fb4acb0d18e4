"""Reads corrections: "no, three", "I said two croissants", "the lasagne should be small"."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.pieces import NUMBER, STOP, Piece
from bella_vista.local.understanding.references import Meant, References
from bella_vista.local.understanding.reshaping import Reshaping

_AT_THE_END = frozenset({"actually", "i mean", "i meant", "sorry", "rather", "after all"})
_AROUND = (STOP, lex.SORRY, lex.ONLY, lex.FILLER, lex.TAKE, lex.NEG)


class Correcting:
    """Sets right what is on the order.

    Args:
        kitchen: What the menu makes of things.
        references: What can be pointed at.
        reshaping: Makes things what they are to be.
    """

    def __init__(self, kitchen: Kitchen, references: References, reshaping: Reshaping) -> None:
        self._kitchen = kitchen
        self._references = references
        self._reshaping = reshaping

    def read(self, pieces: Sequence[Piece]) -> bool:
        """Carry out a clause if it says a number or a size anew."""
        if not self._references.things:
            return False
        return self.number(pieces) or self._wanted(pieces)

    def should_be(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "the cola should be two", "it should be three colas" and "that should be small"."""
        place = next((at for at, piece in enumerate(pieces) if piece.does(lex.SHOULD)), None)
        if place is None or not self._references.things:
            return False
        told = [piece for piece in pieces[:place] if not piece.does(*_AROUND)]
        new = [piece for piece in pieces[place + 1 :] if not piece.does(STOP, lex.FILLER)]
        named = any(piece.head for piece in told)
        if not named and self.number(new, sure=True):
            return True
        meant = self._references.meant(told) if told else self._references.last_thing()
        if not (meant.items and new):
            return False
        if meant.several:
            return self._reshaping.ask_which(meant, new)
        return self._reshaping.become(meant, new)

    def number(self, pieces: Sequence[Piece], *, sure: bool = False) -> bool:
        """Carry out "no, three", "actually only one Margherita" and "I meant two croissants"."""
        if not sure and len(pieces) > 1 and pieces[-1].words in _AT_THE_END:
            return self.number(pieces[:-1], sure=True)
        if not sure and not pieces[0].does(lex.SORRY, lex.ONLY, lex.NEG):
            return False
        if not sure and pieces[0].does(lex.NEG):
            if not (len(pieces) > 1 and pieces[1].does(STOP, NUMBER)):
                return False
        start = 0 if sure else 1
        end = next((at for at, p in enumerate(pieces) if at and p.does(lex.INSTEAD)), len(pieces))
        rest = [p for p in pieces[start:end] if not p.does(*_AROUND)]
        number = next((piece for piece in rest if piece.does(NUMBER)), None)
        heads = [piece for piece in rest if piece.head]
        if number is None or len(heads) > 1:
            return False
        if not heads and len(rest) == 1:
            if sure:
                return False
            return self._reshaping.set_count(self._references.last_thing(), number.value)
        if heads and all(piece is number or piece in heads or piece.sizes for piece in rest):
            found = self._references.called(heads[0], self._references.things)
            if len(found) == 1:
                sizes = [piece for piece in rest if piece.sizes and not piece.head]
                if sizes:
                    self._reshaping.reshape(Meant(found, pointed=True), sizes)
                return self._reshaping.set_count(Meant(found, pointed=True), number.value)
        return False

    def _wanted(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "I wanted the small Margherita", with a large one on the order."""
        if not pieces[0].does(lex.SORRY) or not pieces[0].words.startswith("i "):
            return False
        rest = [
            p
            for p in pieces[1:]
            if not p.does(*_AROUND, lex.THE, lex.ARTICLE) and p.also != lex.THE
        ]
        heads = [piece for piece in rest if piece.dishes]
        sizes = [piece for piece in rest if piece.sizes and piece not in heads]
        if len(heads) != 1 or len(sizes) != 1 or len(rest) != 2:
            return False
        found = [
            item
            for item in self._references.called(heads[0], self._references.things)
            if self._kitchen.size(item.name, sizes[0].words) not in (None, item.size)
        ]
        if len(found) > 1:
            return self._reshaping.ask_which(Meant(found, several=True, pointed=True), sizes)
        return bool(found) and self._reshaping.reshape(Meant(found, pointed=True), sizes)
