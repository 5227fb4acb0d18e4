"""The public view of an order: plain JSON with every key present, ``null`` for unknown.

The same types describe the rendered view, the payloads, and the RPC contract.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from state.allergens import met_on, most_met
from state.menu import Chosen
from state.money import plain_number, shown
from state.order import Channel, Fulfilment, Note, OrderLine, OrderState, Stage
from state.order_parts import stage_part
from state.pricing import Bill, Charge, price

LARGEST_VIEW = 14_500
"""The largest view, in bytes: older clients accept no reply above 15,360."""

Amount = Annotated[int, Field(description="Money in the currency's smallest unit.")]
Iso = Annotated[str, Field(description="ISO 8601 with its offset.")]

_complete = with_config(ConfigDict(extra="forbid"))


@_complete
class PartView(TypedDict):
    """One dish within a combo."""

    name: str
    size: str | None
    modifications: list[str]


@_complete
class LineView(TypedDict):
    """One line of the order."""

    id: Annotated[str, Field(description="Short and never reused: L1, L2, ...")]
    name: Annotated[str, Field(description="The name of the dish or combo on the menu.")]
    size: str | None
    quantity: int
    modifications: Annotated[list[str], Field(description="In the menu's words.")]
    parts: Annotated[list[PartView], Field(description="The parts of a combo; else empty.")]
    unit_price: Annotated[Amount, Field(description="With modifications, before discounts.")]
    line_total: Amount
    note: str | None
    allergens_met: Annotated[
        list[str], Field(description="The families of the guest's allergies that it holds.")
    ]


@_complete
class ChargeView(TypedDict):
    """A discount or a fee; the amount is above 0."""

    code: str
    name: str
    amount: Amount


@_complete
class FulfilmentView(TypedDict):
    """How and when the guest receives the food."""

    kind: Literal["pickup", "delivery"]
    when: Annotated[Iso | None, Field(description="null: as soon as possible.")]
    address: str | None
    ready_at: Annotated[Iso, Field(description="The estimated time at which it is ready.")]


@_complete
class NoteView(TypedDict):
    """A note to the restaurant that belongs to no line."""

    id: str
    title: str
    content: str
    created_at: Iso
    updated_at: Iso


@_complete
class LineAmounts(TypedDict):
    """A line's amounts as text."""

    unit_price: str
    line_total: str


@_complete
class Display(TypedDict):
    """Every amount as text in the restaurant's currency: ``$28.47``."""

    subtotal: str
    tax: str
    tip: str
    total: str
    order_items: Annotated[dict[str, LineAmounts], Field(description="By the line's id.")]
    discounts: Annotated[dict[str, str], Field(description="By code.")]
    fees: Annotated[dict[str, str], Field(description="By code.")]


@_complete
class OrderView(TypedDict):
    """The order as clients see it."""

    order_id: str
    order_number: Annotated[str, Field(description="Short enough to say aloud.")]
    restaurant_id: str
    version: Annotated[int, Field(description="0 at the start; each change adds 1.")]
    stage: Stage
    active_agent: Annotated[str | None, Field(description="The agent that is active.")]
    channel: Channel
    currency: str
    customer_name: str | None
    phone: Annotated[str | None, Field(description="E.164; empty: the guest declined to give one.")]
    email: str | None
    order_items: list[LineView]
    item_count: int
    order_summary: str
    subtotal: Amount
    discounts: list[ChargeView]
    fees: list[ChargeView]
    tax: Amount
    tip: Amount
    total: Amount
    tip_percentage: int | float | None
    coupons: Annotated[list[str], Field(description="Their codes.")]
    payment_method: Literal["cash", "card"] | None
    fulfilment: FulfilmentView | None
    notes: list[NoteView]
    allergies: list[str]
    feedback_rating: int | None
    feedback_comment: str | None
    person_wanted: bool
    ended_reason: Annotated[
        str | None, Field(description="Why the restaurant refused it, in the staff's words.")
    ]
    stage_times: Annotated[
        dict[str, Iso], Field(description="When each stage was last reached, by stage.")
    ]
    display: Display


def view(order: OrderState, version: int, speaker: str | None) -> dict[str, JsonValue]:
    """Render the view of an order.

    Args:
        order: The order.
        version: Its version.
        speaker: The active agent, rendered as ``active_agent``.
    """
    bill = price(order)
    percentage = order.tip.percentage if order.tip else None
    seen: OrderView = {
        "order_id": order.order_id,
        "order_number": order.order_number,
        "restaurant_id": order.restaurant_id,
        "version": version,
        "stage": cast(Stage, order.stage.value),
        "active_agent": speaker,
        "channel": order.channel,
        "currency": order.currency,
        "customer_name": order.customer_name,
        "phone": order.phone,
        "email": order.email,
        "order_items": [line_view(order, line) for line in order.order_items],
        "item_count": order.item_count,
        "order_summary": summary(order),
        "subtotal": bill.subtotal,
        "discounts": _charges(bill.discounts),
        "fees": _charges(bill.fees),
        "tax": bill.tax,
        "tip": bill.tip,
        "total": bill.total,
        "tip_percentage": None if percentage is None else plain_number(percentage),
        "coupons": [coupon.code for coupon in order.coupons],
        "payment_method": order.payment_method,
        "fulfilment": fulfilment_view(order.fulfilment) if order.fulfilment else None,
        "notes": [note_view(note) for note in order.notes],
        "allergies": list(order.allergies),
        "feedback_rating": order.feedback_rating,
        "feedback_comment": order.feedback_comment,
        "person_wanted": order.person_wanted,
        "ended_reason": order.ended_reason,
        "stage_times": stage_times(order),
        "display": _display(order, bill),
    }
    return cast("dict[str, JsonValue]", seen)


