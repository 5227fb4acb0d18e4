"""Builds the starting order of a conversation: from fields of its view to the commands that lead there."""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.app.parts import Fields
from state.commands import ORDER_COMMANDS, OrderCommand
from state.order import Stage

_STEPS = (
    *("read_back", "confirm_order", "place_order", "accept_order", "start_preparing"),
    *("mark_ready", "complete_order"),
)
_TO_STAGE: Mapping[Stage, tuple[str, ...]] = {
    Stage.OPEN: (),
    Stage.REVIEW: _STEPS[:1],
    Stage.CONFIRMED: _STEPS[:2],
    Stage.PLACED: _STEPS[:3],
    Stage.ACCEPTED: _STEPS[:4],
    Stage.PREPARING: _STEPS[:5],
    Stage.READY: _STEPS[:6],
    Stage.COMPLETED: _STEPS,
    Stage.CANCELLED: ("cancel_order",),
    Stage.FAILED: (*_STEPS[:3], "refuse_order"),
}


def commands_to(order: Fields) -> Iterator[OrderCommand]:
    """Yield the commands that build an order with these fields, in a guest's order.

    Raises:
        pydantic.ValidationError: A field has a value that no command accepts.
    """
    for command in _commands(order.model_dump(mode="json", exclude_unset=True)):
        yield ORDER_COMMANDS.validate_python(
            {name: value for name, value in command.items() if value is not None}
        )


def _commands(order: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    customer = {
        name: order.get(field)
        for name, field in (("name", "customer_name"), ("phone", "phone"), ("email", "email"))
    }
    if any(value is not None for value in customer.values()):
        yield {"op": "set_customer", **customer}
    for name in order.get("allergies", ()):
        yield {"op": "add_allergy", "name": name}
    fulfilment = order.get("fulfilment")
    if fulfilment:
        yield {
            "op": "set_fulfilment",
            **{name: fulfilment.get(name) for name in ("kind", "when", "address")},
        }
    # Before the lines: a tip set early may exceed the limit of what was ordered since.
    if order.get("tip_percentage") is not None:
        yield {"op": "set_tip", "percentage": float(order["tip_percentage"])}
    elif order.get("tip") is not None:
        yield {"op": "set_tip", "amount": order["tip"]}
    for line in order.get("order_items", ()):
        fields = ("name", "size", "quantity", "modifications", "parts", "note")
        yield {"op": "add_item", **{name: line.get(name) or None for name in fields}}
    for note in order.get("notes", ()):
        yield {"op": "add_note", "title": note.get("title"), "content": note.get("content")}
    for code in order.get("coupons", ()):
        yield {"op": "apply_coupon", "code": code}
    if order.get("payment_method") is not None:
        yield {"op": "choose_payment", "method": order["payment_method"]}
    if order.get("person_wanted"):
        yield {"op": "call_person", "reason": "asked for earlier"}
    yield from _steps(Stage(order.get("stage") or Stage.OPEN), order)


def _steps(stage: Stage, order: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for op in _TO_STAGE[stage]:
        why = order.get("ended_reason") or "the restaurant could not"
        yield {"op": op, **({"reason": why} if op == "refuse_order" else {})}
        if op == "place_order":
            rating, comment = order.get("feedback_rating"), order.get("feedback_comment")
            if rating is not None or comment is not None:
                yield {"op": "give_feedback", "rating": rating, "comment": comment}
