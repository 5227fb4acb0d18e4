"""Compares a guest's allergies with the menu's own words. No answer here promises safety.

An allergy stays in the guest's word and is read by families (``state.language.en.allergens``). The contents
of a line are copied to it from the menu, as prices are; the allergies met are computed from both each time.
"""

from collections.abc import Iterable, Iterator, Sequence

from state.language.en.allergens import FAMILIES
from state.menu import Chosen, Combo, Dish, Menu
from state.menu.choosing import allergens_of, taken_of
from state.menu.families import described_in, held_in, meant_by
from state.menu.model import NO
from state.order import LinePart, OrderLine, OrderState


def allergens_met(allergies: Iterable[str], held: Iterable[str]) -> tuple[str, ...]:
    """Return the families of a guest's allergies that something holds.

    A word that no family has stands for itself: "garlic" is met by "roasted garlic".

    Args:
        allergies: The allergies in the guest's words.
        held: The contents, in the menu's words.

    >>> allergens_met(["shrimp", "garlic"], ["gluten", "shellfish", "Garlic bread"])
    ('shellfish', 'garlic')
    """
    wanted = [(allergy, *meant_by(allergy)) for allergy in allergies]
    if not wanted:
        return ()
    there = [held_in(text) for text in held]
    families = {family for found, _ in there for family in found}
    met = {family for _, meant, _ in wanted for family in meant} & families
    words = {word for _, said in there for word in said}
    own = [allergy.casefold() for allergy, _, said in wanted if said & words]
    return tuple(dict.fromkeys((*(name for name in FAMILIES if name in met), *own)))


def met_on(order: OrderState, line: OrderLine) -> tuple[str, ...]:
    """Return the families of the guest's allergies that a line of the order holds."""
    if not order.allergies:
        return ()
    return allergens_met(order.allergies, _words_of(line) if line.holds is None else line.holds)


def most_met(allergies: Sequence[str]) -> int:
    """Return at least as many bytes as JSON needs for the families met on one line."""
    families = {family for allergy in allergies for family in meant_by(allergy)[0]}
    return sum(len(family) + 3 for family in families) + sum(
        6 * len(allergy.casefold()) + 3 for allergy in allergies if meant_by(allergy)[1]
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
        *described_in(dish.description or ""),
        *allergens_of(dish, taken),
        *[word for word in dish.contains if word not in off],
        *[choice.name for choice in taken],
    ]


def _words_of(line: OrderLine) -> Iterator[str]:
    """Return the words of a line from an earlier release, which has no copied contents."""
    told: Iterable[OrderLine | LinePart] = (line, *line.parts)
    for part in told:
        yield part.name
        yield from (one.name for one in part.chosen if one.amount != NO)


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple({word.casefold(): word for word in words}.values())
