"""The OrderTaker: takes the order, changes it, reads it back and has it confirmed."""

from typing import ClassVar

from agents.handoff import Opening
from agents.restaurant import COMMON, RestaurantAgent, prompt
from state.commands import (
    AddItem,
    ApplyCoupon,
    CancelOrder,
    ChangeItem,
    ChangeNote,
    ChoosePayment,
    ConfirmOrder,
    ReadBack,
    RemoveCoupon,
    RemoveItem,
    RemoveNote,
    ReopenOrder,
    SetFulfilment,
    SetTip,
)


class OrderTaker(RestaurantAgent):
    """Turns the guest's words into lines of the order."""

    name = "order_taker"
    prompt = prompt("order_taker")
    offers = (
        AddItem,
        ChangeItem,
        RemoveItem,
        SetFulfilment,
        ApplyCoupon,
        RemoveCoupon,
        SetTip,
        ChoosePayment,
        ReadBack,
        ConfirmOrder,
        ReopenOrder,
        CancelOrder,
        ChangeNote,
        RemoveNote,
        *COMMON,
    )
    opening = Opening(
        first="Welcome the guest and ask what you may take down.",
        handed_over="Take down what the guest has just said, or ask what it may be. Do not greet again.",
        come_back="Welcome the guest back, sum up the order and ask how to continue; read it back again if it was in review.",
        canned="What would you like to order?",
    )
    # The guest confirms the order that they heard: a yes can only follow the reading.
    needs_answer: ClassVar = {"confirm_order": ("read_back",)}
