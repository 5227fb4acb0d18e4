"""Compares a guest's allergies with the menu's own words. No answer here promises safety.

An allergy stays in the guest's word and is read by families (``state.language.en.allergens``). The contents
of a line are copied to it from the menu, as prices are; the allergies met are computed from both each time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from state.language.en.allergens import (
    FAMILIES,
    FILLERS,
    FREE,
    FROM_ANIMALS,
    FROM_PLANTS,
    NO_FAMILY,
    WITHOUT,
)
from state.menu import Chosen, Combo, Dish, Menu
from state.menu.choosing import allergens_of, taken_of
from state.menu.matching import alike
from state.menu.model import NO
from state.menu.words import stems
from state.order import LinePart, OrderLine, OrderState

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
    return _meant(allergy)[0]


def allergens_met(allergies: Iterable[str], held: Iterable[str]) -> tuple[str, ...]:
    """Return the families of a guest's allergies that something holds.

    A word that no family has stands for itself: "garlic" is met by "roasted garlic".

    Args:
        allergies: The allergies in the guest's words.
        held: The contents, in the menu's words.

    >>> allergens_met(["shrimp", "garlic"], ["gluten", "shellfish", "Garlic bread"])
    ('shellfish', 'garlic')
    """
    wanted = [(allergy, *_meant(allergy)) for allergy in allergies]
    if not wanted:
        return ()
    there = [_held(text) for text in held]
    families = {family for found, _ in there for family in found}
    met = {family for _, meant, _ in wanted for family in meant} & families
    words = {word for _, said in there for word in said}
    own = [allergy.casefold() for allergy, _, said in wanted if said & words]
    return tuple(dict.fromkeys((*(name for name in FAMILIES if name in met), *own)))


def families_named(held: Iterable[str]) -> tuple[str, ...]:
    """Return all families that words of the menu name.

    >>> families_named(["gluten", "buffalo mozzarella", "basil"])
    ('gluten', 'milk')
    """
    named = {family for text in held for family in _held(text)[0]}
    return tuple(name for name in FAMILIES if name in named)


def met_on(order: OrderState, line: OrderLine) -> tuple[str, ...]:
    """Return the families of the guest's allergies that a line of the order holds."""
    if not order.allergies:
        return ()
    return allergens_met(order.allergies, _words_of(line) if line.holds is None else line.holds)


def most_met(allergies: Sequence[str]) -> int:
    """Return at least as many bytes as JSON needs for the families met on one line."""
    families = {family for allergy in allergies for family in _meant(allergy)[0]}
    return sum(len(family) + 3 for family in families) + sum(
        6 * len(allergy.casefold()) + 3 for allergy in allergies if _meant(allergy)[1]
    )


def held_by(menu: Menu, item: Dish | Combo) -> tuple[str, ...]:
    """Return the contents of a dish in the menu's words; of a combo, all that may be in it.

    These are its name, the families and foods in its description, the stated allergens, its
    ingredients, and its default choices.
    """
    if isinstance(item, Combo):
        names = (name for part in item.parts for name in part.dishes)
        return _once((item.name, *(word for name in names for word in _dish_held(menu, name, ()))))
    return _once((item.name, *_dish_held(menu, item.name, ())))


def held_on(
    menu: Menu, name: str, chosen: Sequence[Chosen], parts: Sequence[LinePart] = ()
) -> tuple[str, ...]:
    """Return the contents of a line in the menu's words.

    A stated allergen stays when an ingredient is left off: the menu does not say which one it comes from.

    Args:
        menu: The menu.
        name: The dish or combo.
        chosen: The choices on the dish.
        parts: The parts of the combo.
    """
    inside = (word for part in parts for word in _dish_held(menu, part.name, part.chosen))
    return _once((name, *_dish_held(menu, name, chosen), *inside))


def dishes_with(menu: Menu, allergy: str) -> tuple[Dish, ...]:
    """Return the dishes whose default contents meet an allergy."""
    return tuple(dish for dish in menu.dishes if allergens_met([allergy], held_by(menu, dish)))


def is_mentioned(menu: Menu, allergy: str) -> bool:
    """Whether the contents of any dish or choice on the menu meet an allergy."""
    choices = (choice for group in menu.options.values() for choice in group.choices)
    return any(
        allergens_met([allergy], (choice.name, *choice.allergens)) for choice in choices
    ) or bool(dishes_with(menu, allergy))


def _dish_held(menu: Menu, name: str, chosen: Sequence[Chosen]) -> Sequence[str]:
    dish = menu.dish(name)
    if dish is None:
        return ()
    off = {one.name for one in chosen if one.group is None and one.amount == NO}
    taken = list(taken_of(menu.groups(dish), chosen))
    return [
        dish.name,
        *_described(dish.description or ""),
        *allergens_of(dish, taken),
        *[word for word in dish.contains if word not in off],
        *[choice.name for choice in taken],
    ]


@lru_cache(maxsize=4096)
def _described(description: str) -> tuple[str, ...]:
    """Return the families in a description, and its other words: its sentences would be long to store."""
    families, words = _held(description)
    others = {word for word in words if len(word) > 2 and (word,) not in _phrases()}
    return (*sorted(families), *sorted(others - _fillers()))


def _words_of(line: OrderLine) -> Iterator[str]:
    """Return the words of a line from an earlier release, which has no copied contents."""
    told: Iterable[OrderLine | LinePart] = (line, *line.parts)
    for part in told:
        yield part.name
        yield from (one.name for one in part.chosen if one.amount != NO)


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple({word.casefold(): word for word in words}.values())


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
def _meant(allergy: str) -> tuple[tuple[str, ...], frozenset[str]]:
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
def _held(text: str) -> tuple[frozenset[str], frozenset[str]]:
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
