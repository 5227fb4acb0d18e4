"""All changes of an order, as typed commands."""

from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter

from state.commands.base import OrderCommand
from state.commands.guest import (
    AddAllergy,
    AddNote,
    CallPerson,
    ChangeNote,
    GiveFeedback,
    RemoveAllergy,
    RemoveNote,
    SetCustomer,
)
from state.commands.lines import AddItem, ChangeItem, Part, RemoveItem
from state.commands.reprice import Reprice
from state.commands.steps import (
    AcceptOrder,
    CancelOrder,
    CompleteOrder,
    ConfirmOrder,
    MarkAnswered,
    MarkReady,
    PlaceOrder,
    ReadBack,
    RefuseOrder,
    ReopenOrder,
    StartPreparing,
)
from state.commands.terms import (
    ApplyCoupon,
    ChoosePayment,
    RemoveCoupon,
    SetFulfilment,
    SetTip,
)

GuestCommand: TypeAlias = (
    SetCustomer
    | AddItem
    | ChangeItem
    | RemoveItem
    | AddNote
    | ChangeNote
    | RemoveNote
    | AddAllergy
    | RemoveAllergy
    | SetFulfilment
    | ApplyCoupon
    | RemoveCoupon
    | SetTip
    | ChoosePayment
    | ReadBack
    | ConfirmOrder
    | PlaceOrder
    | ReopenOrder
    | CancelOrder
    | GiveFeedback
    | CallPerson
)
"""The guest's commands, from an agent or a page."""

StaffCommand: TypeAlias = (
    AcceptOrder | StartPreparing | MarkReady | CompleteOrder | RefuseOrder | MarkAnswered
)
"""The restaurant's commands."""

GUEST_COMMANDS: frozenset[type[OrderCommand]] = frozenset(GuestCommand.__args__)
STAFF_COMMANDS: frozenset[type[OrderCommand]] = frozenset(StaffCommand.__args__)

ORDER_COMMANDS: TypeAdapter[GuestCommand | StaffCommand] = TypeAdapter(
    Annotated[GuestCommand | StaffCommand, Field(discriminator="op")]
)
"""Reads a command from JSON by its ``op``."""

__all__ = [
    "GUEST_COMMANDS",
    "ORDER_COMMANDS",
    "STAFF_COMMANDS",
    "AcceptOrder",
    "AddAllergy",
    "AddItem",
    "AddNote",
    "ApplyCoupon",
    "CallPerson",
    "CancelOrder",
    "ChangeItem",
    "ChangeNote",
    "ChoosePayment",
    "CompleteOrder",
    "ConfirmOrder",
    "GiveFeedback",
    "GuestCommand",
    "MarkAnswered",
    "MarkReady",
    "OrderCommand",
    "Part",
    "PlaceOrder",
    "ReadBack",
    "RefuseOrder",
    "RemoveAllergy",
    "RemoveCoupon",
    "RemoveItem",
    "RemoveNote",
    "ReopenOrder",
    "Reprice",
    "SetCustomer",
    "SetFulfilment",
    "SetTip",
    "StaffCommand",
    "StartPreparing",
]
