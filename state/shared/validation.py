"""Pydantic's validation errors in plain words."""

import re

from pydantic_core import ErrorDetails

_WANTED = {
    "true or false": ("bool_type", "bool_parsing"),
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "a number": ("float_type", "float_parsing", "decimal_type", "decimal_parsing"),
    "a text": ("string_type",),
    "a list": ("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"),
    "an object with named fields": (
        "dict_type",
        "mapping_type",
        "model_type",
        "model_attributes_type",
    ),
    "a date, as 2026-11-20": (
        "date_type",
        "date_parsing",
        "date_from_datetime_parsing",
        "date_from_datetime_inexact",
    ),
    "a time, as 19:00": ("time_type", "time_parsing"),
    "a date and time, as 2026-11-20T19:00": (
        "datetime_type",
        "datetime_parsing",
        "datetime_from_date_parsing",
    ),
}
_BY_TYPE = {kind: f"has to be {wanted}" for wanted, kinds in _WANTED.items() for kind in kinds}
_BY_TYPE |= {"missing": "is missing", "extra_forbidden": "there is no such field here"}

_PHRASES = (
    (re.compile(r"^[A-Z][\w ]*? should "), "has to "),
    (re.compile(r"^Input tag .* expected tags: "), "has to be one of "),
    (re.compile(r"^Unable to extract tag using discriminator (.*)$"), r"has no \1"),
    (re.compile(r" after validation, not .*$"), ""),
    (re.compile(r"^has to have at least 1 (character|item)$"), "must not be empty"),
    (re.compile(r"greater than or equal to"), "at least"),
    (re.compile(r"less than or equal to"), "at most"),
)


def explained(fault: ErrorDetails) -> str:
    """Return the fault of a value in words, as the end of a sentence that begins with its name.

    A message of a validator, which pydantic calls a value error, is returned as it is.

    >>> from typing import Annotated, Literal
    >>> from pydantic import Field, TypeAdapter, ValidationError
    >>> def wrong(form, value):
    ...     try:
    ...         TypeAdapter(form).validate_python(value)
    ...     except ValidationError as error:
    ...         return explained(error.errors()[0])
    >>> wrong(int, "many"), wrong(Annotated[int, Field(ge=1)], 0)
    ('has to be a whole number', 'has to be at least 1')
    >>> wrong(Literal["pickup", "delivery"], "now"), wrong(Annotated[str, Field(min_length=1)], "")
    ("has to be 'pickup' or 'delivery'", 'must not be empty')

    Args:
        fault: An entry of ``ValidationError.errors()``.
    """
    kind, message = fault["type"], fault["msg"]
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    for phrase, words in _PHRASES:
        message = phrase.sub(words, message)
    return message
