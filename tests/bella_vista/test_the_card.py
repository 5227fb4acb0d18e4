"""What every version of the restaurant's menu must offer."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest

from state.hours import is_open
from state.menu import Dish, Menu, load_menu

FRIDAY_EVENING = "2026-11-20T19:00:00"


@pytest.fixture(scope="module")
def card() -> Menu:
    return load_menu(Path(__file__).parents[2] / "bella_vista/menu.yaml")


def test_there_is_enough_to_choose_from(card: Menu) -> None:
    assert len(card.dishes) >= 60
    assert len(card.sections) >= 8
    assert len(card.combos) >= 2


def test_it_is_open_on_a_friday_evening(card: Menu) -> None:
    evening = datetime.fromisoformat(FRIDAY_EVENING).replace(tzinfo=card.restaurant.zone)

    assert is_open(card.restaurant, evening)


def test_a_large_margherita_needs_no_further_question(card: Menu) -> None:
    margherita = card.item("margherita")

    assert isinstance(margherita, Dish)
    assert card.choose(margherita, card.size(margherita, "large"), []) == ()


def test_a_pizza_can_be_built_from_forty_toppings_on_two_halves(card: Menu) -> None:
    own = card.item("build your own pizza")
    assert isinstance(own, Dish)

    toppings = next(group for group in card.groups(own) if len(group.choices) >= 40)

    assert toppings.halves
    assert toppings.amounts


def test_everything_that_can_happen_to_a_dish_happens_to_one(card: Menu) -> None:
    assert any(not dish.available for dish in card.dishes)
    assert any(dish.minimum_age for dish in card.dishes)
    assert any(section.served for section in card.sections)
    assert any(dish.served for dish in card.dishes)
    assert any(combo.served for combo in card.combos)
    assert any(dish.extra for dish in card.dishes)
    assert any(dish.default_size for dish in card.dishes)
    groups = card.options.values()
    assert any(group.counted for group in groups)
    assert any(group.least and group.default is None for group in groups)
    assert any(not choice.available for group in groups for choice in group.choices)
    assert any(choice.allergens for group in groups for choice in group.choices)
    assert card.coupons
    assert card.suggestions


def test_every_group_is_on_a_dish_and_every_size_has_a_dish(card: Menu) -> None:
    used = {name for dish in card.dishes for name in dish.options}
    sizes = {size for dish in card.dishes for size in dish.sizes}

    assert used == card.options.keys()
    assert set(card.sizes) <= sizes


def test_what_guests_ask_about_the_house_is_answered(card: Menu) -> None:
    for asked in ("parking", "allergies", "kids", "reservations", "wifi", "wheelchair", "vegan"):
        assert len(card.restaurant.facts[asked]) > 20


def test_alcohol_is_for_the_grown_up_and_taxed_as_such(card: Menu) -> None:
    poured = [dish for dish in card.dishes if dish.tax == "alcohol"]

    assert poured
    assert all(dish.minimum_age == 21 for dish in poured)


def test_what_says_vegan_has_no_milk_egg_meat_or_fish(card: Menu) -> None:
    def animal(allergens: Iterable[str]) -> set[str]:
        return set(allergens) & {"milk", "egg", "fish", "shellfish"}

    for dish in card.dishes:
        if "vegan" in dish.diets:
            assert not animal(dish.allergens), dish.name
        if "vegetarian" in dish.diets or "vegan" in dish.diets:
            assert not set(dish.allergens) & {"fish", "shellfish"}, dish.name
        if "gluten free" in dish.diets:
            assert "gluten" not in dish.allergens, dish.name
    for group in card.options.values():
        for choice in group.choices:
            assert not ("vegan" in choice.diets and animal(choice.allergens)), choice.name


def test_a_combo_saves_money_over_its_cheapest_parts(card: Menu) -> None:
    def least(name: str) -> int:
        dish = card.dish(name)
        assert dish is not None
        size = dish.implied_size or min(dish.prices, key=lambda size: dish.prices[size])
        return dish.prices[size]

    for combo in card.combos:
        dearest = sum(
            part.choose * max(least(name) for name in part.dishes) for part in combo.parts
        )
        cheapest = sum(
            part.choose * min(least(name) for name in part.dishes) for part in combo.parts
        )
        assert combo.price < dearest
        assert combo.price < cheapest * 1.25, combo.name
