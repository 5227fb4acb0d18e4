"""Strict JSON: accepts and writes only what every parser understands in the same way."""

import json
import math
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue
from pydantic_core import from_json

from rpc.gateway.errors import BadJson

BLANK = " \t\r\n"
"""JSON whitespace."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A value that is already serialized; a field of a reply may hold it, to avoid serializing it twice.

    Args:
        text: One whole value, as ``write`` writes it.
    """

    text: str


def read(text: str) -> dict[str, JsonValue]:
    """Parse one JSON object; a blank text is an empty object.

    Input that two parsers could read differently is refused.

    >>> read(' {"quantity": 2} '), read("")
    ({'quantity': 2}, {})

    Raises:
        BadJson: It is not exactly one object; it has a duplicate key, ``NaN``, a number too large for a double
            or with thousands of digits, half of a surrogate pair, a byte order mark, or more than two hundred
            levels.
    """
    if not text.strip(BLANK):
        return {}
    try:
        # This parser fails early and safely on depth, digits, surrogates and several values.
        from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):
        raise BadJson("Send one JSON object in strict JSON: this could not be read.") from None
    value = json.loads(text, object_pairs_hook=_object, parse_float=_number)
    if not isinstance(value, dict):
        raise BadJson("Send one JSON object, with its fields in braces.")
    return value


def write(value: BaseModel | JsonValue) -> str:
    """Serialize compact JSON that every parser reads; a model's settings decide what is left out.

    A model with a ``JsonText`` is serialized field by field, under the fields' own names; the other fields are
    plain JSON.

    >>> write({"total": 950, "name": "Café"})
    '{"total":950,"name":"Café"}'

    Raises:
        ValueError: It holds ``NaN``, an infinite number or half of a surrogate pair.
        TypeError: It holds something that JSON cannot represent.
    """
    if not isinstance(value, BaseModel):
        text = _compact(value)
    elif any(isinstance(one, JsonText) for _, one in value):
        text = f"{{{','.join(_field(name, one) for name, one in value)}}}"
    else:
        text = _compact(value.model_dump(mode="json", by_alias=True))
    text.encode()  # fails for half of a surrogate pair; UnicodeEncodeError is a ValueError
    return text


def _field(name: str, value: Any) -> str:
    return f"{_compact(name)}:{value.text if isinstance(value, JsonText) else _compact(value)}"


# Created once: creating the encoder takes as long as serializing a short value.
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadJson("An object names a key twice. Send each key once.")
    return found


def _number(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise BadJson("A number is too large.")
    return number
