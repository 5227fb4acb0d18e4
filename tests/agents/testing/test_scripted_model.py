"""The doubles are strict: a conversation and its script fit exactly, or the test fails."""

import pytest

from agents.testing import Conversation, ConversationError, ScriptedLLM, ScriptError, calls, says
from tests.agents.hotel import hotel


async def test_a_step_too_many_fails() -> None:
    with pytest.raises(ScriptError, match="1 steps were never played"):
        async with Conversation(hotel(), ScriptedLLM([says("Hello."), says("Never said.")])):
            pass


async def test_a_step_too_few_fails() -> None:
    with pytest.raises(ScriptError, match="asked 2 times, the script has 1 steps"):
        async with Conversation(hotel(), ScriptedLLM([says("Hello.")])) as talk:
            await talk.hears("Hello?")


async def test_an_error_in_the_test_itself_is_not_hidden_by_the_script() -> None:
    with pytest.raises(ZeroDivisionError):
        async with Conversation(hotel(), ScriptedLLM([says("Hello."), says("Never said.")])):
            raise ZeroDivisionError


async def test_a_turn_that_never_ends_is_an_error_and_not_a_hang() -> None:
    import asyncio

    model = ScriptedLLM([says("Hello."), says("never", until=asyncio.Event())])

    with pytest.raises(ConversationError, match="turn 1 did not end"):
        async with Conversation(hotel(), model, patience_s=0.02) as talk:
            await talk.hears("Hello?")


async def test_what_the_model_was_shown_can_be_looked_at() -> None:
    model = ScriptedLLM([says("Hello."), calls("ask_rate"), says("120.")])

    async with Conversation(hotel(), model) as talk:
        await talk.hears("What does a night cost?")

    assert "ask_rate" in model.requests[1].tools
    assert model.requests[2].texts[-1] == ("output", "A night is 120 euros.")
    assert model.requests[1].characters > len("What does a night cost?")
