"""Turns what was sent into a typed request, and says which field is wrong without repeating what it held."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from rpc.gateway.errors import BadParams, Rejected, UnknownOperation
from rpc.gateway.strict_json import BLANK, read, write

M = TypeVar("M", bound=BaseModel)

MOST_ERRORS = 5
"""How many wrong fields are told at once."""

_NUL, _NUL_IN_JSON = "\0", "\\u0000"
"""PostgreSQL keeps no such text, and what was cut off at it would be taken for the whole."""

_SHOWN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,63}")


def request(kind: type[M], payload: str) -> M:
    """Read a payload as a request of this kind.

    Raises:
        BadJson: It is not one strict JSON object.
        BadParams: A field is missing, unknown or wrong, or a text in it holds a NUL character; it is named, and
            its value is not.
        UnknownOperation: It names an operation that there is not.
    """
    values = read(payload)
    if _NUL_IN_JSON in payload and (at := _holds_nul(values)) is not None:
        field = _path(at, "")
        detail = f"{field}: A text must not hold a NUL character"
        told: list[JsonValue] = [{"path": field, "code": "nul_character", "detail": detail}]
        raise BadParams(f"{detail}.", field=field, errors=told)
    # As JSON, since only there a strict model takes a list for a tuple and a text for a time.
    return _valid(kind, payload if payload.strip(BLANK) else "{}")


def part(kind: type[M], values: Mapping[str, JsonValue], *, at: str = "") -> M:
    """Read a part of a request that has been read already, such as an operation's ``data``.

    Args:
        kind: The form of the part.
        values: What was sent.
        at: Where it stands in the request; errors name it.

    Raises:
        BadParams: A field is missing, unknown or wrong.
        UnknownOperation: It names an operation that there is not.
    """
    return _valid(kind, write(dict(values)), at)


def _holds_nul(value: JsonValue, at: tuple[int | str, ...] = ()) -> tuple[int | str, ...] | None:
    """Say where a text holds a NUL character, if one does."""
    if isinstance(value, str):
        return at if _NUL in value else None
    if isinstance(value, dict):
        if any(_NUL in name for name in value):
            return (*at, _NUL)
        parts: Iterable[tuple[int | str, JsonValue]] = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return None
    found = (_holds_nul(part, (*at, name)) for name, part in parts)
    return next((one for one in found if one is not None), None)


def _valid(kind: type[M], text: str, at: str = "") -> M:
    try:
        return kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _rejected(error, at) from None


def _rejected(error: ValidationError, at: str) -> Rejected:
    """Say what is wrong.

    The words are pydantic's, which repeat nothing but field names, and those of the forms' own
    validators, which must not either. A tag that is unknown would be repeated; it gets words of ours.
    """
    found = error.errors(include_url=False, include_input=False)
    for one in found:
        if one["type"] == "union_tag_invalid":
            possible = re.findall(r"'([^']*)'", str(one.get("ctx", {}).get("expected_tags", "")))
            return UnknownOperation(
                f"{_path(one['loc'], at)}: there is no such operation. Possible are"
                f" {', '.join(possible)}.",
                field=_path(one["loc"], at),
                possible=[*possible],
            )
    told: list[dict[str, JsonValue]] = [
        {"path": _path(one["loc"], at), "code": one["type"], "detail": _words(one)}
        for one in found[:MOST_ERRORS]
    ]
    first = told[0]
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return BadParams(
        f"{first['path']}: {first['detail']}.{more}", field=first["path"], errors=[*told]
    )


def _words(one: Any) -> str:
    if one["type"] == "extra_forbidden":
        return "There is no such field here; leave it out"
    return str(one["msg"]).removeprefix("Value error, ").rstrip(".")


def _path(loc: Iterable[int | str], at: str) -> str:
    """Name a field; a name that is none, since a caller made it up, is left out."""
    steps = [str(step) if isinstance(step, int) else _name(step) for step in loc]
    return ".".join([at, *steps] if at else steps) or "the request"


def _name(step: str) -> str:
    return step if _SHOWN.fullmatch(step) else "(a field)"
