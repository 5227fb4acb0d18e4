"""English words by what they do around a question, from the phrases of orders. All are folded."""

from collections.abc import Iterator

from bella_vista.local.english.numbers import ORDINALS
from bella_vista.local.understanding.words.phrases import phrases

AND, BUT, ARTICLE, PRONOUN, FILLER = "and", "but", "a", "it", "filler"
TO, SHOULD, SORRY, ORDINAL = "to", "should", "correct", "ordinal"
TAKE, MAKE, SWAP, DROP = "take", "make", "swap", "drop"

_ALIKE = {"them": PRONOUN, "one": PRONOUN, "as-well": AND}
_FIRST, _LAST = (PRONOUN, TO), (FILLER, SHOULD)
"""Of a phrase in several classes these count before and after all others."""
_VERBS = frozenset({"add", "remove", "change", "swap", "because", "note", "heard", "number"})
"""Classes that say nothing by themselves outside of an order."""


def _found() -> Iterator[tuple[str, str]]:
    """Yield each phrase and what it does, what counts more before what counts less."""
    known = [one for several in phrases().values() for _, one in several if one.does not in _VERBS]
    told = [(one.words, _ALIKE.get(one.does, one.does)) for one in known]
    yield from sorted(
        told, key=lambda one: (one[1] not in _FIRST, one[1] in _LAST, one[1] == SHOULD)
    )
    for word in ORDINALS:
        yield word, ORDINAL
        yield f"the {word}", ORDINAL


PHRASES: dict[str, str] = dict(reversed([*_found()]))
"""Each phrase and what it does; of several the first counts."""

LONGEST_PHRASE = max(len(phrase.split()) for phrase in PHRASES)
