"""Promises 1 and 4 with odd streams of a model: ids, arguments, words and failures."""

import asyncio

import pytest
from livekit.agents import APIConnectionError
from livekit.agents.llm import ChatChunk

from agents.testing import Conversation, until
from tests.agents.handoff import raw_model
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.hotel import Stay, hotel

TROUBLE = "I am sorry, I lost the thread for a moment. Could you say that again?"
ONE_NIGHT = '{"nights": 1}'


@pytest.mark.parametrize("call_id", ["same", "", None], ids=["the same", "empty", "none at all"])
async def test_calls_of_one_reply_with_one_id_are_each_carried_out_and_answered(
    call_id: str | None,
) -> None:
    model = RawModel(
        ["Good evening."],
        [("add_nights", ONE_NIGHT, call_id), ("add_nights", '{"nights": 2}', call_id)],
        ["Three nights."],
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("One, and two more")

    assert talk.state.nights == 3
    assert model.outputs() == ["Done.", "Done."]
    assert turn.said == ["Three nights."]


async def test_an_id_used_again_in_a_later_reply_is_another_call() -> None:
    model = RawModel(
        ["Good evening."],
        [("add_nights", ONE_NIGHT, "call_0")],
        ["One."],
        [("add_nights", ONE_NIGHT, "call_0")],
        ["Two."],
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("A night")
        await talk.user_says("And another")

    assert talk.state.nights == 2
    ids = [item.call_id for item in model.asked[-1].items if item.type == "function_call"]
    assert len(ids) == len(set(ids)) == 2


async def test_identical_calls_of_one_reply_both_count_and_both_are_told() -> None:
    model = RawModel(
        ["Good evening."],
        [("add_nights", ONE_NIGHT, "a"), ("add_nights", ONE_NIGHT, "b")],
        ["Two nights."],
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("A night, and a night")

    assert talk.state.nights == 2
    assert [tool.output for tool in turn.tools] == ["Done.", "Done."] == model.outputs()


@pytest.mark.parametrize("arguments", ["", "  ", None, "{}", "null"])
async def test_no_arguments_are_no_fault_where_none_are_needed(arguments: str | None) -> None:
    model = RawModel(["Good evening."], [("ask_rate", arguments, "a")], ["120."])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("What is it?")

    assert [tool.output for tool in turn.tools] == ["A night is 120 euros."]


@pytest.mark.parametrize(
    "arguments",
    [
        "[]",
        "[1]",
        '"x"',
        "true",
        '{"name": NaN}',
        '{"name": "\\ud800"}',
        '{"name": "a\nb"}',
        '{"name": "Marco',
        '{"name": "A"}{"name": "B"}',
        '{"name": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"name": null}',
        '{"name": {"first": null}}',
        '{"op": "add_nights", "name": "A"}',
        '{"name": "A", "nights": 2}',
    ],
)
async def test_arguments_that_are_not_whole_change_nothing_and_keep_the_guest_here(
    arguments: str,
) -> None:
    """A hand-written agent of livekit-agents 1.8.9 carries six of these out, cut and doubled ones too."""
    model = RawModel(
        ["Good evening."],
        [("transfer_to_bar", "{}", "a"), ("set_guest", arguments, "b")],
        ["Say that again please."],
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am Marco, and thirsty")

    assert talk.state == Stay()
    assert turn.handoffs == []
    assert [one.reason for one in turn.refused] == ["sibling_failed"]
    assert turn.said == ["Say that again please."]
    assert len(turn.your_turns) == 1


async def test_words_after_a_call_are_said_and_the_tool_is_answered_once() -> None:
    model = RawModel(
        ["Good evening."], [("add_nights", ONE_NIGHT, "a"), "One moment."], ["One night."]
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("A night")

    assert talk.state.nights == 1
    assert turn.said == ["One moment.", "One night."]
    assert len(turn.your_turns) == 1


async def test_words_after_a_transfer_are_said_before_the_next_voice_speaks() -> None:
    model = RawModel(["Good evening."], [("transfer_to_bar", "{}", "a"), "Follow me."], ["A beer?"])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("I am thirsty")

    assert turn.said == ["Follow me.", "A beer?"]
    assert turn.handoffs == [("reception", "bar")]


async def test_a_goodbye_long_after_the_call_that_ends_is_not_said_twice() -> None:
    gate = asyncio.Event()
    model = RawModel(
        ["Good evening."], [("end_call", "{}", "a"), gate, "Good", "bye!"], ["Once more!"]
    )

    async with Conversation(hotel(), model) as talk:
        turn = talk.user_says_nowait("Goodbye")
        await until(lambda: len(model.asked) == 2)
        for _ in range(50):
            await asyncio.sleep(0)
        gate.set()
        await talk.answered()

    assert turn.said == ["Goodbye!"]
    assert turn.ended is not None


@pytest.mark.parametrize("where", ["before the write", "after the write"])
async def test_a_stream_that_breaks_beside_a_transfer_makes_no_handoff(where: str) -> None:
    write: Part = ("add_nights", ONE_NIGHT, "b")
    broken = RuntimeError("the line broke")
    parts: list[Part] = [("transfer_to_bar", "{}", "a")]
    parts += [broken] if where == "before the write" else [write, broken]
    model = RawModel(["Good evening."], parts, ["You have one night."])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("A night and a beer")

    assert turn.handoffs == []
    assert talk.call.speaker == "reception"
    assert talk.state.nights == (0 if where == "before the write" else 1)
    assert turn.said == ([TROUBLE] if where == "before the write" else ["You have one night."])
    assert len(turn.your_turns) == 1


async def test_a_stream_that_breaks_leaves_nothing_behind() -> None:
    model = RawModel(
        ["Good evening."],
        [("transfer_to_bar", "{}", "a"), RuntimeError("the line broke")],
        [("transfer_to_bar", "{}", "a")],
        ["A beer?"],
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("A beer")
        turn = await talk.user_says("A beer!")
        left = len(talk.call.replies.pending_calls)

    assert turn.handoffs == [("reception", "bar")]
    assert left == 0


class Relayed(raw_model.RawStream):
    """A stream that breaks after its first part where livekit does not see it, as a proxy's does."""

    broken = False

    async def __anext__(self) -> ChatChunk:
        if self.broken:
            raise APIConnectionError("gone")  # livekit takes it for one that may be asked again
        self.broken = True
        return await super().__anext__()


async def test_a_stream_that_breaks_outside_of_livekit_is_not_asked_again_once_a_part_has_arrived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = RawModel(["Good evening."], ["It costs "], ["It costs ten."])

    async with Conversation(hotel(redact_output=str), model) as talk:
        monkeypatch.setattr(raw_model, "RawStream", Relayed)
        turn = await talk.user_says("what is a night?")

    assert len(model.asked) == 2
    assert turn.said == [f"It costs  {TROUBLE}"]


async def test_an_unknown_tool_beside_a_transfer_keeps_the_guest_and_names_what_there_is() -> None:
    model = RawModel(
        ["Good evening."],
        [("transfer_to_bar", "{}", "a"), ("transfer_to_sauna", "{}", "b"), ("refund", "{}", "c")],
        ["There is no sauna."],
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Bar, sauna and my money")

    assert turn.handoffs == []
    assert turn.said == ["There is no sauna."]
    assert len([output for output in model.outputs() if "Unknown function" in output]) == 2


async def test_a_model_that_calls_a_tool_where_none_is_allowed_speaks_its_canned_line() -> None:
    """The greeting is asked for with tool_choice none; a hand-written agent stays silent then."""
    model = RawModel([("add_nights", ONE_NIGHT, "a")])

    async with Conversation(hotel(), model) as talk:
        pass

    assert talk.greeting.said == ["Good evening, one moment please."]
    assert talk.state == Stay()


async def test_a_model_that_never_stops_calling_tools_has_to_speak_in_the_end() -> None:
    model = RawModel(["Good evening."], [("ask_rate", "{}", "a")])

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("What is it?")

    assert turn.said == [TROUBLE]
    assert model.offered[-1] == []
    assert len(turn.tools) == 9
    assert len(turn.your_turns) == 1


async def test_six_outages_of_the_provider_in_a_row_do_not_end_the_call() -> None:
    """livekit-agents 1.8.9 closes a session at the fourth."""
    down = APIConnectionError("down", retryable=False)
    model = RawModel(["Good evening."], *[[down]] * 6, ["Back."])

    async with Conversation(hotel(), model) as talk:
        for _ in range(6):
            assert (await talk.user_says("Hello?")).said == [TROUBLE]
        turn = await talk.user_says("Hello?")

    assert turn.said == ["Back."]


async def test_a_model_failing_in_its_opening_after_a_tool_says_the_canned_line() -> None:
    model = RawModel(
        ["Good evening."],
        [("transfer_to_bar", "{}", "a")],
        [("set_guest", '{"name": "Ada"}', "b")],
        [RuntimeError("down")],
    )

    async with Conversation(hotel(), model) as talk:
        turn = await talk.user_says("Ada wants a beer")

    assert talk.state.guest == "Ada"
    assert turn.said == ["Good evening, one moment please."]
    assert len(turn.your_turns) == 1
