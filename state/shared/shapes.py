"""Checks a state's model by its types: whether it is frozen and survives JSON; detects edits in place."""

import types
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from operator import is_
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    FutureDate,
    FutureDatetime,
    NaiveDatetime,
    PastDate,
    PastDatetime,
)

M = TypeVar("M", bound=BaseModel)

_Container: TypeAlias = list[Any] | set[Any] | dict[Any, Any]

_PLAIN = (
    *(str, int, float, bytes, Decimal, date, datetime, time, timedelta, UUID, Enum),
    types.NoneType,
)
_LIMITED_TIMES: tuple[Any, ...] = (AwareDatetime, NaiveDatetime, PastDatetime, PastDate)
"""Pydantic's types whose values are plain times or dates."""
_EXPIRING: tuple[Any, ...] = (FutureDatetime, FutureDate)
"""The same, with values that become invalid as time passes."""

_CUSTOM_HOOKS = frozenset(
    {
        *("__init__", "__eq__", "__get_pydantic_core_schema__", "model_post_init"),
        *("model_dump_json", "model_validate_json"),
    }
)
"""Methods by which a model customizes its construction, comparison, validation or serialization."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Properties that hold for every value of a type.

    Args:
        known: Whether only lists, sets and mappings in it can be edited in place.
        faithful: Whether it reads back from JSON unchanged, unless it holds an instance of a subclass.
        models: The models in it.
        editable: The fields of a model that may hold something that can be edited in place.
        contains: Whether it holds such a value.
        expires: Whether a value of it may become invalid as time passes.
    """

    known: bool
    faithful: bool
    models: frozenset[type[BaseModel]] = frozenset()
    editable: tuple[str, ...] = ()
    contains: bool = False
    expires: bool = False

    @property
    def survives(self) -> bool:
        """Whether every value reads back from JSON; a subclass's own fields would not."""
        return self.faithful and not any(map(type.__subclasses__, self.models))


_GOOD = Shape(known=True, faithful=True)
_ANYTHING = Shape(known=False, faithful=False)
# Pydantic writes JSON that is nested more deeply than what it reads (254 and 200 levels, pydantic 2.14).
_RECURSIVE = Shape(known=True, faithful=False, contains=True)


@cache
def shape_of(kind: type[BaseModel]) -> Shape:
    """Judge a model by its types. Nothing is assumed of types that are not known."""
    return _model(kind, frozenset())


@cache
def model_faults(kind: type[BaseModel]) -> tuple[str, ...]:
    """List why a model cannot be a state's, as far as its types tell.

    A model in it is not frozen, or a field of one holds a future time: once that has come, the state could be
    neither read nor changed.
    """
    models = sorted(shape_of(kind).models, key=lambda one: one.__qualname__)
    return (
        *(
            f"{one.__qualname__} is not frozen: declare model_config = ConfigDict(frozen=True) in it"
            for one in models
            if not one.model_config.get("frozen")
        ),
        *(
            f"{one.__qualname__}.{name} has to be in the future, which does not last: declare it as a"
            " date or datetime, and compare it with the clock in the command"
            for one in models
            for name, field in one.model_fields.items()
            if _annotation(field.annotation, (), frozenset(models)).expires
        ),
    )


class Guard:
    """A snapshot of a state's lists, sets and mappings, to detect edits in place."""

    def __init__(self, state: BaseModel) -> None:
        found: list[_Container] = []
        self.complete = _find_editable(state, found)
        """Whether nothing else in the state can be edited in place."""
        self._known = [(one, one.copy()) for one in found]

    def restore(self) -> bool:
        """Undo edits; return whether there were any."""
        edited = [(one, known) for one, known in self._known if not _same_objects(one, known)]
        for one, known in edited:
            one.clear()
            if isinstance(one, list):
                one.extend(known)
            else:
                one.update(known)
        return bool(edited)

    def detached(self, state: M) -> M:
        """Return a new state with copies of the lists, sets and mappings that are not the guarded state's.

        A command or its context may go on holding those that it put there, and edit them.
        """
        found: list[_Container] = []
        _find_editable(state, found)
        own = {id(one) for one, _ in self._known}
        given = {id(one) for one in found} - own
        return _with_copies(state, given) if given else state


def _with_copies(value: Any, given: Set[int]) -> Any:
    """Return a value with copies of the lists, sets and mappings with these ids, or of their parts' own."""
    kind: Any = type(value)
    if issubclass(kind, BaseModel):
        fields = value.__dict__
        made = {name: _with_copies(fields[name], given) for name in shape_of(kind).editable}
        changed = {name: one for name, one in made.items() if one is not fields[name]}
        return value.model_copy(update=changed) if changed else value
    if issubclass(kind, dict):
        parts = [_with_copies(one, given) for one in value.values()]
        if id(value) not in given and all(map(is_, parts, value.values())):
            return value
        copied = value.copy()
        copied.update(zip(value, parts, strict=True))
        return copied
    if issubclass(kind, (list, tuple)):
        parts = [_with_copies(one, given) for one in value]
        if id(value) not in given and all(map(is_, parts, value)):
            return value
        if issubclass(kind, list):
            copied = value.copy()
            copied[:] = parts
            return copied
        make = getattr(kind, "_make", kind)  # of a named tuple
        return make(parts)
    # The members of a set can be hashed, so they are not edited.
    return value.copy() if issubclass(kind, set) and id(value) in given else value


def _same_objects(one: _Container, known: _Container) -> bool:
    if len(one) != len(known):
        return False
    if isinstance(one, set):  # a copy may have another order
        return {*map(id, one)} == {*map(id, known)}
    if isinstance(one, dict) and isinstance(known, dict):
        return all(map(is_, one, known)) and all(map(is_, one.values(), known.values()))
    return all(map(is_, one, known))


