"""Serializes states and commands as JSON, and validates a state before it is stored."""

import hashlib
import inspect
import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import cache, cached_property
from itertools import chain, compress, repeat
from operator import is_, is_not
from typing import Any, TypeVar, cast
from uuid import UUID

from pydantic import BaseModel, JsonValue, RootModel, ValidationError
from pydantic_core import TzInfo

from state.shared.command import Command
from state.shared.errors import Misuse, Unstorable
from state.shared.numbers import LONGEST_BITS, refuse_long_numbers
from state.shared.reading import dumped, parsed, unordered
from state.shared.shapes import shape_of

logger = logging.getLogger(__name__)

N = TypeVar("N", bound=BaseModel)

_ATOMS = frozenset({bool, type(None), Decimal, date, timedelta, UUID})
"""Types that JSON can represent whatever the value."""

_MINUTE = timedelta(minutes=1)
"""JSON gives the offset of a time in whole minutes; those of zones before 1900 have seconds."""


def fingerprint(
    commands: Sequence[Command[Any, Any]], written: Sequence[Mapping[str, JsonValue]]
) -> str:
    """Return a digest that identifies a request by its commands.

    Args:
        commands: The commands.
        written: The same as JSON.
    """
    said = json.dumps([*map(_with_sets_sorted, written, commands)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _with_sets_sorted(written: Any, value: Any) -> Any:
    """Sort the elements of sets in a command's JSON: their order differs between processes."""
    if not isinstance(written, dict | list):
        return written
    while isinstance(value, RootModel):
        value = value.root
    if isinstance(value, BaseModel):
        value = value.__dict__
    if isinstance(written, dict) and isinstance(value, dict):
        return {name: _with_sets_sorted(one, value.get(name)) for name, one in written.items()}
    if isinstance(written, list) and isinstance(value, set | frozenset):
        return sorted(written, key=unordered)
    if isinstance(written, list) and isinstance(value, list | tuple):
        return [*map(_with_sets_sorted, written, value)]
    return written


def as_json(commands: Sequence[Command[Any, Any]]) -> tuple[dict[str, JsonValue], ...]:
    """Serialize commands for the journal.

    Raises:
        Unstorable: A command holds a value that JSON cannot represent.
    """
    try:
        written = tuple(command.written() for command in commands)
    except (ValueError, RecursionError):  # pydantic's are ValueErrors; one is for too deep a model
        raise Unstorable("the command cannot be written as JSON") from None
    for command in written:
        for name, value in command.items():  # fields of other types may be written as numbers
            refuse_long_numbers(value, f"{command.get('op')}.{name}")
    return written


def write_state(state: BaseModel) -> str:
    """Serialize a state for the journal, if it reads back unchanged.

    Raises:
        Unstorable: It would read back as another state, or not at all.
    """
    try:
        return as_stored(_validated_model(state, {}))[1]
    except _LongNumber:
        raise _too_long(state) from None
    except (ValidationError, TypeError, ArithmeticError, RecursionError) as error:
        raise Unstorable(f"it is not a valid state: {type(error).__name__}") from error


def as_stored(state: N) -> tuple[N, str]:
    """Return a state as it will be read back, and its JSON with the fields' own names.

    Raises:
        Unstorable: It would read back as another state, or not at all.
    """
    kind = type(state)
    try:
        text = dumped(state)
        if shape_of(kind).survives:
            return state, text
        again = parsed(kind, text)
        if again == state:
            return again, text
        fields = [name for name in _names(kind) if getattr(again, name) != getattr(state, name)]
    except ValidationError as error:
        fields = [str(fault["loc"][0]) for fault in error.errors(include_url=False) if fault["loc"]]
    except (ValueError, ArithmeticError, RecursionError) as error:
        refuse_long_numbers(state)
        logger.warning("a state cannot be serialized: %s", type(error).__name__)
        fields = []
    named = ": " + ", ".join(dict.fromkeys(fields)) if fields else ""
    raise Unstorable(f"it would not come back from the journal as it is{named}")


def validated(state: N, before: N) -> N:
    """Validate the state that a command returned, nested models included: ``model_copy`` validates nothing.

    Objects that are identical to those in the state before are not validated again.

    Args:
        state: The state that the command returned.
        before: A valid state of the expected type.

    Raises:
        ValidationError: It is not valid, or a model in it is not.
        Misuse: It has another type, or a field that its type does not have.
        Unstorable: It holds a value that JSON cannot represent or that cannot be compared.
    """
    kind = type(before)
    if type(state) is not kind:  # a subclass's own fields would not be read back
        raise Misuse(f"a command made a {type(state).__name__} of a {kind.__name__}")
    try:
        return cast(N, _validated_model(state, before.__dict__))
    except _LongNumber:
        raise _too_long(state) from None
    except (ArithmeticError, RecursionError) as error:
        raise Unstorable(f"it cannot be looked through: {type(error).__name__}") from error


class _LongNumber(Exception):
    """A state holds an integer that is too long; where it stands is looked up afterwards."""


def _too_long(state: BaseModel) -> Unstorable:
    try:
        refuse_long_numbers(state)
    except Unstorable as refusal:
        return refusal
    return Unstorable("it holds a number that is too long")


def _validated_value(value: Any, before: Any) -> Any:
    """Return the validated value; the same object if validation changes nothing."""
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _refuse_surrogates(value)
    elif kind is int:
        if value.bit_length() > LONGEST_BITS:
            raise _LongNumber
    elif kind is datetime or kind is time:
        return _with_offset(value) if value.tzinfo is not None else value
    elif kind is dict:
        for name in value:
            if name.__class__ is str and not name.isascii():
                _refuse_surrogates(name)
        return _validated_dict(value, before if type(before) is dict else {})
    elif kind in (tuple, list, set, frozenset):
        # By identity: if one of ten lines has changed, the other nine are known to be valid.
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
            return value  # a copy of a valid model needs no validation
        return _validated_model(value, before.__dict__)
    elif isinstance(value, datetime | time) and value.tzinfo is not None:  # of a subclass
        return _with_offset(value)
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
    """Return the names of the values that are not identical to those before; usually few."""
    if len(value) != len(before):
        return value
    return compress(value, map(is_not, value.values(), before.values()))


def _validated_model(value: BaseModel, before: Mapping[str, Any]) -> BaseModel:
    made = _revalidated(value, value.__dict__)
    # Pydantic does not validate nested model instances, so each is validated here.
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
    else:  # pydantic 2.14 accepts a text Enum as an integer the first time, not the second
        made = _made(kind, made.__dict__, extra)
    if getattr(value, "__pydantic_private__", None) is None:
        return made
    return value.model_copy(update=made.__dict__)


def _only_fields(kind: type[BaseModel], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Drop values cached by ``cached_property``: in a changed copy they are out of date."""
    known = _names(kind)
    if [*fields] == known:
        return fields
    others = fields.keys() - known
    if not all(name in fields for name in known) or not all(
        isinstance(inspect.getattr_static(kind, name, None), cached_property) for name in others
    ):
        raise Misuse(f"a command made a {kind.__name__} whose fields are not its own")
    return {name: fields[name] for name in known}


@cache
def _names(kind: type[BaseModel]) -> list[str]:
    return [*kind.model_fields]


def _made(
    kind: type[BaseModel], fields: Mapping[str, Any], extra: dict[str, Any] | None
) -> BaseModel:
    # A copy: a validator may edit what it is given, and the fields may be those of a model in the present state.
    given: Any = (
        fields["root"]
        if issubclass(kind, RootModel)
        else {**fields, **extra}
        if extra
        else {**fields}
    )
    # As ``model_validate``, without its overhead.
    made: BaseModel = kind.__pydantic_validator__.validate_python(
        given, by_alias=False, by_name=True
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
    """Whether two values are the same to every model. Equality is not enough: ``True`` and 1.0 equal 1."""
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


def _with_offset(value: Any) -> Any:
    """Replace a time's zone by its offset at that time: JSON holds only that, and a zone's offset changes."""
    offset = value.utcoffset()
    if offset is None:
        return value.replace(tzinfo=None)
    if offset % _MINUTE:
        raise Unstorable("it holds a time whose offset is no whole minute")
    if isinstance(value.tzinfo, timezone | TzInfo):
        return value
    return value.replace(tzinfo=timezone(offset), fold=0)


_UNWRITABLE = "it holds characters that cannot be written"


def refuse_no_text(name: str, value: object, longest: int | None = None) -> None:
    """Refuse a value that a column for texts cannot hold: SQLite would store ``5`` as another value.

    Args:
        name: Its name for the error.
        value: The value.
        longest: How many bytes it may have; PostgreSQL's index of the keys takes 2,700.

    Raises:
        Unstorable: It is no text, is too long, or holds a lone surrogate or a NUL, which PostgreSQL refuses.
    """
    if not isinstance(value, str):
        raise Unstorable(f"{name} has to be a text")
    if not value.isascii():
        _refuse_surrogates(value)
    if "\0" in value:
        raise Unstorable(_UNWRITABLE)
    if longest is not None and len(value.encode()) > longest:
        raise Unstorable(f"{name} has to be a text of at most {longest} bytes")


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unstorable(_UNWRITABLE) from None
