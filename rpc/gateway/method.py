"""What can be called: a name, the form of its request, and who answers it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

R = TypeVar("R", bound="Request")

GUEST = "guest"
"""The role of the one whose call it is."""

STAFF = "staff"
"""The role of the house's own people."""


class Request(BaseModel):
    """The form of a request: strict, frozen, and nothing beside its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Args:
        identity: As the server says it; never empty.
        role: ``guest``, ``staff``, or nothing: in the room, and not known to be either.
    """

    identity: str
    role: str | None


@dataclass(frozen=True)
class Method(Generic[R]):
    """Something that can be called.

    Args:
        name: As clients call it.
        request: The form of its payload.
        answer: Does it, and returns the reply. It raises ``Rejected`` or ``StateError``; everything else is
            told as ``internal``.
        anybody: Whether one who is neither guest nor staff may call it.
    """

    name: str
    request: type[R]
    answer: Callable[[R, Caller], Awaitable[BaseModel]]
    anybody: bool = False


AnyMethod = Method[Any]
"""A method of whatever request."""
