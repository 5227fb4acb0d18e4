"""Tells what a word does where it stands: a number that counts, a "one" that points, a "no" that takes back."""

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding import pieces
from bella_vista.local.understanding.basket import Basket
from bella_vista.local.understanding.clause import Clause
from bella_vista.local.understanding.kitchen import Kitchen
from state.menu.words import stem


class Telling:
    """Tells words of several uses apart by what stands around them.

    Args:
        clause: What is being read.
        basket: The things ordered so far.
        kitchen: What the menu makes of things.
    """

    def __init__(self, clause: Clause, basket: Basket, kitchen: Kitchen) -> None:
        self._clause = clause
        self._basket = basket
        self._kitchen = kitchen

    def leaves_off(self, at: int) -> bool:
        """Whether a verb takes something away by an "off" that follows: "leave the basil off"."""
        if self._clause.pieces[at].words.split()[-1] not in _LEAVING:
            return False
        for piece in self._clause.pieces[at + 1 :]:
            if piece.does(pieces.STOP, lex.AND):
                return False
            if piece.does(lex.OFF):
                return True
        return False

    def corrects(self, at: int) -> bool:
        """Whether a word takes back what was said just before."""
        piece = self._clause.pieces[at]
        said_before = bool(self._basket.targets) or self._clause.phrase.count is not None
        if not said_before or at + 1 >= len(self._clause.pieces):
            return False
        following = self._clause.pieces[at + 1]
        if piece.tag == lex.SORRY:
            return not (at and self._clause.pieces[at - 1].does(lex.AND))
        if piece.tag == lex.NEG and piece.words == "no":
            before = at == 0 or self._clause.pieces[at - 1].does(pieces.STOP, lex.SORRY)
            turns = following.does(pieces.STOP, pieces.NUMBER, lex.ARTICLE, lex.SORRY) or (
                bool(following.sizes) and not following.changes
            )
            return before and turns
        return False

    def is_pronoun(self, at: int) -> bool:
        """Whether "one" stands for a thing: "a large one", "the second one"."""
        before = self._clause.pieces[at - 1] if at else None
        following = self._clause.after(at)
        if before is None or self._clause.head_follows(at + 1):
            return False
        if following is not None and (following.changes or following.sizes):
            return False
        if self._clause.mode and not self._clause.phrase.strong and not self._clause.phrase.the:
            return False
        return before.does(lex.THE, lex.ORDINAL, lex.OTHER) or bool(before.sizes) or before.changes

    def counts_choice(self, at: int) -> bool:
        """Whether a number counts something on a dish: "with two extra shots"."""
        index = at + 1
        said = self._clause.pieces
        while index < len(said) and said[index].does(lex.AMOUNT, lex.FILLER):
            index += 1
        if index >= len(said):
            return False
        piece, number = said[index], said[at].value
        head = self._clause.head_at(index + 1)
        if head is not None and head.dishes and piece.changes and not piece.head:
            several = piece.words.split()[0]
            counted = f"{number} {piece.words}"
            return several != stem(several) and self._kitchen.fits(head.dishes[0], counted)
        nameable = piece.changes or piece.does(pieces.WORD)
        if (
            not nameable
            or not self._basket.targets
            or self._clause.head_follows(index + 1, near=True)
        ):
            return False
        if self._clause.mode != "with" and (piece.head or self._basket.splittable(number)):
            return False
        words = f"{max(2, number)} {piece.words}"
        return all(self._kitchen.fits(name, words) for name in self._basket.target_names)


_LEAVING = ("leave", "take", "keep", "hold", "get")
