"""Judges a state's model by its types: what can be edited in place, and what survives JSON."""

import copy
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from operator import is_
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

T = TypeVar("T")

_PLAIN = (str, int, Decimal, date, datetime, time, timedelta, UUID, Enum, types.NoneType)
_CUSTOM_HOOKS = frozenset({"__init__", "__eq__", "__get_pydantic_core_schema__", "model_post_init"})
"""Methods by which a model customizes its construction, comparison or validation."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Properties that hold for every value of a type.

    Args:
        fixed: Nothing in it can be edited in place.
        faithful: It reads back from JSON unchanged, unless something in it is an instance of a subclass.
        models: The models in it.
        editable: The fields of a model that hold something that can be edited in place.
        mappings: The fields of a model that hold a ``Mapping``: immutable to a type checker, a dict at run time.
    """

    fixed: bool
    faithful: bool
    models: frozenset[type[BaseModel]] = frozenset()
    editable: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    mapping: bool = False
    """Whether it holds a ``Mapping``."""

    @property
    def survives(self) -> bool:
        """Whether every value reads back from JSON; a subclass's own fields would not."""
        return self.faithful and not any(map(type.__subclasses__, self.models))


_GOOD = Shape(fixed=True, faithful=True)
_ANYTHING = Shape(fixed=False, faithful=False)


@cache
def shape_of(kind: type[BaseModel]) -> Shape:
    """Judge a model by its types. Nothing is assumed of types that are not known."""
    return _model(kind, frozenset())


def separate(value: T) -> T:
    """Return a copy that shares none of the original's editable parts."""
    return cast(T, _separate(value))


def _separate(value: Any) -> Any:
    if isinstance(value, BaseModel):
        kind = type(value)
        shape = shape_of(kind)
        if shape.fixed:
            return value
        if value.__pydantic_private__ is not None or value.__pydantic_extra__ is not None:
            return value.model_copy(deep=True)
        return value.model_copy(
            update={name: _separate(value.__dict__[name]) for name in shape.editable}
        )
    if isinstance(value, _PLAIN):
        return value
    kind = type(value)
    if kind is dict:
        return {name: _separate(one) for name, one in value.items()}
    if kind in (list, tuple):
        return kind(_separate(one) for one in value)
    return copy.deepcopy(value)


class Guard:
    """A snapshot of a state's mappings, to detect edits in place.

    Args:
        state: The state.
    """

    def __init__(self, state: BaseModel) -> None:
        found: list[dict[Any, Any]] = []
        _find_mappings(state, found)
        self._known = [(one, dict(one)) for one in found]

    def restore(self) -> bool:
        """Undo edits; return whether there were any."""
        edited = [(one, known) for one, known in self._known if not _same_objects(one, known)]
        for one, known in edited:
            one.clear()
            one.update(known)
        return bool(edited)


def _same_objects(one: Mapping[Any, Any], known: Mapping[Any, Any]) -> bool:
    return (
        len(one) == len(known)
        and all(map(is_, one, known))
        and all(map(is_, one.values(), known.values()))
    )


def _find_mappings(value: Any, found: list[dict[Any, Any]]) -> None:
    if isinstance(value, BaseModel):
        for name in shape_of(type(value)).mappings:
            _find_mappings(value.__dict__[name], found)
    elif type(value) is dict:
        found.append(value)
        if any(map(_may_hold_mappings, set(map(type, value.values())))):
            for one in value.values():
                _find_mappings(one, found)
    elif type(value) in (
        tuple,
        list,
    ):  # lists are copied before they are handed out, models in them are not
        for one in value:
            _find_mappings(one, found)


@cache
def _may_hold_mappings(kind: type) -> bool:
    if issubclass(kind, BaseModel):
        return bool(shape_of(kind).mappings)
    return kind in (dict, tuple, list)


def _model(kind: type[BaseModel], above: frozenset[type]) -> Shape:
    if kind in above:  # a recursive model: its other fields decide
        return _GOOD
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
        or any(name.startswith(("ser_json", "val_json")) for name in config)
        or kind.__private_attributes__
        or _has_custom_hooks(kind)
    )
    holds_more = config.get("extra") == "allow" or kind.__private_attributes__
    return Shape(
        fixed=parts.fixed and bool(config.get("frozen")) and not holds_more,
        faithful=parts.faithful and not renamed_or_left_out and not has_custom_rules,
        models=parts.models | {kind},
        editable=tuple(name for name, one in fields.items() if not one.fixed),
        mappings=tuple(name for name, one in fields.items() if one.mapping),
        mapping=parts.mapping,
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
        known = origin in (tuple, frozenset, list, set) or (
            origin in (dict, Mapping) and arguments[0] is str
        )
        return replace(
            inside,
            fixed=inside.fixed and origin in (tuple, frozenset, Mapping),
            mapping=inside.mapping or origin is Mapping,
            faithful=inside.faithful and known,
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
        return Shape(fixed=True, faithful=False)
    if issubclass(kind, Enum):
        return replace(_GOOD, faithful=_of_one_kind([one.value for one in kind]))
    return _GOOD if kind in _PLAIN or kind is bool else _ANYTHING


def _of_one_kind(values: Sequence[object]) -> bool:
    """Whether JSON keeps these values distinct: all strings, or all integers."""
    return all(isinstance(one, str) and not isinstance(one, Enum) for one in values) or all(
        type(one) is int for one in values
    )


def _all(shapes: Iterable[Shape]) -> Shape:
    found = tuple(shapes)
    return Shape(
        fixed=all(one.fixed for one in found),
        faithful=all(one.faithful for one in found),
        models=frozenset().union(*(one.models for one in found)),
        mapping=any(one.mapping for one in found),
    )
