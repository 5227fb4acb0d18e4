"""The order as everybody outside sees it: plain JSON, every key always there, ``null`` for unknown."""

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from state.menu import Chosen
from state.money import shown
from state.order import Fulfilment, Note, OrderLine, OrderState
from state.pricing import Bill, Charge, price

LARGEST_VIEW = 14_500
"""How many bytes an order's view may take: old clients get no reply above 15,360."""


def view(order: OrderState, version: int, speaker: str | None) -> dict[str, JsonValue]:
    """Show an order to a page, a terminal or a kitchen.

    Args:
        order: The order.
        version: Its version.
        speaker: The agent that speaks, shown as ``active_agent``.
    """
    bill = price(order)
    return {
        "order_id": order.order_id,
        "order_number": order.order_number,
        "restaurant_id": order.restaurant_id,
        "version": version,
        "stage": order.stage.value,
        "active_agent": speaker,
        "channel": order.channel,
        "currency": order.currency,
        "customer_name": order.customer_name,
        "phone": order.phone,
        "email": order.email,
        "order_items": [line_view(line) for line in order.order_items],
        "item_count": order.item_count,
        "order_summary": summary(order),
        "subtotal": bill.subtotal,
        "discounts": _charges(bill.discounts),
        "fees": _charges(bill.fees),
        "tax": bill.tax,
        "tip": bill.tip,
        "total": bill.total,
        "tip_percentage": _number(order.tip.percentage if order.tip else None),
        "coupons": [coupon.code for coupon in order.coupons],
        "payment_method": order.payment_method,
        "fulfilment": fulfilment_view(order.fulfilment) if order.fulfilment else None,
        "notes": [note_view(note) for note in order.notes],
        "allergies": list(order.allergies),
        "feedback_rating": order.feedback_rating,
        "feedback_comment": order.feedback_comment,
        "person_wanted": order.person_wanted,
        "display": _display(order, bill),
    }


def summary(order: OrderState) -> str:
    """Say in one line what is on the order and what it comes to."""
    if not order.order_items:
        return "No items ordered yet"
    items = ", ".join(f"{line.quantity}x {line.name}" for line in order.order_items)
    return f"{items} (Total: {shown(price(order).total, order.currency)})"


def line_view(line: OrderLine) -> dict[str, JsonValue]:
    """Show one line."""
    return {
        "id": line.id,
        "name": line.name,
        "size": line.size,
        "quantity": line.quantity,
        "modifications": list(line.modifications),
        "parts": [
            {"name": part.name, "size": part.size, "modifications": list(part.modifications)}
            for part in line.parts
        ],
        "unit_price": line.unit_price,
        "line_total": line.line_total,
        "note": line.note,
    }


def note_view(note: Note) -> dict[str, JsonValue]:
    """Show one note."""
    return {
        "id": note.id,
        "title": note.title,
        "content": note.content,
        "created_at": note.created_at.isoformat(),
        "updated_at": note.updated_at.isoformat(),
    }


def fulfilment_view(fulfilment: Fulfilment) -> dict[str, JsonValue]:
    """Show how and when the guest gets the food."""
    return {
        "kind": fulfilment.kind,
        "when": _iso(fulfilment.when),
        "address": fulfilment.address,
        "ready_at": _iso(fulfilment.ready_at),
    }


def fits_in_a_reply(order: OrderState) -> bool:
    """Whether the view stays below what a client can be sent in one piece."""
    if _at_most(order) <= LARGEST_VIEW:
        return True
    # Two versions of text may differ in their digits and in who speaks: counted at their widest.
    seen = view(order, 10**9, "x" * 40)
    text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace")) <= LARGEST_VIEW


def _at_most(order: OrderState) -> int:
    """An upper bound of the view's bytes that costs a tenth of the view.

    A character takes at most four bytes; the rest are keys, amounts and signs, counted generously.
    """
    size = 1700 + 120 * (len(order.notes) + len(order.coupons))
    letters = 0
    for text in (order.customer_name, order.email, order.feedback_comment, *order.allergies):
        letters += 2 + len(text or "")
    for line in order.order_items:
        size += 340
        letters += 2 * len(line.name) + len(line.size or "") + len(line.note or "")
        if line.chosen:
            size += _chosen_at_most(line.chosen)
        for part in line.parts:
            size += 60 + 4 * (len(part.name) + len(part.size or "")) + _chosen_at_most(part.chosen)
    for note in order.notes:
        letters += len(note.title) + len(note.content)
    if order.fulfilment is not None:
        letters += len(order.fulfilment.address or "")
    return size + 4 * letters


def _chosen_at_most(chosen: Sequence[Chosen]) -> int:
    size = 0
    for one in chosen:
        # "other half", an amount and a count may stand beside the name.
        size += 60 + 4 * len(one.called or one.name)
    return size


def _charges(charges: Sequence[Charge]) -> list[JsonValue]:
    return [
        {"code": charge.code, "name": charge.name, "amount": charge.amount} for charge in charges
    ]


def _display(order: OrderState, bill: Bill) -> dict[str, JsonValue]:
    def text(amount: int) -> str:
        return shown(amount, order.currency)

    return {
        "subtotal": text(bill.subtotal),
        "tax": text(bill.tax),
        "tip": text(bill.tip),
        "total": text(bill.total),
        "order_items": {
            line.id: {"unit_price": text(line.unit_price), "line_total": text(line.line_total)}
            for line in order.order_items
        },
        "discounts": {charge.code: text(charge.amount) for charge in bill.discounts},
        "fees": {charge.code: text(charge.amount) for charge in bill.fees},
    }


def _number(value: Decimal | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
