"""Tells numbers and halves from sizes of the same word: "three fries" where strips come in threes."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.names import PIECES, Names
from bella_vista.local.understanding.pieces import NAME, NUMBER, STOP, Piece
from bella_vista.local.understanding.tokens import number_at, tokenize


def counted(
    pieces: Sequence[Piece], names: Names, kitchen: Kitchen, spoken: Sequence[str]
) -> tuple[Piece, ...]:
    """Make a plain number, or half, of every such word that is no size of the dish it stands beside.

    Args:
        pieces: A clause.
        names: The menu's names.
        kitchen: What the menu makes of things.
        spoken: The dishes that were spoken of before the clause.
    """
    pieces = [_bare(piece) for piece in pieces]
    return tuple(
        replace(piece, tag=piece.also, meaning=None, also="")
        if _may_count(piece) and not _is_size(pieces, at, names, kitchen, spoken)
        else piece
        for at, piece in enumerate(pieces)
    )


def _bare(piece: Piece) -> Piece:
    """Take "5 piece" for "5" where the menu only says "five"."""
    words = piece.words.split()
    if len(words) != 2 or words[1] not in PIECES or any(" " in size for size in piece.sizes):
        return piece
    number = number_at(tokenize(words[0]), 0)
    if not piece.sizes or number is None:
        return piece
    return replace(piece, words=words[0], also=NUMBER, value=number[0])


def _may_count(piece: Piece) -> bool:
    counts = piece.also in (NUMBER, lex.HALF)
    return piece.tag == NAME and counts and bool(piece.sizes) and not piece.head


def _is_size(
    pieces: Sequence[Piece], at: int, names: Names, kitchen: Kitchen, spoken: Sequence[str]
) -> bool:
    following = pieces[at + 1] if at + 1 < len(pieces) else None
    if pieces[at].also == lex.HALF and following is not None and following.changes:
        halves = [piece for piece in pieces if lex.HALF in (piece.tag, piece.also)]
        if len(halves) > 1 and not following.dishes:
            return False  # "half ham half olives"
    if following is not None and following.does(lex.THEM):
        return False  # "two of them"
    ahead = _ahead(pieces, at + 1)
    beside = _dishes(ahead, names) if ahead is not None else ()
    if not beside:
        behind = next((piece for piece in reversed(pieces[:at]) if piece.head), None)
        beside = _dishes(behind, names) if behind is not None else tuple(spoken)
    words = pieces[at].words
    return any(kitchen.size(name, words) is not None for name in beside)


def _ahead(pieces: Sequence[Piece], at: int) -> Piece | None:
    """Return the dish that a number stands in front of, whatever else is said of it."""
    for index, piece in enumerate(pieces[at:]):
        if piece.does(lex.ARTICLE) and not index:
            continue  # "half a pastrami"
        if piece.head and not (piece.sizes and not piece.dishes):
            return piece
        if piece.does(*_ENDS) or (piece.does(NUMBER) or piece.also == NUMBER):
            return None
    return None


def _dishes(piece: Piece, names: Names) -> tuple[str, ...]:
    return piece.dishes or tuple(
        name for section in piece.sections for name in names.dishes_in(section)
    )


_ENDS = (STOP, lex.AND, lex.OR, lex.WITH, lex.NEG, lex.BUT, lex.ON, lex.TO, lex.PLUS, lex.ARTICLE)
