"""A process is killed, another goes on: nothing acknowledged is lost, nothing happens twice."""

import asyncio
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agents.handoff import Event, ToolUsed, start_text, stop
from agents.testing import ScriptedLLM, calls, says
from examples.clinic.tests.killed import NAME, RoomCall
from examples.clinic.tests.kit import MARY, TUESDAY, Front
from examples.clinic.visit import ClinicState, SlotTaken
from state.shared import HandOver, SharedState

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[3]


async def killed(front: Front, moment: str) -> str:
    """Run a process until it kills itself; return what it last said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "examples.clinic.tests.killed", str(front.folder), moment),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == -signal.SIGKILL, err.decode()
    return out.decode().strip()


async def test_acknowledged_changes_survive_a_kill(front: Front) -> None:
    assert await killed(front, "between") == "the slot is chosen"

    model = ScriptedLLM(
        [says("Welcome back. Tuesday at 9:30, right?"), calls("book_visit"), says("Booked.")]
    )
    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.after(), front.context)
        async with front.conversation(state=visit, model=model) as talk:
            turn = await talk.user_says("Yes")

    assert turn.commands == ["record_booking"]
    assert [event.agent for event in talk.greeting.your_turns] == ["scheduling"]
    assert talk.state.patient is not None
    assert (talk.state.patient.phone, talk.state.reason) == ("3125550199", "cleaning")
    assert (talk.state.slot, talk.state.stage) == (TUESDAY, "booked")


async def test_a_slot_that_was_held_before_the_kill_is_booked_by_the_next_process(
    front: Front,
) -> None:
    assert await killed(front, "calendar") == "the calendar holds the slot"
    with pytest.raises(SlotTaken):
        await front.context.calendar.take(TUESDAY, "another visit")

    model = ScriptedLLM([says("Tuesday at 9:30, right?"), calls("book_visit"), says("Booked.")])
    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.after(), front.context)
        assert (visit.state.slot, visit.state.wanted) == (None, TUESDAY)
        async with front.conversation(state=visit, model=model) as talk:
            await talk.user_says("Yes")

    assert talk.state.slot == TUESDAY
    with closing(sqlite3.connect(front.folder / "calendar.db")) as table:
        assert table.execute("SELECT visit FROM taken").fetchall() == [("visit-1",)]


async def test_a_message_sent_before_the_kill_is_asked_for_with_the_same_key(front: Front) -> None:
    assert await killed(front, "message") == "the message is sent"

    model = ScriptedLLM(
        [
            says("Hello again."),
            calls("send_text"),
            says("May I?"),
            calls("send_text"),
            says("Sent."),
        ]
    )
    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.after(), front.context)
        assert visit.state.text_sent is None
        async with front.conversation(state=visit, model=model) as talk:
            await talk.user_says("Did you send it?")
            await talk.user_says("Yes")

    assert [*front.messages.sent] == [(front.folder / "key").read_text()]
    assert talk.state.text_sent == TUESDAY


async def test_an_insurer_asked_before_the_kill_is_asked_again_and_the_patient_is_told(
    front: Front,
) -> None:
    assert await killed(front, "insurer") == "the insurer is asked"

    front.insurer.answers.set()
    model = ScriptedLLM([says("Welcome back."), says("You are covered by Dental Basic.")])
    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.after(), front.context)
        async with front.conversation(state=visit, model=model) as talk:
            await talk.results_told()

    assert front.insurer.keys == [(front.folder / "key").read_text()]
    assert talk.greeting.said == ["Welcome back.", "You are covered by Dental Basic."]
    assert talk.state.insurance is not None


async def test_words_acknowledged_before_the_kill_are_acted_on_once_and_turns_go_on(
    front: Front,
) -> None:
    visit_id = await killed(front, "words")
    model = ScriptedLLM(
        [says("Hello again."), calls(("identify", MARY)), says("Thank you."), says("Yes?")]
    )
    async with front.store() as store:
        talk = await RoomCall.opened(store, front.context, visit_id)
        heard: list[Event] = []
        talk.call.subscribe(heard.append)
        await start_text(talk.call, model)
        await talk.call.answered()
        repeated = await talk.say(NAME, "k")
        said = await talk.say("A cleaning", "k2")
        await talk.call.answered()
        await stop(talk.call)
        await talk.record.aclose()
        third = await RoomCall.opened(store, front.context, visit_id)

    assert [(event.turn, event.name) for event in heard if isinstance(event, ToolUsed)] == [
        (1, "identify")
    ]
    assert (repeated, said) == (1, 2)
    assert talk.call.state.patient is not None
    assert (third.call.turn, third.call.turns.queued) == (2, [])


async def test_a_process_that_lost_its_visit_books_nothing(front: Front) -> None:
    model = ScriptedLLM([says("Shall I book it?"), calls("book_visit"), says("I have to go.")])
    ready = front.ready().model_copy(update={"wanted": TUESDAY})

    async with front.store() as store, front.store() as another:
        visit = await SharedState.open(store, "visit-1", ready, front.context)
        await visit.apply(HandOver(target="scheduling"), actor="reception")
        async with front.conversation(state=visit, model=model) as talk:
            taken = await SharedState.open(another, "visit-1", ready, front.another_context())
            turn = await talk.user_says("Yes")

    assert "taken_over" in turn.tools[0].output
    assert turn.ended is not None
    assert turn.ended.reason == "failed"
    assert taken.state == ready


async def test_a_reopened_visit_is_the_one_that_was_left(front: Front) -> None:
    model = ScriptedLLM(
        [says("Hello."), calls(("set_reason", {"reason": "cleaning"})), says("Yes?")]
    )

    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.ready(), front.context)
        async with front.conversation(state=visit, model=model) as talk:
            await talk.user_says("A cleaning, please")
    async with front.store() as store:
        again = await SharedState.open(store, "visit-1", ClinicState(visit_id="?"), front.context)

    assert (again.state, again.version) == (visit.state, visit.version)
