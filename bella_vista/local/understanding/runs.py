"""Ways to look at a run of pieces: its ends, its lists, and the names in it."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.pieces import STOP, WORD, Piece

TIED = (lex.ON, lex.TO, lex.FOR, lex.OF)
"""What ties something said of a dish to the dish."""


def then_another(pieces: Sequence[Piece]) -> int | None:
    """Return where a change ends and that of another thing begins: "and the other one ..."."""
    for at in range(2, len(pieces) - 2):
        points = pieces[at + 1].does(lex.OTHER, lex.ORDINAL)
        if pieces[at].does(lex.AND) and points and not pieces[at + 2].does(STOP):
            return at
    return None


def trimmed(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Drop what says nothing at the ends of a clause."""
    start, end = 0, len(pieces)
    while start < end and pieces[start].does(STOP, lex.AND, lex.FILLER):
        start += 1
    if start + 2 < end and pieces[start + 1].does(STOP):
        turn = (pieces[start].tag, pieces[start + 2].tag)
        if turn in ((lex.SORRY, lex.NEG), (lex.NEG, lex.SORRY)):
            start += 2
    while end > start and pieces[end - 1].does(STOP, lex.FILLER, lex.AND):
        end -= 1
    return pieces[start:end]


def first(pieces: Sequence[Piece], tag: str) -> int | None:
    """Return where the first piece stands that does something."""
    return next((at for at, piece in enumerate(pieces) if piece.does(tag)), None)


def listed(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Cut a list at its commas and ands."""
    phrases: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.does(STOP, lex.AND):
            phrases.append([])
        else:
            phrases[-1].append(piece)
    return [phrase for phrase in phrases if phrase]


def told_apart(phrases: Sequence[list[Piece]]) -> list[list[Piece]]:
    """Join what only says which of several is meant: "one pizza, the plain one"."""
    joined: list[list[Piece]] = []
    for phrase in phrases:
        if joined and phrase[0].does(lex.THE) and phrase[-1].words in ("one", "ones"):
            joined[-1] = [*joined[-1], *phrase]
        else:
            joined.append(phrase)
    return joined


def said(pieces: Sequence[Piece]) -> str:
    """Return the words of names in a phrase, without what stands around them."""
    return " ".join(
        piece.words
        for piece in pieces
        if piece.head or piece.changes or piece.sizes or piece.does(WORD)
    )
