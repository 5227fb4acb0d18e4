"""Options and arguments of the command line, and command lines that are shown to be typed."""

import inspect
import re
import shlex
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from agents.app.app import AnyApp
from agents.app.faults import short_path

_OPTIONS = {
    "model": (
        "NAME",
        "The language model: local (default), openai (or a compatible server), or script:FILE.",
    ),
    "at": ("TIME", "Start the clock at this time: ISO 8601, the application's local time."),
    "database": ("URL", "Where {plural} are stored: sqlite:///file.db, or postgresql://..."),
}
"""The metavar and the help of the options that several commands have."""


def option(flag: str, metavar: str | None, text: str, **more: Any) -> Any:
    """Declare an option.

    Args:
        flag: As it is typed.
        metavar: What follows it; ``None`` if nothing does.
        text: Its help.
        more: As for ``typer.Option``.
    """
    return typer.Option(flag, metavar=metavar, help=text, **more)


Events = Annotated[
    bool, option("--events", None, "Write one JSON object per line, and nothing else.")
]


def one_of(names: Collection[str]) -> Callable[[str], str]:
    """Return a parser of a parameter; typer's own says in pydantic's words what is wrong."""

    def parse(text: str) -> str:
        if found := {name.lower(): name for name in names}.get(text.lower()):
            return found
        raise typer.BadParameter(f"has to be one of {', '.join(names)}")

    return parse


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of an option."""

    def parse(text: str) -> int:  # typer calls it with the default, too, which is a number
        if str(text).isdecimal() and least <= int(text) <= most:
            return int(text)
        raise typer.BadParameter(f"has to be a whole number from {least} to {most}")

    return parse


def id_argument(app: AnyApp) -> Any:
    """Return the argument that names a stored state."""
    return typer.Argument(
        metavar="ID",
        help=f"The {app.noun}'s id, or its number (the newest {app.noun} with that number).",
    )


def with_options(app: AnyApp, *names: str, own: bool = True) -> Callable[[Any], Any]:
    """Give a command these options, and those of the application; it takes them as keywords.

    Args:
        app: The application.
        names: The framework's options.
        own: Whether the command has the application's own options.
    """
    known = {**_OPTIONS, **app.command_line.options}
    chosen = [*(app.command_line.options if own else ()), *names]

    def give(command: Any) -> Any:
        signature = inspect.signature(command)
        parameters = [
            one
            for name, one in signature.parameters.items()
            if one.kind is not one.VAR_KEYWORD and name not in chosen
        ]
        for name in chosen:
            metavar, text = known[name]
            given = option(f"--{name}", metavar, text.format(plural=app.plural))
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None,
                    annotation=Annotated[str | None, given],
                )
            )
        command.__signature__ = signature.replace(parameters=parameters)
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return give


def command_typed(app: AnyApp, name: str, **options: str | None) -> str:
    """Return the command line that runs a command here, with the given options."""
    started = Path(sys.argv[0])
    words = [str(short_path(started.absolute()))]
    if started.suffix == ".py":
        words = [str(short_path(Path(sys.executable))), *shlex.split(app.command)[1:]]
    words.append(name)
    for given, value in options.items():
        if value is not None:
            words += [f"--{given}", without_password(value)]
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
