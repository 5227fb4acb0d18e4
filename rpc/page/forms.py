"""The forms of requests, replies and pushes that every application has.

In texts for the contract ``{noun}`` is replaced by the application's noun, ``{Noun}`` by the same as part of a
name, ``{user}`` by the role of the bound user and ``{keyed}`` by the object types with an id.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rpc.gateway import ErrorObject, JsonText, Request
from state.privacy.text import Words, clean

PROTOCOL: Final = 1
"""The protocol version; raised when an old client would misread a reply."""

LONGEST_SAID = 1000
"""The maximum length of ``say``, in characters."""


class Shown(BaseModel):
    """Base of all reply and push models: every field is always present, ``null`` if unknown."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        serialize_by_alias=True,
    )


class Filled:
    """Marks a value whose schema the contract fills in.

    Args:
        name: The kind of value: ``view``, ``command``, ``patch``, ``operation`` or ``object_type``.
        made_here: Whether our own code created the value, so that it is not validated.
    """

    def __init__(self, name: str, *, made_here: bool = False) -> None:
        self._name = name
        self._made_here = made_here

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.any_schema() if self._made_here else handler(source)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {FILLED: self._name}


FILLED = "filled with"
"""The key under which a schema names what the contract fills in."""

Iso = Annotated[str, Field(description="ISO 8601 with its offset.")]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=255,
        description="Idempotency key: a repeated request changes nothing and gets the first answer.",
    ),
]
Version = Annotated[
    int, Field(ge=0, le=2**53, description="The version of the {noun} that the caller has seen.")
]
Now = Annotated[int, Field(description="The version of the {noun} in this reply.")]
Ask = Annotated[str, Field(max_length=200)]
Fields: TypeAlias = Mapping[str, JsonValue]
Operation = Literal["create", "read", "update", "delete", "list"]
TypeName = Annotated[str, Filled("object_type")]
Patch = Annotated[JsonText, Filled("patch", made_here=True)]
"""JSON Patch (RFC 6902); the steps apply in this order."""


# -- hello and say ---------------------------------------------------------------------------------


def _as_said(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


class HelloRequest(Request):
    """Join the call. Answered once you are the bound {user} and can be heard."""


def hello_reply(noun: str, features: tuple[str, ...], *, repeats: bool) -> type[Shown]:
    """Return the form of the reply to ``hello``.

    Args:
        noun: The name of the state.
        features: The features that clients can rely on.
        repeats: Whether the reply has the commands that repeat the user's last state.
    """
    code = "Continues this {noun} in another room; for the {user} only."
    fields: dict[str, Any] = {
        "protocol": (Literal[1], PROTOCOL),
        "agent": (Annotated[str, Field(description="The agent's name.")], ...),
        "features": (tuple[str, ...], features),
        f"{noun}_id": (str, ...),
        "version": (Now, ...),
        "active_agent": (Annotated[str, Field(description="The agent that is active.")], ...),
        "turn": (Annotated[int, Field(description="The number of user turns so far.")], ...),
        "resume_code": (Annotated[str | None, Field(description=code)], ...),
    }
    if repeats:
        last = (
            "The commands that repeat the {user}'s last {noun}, to be sent in this order; empty if"
            " there was none."
        )
        fields[f"last_{noun}"] = (
            Annotated[
                tuple[Annotated[dict[str, JsonValue], Filled("command")], ...],
                Field(description=last),
            ],
            (),
        )
    return create_model(
        "HelloReply", __base__=Shown, __doc__="The present state of the call.", **fields
    )


class SayRequest(Request):
    """Say something to the agent, as if spoken. Interrupts a reply in progress."""

    text: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_SAID, description="The {user}'s words."),
        BeforeValidator(_as_said),
    ]
    key: Key | None = None


class SayReply(Shown):
    """The words were accepted."""

    turn: Annotated[int, Field(description="The number of this turn; `your_turn_to_speak` has it.")]


class GetTranscriptRequest(Request):
    """Read the transcript of the {noun}: its newest lines, or those before a number."""

    before: Annotated[
        int | None,
        Field(ge=0, le=2**53, description="The number of the first line that you have."),
    ] = None


