"""States and commands as JSON, and whether a state is one: what a shared state asks before and after a change."""

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import PydanticSerializationError

from state.shared.command import Command
from state.shared.errors import JournalFault, NotStored
from state.shared.shapes import shape_of

logger = logging.getLogger(__name__)

N = TypeVar("N", bound=BaseModel)


def fingerprint(commands: Sequence[Command[Any, Any]]) -> str:
    """Return what tells whether the same was asked before."""
    said = json.dumps(as_json(commands), sort_keys=True)
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
        NotStored: It would not be.
    """
    kind = type(state)
    try:
        written = state.model_dump_json()
        if shape_of(kind).survives or kind.model_validate_json(written) == state:
            return written
    except (ValidationError, PydanticSerializationError) as error:
        logger.warning("a state cannot be kept: %s", type(error).__name__)
    raise NotStored("it would not come back from the journal as it is")


def valid(before: N, state: N) -> N:
    """Return the state a command made as its model would have it: ``model_copy`` checks nothing.

    Raises:
        ValidationError: It is no such state. Nothing has been written.
        TypeError: It is of another kind, or has a field that its kind does not have.
    """
    kind = type(before)
    if not isinstance(state, kind):
        raise TypeError(f"a command made a {type(state).__name__} of a {kind.__name__}")
    valid = kind.model_validate(state.__dict__, by_alias=False, by_name=True)
    if valid.__dict__.keys() != state.__dict__.keys():
        raise TypeError(f"a command gave a {kind.__name__} a field that it does not have")
    return state if valid.__dict__ == state.__dict__ else valid


def read(kind: type[N], state: str, what: str) -> N:
    """Read a state as the journal gave it back.

    Raises:
        JournalFault: It is no such state; ``what`` names it.
    """
    try:
        return kind.model_validate_json(state)
    except ValidationError as error:
        # The values stay out of it: they are a guest's.
        places = {".".join(map(str, fault["loc"])) or "the whole" for fault in error.errors()}
        raise JournalFault(
            what, f"it does not fit this program ({', '.join(sorted(places))})"
        ) from None
