"""Makes lines that order food from any menu, with the order each of them means.

The grammar is its own and small: what a careful guest says. It shares no rule with the one that reads.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from state.errors import OrderError
from state.menu import Dish, Menu
from state.menu.words import stems

NUMBERS = ("zero", "a", "two", "three", "four", "five", "six")
OPENERS = ("", "can I get ", "I'd like ", "I'll have ", "give me ", "we want ", "could we have ")
CLOSERS = ("", " please", " thanks", ", please", ".")
NO_NAMES = frozenset("and with no or on one two three four five six seven eight nine ten".split())
JOINTS = (", ", " and ", ", and ", ", then ", " plus ")

Pick = Callable[[int], int]
"""Picks a number below another."""


@dataclass(slots=True)
class Wish:
    """One thing that is ordered: the words for it, and the line of an order that it means."""

    words: str
    line: dict[str, Any] = field(default_factory=dict)


def line_of(menu: Menu, pick: Pick) -> tuple[str, list[dict[str, Any]]]:
    """Make a line of one to three things, with the order that it means."""
    dishes = [dish for dish in menu.dishes if dish.available and all(map(plain, names(dish)))]
    wishes = [wish(menu, dishes.pop(pick(len(dishes))), pick) for _ in range(1 + pick(3))]
    said = wishes[0].words
    for one in wishes[1:]:
        said += JOINTS[pick(len(JOINTS))] + one.words
    opener, closer = OPENERS[pick(len(OPENERS))], CLOSERS[pick(len(CLOSERS))]
    return f"{opener}{said}{closer}", [one.line for one in wishes]


def wish(menu: Menu, dish: Dish, pick: Pick) -> Wish:
    """Make one thing: how many, of which size, what it is, with and without what."""
    quantity = 1 + pick(len(NUMBERS) - 1)
    size = _size(dish, pick)
    chosen = _chosen(menu, dish, size, pick)
    left_off = [] if pick(3) else [name for name in dish.contains[pick(4) :][:1] if plain(name)]
    changes = [*chosen, *(f"no {name}" for name in left_off)]
    try:
        menu.choose(dish, size or dish.implied_size or (dish.sizes or [None])[0], changes)
    except OrderError:
        chosen, left_off, changes = chosen_at_least(menu, dish, pick), [], []
        changes = list(chosen)
    number = NUMBERS[quantity]
    named = f"{size} {dish.name}" if size else dish.name
    if number == "a":
        number = "an" if named[0].lower() in "aeiou" else "a"
    words = f"{number} {named}"
    if chosen:
        words += f" with {' and '.join(chosen)}"
    if left_off:
        words += f" without {left_off[0]}"
    line: dict[str, Any] = {"quantity": quantity, "name": dish.name}
    if size:
        line["size"] = size
    if changes:
        line["modifications"] = changes
    return Wish(words, line)


def names(dish: Dish) -> tuple[str, ...]:
    """Return what is said of a dish: its name and its sizes."""
    return (dish.name, *dish.sizes)


def plain(name: str) -> bool:
    """Whether a name is of letters only, so that no number and no joint is in it."""
    words = name.replace("'", "").replace("-", " ").split()
    return all(word.isalpha() and word.casefold() not in NO_NAMES for word in words)


def _size(dish: Dish, pick: Pick) -> str | None:
    if not dish.sizes or (not dish.size_needed and pick(2)):
        return None
    return dish.sizes[pick(len(dish.sizes))]


def chosen_at_least(menu: Menu, dish: Dish, pick: Pick) -> list[str]:
    """Choose what has to be chosen."""
    chosen: list[str] = []
    for group in menu.groups(dish):
        if group.least and group.default is None:
            there = [choice.name for choice in group.choices if choice.available]
            chosen.extend(there[pick(len(there)) :][: group.least])
    return chosen


def _chosen(menu: Menu, dish: Dish, size: str | None, pick: Pick) -> list[str]:
    chosen = chosen_at_least(menu, dish, pick)
    contents = {stems(content) for content in dish.contains}  # "with basil" is as it comes
    free = [
        choice.name
        for group in menu.groups(dish)
        if not group.least and not group.counted
        for choice in group.choices
        if choice.available and plain(choice.name) and stems(choice.name) not in contents
    ]
    if free and not pick(3):
        chosen.append(free[pick(len(free))])
    return chosen
