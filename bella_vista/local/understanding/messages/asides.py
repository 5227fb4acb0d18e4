"""Finds where a guest only talks: a number or an "it" that is said there changes no order."""

from collections.abc import Sequence

from bella_vista.local.understanding.grammar.edges import Lattice
from bella_vista.local.understanding.readings.reading import Passed
from bella_vista.local.understanding.readings.said import Said

_TALK = frozenset(("word", "common", "food", "name", "part"))


def talked(words: Lattice, passed: Sequence[Passed]) -> frozenset[int]:
    """Return the places of a line where a guest only talks.

    That is inside an aside ("I'm 68"), and between two pauses where a reading passes over words ("my
    daughter printed it out").

    Args:
        words: The lattice of the line.
        passed: The words that the reading passes over.
    """
    places: set[int] = set()
    for at, edges in enumerate(words.edges):
        for edge in edges:
            if edge.does == "aside":
                places.update(range(at, edge.end))
    strange = {one.place for one in passed if one.kind in _TALK}
    first = 0
    for at in range(len(words.tokens) + 1):
        if at == len(words.tokens) or words.tokens[at].stop:
            if any(place in strange for place in range(first, at)):
                places.update(range(first, at))
            first = at + 1
    return frozenset(places)


def bare(said: Said) -> bool:
    """Whether nothing of the menu is named: only "it", "one" or a number."""
    become = said.become
    if said.head or said.described or said.ordinal or said.correct or said.after_all:
        return False
    return become is None or not (become.head or become.described)
