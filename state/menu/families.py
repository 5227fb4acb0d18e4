"""The families of allergens and foods that words name, a guest's or the menu's."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from state.language.en.allergens import (
    FAMILIES,
    FILLERS,
    FREE,
    FROM_ANIMALS,
    FROM_PLANTS,
    GENERAL,
    NO_ALLERGENS,
    NO_FAMILY,
    WITHOUT,
)
from state.menu.matching import alike
from state.menu.words import stems

_CLAUSE = re.compile(r"[.,;:()/]|\bbut\b")
_AND = re.compile(r"[,;/&]|\b(?:and|or)\b", re.IGNORECASE)
_SHORTEST_SLIP, _LEAST_ALIKE = 5, 82.0
"""How long words are, and how alike, to be taken for a misspelling: "peach" is not one of "perch"."""


def families_of(allergy: str) -> tuple[str, ...]:
    """Return the families that an allergy in a guest's words means, in the families' order.

    A word that no family has is compared once more with slips in its spelling.

    >>> families_of("prawns"), families_of("nuts"), families_of("Celiac disease"), families_of("gluton")
    (('shellfish',), ('peanuts', 'tree nuts'), ('gluten',), ('gluten',))
    >>> families_of("almond milk"), families_of("nightshades")
    (('tree nuts',), ())
    """
    return meant_by(allergy)[0]


def is_allergen(words: str) -> bool:
    """Whether words name an allergen or a food that holds one, or "pork" and "beef" in general."""
    return is_declared(words) or bool(families_in_general(stems(words)))


def is_declared(food: str) -> bool:
    """Whether a food is an allergen, which menus declare, other than "pork"."""
    return not NO_ALLERGENS.issuperset(families_of(food))


def families_named(held: Iterable[str]) -> tuple[str, ...]:
    """Return all families that words of the menu name.

    >>> families_named(["gluten", "buffalo mozzarella", "basil"])
    ('gluten', 'milk')
    """
    named = {family for text in held for family in held_in(text)[0]}
    return tuple(name for name in FAMILIES if name in named)


def families_in_general(words: tuple[str, ...]) -> frozenset[str]:
    """Return the families that a general word for food means, such as "dairy"; none for a food.

    Args:
        words: Its stems.
    """
    return _phrases().get(words, frozenset()) if words in _general() else frozenset()


@lru_cache(maxsize=4096)
def described_in(description: str) -> tuple[str, ...]:
    """Return the families in a description, and its other words: its sentences would be long to store."""
    families, words = held_in(description)
    others = {word for word in words if len(word) > 2 and (word,) not in _phrases()}
    return (*sorted(families), *sorted(others - _fillers()))


@cache
def _phrases() -> Mapping[tuple[str, ...], frozenset[str]]:
    found: dict[tuple[str, ...], frozenset[str]] = {
        stems(words): frozenset() for words in NO_FAMILY
    }
    for family, phrases in FAMILIES.items():
        for words in phrases:
            found[stems(words)] = found.get(stems(words), frozenset()) | {family}
    return found


@cache
def _longest() -> int:
    return max(map(len, _phrases()))


@cache
def _without() -> frozenset[str]:
    return frozenset(stem for word in WITHOUT for stem in stems(word))


def _found(words: Sequence[str]) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Return where phrases of families begin and end, the longest first at each word."""
    phrases, first = _phrases(), 0
    while first < len(words):
        for last in range(min(len(words), first + _longest()), first, -1):
            families = phrases.get(tuple(words[first:last]))
            if families is not None:
                yield first, last, families
                first = last
                break
        else:
            first += 1


@lru_cache(maxsize=1024)
def meant_by(allergy: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the families of an allergy, and the words in it that no family has."""
    families: set[str] = set()
    own: set[str] = set()
    for one in _AND.split(allergy):
        words = stems(one)
        found = frozenset[str]().union(*(meant for _, _, meant in _found(words)))
        found = found or frozenset[str]().union(*map(_slip, words))
        families |= found
        # The last word says what it is: "raw onions" are onions.
        kept = [word for word in words if word not in _fillers()]
        own.update(() if found else kept[-1:])
    return tuple(name for name in FAMILIES if name in families), frozenset(own)


def _slip(word: str) -> frozenset[str]:
    """Return the families of the word that is most like one, if one is."""
    if len(word) < _SHORTEST_SLIP or (word,) in _phrases():
        return frozenset()
    score, families = max(
        (alike(word, one[0]), sorted(meant))
        for one, meant in _phrases().items()
        if len(one) == 1 and len(one[0]) >= _SHORTEST_SLIP
    )
    return frozenset(families if score >= _LEAST_ALIKE else ())


@lru_cache(maxsize=16_384)
def held_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the families that words of the menu name, and the words themselves."""
    families: set[str] = set()
    named: set[str] = set()
    without = _without()
    for clause in _CLAUSE.split(text):
        words = stems(clause)
        found: set[str] = set()
        denied: set[str] = set()
        for first, last, meant in _found(words):
            before, after = words[max(0, first - 1) : first], words[last : last + 1]
            off = bool(before and before[0] in without) != (after == (FREE,))
            if off:
                denied |= meant
            else:
                plant = any(words[:first][-len(one) :] == one for one in _plants())
                found |= meant - FROM_ANIMALS if plant else meant
        families |= found - denied
        named.update(
            word
            for before, word in zip(("", *words), words, strict=False)
            if before not in without and word not in without
        )
    return frozenset(families), frozenset(named)


@cache
def _fillers() -> frozenset[str]:
    return frozenset(stem for word in FILLERS for stem in stems(word))


@cache
def _plants() -> tuple[tuple[str, ...], ...]:
    return tuple(stems(words) for words in FROM_PLANTS)


@cache
def _general() -> frozenset[tuple[str, ...]]:
    return frozenset(map(stems, GENERAL))
