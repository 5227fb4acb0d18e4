"""Formats stored orders as text, for a terminal or a file."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from agents.app.parts import ListedState
from agents.app.state_pages import rendered, width
from state.allergens import met_on
from state.money import shown
from state.order import OrderState
from state.pricing import price
from state.stages import ENDED
from state.view import summary

_NAME = 16
"""How many characters of a guest's name the list shows."""


def order_list(listed: Sequence[ListedState[OrderState]]) -> str:
    """Format orders as a table."""
    several = len({one.state.restaurant_id for one in listed if one.state is not None}) > 1
    heads = ["No.", "Order", *(["Restaurant"] if several else []), "Stage", "Opened", "Guest"]
    table = Table(*heads, "What", box=None, pad_edge=False)
    table.add_column("Total", justify="right", no_wrap=True)
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    for one in listed:
        order = one.state
        if order is None:
            blank = [""] * (len(heads) - 3)
            table.add_row("", one.id, "?", *blank, "cannot be read", "")
            continue
        table.add_row(
            order.order_number,
            order.order_id,
            *([order.restaurant_id] if several else []),
            order.stage.value,
            f"{order.opened_at:%Y-%m-%d %H:%M}",
            _cut(order.customer_name or ""),
            summary(order).rpartition(" (Total")[0] if order.order_items else "nothing yet",
            shown(price(order).total, order.currency),
        )
    what = table.columns[-2]  # this column is cut if there is not enough room
    others = [column for column in table.columns if column is not what]
    taken = sum(max(len(str(cell)) + 2 for cell in column.cells) for column in others)
    what.max_width = max(len("What"), width() - taken - 2)
    return rendered(table)


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def order_page(order: OrderState) -> str:
    """Format one order with everything known about it."""

    def money(amount: int) -> str:
        return shown(amount, order.currency)

    bill = price(order)
    lines = Table.grid("", "", padding=(0, 3))
    lines.columns[1].justify = "right"
    lines.columns[1].no_wrap = True
    for line in order.order_items:
        size = f", {line.size}" if line.size else ""
        lines.add_row(f"{line.id}  {line.quantity} x {line.name}{size}", money(line.line_total))
        for more in _more_of(line.modifications, line.note):
            lines.add_row(f"      {more}", "")
        for part in line.parts:
            size = f", {part.size}" if part.size else ""
            lines.add_row(f"      {', '.join([part.name + size, *part.modifications])}", "")
        if met := met_on(order, line):
            lines.add_row(f"      allergy: {', '.join(met)}", "")
    lines.add_row("Subtotal", money(bill.subtotal))
    for discount in bill.discounts:
        lines.add_row(discount.name, money(-discount.amount))
    for fee in bill.fees:
        lines.add_row(fee.name, money(fee.amount))
    lines.add_row("Tax" if bill.tax_added else "Tax, included", money(bill.tax))
    lines.add_row("Tip", money(bill.tip) if order.tip is not None else "not asked yet")
    lines.add_row("Total", money(bill.total))
    return "\n".join([*_heading(order), "", rendered(lines), "", *_about(order)]).rstrip()


def _heading(order: OrderState) -> Iterable[str]:
    yield f"Order {order.order_number} ({order.order_id}): {order.stage.value}"
    yield f"Opened {order.opened_at:%Y-%m-%d %H:%M} at {order.restaurant_id}, by {order.channel}"
    guest = [text for text in (order.customer_name, order.phone, order.email) if text]
    unknown = "not known" if order.stage in ENDED else "not known yet"
    yield f"Guest: {', '.join(guest) or unknown}"
    wanted = order.fulfilment
    if wanted is None:
        yield f"Pickup or delivery: {unknown}"
        return
    where = f" to {wanted.address}" if wanted.address else ""
    yield f"{wanted.kind.capitalize()}{where}, ready at {wanted.ready_at:%Y-%m-%d %H:%M}"


def _about(order: OrderState) -> Iterable[str]:
    if order.payment_method is not None:
        yield f"Payment: {order.payment_method}, at handover"
    if order.allergies:
        yield f"Allergies: {', '.join(order.allergies)}"
    for note in order.notes:
        yield f"Note: {note.title}: {note.content}"
    if order.person_wanted:
        yield f"A person is wanted: {order.person_reason or 'no reason given'}"
    if order.ended_reason is not None:
        yield f"Ended because: {order.ended_reason}"
    if order.feedback_rating is not None:
        yield f"Rated {order.feedback_rating} of 5"
    if order.feedback_comment:
        yield f"Comment: {order.feedback_comment}"


def _more_of(modifications: Sequence[str], note: str | None) -> Iterable[str]:
    if modifications:
        yield ", ".join(modifications)
    if note:
        yield f"note: {note}"
