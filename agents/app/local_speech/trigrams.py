"""Estimates a trigram language model from sentences, with Witten-Bell smoothing."""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log10

_BEGIN, _END = "<s>", "</s>"
_NEVER = -99.0
"""The logarithm of a probability of zero, as the ARPA format writes it."""

_Gram = tuple[str, ...]


def arpa(sentences: Iterable[str]) -> str:
    """Return a trigram model in the ARPA format.

    The probability of a word after a history is its relative frequency there, interpolated with its
    probability after the shorter history. The more different words follow a history, the higher the
    weight of the shorter one.

    Args:
        sentences: Words separated by spaces; a sentence that occurs twice counts twice.
    """
    counts = _counted(sentences)
    order = len(counts)
    chances: list[dict[_Gram, float]] = []
    backoff: list[dict[_Gram, float]] = []
    for at, grams in enumerate(counts):
        totals: Counter[_Gram] = Counter()
        kinds: Counter[_Gram] = Counter()
        for gram, count in grams.items():
            totals[gram[:-1]] += count
            kinds[gram[:-1]] += 1
        shorter: dict[_Gram, float] = chances[at - 1] if at else {(): 1 / max(1, len(grams))}
        chances.append(
            {
                gram: (count + kinds[gram[:-1]] * shorter[gram[1:]])
                / (totals[gram[:-1]] + kinds[gram[:-1]])
                for gram, count in grams.items()
            }
        )
        backoff.append({past: kinds[past] / (totals[past] + kinds[past]) for past in totals})
    return "\n".join(_lines(order, chances, backoff)) + "\n"


def _counted(sentences: Iterable[str]) -> tuple["Counter[_Gram]", ...]:
    counts: tuple[Counter[_Gram], ...] = (Counter(), Counter(), Counter())
    for sentence in sentences:
        words = (_BEGIN, *sentence.split(), _END)
        for length, grams in enumerate(counts, start=1):
            # The start symbol is no unigram: it never follows another word.
            first = 1 if length == 1 else 0
            grams.update(words[at : at + length] for at in range(first, len(words) - length + 1))
    return counts


def _lines(
    order: int, chances: list[dict[_Gram, float]], backoff: list[dict[_Gram, float]]
) -> Iterator[str]:
    begin = (_BEGIN,)
    yield "\\data\\"
    for length in range(1, order + 1):
        yield f"ngram {length}={len(chances[length - 1]) + (length == 1)}"
    for length in range(1, order + 1):
        yield f"\n\\{length}-grams:"
        further = backoff[length] if length < order else {}
        if length == 1:
            yield f"{_NEVER:.4f}\t{_BEGIN}\t{log10(further.get(begin, 1.0)):.4f}"
        for gram, chance in sorted(chances[length - 1].items()):
            weight = f"\t{log10(further[gram]):.4f}" if gram in further else ""
            yield f"{log10(chance):.4f}\t{' '.join(gram)}{weight}"
    yield "\n\\end\\"
