"""Promise 1: a write is whole or it never was, and what the model is told of it is true."""

import asyncio

import pytest

from agents.testing import Conversation, ScriptedLLM, calls, says, until
from state.shared import Entry, NotStored
from tests.agents.hotel import Stay, Telephone, hotel

BOOKED = Stay(nights=2)


class Gated:
    """A journal whose disk waits for the test, and can fail."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = False
        self.asked = 0

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        self.asked += 1
        return asyncio.ensure_future(self._write(entry))

    async def _write(self, entry: Entry) -> None:
        await self.gate.wait()
        if self.fails:
            raise NotStored("the disk is full")
        self.rows.append(entry)

    async def after(self, version: int) -> list[Entry]:
        return [row for row in self.rows if row.version > version]


async def test_an_argument_of_the_wrong_type_changes_nothing_and_the_talk_goes_on() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("add_nights", {"nights": "two"})), says("How many?")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Two nights")

    assert talk.state == Stay()
    assert turn.tools[0].is_error
    assert turn.tools[0].output.startswith("Nothing was changed. not_valid: nights:")
    assert turn.said == ["How many?"]


async def test_a_refused_command_tells_code_reason_and_facts() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("add_nights", {"nights": 13})), says("Two weeks at most.")]
    )

    async with Conversation(hotel(BOOKED), model) as talk:
        turn = await talk.user_says("Thirteen more")

    assert turn.tools[0].output == 'Nothing was changed. refused: Two weeks at most. {"most": 14}'
    assert talk.state == BOOKED


async def test_two_tools_of_one_reply_both_count() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 1}), ("add_nights", {"nights": 2})),
            says("Three nights."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("One, and two more")

    assert talk.state.nights == 3
    assert turn.commands == ["add_nights", "add_nights"]


async def test_two_tools_of_one_reply_that_touch_the_same_are_not_merged_by_luck() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"}), ("set_guest", {"name": "Grace"})),
            says("Ada, is that right?"),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Ada. No, Grace")

    assert talk.state.guest == "Ada"
    assert turn.tools[1].is_error
    assert "version_conflict" in turn.tools[1].output


async def test_a_hanging_tool_is_given_up_and_the_state_is_as_before() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone"),
            says("No one answers."),
        ]
    )

    async with Conversation(hotel(BOOKED, tool_limit_s=0.01), model) as talk:
        await talk.user_says("I want to go out")
        turn = await talk.user_says("Call the theatre")
    Telephone.gate = None

    assert "timeout" in turn.tools[0].output
    assert turn.said == ["No one answers."]


async def test_a_tool_that_breaks_tells_the_model_nothing_of_its_insides() -> None:
    Telephone.fails = True
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone"),
            says("That did not work."),
        ]
    )

    async with Conversation(hotel(BOOKED), model) as talk:
        await talk.user_says("I want to go out")
        turn = await talk.user_says("Call the theatre")
    Telephone.fails = False

    assert "secret" not in turn.tools[0].output
    assert turn.tools[0].output.startswith("Nothing was changed. internal:")
    assert turn.said == ["That did not work."]


@pytest.mark.parametrize("tool", ["set_guest", "transfer_to_bar"])
async def test_cut_arguments_are_never_carried_out(tool: str) -> None:
    arguments = {"name": "Marco Polo"} if tool == "set_guest" else {"please": "now"}
    model = ScriptedLLM(
        [says("Good evening."), calls((tool, arguments), cut=True), says("Say it again please.")]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am Marco Polo")

    assert talk.state == Stay()
    assert turn.handoffs == []
    assert turn.said == ["Say it again please."]
    assert "did not arrive whole" in model.requests[2].texts[-1][1]


async def test_a_change_that_cannot_be_stored_is_not_made_and_the_call_goes_on() -> None:
    journal = Gated()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2})),
            says("I cannot write that down."),
            calls(("add_nights", {"nights": 2})),
            says("Now it worked."),
        ]
    )

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.fails = True
        turn = await talk.user_says("Two nights")
        nights = talk.state.nights
        journal.fails = False
        again = await talk.user_says("Try again")

    assert nights == 0
    assert "the disk is full" in turn.tools[0].output
    assert again.said == ["Now it worked."]
    assert talk.state.nights == 2


async def test_a_handoff_that_cannot_be_stored_does_not_happen() -> None:
    journal = Gated()
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar"), says("Please stay here.")]
    )

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.fails = True
        turn = await talk.user_says("I am thirsty")

    assert turn.handoffs == []
    assert turn.said == ["Please stay here."]
    assert talk.call.speaker == "reception"


async def test_a_time_limit_that_strikes_in_the_commit_tells_that_it_was_done() -> None:
    journal = Gated()
    model = ScriptedLLM(
        [says("Good evening."), calls(("add_nights", {"nights": 2})), says("Two nights.")]
    )

    async with Conversation(hotel(journal=journal, tool_limit_s=0.01), model) as talk:
        journal.gate.clear()
        turn = talk.user_says_nowait("Two nights")
        await until(lambda: bool(journal.asked))
        asyncio.get_running_loop().call_later(0.05, journal.gate.set)
        await talk.answered()

    assert [tool.output for tool in turn.tools] == ["Done."]
    assert talk.state.nights == 2
    assert len(journal.rows) == 1


async def test_an_interruption_during_the_commit_keeps_the_write() -> None:
    journal = Gated()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2})),
            says("Two nights it is."),
        ]
    )

    async with Conversation(hotel(journal=journal), model) as talk:
        journal.gate.clear()
        talk.user_says_nowait("Two nights")
        await until(lambda: bool(journal.asked))
        talk.user_says_nowait("Are you there?")
        journal.gate.set()
        await talk.answered()

    assert talk.state.nights == 2
    assert [row.version for row in journal.rows] == [1] == [talk.call.shared.version]


async def test_a_tool_that_does_not_exist_is_answered_and_the_talk_goes_on() -> None:
    model = ScriptedLLM([says("Good evening."), calls("refund_all"), says("I cannot do that.")])

    async with Conversation(hotel(BOOKED), model) as talk:
        turn = await talk.user_says("Give me everything back")

    assert turn.said == ["I cannot do that."]
    assert talk.state == BOOKED
