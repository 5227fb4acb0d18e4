"""The commands that look at stored orders and move them on: ``orders list``, ``show`` and ``advance``."""

import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from bella_vista.orders import ListedOrder
    from state.order import OrderState
    from state.shared import SqlStore

T = TypeVar("T")

FAILED = 1

WIDE = 200
"""How wide a table may get where nobody sees it on a screen."""

orders_app = typer.Typer(help="Look at stored orders and move them on.", no_args_is_help=True)

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Where orders are kept: sqlite:///path."),
]
OrderArgument = Annotated[str, typer.Argument(metavar="ID", help="The order's id.")]


@orders_app.command("list")
def list_command(
    database: DatabaseOption = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="How many, the newest first.")
    ] = 50,
) -> None:
    """List the newest orders, each as it stands."""
    from bella_vista.orders import list_orders

    listed = _with_store(database, lambda store: list_orders(store, limit))
    if not listed:
        typer.echo("There are no orders.")
        return
    typer.echo(_table(listed))
    if any(one.order is None for one in listed):
        raise typer.Exit(FAILED)


@orders_app.command("show")
def show_command(
    order_id: OrderArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="As one JSON object: what everybody outside sees.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Show one order."""
    from bella_vista.orders import show_order

    order, seen = _with_store(database, lambda store: show_order(store, order_id))
    if as_json:
        typer.echo(json.dumps(seen, ensure_ascii=False, indent=2))
    else:
        typer.echo(_page(order))


@orders_app.command("advance")
def advance_command(order_id: OrderArgument, database: DatabaseOption = None) -> None:
    """Take the kitchen's next step: accepted, preparing, ready, completed."""
    from bella_vista.orders import advance_order
    from state.shared import StateError

    try:
        order = _with_store(database, lambda store: advance_order(store, order_id))
    except StateError as refusal:
        typer.echo(refusal.message, err=True)
        raise typer.Exit(FAILED) from None
    typer.echo(f"Order {order.order_number} ({order.order_id}) is {order.stage.value} now.")


def _with_store(database: str | None, ask: "Callable[[SqlStore], Awaitable[T]]") -> T:
    from bella_vista.orders import default_database, open_store
    from bella_vista.settings import read_settings

    named = read_settings(database=database).database

    async def asked() -> T:
        # Where nobody has ordered yet there is nothing to see; a database that is named has to be there.
        store = open_store(named or default_database(), None, create=named is None)
        async with store:
            return await ask(store)

    return asyncio.run(asked())


def _table(listed: "Sequence[ListedOrder]") -> str:
    from rich.table import Table

    from state.money import shown
    from state.pricing import price
    from state.view import summary

    several = len({one.order.restaurant_id for one in listed if one.order is not None}) > 1
    heads = ["No.", "Order", *(["Restaurant"] if several else []), "Stage", "Opened", "Guest"]
    table = Table(*heads, "What", box=None, pad_edge=False)
    table.add_column("Total", justify="right", no_wrap=True)
    for column in table.columns[:2]:
        column.no_wrap = True
    for one in listed:
        order = one.order
        if order is None:
            blank = [""] * (len(heads) - 3)
            table.add_row("", one.order_id, "?", *blank, f"cannot be read: {one.fault}", "")
            continue
        table.add_row(
            order.order_number,
            order.order_id,
            *([order.restaurant_id] if several else []),
            order.stage.value,
            f"{order.opened_at:%Y-%m-%d %H:%M}",
            order.customer_name or "",
            summary(order).rpartition(" (Total")[0] if order.order_items else "nothing yet",
            shown(price(order).total, order.currency),
        )
    return _rendered(table)


def _page(order: "OrderState") -> str:
    from rich.table import Table

    from state.money import shown
    from state.pricing import price

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
    lines.add_row("Subtotal", money(bill.subtotal))
    for discount in bill.discounts:
        lines.add_row(discount.name, money(-discount.amount))
    for fee in bill.fees:
        lines.add_row(fee.name, money(fee.amount))
    lines.add_row("Tax" if bill.tax_added else "Tax, included", money(bill.tax))
    lines.add_row("Tip", money(bill.tip) if order.tip is not None else "not asked yet")
    lines.add_row("Total", money(bill.total))
    return "\n".join([*_heading(order), "", _rendered(lines), "", *_about(order)]).rstrip()


def _heading(order: "OrderState") -> Iterable[str]:
    yield f"Order {order.order_number} ({order.order_id}): {order.stage.value}"
    yield f"Opened {order.opened_at:%Y-%m-%d %H:%M} at {order.restaurant_id}, by {order.channel}"
    guest = [text for text in (order.customer_name, order.phone, order.email) if text]
    yield f"Guest: {', '.join(guest) or 'not known yet'}"
    wanted = order.fulfilment
    if wanted is None:
        yield "Pickup or delivery: not known yet"
        return
    where = f" to {wanted.address}" if wanted.address else ""
    yield f"{wanted.kind.capitalize()}{where}, ready at {wanted.ready_at:%Y-%m-%d %H:%M}"


def _about(order: "OrderState") -> Iterable[str]:
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


def _rendered(table: object) -> str:
    """Lay a table out as text: as wide as the screen, or as it needs to be where there is none."""
    from io import StringIO

    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    # Plain text all through: what a guest wrote is no markup.
    console = Console(
        file=StringIO(), width=width, markup=False, emoji=False, highlight=False, no_color=True
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))
