"""A call ends once, politely, after everything else, and never while something is left to be said."""

import asyncio

import pytest

from agents.handoff import Ended, EndReason, Event, YourTurn
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from state.shared import Entry, TakenOver
from tests.agents.hotel import Stay, hotel

FAREWELL = "Goodbye!"


class Lost:
    """A journal that another process has taken, from the moment the test says."""

    def __init__(self) -> None:
        self.lost = False

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.lost:
            done.set_exception(TakenOver())
        else:
            done.set_result(None)
        return done

    async def after(self, version: int) -> list[Entry]:
        return []


@pytest.mark.parametrize(
    "made", [("end_call", "transfer_to_bar"), ("transfer_to_bar", "end_call")], ids=str
)
async def test_of_an_end_and_a_transfer_in_one_reply_one_happens_and_the_other_is_told(
    made: tuple[str, ...],
) -> None:
    model = ScriptedLLM([says("Good evening."), calls(*made), says("So be it.")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Bye, or a beer")

    if made[0] == "end_call":
        assert turn.handoffs == []
        assert turn.ended == Ended("agent_ended")
        assert [one.reason for one in turn.refused] == ["call_ending"]
    else:
        assert turn.handoffs == [("reception", "bar")]
        assert turn.ended is None
        assert turn.tools[0].is_error
        assert len(turn.your_turns) == 1
    assert turn.said == ["So be it."]


@pytest.mark.parametrize("say", [None, "Goodbye!"])
async def test_an_end_beside_something_that_failed_is_refused_and_the_guest_is_told(
    say: str | None,
) -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(
                "end_call", ("add_nights", {"nights": 14}), ("add_nights", {"nights": 1}), say=say
            ),
            says("That is more than two weeks."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Fifteen nights, goodbye")

    assert turn.ended is None
    assert turn.said[-1] == "That is more than two weeks."
    assert {tool.name: tool.is_error for tool in turn.tools}["end_call"]
    assert len(turn.your_turns) == 1


async def test_a_write_beside_an_end_is_kept() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("end_call", ("add_nights", {"nights": 2})), says("Bye!")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Two nights, goodbye")

    assert talk.state.nights == 2
    assert [tool.name for tool in turn.tools] == ["add_nights", "end_call"]
    assert turn.said == ["Bye!"]
    assert turn.ended == Ended("agent_ended")


async def test_two_ends_in_one_reply_are_one() -> None:
    model = ScriptedLLM([says("Good evening."), calls("end_call", "end_call"), says("Bye!")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Goodbye")

    assert turn.said == ["Bye!"]
    assert [event for event in turn.events if isinstance(event, Ended)] == [Ended("agent_ended")]


async def test_words_before_the_goodbye_was_said_continue_the_call() -> None:
    gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("end_call"),
            says("Never heard.", until=gate),
            says("Breakfast is at eight."),
            calls("end_call", say="Goodbye then!"),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("Goodbye")
        await until(lambda: len(model.requests) == 3)
        turn = talk.user_says_nowait("Wait, when is breakfast?")
        await talk.answered()
        last = await talk.user_says("Thank you, bye")

    assert turn.said == ["Breakfast is at eight."]
    assert len(turn.your_turns) == 1
    assert turn.ended is None
    assert last.ended == Ended("agent_ended")


async def test_a_model_that_fails_in_its_goodbye_does_not_ask_to_say_that_again() -> None:
    model = ScriptedLLM([says("Good evening."), calls("end_call"), says("", error="500")])

    async with Conversation(hotel(farewell=FAREWELL), model) as talk:
        turn = await talk.user_says("Goodbye")

    assert turn.said == [FAREWELL]
    assert turn.ended == Ended("agent_ended")


@pytest.mark.parametrize("made", [("add_nights", {"nights": 2}), "transfer_to_bar"], ids=str)
async def test_a_state_that_another_process_took_ends_the_call_once_with_words(
    made: str | tuple[str, dict[str, int]],
) -> None:
    journal = Lost()
    model = ScriptedLLM([says("Good evening."), calls(made), says("We were cut off, sorry.")])

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.lost = True
        turn = await talk.user_says("Two nights and a beer")
        late = await talk.user_says("Hello?")

    assert turn.said == ["We were cut off, sorry."]
    assert turn.events[-1] == Ended("failed")
    assert turn.your_turns == []
    assert late.events == []


async def test_words_after_the_state_was_lost_do_not_keep_the_call_alive() -> None:
    journal = Lost()
    gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2})),
            says("Never heard.", until=gate),
            says("I am sorry, we have to stop here."),
        ]
    )

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.lost = True
        talk.user_says_nowait("Two nights")
        await until(lambda: len(model.requests) == 3)
        turn = talk.user_says_nowait("Hello?")
        await talk.answered()

    assert turn.said == ["I am sorry, we have to stop here."]
    assert turn.events[-1] == Ended("failed")


@pytest.mark.parametrize("reason", ["input_ended", "user_left"])
async def test_nothing_is_told_after_the_end(reason: EndReason) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([says("Good evening."), calls(("add_nights", {"nights": 1}), until=gate)])

    async with Conversation(hotel(), model) as talk:
        turn = talk.user_says_nowait("A night")
        await until(lambda: len(model.requests) == 2)
        talk.call.end(reason)
        gate.set()
        await until(lambda: talk.state.nights == 1)
        for _ in range(50):
            await asyncio.sleep(0)
        model.script = model.script[: len(model.requests)]
        model._overrun.clear()

    assert turn.events[-1] == Ended(reason)


async def test_a_call_that_goes_on_opens_by_coming_back_where_it_stopped() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A beer?")])
    async with Conversation(hotel(), model) as talk:
        await talk.user_says("I am thirsty")
        state, version = talk.call.shared.state, talk.call.shared.version
    again = ScriptedLLM([says("Here you are again."), calls("transfer_to_reception"), says("Hm?")])

    async with Conversation(hotel(state, version=version, speaker="bar"), again) as talk:
        turn = await talk.user_says("A room")

    assert talk.greeting.your_turns[0].agent == "bar"
    assert ("system", "Welcome the guest back.") in again.requests[0].texts
    # The bar has come back; for the reception, which has not spoken in this call, it is a handoff.
    assert ("system", "Take over.") in again.requests[2].texts
    assert isinstance(turn.events[-1], YourTurn)


async def test_a_call_that_goes_on_with_a_voice_that_is_gone_begins_at_the_start() -> None:
    model = ScriptedLLM([says("Good evening.")])

    async with Conversation(hotel(Stay(), version=3, speaker="sauna"), model) as talk:
        pass

    assert talk.call.speaker == "reception"


async def test_a_voice_that_is_visited_again_is_told_that_it_comes_back() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            says("A beer?"),
            calls("transfer_to_reception"),
            says("Back again."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("Beer")
        await talk.user_says("Room")

    assert ("system", "Greet the guest.") in model.requests[0].texts
    assert ("system", "Take over.") in model.requests[2].texts
    assert ("system", "Welcome the guest back.") in model.requests[4].texts


async def test_a_listener_may_end_the_call_again() -> None:
    call = hotel()
    seen: list[EndReason | None] = []

    def leave(event: Event) -> None:
        if isinstance(event, Ended):
            seen.append(call.ended)
            call.end("failed")

    call.subscribe(leave)
    async with Conversation(call, ScriptedLLM([says("Good evening.")])) as talk:
        call.end("user_left")

    assert seen == ["user_left"]
    assert [event for event in talk.events if isinstance(event, Ended)] == [Ended("user_left")]
