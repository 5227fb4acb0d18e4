"""Payment: how the guest will pay at handover, the tip, and the placing of the order."""

from typing import ClassVar, Protocol

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
from state.order import OrderState


class PaymentGateway(Protocol):
    """A service with which a guest can pay before handover. None is built in.

    It never gets a card number from this program: it returns the address of a page of the provider's.
    """

    async def payment_link(self, order: OrderState, key: str) -> str:
        """Return the address of a page on which exactly this order's total can be paid.

        Args:
            order: The order as confirmed.
            key: Makes it safe to ask twice.
        """
        ...


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
    needs_answer: ClassVar = {"place_order": ("set_tip", "read_back", "confirm_order")}
