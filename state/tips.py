"""Which tips the restaurant takes."""

from state.context import OrderContext
from state.errors import OverLimit
from state.money import shown
from state.order import OrderState, Tip
from state.pricing import most_tip


def acceptable_tip(tip: Tip | None, order: OrderState, context: OrderContext) -> OverLimit | None:
    """Whether a tip is within what the restaurant takes on this order.

    An amount cannot be judged before anything is ordered; it is judged again when the order is read back.
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
    limit = int(most) if most == most.to_integral_value() else float(most)
    return OverLimit(
        f"The restaurant takes a tip of at most {most:f} %, which is"
        f" {shown(most_amount, order.currency)} on this order.",
        what="tip",
        limit=limit,
        limit_amount=most_amount,
    )
