"""Groups with defaults, single choices and words of their own, on a card that is read afresh."""

import pytest

from state.errors import ChoiceNotPossible
from state.menu import Menu, read_menu
from state.menu.model import NO, Chosen

CARD = """
restaurant: {id: r, name: R, currency: USD, timezone: America/New_York, hours: {monday: "10:00-12:00"}}
options:
  dressing:
    choose: 0-2
    default: balsamic
    amounts: {light: 1, extra: 1}
    choices:
      balsamic: {allergens: [sulphites]}
      caesar: {allergens: [egg]}
      blue cheese: {price: "0.75", allergens: [milk]}
  toppings:
    choose: 0-4
    portions: [half]
    amounts: {double: 3, extra: 2}
    choices: {ham: "2.00", olives: "1.00", whipped cream: {price: "1.00", aliases: [whip]}}
  sauces:
    choose: 0-1
    choices: {caesar: {price: "1.00", allergens: [fish]}}
  shots:
    choose: 0-4
    counted: true
    choices: {ristretto: "1.25"}
  base:
    choose: 1
    default: tomato
    portions: [half]
    choices: {tomato: {allergens: [celery]}, cream: {allergens: [milk]}}
sections:
  - name: All
    dishes:
      - {name: Salad, price: "7.00", options: [dressing], with: [walnuts], allergens: [Tree nuts]}
      - {name: Pizza, price: "9.00", options: [toppings, base], with: [basil]}
      - {name: Coffee, price: "2.00", options: [shots], with: [whipped cream]}
      - {name: Bowl, price: "8.00", options: [dressing, sauces]}
"""


@pytest.fixture
def menu() -> Menu:
    return read_menu(CARD, "here")


def chosen(menu: Menu, name: str, *words: str) -> tuple[Chosen, ...]:
    dish = menu.dish(name)
    assert dish is not None
    return menu.choose(dish, None, words)


@pytest.mark.parametrize(
    ("name", "said", "means"),
    [
        ("Pizza", ["one basil"], []),
        ("Pizza", ["two basil"], ["extra basil"]),
        ("Pizza", ["ham", "no olives"], ["ham"]),
        ("Pizza", ["ham", "olives", "no toppings"], []),
        ("Pizza", ["half ham", "other half ham", "no ham"], []),
        ("Pizza", ["half ham", "other half ham", "no ham on one half"], ["other half ham"]),
        ("Pizza", ["two ham"], ["extra ham"]),
        ("Pizza", ["more ham"], ["extra ham"]),
        ("Pizza", ["double ham"], ["double ham"]),
        ("Coffee", ["shots"], ["ristretto"]),
        ("Coffee", ["shots", "no shots"], []),
        ("Coffee", ["no whip"], ["no whipped cream"]),
        ("Coffee", ["extra whip"], ["extra whipped cream"]),
        ("Salad", ["balsamic", "light caesar"], ["balsamic", "light caesar"]),
        ("Salad", ["no dressing"], ["no balsamic"]),
        ("Salad", ["no dressing", "balsamic"], []),
        ("Salad", ["no dressing", "caesar"], ["caesar"]),
        ("Salad", ["with dressing"], []),
    ],
)
def test_the_words_of_a_guest_mean_this(
    menu: Menu, name: str, said: list[str], means: list[str]
) -> None:
    assert [one.words for one in chosen(menu, name, *said)] == means


def test_a_declined_default_names_its_group(menu: Menu) -> None:
    assert chosen(menu, "Salad", "no dressing") == (
        Chosen(group="dressing", name="balsamic", amount=NO),
    )


def test_a_choice_of_two_groups_is_named_with_its_group(menu: Menu) -> None:
    (caesar,) = chosen(menu, "Bowl", "caesar sauce")

    assert (caesar.group, caesar.name, caesar.price) == ("sauces", "caesar", 100)
    assert chosen(menu, "Bowl", caesar.words) == (caesar,)


def test_one_piece_more_than_there_may_be_is_refused(menu: Menu) -> None:
    assert len(chosen(menu, "Coffee", "four shots")) == 1
    with pytest.raises(ChoiceNotPossible):
        chosen(menu, "Coffee", "four shots", "shot")


@pytest.mark.parametrize(
    ("name", "words", "allergens"),
    [
        ("Salad", [], ["Tree nuts", "sulphites"]),
        ("Salad", ["no dressing"], ["Tree nuts"]),
        ("Salad", ["caesar"], ["Tree nuts", "egg"]),
        ("Salad", ["no walnuts"], ["Tree nuts", "sulphites"]),
        ("Bowl", ["caesar sauce"], ["sulphites", "fish"]),
        ("Pizza", ["half cream"], ["celery", "milk"]),
        ("Pizza", ["cream"], ["milk"]),
        ("Pizza", ["ham"], ["celery"]),
    ],
)
def test_allergens_are_those_of_what_is_on_it(
    menu: Menu, name: str, words: list[str], allergens: list[str]
) -> None:
    dish = menu.dish(name)
    assert dish is not None

    assert sorted(menu.allergens(dish, chosen(menu, name, *words))) == sorted(allergens)


def test_more_than_anybody_means_is_not_looked_at(menu: Menu) -> None:
    assert chosen(menu, "Pizza", *["ham"] * 60)

    with pytest.raises(ChoiceNotPossible) as refused:
        chosen(menu, "Pizza", *["ham"] * 60, "basil")

    assert refused.value.facts["words"] == "basil"
    assert '"basil" is not possible on Pizza: That is too much' in refused.value.message


def test_too_many_choices_are_refused_with_the_numbers(menu: Menu) -> None:
    with pytest.raises(ChoiceNotPossible) as refused:
        chosen(menu, "Coffee", "five shots")

    assert refused.value.facts["words"] == "5 ristrettos"
