"""What a person can set, from options, the environment and ``.env``: one frozen object, or all that is wrong.

An option wins over ``BELLA_VISTA_*`` in the environment, and that over ``.env`` in the working directory.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bella_vista.faults import Faulty

PREFIX = "BELLA_VISTA_"
LOCAL = "local"
SCRIPT = "script:"

_YEARS = range(2000, 2101)


class SettingsFaults(Faulty):
    """The configuration cannot be used."""


def parse_time(text: object) -> object:
    """Read a time as people write it in ISO 8601; without a zone it is the restaurant's.

    Raises:
        ValueError: It is no such time, or lies in another age.
    """
    if not isinstance(text, str):
        return text
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f'"{text}" is no time: write it like 2026-11-20T19:00, with or without an offset'
        ) from None
    if time.year not in _YEARS:
        raise ValueError(f'"{text}" lies outside the years {_YEARS[0]} to {_YEARS[-1]}')
    return time


def check_model(name: str) -> str:
    """Accept the name of a language model that exists here.

    Raises:
        ValueError: There is none of this name.
    """
    if name == LOCAL or (name.startswith(SCRIPT) and name != SCRIPT):
        return name
    if name == "openai":
        raise ValueError('"openai" is not built in yet: use local, or script:FILE')
    raise ValueError(f'there is no model "{name}": use local, or script:FILE')


class Settings(BaseSettings):
    """Everything a person can set.

    Args:
        menu: The file of the menu; Bella Vista's own when nothing is said.
        model: ``local``, or ``script:FILE``.
        at: When the clock starts; the present when nothing is said. Naive is the restaurant's time.
        database: Where orders are kept, as a URL; a file in the user's data directory when nothing is said.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    menu: Annotated[Path | None, AfterValidator(lambda path: path and path.expanduser())] = None
    model: Annotated[str, AfterValidator(check_model)] = LOCAL
    at: Annotated[datetime | None, BeforeValidator(parse_time)] = None
    database: Annotated[str | None, Field(min_length=1)] = None


def read_settings(**options: object) -> Settings:
    """Put options, environment and ``.env`` together.

    Args:
        options: What was given on the command line, by name; ``None`` is not given.

    Raises:
        SettingsFaults: Everything that is wrong, each naming what to change.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsFaults(_readable(fault, given) for fault in error.errors()) from None
    except (OSError, UnicodeError) as error:
        raise SettingsFaults([f".env: cannot be read: {_why(error)}"]) from None


def unknown_settings() -> tuple[str, ...]:
    """Name the variables in the environment that look like settings and are none."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return tuple(
        sorted(
            name
            for name in os.environ
            if name.upper().startswith(PREFIX) and name.upper() not in known
        )
    )


def _readable(fault: Any, given: dict[str, Any]) -> str:
    name = str(fault["loc"][0])
    where = f"--{name}" if name in given else PREFIX + name.upper()
    return f"{where}: {str(fault['msg']).removeprefix('Value error, ')}"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not UTF-8 text"
