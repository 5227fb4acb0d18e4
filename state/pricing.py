"""Computes the bill of an order from its lines, coupons, fees and tip; pure, without the menu."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from weakref import ref

from state.money import Cents, percent_of, rounded, split
from state.order import Coupon, OrderLine, OrderState, Terms

DELIVERY = "delivery"
"""The code of the delivery fee."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A discount or a fee; the amount is above 0."""

    code: str
    name: str
    amount: Cents


@dataclass(frozen=True, slots=True)
class Bill:
    """The bill of an order.

    Args:
        subtotal: The sum of all lines before discounts.
        discounts: The discounts of the coupons.
        tax: The tax; included in the prices if ``tax_added`` is false.
        tax_added: Whether the tax is added to the prices.
    """

    subtotal: Cents
    discounts: tuple[Charge, ...]
    fees: tuple[Charge, ...]
    tax: Cents
    tax_added: bool
    tip: Cents

    @property
    def discount(self) -> Cents:
        """The sum of all discounts."""
        return Cents(sum(charge.amount for charge in self.discounts))

    @property
    def before_tip(self) -> Cents:
        """The total without the tip."""
        fees = sum(charge.amount for charge in self.fees)
        return Cents(self.subtotal - self.discount + fees + (self.tax if self.tax_added else 0))

    @property
    def total(self) -> Cents:
        """The total to be paid."""
        return Cents(self.before_tip + self.tip)


_bills: dict[int, tuple["ref[OrderState]", Bill]] = {}


def price(order: OrderState) -> Bill:
    """Compute the bill of an order.

    Orders are immutable, so the bill is cached as long as the order object exists.
    """
    place = id(order)
    known = _bills.get(place)
    if known is not None and known[0]() is order:
        return known[1]
    bill = _reckon(order)
    _bills[place] = (ref(order, lambda _: _bills.pop(place, None)), bill)
    return bill


def most_tip(order: OrderState, percentage: Decimal) -> Cents:
    """Return a tip of this percentage as an amount."""
    bill = price(order)
    return _percentage_tip(percentage, bill.subtotal, bill.before_tip, order.terms)


def _reckon(order: OrderState) -> Bill:
    # Sorted by id, so that the rounding does not depend on the order of the lines.
    lines = sorted(order.order_items, key=_line_number)
    totals = [line.line_total for line in lines]
    subtotal = Cents(sum(totals))
    discounts, nets = _taken_off(order.coupons, subtotal, totals)
    fees = _fees(order)
    tax = _tax(lines, nets, order.terms)
    bill = Bill(subtotal, discounts, fees, tax, order.terms.tax_mode == "added", Cents(0))
    tip = _tip(order, bill)
    return bill if not tip else Bill(subtotal, discounts, fees, tax, bill.tax_added, tip)


def _line_number(line: OrderLine) -> tuple[int, str]:
    digits = line.id.lstrip("L")
    return (int(digits) if digits.isdecimal() else 0, line.id)


def _taken_off(
    coupons: Sequence[Coupon], subtotal: Cents, totals: Sequence[Cents]
) -> tuple[tuple[Charge, ...], list[int]]:
    """Return the discount of each coupon, and the discounted total of each line.

    Percentages are computed from the subtotal and before amounts; no total falls below 0.
    """
    discounts: list[Charge] = []
    nets: list[int] = list(totals)
    for coupon in sorted(coupons, key=lambda coupon: coupon.percent is None):
        if subtotal < coupon.minimum:
            continue
        wanted = (
            percent_of(coupon.percent, subtotal)
            if coupon.percent is not None
            else (coupon.amount or 0)
        )
        amount = min(wanted, sum(nets))
        if amount > 0:
            discounts.append(Charge(coupon.code, _coupon_name(coupon), Cents(amount)))
            nets = [net - share for net, share in zip(nets, split(amount, nets), strict=True)]
    return tuple(discounts), nets


def _coupon_name(coupon: Coupon) -> str:
    if coupon.percent is None:
        return f"Coupon {coupon.code}"
    return f"Coupon {coupon.code} ({coupon.percent.normalize():f} %)"


def _fees(order: OrderState) -> tuple[Charge, ...]:
    if order.fulfilment is None or order.fulfilment.fee <= 0 or not order.order_items:
        return ()
    return (Charge(DELIVERY, "Delivery", order.fulfilment.fee),)


def _tax(lines: Sequence[OrderLine], nets: Sequence[int], terms: Terms) -> Cents:
    """The tax on the discounted lines, rounded once per rate or once per line."""
    by_rate: dict[str, int] = {}
    tax = 0
    for line, net in zip(lines, nets, strict=True):
        # The common case is one rate; only a combo can have several.
        weights = [share.weight for share in line.taxes]
        shares = split(net, weights) if len(weights) > 1 else [Cents(net)] * len(weights)
        for share, taxed in zip(line.taxes, shares, strict=True):
            if terms.tax_rounding == "per_line":
                tax += _tax_on(taxed, share.rate, terms)
            else:
                by_rate[share.rate] = by_rate.get(share.rate, 0) + taxed
    tax += sum(_tax_on(taxed, rate, terms) for rate, taxed in by_rate.items())
    return Cents(tax)


def _tax_on(amount: int, rate: str, terms: Terms) -> int:
    percent = terms.tax_rates.get(rate, Decimal(0))
    if terms.tax_mode == "added":
        return percent_of(percent, amount)
    return rounded(amount * percent / (100 + percent))


def _tip(order: OrderState, bill: Bill) -> Cents:
    if order.tip is None:
        return Cents(0)
    if order.tip.amount is not None:
        return order.tip.amount
    return _percentage_tip(
        order.tip.percentage or Decimal(0), bill.subtotal, bill.before_tip, order.terms
    )


def _percentage_tip(percentage: Decimal, subtotal: Cents, before_tip: Cents, terms: Terms) -> Cents:
    return percent_of(percentage, subtotal if terms.tip_base == "subtotal" else before_tip)
