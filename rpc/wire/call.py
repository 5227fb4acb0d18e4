"""Arriving, and saying something."""

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from rpc.gateway import Request
from rpc.wire.values import Key, Now, Shown
from state.text import clean

PROTOCOL: Final = 1
"""Raised when an old client would not understand an answer any more."""

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
"""What can be relied on beside ``hello`` and ``get_order_state``; one that is new is added."""

LONGEST_SAID = 1000
"""How many characters of speech are taken in at once."""


def _as_said(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


class HelloRequest(Request):
    """Say that you are there. Answered once you are the bound guest and can be heard."""


class HelloReply(Shown):
    """Where the call stands."""

    protocol: Literal[1] = PROTOCOL
    agent: Annotated[str, Field(description="The agent's name.")]
    features: tuple[str, ...] = FEATURES
    order_id: str
    version: Now
    active_agent: Annotated[str, Field(description="The agent that speaks.")]
    turn: Annotated[int, Field(description="How many things the guest has said.")]
    resume_code: Annotated[
        str | None, Field(description="Goes on with this order in another room; the guest's only.")
    ]


class SayRequest(Request):
    """Say something to the agent, as if it had been spoken. A reply under way is broken off."""

    text: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_SAID, description="The guest's words."),
        BeforeValidator(_as_said),
    ]
    key: Key | None = None


class SayReply(Shown):
    """The words are taken in."""

    turn: Annotated[int, Field(description="The number of this turn; `your_turn_to_speak` has it.")]
