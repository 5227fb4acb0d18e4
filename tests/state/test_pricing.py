"""What an order comes to, to the cent."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import pricing
from state.commands import AddItem, ApplyCoupon, SetFulfilment, SetTip
from state.money import Cents
from state.order import Coupon, OrderLine, OrderState, TaxShare, Terms, Tip
from state.pricing import most_tip, price
from tests.state.bistro import CARD, Bistro, card

RATES = {"food": Decimal("8.875"), "drink": Decimal(10)}


def line(number: int, amount: int, quantity: int = 1, **taxes: int) -> OrderLine:
    shares = taxes or {"food": 1}
    return OrderLine(
        id=f"L{number}",
        name=f"Dish {number}",
        quantity=quantity,
        base_price=Cents(amount),
        taxes=tuple(TaxShare(rate=rate, weight=weight) for rate, weight in shares.items()),
    )


def order(lines: Sequence[OrderLine], **fields: Any) -> OrderState:
    terms = Terms(
        tax_rates=RATES,
        **{
            name: fields.pop(name)
            for name in ("tax_mode", "tax_rounding", "tip_base")
            if name in fields
        },
    )
    empty = Bistro().order()
    return empty.model_copy(update={"terms": terms, "order_items": tuple(lines), **fields})


def percent(code: str, percentage: int, **rest: Any) -> Coupon:
    return Coupon(code=code, percent=Decimal(percentage), **rest)


def amount(code: str, off: int, **rest: Any) -> Coupon:
    return Coupon(code=code, amount=Cents(off), **rest)


def test_an_empty_order_costs_nothing() -> None:
    bill = price(order([]))

    assert (bill.subtotal, bill.tax, bill.tip, bill.total) == (0, 0, 0, 0)
    assert (bill.discounts, bill.fees) == ((), ())


def test_tax_is_added_once_for_each_rate_half_up() -> None:
    bill = price(order([line(1, 1350, 2), line(2, 600, 1, drink=1)]))

    assert bill.subtotal == 3300
    assert bill.tax == 240 + 60  # 239.625 and 60
    assert bill.total == 3600


def test_tax_rounded_per_line_differs_from_tax_rounded_per_rate() -> None:
    lines = [line(1, 250), line(2, 250), line(3, 250)]

    assert price(order(lines)).tax == 67  # 66.5625
    assert price(order(lines, tax_rounding="per_line")).tax == 66  # three times 22.1875


def test_included_tax_is_shown_and_not_added() -> None:
    bill = price(order([line(1, 1100, 1, drink=1)], tax_mode="included"))

    assert (bill.tax, bill.total) == (100, 1100)


def test_a_percentage_comes_before_an_amount_whichever_was_given_first() -> None:
    coupons = (amount("FIVE", 500), percent("TEN", 10))

    bill = price(order([line(1, 2000)], coupons=coupons))

    assert [(charge.code, charge.amount) for charge in bill.discounts] == [
        ("TEN", 200),
        ("FIVE", 500),
    ]
    assert bill.tax == 115  # on 13.00


def test_two_percentages_are_both_of_the_subtotal() -> None:
    bill = price(order([line(1, 1000)], coupons=(percent("A", 10), percent("B", 20))))

    assert [charge.amount for charge in bill.discounts] == [100, 200]


def test_a_discount_never_takes_more_than_there_is() -> None:
    bill = price(order([line(1, 300)], coupons=(percent("A", 80), amount("FIVE", 500))))

    assert [charge.amount for charge in bill.discounts] == [240, 60]
    assert (bill.tax, bill.total) == (0, 0)


def test_a_coupon_below_its_minimum_gives_nothing() -> None:
    coupons = (percent("TEN", 10, minimum=Cents(2000)),)

    assert price(order([line(1, 1999)], coupons=coupons)).discounts == ()
    assert price(order([line(1, 2000)], coupons=coupons)).discounts[0].amount == 200


def test_a_minimum_looks_at_the_subtotal_before_other_discounts() -> None:
    coupons = (percent("HALF", 50), amount("FIVE", 500, minimum=Cents(2000)))

    assert len(price(order([line(1, 2000)], coupons=coupons)).discounts) == 2


def test_a_discount_is_shared_out_so_that_no_cent_is_lost_between_rates() -> None:
    # 1.00 off three equal lines: 34, 33, 33 in the order of their ids.
    lines = [line(1, 1000, 1, drink=1), line(2, 1000), line(3, 1000)]

    bill = price(order(lines, coupons=(amount("ONE", 100),)))

    assert bill.tax == 97 + 172  # 10 % of 9.66 and 8.875 % of 19.34


def test_line_ten_comes_after_line_nine() -> None:
    nine, ten = line(9, 105, 1, drink=1), line(10, 105)
    one_off = (amount("ODD", 1),)

    # The odd cent falls to line 9: by letters it would fall to line 10.
    assert (
        price(order([ten, nine], coupons=one_off)).tax
        == price(order([nine, ten], coupons=one_off)).tax
    )
    assert price(order([nine, ten], coupons=one_off)).tax == 10 + 9  # 10 % of 1.04, not of 1.05


def test_a_combo_is_taxed_by_what_its_parts_cost_on_the_menu() -> None:
    bill = price(order([line(1, 1000, 1, food=2000, drink=1000)]))

    assert bill.tax == 59 + 33  # 6.67 at 8.875 %, 3.33 at 10 %


def test_a_line_without_any_rate_is_not_taxed() -> None:
    bare = line(1, 1000).model_copy(update={"taxes": ()})

    assert price(order([bare])).tax == 0


def test_the_delivery_fee_comes_after_tax() -> None:
    bistro = Bistro()
    taken = bistro.order(
        AddItem(name="Water", quantity=10),
        SetFulfilment(kind="delivery", address="5 Bleecker St, New York 10012"),
    )

    bill = price(taken)

    assert [(fee.code, fee.amount) for fee in bill.fees] == [("delivery", 350)]
    assert (bill.tax, bill.total) == (222, 2500 + 222 + 350)


@pytest.mark.parametrize(("base", "tip"), [("subtotal", 300), ("total", 327)])
def test_a_tip_is_a_percentage_of_the_configured_base(base: str, tip: int) -> None:
    taken = order([line(1, 2000)], tip_base=base, tip=Tip(percentage=Decimal(15)))

    assert price(taken).tip == tip


def test_a_tip_on_the_subtotal_does_not_shrink_with_a_coupon() -> None:
    taken = order([line(1, 2000)], coupons=(percent("HALF", 50),), tip=Tip(percentage=Decimal(10)))

    assert price(taken).tip == 200


@pytest.mark.parametrize(
    ("tip", "expected"),
    [(Tip(amount=Cents(333)), 333), (Tip(amount=Cents(0)), 0), (Tip(percentage=Decimal(0)), 0)],
)
def test_a_tip_can_be_an_amount_or_nothing(tip: Tip, expected: int) -> None:
    assert price(order([line(1, 2000)], tip=tip)).tip == expected


def test_yen_have_no_smaller_part() -> None:
    menu = card(
        """
