"""Validators of settings, with messages that name the fault and the remedy."""

import re
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

LOCAL = "local"
OPENAI = "openai"
OPENAI_REALTIME = "openai-realtime"
OPENAI_MODELS = (OPENAI, OPENAI_REALTIME)
"""The models that need OpenAI's key or another server's address."""
SCRIPT = "script:"

KEY_MISSING = (
    "is not set: put your key there, in the environment or in .env;"
    " a server of your own is named by OPENAI_BASE_URL and may need none"
)
"""The fault of a missing key for OpenAI's own server."""

KEY_BYTES = 32
"""The least length of an API secret for a server that others can reach, in characters."""

NO_REALTIME_AUDIO = (
    "is not offered: words that a model speaks itself could be neither redacted nor withheld, and the"
    " rules would see them too late; leave it off, and text-to-speech speaks"
)
"""The fault of a setting that asks a realtime model to speak (docs/adr/0014)."""

_OPENAI_HOST = "api.openai.com"
OPENAI_URL = f"https://{_OPENAI_HOST}/v1"
_IN_MEMORY = ":memory:"
_DATABASE = re.compile(r"(sqlite(\+pysqlite)?:///|postgres(ql)?(\+psycopg)?://)\S")
_YEARS = range(2000, 2101)


def flag(setting: str) -> str:
    """Return the command line option of a setting.

    >>> flag("supplier_s")
    '--supplier-s'
    """
    return f"--{setting.replace('_', '-')}"


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
    if name in (LOCAL, *OPENAI_MODELS) or (name.startswith(SCRIPT) and name != SCRIPT):
        return name
    raise ValueError(
        f'there is no model "{name}": use local, openai, openai-realtime, or script:FILE'
    )


def check_realtime_audio(wanted: bool) -> bool:
    """Refuse audio output of the realtime model.

    Raises:
        ValueError: It is on.
    """
    if wanted:
        raise ValueError(NO_REALTIME_AUDIO)
    return wanted


def check_address(url: str) -> str:
    """Validate the address of an OpenAI-compatible server.

    Raises:
        ValueError: The address is invalid. The message does not repeat it, since it may hold a key.
    """
    return _address(
        url, ("http", "https"), "is not an address: write it like http://127.0.0.1:8000/v1"
    )


def check_key(key: SecretStr) -> SecretStr:
    """Validate a key.

    Raises:
        ValueError: The text cannot be a key.
    """
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("holds characters that no key has: copy the key again")
    return SecretStr(text)


def key_text(key: SecretStr | None) -> str:
    """Return a key as text; a placeholder where a server needs none, since clients require one.

    >>> key_text(None)
    'no-key'
    """
    return (key.get_secret_value().strip() if key is not None else "") or "no-key"


def check_database(address: str | None) -> str | None:
    """Validate the address of a database that outlives the process.

    Raises:
        ValueError: The address is invalid, or that of a database in memory. The message does not
            repeat it, since it may hold a password.
    """
    if address is not None and (not _DATABASE.match(address) or _IN_MEMORY in address):
        raise ValueError(
            "is not the address of a stored database: write it like sqlite:///file.db,"
            " sqlite:////absolute/file.db or postgresql://user:password@host/name"
        )
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


def check_public_url(url: str | None) -> str | None:
    """Validate the address by which clients reach the LiveKit server.

    Raises:
        ValueError: It is not valid.
    """
    return None if url is None else check_livekit_url(url)


def check_origins(text: str) -> str:
    """Validate a list of origins.

    >>> check_origins("https://example.com, http://localhost:5173")
    'https://example.com,http://localhost:5173'

    Raises:
        ValueError: It is not a list of origins.
    """
    none = "is not a list of origins: write it like https://example.com, http://localhost:5173"
    found = listed(text)
    for origin in found:
        parts = urlsplit(_address(origin, ("http", "https"), none))
        if origin != f"{parts.scheme}://{parts.netloc}".lower():
            raise ValueError(none)
    return ",".join(found)


def check_networks(text: str) -> str:
    """Validate a list of addresses and networks.

    >>> check_networks("127.0.0.1, 10.0.0.0/8")
    '127.0.0.1,10.0.0.0/8'

    Raises:
        ValueError: It is not such a list.
    """
    found = listed(text)
    for one in found:
        try:
            ip_network(one)
        except ValueError:
            raise ValueError(
                "is not a list of addresses: write it like 127.0.0.1, 10.0.0.0/8"
            ) from None
    return ",".join(found)


def listed(text: str) -> list[str]:
    """Return the parts of a comma-separated list.

    >>> listed(" a, b,")
    ['a', 'b']
    """
    return [one for one in map(str.strip, text.split(",")) if one]


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


CHANNELS = ("web", "phone")
"""The channels whose turn taking can differ."""


def by_channel(text: str) -> dict[str, float]:
    """Read a number for all channels, or one for each.

    >>> by_channel("0.5"), by_channel("phone=0.7, web=0.4")
    ({'web': 0.5, 'phone': 0.5}, {'phone': 0.7, 'web': 0.4})

    Raises:
        ValueError: It is neither.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and "=" not in text:
        return dict.fromkeys(CHANNELS, float(text))
    pairs = [[half.strip() for half in part.partition("=")] for part in parts]
    found = {name: float(value) for name, _, value in pairs}
    if len(parts) != len(CHANNELS) or found.keys() != set(CHANNELS):
        raise ValueError
    return found


def number_by_channel(low: float, high: float, *, whole: bool = False) -> AfterValidator:
    """Make a validator of a number for all channels, or one for each.

    Args:
        low: The smallest value.
        high: The largest value.
        whole: Whether it has to be a whole number.
    """

    def check(text: str) -> str:
        try:
            values = by_channel(text).values()
        except ValueError:
            raise ValueError(
                "is not a number, nor one for each channel: write it like web=1, phone=2"
            ) from None
        if not all(low <= value <= high and (value.is_integer() or not whole) for value in values):
            number = "a whole number" if whole else "a number"
            raise ValueError(f"has to be {number} from {low:g} to {high:g}")
        return text

    return AfterValidator(check)


OnChannels = Literal["off", "on", "web", "phone"]
"""Where something is on: nowhere, everywhere, or on one channel."""

Address = Annotated[str, AfterValidator(check_address)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[SecretStr, AfterValidator(check_key)]


def needs_key(address: str | None) -> bool:
    """Whether a server requires a key, as OpenAI's own does.

    >>> needs_key(None), needs_key("http://127.0.0.1:11434/v1")
    (True, False)
    """
    return address is None or urlsplit(address).hostname == _OPENAI_HOST
