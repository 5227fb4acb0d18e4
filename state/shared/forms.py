"""States and commands as JSON, and whether a state is one: what a shared state asks before and after a change."""

import hashlib
import inspect
import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, cached_property
from itertools import chain, compress, repeat
from operator import is_, is_not
from typing import Any, TypeVar, cast
from uuid import UUID

from pydantic import BaseModel, JsonValue, RootModel, ValidationError
from pydantic_core import PydanticSerializationError

from state.shared.command import Command
from state.shared.errors import JournalFault, NotStored
from state.shared.shapes import shape_of

logger = logging.getLogger(__name__)

N = TypeVar("N", bound=BaseModel)

_ATOMS = frozenset({bool, type(None), Decimal, datetime, date, time, timedelta, UUID})
"""What JSON has a form for, whatever the value."""

_LONGEST_BITS = 14_000
"""Longer whole numbers are written as JSON and not read again (CPython 3.11 reads 4,300 digits)."""


def fingerprint(commands: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return what tells whether the same commands, as JSON, were asked for before."""
    said = json.dumps(commands, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def as_json(commands: Sequence[Command[Any, Any]]) -> tuple[dict[str, JsonValue], ...]:
    """Write commands as the journal keeps them.

    Raises:
        NotStored: One of them holds what JSON cannot.
    """
    try:
        return tuple(command.written() for command in commands)
    except PydanticSerializationError:
        raise NotStored("the command cannot be written as JSON") from None


def written(state: BaseModel) -> str:
    """Write a state as the journal keeps it, if it is the same when it is read again.

    Raises:
        NotStored: It would come back as another one, or not at all.
    """
    return as_stored(state)[1]


def as_stored(state: N) -> tuple[N, str]:
    """Return a state as it will be read again, and what the journal keeps: JSON by the fields' own names.

    Raises:
        NotStored: It would come back as another one, or not at all.
    """
    kind = type(state)
    try:
        text = state.model_dump_json(by_alias=False, round_trip=True, warnings=False)
        if shape_of(kind).survives:
            return state, text
        again = _read(kind, text)
        if again == state:
            return again, text
    except (ValueError, ArithmeticError, RecursionError) as error:  # pydantic's are ValueErrors
        logger.warning("a state cannot be kept: %s", type(error).__name__)
    raise NotStored("it would not come back from the journal as it is")


def validated(state: N, before: N) -> N:
    """Return the state that a command made as its models would have it: ``model_copy`` checks nothing.

    What is the same object as before is not looked at again.

    Args:
        state: What the command returned.
        before: A valid state of the kind that is wanted.

    Raises:
        ValidationError: It is no such state, or a model in it is not valid.
        TypeError: It is of another kind, or has a field that its kind does not have.
        NotStored: It holds what JSON has no form for, or what cannot be compared.
    """
    kind = type(before)
    if type(state) is not kind:  # what a subclass adds would not be read again
        raise TypeError(f"a command made a {type(state).__name__} of a {kind.__name__}")
    try:
        return cast(N, _validated_model(state, before.__dict__))
    except (ArithmeticError, RecursionError) as error:
        raise NotStored(f"it cannot be looked through: {type(error).__name__}") from error


def _validated_value(value: Any, before: Any) -> Any:
    """Return the same object when nothing about it had to change."""
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _refuse_surrogates(value)
    elif kind is int:
        if value.bit_length() > _LONGEST_BITS:
            raise NotStored("it holds a number that is too long")
    elif kind is dict:
        for name in value:
            if name.__class__ is str and not name.isascii():
                _refuse_surrogates(name)
        return _validated_dict(value, before if type(before) is dict else {})
    elif kind in (tuple, list, set, frozenset):
        # By identity: of ten lines of which one has changed, nine are known to be valid.
        was = before if type(before) is kind and kind in (tuple, list) else ()
        known = set(map(id, was))
        parts = [
            one if id(one) in known else _validated_value(one, old)
            for one, old in zip(value, chain(was, repeat(None)), strict=False)
        ]
        return value if all(map(is_, parts, value)) else kind(parts)
    elif isinstance(value, BaseModel):
        if kind is not type(before):
            return _validated_model(value, {})
        if _same_fields(before.__dict__, value.__dict__) and value.__pydantic_extra__ is None:
            return value  # a copy of what is known need not be asked again
        return _validated_model(value, before.__dict__)
    return value


def _validated_dict(value: Mapping[Any, Any], before: Mapping[Any, Any]) -> Mapping[Any, Any]:
    changed: dict[Any, Any] = {}
    for name in _other(value, before):
        one = value[name]
        kind = one.__class__
        if kind in _ATOMS or (kind is str and one.isascii()):
            continue
        old = before.get(name)
        if one is not old and (made := _validated_value(one, old)) is not one:
            changed[name] = made
    return {**value, **changed} if changed else value


def _other(value: Mapping[Any, Any], before: Mapping[Any, Any]) -> Iterable[Any]:
    """Name what is not the same object as before: of many fields few change, and what was there is known."""
    if len(value) != len(before):
        return value
    return compress(value, map(is_not, value.values(), before.values()))


def _validated_model(value: BaseModel, before: Mapping[str, Any]) -> BaseModel:
    made = _revalidated(value, value.__dict__)
    # Pydantic takes the models in a model as they are: each is asked itself.
    parts = _validated_dict(made.__dict__, before)
    return made if parts is made.__dict__ else _revalidated(value, parts)


def _revalidated(value: BaseModel, fields: Mapping[str, Any]) -> BaseModel:
    kind = type(value)
    extra = getattr(value, "__pydantic_extra__", None)
    given = _only_fields(kind, fields)
    made = _made(kind, given, extra)
    if _same_fields(made.__dict__, given):
        if given is value.__dict__:
            return value
    else:  # pydantic 2.14 takes an Enum of a text for a whole number: asked twice it does not
        made = _made(kind, made.__dict__, extra)
    if getattr(value, "__pydantic_private__", None) is None:
        return made
    return value.model_copy(update=made.__dict__)


def _only_fields(kind: type[BaseModel], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out what a ``cached_property`` has kept beside the fields: of a changed copy it is another's."""
    known = _names(kind)
    if [*fields] == known:
        return fields
    others = fields.keys() - known
    if not all(name in fields for name in known) or not all(
        isinstance(inspect.getattr_static(kind, name, None), cached_property) for name in others
    ):
        raise TypeError(f"a command made a {kind.__name__} whose fields are not its own")
    return {name: fields[name] for name in known}


@cache
def _names(kind: type[BaseModel]) -> list[str]:
    return [*kind.model_fields]


def _made(
    kind: type[BaseModel], fields: Mapping[str, Any], extra: dict[str, Any] | None
) -> BaseModel:
    given: Any = fields["root"] if issubclass(kind, RootModel) else fields
    # What ``model_validate`` does, without its own share of the time.
    made: BaseModel = kind.__pydantic_validator__.validate_python(
        {**given, **extra} if extra else given, by_alias=False, by_name=True
    )
    return made


def _same_fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if [*one] != [*other]:
        return False
    for name in compress(one, map(is_not, one.values(), other.values())):
        if not _same(one[name], other[name]):
            return False
    return True


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same to every model. Equal is too little: ``True`` and 1.0 equal 1."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is tuple or kind is list:
        return _same_each(one, other)
    if kind is str or kind is int:
        return bool(one == other)
    if kind is dict:
        return _same_each(one.values(), other.values()) and _same_each(one, other)
    return one is other


def _same_each(one: Collection[Any], other: Collection[Any]) -> bool:
    return len(one) == len(other) and (all(map(is_, one, other)) or all(map(_same, one, other)))


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotStored("it holds characters that cannot be written") from None


def read(kind: type[N], state: str, what: str) -> N:
    """Read a state as the journal gave it back.

    Raises:
        JournalFault: It is no such state; ``what`` names it.
    """
    try:
        return _read(kind, state)
    except ValidationError as error:
        # The values stay out of it: they are a guest's.
        places = {".".join(map(str, fault["loc"])) or "the whole" for fault in error.errors()}
        raise JournalFault(
            what, f"it does not fit this program ({', '.join(sorted(places))})"
        ) from None


def _read(kind: type[N], text: str) -> N:
    return kind.model_validate_json(text, by_alias=True, by_name=True)
