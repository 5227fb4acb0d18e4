"""The bill of any order equals an independent computation in fractions."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor

from hypothesis import given, settings
from hypothesis import strategies as st

from state.money import Cents
from state.order import Coupon, Fulfilment, OrderLine, OrderState, TaxShare, Terms, Tip
from state.pricing import price
from tests.state.bistro import FRIDAY_AT_SEVEN, Bistro

RATES = {"food": Decimal("8.875"), "wine": Decimal("19.6"), "bread": Decimal(0)}


def half_up(amount: Fraction) -> int:
    return floor(amount + Fraction(1, 2))


def shared_out(amount: int, weights: Sequence[int]) -> list[int]:
    """The largest remainders get what is left over; among equal ones the first."""
    exact = [Fraction(amount * weight, sum(weights)) for weight in weights]
    shares = [floor(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: shares[place] - exact[place])
    for place in by_remainder[: amount - sum(shares)]:
        shares[place] += 1
    return shares


def by_hand(order: OrderState) -> dict[str, int]:
    gross = [line.base_price * line.quantity for line in order.order_items]
    nets, subtotal = list(gross), sum(gross)
    percents = [coupon for coupon in order.coupons if coupon.percent is not None]
    for coupon in (*percents, *(one for one in order.coupons if one.percent is None)):
        if subtotal < coupon.minimum or not sum(nets):
            continue
        off: int = coupon.amount or 0
        if coupon.percent is not None:
            off = half_up(Fraction(coupon.percent) / 100 * subtotal)
        off = min(off, sum(nets))
        nets = [net - part for net, part in zip(nets, shared_out(off, nets), strict=True)]
    added, per_line = order.terms.tax_mode == "added", order.terms.tax_rounding == "per_line"
    taxed: list[tuple[object, str, int]] = []
    for line, net in zip(order.order_items, nets, strict=True):
        parts = shared_out(net, [share.weight for share in line.taxes])
        for share, part in zip(line.taxes, parts, strict=True):
            taxed.append((line.id if per_line else None, share.rate, part))
    tax = 0
    for bucket in {(line_id, rate) for line_id, rate, _ in taxed}:
        amount, rate = sum(part for *key, part in taxed if tuple(key) == bucket), bucket[1]
        percent = Fraction(RATES[rate]) / 100
        tax += half_up(amount * percent if added else amount - amount / (1 + percent))
    fee = order.fulfilment.fee if order.fulfilment is not None else 0
    before_tip = sum(nets) + fee + (tax if added else 0)
    base = subtotal if order.terms.tip_base == "subtotal" else before_tip
    tip = half_up(Fraction(order.tip.percentage or 0) / 100 * base) if order.tip is not None else 0
    return {"subtotal": subtotal, "discount": subtotal - sum(nets), "tax": tax, "tip": tip} | {
        "total": before_tip + tip
    }


@st.composite
def lines(draw: st.DrawFn) -> tuple[OrderLine, ...]:
    taxes = st.lists(st.sampled_from(list(RATES)), min_size=1, max_size=2, unique=True)
    return tuple(
        OrderLine(
            id=f"L{number}",
            name=f"Dish {number}",
            quantity=draw(st.integers(1, 20)),
            base_price=Cents(draw(st.integers(1, 5000))),
            taxes=tuple(
                TaxShare(rate=rate, weight=draw(st.integers(1, 5000))) for rate in draw(taxes)
            ),
        )
        for number in range(1, draw(st.integers(1, 5)) + 1)
    )


PERCENTS = st.decimals("0.5", 60, places=1)
COUPONS = st.one_of(
    st.builds(Coupon, code=st.just("P"), percent=PERCENTS, minimum=st.integers(0, 9000)),
    st.builds(Coupon, code=st.just("A"), amount=st.integers(1, 9000)),
)
FEES = st.builds(
    Fulfilment,
    kind=st.just("delivery"),
    ready_at=st.just(FRIDAY_AT_SEVEN),
    fee=st.integers(0, 900),
)
TERMS = st.builds(
    Terms,
    tax_mode=st.sampled_from(["added", "included"]),
    tax_rounding=st.sampled_from(["per_rate", "per_line"]),
    tax_rates=st.just(RATES),
    tip_base=st.sampled_from(["subtotal", "total"]),
)


@settings(max_examples=150, deadline=None)
@given(
    lines(),
    st.lists(COUPONS, max_size=3),
    st.none() | FEES,
    TERMS,
    st.none() | st.builds(Tip, percentage=st.decimals(0, 30, places=1)),
)
def test_a_bill_equals_one_computed_by_hand(
    items: tuple[OrderLine, ...],
    coupons: list[Coupon],
    fulfilment: Fulfilment | None,
    terms: Terms,
    tip: Tip | None,
) -> None:
    order = Bistro().order()
    order = order.model_copy(update={"order_items": items, "coupons": tuple(coupons)})
    order = order.model_copy(update={"fulfilment": fulfilment, "terms": terms, "tip": tip})

    bill = price(order)

    names = ("subtotal", "discount", "tax", "tip", "total")
    assert {name: getattr(bill, name) for name in names} == by_hand(order)