restaurant:
  {id: t, name: T, currency: JPY, timezone: Asia/Tokyo, hours: {saturday: "00:00-24:00"},
   service: {pickup: {lead_minutes: 10}}, tax: {rates: {food: "8"}}}
sections: [{name: Bowls, dishes: [{name: Gyudon, price: "455"}]}]
"""
    )
    bistro = Bistro(menu)

    bill = price(bistro.order(AddItem(name="Gyudon"), SetTip(percentage=Decimal("10"))))

    assert (bill.subtotal, bill.tax, bill.tip, bill.total) == (455, 36, 46, 537)


def test_an_order_is_reckoned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = order([line(1, 2000)])
    bill = price(taken)

    assert price(taken.model_copy()) is not bill
    assert price(taken) is bill


def test_the_card_s_combinable_coupons_add_up() -> None:
    taken = Bistro(card(CARD)).order(
        AddItem(name="Margherita", size="large", quantity=2),
        ApplyCoupon(code="five"),
        ApplyCoupon(code="ten"),
    )

    assert price(taken).discount == 270 + 500


lines_strategy = st.lists(
    st.tuples(
        st.integers(0, 5000),
        st.integers(1, 9),
        st.sampled_from([{"food": 1}, {"drink": 1}, {"food": 3, "drink": 2}]),
    ),
    max_size=5,
)
coupons_strategy = st.lists(
    st.one_of(
        st.builds(percent, st.just("P"), st.integers(0, 100)),
        st.builds(amount, st.just("A"), st.integers(0, 5000)),
    ),
    max_size=3,
)
tips = st.one_of(
    st.none(),
    st.builds(lambda value: Tip(percentage=Decimal(value)), st.integers(0, 30)),
    st.builds(lambda value: Tip(amount=Cents(value)), st.integers(0, 2000)),
)


@settings(max_examples=60, deadline=None)
@given(
    drawn=lines_strategy,
    coupons=coupons_strategy,
    tip=tips,
    mode=st.sampled_from(["added", "included"]),
    rounding=st.sampled_from(["per_rate", "per_line"]),
    tip_base=st.sampled_from(["subtotal", "total"]),
)
def test_the_total_is_the_sum_of_its_parts_however_the_lines_are_listed(
    drawn: list[tuple[int, int, dict[str, int]]],
    coupons: list[Coupon],
    tip: Tip | None,
    mode: str,
    rounding: str,
    tip_base: str,
) -> None:
    lines = [line(n, *amounts, **taxes) for n, (*amounts, taxes) in enumerate(drawn, start=8)]
    terms = {"tax_mode": mode, "tax_rounding": rounding, "tip_base": tip_base}
    taken = order(lines, coupons=tuple(coupons), tip=tip, **terms)

    bill = price(taken)

    assert bill.subtotal == sum(each.unit_price * each.quantity for each in lines)
    assert 0 <= bill.discount <= bill.subtotal
    assert all(charge.amount > 0 for charge in (*bill.discounts, *bill.fees))
    added = bill.tax if mode == "added" else 0
    assert bill.total == bill.subtotal - bill.discount + added + bill.tip >= 0
    for some in list(permutations(lines))[:24:5]:
        assert price(order(some, coupons=tuple(coupons), tip=tip, **terms)).total == bill.total


@settings(max_examples=60, deadline=None)
@given(amount_=st.integers(0, 10**6), rate=st.decimals(0, 30, places=3))
def test_tax_on_one_line_is_what_a_pocket_calculator_says(amount_: int, rate: Decimal) -> None:
    taken = order([line(1, amount_)])
    taken = taken.model_copy(
        update={"terms": taken.terms.model_copy(update={"tax_rates": {"food": rate}})}
    )

    exact = Decimal(amount_) * rate / 100

    assert price(taken).tax == int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def test_the_largest_tip_on_the_total_counts_tax_in() -> None:
    assert most_tip(order([line(1, 2000)], tip_base="total"), Decimal(10)) == 218
    assert most_tip(order([line(1, 2000)]), Decimal(10)) == 200


def test_the_smallest_fee_is_a_fee() -> None:
    bistro = Bistro(card(CARD.replace('fee: "3.50"', 'fee: "0.01"')))

    bill = price(bistro.order(AddItem(name="Water"), SetFulfilment(kind="delivery")))

    assert [fee.amount for fee in bill.fees] == [1]


def test_a_rate_without_a_percentage_is_not_taxed() -> None:
    assert price(order([line(1, 2000, gone=1)])).tax == 0


def test_a_bill_is_forgotten_with_its_order() -> None:
    taken = order([line(1, 2000)])
    assert price(taken).subtotal == 2000
    known = len(pricing._bills)

    del taken

    assert len(pricing._bills) == known - 1
