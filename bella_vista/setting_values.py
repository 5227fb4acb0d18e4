"""What a setting may be: each kind of value read and checked, and said in words what is wrong with it."""

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
"""What is said when OpenAI itself is to be asked and nobody has given a key."""

KEY_BYTES = 32
"""How long a secret is that signs what lets people into rooms, at least."""

_OPENAI_HOST = "api.openai.com"
_NOWHERE = ("", "sqlite:", "sqlite://", "sqlite:///", "sqlite:///:memory:")
_YEARS = range(2000, 2101)


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
    return _address(url, ("http", "https"), "is no address: write it like http://127.0.0.1:8000/v1")


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


def check_livekit_url(url: str) -> str:
    """Accept the address of a LiveKit server.

    Raises:
        ValueError: It is none. The message does not repeat it: people put keys into addresses.
    """
    return _address(
        url,
        ("ws", "wss"),
        "is no address of a LiveKit server: write it like wss://name.livekit.cloud",
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
        raise ValueError("has more in it than an address: a key is set by itself")
    return url.rstrip("/")


def on_this_machine(url: str) -> bool:
    """Whether an address leads no further than this machine.

    >>> on_this_machine("ws://127.0.0.1:7880"), on_this_machine("wss://rooms.example")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_voices(text: str) -> str:
    """Accept pairs of a voice of ours and one of the provider's.

    >>> check_voices("payment=calm, feedback=f4-92")
    'payment=calm, feedback=f4-92'

    Raises:
        ValueError: It is no list of such pairs.
    """
    for pair in filter(None, map(str.strip, text.split(","))):
        ours, sign, theirs = map(str.strip, pair.partition("="))
        if not (sign and ours.isidentifier() and theirs):
            raise ValueError("is no list of voices: write it like payment=NAME, feedback=NAME")
    return text


Address = Annotated[str, AfterValidator(check_address)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[SecretStr, AfterValidator(check_key)]


def needs_key(address: str | None) -> bool:
    """Whether a server takes nobody without a key: OpenAI's own does not.

    >>> needs_key(None), needs_key("http://127.0.0.1:11434/v1")
    (True, False)
    """
    return address is None or urlsplit(address).hostname == _OPENAI_HOST
