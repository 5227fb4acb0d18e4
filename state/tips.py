"""Checks tips against the restaurant's limit."""

from state.context import OrderContext
from state.errors import OverLimit
from state.money import plain_number, shown
from state.order import OrderState, Tip
from state.pricing import most_tip


def acceptable_tip(tip: Tip | None, order: OrderState, context: OrderContext) -> OverLimit | None:
    """Whether a tip is within the restaurant's limit for this order.

    An amount cannot be checked on an empty order; it is checked again at the read-back.
    """
    if tip is None:
        return None
    most = context.menu.restaurant.tip.maximum
    most_amount = most_tip(order, most)
    too_much = (tip.percentage is not None and tip.percentage > most) or (
        tip.amount is not None and tip.amount > most_amount and bool(order.order_items)
    )
    if not too_much:
        return None
    return OverLimit(
        f"The restaurant takes a tip of at most {most:f} %, which is"
        f" {shown(most_amount, order.currency)} on this order.",
        what="tip",
        limit=plain_number(most),
        limit_amount=most_amount,
    )
