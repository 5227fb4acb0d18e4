"""What an agent can do: commands that change the state, reads that look at it, actions beside it.

Each is a pydantic model whose docstring and fields are what the language model reads. The tool made from
it carries a raw schema that is built once per process: livekit-agents 1.8.9 rebuilds the schema of a typed
function tool for every model request.
"""

import inspect
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from livekit.agents import RunContext, function_tool
from livekit.agents.llm import RawFunctionTool
from pydantic import BaseModel, ConfigDict

from agents.handoff.schema import parameters
from state.shared import Command

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class Read(BaseModel, ABC, Generic[S, C]):
    """A question to the state that changes nothing. Subclasses name themselves by a literal ``op``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any  # each names itself by a literal

    @abstractmethod
    def answer(self, state: S, context: C) -> str:
        """Return what the model is told.

        Raises:
            StateError: There is no such thing; the model is told why.
        """


class Action(BaseModel, ABC):
    """Something done beside the state: ending the call, asking another system.

    An action that also changes the state does so last, by one ``apply``: a time limit covers its work
    and not its commit. ``apply`` takes the version that the reply was shown and the turn it answers as
    defaults, so an action that reads, waits and writes is refused when the state has changed meanwhile.
    An action that looks at the state again before it writes passes ``seen=call.shared.version``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    op: Any  # each names itself by a literal

    goes_last: ClassVar[bool] = False
    """Whether it is done after everything else in its reply, as a handoff is: refused when something of
    that failed, or when the guest is handed over. Nothing more is said if the agent has spoken already."""

    @abstractmethod
    async def run(self, call: "Call[Any, Any]") -> str:
        """Do it and return what the model is told.

        Raises:
            StateError: It could not be done; the model is told why.
        """


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
    """Return the name a tool is called by: its ``op``."""
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
    """Return a tool's arguments as JSON Schema: strict, where that has a form for them."""
    return _schema(tool)[0]


def is_strict(tool: Tool) -> bool:
    """Whether a provider that can keeps a model to the schema of a tool's arguments."""
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

    livekit-agents 1.8.9 inspects a tool's signature at every call; given ready it costs a third less.
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


def given(raw: dict[str, object], model: type[BaseModel] | None = None) -> dict[str, object]:
    """Leave out what the model gave as null: strict schemas make it say so for what it leaves open.

    Args:
        raw: The arguments.
        model: What they are the fields of. What it requires may be null and is not left out.
    """
    required = {
        name for name, field in (model.model_fields if model else {}).items() if field.is_required()
    }
    return {
        name: _given(value) for name, value in raw.items() if value is not None or name in required
    }


def _given(value: object) -> object:
    if isinstance(value, dict):
        return given(value)
    if isinstance(value, list):
        return [_given(one) for one in value]
    return value


def refusal_text(lead: str, code: str, message: str, facts: dict[str, Any]) -> str:
    """Tell a model why not: a sentence, a code and the facts, in one line of text.

    >>> refusal_text("Nothing was changed.", "sold_out", "No lemonade today.", {"name": "Lemonade"})
    'Nothing was changed. sold_out: No lemonade today. {"name": "Lemonade"}'
    """
    tail = ""
    if facts:
        try:
            tail = f" {json.dumps(facts, ensure_ascii=False, default=str)}"
        except Exception:  # an application's own facts: the reason counts without them
            logger.exception("the facts of a refusal cannot be written as JSON")
    return f"{lead} {code}: {message}{tail}"
