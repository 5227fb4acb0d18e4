"""Corrections: each changes what it names and nothing else, and each can be taken back."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bella_vista.local.understanding.meaning import (
    Draft,
    LineSeen,
    OrderSeen,
    Question,
    Understanding,
)
from tests.bella_vista.local.scoring import menu_of, understander_of
from tests.bella_vista.local.test_deciding import MENUS, plain_dishes

quickly = settings(deadline=None, derandomize=True, max_examples=60)


def carried_out(order: OrderSeen, drafts: Sequence[Draft]) -> OrderSeen:
    """Return the order after some commands, and what it was before them."""
    lines = {line.id: line for line in order.items}
    for draft in drafts:
        fields = dict(draft.fields)
        if draft.op == "add_item":
            made = LineSeen(
                f"N{len(lines)}",
                fields["quantity"],
                fields["name"],
                fields.get("size"),
                tuple(fields.get("modifications", ())),
            )
            lines[made.id] = made
        elif draft.op == "change_item":
            line = lines[fields.pop("line_id")]
            if "modifications" in fields:
                fields["modifications"] = tuple(fields["modifications"])
            lines[line.id] = replace(line, **fields)
        elif draft.op == "remove_item":
            line = lines[fields["line_id"]]
            left = line.quantity - fields.get("quantity", line.quantity)
            lines[line.id] = replace(line, quantity=left)
    kept = tuple(line for line in lines.values() if line.quantity > 0)
    return OrderSeen(items=kept, before=order)


def content(order: OrderSeen) -> list[tuple[object, ...]]:
    """Return an order's lines without their ids."""
    return sorted((one.name, one.quantity, one.size, one.modifications) for one in order.items)


@st.composite
def orders(draw: st.DrawFn) -> tuple[str, OrderSeen]:
    """Some lines of different dishes on one of the menus."""
    menu = draw(st.sampled_from(MENUS))
    names = draw(
        st.lists(st.sampled_from(plain_dishes(menu_of(menu))), min_size=2, max_size=4, unique=True)
    )
    counts = draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names)))
    seen = menu_of(menu)
    lines = []
    for number, (name, count) in enumerate(zip(names, counts, strict=True), start=1):
        dish = seen.dish(name)
        assert dish is not None
        lines.append(LineSeen(f"L{number}", count, name, dish.implied_size))
    return menu, OrderSeen(items=tuple(lines))


def understood(menu: str, line: str, order: OrderSeen) -> Understanding:
    return understander_of(menu).understand(line, order=order)


CORRECTIONS = (
    "take the {} off",
    "cancel the {}",
    "make it five {} instead",
    "I said five {}",
    "no, five {}",
    "remove the {} please",
)


@quickly
@given(orders(), st.sampled_from(CORRECTIONS))
def test_a_correction_of_one_dish_leaves_every_other_line_as_it_is(
    case: tuple[str, OrderSeen], line: str
) -> None:
    menu, order = case
    named = order.items[0]

    result = understood(menu, line.format(named.name), order)

    after = {one.id: one for one in carried_out(order, result.commands).items}
    assert [after.get(other.id) for other in order.items[1:]] == list(order.items[1:])


@quickly
@given(orders(), st.sampled_from(CORRECTIONS), st.sampled_from(["undo that", "put it back"]))
def test_what_was_changed_can_be_taken_back(
    case: tuple[str, OrderSeen], line: str, back: str
) -> None:
    menu, order = case
    changed = carried_out(order, understood(menu, line.format(order.items[0].name), order).commands)
    if content(changed) == content(order):
        return

    restored = carried_out(changed, understood(menu, back, changed).commands)

    assert content(restored) == content(order)


@quickly
@given(orders())
def test_what_was_added_goes_when_it_is_undone(case: tuple[str, OrderSeen]) -> None:
    menu, order = case
    rest = OrderSeen(items=order.items[1:])
    more = carried_out(rest, [Draft("add_item", {"quantity": 1, "name": order.items[0].name})])

    result = understood(menu, "undo that", more)

    assert content(carried_out(more, result.commands)) == content(rest)


@quickly
@given(orders())
def test_taking_something_off_and_leaving_it_in_one_breath_changes_nothing(
    case: tuple[str, OrderSeen],
) -> None:
    menu, order = case

    result = understood(menu, f"take the {order.items[0].name} off, actually no, leave it", order)

    assert result.commands == ()


def asking_dishes(menu: str) -> list[str]:
    """Name the dishes of a menu that have to be asked about."""
    return [
        dish.name
        for dish in menu_of(menu).dishes
        if dish.available and dish.name not in plain_dishes(menu_of(menu))
    ]


@st.composite
def open_questions(draw: st.DrawFn) -> tuple[str, str, Question]:
    """A dish that was ordered without what has to be said of it, and the question about it."""
    menu = draw(st.sampled_from([menu for menu in MENUS if asking_dishes(menu)]))
    name = draw(st.sampled_from(asking_dishes(menu)))
    question = understander_of(menu).understand(f"two {name}").question
    assume(question is not None and question.code == "choice_missing" and not question.rest)
    assert question is not None
    return menu, name, question


