"""The stages of an order, their transitions, and the conditions of commands and handoffs.

A condition returns ``None`` if it holds, or else the error that names the missing data or step. It never
raises; a command raises the error of its condition.
"""

from collections.abc import Mapping

from state.errors import Missing, NotPossible, OrderError, WrongStage
from state.money import shown
from state.order import OrderState, Stage
from state.pricing import price

FOLLOWS: Mapping[Stage, frozenset[Stage]] = {
    Stage.OPEN: frozenset({Stage.REVIEW, Stage.CANCELLED}),
    Stage.REVIEW: frozenset({Stage.OPEN, Stage.CONFIRMED, Stage.CANCELLED}),
    Stage.CONFIRMED: frozenset({Stage.OPEN, Stage.REVIEW, Stage.PLACED, Stage.CANCELLED}),
    Stage.PLACED: frozenset({Stage.ACCEPTED, Stage.FAILED}),
    Stage.ACCEPTED: frozenset({Stage.PREPARING, Stage.FAILED}),
    Stage.PREPARING: frozenset({Stage.READY, Stage.FAILED}),
    Stage.READY: frozenset({Stage.COMPLETED, Stage.FAILED}),
    Stage.COMPLETED: frozenset(),
    Stage.CANCELLED: frozenset(),
    Stage.FAILED: frozenset(),
}
"""The stages that can follow each stage. From ``placed`` on, an order only moves forward."""

ORDERING = frozenset({Stage.OPEN, Stage.REVIEW, Stage.CONFIRMED})
"""The stages before the order is placed, in which the guest can change everything."""

IN_THE_KITCHEN = frozenset({Stage.PLACED, Stage.ACCEPTED, Stage.PREPARING, Stage.READY})
"""The stages in which the kitchen has the order and has not completed it."""

ENDED = frozenset({Stage.COMPLETED, Stage.CANCELLED, Stage.FAILED})
"""The final stages."""

_WHERE = {
    Stage.OPEN: "still being taken",
    Stage.REVIEW: "waiting for the guest's yes to what was read back",
    Stage.CONFIRMED: "confirmed and not placed yet",
    Stage.PLACED: "placed",
    Stage.ACCEPTED: "accepted by the kitchen",
    Stage.PREPARING: "being prepared",
    Stage.READY: "ready",
    Stage.COMPLETED: "completed",
    Stage.CANCELLED: "cancelled",
    Stage.FAILED: "refused by the restaurant",
}


def may_follow(order: OrderState, stage: Stage) -> OrderError | None:
    """Whether an order can move to a stage."""
    if stage in FOLLOWS[order.stage]:
        return None
    return wrong_stage(order, f"It cannot become {stage.value} from there.")


def can_order(order: OrderState) -> OrderError | None:
    """Whether lines, contact data, fulfilment, coupons, tip and payment can still change."""
    if order.stage in ORDERING:
        return None
    return wrong_stage(order, "It cannot be changed any more; call a person if it has to be.")


def can_read_back(order: OrderState) -> OrderError | None:
    """Whether the order has all that the read-back needs."""
    return can_order(order) or _missing(order, _to_be_complete(order)) or meets_minimum(order)


def can_confirm(order: OrderState) -> OrderError | None:
    """Whether the guest can confirm: the order was read back and has not changed since."""
    if order.stage in (Stage.REVIEW, Stage.CONFIRMED):
        return None
    if order.stage is Stage.OPEN:
        return wrong_stage(order, "Read it back first; then ask for the guest's yes.")
    return wrong_stage(order, "There is nothing left to confirm.")


def can_reopen(order: OrderState) -> OrderError | None:
    """Whether the order can be reopened: it was read back or confirmed."""
    return can_order(order)


def can_pay(order: OrderState) -> OrderError | None:
    """Whether the payment method can be chosen now: the order is confirmed and not placed."""
    if order.stage is Stage.CONFIRMED:
        return None
    if order.stage in ORDERING:
        return _missing(order, tuple(need for need in needs(order) if need != "name"))
    return wrong_stage(order, "How it is paid is settled.")


def can_place(order: OrderState) -> OrderError | None:
    """Whether the order can be placed: it is confirmed and has a payment method."""
    if order.stage is Stage.PLACED:
        return None
    if order.stage is Stage.CONFIRMED:
        return _missing(order, ("payment",) if order.payment_method is None else ())
    if order.stage in ORDERING:
        return wrong_stage(
            order, "It has to be read back and the guest has to say yes before it is placed."
        )
    return wrong_stage(order, "It was placed before.")


