"""The readings of a line: none loses what was said, and each can be explained."""

import re
from functools import cache
from itertools import product

import pytest

from bella_vista.local.understanding.deciding.deciding import Deciding
from bella_vista.local.understanding.grammar.grammar import rules
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.understander import (
    LineSeen,
    OrderSeen,
    Understander,
    as_json,
)
from bella_vista.local.understanding.words.phrases import phrases
from bella_vista.local.understanding.words.tokens import Words
from state.menu import Menu
from tests.bella_vista.local.scoring import menu_of

MENUS = ("trattoria", "drive-in", "korean", "taqueria", "sushi")


@cache
def understander(name: str) -> Understander:
    return Understander(menu_of(name))


@cache
def deciding(name: str) -> Deciding:
    menu = menu_of(name)
    return Deciding(menu, Kitchen(menu))


def plain_dishes(menu: Menu) -> list[str]:
    """Name the dishes that need nothing to be chosen and are there."""
    return [
        dish.name
        for dish in menu.dishes
        if dish.available
        and not dish.size_needed
        and not any(group.least and group.default is None for group in menu.groups(dish))
    ]


def test_every_class_of_phrase_is_in_the_grammar() -> None:
    seen = {sees for _, sees in rules()} | {"filler", "because", "heard"}

    unused = {phrase.does for several in phrases().values() for _, phrase in several} - seen

    assert unused == set()


@pytest.mark.parametrize("name", MENUS)
def test_a_word_that_nobody_knows_is_always_told(name: str) -> None:
    dishes = plain_dishes(menu_of(name))[:12]
    for dish, line in product(
        dishes, ("a blorg and a {}", "a {} with blorg", "two {} and three blorgs", "{}, no blorg")
    ):
        result = understander(name).understand(line.format(dish))

        question = result.question
        asked = [question, *question.rest] if question is not None else []
        told = [str(one.facts.get("words")) for one in asked] + list(result.not_understood)
        assert any("blorg" in words for words in told), line.format(dish)


LATTE = OrderSeen((LineSeen("L1", 1, "Caffè latte", "venti", ("caramel",)),))
PUMP = "an espresso, and one more pump of vanilla in the latte"


def test_two_orders_at_nearly_the_same_cost_are_asked_about_and_what_both_hold_is_done() -> None:
    heard = understander("coffee-bar").understand(PUMP, order=LATTE)

    assert heard.question is not None
    assert heard.question.code == "either"
    assert heard.question.possible == (
        "a venti Caffè latte with caramel and vanilla",
        "a venti Caffè latte with caramel and extra vanilla",
    )
    assert [draft.fields["name"] for draft in heard.commands] == ["Espresso"]
    assert as_json(heard)["question"] == (
        "I can take that in two ways. Do you mean a venti Caffè latte with caramel and vanilla, "
        "or a venti Caffè latte with caramel and extra vanilla?"
    )


@pytest.mark.parametrize(
    ("answer", "choices"),
    [
        ("the first one", ["vanilla", "caramel"]),
        ("the second", ["extra vanilla", "caramel"]),
        ("extra vanilla", ["extra vanilla", "caramel"]),
        ("with the extra, please", ["extra vanilla", "caramel"]),
    ],
)
def test_which_of_two_orders_is_meant_is_told_by_its_place_or_its_words(
    answer: str, choices: list[str]
) -> None:
    pending = understander("coffee-bar").understand(PUMP, order=LATTE).question

    heard = understander("coffee-bar").understand(answer, pending=pending, order=LATTE)

    assert [draft.as_dict() for draft in heard.commands] == [
        {"op": "change_item", "line_id": "L1", "modifications": choices}
    ]
    assert heard.settled
    assert heard.question is None


def test_who_does_not_say_which_of_two_orders_they_mean_is_heard_anew() -> None:
    pending = understander("coffee-bar").understand(PUMP, order=LATTE).question

    heard = understander("coffee-bar").understand(
        "take the latte off", pending=pending, order=LATTE
    )

    assert [draft.op for draft in heard.commands] == ["remove_item"]


@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize("line", ["no {}", "without {}", "no {} please", "i do not want the {}"])
def test_a_dish_that_is_not_wanted_is_never_ordered(name: str, line: str) -> None:
    for dish in plain_dishes(menu_of(name)):
        result = understander(name).understand(line.format(dish))

        ordered = [draft.fields["name"] for draft in result.commands if draft.op == "add_item"]
        assert dish not in ordered, line.format(dish)


@pytest.mark.parametrize("name", MENUS)
def test_a_number_before_a_dish_is_its_quantity(name: str) -> None:
    for dish in plain_dishes(menu_of(name)):
        if re.search(r"\d|two|three|four|for|half", dish.casefold()):
            continue
        result = understander(name).understand(f"seven {dish} please")

        found = [(draft.fields["quantity"], draft.fields["name"]) for draft in result.commands]
        assert found == [(7, dish)]


def test_the_cheapest_reading_comes_first_and_others_make_other_orders() -> None:
    words = Words.read("a large margherita with ham and mushrooms and two cokes")

    best, weighed = deciding("trattoria").decide(words.tokens)

    assert [draft.fields["name"] for _, draft in best.drafts] == ["Margherita", "Cola"]
    assert [one.cost for one in weighed] == sorted(one.cost for one in weighed)
    assert len({one.order for one in weighed}) == len(weighed) > 1


def test_an_explanation_accounts_for_the_price_of_the_words() -> None:
    told: list[str] = []

    understander("trattoria").understand("two cokes and a tiramisu", explain=told.append)

    title = re.fullmatch(r"reading: [\d.]+ = ([\d.]+) in words \+0.00 on the order", told[0])
    assert title is not None
    costs = [re.match(r" {4} *(-?[\d.]+)  ", line) for line in told]
    assert sum(float(cost[1]) for cost in costs if cost) == pytest.approx(float(title[1]), abs=0.06)


@pytest.mark.parametrize("line", ["", " ", "?!", "…", "\u202e\u0000", "😀 😀", "null", "🍕" * 300])
def test_text_without_a_meaning_changes_nothing(line: str) -> None:
    assert understander("trattoria").understand(line).commands == ()
