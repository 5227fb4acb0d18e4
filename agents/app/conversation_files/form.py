"""The format of a conversation file."""

from datetime import datetime
from functools import cache
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    create_model,
    model_validator,
)

from agents.app.parts import Channel, Fields
from agents.app.setting_values import parse_time


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Texts = Annotated[
    tuple[str, ...], BeforeValidator(_as_tuple, json_schema_input_type=str | list[str])
]
"""One text, or a list of texts."""

Time = Annotated[datetime, BeforeValidator(parse_time, json_schema_input_type=str)]
"""ISO 8601; without an offset it is the application's local time."""


class FilePart(BaseModel):
    """A part of a conversation file; unknown keys are faults."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedCall(FilePart):
    """One tool call of the scripted model."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class ScriptStep(FilePart):
    """One reply of the scripted model: words, tool calls, or both.

    Args:
        delay: How long the model waits before it, in seconds.
        error: The message of the error with which the reply ends.
        cut: Whether the arguments of its last call break off in the middle.
    """

    say: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    delay: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = 0.0
    error: str | None = None
    cut: bool = False

    @model_validator(mode="after")
    def _check_step(self) -> "ScriptStep":
        if self.say is None and not self.calls and self.error is None:
            raise ValueError('a step needs "say", "calls" or "error"')
        if self.cut and not self.calls:
            raise ValueError('"cut" needs a call whose arguments can break off')
        return self


class AnyFields(Fields):
    """Any fields, as in the JSON of a view."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Facts(FilePart):
    """Expectations that must hold after a turn.

    Args:
        state: Fields of the state's view.
        agent: The agent that speaks at the end of the turn.
        tools: The names of the tools used, in order, without transfers.
        said: Texts that the agents' words must contain; case is ignored.
        not_said: Texts that they must not contain.
        handoff: The targets of the handoffs, in order; an empty list means no handoff.
    """

    state: Fields | None = None
    agent: str | None = None
    tools: Texts | None = None
    said: Texts = ()
    not_said: Texts = ()
    handoff: Texts | None = None


class UserTurn(Facts):
    """One turn of the user, and the expectations after the reply.

    Args:
        user: The user's words.
        at: The time of the turn; by default that of the turn before.
        results_told: Whether the user waits until slow actions have ended and the agents have told their
            results, before the expectations are compared.
    """

    user: Annotated[str, Field(min_length=1)]
    at: Time | None = None
    results_told: bool = False


def _at_least_one(turns: tuple[UserTurn, ...]) -> tuple[UserTurn, ...]:
    # A length constraint on the field would count only the valid turns.
    if not turns:
        raise ValueError("a conversation needs at least one turn")
    return turns


class ConversationForm(FilePart):
    """A conversation: its start, the user's turns, and the expectations.

    An application's own form, from ``conversation_form``, has more keys: its options, as ``menu``,
    and its noun, as ``order``, for the fields to start from.

    Args:
        model: ``local``, or ``script:FILE``; with a ``script`` the script is played.
        at: The time of its start, by default a Friday evening. The clock stands still except where
            a turn has a time of its own.
        channel: The channel the state starts with; ``terminal`` by default.
        script: The replies of the scripted model, one step each.
        greeting: The expectations before the user's first turn.
        end: Fields of the state's view after the last turn.
        start: Fields of the state to start from.
    """

    model: str | None = None
    at: Time | None = None
    channel: Channel | None = None
    start: Fields | None = None
    script: tuple[ScriptStep, ...] = ()
    greeting: Facts = Facts()
    turns: Annotated[
        tuple[UserTurn, ...],
        AfterValidator(_at_least_one),
        Field(json_schema_extra={"minItems": 1}),
    ]
    end: Fields | None = None


@cache
def form_of(
    noun: str, options: tuple[tuple[str, Any], ...], fields: type[Fields]
) -> type[ConversationForm]:
    """Return the form with an application's fields in place of the general ones.

    Args:
        noun: The application's name for a state.
        options: The names of its own options, with their types.
        fields: The form of the fields of its view.
    """
    some: Any = fields | None
    facts: Any = create_model("Facts", __base__=Facts, state=(some, None))
    turn: Any = create_model("UserTurn", __base__=UserTurn, state=(some, None))
    several = Annotated[
        tuple[turn, ...],
        AfterValidator(_at_least_one),
        Field(json_schema_extra={"minItems": 1}),
    ]
    own: dict[str, Any] = {name: (kind, None) for name, kind in options}
    return create_model(
        "Conversation",
        __base__=ConversationForm,
        __doc__="A conversation: its start, the user's turns, and the expectations.",
        **own,
        start=(some, Field(default=None, alias=noun)),
        greeting=(facts, facts()),
        turns=(several, ...),
        end=(some, None),
    )
