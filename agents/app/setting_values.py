"""Validators of settings' values, with messages that say what is wrong."""

from datetime import datetime
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

LOCAL = "local"
OPENAI = "openai"
SCRIPT = "script:"

KEY_MISSING = (
    "is not set: put your key there, in the environment or in .env;"
    " a server of your own is named by OPENAI_BASE_URL and may need none"
)
"""The fault of a missing key for OpenAI's own server."""

KEY_BYTES = 32
"""The shortest API secret for a server that others can reach, in characters."""

_OPENAI_HOST = "api.openai.com"
_NOWHERE = ("", "sqlite:", "sqlite://", "sqlite:///", "sqlite:///:memory:")
_YEARS = range(2000, 2101)


def parse_time(text: object) -> object:
    """Parse a time in ISO 8601; without an offset it is the application's local time.

    Raises:
        ValueError: It is not such a time, or out of range.
    """
    if not isinstance(text, str):
        return text
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f'"{text}" is not a time: write it like 2026-11-20T19:00, with or without an offset'
        ) from None
    if time.year not in _YEARS:
        raise ValueError(f'"{text}" is outside the years {_YEARS[0]} to {_YEARS[-1]}')
    return time


def check_model(name: str) -> str:
    """Validate a language model's name.

    Raises:
        ValueError: There is no such model.
    """
    if name in (LOCAL, OPENAI) or (name.startswith(SCRIPT) and name != SCRIPT):
        return name
    raise ValueError(f'there is no model "{name}": use local, openai, or script:FILE')


def check_address(url: str) -> str:
    """Validate the address of an OpenAI-compatible server.

    Raises:
        ValueError: It is not valid. The message does not repeat it: people put keys into addresses.
    """
    return _address(
        url, ("http", "https"), "is not an address: write it like http://127.0.0.1:8000/v1"
    )


def check_key(key: SecretStr) -> SecretStr:
    """Validate a key.

    Raises:
        ValueError: It cannot be a key.
    """
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("holds characters that no key has")
    return SecretStr(text)


def check_database(address: str | None) -> str | None:
    """Validate the address of a database that outlives the process.

    Raises:
        ValueError: It is empty, or a database in memory.
    """
    if address is not None and address.partition("?")[0].strip() in _NOWHERE:
        raise ValueError(f'"{address}" names no database: write it like sqlite:///orders.db')
    return address


def check_livekit_url(url: str) -> str:
    """Validate the address of a LiveKit server.

    Raises:
        ValueError: It is not valid. The message does not repeat it: people put keys into addresses.
    """
    return _address(
        url,
        ("ws", "wss"),
        "is not the address of a LiveKit server: write it like wss://name.livekit.cloud",
    )


def _address(url: str, schemes: tuple[str, ...], none: str) -> str:
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in schemes and parts.hostname and parts.port != 0
    except ValueError:
        raise ValueError(none) from None
    if not usable or any(sign.isspace() for sign in url):
        raise ValueError(none)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("has more in it than an address: set a key in its own setting")
    return url.rstrip("/")


def is_local_address(url: str) -> bool:
    """Whether an address is on this machine.

    >>> is_local_address("ws://127.0.0.1:7880"), is_local_address("wss://rooms.example")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_voices(text: str) -> str:
    """Validate pairs of an agent and one of the provider's voices.

    >>> check_voices("payment=calm, feedback=f4-92")
    'payment=calm, feedback=f4-92'

    Raises:
        ValueError: It is not a list of such pairs.
    """
    for pair in filter(None, map(str.strip, text.split(","))):
        ours, sign, theirs = map(str.strip, pair.partition("="))
        if not (sign and ours.isidentifier() and theirs):
            raise ValueError("is not a list of voices: write it like payment=NAME, feedback=NAME")
    return text


Address = Annotated[str, AfterValidator(check_address)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[SecretStr, AfterValidator(check_key)]


def needs_key(address: str | None) -> bool:
    """Whether a server requires a key, as OpenAI's own does.

    >>> needs_key(None), needs_key("http://127.0.0.1:11434/v1")
    (True, False)
    """
    return address is None or urlsplit(address).hostname == _OPENAI_HOST
