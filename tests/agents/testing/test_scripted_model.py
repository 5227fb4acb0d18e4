"""The doubles are strict: a conversation and its script fit exactly, or the test fails."""

import asyncio
import time

import pytest

from agents.testing import (
    Conversation,
    ConversationError,
    ScriptedLLM,
    ScriptError,
    calls,
    says,
)
from tests.agents.hotel import hotel


async def test_a_step_too_many_fails() -> None:
    with pytest.raises(ScriptError, match="the last step was never played"):
        async with Conversation(hotel(), ScriptedLLM([says("Hello."), says("Never said.")])):
            pass


async def test_a_step_too_few_fails() -> None:
    with pytest.raises(ScriptError, match="asked 2 times, the steps of the script are 1"):
        async with Conversation(hotel(), ScriptedLLM([says("Hello.")])) as talk:
            await talk.user_says("Hello?")


async def test_a_call_that_was_not_offered_is_named_where_the_script_does_not_fit() -> None:
    with pytest.raises(ScriptError, match=r"without effect: buy_ticket \(step 2\)"):
        async with Conversation(
            hotel(), ScriptedLLM([says("Hello."), calls("buy_ticket"), says("Sorry."), says("So.")])
        ) as talk:
            await talk.user_says("A ticket")


async def test_an_error_in_the_test_itself_is_not_hidden_by_the_script() -> None:
    with pytest.raises(ZeroDivisionError):
        async with Conversation(hotel(), ScriptedLLM([says("Hello."), says("Never said.")])):
            raise ZeroDivisionError


async def test_a_turn_that_never_ends_is_an_error_and_not_a_hang() -> None:

    model = ScriptedLLM([says("Hello."), says("never", until=asyncio.Event())])

    async with Conversation(hotel(), model) as talk:
        talk._patience_s = 0.02  # only now: the greeting may take its time
        with pytest.raises(ConversationError, match="turn 1 did not end"):
            await talk.user_says("Hello?")


async def test_the_requests_of_a_scripted_model_can_be_inspected() -> None:
    model = ScriptedLLM([says("Hello."), calls("ask_rate"), says("120.")])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("What does a night cost?")

    assert "ask_rate" in model.requests[1].tools
    assert model.requests[2].texts[-1] == ("output", "A night is 120 euros.")
    assert model.requests[1].characters > len("What does a night cost?")


async def test_a_conversation_that_cannot_begin_leaves_nothing_running() -> None:
    model = ScriptedLLM([says("never", until=asyncio.Event())])

    with pytest.raises(ConversationError, match="turn 0 did not end"):
        async with Conversation(hotel(), model, patience_s=0.02):
            pass


async def test_a_step_that_takes_its_time_is_waited_for() -> None:
    model = ScriptedLLM([says("Good evening."), says("It is 120.", delay=0.05)])

    async with Conversation(hotel(), model) as talk:
        began = time.monotonic()
        turn = await talk.user_says("What is it?")

    assert turn.said == ["It is 120."]
    assert time.monotonic() - began >= 0.05


async def test_a_step_that_is_cut_breaks_its_last_call_off_and_leaves_the_others_whole() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 1}), ("set_guest", {"name": "Ada"}), cut=True),
            says("A night for whom?"),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("A night for Ada")

    assert talk.state.nights == 1
    assert talk.state.guest is None
    assert [tool.is_error for tool in turn.tools] == [False, True]


async def test_a_step_with_an_error_says_its_words_and_calls_nothing() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("add_nights", {"nights": 1}), say="Well,", error="500")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("A night")

    assert turn.said[0].startswith("Well,")
    assert turn.tools == []
