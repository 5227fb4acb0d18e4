"""``agent.state``: the parts of the order as objects, in one envelope."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from rpc.gateway import ErrorObject, Request
from rpc.wire.values import Ask, Fields, Iso, Key, Now, Shown, Version, WrittenAs
from state.text import Words

Operation = Literal["create", "read", "update", "delete", "list"]
ObjectType = Literal[
    "item", "note", "order", "customer", "fulfilment", "tip", "payment", "feedback"
]


class AgentStateRequest(Request):
    """Create, read, update, delete or list the parts of the order."""

    operation: Annotated[Ask, WrittenAs(Operation)]
    object_type: Annotated[
        Ask | None,
        WrittenAs(ObjectType | None),
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
