"""What clients are called with; what they answer is ignored."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rpc.wire.order import Patch
from rpc.wire.values import Shown


class OrderStateChanged(Shown):
    """The order has changed: sent to those who subscribed.

    Whoever does not have ``base_version`` has missed something and asks ``get_order_state``. An empty patch
    from a version to itself says only that: what changed was too long to be sent.
    """

    base_version: int
    version: int
    patch: Patch


class YourTurnToSpeak(Shown):
    """It is the guest's turn to speak."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    turn: int
    your_turn: Literal[True]
    active_agent: str
    version: int
    expects: Literal["open", "yes_no", "choice", "rating", "amount", "name", "contact"]
    choices: Annotated[
        tuple[str, ...], Field(description="What can be chosen, if it is known.")
    ] = ()
    text: Annotated[str | None, Field(description="A sentence for a screen reader.")] = None


class CallEnded(Shown):
    """The call is over; sent to the guest and to those who subscribed.

    After ``agent_ended`` the agent stays for reading. The guest begins another call, about another order, by
    saying or writing something, or by joining again and calling ``hello``.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    reason: Annotated[
        Literal["agent_ended", "user_left", "moved", "failed"],
        Field(
            description="The agent said goodbye; the guest left, or did not answer any more; the order is"
            " gone on with in another room; the call broke off and is given up."
        ),
    ]
    resume_code: Annotated[
        str | None,
        Field(description="Goes on with the order in another room; for the guest only."),
    ] = None


class TurnTakenBack(Shown):
    """It is not the guest's turn after all: the agent speaks again."""

    turn: int
    your_turn: Literal[False]
