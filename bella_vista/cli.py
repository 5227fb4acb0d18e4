"""The command line. Commands import what they need when they run, so that help and checks are fast.

Exit codes: 0 success, 1 it ran and something failed, 2 wrong usage, a faulty file or configuration.
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from agents.app.faults import InputError
from agents.app.importing import gc_paused
from agents.app.terminal.streams import make_streams_safe, print_error, say
from bella_vista.layout import foreign_packages
from bella_vista.orders_cli import orders_app

if TYPE_CHECKING:
    from bella_vista.settings import Settings

FAILED, WRONG = 1, 2

app = typer.Typer(
    name="bella_vista",
    help="Bella Vista: a restaurant whose four agents take one order.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
menu_app = typer.Typer(help="Check a menu.", no_args_is_help=True)
app.add_typer(menu_app, name="menu")
app.add_typer(orders_app, name="orders")

MenuOption = Annotated[
    str | None,
    typer.Option("--menu", metavar="FILE", help="The menu; Bella Vista's own by default."),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The language model: local (default), openai (or a compatible server), or script:FILE.",
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME",
        help="Start the clock at this time: ISO 8601, the restaurant's time.",
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Where orders are stored: sqlite:///path."),
]


class Picture(StrEnum):
    """The output formats of the graph."""

    MERMAID = "mermaid"
    DOT = "dot"
    TEXT = "text"


@app.command()
def console(
    menu: MenuOption = None,
    model: ModelOption = None,
    at: AtOption = None,
    database: DatabaseOption = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="ID", help="Continue a stored order.")
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Write one JSON object per line, and nothing else.")
    ] = False,
) -> None:
    """Have a conversation in the terminal: type, or pipe one guest turn per line."""
    settings = _settings(menu=menu, model=model, at=at, database=database)
    with gc_paused():
        from bella_vista.console import run_console

    again = _command("console", menu=menu, database=database)
    raise typer.Exit(run_console(settings, order_id=order, events=events, again=again))


@app.command()
def understand(menu: MenuOption = None, at: AtOption = None) -> None:
    """Show how the local model understands each line of the input, as JSON."""
    settings = _settings(menu=menu, at=at)
    from bella_vista.understand import understand_lines

    understand_lines(settings)


@menu_app.command("check")
def menu_check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A menu in YAML.")],
) -> None:
    """Check a menu and list everything that is wrong with it, with file and line."""
    from state.menu import load_menu

    menu = load_menu(Path(file))
    dishes = sum(len(section.dishes) for section in menu.sections)
    say(
        f"{file}: {menu.restaurant.name}, {len(menu.sections)} sections, {dishes} dishes,"
        f" {len(menu.combos)} combos: nothing is wrong"
    )


@app.command()
def graph(
    picture: Annotated[
        Picture, typer.Option("--format", help="The output format.", case_sensitive=False)
    ] = Picture.MERMAID,
) -> None:
    """Draw the graph of handoffs between the agents."""
    from agents.handoff import dot, mermaid, outline
    from agents.roster import restaurant_graph

    draw = {Picture.MERMAID: mermaid, Picture.DOT: dot, Picture.TEXT: outline}[picture]
    say(draw(restaurant_graph()))


class Schema(StrEnum):
    """The schemas there are."""

    MENU = "menu"
    RPC = "rpc"
    CONVERSATION = "conversation"


@app.command()
def schema(
    what: Annotated[
        Schema | None, typer.Argument(help="Which schema; lists them without it.")
    ] = None,
) -> None:
    """Write the JSON Schema of a file format or of the RPC, for editors and other programs."""
    import json

    if what is None:
        for known in Schema:
            say(known.value)
        return
    if what is Schema.MENU:
        from state.menu import menu_schema

        found = menu_schema()
    elif what is Schema.RPC:
        from rpc.contract import contract

        found = contract()
    else:
        from bella_vista.conversations import conversation_schema

        found = conversation_schema()
    say(json.dumps(found, indent=2, ensure_ascii=False))


@app.command()
def replay(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Conversations in YAML.")],
    menu: MenuOption = None,
    model: ModelOption = None,
    at: AtOption = None,
) -> None:
    """Replay conversations from files and report every expectation that does not hold."""
    settings = _settings(menu=menu, model=model, at=at)
    from bella_vista.replay import replay as run_replay

    paths = [Path(file) for file in files]
    raise typer.Exit(run_replay(paths, settings, model=model))


@app.command()
def start(
    menu: MenuOption = None,
    model: ModelOption = None,
    at: AtOption = None,
    database: DatabaseOption = None,
) -> None:
    """Serve rooms: accept calls from a LiveKit server until SIGTERM, then drain."""
    _export_options(menu=menu, model=model, at=at, database=database, serving=True)
    from bella_vista.serving.worker_process import run_worker

    raise typer.Exit(run_worker())


@app.command()
def dev(
    menu: MenuOption = None,
    model: ModelOption = None,
    at: AtOption = None,
    database: DatabaseOption = None,
    server: Annotated[
        Path | None,
        typer.Option(
            "--server",
            metavar="FILE",
            help="Run this LiveKit server program meanwhile, on this machine only.",
        ),
    ] = None,
) -> None:
    """Serve rooms during development: the worker restarts when a file changes; no call is cut off."""
    _export_options(menu=menu, model=model, at=at, database=database, serving=server is None)
    from bella_vista.serving.reloading import run_dev

    raise typer.Exit(run_dev(server=server))


@app.command()
def join(
    room: Annotated[
        str | None,
        typer.Option("--room", metavar="NAME", help="The room to join; a new one by default."),
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--identity", metavar="ID", help="Your identity in the room; a new one by default."
        ),
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="CODE", help="Resume an order by its code.")
    ] = None,
    rpc: Annotated[
        tuple[str, str] | None,
        typer.Option("--rpc", metavar="METHOD JSON", help="Make one call and print its reply."),
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Write one JSON object per line, and nothing else.")
    ] = False,
) -> None:
    """Join a room of the LiveKit server as a user: type, or pipe one user turn per line."""
    from bella_vista.settings import Settings

    settings = Settings.read_for_rooms()
    from bella_vista.guest.command import run_call, run_guest

    if rpc is not None:
        method, payload = rpc
        code = run_call(settings, method, payload, room=room, identity=identity, resume_code=resume)
    else:
        code = run_guest(
            settings,
            room=room,
            identity=identity,
            resume_code=resume,
            events=events,
            again=_command("join"),
        )
    raise typer.Exit(code)


@app.command()
def doctor(
    menu: MenuOption = None, model: ModelOption = None, database: DatabaseOption = None
) -> None:
    """Check everything a call needs; report what is wrong and how to fix it."""
    from bella_vista.doctor import run_doctor

    raise typer.Exit(run_doctor(menu=menu, model=model, database=database))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; errors of the user are reported in plain lines."""
    if wrong := foreign_packages():
        print_error(*wrong)
        sys.exit(WRONG)
    make_streams_safe()
    try:
        app(args=arguments)
    except Exception as error:
        from state.menu import MenuFaults

        if not isinstance(error, InputError | MenuFaults):
            raise
        print_error(*map(str, error.faults))
        sys.exit(WRONG)
    sys.exit(0)


