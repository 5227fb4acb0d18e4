"""What goes back over the wire: replies and errors that fit, and that every client can read."""

from livekit import rtc
from pydantic import BaseModel, JsonValue

from rpc.gateway.errors import ErrorObject
from rpc.gateway.strict_json import write

MESSAGE_BYTES = 256
"""What a message may have; livekit cuts what is longer, in the middle of a sentence."""

DATA_BYTES = 15_360
"""What the data of an error may have; livekit cuts what is longer, and then it is no JSON any more."""

FACTS_BYTES = 8_192
"""What the facts of an error may have together; the largest are left out first."""

DETAIL_BYTES = 2_048
"""What the sentence of an error may have in its data."""


class ReplyTooLong(Exception):
    """A method answered with more than can be sent."""


def reply_text(reply: BaseModel, limit: int) -> str:
    """Write a reply.

    Raises:
        ReplyTooLong: It has more bytes than that.
        ValueError: It holds what strict JSON has no form for.
        TypeError: It is no model.
    """
    if not isinstance(reply, BaseModel):  # types are promises; a client waits for an object
        raise TypeError("a method answers with a model")
    text = write(reply)
    if len(text.encode()) > limit:
        raise ReplyTooLong
    return text


def rpc_error(error: ErrorObject) -> rtc.RpcError:
    """Return an error as livekit sends it: code, message, and all of it as JSON data."""
    fits = fitted(error)
    return rtc.RpcError(error.code, shortened(fits.detail, MESSAGE_BYTES), write(fits))


def fitted(error: ErrorObject) -> ErrorObject:
    """Return an error that can be sent: with the facts that fit, small ones first, and clean texts."""
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
    """Cut a text between two characters so that it has no more bytes than that, and says so.

    >>> shortened("Ask for one of these: Margherita, Marinara", 32)
    'Ask for one of these: Marghe ...'
    """
    raw = text.encode(errors="replace")
    if len(raw) <= limit:
        return raw.decode()
    return f"{raw[: limit - 4].decode(errors='ignore')} ..."


def _size(name: str, value: JsonValue) -> int:
    """Return the bytes of a fact, or more than there is room for when it cannot be written."""
    try:
        return len(write({name: value}).encode())
    except (ValueError, TypeError):
        return FACTS_BYTES + 1
