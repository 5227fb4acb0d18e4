"""Finds numbers that cannot be stored, and names their place."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from state.shared.errors import Unstorable

LONGEST_BITS = 14_000
"""Longer integers can be written as JSON but not read back (CPython 3.11 reads 4,300 digits)."""

LARGEST_COLUMN = 2**31 - 1
"""The largest number that a column of a row holds: PostgreSQL's integers have 32 bits."""


def refuse_long_numbers(value: Any, name: str = "") -> None:
    """Refuse a value that holds an integer with thousands of digits.

    Args:
        value: A model, or a value that a model may hold.
        name: Its name for the error.

    Raises:
        Unstorable: It holds one. The error names its place without keys of mappings: they may belong to a user.
    """
    try:
        place = next(_long_numbers(value, (name,) if name else ()), None)
    except RecursionError:
        return  # a value that holds itself, or is too deep: refused where it is written
    if place is not None:
        raise Unstorable(f"{'.'.join(place) or 'it'} is a number that is too long")


LARGEST_NUMBER = 2**63 - 1
"""The largest number that may be compared with a version: a larger one is no version of anything."""


def refuse_outside_column(name: str, value: object, largest: int = LARGEST_COLUMN) -> None:
    """Refuse a value that a column for whole numbers cannot hold.

    Args:
        name: Its name for the error.
        value: A whole number, or ``None``.
        largest: Its largest amount, above or below zero.

    Raises:
        Unstorable: It is something else or too large.
    """
    if value is None or (type(value) is int and -largest <= value <= largest):
        return
    raise Unstorable(f"{name} has to be a whole number of at most {largest}")


def _long_numbers(value: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    kind = type(value)
    if kind is str or value is None:
        return
    if isinstance(value, int):
        if value.bit_length() > LONGEST_BITS:
            yield place
        return
    parts: Iterable[tuple[str, Any]]
    if isinstance(value, BaseModel):
        extra = getattr(value, "__pydantic_extra__", None)
        parts = {**value.__dict__, **(extra or {})}.items()
    elif isinstance(value, Mapping):
        parts = (("*", one) for pair in value.items() for one in pair)
    elif isinstance(value, list | tuple | set | frozenset):
        parts = (("*", one) for one in value)
    else:
        return
    for name, one in parts:
        yield from _long_numbers(one, (*place, name))
