"""How well what was said fits a name: exactly, in part, or with a slip of the tongue."""

from dataclasses import dataclass

from rapidfuzz import fuzz

from state.menu.english import EMPTY, same

_SOUNDS = str.maketrans("kqzyjw", "ccsiiv")
"""First letters that sound alike."""
_NEEDED = {4: 85.0, 5: 80.0, 6: 82.0, 7: 82.0}
"""How alike words have to be, by the length of the shorter one: a letter in five, a slip or two in ten."""
_JOINED = 6
"""Shorter words than this are not compared without their spaces."""


def alike(said: str, meant: str) -> float:
    """Return how alike two words are, from 0 to 100; 0 where a slip is unlikely.

    The shorter a word, the more a letter changes it. Slips rarely touch the first sound.

    >>> alike("tiramasu", "tiramisu") > 80, alike("coffee", "toffee"), alike("ham", "jam")
    (True, 0.0, 0.0)
    """
    if said == meant:
        return 100.0
    shorter = min(len(said), len(meant))
    if shorter < 4 or said.isdecimal() or meant.isdecimal():
        return 0.0
    needed = _NEEDED.get(shorter, 77.0)
    if said[0].translate(_SOUNDS) != meant[0].translate(_SOUNDS):
        if shorter < 7:
            return 0.0
        needed = 88.0
    return fuzz.ratio(said, meant, score_cutoff=needed)


@dataclass(frozen=True, slots=True)
class Fit:
    """How what was said fits a name.

    Args:
        slip: How far the spelling is off, 0 to 100.
        missing: How many words of the name were not said.
        head: Whether the word that says what it is was said.
    """

    slip: float
    missing: int
    head: bool


def core(words: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the words that do not tell one dish from another."""
    kept = tuple(word for word in same(words) if word not in EMPTY)
    return kept or same(words)


def fit(
    said: tuple[str, ...], name: tuple[str, ...], implied: frozenset[str], head: str | None = None
) -> Fit | None:
    """Compare what was said with a name, both reduced by ``core``; ``None`` where they do not fit.

    Args:
        said: What was said.
        name: The name.
        implied: Words that may be beside the name without telling it from others: its section's.
        head: The word of the name that has to be said for it to be meant.
    """
    left = list(name)
    slip = 0.0
    matched = 0
    for word in said:
        best, found = 0.0, ""
        for candidate in left:
            score = alike(word, candidate)
            if score > best:
                best, found = score, candidate
        if found:
            left.remove(found)
            slip = max(slip, 100.0 - best)
            if found not in implied or len(name) == 1:
                matched += 1
        elif word not in implied:
            score = joined(said, name)
            return Fit(100.0 - score, 0, True) if score else None
    if not matched and left:
        return None
    return Fit(slip, len(left), head is None or head not in left)


def joined(said: tuple[str, ...], name: tuple[str, ...]) -> float:
    """Compare without spaces, as ``alike`` does: "tira misu", "coca-cola"."""
    one, other = "".join(said), "".join(name)
    shorter, longer = sorted((len(one), len(other)))
    if len(said) == len(name) or shorter < _JOINED or longer - shorter > 2:
        return 0.0
    return alike(one, other)
