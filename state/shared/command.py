"""Commands: frozen, typed changes, each of which turns one state into the next."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

WHOLE = ""
"""The state as a whole: the part that overlaps with every other."""


class Command(BaseModel, ABC, Generic[S, C]):
    """One change of a state: the same model for tools, clients and the journal.

    A subclass sets a literal ``op``; its docstring is what a language model reads.
    ``S`` is the state, ``C`` the context that the rules may use: prices, a clock, a source of ids.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any
    """The command's name; ``Any``, because type checkers do not let a subclass narrow ``str`` to a literal."""

    demands_version: ClassVar[bool] = False
    """Whether a client must send the version it has seen, because the command could undo another's work."""

    async def prepare(self, context: C) -> None:
        """Refresh the context's data that ``apply`` reads; awaited right before it, in the writer's turn.

        By default it does nothing. It changes no state, and may be awaited again when another process was
        faster. Its exception ends the change, as if ``apply`` had raised it.
        """

    @abstractmethod
    def apply(self, state: S, context: C) -> S:
        """Return the state after this change; must not modify the given one.

        Raises:
            Refused: The rules do not allow it.
        """

    def written(self) -> dict[str, JsonValue]:
        """Return the command as JSON: unset fields are left out, explicit nulls stay."""
        return {
            name: value
            for name, value in self.model_dump(mode="json").items()
            if value is not None or name in self.model_fields_set
        }

    def touches(self, state: S) -> tuple[str, ...]:
        """Name the parts this command changes or relies on, as paths like ``lines/L1``.

        A part overlaps with itself, with everything below it and with ``WHOLE``. An empty tuple never conflicts.
        Raises ``Refused`` if a named part does not exist: a missing part is reported before a conflict.
        """
        return (WHOLE,)

    def changes(self, before: S, after: S) -> tuple[str, ...]:
        """Name the parts that changed, for conflict checks with writers who saw them before.

        By default ``touches``; override it to be more exact.
        """
        return self.touches(before)


class _Event(Command[Any, Any]):
    """An event of a call: a row of the journal that changes no state."""

    def apply(self, state: Any, context: Any) -> Any:
        """Return the state unchanged."""
        return state

    def touches(self, state: Any) -> tuple[str, ...]:
        """Return no parts: it never conflicts."""
        return ()


class HandOver(_Event):
    """The active agent changes; the state does not. Written by the framework, never by a model."""

    op: Literal["hand_over"] = "hand_over"
    source: str | None = None
    target: str
    arguments: dict[str, JsonValue] | None = None
    """The arguments that the source passes to the target, as JSON."""
    trail: tuple[str, ...] | None = None
    """The agents that handed over, the latest last: a way back from the target leads to the latest."""


class StartTool(_Event):
    """A tool that outlasts its reply has been started. Written by the framework, never by a model."""

    op: Literal["start_tool"] = "start_tool"
    key: str
    """Its idempotency key."""
    tool: str
    arguments: dict[str, JsonValue]


class EndTool(_Event):
    """The user has been told the result of such a tool."""

    op: Literal["end_tool"] = "end_tool"
    key: str


FRAMEWORK_COMMANDS: tuple[type[Command[Any, Any]], ...] = (HandOver, StartTool, EndTool)
"""Commands that change no state; reserved for the framework."""


def overlap(one: str, other: str) -> bool:
    """Whether two parts overlap.

    >>> overlap("lines/L1", "lines/L2"), overlap("lines", "lines/L2"), overlap("", "tip")
    (False, True, True)
    """
    if not one or not other or one == other:
        return True
    return one.startswith(other + "/") or other.startswith(one + "/")
