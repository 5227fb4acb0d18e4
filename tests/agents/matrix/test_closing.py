"""A session that closes in the middle of anything closes at once and leaves nothing behind."""

import asyncio

import pytest

from agents.handoff import Event, ToolUsed, YourTurn, stop
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from tests.agents.handoff.raw_model import RawModel
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import Stay, Telephone, hotel

AT_ONCE_S = 9.0
"""Less than anything that would be waited for: a tool or a model that hangs has much longer."""


async def test_closing_in_the_middle_of_a_hanging_tool_gives_it_up() -> None:
    """A hand-written agent of livekit-agents 1.8.9 waits for its tool, however long that takes."""
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_concierge"), says("Yes?"), calls("telephone")]
    )

    async with Conversation(hotel(Stay(nights=1), tool_limit_s=60), model) as talk:
        await talk.user_says("I want to go out")
        turn = talk.user_says_nowait("Ask the theatre")
        await until(lambda: len(model.requests) == 4)
        for _ in range(20):
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
    Telephone.gate = None

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S
    assert ["timeout" in tool.output for tool in turn.tools] == [True] or turn.tools == []
    assert talk.call.ended == "user_left"


async def test_closing_while_a_transfer_waits_for_a_hanging_tool_makes_no_handoff() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone", "transfer_to_reception"),
        ]
    )

    async with Conversation(hotel(Stay(nights=1), tool_limit_s=60), model) as talk:
        await talk.user_says("I want to go out")
        talk.user_says_nowait("Ask the theatre, then back")
        await until(lambda: len(model.requests) == 4)
        for _ in range(20):
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
    Telephone.gate = None

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S
    assert talk.call.shared.speaker == "concierge"


async def test_closing_in_the_middle_of_a_commit_keeps_what_was_on_its_way() -> None:
    journal = Gated()
    model = ScriptedLLM([says("Good evening."), calls(("add_nights", {"nights": 2}))])

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.gate.clear()
        talk.user_says_nowait("Two nights")
        await until(lambda: bool(journal.asked))
        asyncio.get_running_loop().call_later(0.02, journal.gate.set)
        began = asyncio.get_running_loop().time()

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S
    assert talk.state.nights == 2
    assert len(journal.rows) == talk.call.shared.version == 1


async def test_closing_while_a_handoff_is_written_down_leaves_journal_and_state_as_one() -> None:
    journal = Gated()
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar")])

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.gate.clear()
        talk.user_says_nowait("I am thirsty")
        await until(lambda: bool(journal.asked))
        asyncio.get_running_loop().call_later(0.02, journal.gate.set)
        began = asyncio.get_running_loop().time()

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S
    assert talk.call.shared.version == len(journal.rows)
    assert talk.call.shared.speaker == journal.rows[-1].speaker


async def test_closing_between_the_old_voice_and_the_new_one_leaves_nothing_behind() -> None:
    model = RawModel(["Good evening."], [("transfer_to_bar", "{}", "a")], ["Perhaps said."])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await until(lambda: talk.call.handing_over)
        began = asyncio.get_running_loop().time()

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S


async def test_closing_while_the_model_thinks_and_the_guest_speaks_ends_everything() -> None:
    model = RawModel(["Good evening."], [asyncio.Event(), "Never."])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("Hello?")
        await until(lambda: len(model.asked) == 2)
        talk.user_says_nowait("Hello??")
        began = asyncio.get_running_loop().time()

    assert asyncio.get_running_loop().time() - began < AT_ONCE_S
    assert talk.call.ended == "user_left"


@pytest.mark.parametrize("how", ["the session closes", "the call is ended"])
async def test_waiters_for_the_turn_are_released_when(how: str) -> None:
    model = RawModel(["Good evening."], [asyncio.Event(), "Never."])

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("Hello?")
        waiting = asyncio.create_task(talk.call.answered())
        await until(lambda: len(model.asked) == 2)
        if how == "the session closes":
            await stop(talk.call)
        else:
            talk.call.end("input_ended")
        await asyncio.wait_for(waiting, AT_ONCE_S)
        assert talk.call.ended is not None


async def test_words_into_a_session_that_has_closed_are_ignored() -> None:
    events: list[Event] = []

    async with Conversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        talk.call.subscribe(events.append)
    turn = talk.call.user_said("Hello?")

    assert turn == 0
    assert not any(isinstance(event, YourTurn | ToolUsed) for event in events)


@pytest.mark.parametrize("steps", range(12))
async def test_input_at_any_moment_of_the_closing_does_no_harm(steps: int) -> None:
    async with Conversation(hotel(), RawModel(["Good evening."], ["Perhaps said."])) as talk:
        closing = asyncio.create_task(talk.call.session.aclose())
        for _ in range(steps):
            await asyncio.sleep(0)
        talk.call.user_said("Wait!")
        await closing

    assert talk.call.ended == "user_left"


async def test_closing_twice_is_closing_once() -> None:
    async with Conversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        await talk.call.session.aclose()

    assert talk.call.ended == "user_left"
