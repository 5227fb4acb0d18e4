"""The commands about stored orders: ``orders list``, ``show``, ``advance`` and ``forget``."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bella_vista.terminal.streams import complain, harmless

if TYPE_CHECKING:
    from pydantic import JsonValue

    from state.order import OrderState
    from state.shared import Moment, SqlStore

T = TypeVar("T")

FAILED = 1

orders_app = typer.Typer(
    help="Look at stored orders, move them on, forget a guest.", no_args_is_help=True
)

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Where orders are kept: sqlite:///path."),
]
OrderArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The order's id, or its number: the newest order that has it."
    ),
]


@orders_app.command("list")
def list_command(
    database: DatabaseOption = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="How many, the newest first.")
    ] = 50,
) -> None:
    """List the newest orders, each as it stands."""
    from bella_vista.orders import list_orders
    from bella_vista.orders_pages import order_list

    listed = _with_store(database, lambda store: list_orders(store, limit))
    if not listed:
        typer.echo("There are no orders.")
        return
    typer.echo(harmless(order_list(listed)))
    if any(one.order is None for one in listed):
        raise typer.Exit(FAILED)


@orders_app.command("show")
def show_command(
    order_id: OrderArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="As one JSON object: what everybody outside sees.")
    ] = False,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Also what was said, by whom and when.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Show one order."""
    from bella_vista.orders import show_order, show_talk
    from bella_vista.orders_pages import order_page

    async def read(
        store: "SqlStore",
    ) -> "tuple[OrderState, dict[str, JsonValue], list[Moment]]":
        order, seen = await show_order(store, order_id)
        return order, seen, await show_talk(store, order_id) if transcript else []

    order, seen, said = _with_store(database, read)
    page = order_page(order)
    if transcript:
        from bella_vista.terminal.kept_talk import talk_page
        from bella_vista.transcript import calls_of, transcript_data

        calls, zone = calls_of(said), order.opened_at.tzinfo
        seen |= transcript_data(calls, zone)
        page += f"\n\n{talk_page(calls, zone)}"
    typer.echo(json.dumps(seen, ensure_ascii=False, indent=2) if as_json else harmless(page))


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
        typer.Option("--menu", metavar="FILE", help="In whose country a number without one is."),
    ] = None,
) -> None:
    """Take a guest's traces out of orders, talk and logs, and prove that they are gone.

    Found are the orders on which the number or the address stood at any time. They stay without their
    guest; one that was not placed yet is cancelled. One that the kitchen has is left alone and named.
    """
    from bella_vista.forgetting import forget_guest
    from bella_vista.menus import menu_file
    from bella_vista.settings import read_settings
    from bella_vista.terminal.forgotten import failures, report
    from bella_vista.terminal.logs import log_files
    from bella_vista.traces import contact_of
    from state.menu import load_menu

    house = load_menu(menu_file(read_settings(menu=menu).menu)).restaurant
    wanted = contact_of(contact, house)
    done = _with_store(database, lambda store: forget_guest(store, wanted, log_files()))
    for line in report(done):
        typer.echo(harmless(line))
    for line in (failed := list(failures(done))):
        typer.echo(harmless(line), err=True)
    if failed:
        raise typer.Exit(FAILED)


def _with_store(database: str | None, ask: "Callable[[SqlStore], Awaitable[T]]") -> T:
    from bella_vista.orders import default_database, open_store
    from bella_vista.settings import read_settings, unknown_settings

    complain(*(f"warning: there is no setting {name}" for name in unknown_settings()))
    named = read_settings(database=database).database

    async def asked() -> T:
        # Where nobody has ordered yet there is nothing to see; a database that is named has to be there.
        store = open_store(named or default_database(), None, create=named is None)
        async with store:
            return await ask(store)

    return asyncio.run(asked())
