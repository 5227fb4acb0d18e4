"""What a change is: a frozen, typed command that folds one state into the next."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

WHOLE = ""
"""The part that overlaps with every other: the state as a whole."""


class Command(BaseModel, ABC, Generic[S, C]):
    """One change of a state, as tools, clients and the journal write it.

    A subclass names itself by a literal ``op``; its docstring is what a language model reads.
    ``S`` is the state, ``C`` what the rules may look at beside it: a menu, a clock, a source of ids.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any
    """Its name; ``Any``, because type checkers let no subclass narrow a ``str`` to a literal."""

    demands_version: ClassVar[bool] = False
    """Whether a client has to say which version it has seen, since it could undo another's work."""

    @abstractmethod
    def apply(self, state: S, context: C) -> S:
        """Return the state after this change; the one given stays as it is.

        Raises:
            Refused: The rules do not allow it.
        """

    def written(self) -> dict[str, JsonValue]:
        """Return it as JSON: what was left open is left out, an explicit nothing stays."""
        return {
            name: value
            for name, value in self.model_dump(mode="json").items()
            if value is not None or name in self.model_fields_set
        }

    def touches(self, state: S) -> tuple[str, ...]:
        """Name the parts this command changes or relies on, as paths like ``lines/L1``.

        A part overlaps with itself, with what lies below it and with ``WHOLE``. An empty tuple
        conflicts with nobody. Raises ``Refused`` when a part it names is not there: what is gone is
        said before what has changed.
        """
        return (WHOLE,)

    def changes(self, before: S, after: S) -> tuple[str, ...]:
        """Name the parts that came out different, so that others who saw them before are told.

        What it touches, unless the command can say it more exactly.
        """
        return self.touches(before)


class HandOver(Command[Any, Any]):
    """Who speaks changes; the state does not. Written by the framework, never by a model."""

    op: Literal["hand_over"] = "hand_over"
    source: str | None = None
    target: str

    def apply(self, state: Any, context: Any) -> Any:
        """Leave the state alone."""
        return state

    def touches(self, state: Any) -> tuple[str, ...]:
        """Conflict with nobody."""
        return ()


def overlap(one: str, other: str) -> bool:
    """Whether two parts share anything.

    >>> overlap("lines/L1", "lines/L2"), overlap("lines", "lines/L2"), overlap("", "tip")
    (False, True, True)
    """
    if not one or not other or one == other:
        return True
    return one.startswith(other + "/") or other.startswith(one + "/")