def can_cancel(order: OrderState) -> OrderError | None:
    """Whether the guest can still cancel the order."""
    if order.stage in ORDERING:
        return None
    if order.stage in IN_THE_KITCHEN:
        return wrong_stage(order, "The kitchen has it: only a person can call it off now.")
    return wrong_stage(order, "There is nothing left to cancel.")


def can_annotate(order: OrderState) -> OrderError | None:
    """Whether the kitchen can still read new notes and allergies."""
    if order.stage in ORDERING or order.stage in IN_THE_KITCHEN:
        return None
    return wrong_stage(order, "The kitchen would not see a note on it any more.")


def is_placed(order: OrderState) -> bool:
    """Whether the order has been placed, and the kitchen has not refused it."""
    return order.stage in IN_THE_KITCHEN or order.stage is Stage.COMPLETED


def can_give_feedback(order: OrderState) -> OrderError | None:
    """Whether the guest can rate the call: the order is placed."""
    if is_placed(order):
        return None
    if order.stage in ORDERING:
        return wrong_stage(order, "Feedback is asked for once the order is placed.")
    return wrong_stage(order, "It did not come about, so there is nothing to rate.")


def meets_minimum(order: OrderState) -> OrderError | None:
    """Whether a delivery reaches the minimum subtotal."""
    fulfilment = order.fulfilment
    subtotal = price(order).subtotal
    if fulfilment is None or fulfilment.kind != "delivery" or subtotal >= fulfilment.minimum:
        return None
    least, short = fulfilment.minimum, fulfilment.minimum - subtotal
    return NotPossible(
        f"Delivery starts at {shown(least, order.currency)};"
        f" {shown(short, order.currency)} of food is missing. The guest can add something or pick it up.",
        what="delivery",
        why="below_minimum",
        minimum=least,
        short=short,
        possible=["pickup"],
    )


def needs(order: OrderState) -> tuple[str, ...]:
    """Return the data and steps missing for the next stage, in the order in which a waiter asks for them.

    ``items``, ``fulfilment``, ``address``, ``minimum``, ``name``, ``read_back`` · ``confirmation`` ·
    ``payment``, ``tip``, ``placing`` · ``rating``. The guest can decline to give a name or a tip: "" and 0 are answers.
    """
    match order.stage:
        case Stage.OPEN:
            missing = _to_be_complete(order)
            if not missing and meets_minimum(order) is not None:
                missing = ("minimum",)
            name = ("name",) if order.customer_name is None else ()
            return (*missing, *name, *(() if missing else ("read_back",)))
        case Stage.REVIEW:
            return ("confirmation",)
        case Stage.CONFIRMED:
            payment = ("payment",) if order.payment_method is None else ()
            tip = ("tip",) if order.tip is None else ()
            return (*payment, *tip, *(() if payment else ("placing",)))
        case Stage.PLACED | Stage.ACCEPTED | Stage.PREPARING | Stage.READY | Stage.COMPLETED:
            return () if order.feedback_rating is not None else ("rating",)
        case _:
            return ()


def wrong_stage(order: OrderState, more: str) -> WrongStage:
    """Make the refusal of a command in the present stage."""
    return WrongStage(
        f"The order is {_WHERE[order.stage]}. {more}",
        stage=order.stage.value,
        needs=list(needs(order)),
        possible=[stage.value for stage in Stage if stage in FOLLOWS[order.stage]],
    )


def _to_be_complete(order: OrderState) -> tuple[str, ...]:
    missing = [] if order.order_items else ["items"]
    if order.fulfilment is None:
        missing.append("fulfilment")
    elif order.fulfilment.kind == "delivery" and not order.fulfilment.address:
        missing.append("address")
    return tuple(missing)


_ASK_FOR = {
    "items": "something to eat or drink",
    "fulfilment": "pickup or delivery",
    "address": "the address with its postcode",
    "minimum": "more food, to reach the least that is delivered",
    "name": "the guest's name",
    "read_back": "the order read back to the guest",
    "confirmation": "the guest's yes to what was read back",
    "payment": "how the guest will pay",
}


def _missing(order: OrderState, missing: tuple[str, ...]) -> OrderError | None:
    if not missing:
        return None
    words = ", ".join(_ASK_FOR[need] for need in missing if need in _ASK_FOR)
    return Missing(f"First there has to be: {words}.", needs=list(missing), stage=order.stage.value)
