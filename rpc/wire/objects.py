"""The forms of ``agent.state``: parts of the order as objects, in one envelope."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from rpc.gateway import ErrorObject, Request
from rpc.wire.values import Ask, Fields, Iso, Key, Now, Shown, Version, WrittenAs
from state.privacy.text import Words

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
        Field(description="Required except for a list."),
    ] = None
    object_id: Annotated[
        Words | None,
        Field(
            description="Required for an existing item or note; the id of any other part is its type."
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
    """One part of the order; its ``data`` can be sent back."""

    id: str
    type: ObjectType
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
