"""Promise 4: a handoff happens exactly once and is heard exactly once, in every order of events."""

import asyncio
from typing import Any

import pytest

from agents.handoff import YourTurn
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import Stay, Telephone, hotel

BOOKED = Stay(nights=2)


async def test_a_transfer_is_heard_once_and_the_next_voice_speaks() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("What will it be?")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == [("reception", "bar")]
    assert turn.said == ["What will it be?"]
    assert len(turn.your_turns) == 1
    assert turn.your_turns[0].agent == "bar"
    assert talk.call.shared.speaker == "bar"


async def test_of_two_transfers_in_one_reply_the_first_wins_and_the_second_is_told() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar", "transfer_to_concierge"), says("Cheers.")]
    )

    async with Conversation(hotel(BOOKED), model) as talk:
        turn = await talk.user_says("Show me around")

    assert turn.handoffs == [("reception", "bar")]
    assert [(one.target, one.reason) for one in turn.refused] == [
        ("concierge", "already_handing_over")
    ]
    assert turn.said == ["Cheers."]


async def test_of_three_transfers_in_one_reply_one_happens_and_two_are_told() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar", "transfer_to_concierge", "transfer_to_bar"),
            says("Cheers."),
        ]
    )

    async with Conversation(hotel(BOOKED), model) as talk:
        turn = await talk.user_says("Show me around")

    assert turn.handoffs == [("reception", "bar")]
    assert [one.reason for one in turn.refused] == ["already_handing_over"] * 2
    assert turn.said == ["Cheers."]
    assert turn.commands == ["hand_over"]
    assert len(turn.your_turns) == 1


async def test_a_transfer_beside_a_hanging_tool_is_refused_when_its_time_is_over() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Where to?"),
            calls("transfer_to_reception", "telephone"),
            says("No one answers there."),
        ]
    )

    async with Conversation(hotel(BOOKED, tool_limit_s=0.02), model) as talk:
        await talk.user_says("I want to go out")
        turn = await talk.user_says("Ask the theatre and bring me back")
    Telephone.gate = None

    assert turn.handoffs == []
    assert [one.reason for one in turn.refused] == ["sibling_failed"]
    assert ["timeout" in tool.output for tool in turn.tools] == [True]
    assert turn.said == ["No one answers there."]
    assert len(turn.your_turns) == 1


async def test_a_transfer_beside_a_write_that_takes_forever_does_not_hold_the_guest_for_ever() -> (
    None
):
    journal = Gated()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar", ("add_nights", {"nights": 1})),
            says("One night. The bar?"),
        ]
    )

    async with Conversation(hotel(journal=journal, tool_limit_s=0.01), model) as talk:
        journal.gate.clear()
        turn = talk.user_says_nowait("A night and a beer")
        await until(lambda: bool(turn.refused) or bool(turn.handoffs))
        journal.gate.set()
        await talk.answered()

    assert [one.reason for one in turn.refused] == ["sibling_failed"]
    assert talk.state.nights == 1
    assert turn.said == ["One night. The bar?"]


async def test_the_same_transfer_twice_in_one_reply_is_one_handoff() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar", "transfer_to_bar"), says("Cheers.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("To the bar, to the bar")

    assert turn.handoffs == [("reception", "bar")]
    assert turn.said == ["Cheers."]


