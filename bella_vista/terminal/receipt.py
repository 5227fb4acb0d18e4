"""The order as rows of a receipt, for the screen and as plain text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import Literal

from state.money import shown
from state.order import Fulfilment, OrderLine, OrderState, Stage
from state.pricing import price
from state.privacy.text import clean

STAGES = {
    Stage.OPEN: "open",
    Stage.REVIEW: "read back, not confirmed yet",
    Stage.CONFIRMED: "confirmed, not placed yet",
    Stage.PLACED: "placed",
    Stage.ACCEPTED: "accepted by the kitchen",
    Stage.PREPARING: "being prepared",
    Stage.READY: "ready",
    Stage.COMPLETED: "completed",
    Stage.CANCELLED: "cancelled",
    Stage.FAILED: "failed",
}

Kind = Literal["line", "detail", "sum", "total", "fact"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a receipt: a text, and an optional amount on the right."""

    text: str
    amount: str = ""
    kind: Kind = "fact"


def receipt(order: OrderState) -> tuple[Row, ...]:
    """Return an order as rows."""
    return (*_lines(order), *_sums(order), *_facts(order))


def as_text(rows: Iterable[Row], width: int = 46) -> str:
    """Format rows as plain text, amounts on the right.

    >>> print(as_text([Row("2 x Margherita", "$18.00", "line"), Row("no basil", kind="detail")], 26))
    2 x Margherita      $18.00
        no basil
    """
    return "\n".join(line for row in rows for line in _set(row, width))


def _set(row: Row, width: int) -> Sequence[str]:
    indent = "    " if row.kind in ("line", "detail") else ""
    first = indent if row.kind == "detail" else ""
    room = max(10, width - (len(row.amount) + 2 if row.amount else 0))
    lines = wrap(row.text, room, initial_indent=first, subsequent_indent=indent) or [""]
    if row.amount:
        lines[0] = f"{lines[0]:<{width - len(row.amount)}}{row.amount}"
    return lines


def _lines(order: OrderState) -> Iterator[Row]:
    for line in order.order_items:
        name = f"{line.quantity} x {line.name}" + (f", {line.size}" if line.size else "")
        yield Row(name, shown(line.line_total, order.currency), "line")
        yield from (Row(clean(detail), kind="detail") for detail in _details(line))
    if not order.order_items:
        yield Row("Nothing ordered yet")


def _details(line: OrderLine) -> Iterator[str]:
    if line.modifications:
        yield ", ".join(line.modifications)
    for part in line.parts:
        name = part.name + (f", {part.size}" if part.size else "")
        yield f"{name}: {', '.join(part.modifications)}" if part.modifications else name
    if line.note:
        yield f'"{line.note}"'


def _sums(order: OrderState) -> Iterator[Row]:
    if not order.order_items:
        return
    bill = price(order)
    charges = (*bill.discounts, *bill.fees)
    if charges or bill.tax or order.tip is not None:
        yield Row("Subtotal", shown(bill.subtotal, order.currency), "sum")
    for discount in bill.discounts:
        yield Row(discount.name, f"-{shown(discount.amount, order.currency)}", "sum")
    for fee in bill.fees:
        yield Row(fee.name, shown(fee.amount, order.currency), "sum")
    if bill.tax and bill.tax_added:
        yield Row("Tax", shown(bill.tax, order.currency), "sum")
    if order.tip is not None:
        share = order.tip.percentage
        name = f"Tip, {share.normalize():f} %" if share else "Tip"
        yield Row(name, shown(bill.tip, order.currency), "sum")
    yield Row("Total", shown(bill.total, order.currency), "total")
    if bill.tax and not bill.tax_added:
        yield Row("of which tax", shown(bill.tax, order.currency), "sum")


def _facts(order: OrderState) -> Iterator[Row]:
    if order.fulfilment is not None:
        yield from (Row(fact) for fact in _fulfilment(order.fulfilment))
    if order.payment_method is not None:
        yield Row(f"To be paid by {order.payment_method} at handover")
    guest = [text for text in (order.customer_name, order.phone, order.email) if text]
    if guest:
        yield Row(f"For {', '.join(map(clean, guest))}")
    if order.allergies:
        yield Row(f"Allergies: {', '.join(map(clean, order.allergies))}")
    for note in order.notes:
        yield Row(clean(f"Note, {note.title}: {note.content}"))
    if order.feedback_rating is not None:
        yield Row(f"Rated {order.feedback_rating} of 5")
    if order.person_wanted:
        yield Row("A person has been asked to help")


def _fulfilment(fulfilment: Fulfilment) -> Iterator[str]:
    name = "Pickup" if fulfilment.kind == "pickup" else "Delivery"
    where = f" to {clean(fulfilment.address)}" if fulfilment.address else ""
    if fulfilment.when is not None:
        yield f"{name}{where}, {_moment(fulfilment.when)}"
    else:
        yield f"{name}{where}, as soon as possible: {_moment(fulfilment.ready_at)}"


def _moment(moment: datetime) -> str:
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"