def _find_editable(value: Any, found: list[_Container]) -> bool:
    """Collect the lists, sets and mappings in a value; return whether nothing else in it can be edited."""
    kind: Any = type(value)
    if issubclass(kind, (list, set, dict)):
        found.append(value)
    elif issubclass(kind, BaseModel):
        fields, complete = value.__dict__, True
        # A command may hold a model that was never finished.
        if getattr(value, "__pydantic_private__", None) or getattr(
            value, "__pydantic_extra__", None
        ):
            complete = False
        for name in shape_of(kind).editable:
            complete = _find_editable(fields.get(name), found) and complete
        return complete
    elif not issubclass(kind, (tuple, frozenset)):
        return issubclass(kind, _PLAIN)
    inside, complete = value.values() if issubclass(kind, dict) else value, True
    if any(map(_may_be_edited, set(map(type, inside)))):
        for one in inside:
            complete = _find_editable(one, found) and complete
    return complete


@cache
def _may_be_edited(kind: Any) -> bool:
    if issubclass(kind, BaseModel):
        shape = shape_of(kind)
        return bool(shape.editable) or not shape.known
    return not issubclass(kind, _PLAIN)


def _model(kind: type[BaseModel], above: frozenset[type]) -> Shape:
    if kind in above:  # a recursive model: only reading it back shows whether it is too deep
        return _RECURSIVE
    fields = {
        name: _annotation(one.annotation, (*one.metadata,), above | {kind})
        for name, one in kind.model_fields.items()
    }
    parts = _all(fields.values())
    config, found = kind.model_config, kind.__pydantic_decorators__
    renamed_or_left_out = any(
        one.alias
        or one.validation_alias
        or one.serialization_alias
        or one.exclude
        or getattr(one, "exclude_if", None)
        for one in kind.model_fields.values()
    )
    has_custom_rules = (
        found.validators
        or found.field_validators
        or found.root_validators
        or found.model_validators
        or found.field_serializers
        or found.model_serializers
        or found.computed_fields
        or config.get("extra") == "allow"
        or config.get("alias_generator")
        or config.get("strict")
        or config.get("json_encoders")
        or any(name.startswith(("ser_json", "val_json")) for name in config)
        or kind.__private_attributes__
        or _has_custom_hooks(kind)
    )
    holds_more = config.get("extra") == "allow" or kind.__private_attributes__
    return Shape(
        known=parts.known and not holds_more,
        faithful=parts.faithful and not renamed_or_left_out and not has_custom_rules,
        models=parts.models | {kind},
        editable=tuple(name for name, one in fields.items() if one.contains or not one.known),
        contains=parts.contains,
    )


def _has_custom_hooks(kind: type[BaseModel]) -> bool:
    inherited = ("pydantic.main", "builtins", "typing", "abc")
    own = (one for one in kind.__mro__ if one.__module__ not in inherited)
    return any(_CUSTOM_HOOKS & vars(one).keys() for one in own)


def _annotation(kind: Any, metadata: tuple[Any, ...], above: frozenset[type]) -> Shape:
    if any(
        hasattr(one, "__get_pydantic_core_schema__") or getattr(one, "strict", None)
        for one in metadata
    ):  # a custom validator or serializer, or values that JSON cannot represent
        return replace(_annotation(kind, (), above), faithful=False)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotation(arguments[0], arguments[1:], above)
    if origin is Literal:
        return replace(_GOOD, faithful=_of_one_kind(arguments))
    if origin in (Union, types.UnionType):
        inside = _all(_annotation(one, (), above) for one in arguments)
        several = len([one for one in arguments if one is not types.NoneType]) > 1
        return replace(inside, faithful=inside.faithful and not several)
    if origin is not None:
        inside = _all(_annotation(one, (), above) for one in arguments if one is not ...)
        container = origin in (list, set, dict, Mapping, Sequence)
        known = bool(arguments) and (container or origin in (tuple, frozenset))
        same = origin is not Sequence and (origin not in (dict, Mapping) or arguments[:1] == (str,))
        return replace(
            inside,
            known=inside.known and known,
            contains=inside.contains or container,
            faithful=inside.faithful and known and same,
        )
    return _single(kind, above)


def _single(kind: Any, above: frozenset[type]) -> Shape:
    if kind is None:
        return _GOOD
    kind = getattr(kind, "__supertype__", kind)  # a NewType
    if not isinstance(kind, type):
        return _ANYTHING
    if issubclass(kind, BaseModel):
        return _model(kind, above)
    if kind in (float, bytes):  # infinity becomes null, and bytes must be UTF-8
        return Shape(known=True, faithful=False)
    if kind in _EXPIRING:
        return replace(_GOOD, expires=True)
    if issubclass(kind, Enum):
        return replace(_GOOD, faithful=_of_one_kind([one.value for one in kind]))
    return _GOOD if kind in (*_PLAIN, *_LIMITED_TIMES, bool) else _ANYTHING


def _of_one_kind(values: Sequence[object]) -> bool:
    """Whether JSON keeps these values distinct: all strings, or all integers."""
    return all(isinstance(one, str) and not isinstance(one, Enum) for one in values) or all(
        type(one) is int for one in values
    )


def _all(shapes: Iterable[Shape]) -> Shape:
    found = tuple(shapes)
    return Shape(
        known=all(one.known for one in found),
        faithful=all(one.faithful for one in found),
        models=frozenset().union(*(one.models for one in found)),
        contains=any(one.contains for one in found),
        expires=any(one.expires for one in found),
    )
