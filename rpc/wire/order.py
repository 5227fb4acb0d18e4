"""The order: reading it, changing it by a command, following it."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from rpc.gateway import JsonText, Request
from rpc.wire.order_view import OrderView
from rpc.wire.values import Fields, Key, Now, Shown, Version, WrittenAs
from state.commands import GuestCommand, StaffCommand

Order = Annotated[dict[str, JsonValue] | JsonText, WrittenAs(OrderView, made_here=True)]
"""The view of an order, as ``state.view`` wrote it."""

CommandJson = Annotated[
    Fields,
    WrittenAs(Annotated[GuestCommand | StaffCommand, Field(discriminator="op")]),
]
"""A command as it came; it is read when it is known whether the caller may give it."""


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
    JsonText,
    WrittenAs(
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
    """Change the order by a command, as the agents' tools do."""

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
