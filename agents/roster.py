"""The restaurant's graph: which agent hands over to which, and on what condition."""

from functools import cache

from agents.feedback import Feedback
from agents.greeter import Greeter
from agents.handoff import CallPolicy, Graph, Handoff
from agents.order_taker import OrderTaker
from agents.payment import Payment
from agents.telling import expects, told
from state.commands import ConfirmOrder, PlaceOrder
from state.contact import region_of
from state.context import OrderContext
from state.digest import digest
from state.order import OrderState
from state.privacy.redaction import Redactor, redact_partial, redact_whole, safe_length
from state.privacy.text import clean
from state.stages import can_give_feedback, can_pay

AGENTS = (Greeter, OrderTaker, Payment, Feedback)


@cache
def restaurant_graph() -> Graph[OrderState]:
    """Join the four agents; made and checked once for all calls of a process.

    Only two edges have a condition: payment needs a confirmed order, a rating needs a placed one.
    """
    return Graph(
        AGENTS,
        (
            Handoff(
                "greeter",
                "order_taker",
                when="Hand the guest over as soon as they want to order, or say what they would like.",
            ),
            Handoff(
                "order_taker",
                "payment",
                when="Hand the guest over when they have said yes to the order as it was read back.",
                condition=can_pay,
                satisfied_by=(ConfirmOrder,),
            ),
            Handoff(
                "payment",
                "order_taker",
                when="Hand the guest over when they want to change their order.",
            ),
            Handoff(
                "payment",
                "feedback",
                when="Hand the guest over when the order has been placed.",
                condition=can_give_feedback,
                satisfied_by=(PlaceOrder,),
            ),
            Handoff(
                "feedback",
                "greeter",
                when="Hand the guest over when they want something other than to rate the evening.",
            ),
        ),
        start="greeter",
    )


def restaurant_policy(context: OrderContext) -> CallPolicy[OrderState, OrderContext]:
    """Return the restaurant's decisions about calls."""
    restaurant = context.menu.restaurant
    redactor = Redactor(lambda: region_of(restaurant))
    return CallPolicy(
        digest=lambda order, version: digest(order, version, context.house().sold_out),
        describe_result=told(context),
        expects=expects,
        redact_input=lambda words: redactor(clean(words, lines=True)),
        redact_partial=lambda words: redact_partial(clean(words, lines=True)),
        redact_output=redact_whole,
        safe_prefix=safe_length,
        trouble="I am sorry, I lost the thread for a moment. Could you say that again? This is"
        f" {restaurant.name}.",
    )
