"""What any order from any card comes to: as reckoned a second time, and by laws that need no reckoning."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from state.commands import ApplyCoupon, ChangeItem, RemoveItem, SetFulfilment, SetTip
from state.errors import OverLimit
from state.order import OrderState
from state.pricing import Bill, price
from state.view import view
from tests.state.bistro import Bistro
from tests.state.properties.cards import DISHES, Card, Wanted, cards, menu_of, orders
from tests.state.properties.doings import outcome
from tests.state.properties.effort import tried
from tests.state.properties.reckoning import half_up, reckon

Drawn = tuple[Card, list[Wanted]]


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    # Where little costs more than a few coins, many things cost the same, and odd coins fall to and fro.
    card = draw(cards(draw(st.integers(0, 2)), draw(st.sampled_from([4000, 4000, 5]))))
    return card, draw(orders(card))


percentages = st.integers(0, 4000).map(lambda hundredths: Decimal(hundredths) / 100)


def taken(bistro: Bistro, wanted: Sequence[Wanted], coupons: Sequence[str] = ()) -> OrderState:
    """An order of all that, and these coupons."""
    order = bistro.order(*(one.command() for one in wanted))
    return bistro.after(order, *(ApplyCoupon(code=code) for code in coupons))


def amounts(bill: Bill) -> list[object]:
    charges = [charge.amount for charge in (*bill.discounts, *bill.fees)]
    return [bill.subtotal, bill.discount, bill.tax, bill.tip, bill.before_tip, bill.total, *charges]


@tried(90)
@given(drawn(), st.data())
def test_a_bill_equals_the_sum_computed_from_the_menu(ordered: Drawn, data: st.DataObject) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    codes = data.draw(st.permutations([*card["coupons"]]))
    delivered = data.draw(st.booleans())
    percentage = data.draw(st.none() | percentages)

    order = taken(bistro, wanted, codes)
    kind = "delivery" if delivered else "pickup"
    order = bistro.after(order, SetFulfilment(kind=kind, address="5 Bleecker St"))
    if percentage is not None:
        order = bistro.after(order, SetTip(percentage=percentage))
    bill = price(order)
    tip = Fraction(percentage or 0) / 100
    expected = reckon(card, wanted, codes, delivered=delivered, tip=tip)

    assert tuple(line.unit_price for line in order.order_items) == expected.units
    for line, one in zip(order.order_items, wanted, strict=True):
        said = {wish.words for wish in one.wishes if not wish.usual and wish.count == 1}
        assert said <= {*line.modifications}
    assert {charge.code: charge.amount for charge in bill.discounts} == expected.discounts
    assert sum(charge.amount for charge in bill.fees) == expected.fee
    assert (bill.subtotal, bill.tax, bill.tip, bill.total) == (
        expected.subtotal,
        expected.tax,
        expected.tip,
        expected.total,
    )


@tried(25)
@given(drawn(), st.data())
def test_the_total_is_the_sum_of_whole_parts_none_below_nothing(
    ordered: Drawn, data: st.DataObject
) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    order = taken(bistro, wanted, [*card["coupons"]])
    order = bistro.after(order, SetFulfilment(kind="delivery", address="5 Bleecker St"))
    order = bistro.after(order, SetTip(percentage=data.draw(percentages)))

    bill = price(order)
    added = bill.tax if card["restaurant"]["tax"]["mode"] == "added" else 0
    fees = sum(charge.amount for charge in bill.fees)
    parts = [*amounts(bill), *(line.line_total for line in order.order_items)]

    assert all(type(amount) is int and amount >= 0 for amount in parts)
    assert all(charge.amount > 0 for charge in (*bill.discounts, *bill.fees))
    assert bill.subtotal == sum(line.unit_price * line.quantity for line in order.order_items)
    assert bill.discount <= bill.subtotal
    assert bill.total == bill.subtotal - bill.discount + fees + added + bill.tip
    seen = view(order, 1, None)
    assert [seen[name] for name in ("subtotal", "tax", "tip", "total")] == [
        *(bill.subtotal, bill.tax, bill.tip, bill.total)
    ]


@tried(40)
@given(drawn(), st.booleans(), st.integers(1, 50), st.data())
def test_it_does_not_matter_in_which_order_lines_are_listed(
    ordered: Drawn, alike: bool, off: int, data: st.DataObject
) -> None:
    card, wanted = ordered
    if alike:
        card, wanted = all_alike(card, off)
    order = taken(Bistro(menu_of(card)), wanted, [*card["coupons"]])
    listed = data.draw(st.permutations(order.order_items))

    assert price(order.model_copy(update={"order_items": tuple(listed)})) == price(order)


def all_alike(card: Card, off: int) -> Drawn:
    """Dishes of one price, taxed wholly and not at all: where an odd coin falls can be seen."""
    dishes = [
        {"name": name, "price": "9", "tax": tax}
        for name, tax in zip(DISHES[:5], ("all", "none") * 3, strict=False)
    ]
    bistro = {**card["restaurant"], "currency": "JPY"}
    bistro["service"] = {"pickup": {}, "delivery": {"fee": "2"}}
    bistro["tax"] = {**bistro["tax"], "rates": {"all": "100", "none": "0"}}
    sections = [{"name": "Everything", "dishes": dishes}]
    coupons = {"ONE": {"amount": str(off)}}
    alike = {"restaurant": bistro, "options": {}, "coupons": coupons, "sections": sections}
    return {**alike, "combos": []}, [Wanted(str(dish["name"])) for dish in dishes]


@tried(20)
@given(drawn(), st.data())
def test_a_line_more_and_off_again_leaves_the_bill_as_it_was(
    ordered: Drawn, data: st.DataObject
) -> None:
    card, wanted = ordered
    bistro, [*before, more] = Bistro(menu_of(card)), wanted
    codes = [*card["coupons"]]
    order = taken(bistro, before, codes)
    added = bistro.after(order, more.command())

    assert price(bistro.after(added, RemoveItem(line_id=added.order_items[-1].id))) == price(order)
    again = bistro.after(added, RemoveItem(line_id=added.order_items[-1].id), more.command())
    assert price(again) == price(added)


@tried(20)
@given(drawn(), st.data())
def test_any_line_taken_off_and_ordered_again_costs_what_it_did(
    ordered: Drawn, data: st.DataObject
) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    order = taken(bistro, wanted, [*card["coupons"]])
    place = data.draw(st.integers(0, len(wanted) - 1))

    line = order.order_items[place]
    again = bistro.after(order, RemoveItem(line_id=line.id), wanted[place].command())

    one, other = price(order), price(again)
    assert (one.subtotal, one.discounts, one.fees) == (other.subtotal, other.discounts, other.fees)
    # It has a new id, so that the odd cent of a discount may fall to a line of another rate.
    assert abs(one.tax - other.tax) <= len(wanted)


@tried(20)
@given(drawn(), st.data())
def test_several_at_once_cost_what_they_cost_one_by_one(
    ordered: Drawn, data: st.DataObject
) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    at_once = taken(bistro, wanted, [*card["coupons"]])
    one_by_one = bistro.order(*(one.command(1) for one in wanted for _ in range(one.quantity)))
    one_by_one = bistro.after(one_by_one, *(ApplyCoupon(code=code) for code in card["coupons"]))

    assert one_by_one.order_items == at_once.order_items
    assert price(one_by_one) == price(at_once)


@tried(20)
@given(drawn(), st.data())
def test_a_quantity_changed_to_and_fro_leaves_the_bill_as_it_was(
    ordered: Drawn, data: st.DataObject
) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    order = taken(bistro, wanted, [*card["coupons"]])
    line = data.draw(st.sampled_from(order.order_items))
    other = data.draw(st.integers(1, 50))

    changed = bistro.after(order, ChangeItem(line_id=line.id, quantity=other))
    back = bistro.after(changed, ChangeItem(line_id=line.id, quantity=line.quantity))

    assert price(changed).subtotal - price(order).subtotal == line.unit_price * (
        other - line.quantity
    )
    assert price(back) == price(order)


@tried(20)
@given(drawn())
def test_a_coupon_never_makes_an_order_dearer_and_its_removal_undoes_it(ordered: Drawn) -> None:
    card, wanted = ordered
    assume(card["coupons"])
    bistro = Bistro(menu_of(card))
    order = taken(bistro, wanted)

    for code in card["coupons"]:
        with_it = bistro.after(order, ApplyCoupon(code=code))
        assert price(with_it).total <= price(order).total
        assert price(with_it).subtotal == price(order).subtotal


@tried(20)
@given(drawn(), st.data())
def test_tips_are_accepted_exactly_up_to_the_limit(ordered: Drawn, data: st.DataObject) -> None:
    card, wanted = ordered
    bistro = Bistro(menu_of(card))
    order = taken(bistro, wanted)
    bare = reckon(card, wanted)
    base = bare.subtotal if card["restaurant"]["tip"]["base"] == "subtotal" else bare.before_tip
    most = half_up(Fraction(2, 5) * base)
    amount = data.draw(st.integers(max(0, most - 2), most + 2) | st.integers(0, 2 * most + 5))

    tipped = outcome(bistro, order, SetTip(amount=amount))

    if amount > most:
        assert isinstance(tipped, OverLimit)
        assert tipped.facts["limit_amount"] == most
    else:
        assert isinstance(tipped, OrderState)
        assert price(tipped).tip == amount
        assert price(tipped).total == bare.before_tip + amount
