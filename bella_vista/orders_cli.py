"""The commands about stored orders: ``orders list``, ``show``, ``advance`` and ``forget``."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from agents.app.terminal.streams import print_error, printable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from state.order import OrderState
    from state.shared import Moment, SqlStore

T = TypeVar("T")

FAILED = 1

orders_app = typer.Typer(help="List, show, advance and erase stored orders.", no_args_is_help=True)

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Where orders are stored: sqlite:///path."),
]
OrderArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The order's id, or its number (the newest order with that number)."
    ),
]


@orders_app.command("list")
def list_command(
    database: DatabaseOption = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="How many, newest first.")
    ] = 50,
) -> None:
    """List the newest orders with their stages and totals."""
    from bella_vista.orders import list_orders
    from bella_vista.orders_pages import order_list

    listed = _with_store(database, lambda store: list_orders(store, limit))
    if not listed:
        typer.echo("There are no orders.")
        return
    typer.echo(printable(order_list(listed)))
    if any(one.order is None for one in listed):
        raise typer.Exit(FAILED)


@orders_app.command("show")
def show_command(
    order_id: OrderArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="As one JSON object: the order's public view.")
    ] = False,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Also show what was said, by whom and when.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Show one order."""
    from bella_vista.orders import show_order, show_transcript
    from bella_vista.orders_pages import order_page

    async def read(
        store: "SqlStore",
    ) -> "tuple[OrderState, dict[str, JsonValue], list[Moment]]":
        order, seen = await show_order(store, order_id)
        return order, seen, await show_transcript(store, order_id) if transcript else []

    order, seen, said = _with_store(database, read)
    page = order_page(order)
    if transcript:
        from bella_vista.terminal.transcript_page import transcript_page
        from bella_vista.transcript import group_by_call, transcript_data

        calls, zone = group_by_call(said), order.opened_at.tzinfo
        seen |= transcript_data(calls, zone)
        page += f"\n\n{transcript_page(calls, zone)}"
    typer.echo(json.dumps(seen, ensure_ascii=False, indent=2) if as_json else printable(page))


@orders_app.command("advance")
def advance_command(order_id: OrderArgument, database: DatabaseOption = None) -> None:
    """Advance an order by the kitchen's next step: accepted, preparing, ready, completed."""
    from bella_vista.orders import advance_order
    from state.shared import StateError

    try:
        order = _with_store(database, lambda store: advance_order(store, order_id))
    except StateError as refusal:
        typer.echo(refusal.message, err=True)
        raise typer.Exit(FAILED) from None
    typer.echo(f"Order {order.order_number} ({order.order_id}) is {order.stage.value} now.")


@orders_app.command("forget")
def forget_command(
    contact: Annotated[
        str,
        typer.Argument(
            metavar="PHONE_OR_EMAIL", help="The guest's telephone number or e-mail address."
        ),
    ],
    database: DatabaseOption = None,
    menu: Annotated[
        str | None,
        typer.Option(
            "--menu", metavar="FILE", help="The menu whose country numbers without one have."
        ),
    ] = None,
) -> None:
    """Erase a guest's personal data from orders, transcripts and logs, and check that it is gone.

    Finds the orders that had the number or address in any version. They are kept without their
    guest; an order that was not placed is cancelled. An order in the kitchen is left unchanged and
    named.
    """
    from agents.app.terminal.logs import log_files
    from bella_vista.forgetting import forget_guest
    from bella_vista.menus import menu_file
    from bella_vista.settings import Settings
    from bella_vista.terminal.erasure_report import failures, report
    from bella_vista.traces import contact_of
    from state.menu import load_menu

    restaurant = load_menu(menu_file(Settings.read(menu=menu).menu)).restaurant
    wanted = contact_of(contact, restaurant)
    done = _with_store(database, lambda store: forget_guest(store, wanted, log_files()))
    for line in report(done):
        typer.echo(printable(line))
    for line in (failed := list(failures(done))):
        typer.echo(printable(line), err=True)
    if failed:
        raise typer.Exit(FAILED)


def _with_store(database: str | None, ask: "Callable[[SqlStore], Awaitable[T]]") -> T:
    from bella_vista.orders import default_database, open_store
    from bella_vista.settings import Settings

    print_error(*(f"warning: there is no setting {name}" for name in Settings.unknown()))
    named = Settings.read(database=database).database

    async def asked() -> T:
        # The default database may not exist yet; a database that is named has to exist.
        store = open_store(named or default_database(), None, create=named is None)
        async with store:
            return await ask(store)

    return asyncio.run(asked())
