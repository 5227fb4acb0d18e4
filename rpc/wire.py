"""What goes over the wire: the form of every request, reply and push of the restaurant."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rpc.gateway import ErrorObject, Request
from rpc.order_view import Amount, Iso, OrderView, Shown
from state.commands import GuestCommand, StaffCommand
from state.text import Words, clean

PROTOCOL: Final = 1
"""Raised when an old client would not understand an answer any more."""

FEATURES = (
    "say",
    "get_menu",
    "order.apply",
    "order.subscribe",
    "agent.state",
    "patches",
    "your_turn_to_speak",
)
"""What can be relied on beside ``hello`` and ``get_order_state``; one that is new is added."""

LONGEST_SAID = 1000
"""How many characters of speech are taken in at once."""


class _WrittenAs:
    """Shows a value in the contract as what another form says of it.

    Args:
        form: That form.
        made_here: Whether our own code made the value, so that nothing is left to check.
    """

    def __init__(self, form: Any, *, made_here: bool = False) -> None:
        self._schema = TypeAdapter(form).core_schema
        self._made_here = made_here

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.any_schema() if self._made_here else handler(source)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(self._schema)


def _as_said(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=255,
        description="Makes it safe to ask twice: the second time nothing happens, and the answer is the"
        " first one's.",
    ),
]
Version = Annotated[
    int, Field(ge=0, le=2**53, description="The version of the order that the caller has seen.")
]
Now = Annotated[int, Field(description="The version of the order that this tells of.")]
Ask = Annotated[str, Field(max_length=200)]
Fields: TypeAlias = Mapping[str, JsonValue]

Order = Annotated[dict[str, JsonValue], _WrittenAs(OrderView, made_here=True)]
"""The view of an order, as ``state.view`` wrote it."""

CommandJson = Annotated[
    Fields,
    _WrittenAs(Annotated[GuestCommand | StaffCommand, Field(discriminator="op")]),
]
"""A command as it came; it is read when it is known whether the caller may give it."""


# -- hello, say -------------------------------------------------------------------------------------


class HelloRequest(Request):
    """Say that you are there. Answered once you are the bound guest and can be heard."""


class HelloReply(Shown):
    """Where the call stands."""

    protocol: Literal[1] = PROTOCOL
    agent: Annotated[str, Field(description="The agent's name.")]
    features: tuple[str, ...] = FEATURES
    order_id: str
    version: Now
    voice: Annotated[str, Field(description="Who speaks.")]
    turn: Annotated[int, Field(description="How many things the guest has said.")]
    resume_code: Annotated[
        str | None, Field(description="Goes on with this order in another room; the guest's only.")
    ]


class SayRequest(Request):
    """Say something to the voice, as if it had been spoken. A reply under way is broken off."""

    text: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_SAID, description="The guest's words."),
        BeforeValidator(_as_said),
    ]
    key: Key | None = None


class SayReply(Shown):
    """The words are taken in."""

    turn: Annotated[int, Field(description="The number of this turn; `your_turn_to_speak` has it.")]


# -- the order --------------------------------------------------------------------------------------


class GetOrderStateRequest(Request):
    """Read the order: as a whole, or what has changed since a version."""

    since: Annotated[Version | None, Field(description="The version that is known already.")] = None


class WholeOrder(Shown):
    """The order as a whole."""

    version: Now
    order: Order


class Unchanged(Shown):
    """What is known already is still so."""

    version: Now
    unchanged: Literal[True] = True


class Add(Shown):
    """Put a value there; in a list before what stands there."""

    op: Literal["add"]
    path: Annotated[str, Field(description="JSON Pointer from the view's root.")]
    value: JsonValue


class Remove(Shown):
    """Take away what is there."""

    op: Literal["remove"]
    path: str


class Replace(Shown):
    """Put a value in the place of what is there; an empty path is the whole view."""

    op: Literal["replace"]
    path: str
    value: JsonValue


Patch = Annotated[
    list[dict[str, JsonValue]],
    _WrittenAs(
        tuple[Annotated[Add | Remove | Replace, Field(discriminator="op")], ...], made_here=True
    ),
]
"""RFC 6902, in the order in which it is carried out."""


class OrderPatch(Shown):
    """What has changed since ``base_version``."""

    version: Now
    base_version: int
    patch: Patch


class OrderApplyRequest(Request):
    """Change the order by a command, as the voices' tools do."""

    command: CommandJson
    version: Version | None = None
    key: Key | None = None


class OrderSubscribeRequest(Request):
    """Be told of every change from now on, by `order_state_changed`."""


class OrderUnsubscribeRequest(Request):
    """Be told no more."""


class Done(Shown):
    """It is so now."""

    ok: Literal[True] = True


# -- the menu ---------------------------------------------------------------------------------------


class GetMenuRequest(Request):
    """Read the menu: the names of its sections, or one of them, page by page."""

    section: Annotated[Words | None, Field(description="The name of a section.")] = None
    cursor: Annotated[Ask | None, Field(description="As the page before gave it.")] = None
    version: Annotated[Ask | None, Field(description="The menu's version known already.")] = None


class MenuSections(Shown):
    """What there is to ask for."""

    menu_version: str
    sections: tuple[str, ...]
    cursor: Annotated[str | None, Field(description="Asks for the rest; null: this is all.")]


class ChoiceView(Shown):
    """Something that can be chosen in a group."""

    name: Annotated[str, Field(description="What to send as a modification.")]
    prices: Annotated[
        Mapping[str, Amount], Field(description="What it adds to one piece, by the dish's size.")
    ]
    allergens: tuple[str, ...]
    diets: tuple[str, ...]
    available: bool


