"""Replies and errors cut to the sizes that LiveKit and older clients accept."""

from livekit import rtc
from pydantic import BaseModel, JsonValue

from rpc.gateway.errors import ErrorObject
from rpc.gateway.strict_json import write

MESSAGE_BYTES = 256
"""The largest error message, in bytes; livekit truncates longer ones in mid-sentence."""

DATA_BYTES = 15_360
"""The largest error data, in bytes; livekit truncates longer data, which then is not valid JSON."""

FACTS_BYTES = 8_192
"""The largest total size of an error's facts, in bytes; the largest facts are dropped first."""

DETAIL_BYTES = 2_048
"""The largest ``detail`` in an error's data, in bytes."""


class ReplyTooLong(Exception):
    """A method's reply exceeds the size limit."""


def reply_text(reply: BaseModel, limit: int) -> str:
    """Serialize a reply.

    Raises:
        ReplyTooLong: It has more than ``limit`` bytes.
        ValueError: It holds a value that strict JSON cannot represent.
        TypeError: It is not a pydantic model.
    """
    if not isinstance(reply, BaseModel):  # annotations are not enforced; a client expects an object
        raise TypeError("a method answers with a model")
    text = write(reply)
    if len(text.encode()) > limit:
        raise ReplyTooLong
    return text


def rpc_error(error: ErrorObject) -> rtc.RpcError:
    """Convert an error to an ``RpcError``: code, message, and the whole error as JSON data."""
    fits = fitted(error)
    return rtc.RpcError(error.code, shortened(fits.detail, MESSAGE_BYTES), write(fits))


def fitted(error: ErrorObject) -> ErrorObject:
    """Cut an error to its size limits: drop the largest facts, shorten ``detail``, clean the text."""
    facts: dict[str, JsonValue] = {}
    room = FACTS_BYTES
    for name, value in sorted(
        ((name, value) for name, value in error.facts.items()), key=lambda one: _size(*one)
    ):
        room -= _size(name, value)
        if room >= 0:
            facts[name] = value
    return error.model_copy(
        update={
            "facts": {name: facts[name] for name in error.facts if name in facts},
            "detail": shortened(error.detail, DETAIL_BYTES),
        }
    )


def shortened(text: str, limit: int) -> str:
    """Shorten a text to at most ``limit`` bytes, between two characters, and mark it with ``...``.

    >>> shortened("Ask for one of these: Margherita, Marinara", 32)
    'Ask for one of these: Marghe ...'
    """
    raw = text.encode(errors="replace")
    if len(raw) <= limit:
        return raw.decode()
    return f"{raw[: limit - 4].decode(errors='ignore')} ..."


def _size(name: str, value: JsonValue) -> int:
    """Return the size of a fact in bytes; more than the limit if it cannot be serialized."""
    try:
        return len(write({name: value}).encode())
    except (ValueError, TypeError):
        return FACTS_BYTES + 1
