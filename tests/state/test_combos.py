"""Combos: several dishes for one price, on one line."""

from typing import Any

import pytest

from state.commands import AddItem, ChangeItem
from state.errors import Ambiguous, ChoiceMissing, ChoiceNotPossible, SoldOut
from state.order import OrderState, TaxShare
from state.pricing import price
from tests.state.bistro import CARD, Bistro, card


def dinner(*parts: dict[str, Any], **fields: Any) -> AddItem:
    return AddItem.model_validate({"name": "Dinner for two", "parts": parts, **fields})


def parts_of(order: OrderState) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [(part.name, part.size, part.modifications) for part in order.order_items[0].parts]


def test_a_combo_is_one_line_at_its_own_price() -> None:
    order = Bistro().order(dinner({"name": "Margherita"}, {"name": "Funghi"}))

    assert len(order.order_items) == 1
    assert order.order_items[0].unit_price == 2400
    # A part's smallest size is what the price covers; what can only be one dish is filled in.
    assert parts_of(order) == [
        ("Margherita", "small", ()),
        ("Funghi", "small", ()),
        ("House red", None, ()),
        ("House red", None, ()),
    ]


def test_a_missing_choice_is_asked_for_with_the_possible_dishes_and_their_number() -> None:
    with pytest.raises(ChoiceMissing) as refused:
        Bistro().order(dinner({"name": "Funghi"}))

    assert refused.value.facts == {
        "name": "Dinner for two",
        "group": "parts",
        "count": 1,
        "possible": ["Margherita", "Funghi"],
        "open": [{"count": 1, "possible": ["Margherita", "Funghi"]}],
    }


def test_a_part_can_be_taken_several_times() -> None:
    order = Bistro().order(dinner({"name": "Funghi", "quantity": 2}))

    assert [name for name, *_ in parts_of(order)] == ["Funghi", "Funghi", "House red", "House red"]


def test_a_dish_that_is_sold_out_or_not_served_is_no_choice() -> None:
    # In the evening there is no soup, and the calzone is sold out: only the Margherita is left.
    order = Bistro().order(
        AddItem.model_validate({"name": "Lunch deal", "parts": [{"name": "water"}]})
    )

    assert parts_of(order) == [("Margherita", "small", ()), ("Water", None, ())]


def test_a_sold_out_part_is_said_to_be_sold_out() -> None:
    parts = [{"name": "Calzone"}, {"name": "Cola"}]

    with pytest.raises(SoldOut):
        Bistro().order(AddItem.model_validate({"name": "Lunch deal", "parts": parts}))


def test_a_combo_whose_part_cannot_be_had_at_all_is_sold_out() -> None:
    menu = card(CARD.replace("{choose: 2, from: [House red]}", "{choose: 1, from: [Calzone]}"))

    with pytest.raises(SoldOut) as refused:
        Bistro(menu).order(dinner({"name": "Funghi", "quantity": 2}))

    assert refused.value.facts["name"] == "Calzone"


def test_dearer_sizes_and_options_add_the_difference() -> None:
    order = Bistro().order(
        dinner(
            {"name": "Margherita", "size": "large", "modifications": ["pan", "extra mozzarella"]},
            {"name": "Funghi"},
        )
    )

    assert order.order_items[0].unit_price == 2400 + 450 + 100 + 150


def test_a_default_size_is_what_the_price_covers() -> None:
    def deal(size: str | None) -> int:
        part = {"name": "Cola", "size": size} if size else {"name": "Cola"}
        order = Bistro().order(AddItem.model_validate({"name": "Lunch deal", "parts": [part]}))
        return order.order_items[0].unit_price

    assert (deal(None), deal("bottle")) == (1000, 1150)


def test_its_tax_is_split_by_what_the_parts_cost_on_the_menu() -> None:
    order = Bistro().order(dinner({"name": "Margherita", "size": "large"}, {"name": "Funghi"}))

    line = order.order_items[0]
    assert line.taxes == (TaxShare(rate="food", weight=2350), TaxShare(rate="alcohol", weight=1200))
    assert line.unit_price == 2850
    assert price(order).tax == 167 + 96  # 18.87 at 8.875 %, 9.63 at 10 %


def test_a_modification_of_the_whole_goes_to_the_one_part_that_can_have_it() -> None:
    order = Bistro().order(
        dinner({"name": "Margherita"}, {"name": "Funghi"}, modifications=["no mushrooms"])
    )

    assert parts_of(order)[1] == ("Funghi", "small", ("no mushrooms",))


def test_a_modification_that_two_parts_can_have_is_asked_back() -> None:
    with pytest.raises(Ambiguous) as refused:
        Bistro().order(
            dinner({"name": "Margherita"}, {"name": "Funghi"}, modifications=["no basil"])
        )

    assert refused.value.facts["possible"] == ["Margherita", "Funghi"]


@pytest.mark.parametrize(
    "command",
    [
        dinner({"name": "Cola"}),
        dinner({"name": "Funghi", "quantity": 3}),
        dinner({"name": "Funghi", "quantity": 2}, modifications=["pineapple"]),
        dinner({"name": "Funghi", "quantity": 2}, size="large"),
        dinner({"name": "unicorn"}),
    ],
)
def test_a_dish_that_is_no_part_is_refused_with_the_possible_ones(command: AddItem) -> None:
    with pytest.raises(ChoiceNotPossible):
        Bistro().order(command)


def test_a_heading_means_the_one_dish_of_it_that_the_combo_has() -> None:
    menu = card(CARD.replace("from: [Margherita, Funghi]", "from: [Margherita, House salad]"))

    order = Bistro(menu).order(dinner({"name": "pizza", "quantity": 2}))

    assert parts_of(order)[0] == ("Margherita", "small", ())


