"""The stages of an order: what may follow what, and the conditions that agents and clients both ask.

A condition answers with nothing when it holds, else with the error that says what is missing. It never
raises; a command raises what its condition answers.
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
"""What may follow what. Forward only once the kitchen has it."""

ORDERING = frozenset({Stage.OPEN, Stage.REVIEW, Stage.CONFIRMED})
"""Before the kitchen has it: the guest may change everything."""

IN_THE_HOUSE = frozenset({Stage.PLACED, Stage.ACCEPTED, Stage.PREPARING, Stage.READY})
"""The kitchen has it and is not done."""

ENDED = frozenset({Stage.COMPLETED, Stage.CANCELLED, Stage.FAILED})
"""Nothing follows any more."""

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
    """Whether an order may go on to a stage."""
    if stage in FOLLOWS[order.stage]:
        return None
    return wrong_stage(order, f"It cannot become {stage.value} from there.")


def can_order(order: OrderState) -> OrderError | None:
    """Whether lines, guest, fulfilment, coupons, tip and payment may still change."""
    if order.stage in ORDERING:
        return None
    return wrong_stage(order, "It cannot be changed any more; call a person if it has to be.")


def can_read_back(order: OrderState) -> OrderError | None:
    """Whether the order is complete enough to be read back to the guest."""
    return can_order(order) or _missing(order, _to_be_complete(order)) or meets_minimum(order)


def can_confirm(order: OrderState) -> OrderError | None:
    """Whether the guest can say yes: the order was read back and nothing has changed since."""
    if order.stage in (Stage.REVIEW, Stage.CONFIRMED):
        return None
    if order.stage is Stage.OPEN:
        return wrong_stage(order, "Read it back first; then ask for the guest's yes.")
    return wrong_stage(order, "There is nothing left to confirm.")


def can_reopen(order: OrderState) -> OrderError | None:
    """Whether a read-back or confirmed order can go back to being taken."""
    return can_order(order)


def can_pay(order: OrderState) -> OrderError | None:
    """Whether it is time to settle how the guest pays: the order is confirmed and not placed."""
    if order.stage is Stage.CONFIRMED:
        return None
    if order.stage in ORDERING:
        return _missing(order, tuple(need for need in needs(order) if need != "name"))
    return wrong_stage(order, "How it is paid is settled.")


def can_place(order: OrderState) -> OrderError | None:
    """Whether the order can go to the kitchen: confirmed, and known how it will be paid."""
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
    """Whether the guest may still cancel it."""
    if order.stage in ORDERING:
        return None
    if order.stage in IN_THE_HOUSE:
        return wrong_stage(order, "The kitchen has it: only a person can call it off now.")
    return wrong_stage(order, "There is nothing left to cancel.")


def can_annotate(order: OrderState) -> OrderError | None:
    """Whether notes and allergies can still reach the kitchen."""
    if order.stage in ORDERING or order.stage in IN_THE_HOUSE:
        return None
    return wrong_stage(order, "The kitchen would not see a note on it any more.")


def can_give_feedback(order: OrderState) -> OrderError | None:
    """Whether the guest can rate it: once it is placed."""
    if order.stage in IN_THE_HOUSE or order.stage is Stage.COMPLETED:
        return None
    if order.stage in ORDERING:
        return wrong_stage(order, "Feedback is asked for once the order is placed.")
    return wrong_stage(order, "It did not come about, so there is nothing to rate.")


def meets_minimum(order: OrderState) -> OrderError | None:
    """Whether a delivery comes to enough to be brought."""
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
    """What is still missing for the next step, in the order a waiter asks for it.

    ``items``, ``fulfilment``, ``address``, ``minimum``, ``name``, ``read_back`` · ``confirmation`` ·
    ``payment``, ``tip``, ``placing`` · ``rating``. The name and the tip are asked for, but the guest need not
    give them: an answer of nothing ("", 0) is one.
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
    """Say which stage the order is in and why that does not allow what was asked."""
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