class TranscriptLine(Shown):
    """The words of the {user} or an agent; redacted, and shortened if they are long."""

    number: Annotated[int, Field(description="The line's number; later lines have higher ones.")]
    turn: Annotated[int, Field(description="The number of the {user}'s turn; 0 before the first.")]
    speaker: Annotated[
        Literal["user", "agent"], Field(description="`user` is the {user}, in every application.")
    ]
    agent: Annotated[str | None, Field(description="The agent; null for the {user}.")]
    text: str
    interrupted: Annotated[bool, Field(description="Whether the {user} interrupted it.")]
    utterance: Annotated[
        str | None,
        Field(
            description=(
                "The attribute `utterance` of the live transcriptions of these words; null if it is"
                " not known, as of typed words and those that an earlier release has stored."
            )
        ),
    ] = None


class Transcript(Shown):
    """A part of the transcript."""

    lines: Annotated[tuple[TranscriptLine, ...], Field(description="Oldest first.")]
    earlier: Annotated[
        bool, Field(description="Whether there are lines before the first of these.")
    ]


# -- recording -------------------------------------------------------------------------------------

RECORDED: Final = "recorded"
"""The feature that ``hello`` reports while the call is recorded."""


class RefuseRecordingRequest(Request):
    """Stop recording this call and later ones about this {noun}, and delete the recordings."""


# -- push-to-talk ----------------------------------------------------------------------------------

PUSH_TO_TALK: Final = "push_to_talk"
"""The feature that ``hello`` reports in a call with audio."""


class StartTurnRequest(Request):
    """Begin a turn: interrupts the agent, and switches the microphone to push-to-talk."""


class EndTurnRequest(Request):
    """End the turn. The reply to this request does not wait for the transcript."""


class CancelTurnRequest(Request):
    """End the turn and discard its words."""


class TurnReply(Shown):
    """The request was carried out."""

    ok: Literal[True] = True
    turn: Annotated[
        int,
        Field(description="The turn's number; after `cancel_turn` that of the last turn before."),
    ]


MicrophoneMode = Literal["open", "push_to_talk"]
"""``open``: all of the user's audio is used; ``push_to_talk``: only that between ``start_turn`` and ``end_turn``."""


class SetMicrophoneRequest(Request):
    """Set the microphone mode: `push_to_talk` uses only the audio between `start_turn` and `end_turn`."""

    mode: MicrophoneMode


class MicrophoneReply(Shown):
    """The request was carried out."""

    ok: Literal[True] = True
    mode: MicrophoneMode


# -- the state -------------------------------------------------------------------------------------


class GetStateRequest(Request):
    """Read the {noun}: as a whole, or the changes since a version."""

    model_config = ConfigDict(title="Get{Noun}StateRequest")

    since: Annotated[Version | None, Field(description="The version you have.")] = None


class WholeState(Shown):
    """The whole {noun}."""

    model_config = ConfigDict(title="Whole{Noun}")

    version: Now


def whole_state(noun: str) -> type[WholeState]:
    """Return the form of a reply with the whole state, under the application's noun."""
    view = Annotated[dict[str, JsonValue] | JsonText, Filled("view", made_here=True)]
    fields: dict[str, Any] = {noun: (view, ...)}
    return create_model("WholeState", __base__=WholeState, __doc__=WholeState.__doc__, **fields)


class Unchanged(Shown):
    """The {noun} has not changed since the version sent."""

    version: Now
    unchanged: Literal[True] = True


class Add(Shown):
    """Add a value; in a list, insert it before this index."""

    op: Literal["add"]
    path: Annotated[str, Field(description="JSON Pointer from the view's root.")]
    value: JsonValue


class Remove(Shown):
    """Remove the value."""

    op: Literal["remove"]
    path: str


class Replace(Shown):
    """Replace the value; an empty path is the whole view."""

    op: Literal["replace"]
    path: str
    value: JsonValue


class StatePatch(Shown):
    """The changes since ``base_version``."""

    model_config = ConfigDict(title="{Noun}Patch")

    version: Now
    base_version: int
    patch: Patch


class ApplyRequest(Request):
    """Change the {noun} by a command, as the agents' tools do."""

    model_config = ConfigDict(title="{Noun}ApplyRequest")

    command: Annotated[Fields, Filled("command")]
    version: Version | None = None
    key: Key | None = None


class SubscribeRequest(Request):
    """Subscribe to changes of the {noun}, sent as `{noun}_state_changed`."""

    model_config = ConfigDict(title="{Noun}SubscribeRequest")


class UnsubscribeRequest(Request):
    """Unsubscribe from changes."""

    model_config = ConfigDict(title="{Noun}UnsubscribeRequest")


class Done(Shown):
    """The request was carried out."""

    ok: Literal[True] = True


# -- agent.state -----------------------------------------------------------------------------------


