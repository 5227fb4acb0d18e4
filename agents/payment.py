"""Payment: how the guest will pay at handover, the tip, and the placing of the order."""

from typing import ClassVar

from agents.handoff import Opening
from agents.restaurant import COMMON, RestaurantAgent, prompt
from state.commands import (
    ApplyCoupon,
    CancelOrder,
    ChoosePayment,
    PlaceOrder,
    RemoveCoupon,
    ReopenOrder,
    SetTip,
)


class Payment(RestaurantAgent):
    """Asks for the payment method and the tip, and places the order."""

    name = "payment"
    prompt = prompt("payment")
    offers = (
        ChoosePayment,
        SetTip,
        PlaceOrder,
        ApplyCoupon,
        RemoveCoupon,
        ReopenOrder,
        CancelOrder,
        *COMMON,
    )
    opening = Opening(
        first="Ask how the guest would like to pay.",
        handed_over="Ask how the guest would like to pay at handover, unless that is known; then the tip.",
        come_back="Welcome the guest back, say what is still open about paying and ask for it.",
        canned="How would you like to pay?",
    )
    # The new total is said before the order is placed.
    needs_answer: ClassVar = {"place_order": ("set_tip", "read_back")}