class OptionView(Shown):
    """Choices that go together."""

    name: str
    min: Annotated[int, Field(description="How many have to be chosen.")]
    max: Annotated[int, Field(description="How many may be chosen.")]
    default: Annotated[str | None, Field(description="What is taken when nothing is said.")]
    counted: Annotated[bool, Field(description="Can be had several times: '3 espresso shots'.")]
    halves: Annotated[bool, Field(description="May lie on one half: 'half ham'.")]
    amounts: Annotated[
        Mapping[str, float],
        Field(description="Words for more or less, and what they multiply the price by."),
    ]
    choices: tuple[ChoiceView, ...]


class PartChoice(Shown):
    """One part of a combo: so many of these dishes."""

    choose: int
    dishes: tuple[str, ...]


class ServedView(Shown):
    """When something is served, local time."""

    days: tuple[str, ...]
    hours: tuple[str, ...]


class DishView(Shown):
    """A dish or a combo, with what a page needs to show and order it."""

    name: str
    description: str | None
    sizes: Annotated[
        Mapping[str, Amount],
        Field(description="The price by size. What has only one price has the one size `regular`."),
    ]
    default_size: Annotated[
        str | None, Field(description="The size taken when none is named; null: it has to be.")
    ]
    with_: Annotated[
        tuple[str, ...],
        Field(
            serialization_alias="with",
            description="Can be left off ('no basil'), made light or extra.",
        ),
    ]
    extra: Annotated[
        Mapping[str, Mapping[str, Amount]],
        Field(description="What extra of one of those costs, by size, where it costs anything."),
    ]
    options: tuple[OptionView, ...]
    parts: Annotated[tuple[PartChoice, ...], Field(description="Of a combo; else empty.")]
    allergens: Annotated[
        tuple[str, ...], Field(description="As the menu states them; a combo's: of all its dishes.")
    ]
    diets: tuple[str, ...]
    minimum_age: int | None
    served: Annotated[tuple[ServedView, ...], Field(description="Empty: whenever it is open.")]
    available: Annotated[bool, Field(description="Whether there is any of it today.")]
    continued: Annotated[
        bool, Field(description="The same dish as the one before it: only options go on.")
    ]


class SectionView(Shown):
    """A section of the menu, or a page of it."""

    name: str
    served: tuple[ServedView, ...]
    dishes: tuple[DishView, ...]


class MenuSection(Shown):
    """One page of one section."""

    menu_version: str
    section: SectionView
    cursor: Annotated[str | None, Field(description="Asks for the next page; null: this was all.")]


class MenuUnchanged(Shown):
    """The menu is the one that is known already."""

    menu_version: str
    unchanged: Literal[True] = True


# -- agent.state ------------------------------------------------------------------------------------

Operation = Literal["create", "read", "update", "delete", "list"]
ObjectType = Literal[
    "item", "note", "order", "customer", "fulfilment", "tip", "payment", "feedback"
]


class AgentStateRequest(Request):
    """Create, read, update, delete or list the parts of the order."""

    operation: Annotated[Ask, _WrittenAs(Operation)]
    object_type: Annotated[
        Ask | None,
        _WrittenAs(ObjectType | None),
        Field(description="Only a list can do without it."),
    ] = None
    object_id: Annotated[
        Words | None,
        Field(description="Needed for an item or a note that is there; a part's id is its type."),
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
        Field(description="The fields of the command that is carried out."),
    ] = None
    version: Version | None = None
    key: Key | None = None
    cursor: Annotated[Ask | None, Field(description="Of a list: as the page before gave it.")] = (
        None
    )


class ObjectView(Shown):
    """One part of the order; what ``data`` holds can be sent again."""

    id: str
    type: ObjectType
    created_at: Annotated[Iso | None, Field(description="null: it is not set yet.")]
    updated_at: Iso | None
    data: Annotated[Fields, Field(description="Its fields, named as the command's.")]


class _Envelope(Shown):
    status: Literal["success"] = "success"
    message: Annotated[str, Field(description="For a person who reads along.")]
    version: Now


class Created(_Envelope):
    """It is made."""

    operation: Literal["create"] = "create"
    object_id: str


class ReadOne(_Envelope):
    """It is this."""

    operation: Literal["read"] = "read"
    object: ObjectView


class Written(_Envelope):
    """It is changed, or gone."""

    operation: Literal["update", "delete"]


class Listed(_Envelope):
    """They are these."""

    operation: Literal["list"] = "list"
    objects: Annotated[Mapping[str, ObjectView], Field(description="By their ids.")]
    count: Annotated[int, Field(description="How many are in this reply.")]
    cursor: Annotated[str | None, Field(description="Asks for the rest; null: this is all.")]


class Failed(Shown):
    """It was not done."""

    status: Literal["error"] = "error"
    operation: Operation
    message: str
    version: Now
    error: ErrorObject


# -- what is pushed ---------------------------------------------------------------------------------


class OrderStateChanged(Shown):
    """The order has changed: sent to those who subscribed.

    Whoever does not have ``base_version`` has missed something and asks ``get_order_state``. An empty patch
    from a version to itself says only that: what changed was too long to be sent.
    """

    base_version: int
    version: int
    patch: Patch


class YourTurnToSpeak(Shown):
    """It is the guest's turn to speak."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    turn: int
    your_turn: Literal[True]
    voice: str
    version: int
    expects: Literal["open", "yes_no", "choice", "rating", "amount", "name", "contact"]
    choices: Annotated[
        tuple[str, ...], Field(description="What can be chosen, if it is known.")
    ] = ()
    text: Annotated[str | None, Field(description="A sentence for a screen reader.")] = None


class TurnTakenBack(Shown):
    """It is not the guest's turn after all: the agent speaks again."""

    turn: int
    your_turn: Literal[False]
