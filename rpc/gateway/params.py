"""Parses payloads into typed requests; errors name the wrong field but never repeat its value."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from rpc.gateway.errors import BadParams, Rejected, UnknownOperation
from rpc.gateway.strict_json import BLANK, read, write
from state.shared import explained

M = TypeVar("M", bound=BaseModel)

MOST_ERRORS = 5
"""How many wrong fields one error lists."""

_NUL, _NUL_IN_JSON = "\0", "\\u0000"
"""PostgreSQL cannot store NUL, and a text truncated at one would pass for the whole."""

_SHOWN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,63}")


def request(kind: type[M], payload: str) -> M:
    """Parse a payload as this kind of request.

    Raises:
        BadJson: It is not one strict JSON object.
        BadParams: A field is missing, unknown or invalid, or holds a NUL character. The error names the field but
            does not repeat its value.
        UnknownOperation: It names an unknown operation.
    """
    values = read(payload)
    if _NUL_IN_JSON in payload and (at := _holds_nul(values)) is not None:
        field = _path(at, "")
        detail = f"{field}: A text must not hold a NUL character"
        errors: list[JsonValue] = [{"path": field, "code": "nul_character", "detail": detail}]
        raise BadParams(f"{detail}.", field=field, errors=errors)
    # From JSON: a strict model accepts a list as a tuple and a text as a time only there.
    return _valid(kind, payload if payload.strip(BLANK) else "{}")


def part(kind: type[M], values: Mapping[str, JsonValue], *, at: str = "") -> M:
    """Parse a part of a request, such as an operation's ``data``.

    Args:
        kind: The model of the part.
        values: The values as sent.
        at: The path of the part within the request, used in errors.

    Raises:
        BadParams: A field is missing, unknown or invalid.
        UnknownOperation: It names an unknown operation.
    """
    return _valid(kind, write(dict(values)), at)


def _holds_nul(value: JsonValue, at: tuple[int | str, ...] = ()) -> tuple[int | str, ...] | None:
    """Return the path of the first text with a NUL character, or ``None``."""
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
    """Convert a validation error.

    Messages come from pydantic, which repeats only field names, or from the models' own validators, which must not
    repeat values either. pydantic would repeat an unknown union tag, so that case gets a message of our own.
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
    errors: list[dict[str, JsonValue]] = [
        {"path": _path(one["loc"], at), "code": one["type"], "detail": explained(one).rstrip(".")}
        for one in found[:MOST_ERRORS]
    ]
    first = errors[0]
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return BadParams(
        f"{first['path']}: {first['detail']}.{more}", field=first["path"], errors=[*errors]
    )


def _path(loc: Iterable[int | str], at: str) -> str:
    """Return a field's path; a name made up by the caller is replaced."""
    steps = [str(step) if isinstance(step, int) else _name(step) for step in loc]
    return ".".join([at, *steps] if at else steps) or "the request"


def _name(step: str) -> str:
    return step if _SHOWN.fullmatch(step) else "(a field)"
