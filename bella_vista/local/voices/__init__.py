"""How the local model plays each of the restaurant's voices."""

from bella_vista.local.policy import Policy
from bella_vista.local.voices.feedback import FeedbackPolicy
from bella_vista.local.voices.greeter import GreeterPolicy
from bella_vista.local.voices.order_taker import OrderTakerPolicy
from bella_vista.local.voices.payment import PaymentPolicy

_POLICIES: dict[str, Policy] = {
    "greeter": GreeterPolicy(),
    "order_taker": OrderTakerPolicy(),
    "payment": PaymentPolicy(),
    "feedback": FeedbackPolicy(),
}


def policy_of(voice: str) -> Policy:
    """Return how to play a voice; one that is not known is played as the greeter."""
    return _POLICIES.get(voice, _POLICIES["greeter"])


__all__ = ["policy_of"]
