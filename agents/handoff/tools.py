"""The tools of an agent's model: commands change the state, reads query it, actions do the rest.

Each is a pydantic model whose docstring and fields are what the language model reads. Its livekit
tool has a raw schema that is built once per process: livekit-agents 1.8.9 rebuilds the schema of a
typed function tool for every model request. The rules of strict schemas are OpenAI's for structured
outputs: every property is required and no others are allowed, optional ones are nullable instead,
there are no defaults and no ``oneOf``, and a ``$ref`` has no siblings.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, Protocol, TypeAlias

from livekit.agents import RunContext, function_tool
from livekit.agents.llm import RawFunctionTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from agents.handoff.policy import C, S
from state.shared import Command, Refused

TRANSFER_BACK: Final = "transfer_back"
"""The tool of a handoff to the agent that handed the user over."""

DONE, NOTHING_FOUND = "Done.", "There is no answer to that."
"""Told to a model if the application returns no text."""

_KEPT = frozenset(
    {
        *("type", "enum", "description", "pattern", "format", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
"""The schema keywords that strict calling supports besides objects, arrays and ``anyOf``.
Everything else, such as a string's length, is still checked by pydantic when the call is made."""

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


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

    @classmethod
    def is_available(cls, call: Any) -> bool:
        """Whether its model may be offered it in a call now; it must not block."""
        return True

    @abstractmethod
    async def run(self, call: Any) -> str:
        """Do it and return what the model is told.

        Args:
            call: The ``Call``, as ``Call[State, Context]`` in a subclass.

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
        """Its idempotency key: every repeat has the same, so that the other system acts once."""
        return self._key


class TelephoneLine(Protocol):
    """The telephone line of a call, by which its user can be put through to a person."""

    @property
    def reaches_person(self) -> bool:
        """Whether a person can be called now."""
        ...

    def put_through(self, reason: str) -> None:
        """Have the user put through once the reply under way has been spoken.

        Args:
            reason: Why they want a person.
        """


class EndCall(Action):
    """End the call, when the user says goodbye or wants nothing more. Then say goodbye in one sentence."""

    op: Literal["end_call"] = "end_call"

    goes_last: ClassVar[bool] = True

    async def run(self, call: Any) -> str:
        """End the call after the goodbye."""
        call.close_after_reply("agent_ended")
        return "The call ends after your next sentence: say goodbye."


class PutThrough(Action):
    """Put a caller through to a person, when they ask for one. In the same sentence ask them to hold the line."""

    op: Literal["put_through"] = "put_through"
    reason: Annotated[
        str, Field(description="Why, in a few words for that person.", min_length=1, max_length=280)
    ]

    goes_last: ClassVar[bool] = True

    @classmethod
    def is_available(cls, call: Any) -> bool:
        """Only on a telephone, and only while a person can be reached."""
        line: TelephoneLine | None = call.line
        return line is not None and line.reaches_person

    async def run(self, call: Any) -> str:
        """Have the user put through once the reply under way has been spoken."""
        line: TelephoneLine | None = call.line
        if line is None or not line.reaches_person:
            raise Refused("No one can be reached by telephone just now.", reason="no_one_there")
        line.put_through(self.reason)
        return "The caller is put through after your next sentence: ask them to hold the line."


Tool: TypeAlias = type[Command[Any, Any]] | type[Read[Any, Any]] | type[Action]
"""A tool that an agent can offer its model."""

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
        return await context.userdata.tools.use(tool, raw_arguments, context)

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
    required = _required(model) if model is not None else ()
    return {
        name: _drop_nulls_in(value)
        for name, value in raw.items()
        if value is not None or name in required
    }


@cache
def _required(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, one in model.model_fields.items() if one.is_required())


def _drop_nulls_in(value: object) -> object:
    if isinstance(value, dict):
        return drop_nulls(value)
    if isinstance(value, list):
        return [_drop_nulls_in(one) for one in value]
    return value


def text_or(result: object, otherwise: str = DONE) -> str:
    """Return the application's text about a change, or a default if it is blank or no text."""
    return result if isinstance(result, str) and result.strip() else otherwise


def output_text(result: object, otherwise: str = DONE) -> str:
    """Return a tool's result as text; data is formatted as livekit would."""
    data = isinstance(result, bool | int | float | list | tuple | dict)
    return text_or(str(result) if data else result, otherwise)