def stage_times(order: OrderState) -> dict[str, str]:
    """Render when each stage was last reached; of orders of earlier releases only the first is known."""
    reached = {
        stage.value: times.updated_at
        for stage in Stage
        if (times := order.times.get(stage_part(stage))) is not None
    }
    return {
        stage: at.isoformat()
        for stage, at in {Stage.OPEN.value: order.opened_at, **reached}.items()
    }


def summary(order: OrderState) -> str:
    """Render the items and the total in one line."""
    if not order.order_items:
        return "No items ordered yet"
    items = ", ".join(f"{line.quantity}x {line.name}" for line in order.order_items)
    return f"{items} (Total: {shown(price(order).total, order.currency)})"


def line_view(order: OrderState, line: OrderLine) -> LineView:
    """Render one line."""
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
        "allergens_met": list(met_on(order, line)),
    }


def note_view(note: Note) -> NoteView:
    """Render one note."""
    return {
        "id": note.id,
        "title": note.title,
        "content": note.content,
        "created_at": note.created_at.isoformat(),
        "updated_at": note.updated_at.isoformat(),
    }


def fulfilment_view(fulfilment: Fulfilment) -> FulfilmentView:
    """Render the fulfilment."""
    return {
        "kind": fulfilment.kind,
        "when": fulfilment.when.isoformat() if fulfilment.when is not None else None,
        "address": fulfilment.address,
        "ready_at": fulfilment.ready_at.isoformat(),
    }


def fits_in_a_reply(order: OrderState) -> bool:
    """Whether the view fits in one reply to a client."""
    if _at_most(order) <= LARGEST_VIEW:
        return True
    # The version and the active agent vary, so count their widest forms.
    seen = view(order, 10**9, "x" * 40)
    text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace")) <= LARGEST_VIEW


def _at_most(order: OrderState) -> int:
    """Return an upper bound of the view's size in bytes, ten times faster than rendering it.

    A character takes at most four bytes; the rest of a form depends only on its keys.
    """
    size = _ORDER + _NOTE * len(order.notes) + _LINE * len(order.order_items)
    letters = len(order.order_id) + len(order.restaurant_id) + len(order.order_number)
    texts = (order.customer_name, order.email, order.feedback_comment, order.ended_reason)
    for text in (*texts, *order.allergies):
        size += _WIDEST
        letters += len(text or "")
    for coupon in order.coupons:
        size += _CHARGE
        letters += 4 * len(coupon.code)  # in the list, and in the charge's code, name and key
    size += len(order.order_items) * most_met(order.allergies)
    for line in order.order_items:
        letters += 2 * len(line.name) + len(line.size or "") + len(line.note or "")
        if line.chosen:
            size += _chosen_at_most(line.chosen)
        for part in line.parts:
            size += _PART + 4 * (len(part.name) + len(part.size or ""))
            size += _chosen_at_most(part.chosen)
    for note in order.notes:
        letters += len(note.id) + len(note.title) + len(note.content)
    if order.fulfilment is not None:
        letters += len(order.fulfilment.address or "")
    return size + 4 * letters


def _chosen_at_most(chosen: Sequence[Chosen]) -> int:
    size = 0
    for one in chosen:
        # "other half" and a count may precede the name.
        size += 2 * _WIDEST + 4 * (len(one.called or one.name) + len(one.amount or ""))
    return size


def _frame(*forms: Any) -> int:
    """Return the maximum size of forms without their texts and lists, in bytes."""
    return sum(len(key) + 4 + _WIDEST for form in forms for key in form.__annotations__)


_WIDEST = 20
"""The maximum size of a number, an amount as text, ``null``, half a time, or a text's quotes, in bytes."""
_PART = _frame(PartView)
_LINE = _frame(LineView, LineAmounts) + 2 * _WIDEST  # its place in the summary and the display
_NOTE = _frame(NoteView) + 2 * _WIDEST
_CHARGE = _frame(ChargeView) + 4 * _WIDEST  # its place among the codes and in the display, its name
_STAGES = sum(len(stage) + 4 + 2 * _WIDEST for stage in Stage)
_ORDER = (
    _frame(OrderView, Display, FulfilmentView) + _CHARGE + 4 * _WIDEST + _STAGES
)  # the fee, the times


def _charges(charges: Sequence[Charge]) -> list[ChargeView]:
    return [
        {"code": charge.code, "name": charge.name, "amount": charge.amount} for charge in charges
    ]


def _display(order: OrderState, bill: Bill) -> Display:
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
