"""Erases the guest from an order; keeps the data that the restaurant needs for its accounts.

The fields to keep are listed here and all others are erased, including fields that are added later.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, JsonValue

from state.order import Fulfilment, OrderLine, OrderState

FORGOTTEN = "[forgotten]"
"""Replaces a telephone number or address that was erased from another guest's order."""

KEPT: Mapping[type[BaseModel], frozenset[str]] = {
    OrderState: frozenset(
        {
            *("order_id", "order_number", "restaurant_id", "menu_version", "channel", "currency"),
            *("terms", "opened_at", "stage", "times", "order_items", "lines_given", "gone"),
            *("fulfilment", "coupons", "tip", "payment_method", "feedback_rating", "person_wanted"),
        }
    ),
    OrderLine: frozenset(
        {
            *("id", "name", "size", "quantity", "chosen", "parts"),
            *("base_price", "taxes", "minimum_age", "holds"),
        }
    ),
    Fulfilment: frozenset({"kind", "when", "ready_at", "fee", "minimum"}),
}
"""The fields of an order that are kept. Dishes, choices and coupons are named in the menu's words."""

KEPT_TEXTS = frozenset(
    {"op", "line_id", "note_id", "kind", "when", "ready_at", "method", "source", "target"}
)
"""The fields of a command that hold no words of a guest: ids, choices from a fixed set, times."""


def without_guest(order: OrderState) -> OrderState:
    """Return the order without its guest's personal data."""
    kept = _kept(order)
    kept["order_items"] = tuple(OrderLine.model_validate(_kept(line)) for line in order.order_items)
    if order.fulfilment is not None:
        kept["fulfilment"] = Fulfilment.model_validate(_kept(order.fulfilment))
    return OrderState.model_validate(kept)


def with_words_cut(order: OrderState, cut: Callable[[str], str]) -> OrderState:
    """Return the order with personal data removed from its free texts only.

    Args:
        order: The order.
        cut: Returns a text without the personal data.
    """

    def cut_out(part: BaseModel) -> dict[str, Any]:
        kept = KEPT[type(part)]
        whole = part.model_dump(mode="json")
        return {name: value if name in kept else _each(value, cut) for name, value in whole.items()}

    whole = cut_out(order)
    whole["order_items"] = [cut_out(line) for line in order.order_items]
    if order.fulfilment is not None:
        whole["fulfilment"] = cut_out(order.fulfilment)
    return OrderState.model_validate(whole)


def command_with_words_cut(
    command: Mapping[str, JsonValue], cut: Callable[[str], str]
) -> dict[str, JsonValue]:
    """Return a journaled command with personal data removed from its free texts."""
    return {
        name: value if name in KEPT_TEXTS else _each(value, cut) for name, value in command.items()
    }


def _kept(part: BaseModel) -> dict[str, Any]:
    return {name: value for name, value in part if name in KEPT[type(part)]}


def _each(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    match value:
        case str():
            return change(value)
        case list():
            return [_each(one, change) for one in value]
        case dict():
            return {name: _each(one, change) for name, one in value.items()}
        case _:
            return value
