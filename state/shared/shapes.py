"""What the types of a state's model tell before there is any state: can it be edited, does it survive JSON?"""

import types
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

_PLAIN = (str, int, Decimal, date, datetime, time, timedelta, UUID, Enum, types.NoneType)
_FIXED = (tuple, frozenset, Mapping, Sequence, Set)
"""Containers that nobody can edit whom a type checker watches."""
_OWN_WRITING = ("PlainSerializer", "WrapSerializer", "SerializeAsAny")
"""Pydantic's annotations that write a value in another way; not all of them are classes to type checkers."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What holds for every value of a type.

    Args:
        fixed: Nothing in it can be edited in place.
        faithful: Written as JSON and read again it is the same, if nothing in it is of a subclass.
        models: The models in it.
    """

    fixed: bool
    faithful: bool
    models: frozenset[type[BaseModel]] = frozenset()

    @property
    def survives(self) -> bool:
        """Whether every value comes back from JSON: what a subclass adds would not."""
        return self.faithful and not any(model.__subclasses__() for model in self.models)


_GOOD = Shape(fixed=True, faithful=True)
_ANYTHING = Shape(fixed=False, faithful=False)


@cache
def shape_of(kind: type[BaseModel]) -> Shape:
    """Judge a model by its types. What is not known well is taken to promise nothing."""
    return _model(kind, frozenset())


def _model(kind: type[BaseModel], above: frozenset[type]) -> Shape:
    if kind in above:  # it holds others of its kind: the rest of it decides
        return _GOOD
    parts = _all(
        _annotation(field.annotation, (*field.metadata,), above | {kind})
        for field in kind.model_fields.values()
    )
    config, found = kind.model_config, kind.__pydantic_decorators__
    renamed_or_left_out = any(
        field.alias or field.validation_alias or field.serialization_alias or field.exclude
        for field in kind.model_fields.values()
    )
    by_its_own_rules = (
        found.field_serializers
        or found.model_serializers
        or (found.computed_fields and config.get("extra") == "forbid")
        or config.get("extra") == "allow"
        or config.get("alias_generator")
        or kind.__private_attributes__
    )
    return Shape(
        fixed=parts.fixed and bool(config.get("frozen")) and not kind.__private_attributes__,
        faithful=parts.faithful and not renamed_or_left_out and not by_its_own_rules,
        models=parts.models | {kind},
    )


def _annotation(kind: Any, metadata: tuple[Any, ...], above: frozenset[type]) -> Shape:
    if any(type(one).__name__ in _OWN_WRITING for one in metadata):
        return replace(_annotation(kind, (), above), faithful=False)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotation(arguments[0], arguments[1:], above)
    if origin is Literal:
        return _GOOD
    if origin in (Union, types.UnionType):
        inside = _all(_annotation(one, (), above) for one in arguments)
        several = len([one for one in arguments if one is not types.NoneType]) > 1
        return replace(inside, faithful=inside.faithful and not several)
    if origin is not None:
        inside = _all(_annotation(one, (), above) for one in arguments if one is not ...)
        return replace(inside, fixed=inside.fixed and origin in _FIXED)
    return _single(kind, above)


def _single(kind: Any, above: frozenset[type]) -> Shape:
    if kind is None:
        return _GOOD
    kind = getattr(kind, "__supertype__", kind)  # a NewType
    if not isinstance(kind, type):
        return _ANYTHING
    if issubclass(kind, BaseModel):
        return _model(kind, above)
    if kind in (float, bytes):  # infinity becomes null, and bytes have to be UTF-8
        return Shape(fixed=True, faithful=False)
    return _GOOD if issubclass(kind, _PLAIN) else _ANYTHING


def _all(shapes: Iterable[Shape]) -> Shape:
    found = tuple(shapes)
    return Shape(
        fixed=all(one.fixed for one in found),
        faithful=all(one.faithful for one in found),
        models=frozenset().union(*(one.models for one in found)),
    )
