"""RPC methods: a name, the model of the request, and the function that answers it."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

R = TypeVar("R", bound="Request")

USER = "user"
"""The role of the user the room belongs to, unless the application calls it otherwise."""

STAFF = "staff"
"""The role of the application's staff, unless it has others."""


class Request(BaseModel):
    """Base class of request models: strict, frozen, no extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a method.

    Args:
        identity: The identity as the server reports it; never empty.
        role: One of the application's roles, or ``None`` for a participant without one.
    """

    identity: str
    role: str | None


@dataclass(frozen=True)
class Method(Generic[R]):
    """A method that clients can call.

    Args:
        name: The name clients call.
        request: The model of its payload.
        answer: Handles the request and returns the reply. It raises ``Rejected`` or ``StateError``; any other
            exception is reported as ``internal``.
        anybody: Whether a caller without a role may call it.
        roles: The roles that may call it; ``None`` for every role.
    """

    name: str
    request: type[R]
    answer: Callable[[R, Caller], Awaitable[BaseModel]]
    anybody: bool = False
    roles: Collection[str] | None = None


AnyMethod = Method[Any]
"""A method with any request model."""
