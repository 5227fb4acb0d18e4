"""What is exactly at a limit is still within it."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from state.commands import (
    AcceptOrder,
    AddItem,
    ApplyCoupon,
    ChangeItem,
    ChoosePayment,
    ConfirmOrder,
    PlaceOrder,
    ReadBack,
    RemoveCoupon,
    Reprice,
    SetFulfilment,
    SetTip,
)
from state.errors import Missing, NotValid, OverLimit
from state.hours import FURTHEST_AHEAD
from state.order import OrderState, Stage
from state.pricing import price
from state.ready import PATIENCE
from tests.state.house import CARD, FRIDAY_AT_SEVEN, House, card

HERE = "5 Bleecker St 10012"


def pizza(house: House) -> OrderState:
    return house.order(
        AddItem(name="Margherita", size="large", quantity=2), SetFulfilment(kind="pickup")
    )


@pytest.mark.parametrize("tip", [SetTip(percentage=Decimal(30)), SetTip(amount=810)])
def test_the_largest_tip_is_taken(tip: SetTip) -> None:
    assert price(House().after(pizza(House()), tip)).tip == 810


def test_the_smallest_delivery_is_brought() -> None:
    house = House(card(CARD.replace('minimum: "20.00"', 'minimum: "27.00"')))
    order = pizza(house)

    order = house.after(order, SetFulfilment(kind="delivery", address=HERE), ReadBack())

    assert order.stage is Stage.REVIEW


def test_the_largest_total_is_taken() -> None:
    # 27.00 and 8.875 % are 29.40.
    house = House(card(CARD.replace('total: "400.00"', 'total: "29.40"')))

    assert price(pizza(house)).total == 2940
    with pytest.raises(OverLimit):
        house.after(pizza(house), AddItem(name="Water"))


def test_an_order_above_a_lowered_total_can_be_changed_without_growing() -> None:
    order = pizza(House())
    lowered = House(card(CARD.replace('total: "400.00"', 'total: "10.00"')))

    assert lowered.after(order, ChangeItem(line_id="L1", note="cut")).item_count == 2


def test_a_coupon_that_keeps_an_order_within_its_total_cannot_be_taken_off() -> None:
    house = House(card(CARD.replace('total: "400.00"', 'total: "27.00"')))
    order = house.after(
        house.order(ApplyCoupon(code="TEN")), AddItem(name="Margherita", size="large", quantity=2)
    )

    assert price(order).total == 2646
    with pytest.raises(OverLimit):
        house.after(order, RemoveCoupon(code="TEN"))


def test_an_order_may_become_ready_half_an_hour_later_than_it_was_read_back() -> None:
    house = House()
    order = house.after(pizza(house), ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"))

    house.now += PATIENCE
    assert house.after(order, PlaceOrder()).stage is Stage.PLACED
    house.now += timedelta(seconds=1)
    with pytest.raises(Missing):
        house.after(order, PlaceOrder())


def test_an_order_may_be_for_this_day_in_a_year() -> None:
    house = House(now=FRIDAY_AT_SEVEN.replace(second=0))
    latest = house.now + FURTHEST_AHEAD  # a Sunday

    def ask(when: datetime) -> OrderState:
        return house.order(SetFulfilment(kind="pickup", when=when.isoformat()))

    assert ask(latest).fulfilment is not None
    with pytest.raises(NotValid):
        ask(latest + timedelta(seconds=1))


def test_the_kitchen_may_be_ready_at_once() -> None:
    house = House()
    order = house.after(
        pizza(house), ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"), PlaceOrder()
    )

    order = house.after(order, AcceptOrder(ready_at=house.now.isoformat()))

    assert order.fulfilment is not None
    assert order.fulfilment.ready_at == house.now


def test_a_line_above_a_lowered_limit_can_be_changed_otherwise() -> None:
    house = House()
    order = house.order(AddItem(name="Water", quantity=20))
    lowered = House(card(CARD.replace("quantity: 20", "quantity: 5")))

    assert lowered.after(order, ChangeItem(line_id="L1", note="no ice")).item_count == 20
    assert lowered.after(order, ChangeItem(line_id="L1", quantity=19)).item_count == 19


def test_a_tip_at_the_new_limit_stays_when_the_menu_changes() -> None:
    house = House()
    order = house.after(pizza(house), SetTip(percentage=Decimal(20)))
    lowered = House(card(CARD.replace("maximum: 30", "maximum: 20")))

    assert lowered.after(order, Reprice()).tip == order.tip