@pytest.mark.parametrize(
    "made",
    [
        (("add_nights", {"nights": 2}), "transfer_to_concierge"),
        ("transfer_to_concierge", ("add_nights", {"nights": 2})),
    ],
    ids=["write first", "transfer first"],
)
async def test_a_write_beside_a_transfer_is_kept_and_can_satisfy_its_condition(
    made: tuple[Any, ...],
) -> None:
    model = ScriptedLLM([says("Good evening."), calls(*made), says("Where would you like to go?")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Two nights, and I want to go out")

    assert talk.state.nights == 2
    assert turn.handoffs == [("reception", "concierge")]
    assert turn.said == ["Where would you like to go?"]
    assert turn.commands == ["add_nights", "hand_over"]


async def test_a_transfer_whose_condition_does_not_hold_is_refused_with_what_is_missing() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_concierge"), says("You need a room first.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I want to go out")

    assert turn.handoffs == []
    assert turn.refused[0].target == "concierge"
    assert turn.said == ["You need a room first."]
    assert "booked no night" in model.requests[2].texts[-1][1]
    assert talk.call.speaker == "reception"


async def test_a_refused_transfer_does_not_prevent_another_in_the_same_reply() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_concierge", "transfer_to_bar"), says("Cheers.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Out, or else to the bar")

    assert turn.handoffs == [("reception", "bar")]
    assert turn.said == ["Cheers."]


async def test_a_failing_tool_beside_a_transfer_keeps_the_guest_and_tells_why() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 20}), "transfer_to_bar"),
            says("Fourteen nights at most."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Twenty nights and a drink")

    assert turn.handoffs == []
    assert turn.refused[0].reason == "sibling_failed"
    assert turn.said == ["Fourteen nights at most."]
    assert talk.state.nights == 0


async def test_a_slow_tool_beside_a_transfer_is_waited_for() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Where to?"),
            calls("telephone", "transfer_to_reception"),
            says("Back with me."),
        ]
    )

    async with Conversation(hotel(BOOKED), model) as talk:
        await talk.user_says("I want to go out")
        turn = talk.user_says_nowait("Ask the theatre and bring me back")
        await until(lambda: len(model.requests) == 4)
        for _ in range(50):
            await asyncio.sleep(0)
        before = list(turn.handoffs)
        Telephone.gate.set()
        await talk.answered()
    Telephone.gate = None

    assert before == []
    assert turn.handoffs == [("concierge", "reception")]
    assert [tool.output for tool in turn.tools] == ["The theatre has seats."]
    assert turn.said == ["Back with me."]


async def test_words_beside_a_transfer_are_heard_and_the_next_voice_still_opens_once() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar", say="One moment."), says("Cheers.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.said == ["One moment.", "Cheers."]
    assert len(turn.your_turns) == 1
    assert isinstance(turn.events[-1], YourTurn)


async def test_the_opening_of_a_voice_that_took_over_is_offered_no_handoff() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("Bar.")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == [("reception", "bar")]
    assert not any(name.startswith("transfer_to_") for name in model.requests[2].tools)


async def test_a_voice_that_may_not_hand_over_any_more_is_offered_no_handoff_and_speaks() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar")])

    async with Conversation(hotel(handoffs_per_turn=0), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == []
    assert turn.said == [talk.call.policy.trouble]
    assert not any(name.startswith("transfer_to_") for name in model.requests[1].tools)


async def test_a_voice_that_calls_a_transfer_it_was_not_offered_speaks_instead() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar"), calls("transfer_to_reception")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == [("reception", "bar")]
    assert turn.said == ["Good evening, one moment please."]


async def test_words_said_during_a_handoff_are_answered_by_the_next_voice() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar", say="One moment."),
            says("A beer, then.", until=gate),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await until(lambda: bool(talk.call.handing_over))
        turn = talk.user_says_nowait("A beer please")
        gate.set()
        await talk.answered()

    assert talk.call.speaker == "bar"
    assert turn.said[-1] == "A beer, then."
    assert ("user", "A beer please") in model.requests[2].texts
    assert len(turn.your_turns) == 1


async def test_fifty_handoffs_do_not_make_the_prompt_grow() -> None:
    script = [says("Good evening.")]
    for number in range(50):
        script += [calls(f"transfer_to_{'bar' if number % 2 == 0 else 'reception'}"), says("Here.")]
    model = ScriptedLLM(script)

    async with Conversation(hotel(), model) as talk:
        for _ in range(50):
            await talk.user_says("The other one please")

        left = len(talk.call.replies.pending_calls)

    openings = model.requests[2::2]
    assert len({request.characters for request in openings[2:]}) == 1
    assert len({len(request.texts) for request in openings[2:]}) == 1
    assert left == 0
