"""The Greeter: opens the call, learns the guest's name, and finds out what is wanted."""

from agents.handoff import Opening
from agents.restaurant import COMMON, RestaurantAgent, prompt


class Greeter(RestaurantAgent):
    """Welcomes the guest and hands over as soon as it is about food."""

    name = "greeter"
    prompt = prompt("greeter")
    offers = COMMON
    opening = Opening(
        first=(
            "Greet the guest, say that you are the restaurant's automatic assistant, and ask for the name"
            " and what you can do. If the restaurant is closed, say when the next orders are served."
        ),
        handed_over="Answer what the guest has just said.",
        come_back="Welcome the guest back in one sentence and ask how you can help.",
        canned="Welcome! I am the restaurant's automatic assistant. What can I do for you?",
    )
