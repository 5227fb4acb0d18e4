"""JSON as strictly as two programs need it that must not misunderstand one another."""

import json
import math
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue
from pydantic_core import from_json

from rpc.gateway.errors import BadJson

BLANK = " \t\r\n"
"""What counts as blank in JSON."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """What is written as JSON already: a field of a reply may hold it, and nothing is written twice.

    Args:
        text: One whole value, as ``write`` writes it.
    """

    text: str


def read(text: str) -> dict[str, JsonValue]:
    """Read one JSON object; a blank text reads as an empty one.

    What two parsers could understand differently is refused, not guessed at.

    >>> read(' {"quantity": 2} '), read("")
    ({'quantity': 2}, {})

    Raises:
        BadJson: It is something else at the top, or more than one value; it has a key twice, ``NaN``, a
            number too large for a double or of thousands of digits, half of a surrogate pair, a byte
            order mark, or more than two hundred levels.
    """
    if not text.strip(BLANK):
        return {}
    try:
        # This one ends early and safely, whatever comes: depth, digits, surrogates, several values.
        from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):
        raise BadJson("Send one JSON object in strict JSON: this could not be read.") from None
    value = json.loads(text, object_pairs_hook=_object, parse_float=_number)
    if not isinstance(value, dict):
        raise BadJson("Send one JSON object, with its fields in braces.")
    return value


def write(value: BaseModel | JsonValue) -> str:
    """Write compact JSON that every parser reads; a model's own settings say what is left out.

    A model in which something is ``JsonText`` is written field by field, under their own names: the others are
    plain JSON.

    >>> write({"total": 950, "name": "Café"})
    '{"total":950,"name":"Café"}'

    Raises:
        ValueError: It holds ``NaN``, an infinite number or half of a surrogate pair.
        TypeError: It holds something that JSON has no form for.
    """
    if not isinstance(value, BaseModel):
        text = _compact(value)
    elif any(isinstance(one, JsonText) for _, one in value):
        text = f"{{{','.join(_field(name, one) for name, one in value)}}}"
    else:
        text = _compact(value.model_dump(mode="json", by_alias=True))
    text.encode()  # fails for half of a surrogate pair: UnicodeEncodeError is a ValueError
    return text


def _field(name: str, value: Any) -> str:
    return f"{_compact(name)}:{value.text if isinstance(value, JsonText) else _compact(value)}"


# Made once: making it takes as long as writing something short.
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
