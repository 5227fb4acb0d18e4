"""How the local model plays each of the restaurant's agents."""

from bella_vista.local.agents.feedback import FeedbackPolicy
from bella_vista.local.agents.greeter import GreeterPolicy
from bella_vista.local.agents.order_taker import OrderTakerPolicy
from bella_vista.local.agents.over import ClosedPolicy, PlacedPolicy
from bella_vista.local.agents.payment import PaymentPolicy
from bella_vista.local.policy import ORDERING, Policy

_POLICIES: dict[str, Policy] = {
    "greeter": GreeterPolicy(),
    "order_taker": OrderTakerPolicy(),
    "payment": PaymentPolicy(),
    "feedback": FeedbackPolicy(),
}
_PLACED, _CLOSED = PlacedPolicy(), ClosedPolicy()


def policy_of(agent: str, stage: str) -> Policy:
    """Return how to play an agent; one that is not known is played as the greeter.

    Args:
        agent: Who speaks.
        stage: Where the order stands: of one that is placed or over no agent asks what it would have asked.
    """
    if stage in ("cancelled", "failed"):
        return _CLOSED
    if stage not in ORDERING and agent != "feedback":
        return _PLACED
    return _POLICIES.get(agent, _POLICIES["greeter"])


__all__ = ["policy_of"]
