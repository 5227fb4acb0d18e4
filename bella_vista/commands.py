"""The restaurant's own commands: ``menu check``, ``understand``, ``orders advance`` and ``orders forget``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from agents.app.app import App
from agents.app.cli import FAILED, read_settings, show_report, with_store
from agents.app.cli_options import id_argument, option, with_options
from agents.app.terminal.stdio import print_error, say

if TYPE_CHECKING:
    from bella_vista.settings import Settings
    from state.context import OrderContext
    from state.order import OrderState
    from state.shared import SqlStore


def commands_of(app: "App[OrderState, OrderContext]") -> typer.Typer:
    """Return the commands ``understand`` and ``menu check``."""
    commands = typer.Typer()
    menu_commands = typer.Typer(help="Check a menu.", no_args_is_help=True)
    commands.add_typer(menu_commands, name="menu")

    @commands.command()
    @with_options(app, "at")
    def understand(
        order: Annotated[
            str | None, option("--order", "FILE", "Start from an order: a view's fields in JSON.")
        ] = None,
        *,
        explain: Annotated[
            bool,
            option(
                "--explain",
                None,
                "Show on stderr the readings that were weighed, and what each word cost.",
            ),
        ] = False,
        **options: str | None,
    ) -> None:
        """Show how the local model understands each line, as JSON."""
        from bella_vista.understand import understand_lines

        settings = cast("Settings", read_settings(app, **options))
        file = Path(order) if order is not None else None
        understand_lines(settings, order=file, explain=explain)

    @menu_commands.command("check")
    def menu_check(
        file: Annotated[str, typer.Argument(metavar="FILE", help="A menu in YAML.")],
    ) -> None:
        """Check a menu. Lists everything that is wrong with it, with file and line."""
        from bella_vista.menus import read_menu, unknown_allergens

        menu = read_menu(Path(file))
        warnings = unknown_allergens(Path(file))
        print_error(*map(str, warnings))
        counted = (
            _number(len(menu.sections), "section"),
            _number(sum(len(section.dishes) for section in menu.sections), "dish"),
            _number(len(menu.combos), "combo"),
        )
        verdict = (
            f"no faults, {_number(len(warnings), 'warning')}" if warnings else "nothing is wrong"
        )
        say(f"{file}: {menu.restaurant.name}, {', '.join(counted)}: {verdict}")

    return commands


def _number(count: int, noun: str) -> str:
    """Return a count with its noun: "1 combo", "2 combos"."""
    from state.menu.words import plural

    return f"{count} {noun if count == 1 else plural(noun)}"


def order_commands_of(app: "App[OrderState, OrderContext]") -> typer.Typer:
    """Return the commands ``orders advance`` and ``orders forget``."""
    order_commands = typer.Typer()

    @order_commands.command("advance")
    @with_options(app, "database", own=False)
    def advance_command(
        order_id: Annotated[str, id_argument(app)], database: str | None = None
    ) -> None:
        """Advance an order by the kitchen's next step. Accepted, preparing, ready, completed."""
        from bella_vista.orders import advance_order
        from state.shared import StateError

        try:
            order = with_store(app, database, lambda store: advance_order(store, order_id))
        except StateError as refusal:
            typer.echo(refusal.message, err=True)
            raise typer.Exit(FAILED) from None
        typer.echo(f"Order {order.order_number} ({order.order_id}) is {order.stage.value} now.")

    @order_commands.command("forget")
    @with_options(app, "database", own=False)
    def forget_command(
        whom: Annotated[
            str,
            typer.Argument(
                metavar="ID_PHONE_OR_EMAIL",
                help="The order's id or number, or the telephone number or e-mail address of a guest.",
            ),
        ],
        database: str | None = None,
        menu: Annotated[
            str | None, option("--menu", "FILE", "The menu whose country numbers without one have.")
        ] = None,
    ) -> None:
        """Erase a guest's personal data. From orders, transcripts and logs; checks that it is gone.

        With a number or an address, from all orders that had it in any version. Orders are kept
        without their guest; one that was not placed is cancelled. An order in the kitchen is left
        unchanged and named.
        """
        from agents.app.forgetting import ErasureReport, forget_state
        from agents.app.states import is_id
        from agents.app.terminal.logs import log_files
        from bella_vista.forgetting import forget_guest
        from bella_vista.menus import menu_file, read_menu
        from bella_vista.traces import NoContact, contact_of

        settings = cast("Settings", read_settings(app, database=database, menu=menu))
        logs = log_files(app.name)

        async def erase(store: "SqlStore") -> ErasureReport:
            if is_id(whom):  # with its letters read as a keypad's, an id may be a telephone number
                return await forget_state(app, store, settings, whom, logs)
            try:
                contact = contact_of(whom, read_menu(menu_file(settings.menu)).restaurant)
            except NoContact:
                return await forget_state(app, store, settings, whom, logs)
            return await forget_guest(app, store, settings, contact, logs)

        show_report(with_store(app, database, erase))

    return order_commands
