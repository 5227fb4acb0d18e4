"""The phrases of a language that do something in an order, read from its data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase and its class.

    Args:
        does: The word class that the grammar knows.
        value: Which of the class: an amount, a half, a number.
        length: How many words it is.
        words: The phrase.
    """

    does: str
    value: str
    length: int
    words: str


@cache
def phrases(language: str = "en") -> Mapping[str, Sequence[tuple[tuple[str, ...], Phrase]]]:
    """Return every phrase by its first word, the longest first.

    Raises:
        ValueError: A line of the data is not "does [value]: phrase, phrase". A phrase may have choices
            in brackets, "cut (in|into) slices"; an empty choice is nothing.
    """
    text = files("state.language").joinpath(language, "ordering.txt").read_text("utf-8")
    found: dict[str, list[tuple[tuple[str, ...], Phrase]]] = {}
    known: set[tuple[str, str, str]] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        head, colon, said = line.partition(":")
        if not colon:
            raise ValueError(f"ordering.txt line {number}: there is no colon")
        does, value = _class_of(head.strip())
        for one in (spelt for phrase in said.split(",") for spelt in _spelt_out(phrase)):
            words = tuple(one.split())
            if not words or (does, value, " ".join(words)) in known:
                continue
            known.add((does, value, " ".join(words)))
            phrase = Phrase(does, value, len(words), " ".join(words))
            found.setdefault(words[0], []).append((words, phrase))
    for several in found.values():
        several.sort(key=lambda pair: -len(pair[0]))
    return found


@cache
def small_words(language: str = "en") -> frozenset[str]:
    """Return every word that is part of a phrase."""
    return frozenset(
        word for several in phrases(language).values() for words, _ in several for word in words
    )


@cache
def notes(language: str = "en") -> frozenset[str]:
    """Return what a kitchen can do and no menu lists."""
    return frozenset(
        phrase.words
        for several in phrases(language).values()
        for _, phrase in several
        if phrase.does == "note"
    )


@cache
def ordinals(language: str = "en") -> Mapping[str, int]:
    """Return the single words that say which one of several, with its place; -1 is the last."""
    return {
        phrase.words: int(phrase.value)
        for several in phrases(language).values()
        for _, phrase in several
        if phrase.does == "ordinal" and phrase.length == 1
    }


_VALUED = ("ordinal", "amount", "number", "heard")


def _spelt_out(phrase: str) -> Iterator[str]:
    """Return a phrase with each choice of its brackets.

    >>> [*_spelt_out("cut (in|into) (slices|)")]
    ['cut in slices', 'cut in ', 'cut into slices', 'cut into ']
    """
    before, bracket, rest = phrase.partition("(")
    if not bracket:
        yield phrase
        return
    choices, _, after = rest.partition(")")
    for choice in choices.split("|"):
        for ending in _spelt_out(after):
            yield f"{before}{choice}{ending}"


def _class_of(head: str) -> tuple[str, str]:
    does, _, value = head.partition(" ")
    return (does, value) if does in _VALUED else (head.replace(" ", "-"), "")