class AgentStateRequest(Request):
    """Create, read, update, delete or list the parts of the {noun}."""

    operation: Annotated[Ask, Filled("operation")]
    object_type: Annotated[
        Annotated[Ask, Filled("object_type")] | None,
        Field(description="Required except for a list."),
    ] = None
    object_id: Annotated[
        Words | None,
        Field(
            description="Required for an existing {keyed}; the id of any other part is its type."
        ),
    ] = None
    data: Annotated[
        Fields | None,
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "object", "additionalProperties": True},
                    {"type": "null"},
                ]
            }
        ),
        Field(description="The fields of the command to carry out."),
    ] = None
    version: Version | None = None
    key: Key | None = None
    cursor: Annotated[Ask | None, Field(description="For a list: from the previous page.")] = None


class ObjectView(Shown):
    """One part of the {noun}; its ``data`` can be sent back."""

    id: str
    type: TypeName
    created_at: Annotated[Iso | None, Field(description="null: not set yet.")]
    updated_at: Iso | None
    data: Annotated[Fields, Field(description="Its fields, named like the command's.")]


class _Envelope(Shown):
    status: Literal["success"] = "success"
    message: Annotated[str, Field(description="A summary for people.")]
    version: Now


class Created(_Envelope):
    """The object was created."""

    operation: Literal["create"] = "create"
    object_id: str


class ReadOne(_Envelope):
    """The requested object."""

    operation: Literal["read"] = "read"
    object: ObjectView


class Written(_Envelope):
    """The object was updated or deleted."""

    operation: Literal["update", "delete"]


class Listed(_Envelope):
    """The requested objects."""

    operation: Literal["list"] = "list"
    objects: Annotated[Mapping[str, ObjectView], Field(description="By their ids.")]
    count: Annotated[int, Field(description="The number of objects in this reply.")]
    cursor: Annotated[str | None, Field(description="For the next page; null: there are no more.")]


class Failed(Shown):
    """The operation failed."""

    status: Literal["error"] = "error"
    operation: Operation
    message: str
    version: Now
    error: ErrorObject


# -- pushes; a client's answer to one is ignored ---------------------------------------------------


class StateChanged(Shown):
    """The {noun} has changed; sent to subscribers.

    A client without ``base_version`` has missed a change and calls ``get_{noun}_state``. So does
    a client that receives an empty patch with two equal versions: the change was too long to be sent.
    """

    model_config = ConfigDict(title="{Noun}StateChanged")

    base_version: int
    version: int
    patch: Patch


class AnswerTimes(Shown):
    """The latency of a reply by its parts, in milliseconds; a part that did not occur is left out."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    transcript: Annotated[
        int | None, Field(description="From the end of the {user}'s speech to its transcript.")
    ] = None
    endpointing: Annotated[
        int | None, Field(description="From the transcript to the end of the turn.")
    ] = None
    llm: Annotated[
        int | None, Field(description="From the end of the turn to the first word of the reply.")
    ] = None
    tts: Annotated[int | None, Field(description="From the first word to the first audio.")] = None
    total: Annotated[int | None, Field(description="The sum of the parts.")] = None


class YourTurnToSpeak(Shown):
    """It is the {user}'s turn to speak."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    turn: int
    your_turn: Literal[True]
    active_agent: str
    version: int
    expects: Literal["open", "yes_no", "choice", "rating", "amount", "name", "contact"]
    choices: Annotated[tuple[str, ...], Field(description="The possible choices, if known.")] = ()
    text: Annotated[str | None, Field(description="A sentence for a screen reader.")] = None
    latency_ms: Annotated[
        AnswerTimes | None,
        Field(description="The latency of the agent's reply, if it was spoken."),
    ] = None


class TurnTakenBack(Shown):
    """It is no longer the {user}'s turn: the agent speaks again."""

    turn: int
    your_turn: Literal[False]


class CallEnded(Shown):
    """The call has ended; sent to the {user} and to subscribers.

    After ``agent_ended`` the agent stays in the room for reading. The {user} starts a new call, about a new {noun},
    by saying or writing something, or by joining again and calling ``hello``. A client that leaves before it has
    replied is sent the notice again when it is back: the ``resume_code`` tells the earlier call from the next one.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    reason: Annotated[
        Literal["agent_ended", "user_left", "moved", "failed"],
        Field(
            description="The agent ended the call; the {user} left or no longer answered; the {noun} continues in"
            " another room; the call failed and is not resumed."
        ),
    ]
    resume_code: Annotated[
        str | None,
        Field(description="Continues the {noun} in another room; for the {user} only."),
    ] = None
