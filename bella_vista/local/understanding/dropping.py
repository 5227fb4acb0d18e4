"""Reads what is to be taken off the order, or off something on it: "remove one cola"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.pieces import NUMBER, STOP, WORD, Piece
from bella_vista.local.understanding.references import Meant, References
from bella_vista.local.understanding.reshaping import Reshaping
from bella_vista.local.understanding.runs import TIED, first, listed, said, told_apart


class Dropping:
    """Takes things off.

    Args:
        references: What can be pointed at.
        reshaping: Makes things what they are to be.
    """

    def __init__(self, references: References, reshaping: Reshaping) -> None:
        self._references = references
        self._reshaping = reshaping

    def read(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "take off the tiramisu", "remove one Margherita" and "take the ham off"."""
        while len(pieces) > 1 and pieces[0].does(lex.SORRY, STOP, lex.FILLER):
            pieces = pieces[1:]
        verb = first(pieces, lex.DROP)
        rest: Sequence[Piece] = ()
        if verb is not None:
            rest = pieces[verb + 1 :]
        elif len(pieces) > 2 and pieces[0].does(NUMBER) and pieces[1].words in ("less", "fewer"):
            rest = [pieces[0], *pieces[2:]]
        elif self._says_no(pieces):
            rest = pieces[1:]
        elif pieces[-1].does(lex.OFF) and pieces[0].words.split()[-1] in (
            "take",
            "leave",
            "get",
            "cut",
        ):
            rest = pieces[1:-1]
        elif any(piece.does(lex.OFF) for piece in pieces) and pieces[0].words.split()[-1] == "take":
            rest = [replace(p, tag=lex.ON) if p.does(lex.OFF) else p for p in pieces[1:]]
        if not self._references.things:
            return verb == 0 and self._drop_of_nothing(pieces[1:])
        if not rest:
            return False
        rest = [
            replace(piece, tag=lex.ON) if piece.does(lex.OFF) and at + 1 < len(rest) else piece
            for at, piece in enumerate(rest)
        ]
        done = False
        for phrase in told_apart(listed(rest)):
            if not done or not all(self._gone(piece) for piece in phrase):
                done = self._drop_one(phrase) or done
        return done

    def _drop_of_nothing(self, rest: Sequence[Piece]) -> bool:
        """Say that a dish is not on an order that is empty, rather than to add it."""
        around = (lex.THE, lex.ARTICLE, NUMBER, lex.AND, STOP, lex.FILLER, lex.OFF, lex.ONLY)
        named = [piece for piece in rest if not piece.does(*around)]
        if not named or not all(piece.dishes and not piece.changes for piece in named):
            return False
        facts = {"kind": "line", "words": named[0].words}
        self._reshaping.questions.append(Question("not_found", facts))
        return True

    def _gone(self, piece: Piece) -> bool:
        """Whether a word says again what was taken off already: "no cola, I mean no cola"."""
        off = [item for item in self._references.known if item.gone]
        return not piece.head or bool(self._references.called(piece, off))

    def _says_no(self, pieces: Sequence[Piece]) -> bool:
        """Whether a clause is no more than "no cola", with a cola on the order."""
        if not pieces[0].does(lex.NEG) or len(pieces) < 2:
            return False
        around = (lex.THE, lex.FILLER, lex.ONLY, lex.SORRY, lex.NEG, STOP)
        content = [piece for piece in pieces[1:] if not piece.does(*around)]
        said = {piece.words for piece in content}
        return len(said) == 1 and content[0].head and not content[0].changes

    def _drop_one(self, pieces: Sequence[Piece]) -> bool:
        place = next((at for at, piece in enumerate(pieces) if at and piece.does(*TIED)), None)
        if place is not None:
            owner = self._references.meant(pieces[place + 1 :])
            words = said(pieces[:place])
            able = [item for item in owner.items if self._reshaping.carries(item, words)]
            if words and able:
                return self._reshaping.add(replace(owner, items=able[-1:]), [f"no {words}"])
        meant = self._references.meant(pieces)
        if meant.pointed and meant.items:
            if meant.several:
                return self._reshaping.ask_which(meant, (), drop=True)
            for item in meant.items:
                self._reshaping.take_off(item, meant.count)
            return True
        words = said(pieces)
        owners = [
            item
            for item in self._references.things
            if words and self._reshaping.carries(item, words)
        ]
        if owners:
            return self._reshaping.add(Meant(owners[-1:], pointed=True), [f"no {words}"])
        if any(piece.head or piece.does(WORD) for piece in pieces) and words:
            self._reshaping.questions.append(
                Question("not_found", {"kind": "line", "words": words})
            )
            return True
        return False
