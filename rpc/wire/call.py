"""The forms of ``hello`` and ``say``."""

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from rpc.gateway import Request
from rpc.wire.values import Key, Now, Shown
from state.privacy.text import clean

PROTOCOL: Final = 1
"""The protocol version; raised when an old client would misread a reply."""

FEATURES = (
    "say",
    "get_menu",
    "order.apply",
    "order.subscribe",
    "agent.state",
    "patches",
    "your_turn_to_speak",
    "call_ended",
)
"""The features that clients can rely on beside ``hello`` and ``get_order_state``; new ones are added here."""

LONGEST_SAID = 1000
"""The maximum length of ``say``, in characters."""


def _as_said(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


class HelloRequest(Request):
    """Join the call. Answered once you are the bound guest and can be heard."""


class HelloReply(Shown):
    """The present state of the call."""

    protocol: Literal[1] = PROTOCOL
    agent: Annotated[str, Field(description="The agent's name.")]
    features: tuple[str, ...] = FEATURES
    order_id: str
    version: Now
    active_agent: Annotated[str, Field(description="The agent that is active.")]
    turn: Annotated[int, Field(description="The number of user turns so far.")]
    resume_code: Annotated[
        str | None, Field(description="Continues this order in another room; for the guest only.")
    ]


class SayRequest(Request):
    """Say something to the agent, as if spoken. Interrupts a reply in progress."""

    text: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_SAID, description="The guest's words."),
        BeforeValidator(_as_said),
    ]
    key: Key | None = None


class SayReply(Shown):
    """The words were accepted."""

    turn: Annotated[int, Field(description="The number of this turn; `your_turn_to_speak` has it.")]
