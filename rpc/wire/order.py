"""The forms for reading, changing and following the order."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from rpc.gateway import JsonText, Request
from rpc.wire.values import Fields, Key, Now, Shown, Version, WrittenAs
from state.commands import GuestCommand, StaffCommand
from state.view import OrderView

Order = Annotated[dict[str, JsonValue] | JsonText, WrittenAs(OrderView, made_here=True)]
"""An order's view as rendered by ``state.view``."""

CommandJson = Annotated[
    Fields,
    WrittenAs(Annotated[GuestCommand | StaffCommand, Field(discriminator="op")]),
]
"""A command as sent; it is parsed once the caller's role is known."""


class GetOrderStateRequest(Request):
    """Read the order: as a whole, or the changes since a version."""

    since: Annotated[Version | None, Field(description="The version you have.")] = None


class WholeOrder(Shown):
    """The whole order."""

    version: Now
    order: Order


class Unchanged(Shown):
    """The order has not changed since the version sent."""

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


Patch = Annotated[
    JsonText,
    WrittenAs(
        tuple[Annotated[Add | Remove | Replace, Field(discriminator="op")], ...], made_here=True
    ),
]
"""JSON Patch (RFC 6902); the steps apply in this order."""


class OrderPatch(Shown):
    """The changes since ``base_version``."""

    version: Now
    base_version: int
    patch: Patch


class OrderApplyRequest(Request):
    """Change the order by a command, as the agents' tools do."""

    command: CommandJson
    version: Version | None = None
    key: Key | None = None


class OrderSubscribeRequest(Request):
    """Subscribe to changes of the order, sent as `order_state_changed`."""


class OrderUnsubscribeRequest(Request):
    """Unsubscribe from changes."""


class Done(Shown):
    """The request was carried out."""

    ok: Literal[True] = True