def test_a_dish_that_fits_two_places_makes_room_for_another() -> None:
    menu = card(
        CARD.replace(
            "{choose: 2, from: [Margherita, Funghi]}", "{choose: 1, from: [Cola, Water]}"
        ).replace("{choose: 2, from: [House red]}", "{choose: 1, from: [Cola]}")
    )

    order = Bistro(menu).order(dinner({"name": "Cola"}, {"name": "Water"}))

    assert [name for name, *_ in parts_of(order)] == ["Water", "Cola"]


def test_a_combo_s_parts_can_be_changed_and_stay_when_something_else_does() -> None:
    bistro = Bistro()
    order = bistro.order(dinner({"name": "Funghi", "size": "large"}, {"name": "Margherita"}))

    more = bistro.after(order, ChangeItem(line_id="L1", quantity=2, note="no rush"))
    assert more.order_items[0].parts == order.order_items[0].parts

    changed = ChangeItem.model_validate(
        {"line_id": "L1", "parts": [{"name": "Funghi", "quantity": 2}]}
    )
    assert [name for name, *_ in parts_of(bistro.after(order, changed))][:2] == ["Funghi", "Funghi"]

    noted = bistro.after(order, ChangeItem(line_id="L1", modifications=("no mushrooms",)))
    assert parts_of(noted)[0] == ("Funghi", "large", ("no mushrooms",))


def test_the_same_combo_again_raises_the_line() -> None:
    order = Bistro().order(
        dinner({"name": "Funghi"}, {"name": "Margherita"}),
        dinner({"name": "Margherita"}, {"name": "Funghi"}),
    )

    assert [line.quantity for line in order.order_items] == [2]


def test_a_combo_with_wine_is_for_grown_ups() -> None:
    assert (
        Bistro().order(dinner({"name": "Funghi", "quantity": 2})).order_items[0].minimum_age == 21
    )


def test_words_that_could_be_two_parts_are_asked_back() -> None:
    with pytest.raises(Ambiguous) as refused:
        Bistro().order(dinner({"name": "pizza"}))

    assert refused.value.facts == {"words": "pizza", "possible": ["Margherita", "Funghi"]}


def test_a_choice_a_part_needs_is_asked_for_also_beside_a_modification_of_the_whole() -> None:
    menu = card(CARD.replace("from: [Margherita, Funghi]", "from: [House salad]"))

    with pytest.raises(ChoiceMissing) as refused:
        Bistro(menu).order(AddItem(name="Dinner for two", modifications=("no walnuts",)))
    assert refused.value.facts["group"] == "dressing"

    order = Bistro(menu).order(
        AddItem(name="Dinner for two", modifications=("no walnuts", "ranch"))
    )
    assert parts_of(order)[0] == ("House salad", None, ("no walnuts", "ranch"))
    assert order.order_items[0].unit_price == 2400 + 2 * 50


def test_a_sold_out_combo_is_refused_with_another() -> None:
    menu = card(CARD.replace('price: "24.00"', 'price: "24.00"\n    available: false'))

    with pytest.raises(SoldOut) as refused:
        Bistro(menu).order(dinner())

    assert refused.value.facts == {"name": "Dinner for two", "near": ["Lunch deal"]}


def test_a_part_s_size_may_be_said_with_its_name() -> None:
    order = Bistro().order(dinner({"name": "a large Margherita"}, {"name": "funghi small"}))

    assert [part[:2] for part in parts_of(order)[:2]] == [
        ("Margherita", "large"),
        ("Funghi", "small"),
    ]
    assert order.order_items[0].unit_price == 2400 + 450


def test_a_word_for_two_dishes_means_the_one_that_the_combo_has() -> None:
    menu = card(
        CARD.replace(
            '{name: Water, price: "2.50"}', '{name: Water, aliases: [coke], price: "2.50"}'
        ).replace("from: [House red]", "from: [Cola]")
    )

    order = Bistro(menu).order(dinner({"name": "Funghi", "quantity": 2}, {"name": "coke"}))

    assert [name for name, *_ in parts_of(order)] == ["Funghi", "Funghi", "Cola", "Cola"]


def test_a_heading_that_elsewhere_means_a_dish_means_what_the_combo_has_of_it() -> None:
    menu = card(
        CARD.replace("{name: Calzone,", "{name: Calzone, aliases: [pizza],").replace(
            "from: [Margherita, Funghi]", "from: [Margherita, House salad]"
        )
    )

    order = Bistro(menu).order(dinner({"name": "pizza", "quantity": 2}))

    assert parts_of(order)[0] == ("Margherita", "small", ())


CHAIN = """
      - {choose: 1, from: [Cola, Water]}
      - {choose: 1, from: [Cola, House red]}
      - {choose: 1, from: [House red, Soup of the day]}
"""


def test_several_dishes_make_room_for_another_one_after_the_other() -> None:
    bistro = Bistro(
        card(CARD.replace("\n      - {choose: 2, from: [Margherita, Funghi]}\n", CHAIN))
    )

    order = bistro.order(
        dinner({"name": "Cola"}, {"name": "House red", "quantity": 3}, {"name": "Water"})
    )

    assert [name for name, *_ in parts_of(order)] == [
        "Water",
        "Cola",
        "House red",
        "House red",
        "House red",
    ]


def test_dishes_that_could_change_places_for_ever_are_refused_where_there_is_no_room() -> None:
    same = "{choose: 1, from: [Cola, Water]}"
    bistro = Bistro(card(CARD.replace("{choose: 2, from: [House red]}", f"{same}\n      - {same}")))

    with pytest.raises(ChoiceNotPossible) as refused:
        bistro.order(dinner({"name": "Cola"}, {"name": "Water"}, {"name": "Cola"}))

    assert refused.value.facts["most"] == 4
