"""How the local model plays each of the restaurant's voices."""

from bella_vista.local.policy import ORDERING, Policy
from bella_vista.local.voices.feedback import FeedbackPolicy
from bella_vista.local.voices.greeter import GreeterPolicy
from bella_vista.local.voices.order_taker import OrderTakerPolicy
from bella_vista.local.voices.over import ClosedPolicy, PlacedPolicy
from bella_vista.local.voices.payment import PaymentPolicy

_POLICIES: dict[str, Policy] = {
    "greeter": GreeterPolicy(),
    "order_taker": OrderTakerPolicy(),
    "payment": PaymentPolicy(),
    "feedback": FeedbackPolicy(),
}
_PLACED, _CLOSED = PlacedPolicy(), ClosedPolicy()


def policy_of(voice: str, stage: str) -> Policy:
    """Return how to play a voice; one that is not known is played as the greeter.

    Args:
        voice: Who speaks.
        stage: Where the order stands: of one that is placed or over no voice asks what it would have asked.
    """
    if stage in ("cancelled", "failed"):
        return _CLOSED
    if stage not in ORDERING and voice != "feedback":
        return _PLACED
    return _POLICIES.get(voice, _POLICIES["greeter"])


__all__ = ["policy_of"]
