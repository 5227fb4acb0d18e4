"""Reads a state from its stored JSON, if it reads back as it was written."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from state.shared.errors import JournalFault
from state.shared.shapes import shape_of

N = TypeVar("N", bound=BaseModel)

_SHOWN = 5
"""How many fields an error names."""

_NOTATIONS: Mapping[type, Callable[[str], Any]] = {
    datetime: lambda text: datetime.fromisoformat(text) if len(text) > 10 else None,
    time: time.fromisoformat,
    timedelta: TypeAdapter(timedelta).validate_python,
    Decimal: Decimal,
    UUID: UUID,
}
"""Types whose values JSON can write in several ways, such as times with ``Z`` or ``+00:00``."""


def read_state(kind: type[N], state: str, what: str, *, schema: int = 1) -> N:
    """Parse a stored state, and check that every field of it is in the model with its value.

    Args:
        kind: The model.
        state: The state as JSON text.
        what: Its name for errors.
        schema: The present version of the states' form.

    Raises:
        JournalFault: It does not read back as it was written: a field has another name, is missing, or is read as
            another value. Nothing is filled with defaults.
    """
    places: Collection[str]
    value: N | None = None
    try:
        value = parsed(kind, state)
        places = dict.fromkeys(differences(state, value))
    except ValidationError as error:
        # Without the values: they belong to a user.
        known = _field_names(kind)
        places = sorted(
            {
                _place(fault["loc"], known, fault["type"])
                for fault in error.errors(include_url=False)
            }
        )
    except (ValueError, ArithmeticError, RecursionError) as error:
        places = [type(error).__name__]
    if value is not None and not places:
        return value
    shown = ", ".join([*places][:_SHOWN])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    raise JournalFault(
        what,
        f"it does not fit this program ({shown}{more})",
        remedy=_remedy(kind, schema),
    )


def _remedy(kind: type[BaseModel], schema: int) -> str:
    change = (
        f"After a change of {kind.__name__} declare schema={schema + 1}"
        f" with migrate={{{schema}: a function of the stored JSON object}}."
    )
    if schema == 1:
        return change
    return f"{change} If it was stored with an earlier schema, correct what the migrations return."


def parsed(kind: type[N], text: str) -> N:
    """Parse a state; ``dumped`` may differ from the text.

    Raises:
        ValidationError: It does not fit the model.
    """
    return kind.model_validate_json(text, by_alias=True, by_name=True)


def dumped(state: BaseModel) -> str:
    """Serialize a state with the fields' own names.

    Raises:
        ValueError: A value of it cannot be written as JSON.
    """
    return state.model_dump_json(by_alias=False, round_trip=True, warnings=False)


def differences(text: str, value: BaseModel) -> Iterator[str]:
    """Name the fields in which a state differs from the JSON it was parsed from.

    Not counted: computed fields, aliases, the order of a set, and other notations of the same value.

    Args:
        text: The JSON.
        value: The state as it was parsed.

    Raises:
        ValueError: A value of it cannot be written as JSON.
    """
    again = dumped(value)
    if again != text:
        yield from _differences(json.loads(text), json.loads(again), value, ())


def _differences(stored: Any, again: Any, value: Any, path: tuple[str, ...]) -> Iterator[str]:
    while isinstance(value, RootModel):
        value = value.root
    if isinstance(stored, dict) and isinstance(again, dict):
        yield from _in_object(stored, again, value, path)
    elif isinstance(stored, list) and isinstance(again, list):
        if isinstance(value, set | frozenset):
            if sorted(map(unordered, stored)) != sorted(map(unordered, again)):
                yield _named(path, "changed")
        elif len(stored) != len(again):
            yield _named(path, "changed")
        else:
            inside = value if isinstance(value, list | tuple) else [None] * len(again)
            for one, other, part in zip(stored, again, inside, strict=False):
                yield from _differences(one, other, part, (*path, "*"))
    elif not _same_scalar(stored, again, value):
        yield _named(path, "changed")


def _in_object(
    stored: dict[str, Any], again: dict[str, Any], value: Any, path: tuple[str, ...]
) -> Iterator[str]:
    inside: Mapping[str, Any] = {}
    other_names: Mapping[str, str | None] = {}
    model = type(value) if isinstance(value, BaseModel) else None
    if model is not None:
        inside, other_names = value.__dict__, _other_names(model)
    elif isinstance(value, dict):
        inside = dict(zip(again, value.values(), strict=False))
    missing = dict.fromkeys(again)
    for key, one in stored.items():
        name = key if key in again else other_names.get(key, key)
        if name is None:
            continue
        # Keys of mappings are not named: they may belong to a user.
        place = (*path, name if model else "*")
        if name not in missing:
            yield _named(place, "unknown")
            continue
        del missing[name]
        yield from _differences(one, again[name], inside.get(name), place)
    for name in missing:
        yield _named((*path, name if model else "*"), "missing")


@cache
def _other_names(kind: type[BaseModel]) -> dict[str, str | None]:
    """Return the fields by their aliases, and ``None`` by the names of computed fields."""
    names: dict[str, str | None] = {}
    for name, computed in kind.model_computed_fields.items():
        names |= {one: None for one in (name, computed.alias) if one}
    for name, field in kind.model_fields.items():
        for alias in (field.alias, field.serialization_alias, field.validation_alias):
            if isinstance(alias, str):
                names[alias] = name
    return names


def _same_scalar(stored: Any, again: Any, value: Any) -> bool:
    if type(stored) is type(again):
        return bool(stored == again) or (isinstance(stored, str) and _same_text(stored, value))
    numbers = (int, float)
    return type(stored) in numbers and type(again) in numbers and bool(stored == again)


def _same_text(stored: str, value: Any) -> bool:
    if (read := _NOTATIONS.get(type(value))) is None:
        return False
    try:
        known = read(stored)
    except (ValueError, ArithmeticError):
        return False
    return bool(known == value) and getattr(known, "tzinfo", None) == getattr(value, "tzinfo", None)


def unordered(value: Any) -> str:
    """Return a text that is the same for every order of a set's elements."""
    if isinstance(value, list):
        return json.dumps(sorted(map(unordered, value)))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def _named(path: tuple[str, ...], what: str) -> str:
    return f"{'.'.join(path) or 'the whole'}: {what}"


def _place(path: tuple[int | str, ...], known: frozenset[str], kind: str) -> str:
    what = {"missing": "missing", "extra_forbidden": "unknown"}.get(kind, "not valid")
    shown = [one if isinstance(one, str) and one in known else "*" for one in path]
    if what == "unknown":
        shown[-1] = str(path[-1])
    return _named(tuple(shown), what)


@cache
def _field_names(kind: type[BaseModel]) -> frozenset[str]:
    models = shape_of(kind).models
    aliases = (alias for one in models for alias, name in _other_names(one).items() if name)
    return frozenset(name for one in models for name in one.model_fields) | frozenset(aliases)
