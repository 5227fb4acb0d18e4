"""Allergies in the guest's words against what the menu says of each line."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.allergens import allergens_met, dishes_with, held_by, is_mentioned
from state.commands import AddAllergy, AddItem, ChangeItem, OrderCommand, ReadBack, Reprice
from state.commands.terms import SetFulfilment
from state.digest import digest
from state.errors import OrderError
from state.language.en.allergens import FAMILIES
from state.menu import Menu, load_menu
from state.menu.families import families_of
from state.order import OrderState, Stage
from state.view import view
from tests.state.bistro import CARD, Bistro, card

ROOT = Path(__file__).parents[2]
MENUS = (ROOT / "bella_vista" / "menu.yaml", *sorted((ROOT / "tests" / "menus").glob("*.yaml")))

EU_14 = (
    *("cereals containing gluten", "crustaceans", "eggs", "fish", "peanuts", "soybeans", "milk"),
    *("nuts", "celery", "mustard", "sesame seeds", "sulphites", "lupin", "molluscs"),
)
US_9 = (
    *("milk", "eggs", "fish", "crustacean shellfish", "tree nuts", "peanuts", "wheat"),
    *("soybeans", "sesame"),
)


@cache
def menu_of(path: Path) -> Menu:
    return load_menu(path)


def met_in(order: OrderState) -> list[list[str]]:
    lines: Any = view(order, 1, None)["order_items"]
    return [line["allergens_met"] for line in lines]


def met_by(*commands: OrderCommand, bistro: Bistro | None = None) -> list[list[str]]:
    return met_in((bistro or Bistro()).order(*commands))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_word_of_a_family_warns_of_each_other_in_either_role(family: str) -> None:
    words = FAMILIES[family]

    missed = [
        (said, listed)
        for said in words
        for listed in words
        if family not in allergens_met([said], [listed])
    ]

    assert missed == []


@pytest.mark.parametrize("name", [*EU_14, *US_9, *FAMILIES])
def test_the_allergens_of_the_law_have_a_family(name: str) -> None:
    assert families_of(name)


@pytest.mark.parametrize(
    ("said", "listed", "family"),
    [
        ("wheat", "gluten", "gluten"),
        ("gluten", "wheat", "gluten"),
        ("celiac", "rye bread", "gluten"),
        ("shrimp", "shellfish", "shellfish"),
        ("molluscs", "shellfish", "shellfish"),
        ("shellfish", "squid", "shellfish"),
        ("seafood", "fish", "fish"),
        ("seafood", "king prawn", "shellfish"),
        ("pine nuts", "tree nuts", "tree nuts"),
        ("tree nuts", "toasted pine nuts", "tree nuts"),
        ("nuts", "peanuts", "peanuts"),
        ("peanuts", "nuts", "peanuts"),
        ("almonds", "may contain nuts", "tree nuts"),
        ("tahini", "sesame", "sesame"),
        ("sesame", "hummus", "sesame"),
        ("lactose", "mozzarella", "milk"),
        ("dairy", "lactose free milk", "milk"),
        ("soya", "soybeans", "soy"),
        ("sulfur dioxide", "sulphites", "sulfites"),
    ],
)
def test_the_wider_of_two_readings_warns(said: str, listed: str, family: str) -> None:
    assert allergens_met([said], [listed]) == (family,)


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ("gluten", "gluten free penne"),
        ("dairy", "dairy free cheese"),
        ("milk", "San Marzano tomatoes, garlic. No cheese."),
        ("milk", "almond milk"),
        ("milk", "coconut cream"),
        ("milk", "peanut butter"),
        ("egg", "vegan mayonnaise"),
        ("egg", "eggplant"),
        ("gluten", "root beer"),
        ("gluten", "rice noodles"),
        ("tree nuts", "butternut squash"),
        ("shellfish", "oyster mushrooms"),
        ("gluten", "buckwheat"),
    ],
)
def test_a_food_is_not_taken_for_one_that_it_is_named_after(said: str, listed: str) -> None:
    assert allergens_met([said], [listed]) == ()


@pytest.mark.parametrize(
    ("said", "listed", "family"),
    [
        ("tree nuts", "vegan cashew cheese", "tree nuts"),
        ("gluten", "not gluten free", "gluten"),
        ("egg", "free range egg", "egg"),
        ("egg", "gluten free pasta with egg", "egg"),
        ("milk", "no onions, extra cheese", "milk"),
        ("peanuts", "peanut butter", "peanuts"),
    ],
)
def test_a_denial_reaches_no_further_than_its_word(said: str, listed: str, family: str) -> None:
    assert allergens_met([said], [listed]) == (family,)


@pytest.mark.parametrize(
    ("said", "families"),
    [
        ("All kinds of SHELLFISH, please", ("shellfish",)),
        ("lactose intolerant", ("milk",)),
        ("dairy-free", ("milk",)),
        ("no nuts", ("peanuts", "tree nuts")),
        ("coeliac disease", ("gluten",)),
        ("eggs and prawns", ("shellfish", "egg")),
        ("shelfish", ("shellfish",)),
        ("pinenuts", ("tree nuts",)),
        ("penuts", ("peanuts",)),
        ("gluton", ("gluten",)),
        ("peach", ()),
        ("coconut", ()),
        ("nightshades", ()),
        ("", ()),
        ("🥜", ()),
    ],
)
def test_an_allergy_is_read_as_people_write_it(said: str, families: tuple[str, ...]) -> None:
    assert families_of(said) == families


def test_a_word_without_a_family_stands_for_itself() -> None:
    held = ["Garlic bread", "roasted garlic", "cherry tomatoes"]

    assert allergens_met(["Garlic"], held) == ("garlic",)
    assert allergens_met(["milk and raw garlic"], held) == ("milk and raw garlic",)
    assert allergens_met(["tomato", "cherries"], held) == ("tomato", "cherries")
    assert allergens_met(["kiwi", "any food", ""], held) == ()


def everyday(stated: str) -> Iterator[str]:
    for family in families_of(stated):
        yield from FAMILIES[family]


@pytest.mark.parametrize("path", MENUS, ids=lambda path: path.stem)
def test_no_everyday_word_misses_an_allergen_that_a_menu_states(path: Path) -> None:
    menu = menu_of(path)
    stated = [(dish, one) for dish in menu.dishes for one in menu.allergens(dish)]

    assert [(dish.name, one) for dish, one in stated if not families_of(one)] == []
    missed = [
        (dish.name, one, said)
        for dish, one in stated
        for said in everyday(one)
        if not allergens_met([said], held_by(menu, dish))
    ]
    assert missed == []


def words_for(menu: Menu, name: str) -> list[str]:
    dish = menu.dish(name)
    assert dish is not None
    choices = [choice.name for group in menu.groups(dish) for choice in group.choices]
    return [*(f"no {one}" for one in (*dish.contains, *choices)), *choices]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), path=st.sampled_from(MENUS))
def test_a_stated_allergen_is_met_by_every_choice_and_removal(
    data: st.DataObject, path: Path
) -> None:
    menu = menu_of(path)
    bistro = Bistro(menu)
    dish = data.draw(st.sampled_from([one for one in menu.dishes if one.allergens]))
    words = words_for(menu, dish.name) or [""]
    chosen = data.draw(st.lists(st.sampled_from(words), max_size=3, unique=True))
    size = data.draw(st.sampled_from([None, *dish.sizes]))
    said = data.draw(st.sampled_from([*everyday(data.draw(st.sampled_from(dish.allergens)))]))
    try:
        order = bistro.order(
            AddItem(name=dish.name, size=size, modifications=tuple(filter(None, chosen)))
        )
    except OrderError:
        return

    order = bistro.after(order, AddAllergy(name=said))

    assert met_in(order)[0], (dish.name, chosen, said)
    assert set(met_in(order)[0]) <= set(families_of(said))


def test_each_line_of_the_view_names_the_families_it_holds() -> None:
    bistro = Bistro()
    order = bistro.order(
        AddAllergy(name="nuts"),
        AddAllergy(name="lactose"),
        AddItem(name="House salad", modifications=("ranch",)),
        AddItem(name="Margherita", size="small"),
        AddItem(name="Water"),
    )

    assert met_in(order) == [["tree nuts"], ["milk"], []]
    assert [line.get("allergens_met") for line in json.loads(digest(order, 1))["items"]] == [
        *(["tree nuts"], ["milk"], None),
    ]


def test_an_allergy_that_is_told_after_the_dish_is_met_as_well() -> None:
    first = AddItem(name="Margherita", size="small")

    assert met_by(first) == [[]]
    assert met_by(first, AddAllergy(name="celiac")) == [["gluten"]]
    assert met_by(AddAllergy(name="celiac"), first) == [["gluten"]]


def test_an_ingredient_that_is_left_off_is_no_longer_in_it_but_a_stated_allergen_stays() -> None:
    basil, milk = AddAllergy(name="basil"), AddAllergy(name="milk")

    def pizza(*words: str) -> AddItem:
        return AddItem(name="Margherita", size="small", modifications=words)

    assert met_by(basil, pizza()) == [["basil"]]
    assert met_by(basil, pizza("no basil")) == [[]]
    assert met_by(basil, pizza("light basil")) == [["basil"]]
    assert met_by(milk, pizza("no mozzarella")) == [["milk"]]


def test_a_choice_counts_and_so_does_a_default_until_another_is_chosen() -> None:
    bistro = Bistro(
        card(
            CARD.replace('ranch: "0.50"', 'ranch: {price: "0.50", allergens: [egg]}').replace(
                'thin: "0"', "thin: {allergens: [gluten]}"
            )
        )
    )
    eggs = AddAllergy(name="eggs")

    def salad(dressing: str) -> AddItem:
        return AddItem(name="House salad", modifications=(dressing,))

    assert met_by(eggs, salad("ranch"), bistro=bistro) == [["egg"]]
    assert met_by(eggs, salad("vinaigrette"), bistro=bistro) == [[]]
    changed = ChangeItem(line_id="L1", modifications=("vinaigrette",))
    assert met_by(eggs, salad("ranch"), changed, bistro=bistro) == [[]]
    other = ChangeItem(line_id="L1", name="Water")
    assert met_by(AddAllergy(name="walnuts"), salad("ranch"), other, bistro=bistro) == [[]]


def test_a_combo_contains_the_allergens_of_its_parts() -> None:
    def dinner(*names: str) -> AddItem:
        parts = [{"name": name, "size": "small"} for name in names]
        return AddItem.model_validate({"name": "Dinner for two", "parts": parts})

    dairy = AddAllergy(name="dairy")
    assert met_by(dairy, dinner("Margherita", "Funghi")) == [["milk"]]
    assert met_by(dairy, dinner("Funghi", "Funghi")) == [[]]
    assert met_by(AddAllergy(name="mushroom"), dinner("Funghi", "Funghi")) == [["mushroom"]]


def of_an_earlier_release(order: OrderState) -> OrderState:
    lines = tuple(line.model_copy(update={"holds": None}) for line in order.order_items)
    return order.model_copy(update={"order_items": lines})


def test_a_line_of_an_earlier_release_is_stamped_when_the_order_is_taken_up_again() -> None:
    bistro = Bistro()
    old = of_an_earlier_release(
        bistro.order(
            AddAllergy(name="cheese"),
            AddItem(name="Margherita", size="small"),
            SetFulfilment(kind="pickup"),
            ReadBack(),
        )
    )
    assert met_in(old) == [[]]

    again = bistro.after(old, Reprice())

    assert met_in(again) == [["milk"]]
    assert again.stage is Stage.OPEN  # it is read back once more, with the warning
    assert bistro.after(again, Reprice()) is again


def test_more_of_a_line_of_an_earlier_release_is_the_same_line() -> None:
    bistro = Bistro()
    old = of_an_earlier_release(
        bistro.order(AddAllergy(name="cheese"), AddItem(name="Margherita", size="small"))
    )

    more = bistro.after(old, AddItem(name="Margherita", size="small"))

    assert [line.quantity for line in more.order_items] == [2]
    assert met_in(more) == [["milk"]]


def test_the_name_and_the_choices_tell_of_a_line_of_an_earlier_release() -> None:
    order = of_an_earlier_release(
        Bistro().order(
            AddAllergy(name="olives"),
            AddAllergy(name="ham"),
            AddItem(name="Margherita", size="small", modifications=("olives", "no mozzarella")),
        )
    )

    assert met_in(order) == [["olives"]]


@pytest.mark.parametrize(
    ("said", "mentioned"),
    [
        *[("dairy", True), ("walnut", True), ("olive", True), ("ranch", True)],
        *[("nightshades", False), ("sesame", False), ("shrimp", False), ("", False)],
    ],
)
def test_whether_the_menu_says_anything_about_an_allergy(said: str, mentioned: bool) -> None:
    assert is_mentioned(card(), said) is mentioned


def test_the_dishes_that_hold_an_allergen_come_as_listed() -> None:
    def names(said: str) -> Iterable[str]:
        return [dish.name for dish in dishes_with(card(), said)]

    assert names("lactose") == ["Margherita"]
    assert names("basil") == ["Margherita", "Funghi"]
    assert names("olives") == []  # only a choice


@pytest.mark.parametrize(
    ("name", "allergy", "met"),
    [
        ("Homemade lemonade", "lemon", ("lemon",)),
        ("Chicken piccata", "capers", ("capers",)),
        ("Homemade lemonade", "lime", ()),
        ("Eggplant parmigiana", "mozzarella", ("milk",)),
    ],
)
def test_a_food_that_only_the_description_names_is_met(
    name: str, allergy: str, met: tuple[str, ...]
) -> None:
    menu = menu_of(MENUS[0])
    dish = menu.dish(name)

    assert dish is not None
    assert allergens_met([allergy], held_by(menu, dish)) == met
