"""What an agent's model can call: commands change the state, reads query it, actions do the rest.

Each is a pydantic model whose docstring and fields are what the language model reads. Its livekit
tool has a raw schema that is built once per process: livekit-agents 1.8.9 rebuilds the schema of a
typed function tool for every model request.
"""

import inspect
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from livekit.agents import RunContext, function_tool
from livekit.agents.llm import RawFunctionTool
from pydantic import BaseModel, ConfigDict, PrivateAttr

from agents.handoff.schema import parameters
from state.shared import Command

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class Read(BaseModel, ABC, Generic[S, C]):
    """A query of the state that changes nothing. Subclasses set their name as a literal ``op``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any  # each names itself by a literal

    @abstractmethod
    def answer(self, state: S, context: C) -> str:
        """Return what the model is told.

        Raises:
            StateError: There is no answer; the model is told why.
        """


class Action(BaseModel, ABC):
    """A side effect outside the state: ending the call, calling another system.

    An action that also changes the state does so last, by one ``apply``: the time limit covers its
    work and not its commit. By default ``apply`` uses the version the reply was shown and the turn
    it answers, so an action that reads, waits and writes is refused if the state has changed
    meanwhile. An action that reads the state again before it writes passes
    ``seen=call.shared.version``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any  # each names itself by a literal

    goes_last: ClassVar[bool] = False
    """Whether it runs after everything else in its reply, like a handoff: it is refused if another
    tool failed or a handoff is pending. If the agent has spoken already, no further reply
    follows."""

    @abstractmethod
    async def run(self, call: "Call[Any, Any]") -> str:
        """Do it and return what the model is told.

        Raises:
            StateError: It could not be done; the model is told why.
        """


class SlowAction(Action):
    """An action that takes longer than a reply may last, such as asking an insurer.

    The user is told ``wait`` at once and the conversation goes on. The result comes in a reply of its
    own by whichever agent is active then. It ends with the call, however that ends; a call that is
    resumed and has not told the result asks again with the same ``idempotency_key``.
    """

    wait: ClassVar[str]
    """Said to the user when it has been started."""
    limit_s: ClassVar[float] = 60.0
    """How long it may work, in seconds; its commit is not counted."""
    repeats: ClassVar[bool] = True
    """Whether a resumed call asks again. If not, the user is told that the outcome is not known."""

    _key: str = PrivateAttr(default="")

    @property
    def idempotency_key(self) -> str:
        """The same each time this call is made, so that the other system acts on it once."""
        return self._key


class EndCall(Action):
    """End the call, when the user says goodbye or wants nothing more. Then say goodbye in one sentence."""

    op: Literal["end_call"] = "end_call"

    goes_last: ClassVar[bool] = True

    async def run(self, call: "Call[Any, Any]") -> str:
        """End the call after the goodbye."""
        call.close_after_reply("agent_ended")
        return "The call ends after your next sentence: say goodbye."


Tool: TypeAlias = type[Command[Any, Any]] | type[Read[Any, Any]] | type[Action]
"""What an agent can offer its model."""

_SIGNATURE = inspect.Signature(
    [
        inspect.Parameter(
            "raw_arguments", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=dict[str, object]
        ),
        inspect.Parameter(
            "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=RunContext
        ),
    ]
)


@cache
def tool_name(tool: Tool) -> str:
    """Return the name of a tool: its ``op``."""
    return str(tool.model_fields["op"].default)


@cache
def tool_of(tool: Tool) -> RawFunctionTool[Any, Any]:
    """Make the livekit tool of a command, a read or an action."""

    async def run(raw_arguments: dict[str, object], context: RunContext[Any]) -> Any:
        call: Call[Any, Any] = context.userdata
        return await call.tools.use(tool, raw_arguments, context)

    description = inspect.cleandoc(tool.__doc__ or "")
    return raw_tool(tool_name(tool), description, parameters_of(tool), run, strict=is_strict(tool))


@cache
def _schema(tool: Tool) -> tuple[dict[str, Any], bool]:
    return parameters(tool, without=frozenset({"op"}))


def parameters_of(tool: Tool) -> dict[str, Any]:
    """Return a tool's arguments as JSON Schema, strict where possible."""
    return _schema(tool)[0]


def is_strict(tool: Tool) -> bool:
    """Whether a tool's schema is strict, so that providers can enforce it."""
    return _schema(tool)[1]


def raw_tool(
    name: str,
    description: str,
    parameters: dict[str, Any],
    run: Callable[[dict[str, object], RunContext[Any]], Any],
    *,
    strict: bool = True,
) -> RawFunctionTool[Any, Any]:
    """Wrap a function as a raw-schema tool.

    livekit-agents 1.8.9 inspects a tool's signature at every call; a precomputed one costs a third
    less.
    """
    run.__signature__ = _SIGNATURE  # type: ignore[attr-defined]  # functions take any attribute
    run.__name__ = name
    return function_tool(
        run,
        raw_schema={
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": strict,
        },
    )


def drop_nulls(raw: dict[str, object], model: type[BaseModel] | None = None) -> dict[str, object]:
    """Remove null arguments: strict schemas make the model pass null for optional ones.

    Args:
        raw: The arguments.
        model: Their model. Its required fields may be null and are kept.
    """
    required = {
        name for name, field in (model.model_fields if model else {}).items() if field.is_required()
    }
    return {
        name: _drop_nulls_in(value)
        for name, value in raw.items()
        if value is not None or name in required
    }


def _drop_nulls_in(value: object) -> object:
    if isinstance(value, dict):
        return drop_nulls(value)
    if isinstance(value, list):
        return [_drop_nulls_in(one) for one in value]
    return value


def refusal_text(lead: str, code: str, message: str, facts: dict[str, Any]) -> str:
    """Tell a model why a call was refused: a sentence, a code and the facts, in one line.

    >>> refusal_text("Nothing was changed.", "sold_out", "No lemonade today.", {"name": "Lemonade"})
    'Nothing was changed. sold_out: No lemonade today. {"name": "Lemonade"}'
    """
    tail = ""
    if facts:
        try:
            tail = f" {json.dumps(facts, ensure_ascii=False, default=str)}"
        except Exception:  # the refusal is valid without its facts
            logger.exception("facts of a refusal are not JSON serializable")
    return f"{lead} {code}: {message}{tail}"
