"""Options and arguments of the command line, and command lines to show to the user."""

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
from agents.app.setting_values import flag

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
        flag: Its name on the command line.
        metavar: The name of its value in the help; ``None`` if it takes none.
        text: Its help.
        more: As for ``typer.Option``.
    """
    return typer.Option(flag, metavar=metavar, help=text, **more)


Events = Annotated[
    bool, option("--events", None, "Write one JSON object per line, and nothing else.")
]


def one_of(names: Collection[str]) -> Callable[[str], str]:
    """Return a parser that accepts one of these names, in any case, with a readable error."""

    def parse(text: str) -> str:
        if found := {name.lower(): name for name in names}.get(text.lower()):
            return found
        raise typer.BadParameter(f"has to be one of {', '.join(names)}")

    return parse


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of a whole number in a range."""

    def parse(text: str) -> int:  # typer also passes the default, a number
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
    """Add options to a command, which takes them as keyword arguments.

    Args:
        app: The application.
        names: The framework's options.
        own: Whether to add the application's own options too.
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
            given = option(flag(name), metavar, text.format(plural=app.plural))
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
            words += [flag(given), without_password(value)]
    return shlex.join(words)


def without_password(value: str) -> str:
    """Return a database's address without its password.

    >>> without_password("postgresql://bella:p@ss@host/orders?password=x&sslmode=require")
    'postgresql://bella@host/orders?sslmode=require'
    >>> without_password("sqlite:///orders.db")
    'sqlite:///orders.db'
    """
    value = re.sub(r"^(\w[\w+]*://[^:/@]*):.*@", r"\1@", value)
    value = re.sub(r"(?<=[?&])password=[^&]*&?", "", value)
    return value.rstrip("?&")
