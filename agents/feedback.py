"""Feedback: tells the guest the number and the time, and asks how it was."""

from agents.handoff import Opening
from agents.restaurant import COMMON, RestaurantAgent, prompt


class Feedback(RestaurantAgent):
    """Closes the evening, with a rating if the guest gives one."""

    name = "feedback"
    prompt = prompt("feedback")
    offers = COMMON
    opening = Opening(
        first="Thank the guest and ask how the call was, from one to five stars.",
        handed_over=(
            "Thank the guest, say the order's number, when it is ready and the total, then ask how the call"
            " was, from one to five stars."
        ),
        come_back="Welcome the guest back, say what state the order is in, and ask whether there is anything else.",
        canned="Thank you for your order! How was this call, from one to five stars?",
    )
