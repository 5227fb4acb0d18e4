"""Promise 4, the other way round: a handoff that livekit threw away never happened, and all know it."""

import asyncio

import pytest

from agents.handoff import Call, CallPolicy, HandedOver, HandoffRefused, Said
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from state.shared import SharedState
from tests.agents.handoff.aloud import Aloud
from tests.agents.handoff.test_whole_writes import Gated
from tests.agents.hotel import Stay, hotel


class WrittenDown(Aloud):
    """The hotel's call with a loudspeaker and a disk."""

    def __init__(self, model: ScriptedLLM, disk: Gated) -> None:
        super().__init__(model)
        self.disk = disk
        shared = SharedState(Stay(), None, journal=disk)
        self.call = Call(shared, self.call.graph, CallPolicy())

    async def force_the_handoff_away(self) -> None:
        """Interrupt by force while the handoff is under way; the disk is slow from here on."""
        await until(lambda: self.speaker.playing and self.call.handing_over)
        self.disk.gate.clear()
        await self.call.session.interrupt(force=True)
        await until(lambda: not self.call.handing_over)

    def written(self) -> list[tuple[str, str, str]]:
        """What the disk has, as (source, target, actor)."""
        commands = [(row.actor, command) for row in self.disk.rows for command in row.commands]
        return [(str(one["source"]), str(one["target"]), actor) for actor, one in commands]


def thirsty(*answers: str) -> ScriptedLLM:
    """A model that hands the guest to the bar once, then answers."""
    transfer = calls("transfer_to_bar", say="One moment.")
    return ScriptedLLM([says("Good evening."), transfer, *map(says, answers)])


async def test_all_are_told_which_handoff_did_not_happen_and_when() -> None:
    async with WrittenDown(thirsty(), Gated()) as talk:
        talk.call.user_said("I am thirsty")
        await talk.force_the_handoff_away()
        talk.disk.gate.set()
        await talk.call.answered()

    assert talk.of(HandoffRefused) == [HandoffRefused(1, "reception", "bar", "interrupted")]
    assert talk.of(HandedOver) == []


async def test_what_the_guest_said_into_it_is_answered_by_the_old_voice() -> None:
    async with WrittenDown(thirsty("Yes?"), Gated()) as talk:
        talk.call.user_said("I am thirsty")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        talk.call.user_said("Hello?")
        await talk.force_the_handoff_away()
        talk.disk.gate.set()
        await talk.hears_out()
        await talk.call.answered()

    said = talk.of(Said)[-1]
    assert (said.agent, said.text) == ("reception", "Yes?")


async def test_it_is_taken_back_on_disk_once_and_by_the_voice_that_speaks_on() -> None:
    async with WrittenDown(thirsty("Yes?"), Gated()) as talk:
        talk.call.user_said("I am thirsty")
        await talk.force_the_handoff_away()
        talk.call.user_said(
            "Hello?"
        )  # the journal still says the bar: each turn tries to put it right
        await talk.hears_out()
        talk.disk.gate.set()
        await talk.call.answered()

        assert talk.written() == [
            ("reception", "bar", "reception"),
            ("bar", "reception", "reception"),
        ]
        assert talk.call.shared.speaker == "reception"


async def test_it_is_the_guests_turn_when_it_has_been_taken_back_and_not_before() -> None:
    transfer = calls("transfer_to_bar", say="One moment.")
    model = ScriptedLLM([says("Good evening."), transfer, transfer])

    async with WrittenDown(model, Gated()) as talk:
        for turn in (1, 2):
            talk.call.user_said("I am thirsty")
            await talk.force_the_handoff_away()
            await until(lambda: talk.disk.asked == len(talk.disk.rows) + 1)
            before = talk.turns()
            talk.disk.gate.set()
            await talk.call.answered()

            assert (before[-1], talk.turns()[-1]) == (turn - 1, turn)


async def test_a_taking_back_that_cannot_be_stored_is_logged_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with WrittenDown(thirsty("Yes?"), Gated()) as talk:
        talk.call.user_said("I am thirsty")
        await talk.force_the_handoff_away()
        talk.disk.fails = True
        talk.disk.gate.set()
        await talk.call.answered()
        before = talk.call.shared.speaker
        talk.disk.fails = False
        talk.call.user_said("Hello?")
        await talk.hears_out()
        await talk.call.answered()

        assert (before, talk.call.shared.speaker) == ("bar", "reception")
    (record,) = [one for one in caplog.records if one.name == "agents.handoff.handoffs"]
    assert (record.message, vars(record)["code"]) == (
        "active agent not journalled",
        "unavailable",
    )


async def some_time() -> None:
    """Let everything happen that does not wait for the disk."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_what_is_said_while_it_is_written_down_is_the_next_voices_to_answer() -> None:
    disk = Gated()
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A beer it is.")])
    async with Conversation(hotel(journal=disk), model) as talk:
        disk.gate.clear()
        talk.user_says_nowait("I am thirsty")
        await until(lambda: disk.asked > 0)  # it is decided
        await some_time()  # livekit passes over its reply from here on
        turn = talk.user_says_nowait("A beer, please")
        await some_time()
        disk.gate.set()
        await talk.answered()

    assert turn.said == ["A beer it is."]
    assert talk.call.speaker == "bar"
    assert ("user", "A beer, please") in model.requests[-1].texts
