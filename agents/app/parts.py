"""Parts of a declaration that few applications need: groups of arguments of ``App``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from state.shared import SharedState

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass(frozen=True, kw_only=True)
class Forgetting(Generic[S, C]):
    """What is kept of a stored state when its user is erased.

    Its id, the times and the names of its commands are kept in any case; its transcript never.

    Args:
        keep: Returns a state as it is kept, without its user; called with every stored version, and
            again with what it returned, which it must leave as it is. By default every version
            becomes the initial state.
        close: Closes an open state first, as staff do. Raises ``Refused`` while its user is still
            needed: the state is left unchanged then, and the reason is shown.
        identifying: The names of the fields whose texts identify a person wherever they are found:
            these are overwritten in logs as well.
    """

    keep: Callable[[S], S] | None = None
    close: "Callable[[SharedState[S, C]], Awaitable[object]] | None" = None
    identifying: tuple[str, ...] = ()
