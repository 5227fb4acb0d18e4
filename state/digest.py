"""The digest of an order that language models see in every turn: short, without unknown fields."""

import json
from collections.abc import Collection
from datetime import datetime

from pydantic import JsonValue

from state.allergens import met_on
from state.money import shown
from state.order import OrderLine, OrderState, Stage, Tip
from state.pricing import Bill, Charge, price
from state.stages import ORDERING, needs


def digest(order: OrderState, version: int, sold_out: Collection[str] = ()) -> str:
    """Render the order as one line of JSON, without unknown fields.

    Args:
        order: The order.
        version: Its version.
        sold_out: The names of the dishes and combos that are sold out now.

    >>> from datetime import UTC
    >>> from state.order import Terms
    >>> empty = OrderState(
    ...     order_id="a", order_number="17", restaurant_id="r", menu_version="1", currency="USD",
    ...     terms=Terms(), opened_at=datetime(2026, 11, 20, tzinfo=UTC),
    ... )
    >>> digest(empty, 0)
    '{"version":0,"stage":"open","needs":["items","fulfilment","name"]}'
    """
    known = {"version": version, **_known(order, sold_out)}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def _known(order: OrderState, sold_out: Collection[str]) -> dict[str, JsonValue]:
    facts: dict[str, JsonValue] = {
        "stage": order.stage.value,
        "number": order.order_number if order.stage not in ORDERING else None,
        "guest": order.customer_name,
        "phone": order.phone,
        "email": order.email,
    }
    if order.order_items:
        facts |= _ordered(order, price(order))
    if order.fulfilment is not None:
        fulfilment = order.fulfilment
        facts["fulfilment"] = _without_nothing(
            {
                "kind": fulfilment.kind,
                "when": _clock(fulfilment.when),
                "address": fulfilment.address,
                "ready_at": _clock(fulfilment.ready_at) if fulfilment.when is None else None,
            }
        )
    facts |= {
        "payment": order.payment_method,
        "tip": _tip(order.tip, order.currency),
        "allergies": list(order.allergies) or None,
        "notes": {note.id: f"{note.title}: {note.content}" for note in order.notes} or None,
        "rating": order.feedback_rating,
        "gone": list(order.gone) or None,
        "sold_out": _sold_out(order, sold_out) or None,
        "person_wanted": order.person_wanted or None,
        "reason": order.ended_reason if order.stage is Stage.FAILED else None,
        "needs": list(needs(order)) or None,
    }
    return _without_nothing(facts)


def _ordered(order: OrderState, bill: Bill) -> dict[str, JsonValue]:
    def amounts(charges: tuple[Charge, ...]) -> JsonValue:
        return {charge.code: shown(charge.amount, order.currency) for charge in charges} or None

    # The parts of the total are needed only for the read-back; before it they would cost tokens.
    itemised = order.stage is not Stage.OPEN and bill.total != bill.subtotal
    return {
        "items": [_line(order, line) for line in order.order_items],
        "subtotal": shown(bill.subtotal, order.currency) if itemised else None,
        "coupons": [coupon.code for coupon in order.coupons] or None,
        "discounts": amounts(bill.discounts),
        "fees": amounts(bill.fees),
        "tax": shown(bill.tax, order.currency) if itemised and bill.tax_added else None,
        "total": shown(bill.total, order.currency),
    }


def _line(order: OrderState, line: OrderLine) -> dict[str, JsonValue]:
    return _without_nothing(
        {
            "id": line.id,
            "quantity": line.quantity,
            "name": line.name,
            "size": line.size,
            "modifications": list(line.modifications) or None,
            "parts": [
                " ".join((part.size or "", part.name, *_in_brackets(part.modifications))).strip()
                for part in line.parts
            ]
            or None,
            "note": line.note,
            "allergens_met": list(met_on(order, line)) or None,
            "price": shown(line.line_total, order.currency),
            "minimum_age": line.minimum_age,
        }
    )


def _sold_out(order: OrderState, sold_out: Collection[str]) -> list[JsonValue]:
    """List what is sold out of an order that is not placed."""
    if order.stage not in ORDERING:
        return []
    names = (name for line in order.order_items for name in line.names if name in sold_out)
    return [*dict.fromkeys(names)]


def _in_brackets(words: tuple[str, ...]) -> tuple[str, ...]:
    return (f"({', '.join(words)})",) if words else ()


def _tip(tip: Tip | None, currency: str) -> str | None:
    if tip is None:
        return None
    if tip.amount is not None:
        return shown(tip.amount, currency)
    return f"{tip.percentage:f}%" if tip.percentage is not None else None


def _clock(moment: datetime | None) -> str | None:
    """A time without seconds and offset, in the restaurant's time zone."""
    return f"{moment:%Y-%m-%dT%H:%M}" if moment is not None else None


def _without_nothing(facts: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in facts.items() if value is not None}
