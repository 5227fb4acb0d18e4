"""What a kitchen makes of words: names with sizes, another dish on a line, the same thing again."""

from typing import Any

import pytest

from state.commands import AddItem, ChangeItem, Reprice, SetFulfilment
from state.errors import NotOnMenu, SoldOut
from state.order import OrderLine, OrderState, TaxShare
from tests.state.bistro import CARD, Bistro, card

LUNCH_ON_TUESDAY = SetFulfilment(kind="pickup", when="2026-11-24T12:30")


def changed(*edits: tuple[str, str]) -> Bistro:
    text = CARD
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return Bistro(card(text))


def dinner(*parts: dict[str, Any], **more: Any) -> AddItem:
    return AddItem.model_validate({"name": "Dinner for two", "parts": parts, **more})


def only_line(order: OrderState) -> OrderLine:
    (line,) = order.order_items
    return line


@pytest.mark.parametrize(
    "words",
    [
        "bottle of cherry cola",
        "bottle cherry cola",
        "cherry cola bottle",
        "big bottle of cherry cola",
    ],
)
def test_a_size_is_heard_before_and_after_a_name_of_two_words(words: str) -> None:
    bistro = changed(
        ("name: Cola,", "name: Cherry cola,"),
        ("name: Water,", "name: Cherry water,"),
        ("from: [Cola, Water]", "from: [Cherry cola, Cherry water]"),
        ("large: [big]", "large: [big]\n  bottle: [big bottle]"),
    )

    line = only_line(bistro.order(AddItem(name=words)))

    assert (line.name, line.size) == ("Cherry cola", "bottle")


def test_the_usual_size_can_be_said_with_a_dish_that_has_only_one() -> None:
    line = only_line(Bistro().order(AddItem(name="regular Water")))

    assert (line.name, line.size) == ("Water", None)


def test_a_size_is_no_word_for_a_combo() -> None:
    with pytest.raises(NotOnMenu):
        Bistro().order(AddItem(name="large Dinner for two"))


def test_a_dish_can_become_a_combo() -> None:
    bistro = Bistro()
    order = bistro.order(AddItem(name="Margherita", size="large"))

    combo = ChangeItem.model_validate(
        {"line_id": "L1", "name": "Dinner for two", "parts": [{"name": "Funghi", "quantity": 2}]}
    )

    line = only_line(bistro.after(order, combo))
    assert (line.id, line.name, line.size) == ("L1", "Dinner for two", None)


def test_a_line_can_be_for_another_time_s_dish() -> None:
    bistro = Bistro()
    order = bistro.order(LUNCH_ON_TUESDAY, AddItem(name="Water"))

    order = bistro.after(order, ChangeItem(line_id="L1", name="Soup of the day"))

    assert only_line(order).name == "Soup of the day"


def test_the_quantity_of_a_sold_out_line_can_be_lowered() -> None:
    order = Bistro().order(AddItem(name="Water", quantity=3))
    bistro = changed(
        ('{name: Water, price: "2.50"}', '{name: Water, price: "2.50", available: false}')
    )

    order = bistro.after(order, ChangeItem(line_id="L1", quantity=2, note="no ice"))

    assert only_line(order).quantity == 2


def test_a_choice_that_has_sold_out_since_is_not_dropped_in_silence() -> None:
    order = Bistro().order(AddItem(name="Margherita", size="large", modifications=("ham",)))
    bistro = changed(('ham: "2.00"', 'ham: {price: "2.00", available: false}'))

    with pytest.raises(SoldOut):
        bistro.after(order, ChangeItem(line_id="L1", size="small"))


def test_a_combo_s_part_keeps_its_own_modifications_when_the_whole_gets_one() -> None:
    bistro = Bistro()
    order = bistro.order(
        dinner({"name": "Margherita", "modifications": ["no tomato"]}, {"name": "Funghi"})
    )

    order = bistro.after(order, ChangeItem(line_id="L1", modifications=("no mushrooms",)))

    assert [(part.name, part.modifications) for part in only_line(order).parts[:2]] == [
        ("Margherita", ("no tomato",)),
        ("Funghi", ("no mushrooms",)),
    ]


def test_combos_of_other_parts_are_lines_of_their_own() -> None:
    other = {"name": "Funghi", "modifications": ["no basil"]}  # at the same price

    order = Bistro().order(
        dinner({"name": "Funghi", "quantity": 2}), dinner({"name": "Funghi"}, other)
    )

    assert [line.quantity for line in order.order_items] == [1, 1]


def test_the_same_parts_in_other_sizes_are_the_same_whichever_was_named_first() -> None:
    small, large = {"name": "Funghi", "size": "small"}, {"name": "Funghi", "size": "large"}

    assert only_line(Bistro().order(dinner(small, large), dinner(large, small))).quantity == 2


def test_a_combo_taken_up_again_has_its_parts_as_they_were_at_the_new_price() -> None:
    order = Bistro().order(
        dinner(
            {"name": "Funghi", "size": "large", "modifications": ["no mushrooms"]},
            {"name": "Margherita", "modifications": ["pan"]},
            quantity=2,
            note="no rush",
        )
    )
    before = only_line(order)

    after = only_line(changed(('price: "24.00"', 'price: "25.00"')).after(order, Reprice()))

    assert after == before.model_copy(update={"base_price": 2500, "taxes": after.taxes})
    assert after.unit_price == before.unit_price + 100


def test_a_part_s_share_of_the_tax_is_what_it_costs_on_the_menu_with_its_extras() -> None:
    line = only_line(
        Bistro().order(
            dinner(
                {"name": "Funghi", "size": "large", "modifications": ["ham"]}, {"name": "Funghi"}
            )
        )
    )

    assert line.taxes == (
        TaxShare(rate="food", weight=1450 + 200 + 1000),
        TaxShare(rate="alcohol", weight=2 * 600),
    )


def test_lunch_ordered_for_lunch_stays_when_the_menu_changes_in_the_evening() -> None:
    order = Bistro().order(LUNCH_ON_TUESDAY, AddItem(name="Soup of the day"))
    bistro = changed(
        ('name: Soup of the day, price: "5.50"', 'name: Soup of the day, price: "6.00"')
    )

    after = bistro.after(order, Reprice())

    assert only_line(after).unit_price == 600
    assert after.fulfilment == order.fulfilment


def test_a_line_not_served_at_the_new_menus_hours_is_removed_and_the_time_stays() -> None:
    order = Bistro().order(LUNCH_ON_TUESDAY, AddItem(name="Soup of the day"), AddItem(name="Cola"))
    bistro = changed(("days: [tuesday, wednesday", "days: [wednesday"))

    after = bistro.after(order, Reprice())

    assert only_line(after).name == "Cola"
    assert after.gone == ("Soup of the day",)
    assert after.fulfilment == order.fulfilment
