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
from tests.state.bistro import CARD, FRIDAY_AT_SEVEN, Bistro, card

HERE = "5 Bleecker St 10012"


def pizza(bistro: Bistro) -> OrderState:
    return bistro.order(
        AddItem(name="Margherita", size="large", quantity=2), SetFulfilment(kind="pickup")
    )


@pytest.mark.parametrize("tip", [SetTip(percentage=Decimal(30)), SetTip(amount=810)])
def test_the_largest_tip_is_taken(tip: SetTip) -> None:
    assert price(Bistro().after(pizza(Bistro()), tip)).tip == 810


def test_the_smallest_delivery_is_brought() -> None:
    bistro = Bistro(card(CARD.replace('minimum: "20.00"', 'minimum: "27.00"')))
    order = pizza(bistro)

    order = bistro.after(order, SetFulfilment(kind="delivery", address=HERE), ReadBack())

    assert order.stage is Stage.REVIEW


def test_the_largest_total_is_taken() -> None:
    # 27.00 and 8.875 % are 29.40.
    bistro = Bistro(card(CARD.replace('total: "400.00"', 'total: "29.40"')))

    assert price(pizza(bistro)).total == 2940
    with pytest.raises(OverLimit):
        bistro.after(pizza(bistro), AddItem(name="Water"))


def test_an_order_above_a_lowered_total_can_be_changed_without_growing() -> None:
    order = pizza(Bistro())
    lowered = Bistro(card(CARD.replace('total: "400.00"', 'total: "10.00"')))

    assert lowered.after(order, ChangeItem(line_id="L1", note="cut")).item_count == 2


def test_a_coupon_that_keeps_an_order_within_its_total_cannot_be_taken_off() -> None:
    bistro = Bistro(card(CARD.replace('total: "400.00"', 'total: "27.00"')))
    order = bistro.after(
        bistro.order(ApplyCoupon(code="TEN")), AddItem(name="Margherita", size="large", quantity=2)
    )

    assert price(order).total == 2646
    with pytest.raises(OverLimit):
        bistro.after(order, RemoveCoupon(code="TEN"))


def test_an_order_may_become_ready_half_an_hour_later_than_it_was_read_back() -> None:
    bistro = Bistro()
    order = bistro.after(pizza(bistro), ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"))

    bistro.now += PATIENCE
    assert bistro.after(order, PlaceOrder()).stage is Stage.PLACED
    bistro.now += timedelta(seconds=1)
    with pytest.raises(Missing):
        bistro.after(order, PlaceOrder())


def test_an_order_may_be_for_this_day_in_a_year() -> None:
    bistro = Bistro(now=FRIDAY_AT_SEVEN.replace(second=0))
    latest = bistro.now + FURTHEST_AHEAD  # a Sunday

    def ask(when: datetime) -> OrderState:
        return bistro.order(SetFulfilment(kind="pickup", when=when.isoformat()))

    assert ask(latest).fulfilment is not None
    with pytest.raises(NotValid):
        ask(latest + timedelta(seconds=1))


def test_the_kitchen_may_be_ready_at_once() -> None:
    bistro = Bistro()
    order = bistro.after(
        pizza(bistro), ReadBack(), ConfirmOrder(), ChoosePayment(method="cash"), PlaceOrder()
    )

    order = bistro.after(order, AcceptOrder(ready_at=bistro.now.isoformat()))

    assert order.fulfilment is not None
    assert order.fulfilment.ready_at == bistro.now


def test_a_line_above_a_lowered_limit_can_be_changed_otherwise() -> None:
    bistro = Bistro()
    order = bistro.order(AddItem(name="Water", quantity=20))
    lowered = Bistro(card(CARD.replace("quantity: 20", "quantity: 5")))

    assert lowered.after(order, ChangeItem(line_id="L1", note="no ice")).item_count == 20
    assert lowered.after(order, ChangeItem(line_id="L1", quantity=19)).item_count == 19


def test_a_tip_at_the_new_limit_stays_when_the_menu_changes() -> None:
    bistro = Bistro()
    order = bistro.after(pizza(bistro), SetTip(percentage=Decimal(20)))
    lowered = Bistro(card(CARD.replace("maximum: 30", "maximum: 20")))

    assert lowered.after(order, Reprice()).tip == order.tip
