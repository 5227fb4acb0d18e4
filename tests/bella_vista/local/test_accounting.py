"""Nothing a guest says goes unheard: not in orders from any menu, and not in any text at all."""

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bella_vista.local.understanding.meaning import LineSeen, OrderSeen
from tests.bella_vista.local.generating import Wish, chosen_at_least, line_of, names, plain, wish
from tests.bella_vista.local.scoring import (
    AFTERNOON,
    EXACT,
    ROOT,
    SILENT,
    key,
    menu_of,
    understander_of,
    understood,
    verdict,
)

MENUS = ("trattoria", *sorted(path.stem for path in (ROOT / "tests" / "menus").glob("*.yaml")))
SEEN = OrderSeen(items=(LineSeen("L1", 2, "Margherita", "large"), LineSeen("L2", 1, "Tiramisu")))
CHANGES = frozenset(("add_item", "change_item", "remove_item", "cancel_order"))


def picked(data: st.DataObject) -> Any:
    """Let hypothesis pick a number below another."""
    return lambda below: data.draw(st.integers(0, below - 1))


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(name=st.sampled_from(MENUS), data=st.data())
def test_an_order_in_plain_words_is_exact_or_asked_about(name: str, data: st.DataObject) -> None:
    say, end = line_of(menu_of(name), picked(data))

    line = {"say": say, "end": end}

    assert verdict(name, line, understood(name, line)) != SILENT


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    name=st.sampled_from(MENUS), joint=st.sampled_from((", ", " and ", ", and ")), data=st.data()
)
def test_a_dish_that_is_ordered_in_two_ways_is_two_things(
    name: str, joint: str, data: st.DataObject
) -> None:
    menu, pick = menu_of(name), picked(data)
    dishes = [dish for dish in menu.dishes if dish.available and all(map(plain, names(dish)))]
    dish = dishes[pick(len(dishes))]
    first, second = wish(menu, dish, pick), wish(menu, dish, pick)
    told = [one.line.get("size") or one.line.get("modifications") for one in (first, second)]
    assume(all(told) and key(menu, first.line) != key(menu, second.line))

    line = {"say": f"{first.words}{joint}{second.words}", "end": [first.line, second.line]}

    assert verdict(name, line, understood(name, line)) != SILENT


@pytest.mark.parametrize("name", MENUS)
def test_of_two_sizes_of_a_dish_the_one_that_is_meant_is_changed_or_asked_about(name: str) -> None:
    menu = menu_of(name)
    sized = [
        dish
        for dish in menu.dishes
        if dish.available and len(dish.sizes) > 1 and all(map(plain, names(dish)))
    ]
    silent = []
    for dish in sized[:8]:
        needed = chosen_at_least(menu, dish, lambda _: 0)
        first, second = (
            {"quantity": 1, "name": dish.name, "size": size, "modifications": needed}
            for size in dish.sizes[:2]
        )
        size, called = dish.sizes[0], dish.name
        for say, end in (
            (f"take off the {size} one", [second]),
            (f"no {size} {called}", [second]),
            (f"make it two of the {size} ones", [{**first, "quantity": 2}, second]),
            (f"another {size} {called}", [{**first, "quantity": 2}, second]),
            (f"make the {size} one {dish.sizes[1]}", [{**second, "quantity": 2}]),
            (f"cancel all the {called}s", []),
            (f"take off one of the {called}s", None),
        ):
            line: dict[str, Any] = {"say": say, "order": [first, second]}
            line |= {"ask": True} if end is None else {"end": end}
            if verdict(name, line, understood(name, line)) == SILENT:
                silent.append(say)

    assert silent == []


@pytest.mark.parametrize("name", MENUS)
def test_every_dish_can_be_ordered_by_its_name(name: str) -> None:
    menu = menu_of(name)
    dishes = [dish for dish in menu.dishes if dish.available and plain(dish.name)]
    lines = [_line(wish(menu, dish, lambda _: 0)) for dish in dishes]

    wrong = [line["say"] for line in lines if verdict(name, line, understood(name, line)) != EXACT]

    assert wrong == []


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(name=st.sampled_from(MENUS), data=st.data())
def test_a_word_of_no_menu_in_an_order_is_named(name: str, data: st.DataObject) -> None:
    say, _ = line_of(menu_of(name), picked(data))

    result = understood(name, {"say": f"{say.rstrip('.')} and two blorgs"})

    question = result.question
    asked = [question, *question.rest] if question is not None else []
    told = [str(one.facts.get("words")) for one in asked]
    assert "blorgs" in " ".join((*told, *result.not_understood))


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(text=st.text(max_size=300))
def test_no_text_crashes_it_or_changes_an_order(text: str) -> None:
    now = AFTERNOON.replace(tzinfo=menu_of("trattoria").restaurant.zone)

    result = understander_of("trattoria").understand(text, order=SEEN, now=now)

    spoken = any(part.isalnum() and part.isascii() for part in text)
    assert spoken or not CHANGES & {draft.op for draft in result.commands}


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    words=st.lists(
        st.sampled_from(
            "no not a two the one it that and with without large half other both instead of make add remove"
            " cancel margherita tiramisu cola basil extra on side , . ? sorry actually wait leave to for".split()
        ),
        max_size=14,
    )
)
def test_no_row_of_order_words_crashes_it(words: list[str]) -> None:
    now = AFTERNOON.replace(tzinfo=menu_of("trattoria").restaurant.zone)

    result = understander_of("trattoria").understand(" ".join(words), order=SEEN, now=now)

    lines = {str(draft.fields.get("line_id")) for draft in result.commands}
    assert lines <= {"L1", "L2", "None"}


COMBO = {
    "quantity": 1,
    "name": "Lunch for two",
    "parts": [
        {"name": "Margherita", "size": "small"},
        {"name": "Soup of the day"},
        {"name": "Cola"},
    ],
}


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    words=st.lists(
        st.sampled_from(
            "make the soup a can bottle bowl glass couple dozen half of lunch for two margherita cola lemonade"
            " small large with and no that be instead we are one ,".split()
        ),
        min_size=1,
        max_size=9,
    ),
    order=st.sampled_from(([], [COMBO])),
)
@example(words="can the soup be a can".split(), order=[COMBO])
def test_no_row_of_words_about_a_combo_crashes_it(words: list[str], order: list[Any]) -> None:
    line = {"say": " ".join(words), "order": order, "end": []}

    assert verdict("corner-table", line, understood("corner-table", line))


def _line(one: Wish) -> dict[str, Any]:
    return {"say": one.words, "end": [one.line]}