def about(understanding: Understanding) -> set[object]:
    """Return the dishes that are ordered, or that something is asked about."""
    question = understanding.question
    asked = [question, *question.rest] if question is not None else []
    drafts = [*understanding.commands, *(one.draft for one in asked if one.draft is not None)]
    return {draft.fields.get("name") for draft in drafts}


@quickly
@given(open_questions(), st.data())
def test_an_answer_completes_what_was_asked_about_or_asks_again(
    case: tuple[str, str, Question], data: st.DataObject
) -> None:
    menu, name, question = case
    answer = data.draw(st.sampled_from(question.possible))

    result = understander_of(menu).understand(answer, pending=question)

    assert name in about(result)


@quickly
@given(open_questions(), st.sampled_from(["and {}", "{} please", "take the {} off", "two {} too"]))
def test_what_waits_for_an_answer_never_vanishes_when_something_else_is_said(
    case: tuple[str, str, Question], line: str
) -> None:
    menu, name, question = case
    others = [other for other in plain_dishes(menu_of(menu)) if other != name]
    order = OrderSeen(items=(LineSeen("L1", 1, others[0]),))

    result = understander_of(menu).understand(line.format(others[0]), pending=question, order=order)

    assert name in about(result) or not result.settled


MARGHERITA = LineSeen("L1", 1, "Margherita", "small")
TIRAMISU = LineSeen("L2", 2, "Tiramisu")
COLA = LineSeen("L3", 1, "Cola", "can")


@pytest.mark.parametrize("line", ["put it back", "undo that", "no, leave it"])
def test_nothing_comes_back_when_nothing_was_changed(line: str) -> None:
    order = OrderSeen(items=(MARGHERITA, TIRAMISU))

    assert understood("trattoria", line, order).commands == ()


def test_a_dish_that_was_taken_off_comes_back_as_it_was() -> None:
    before = OrderSeen(items=(MARGHERITA, replace(COLA, quantity=3)))
    order = OrderSeen(items=(MARGHERITA,), before=before)

    result = understood("trattoria", "could I have the coke back", order)

    assert [draft.as_dict() for draft in result.commands] == [
        {"op": "add_item", "name": "Cola", "size": "can", "quantity": 3}
    ]


@pytest.mark.parametrize("reviewed", [True, False])
def test_a_correction_that_names_as_much_as_the_order_holds_is_the_whole_order(
    reviewed: bool,
) -> None:
    hawaiian = LineSeen("L2", 1, "Hawaiian", "small")
    order = OrderSeen(items=(MARGHERITA, hawaiian), reviewed=reviewed)

    result = understood("trattoria", "no, one pepperoni and one margherita, both large", order)

    after = carried_out(order, result.commands)
    assert content(after) == [("Margherita", 1, "large", ()), ("Pepperoni", 1, "large", ())]
    assert {line.id for line in after.items if line.name == "Margherita"} == {"L1"}


def test_a_correction_at_the_reading_asks_which_of_several_of_its_kind_is_meant() -> None:
    diavola = LineSeen("L2", 1, "Diavola", "small")
    order = OrderSeen(items=(MARGHERITA, diavola, COLA), reviewed=True)

    result = understood("trattoria", "no, a hawaiian", order)

    assert result.commands == ()
    assert result.question is not None
    assert result.question.code == "which_line"


def test_a_correction_at_the_reading_replaces_the_only_one_of_its_kind() -> None:
    order = OrderSeen(items=(MARGHERITA, COLA), reviewed=True)

    result = understood("trattoria", "no, a large hawaiian", order)

    assert content(carried_out(order, result.commands)) == [
        ("Cola", 1, "can", ()),
        ("Hawaiian", 1, "large", ()),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "no wait, a cola too",
        "no, and a cola",
        "no, also a cola",
        "no, I forgot, a cola",
        "no wait, two colas and an espresso",
    ],
)
def test_what_is_of_another_kind_is_added_at_the_reading(line: str) -> None:
    order = OrderSeen(items=(MARGHERITA, TIRAMISU), reviewed=True)

    result = understood("trattoria", line, order)

    assert {draft.op for draft in result.commands} == {"add_item"}


def test_just_one_of_the_order_leaves_only_that() -> None:
    order = OrderSeen(items=(COLA, TIRAMISU))

    result = understood("trattoria", "just the tiramisu", order)

    assert content(carried_out(order, result.commands)) == [("Tiramisu", 2, None, ())]


@pytest.mark.parametrize(
    "line",
    [
        "my daughter printed it out for me",
        "I don't want to get this wrong for my nephew",
        "I'm seventy four, haha",
        "we're six of us here",
        "my wife says one's enough, the other stuff's right",
    ],
)
def test_talk_with_a_number_or_an_it_changes_no_order(line: str) -> None:
    order = OrderSeen(items=(MARGHERITA, replace(COLA, quantity=2)))

    assert understood("trattoria", line, order).commands == ()
