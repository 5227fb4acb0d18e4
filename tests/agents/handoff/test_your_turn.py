"""Promise 6: "your turn to speak" is true when it is said, and no turn ends in silence."""

import asyncio

from agents.handoff import Ended, TurnWithdrawn, YourTurn
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from tests.agents.hotel import Stay, hotel

TROUBLE = "I am sorry, I lost the thread for a moment. Could you say that again?"


async def test_it_is_the_guests_turn_once_after_the_greeting() -> None:
    async with Conversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        pass

    assert talk.greeting.said == ["Good evening."]
    assert [type(event) for event in talk.greeting.events][-1] is YourTurn
    assert len(talk.greeting.your_turns) == 1


async def test_a_tool_between_two_sentences_gives_no_turn_away() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2}), say="One moment."),
            says("Two nights."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Two nights")

    assert turn.said == ["One moment.", "Two nights."]
    assert len(turn.your_turns) == 1
    assert not any(isinstance(event, TurnWithdrawn) for event in talk.greeting.events)


async def test_a_model_that_fails_is_spoken_for() -> None:
    model = ScriptedLLM([says("Good evening."), says("", error="500"), says("Yes?")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Hello?")
        after = await talk.user_says("Hello again")

    assert turn.said == [TROUBLE]
    assert len(turn.your_turns) == 1
    assert after.said == ["Yes?"]


async def test_a_model_that_says_nothing_is_spoken_for() -> None:
    model = ScriptedLLM([says("Good evening."), says("")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Hello?")

    assert turn.said == [TROUBLE]


async def test_a_model_that_says_nothing_after_a_tool_is_spoken_for() -> None:
    model = ScriptedLLM([says("Good evening."), calls(("add_nights", {"nights": 2})), says("")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Two nights")

    assert turn.said == [TROUBLE]
    assert talk.state.nights == 2


async def test_a_model_that_hangs_is_spoken_for() -> None:
    model = ScriptedLLM([says("Good evening."), says("never", until=asyncio.Event())])

    async with Conversation(hotel(think_limit_s=0.01), model) as talk:
        turn = await talk.user_says("Hello?")

    assert turn.said == [TROUBLE]


async def test_a_voice_that_cannot_open_says_its_canned_line() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar"), says("", error="model is down")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == [("reception", "bar")]
    assert turn.said == ["Good evening, one moment please."]
    assert len(turn.your_turns) == 1


async def test_six_failures_in_a_row_do_not_end_the_call() -> None:
    model = ScriptedLLM([says("Good evening."), *[says("", error="500")] * 6, says("Back.")])

    async with Conversation(hotel(), model) as talk:
        for _ in range(6):
            assert (await talk.user_says("Hello?")).said == [TROUBLE]
        turn = await talk.user_says("Hello?")

    assert turn.said == ["Back."]


async def test_after_the_voice_ended_the_call_there_is_no_turn() -> None:
    model = ScriptedLLM([says("Good evening."), calls("end_call"), says("Goodbye!")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Goodbye")

    assert turn.said == ["Goodbye!"]
    assert turn.your_turns == []
    assert turn.ended == Ended("agent_ended")


async def test_a_goodbye_said_beside_the_end_is_not_said_twice() -> None:
    model = ScriptedLLM([says("Good evening."), calls("end_call", say="Goodbye!")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Goodbye")

    assert turn.said == ["Goodbye!"]
    assert turn.ended == Ended("agent_ended")


async def test_messages_after_the_end_are_ignored() -> None:
    model = ScriptedLLM([says("Good evening."), calls("end_call", say="Goodbye!")])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("Goodbye")
        late = await talk.user_says("One more thing")

    assert late.events == []


async def test_a_guest_who_speaks_into_a_slow_reply_is_answered_once() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), says("Too late.", until=gate), says("Now.")])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("What does a night cost?")
        await until(lambda: len(model.requests) == 2)
        turn = talk.user_says_nowait("Never mind. Do you have a bar?")
        gate.set()
        await talk.answered()

    assert turn.said == ["Now."]
    assert [notice.turn for notice in turn.your_turns] == [2]


async def test_every_turn_of_a_call_has_exactly_one_notice_and_it_comes_last() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"})),
            says("Ada!"),
            calls(("add_nights", {"nights": 1}), "transfer_to_concierge"),
            says("Where to?"),
            calls("transfer_to_reception", say="Back you go."),
            says("Here again."),
        ]
    )

    async with Conversation(hotel(Stay()), model) as talk:
        for words in ("I am Ada", "A night, and out", "Back please"):
            await talk.user_says(words)

    for turn in talk.turns:
        assert len(turn.your_turns) == 1, turn
        assert isinstance(turn.events[-1], YourTurn), turn
