"""The payloads of pushes; a client's answer to a push is ignored."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rpc.wire.order import Patch
from rpc.wire.values import Shown


class OrderStateChanged(Shown):
    """The order has changed; sent to subscribers.

    A client without ``base_version`` has missed a change and calls ``get_order_state``. An empty patch from a
    version to itself means only that: the change was too long to be sent.
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
    choices: Annotated[tuple[str, ...], Field(description="The possible choices, if known.")] = ()
    text: Annotated[str | None, Field(description="A sentence for a screen reader.")] = None


class CallEnded(Shown):
    """The call has ended; sent to the guest and to subscribers.

    After ``agent_ended`` the agent stays in the room for reading. The guest starts a new call, about a new order,
    by saying or writing something, or by joining again and calling ``hello``.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    reason: Annotated[
        Literal["agent_ended", "user_left", "moved", "failed"],
        Field(
            description="The agent ended the call; the guest left or no longer answered; the order continues in"
            " another room; the call failed and is not resumed."
        ),
    ]
    resume_code: Annotated[
        str | None,
        Field(description="Continues the order in another room; for the guest only."),
    ] = None


class TurnTakenBack(Shown):
    """It is no longer the guest's turn: the agent speaks again."""

    turn: int
    your_turn: Literal[False]
