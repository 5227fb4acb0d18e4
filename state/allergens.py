"""Which lines an allergy speaks against, as far as the menu says so. No answer here promises safety."""

from dataclasses import dataclass

from state.menu import Chosen, Menu
from state.menu.words import stems
from state.order import OrderState

_CALLED = {
    "dairy": "milk",
    "lactose": "milk",
    "cheese": "milk",
    "wheat": "gluten",
    "celiac": "gluten",
    "coeliac": "gluten",
    "flour": "gluten",
    "prawn": "shellfish",
    "shrimp": "shellfish",
    "crustacean": "shellfish",
    "soya": "soy",
}
"""What people call it, and what menus call it."""

_MEANS = {stem: meant for called, meant in _CALLED.items() for stem in stems(called)}


@dataclass(frozen=True, slots=True)
class AllergyMet:
    """A line that the menu says holds what the guest must not have."""

    line_id: str
    name: str
    allergy: str


def allergies_met(order: OrderState, menu: Menu) -> tuple[AllergyMet, ...]:
    """Return every line that an allergy on the order speaks against.

    Generous on purpose: "nuts" meets peanuts, and what is in a dish counts like a stated allergen.
    """
    found: list[AllergyMet] = []
    for line in order.order_items:
        held = _held(menu, line.name, line.chosen)
        for part in line.parts:
            held |= _held(menu, part.name, part.chosen)
        found += [
            AllergyMet(line.id, line.name, allergy)
            for allergy in order.allergies
            if any(there.endswith(wanted) for wanted in _meant(allergy) for there in held)
        ]
    return tuple(found)


def _held(menu: Menu, name: str, chosen: tuple[Chosen, ...]) -> set[str]:
    dish = menu.dish(name)
    if dish is None:
        return set()
    named = (*menu.allergens(dish, chosen), *dish.contains, *(one.name for one in chosen))
    return {word for text in named for stem in stems(text) for word in (stem, _known_as(stem))}


def _meant(allergy: str) -> set[str]:
    return {_known_as(stem) for stem in stems(allergy) if len(stem) > 2}


def _known_as(stem: str) -> str:
    return _MEANS.get(stem, stem)
