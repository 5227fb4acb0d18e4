"""What an order is without its guest: what the house has to account for, and nothing about them.

What stays is named here, and all else goes: a field that somebody adds later is taken out until it is
named as well.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, JsonValue

from state.order import Fulfilment, OrderLine, OrderState

FORGOTTEN = "[forgotten]"
"""What stands in another guest's order where a number or an address was cut out."""

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
"""What stays of an order. Dishes, choices and coupons stand there in the menu's words, not in the guest's."""

KEPT_TEXTS = frozenset(
    {"op", "line_id", "note_id", "kind", "when", "ready_at", "method", "source", "target"}
)
"""The fields of a command whose texts are no words of a guest: ids, choices between a few, times."""


def without_guest(order: OrderState) -> OrderState:
    """Return the order as it stays when its guest is forgotten."""
    kept = _kept(order)
    kept["order_items"] = tuple(OrderLine.model_validate(_kept(line)) for line in order.order_items)
    if order.fulfilment is not None:
        kept["fulfilment"] = Fulfilment.model_validate(_kept(order.fulfilment))
    return OrderState.model_validate(kept)


def with_words_cut(order: OrderState, cut: Callable[[str], str]) -> OrderState:
    """Return the order with something cut out of what people wrote on it; all else stays.

    Args:
        order: The order.
        cut: Returns a text without it.
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
    """Return a command, as a journal has it, with something cut out of the words in it."""
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
