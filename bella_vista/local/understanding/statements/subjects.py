"""Finds what a question is about: a dish named in whole or in part, or what was ordered last."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bella_vista.local.english import lexicon
from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.messages.pieces import WORD, Piece
from state.menu import Menu
from state.menu.words import stem, stems


class Subjects:
    """Looks for what is meant on one menu."""

    def __init__(self, menu: Menu, names: Names, kitchen: Kitchen) -> None:
        self._menu = menu
        self._names = names
        self._kitchen = kitchen

    def find(
        self, pieces: Sequence[Piece], things: Sequence[Item], *, besides: str | None = None
    ) -> tuple[str | None, str | None]:
        """Return the dish that is asked about, and its size."""
        size = next((piece.words for piece in pieces if piece.sizes and not piece.dishes), None)
        named = [
            p for p in pieces if p.dishes and not (besides and stems(p.words) == stems(besides))
        ]
        sure = [*self._with_kind(pieces, named, things)]
        sure += [name for piece in named if (name := _one_of(piece.dishes, things)) is not None]
        if sure:
            return sure[0], self._kitchen.size(sure[0], size) if size else None
        for run in _runs(pieces):
            if besides and besides in run:
                run = " ".join(word for word in run.split() if stem(word) != stem(besides))
            content = [word for word in run.split() if word not in words_of("no subject")]
            if not content:
                continue
            name = _one_of(self._names.resolve(" ".join(content)).names, things)
            if name is not None:
                return name, self._kitchen.size(name, size) if size else None
        dishes = [
            one.name for one in self._menu.dishes if size and self._kitchen.size(one.name, size)
        ]
        if len(dishes) == 1:  # "how much is an eight piece?"
            return dishes[0], self._kitchen.size(dishes[0], size or "")
        if any(
            piece.words in words_of("it words") or piece.does(lexicon.PRONOUN) for piece in pieces
        ) or _about_nothing(pieces):
            if things and things[-1].name:
                name = things[-1].name
                return name, (self._kitchen.size(name, size) if size else things[-1].size)
        return None, None

    def _with_kind(
        self, pieces: Sequence[Piece], named: Sequence[Piece], things: Sequence[Item]
    ) -> Iterator[str]:
        """Find the dish that its kind follows, though that kind is a dish itself: "the salsiccia pizza"."""
        for before, piece in pairwise(pieces):
            if piece in named and (before.does(WORD) or before.changes):
                whole = self._names.resolve(f"{before.words} {piece.words}")
                name = _one_of(whole.names, things)
                if name is not None and name not in piece.dishes:
                    yield name

    def choice(self, words: str) -> str | None:
        """Return the choice of any group that some words name, as the menu calls it."""
        said_stems = stems(words)
        for group in self._menu.options.values():
            for choice in group.choices:
                if any(stems(name) == said_stems for name in (choice.name, *choice.aliases)):
                    return choice.name
        return None


def unknown_words(pieces: Sequence[Piece]) -> str | None:
    """Return the words of a question that name something and are not understood."""
    for run in _runs(pieces):
        content = [word for word in run.split() if word not in words_of("no subject")]
        if content:
            return " ".join(content)
    return None


def _runs(pieces: Sequence[Piece]) -> list[str]:
    """Return the runs of words that are no known phrases."""
    runs: list[list[str]] = [[]]
    for piece in pieces:
        if piece.does(WORD) or (piece.head and len(piece.dishes) != 1) or piece.changes:
            runs[-1].extend(piece.words.split())
        elif runs[-1]:
            runs.append([])
    return [" ".join(run) for run in runs if run]


def _one_of(names: Sequence[str], things: Sequence[Item]) -> str | None:
    """Return the only dish of some, or the only one of them that is on the order."""
    if len(names) > 1:
        names = [*{thing.name for thing in things if thing.name} & {*names}]
    return names[0] if len(names) == 1 else None


def _about_nothing(pieces: Sequence[Piece]) -> bool:
    return not any(piece.head or piece.does(WORD) or piece.changes for piece in pieces)
