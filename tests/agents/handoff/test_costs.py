"""What models report to have cost is added up per turn and per call, and told before the guest may speak."""

import asyncio

from agents.handoff import Cost, Ended, Spent, YourTurn
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from tests.agents.hotel import hotel


async def test_a_turn_with_a_handoff_is_told_as_one() -> None:
    script = [
        says("Good evening.", cost=(100, 5, 0)),
        calls(("set_guest", {"name": "Ada"}), "transfer_to_bar", cost=(200, 20, 90)),
        says("What may I pour you?", cost=(50, 7, 0)),
    ]

    async with Conversation(hotel(), ScriptedLLM(script)) as talk:
        turn = await talk.user_says("I am Ada and I am thirsty")

    *_, spent, yours = turn.events
    assert isinstance(yours, YourTurn)
    assert spent == Spent(1, "bar", 2, 250, 27, 90)
    assert talk.greeting.events[-2] == Spent(0, "reception", 1, 100, 5, 0)
    assert talk.call.spending.total == Cost(3, 350, 32, 90)


async def test_a_model_that_reports_nothing_is_not_told_of() -> None:
    async with Conversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        pass

    assert not any(isinstance(event, Spent) for event in talk.events)
    assert talk.call.spending.total == Cost()


async def test_a_turn_without_a_report_does_not_repeat_the_one_before() -> None:
    script = [says("Good evening.", cost=(100, 5, 0)), says("Yes?")]

    async with Conversation(hotel(), ScriptedLLM(script)) as talk:
        turn = await talk.user_says("hello")

    assert not any(isinstance(event, Spent) for event in turn.events)


async def test_a_reply_that_fails_after_its_words_costs_what_others_reported() -> None:
    script = [
        says("Good evening.", cost=(100, 5, 0)),
        calls("ask_rate", cost=(200, 9, 0)),
        says("A night is", error="gone"),
    ]

    async with Conversation(hotel(), ScriptedLLM(script)) as talk:
        turn = await talk.user_says("what is a night?")

    assert [event for event in turn.events if isinstance(event, Spent)] == [
        Spent(1, "reception", 1, 200, 9, 0)
    ]


async def test_the_last_turn_is_told_before_the_end() -> None:
    script = [says("Good evening."), calls("end_call", say="Goodbye.", cost=(300, 4, 0))]

    async with Conversation(hotel(), ScriptedLLM(script)) as talk:
        turn = await talk.user_says("bye")

    *_, spent, ended = turn.events
    assert spent == Spent(1, "reception", 1, 300, 4, 0)
    assert isinstance(ended, Ended)


async def test_the_cost_is_reported_when_the_guest_hangs_up() -> None:
    never = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("ask_rate", cost=(200, 9, 0)),
            says("120 euros.", until=never),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = talk.user_says_nowait("what is a night?")
        await until(lambda: len(model.requests) == 3)
        talk.call.end("user_left")

    assert turn.events[-2:] == [Spent(1, "reception", 1, 200, 9, 0), Ended("user_left")]
