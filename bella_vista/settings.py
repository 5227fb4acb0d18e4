"""What a person can set, from options, the environment and ``.env``: one frozen object, or all that is wrong.

An option wins over ``BELLA_VISTA_*`` in the environment, and that over ``.env`` in the working directory.
A provider's own settings keep the names it gave them. No fault and no ``repr`` shows a secret.
"""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from bella_vista.faults import Faulty

PREFIX = "BELLA_VISTA_"
LOCAL = "local"
OPENAI = "openai"
SCRIPT = "script:"

KEY_MISSING = (
    "is not set: put your key there, in the environment or in .env;"
    " a server of your own is named by OPENAI_BASE_URL and may need none"
)
"""What is said when OpenAI itself is to be asked and nobody has given a key."""

_OPENAI_HOST = "api.openai.com"
_NOWHERE = ("", "sqlite:", "sqlite://", "sqlite:///", "sqlite:///:memory:")
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
    if name in (LOCAL, OPENAI) or (name.startswith(SCRIPT) and name != SCRIPT):
        return name
    raise ValueError(f'there is no model "{name}": use local, openai, or script:FILE')


def check_address(url: str) -> str:
    """Accept the address of a server that speaks OpenAI's protocol.

    Raises:
        ValueError: It is none. The message does not repeat it: people put keys into addresses.
    """
    none = "is no address: write it like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        raise ValueError(none) from None
    if not usable:
        raise ValueError(none)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("has more in it than an address: a key is set by itself")
    return url.strip().rstrip("/")


def check_key(key: SecretStr) -> SecretStr:
    """Accept what can be sent as a key.

    Raises:
        ValueError: It cannot be one.
    """
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("holds characters that no key has")
    return SecretStr(text)


def check_database(address: str | None) -> str | None:
    """Accept the address of a database that outlives the call.

    Raises:
        ValueError: It is empty, or a database in memory.
    """
    if address is not None and address.partition("?")[0].strip() in _NOWHERE:
        raise ValueError(f'"{address}" names no database: write it like sqlite:///orders.db')
    return address


Address = Annotated[str, AfterValidator(check_address)]
Key = Annotated[SecretStr, AfterValidator(check_key)]


def needs_key(address: str | None) -> bool:
    """Whether a server takes nobody without a key: OpenAI's own does not.

    >>> needs_key(None), needs_key("http://127.0.0.1:11434/v1")
    (True, False)
    """
    return address is None or urlsplit(address).hostname == _OPENAI_HOST


class Settings(BaseSettings):
    """Everything a person can set.

    Args:
        menu: The file of the menu; Bella Vista's own when nothing is said.
        model: ``local``, ``openai``, or ``script:FILE``.
        at: When the clock starts; the present when nothing is said. Naive is the restaurant's time.
        database: Where orders are kept, as a URL; a file in the user's data directory when nothing is said.
        transcript: Whether what is heard and said is kept beside the order: on or off.
        transcript_days: How long that is kept, in days; older talk is deleted when a call begins.
        openai_base_url: The server that is asked; OpenAI's own when nothing is said.
        openai_model: What the language model is called there.
        openai_fallback_base_url: The server of the second model; the first one's when nothing is said.
        openai_fallback_model: What the second model is called; the first one's name when nothing is said.
        openai_fallback_api_key: The second server's key. The first server's key is never sent elsewhere.
        openai_local_last: Whether the local model answers when no other does.
        openai_patience: How long a guest waits for a word before he is told that something is wrong, in seconds.
        openai_api_key: The first server's key.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    menu: Annotated[Path | None, AfterValidator(lambda path: path and path.expanduser())] = None
    model: Annotated[str, AfterValidator(check_model)] = LOCAL
    at: Annotated[datetime | None, BeforeValidator(parse_time)] = None
    database: Annotated[str | None, AfterValidator(check_database)] = None
    transcript: bool = True
    transcript_days: Annotated[int, Field(ge=1, le=3650)] = 30
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    openai_model: Annotated[str, Field(min_length=1)] = "gpt-4.1"
    openai_fallback_base_url: Address | None = None
    openai_fallback_model: Annotated[str | None, Field(min_length=1)] = None
    openai_fallback_api_key: Key | None = None
    openai_local_last: bool = False
    openai_patience: Annotated[float, Field(ge=1, le=300, allow_inf_nan=False)] = 6.0
    # The last one, so that what it depends on has been read.
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias="OPENAI_API_KEY", validate_default=True
    )

    # These two are other programs' settings as well: what is wrong with them is told to who needs them.

    @field_validator("openai_base_url")
    @classmethod
    def _usable(cls, url: str | None, info: ValidationInfo) -> str | None:
        return url if url is None or info.data.get("model") != OPENAI else check_address(url)

    @field_validator("openai_api_key")
    @classmethod
    def _given_where_needed(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if info.data.get("model") != OPENAI:
            return key
        if key is not None:
            return check_key(key)
        if "openai_base_url" in info.data and needs_key(info.data["openai_base_url"]):
            raise ValueError(KEY_MISSING)
        return None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be read anywhere."""
        keys = (self.openai_api_key, self.openai_fallback_api_key)
        texts = (key.get_secret_value().strip() for key in keys if key is not None)
        return tuple(text for text in texts if text)


def variable(field: str) -> str:
    """Return the environment variable that holds a setting.

    >>> variable("menu"), variable("openai_api_key")
    ('BELLA_VISTA_MENU', 'OPENAI_API_KEY')
    """
    alias = Settings.model_fields[field].validation_alias
    return alias if isinstance(alias, str) else PREFIX + field.upper()


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
    """Name the variables in the environment, and in ``.env``, that look like settings and are none."""
    known = {variable(name) for name in Settings.model_fields}
    written: set[str] = set()
    with suppress(OSError, UnicodeError):  # reading the settings says what is wrong with the file
        written = set(dotenv_values(".env"))
    return tuple(
        sorted(
            name
            for name in written | os.environ.keys()
            if name.upper().startswith(PREFIX) and name.upper() not in known
        )
    )


def _readable(fault: Any, given: dict[str, Any]) -> str:
    name = str(fault["loc"][0])
    if name in given:
        where = f"--{name}"
    else:
        where = variable(name) if name in Settings.model_fields else name
    return f"{where}: {str(fault['msg']).removeprefix('Value error, ')}"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not UTF-8 text"
