"""Names the dishes that a guest points at in a list that was told just before: "the second one, with ham"."""

from collections.abc import Iterable, Sequence

from bella_vista.local.english.numbers import ORDINALS
from bella_vista.local.english.talking import pattern
from bella_vista.local.understanding.words.tokens import Words


def told(text: str, names: Iterable[str]) -> Sequence[str]:
    """Return the names that are told in a text, in the order they are told in."""
    places: dict[int, str] = {}
    for name in sorted(names, key=len, reverse=True):
        at = text.find(name)
        if at >= 0:
            places[at] = name
            text = text.replace(name, " " * len(name))  # "Fries" is not told by "Cheese Fries"
    return [places[at] for at in sorted(places)]


def named(text: str, names: Sequence[str]) -> str:
    """Write the name of each thing that is pointed at by its place in a list."""
    words = Words.read(text)
    for found in reversed([*words.find_all(pattern("points into a list"))]):
        ordinal = ORDINALS[found.match["ordinal"]]
        at = ordinal - 1 if ordinal > 0 else len(names) + ordinal
        if 0 <= at < len(names) > 1:
            before = words.typed(0, found.first) if found.first else ""
            after = words.typed(found.last) if found.last < len(words) else ""
            text = f"{before} {names[at]} {after}".strip()
            words = Words.read(text)
    return text