class NotStrict(Exception):
    """Strict calling cannot express a field.

    These are mappings with free keys, values of any type, tuples of different types, and models
    that contain themselves.
    """


def parameters(
    model: type[BaseModel], *, without: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], bool]:
    """Return the schema of a model's fields, and whether it is strict.

    If strict calling cannot express a field, the schema is pydantic's own and the call is not
    strict; the arguments are validated all the same.

    Args:
        model: The arguments as a pydantic model.
        without: Fields that are not an argument, such as ``op``.
    """
    try:
        return strict_parameters(model, without=without), True
    except NotStrict:
        pass
    schema = model.model_json_schema()
    for name in ("title", "description"):
        schema.pop(name, None)
    schema["properties"] = {
        name: part for name, part in schema["properties"].items() if name not in without
    }
    schema["required"] = [name for name in schema.get("required", ()) if name not in without]
    return schema, False


def strict_parameters(
    model: type[BaseModel], *, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the strict schema of a model's fields.

    Args:
        model: The arguments as a pydantic model.
        without: Fields that are not an argument, such as ``op``.

    Raises:
        NotStrict: Strict calling cannot express a field.
    """
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    if "$ref" in schema:  # a model that contains itself
        raise NotStrict
    properties = {
        name: part for name, part in schema.get("properties", {}).items() if name not in without
    }
    required = set(schema.get("required", ()))
    return _object(properties, required, _Definitions(definitions), None)


@dataclass(frozen=True)
class _Definitions:
    """The definitions of a schema by name, and which of them are being resolved."""

    parts: Mapping[str, dict[str, Any]]
    inside: tuple[str, ...] = ()

    def resolve(self, reference: str) -> "tuple[dict[str, Any], _Definitions]":
        name = reference.rsplit("/", 1)[-1]
        if name in self.inside:
            raise NotStrict
        return self.parts[name], replace(self, inside=(*self.inside, name))


def _object(
    properties: dict[str, Any],
    required: set[str],
    definitions: _Definitions,
    description: str | None,
) -> dict[str, Any]:
    strict = {
        name: _strict(part, definitions)
        if name in required
        else _nullable(_strict(part, definitions))
        for name, part in properties.items()
    }
    made: dict[str, Any] = {
        "type": "object",
        "properties": strict,
        "required": list(strict),
        "additionalProperties": False,
    }
    if description:
        made["description"] = description
    return made


def _strict(part: dict[str, Any], definitions: _Definitions) -> dict[str, Any]:
    if "$ref" in part:
        target, within = definitions.resolve(part["$ref"])
        beside = {name: value for name, value in part.items() if name != "$ref"}
        return _strict({**target, **beside}, within)
    if len(part.get("allOf", ())) == 1:
        beside = {name: value for name, value in part.items() if name != "allOf"}
        return _strict({**part["allOf"][0], **beside}, definitions)
    if part.get("type") == "object":
        if "properties" not in part or part.get("additionalProperties"):
            raise NotStrict
        return _object(
            part["properties"], set(part.get("required", ())), definitions, part.get("description")
        )
    made = {name: value for name, value in part.items() if _is_kept(name, value)}
    if "const" in part:
        made["enum"] = [part["const"]]
    for many in ("anyOf", "oneOf"):
        if many in part:
            made["anyOf"] = [_strict(one, definitions) for one in part[many]]
    if part.get("type") == "array":
        if "prefixItems" in part or not part.get("items"):
            raise NotStrict
        made["items"] = _strict(part["items"], definitions)
    if "enum" in made and "type" not in made:
        made["type"] = sorted({_JSON_TYPES[type(value)] for value in made["enum"]})
    if not {"type", "anyOf"} & made.keys():
        raise NotStrict
    return made


def _is_kept(name: str, value: Any) -> bool:
    if name == "pattern":
        return "(?" not in value  # lookaround is not supported
    if name == "format":
        return value in _FORMATS
    return name in _KEPT


def _nullable(part: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in part:
        if not any(one.get("type") == "null" for one in part["anyOf"]):
            return {**part, "anyOf": [*part["anyOf"], {"type": "null"}]}
        return part
    if "enum" in part and None not in part["enum"]:
        part = {**part, "enum": [*part["enum"], None]}
    kind = part.get("type")
    kinds = [kind] if isinstance(kind, str) else kind
    if kinds and "null" not in kinds:
        return {**part, "type": [*kinds, "null"]}
    return part