def _settings(**options: object) -> "Settings":
    from bella_vista.settings import Settings

    print_error(*(f"warning: there is no setting {name}" for name in Settings.unknown()))
    return Settings.read(**options)


def _export_options(*, serving: bool, **options: str | None) -> None:
    """Validate options and put them into the environment, where a worker's processes read them."""
    from bella_vista.settings import Settings

    print_error(*(f"warning: there is no setting {name}" for name in Settings.unknown()))
    if serving:
        from bella_vista.serving.worker_process import checked_settings

        checked_settings(**options)
    else:
        Settings.read(**options)
    for option, value in options.items():
        if value is not None:
            os.environ[Settings.variable(option)] = value


def _command(name: str, **options: str | None) -> str:
    """Return the command line that runs a command here, with the given options."""
    started = Path(sys.argv[0])
    words = [_short(started)]
    if started.name == "__main__.py":
        words = [_short(Path(sys.executable)), "-m", "bella_vista"]
    words.append(name)
    for option, value in options.items():
        if value is not None:
            words += [f"--{option}", without_password(value)]
    return shlex.join(words)


def without_password(value: str) -> str:
    """Return a database's address without its password, to be shown on a screen.

    >>> without_password("postgresql://bella:p@ss@host/orders?password=x&sslmode=require")
    'postgresql://bella@host/orders?sslmode=require'
    >>> without_password("sqlite:///orders.db")
    'sqlite:///orders.db'
    """
    value = re.sub(r"^(\w[\w+]*://[^:/@]*):.*@", r"\1@", value)
    value = re.sub(r"(?<=[?&])password=[^&]*&?", "", value)
    return value.rstrip("?&")


def _short(path: Path) -> str:
    with suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
