"""Turns round what is said of a dish before its name: "no olives in the salad", "pickles left out"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.pieces import STOP, WORD, Piece


def turned(pieces: Sequence[Piece], kitchen: Kitchen) -> tuple[Piece, ...]:
    """Put a clause into the order in which it is usually said: the dish, then how it is to be."""
    return _dish_first(_no_first(tuple(pieces)), kitchen)


def _no_first(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Say "no pickles" for "pickles left out"."""
    for at, piece in enumerate(pieces):
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        if not piece.does(WORD, lex.DROP) or piece.words not in _TAKEN:
            continue
        off = following is not None and following.does(lex.OFF)
        first = _listed_before(pieces, at)
        if first == at or not (off or piece.words in _OFF_ALREADY):
            continue
        no = replace(pieces[first], tag=lex.NEG, words="no", meaning=None, also="")
        last = at + 2 if off else at + 1
        rest = _no_first(pieces[last:])
        return (*pieces[:first], no, *pieces[first:at], *rest)
    return pieces


def _listed_before(pieces: Sequence[Piece], at: int) -> int:
    """Return where a list of things on a dish begins that ends here."""
    first = at
    while first and pieces[first - 1].changes and not pieces[first - 1].own:
        first -= 1
        if first > 1 and pieces[first - 1].does(lex.AND) and pieces[first - 2].changes:
            first -= 1
    return first


def _dish_first(pieces: tuple[Piece, ...], kitchen: Kitchen) -> tuple[Piece, ...]:
    """Say "the salad, no olives" for "no olives in the salad"."""
    joint = next((at for at, piece in enumerate(pieces) if _ties(piece, pieces[:at])), None)
    if joint is None:
        return pieces
    head = joint + 1
    while head < len(pieces) and (
        pieces[head].does(lex.THE, lex.ARTICLE, lex.FILLER) or pieces[head].sizes
    ):
        head += 1
    if head >= len(pieces) or len(pieces[head].dishes) != 1:
        return pieces
    first = next((at for at in range(joint) if pieces[at].does(lex.NEG, lex.AMOUNT, lex.ONLY)), 0)
    told = pieces[first:joint]
    name = pieces[head].dishes[0]
    if any(one.does(STOP) for one in told) or not _about(told, name, kitchen):
        return pieces
    told = tuple(_no_dish(one) for one in told)
    with_it = () if told[0].does(lex.NEG) else (replace(pieces[joint], tag=lex.WITH, words="with"),)
    dish = pieces[joint + 1 : head + 1]
    return (*pieces[:first], *dish, *with_it, *told, *pieces[head + 1 :])


def _ties(piece: Piece, before: Sequence[Piece]) -> bool:
    """Whether a word ties what was said before it to the dish that follows."""
    if any(one.does(STOP) for one in before):
        return False
    if any(one.does(lex.NEG, lex.ONLY) for one in before):
        return piece.does(lex.ON, lex.TO, lex.FOR) or (
            piece.does(lex.WITH) and piece.words in _WITH_THE
        )
    more = any(_is_more(one) for one in before)
    return more and (piece.does(lex.ON) or (piece.does(lex.WITH) and piece.words in _WITH_THE))


def _is_more(piece: Piece) -> bool:
    return piece.does(lex.AMOUNT) or (piece.head and piece.words.split()[0] in lex.ANOTHER)


def _about(told: Sequence[Piece], name: str, kitchen: Kitchen) -> bool:
    """Whether all that was said before a dish can be said of it."""
    said = [one for one in told if one.changes or one.head]
    return bool(said) and all(kitchen.answers(name, one.words) for one in said)


def _no_dish(piece: Piece) -> Piece:
    """Take something that is a dish by itself for what is on another one."""
    if piece.meaning is None:
        return piece
    return replace(piece, meaning=replace(piece.meaning, dishes=[], sections=[], choice=True))


_TAKEN = frozenset("left taken removed omitted kept".split())
_OFF_ALREADY = frozenset({"removed", "omitted"})
_WITH_THE = frozenset({"with the", "with my"})
