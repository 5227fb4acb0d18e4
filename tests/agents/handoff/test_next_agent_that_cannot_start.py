"""A transfer whose next agent livekit cannot start ends the call; the user does not wait in silence."""

import logging
from typing import Any

import pytest

from agents.handoff import Ended, HandedOver
from agents.testing import Conversation, ScriptedLLM, calls, says
from tests.agents.hotel import hotel


class NotReached(ScriptedLLM):
    """A model that cannot be prepared."""

    def prewarm(self, **_: Any) -> None:
        raise OSError("no route to the model")


async def test_an_agent_whose_model_cannot_be_prepared(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar")])

    with caplog.at_level(logging.CRITICAL, logger="livekit.agents"):
        async with Conversation(hotel(), model, llm_by_agent={"bar": NotReached([])}) as talk:
            turn = await talk.user_says("I am thirsty")

    assert turn.events[-1] == Ended("failed")
    assert not any(isinstance(event, HandedOver) for event in turn.events)
