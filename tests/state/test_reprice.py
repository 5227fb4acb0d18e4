"""An order taken up again after the menu changed."""

from decimal import Decimal

from state.commands import (
    AddItem,
    ApplyCoupon,
    ChoosePayment,
    ConfirmOrder,
    OrderCommand,
    ReadBack,
    Reprice,
    SetFulfilment,
    SetTip,
)
from state.digest import digest
from state.order import OrderState, Stage
from state.pricing import price
from tests.state.bistro import CARD, Bistro, card


def taken(*more: OrderCommand) -> OrderState:
    return Bistro().order(
        AddItem(name="Margherita", size="large", quantity=2, modifications=("pan",), note="cut"),
        AddItem(name="Water"),
        SetFulfilment(kind="delivery", address="5 Bleecker St 10012"),
        *more,
    )


def changed(*edits: tuple[str, str]) -> Bistro:
    text = CARD
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return Bistro(card(text))


def test_the_same_menu_changes_nothing() -> None:
    order = taken(ReadBack())

    assert Bistro().after(order, Reprice()) is order


def test_new_prices_are_stamped_and_have_to_be_read_back() -> None:
    bistro = changed(('large: "13.50"', 'large: "15.00"'), ('fee: "3.50"', 'fee: "4.00"'))
    order = taken(ReadBack())

    after = bistro.after(order, Reprice())

    assert after.stage is Stage.OPEN
    assert after.menu_version == bistro.menu.version
    line = after.order_items[0]
    assert (line.id, line.quantity, line.note, line.modifications) == ("L1", 2, "cut", ("pan",))
    assert line.unit_price == 1600
    assert price(after).fees[0].amount == 400


def test_a_new_tax_has_to_be_read_back_too() -> None:
    order = changed(('food: "8.875"', 'food: "9"')).after(taken(ReadBack()), Reprice())

    assert order.stage is Stage.OPEN
    assert price(order).tax == 284  # 283.5


def test_a_new_menu_that_changes_nothing_for_this_order_keeps_the_reading() -> None:
    bistro = changed(('{name: House red, price: "6.00"', '{name: House red, price: "7.00"'))

    order = bistro.after(taken(ReadBack()), Reprice())

    assert (order.stage, order.menu_version) == (Stage.REVIEW, bistro.menu.version)


def test_lines_that_are_no_longer_available_are_removed() -> None:
    gone = changed(
        ('{name: Water, price: "2.50"}', '{name: Water, price: "2.50", available: false}')
    )
    assert [line.name for line in gone.after(taken(), Reprice()).order_items] == ["Margherita"]

    no_pan = changed(('pan: "1.00"', 'deep: "1.00"'))
    assert [line.name for line in no_pan.after(taken(), Reprice()).order_items] == ["Water"]


def test_fewer_at_most_is_fewer() -> None:
    bistro = changed(("quantity: 20", "quantity: 1"))

    assert bistro.after(taken(), Reprice()).order_items[0].quantity == 1


def test_terms_that_no_longer_hold_are_asked_for_again() -> None:
    bistro = changed(
        ('postcodes: ["10012", "10014"]', 'postcodes: ["10014"]'),
        ("payment: [cash, card]", "payment: [cash]"),
        ("maximum: 30", "maximum: 10"),
        ("  TEN: {percent: 10, combinable: true}\n", ""),
        (
            '  FIVE: {amount: "5.00", combinable: true}',
            '  FIVE: {amount: "6.00", combinable: true}',
        ),
    )
    order = taken(
        ChoosePayment(method="card"),
        SetTip(percentage=Decimal("15")),
        ApplyCoupon(code="TEN"),
        ApplyCoupon(code="FIVE"),
    )

    after = bistro.after(order, Reprice())

    assert (after.fulfilment, after.payment_method, after.tip) == (None, None, None)
    assert [(coupon.code, coupon.amount) for coupon in after.coupons] == [("FIVE", 600)]


def test_terms_that_still_hold_stay() -> None:
    bistro = changed(("maximum: 30", "maximum: 20"))
    order = taken(ChoosePayment(method="cash"), SetTip(amount=100))

    after = bistro.after(order, Reprice())

    assert (after.payment_method, after.tip, after.fulfilment) == (
        "cash",
        order.tip,
        order.fulfilment,
    )


def test_coupons_that_go_together_no_longer_are_one() -> None:
    bistro = changed(('FIVE: {amount: "5.00", combinable: true}', 'FIVE: {amount: "5.00"}'))

    after = bistro.after(taken(ApplyCoupon(code="TEN"), ApplyCoupon(code="FIVE")), Reprice())

    assert [coupon.code for coupon in after.coupons] == ["TEN"]


def test_a_confirmed_order_stays_as_it_is() -> None:
    order = taken(ReadBack(), ConfirmOrder())

    assert changed(('large: "13.50"', 'large: "15.00"')).after(order, Reprice()) is order


def test_removed_lines_are_named_until_the_guest_changes_something() -> None:
    bistro = changed(
        ('- {name: Water, price: "2.50"}', '- {name: Still, price: "2.50"}'),
        ("from: [Cola, Water]", "from: [Cola, Still]"),
    )
    after = bistro.after(taken(ReadBack()), Reprice())

    assert after.gone == ("Water",)
    assert '"gone":["Water"]' in digest(after, 7)
    assert bistro.after(after, AddItem(name="Still")).gone == ()


def test_a_tip_in_money_does_not_outlive_its_currency() -> None:
    bistro = changed(("currency: USD", "currency: CAD"))

    after = bistro.after(taken(SetTip(amount=500)), Reprice())

    assert (after.currency, after.tip) == ("CAD", None)
    assert bistro.after(taken(SetTip(percentage=Decimal(10))), Reprice()).tip is not None
