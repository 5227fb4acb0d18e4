"""An application's own agents and tools fail, hang and half finish: the guest is answered, and truthfully."""

import asyncio
from typing import Any

import pytest

from agents.handoff import Agent, Said, YourTurn
from tests.agents.hotel import Stay
from tests.agents.matrix.own import (
    SECRET,
    BusierBar,
    BusyBar,
    Desk,
    FailingBar,
    HangingBar,
    HangInTheEnd,
    LateFailingBar,
    LeavingReception,
    LingeringReception,
    LostConcierge,
    MuteBar,
    NosyBar,
    OwnWordsBar,
    UnwrittenBar,
)
from tests.agents.matrix.plain import BusyReception, Data, Plain, PlainBar
from tests.agents.matrix.rows import BAR, CHEERS, CONCIERGE, SORRY, Reply, made
from tests.agents.matrix.stage import CANNED, CHANNELS, Channel, Talk, until

both = pytest.mark.parametrize("channel", CHANNELS)


@both
async def test_p2_a_tool_that_raises_before_its_write_has_changed_nothing(channel: Channel) -> None:
    async with Talk([[made("fail_and_book")], [SORRY]], channel, agents=[Desk]) as talk:
        await talk.user_says("A night")

        assert talk.outputs == ["Nothing was changed. internal: Something went wrong inside."]
        assert talk.call.state == Stay()
        assert talk.said == [SORRY]
        assert SECRET not in talk.shown()
        await talk.goes_on()


@both
async def test_p2_a_tool_that_raises_after_its_write_is_not_reported_as_unchanged(
    channel: Channel,
) -> None:
    async with Talk([[made("book_and_fail")], [SORRY]], channel, agents=[Desk]) as talk:
        await talk.user_says("A night")

        assert talk.call.state == Stay(nights=1)
        assert "Nothing was changed" not in talk.shown()
        assert "It was not finished, and something has been changed" in talk.shown()
        assert SECRET not in talk.shown()
        assert talk.said == [SORRY]
        await talk.goes_on()


async def test_p2_plain_livekit_keeps_what_a_failed_tool_wrote_and_tells_nobody() -> None:
    async with Plain([[made("book_and_fail")], [SORRY]]) as talk:
        await talk.user_says("A night")

        assert talk.data == Data(nights=1)
        outputs = [
            item for item in talk.model.asked[-1].items if item.type == "function_call_output"
        ]
        assert [item.output for item in outputs] == ["An internal error occurred"]


@both
@pytest.mark.parametrize("nights", ["two", -1.5, None, [2], {"of": 2}])
async def test_p3_a_command_that_makes_nonsense_of_the_state_changes_nothing(
    nights: Any, channel: Channel
) -> None:
    replies: list[Reply] = [[made("set_nights", nights=nights)], [SORRY]]

    async with Talk(replies, channel, agents=[Desk]) as talk:
        await talk.user_says("Two nights")

        assert talk.call.state == Stay()
        assert talk.outputs[0].startswith("Nothing was changed. not_valid: nights:")
        assert talk.said == [SORRY]
        await talk.goes_on()


@both
async def test_p4_two_tools_that_wait_in_the_middle_both_count(channel: Channel) -> None:
    replies: list[Reply] = [[made("book_slowly"), made("book_slowly")], ["Two."]]

    async with Talk(replies, channel, agents=[Desk]) as talk:
        await talk.user_says("A night, and a night")

        assert talk.call.state == Stay(nights=2)
        assert talk.outputs == ["Booked.", "Booked."]
        await talk.goes_on()


async def test_p4_plain_livekit_loses_one_of_two_writes() -> None:
    replies: list[Reply] = [
        [made("add_nights_slowly", nights=1), made("add_nights_slowly", nights=1)],
        ["Two."],
    ]

    async with Plain(replies) as talk:
        await talk.user_says("A night, and a night")

        assert talk.data.nights == 1


async def test_p6_plain_livekit_hands_over_without_end() -> None:
    handoffs = [[made("transfer_to_bar")], [made("transfer_to_reception")]] * 60

    async with Plain(handoffs, first=BusyReception(), greeting=[]) as talk:
        await talk.user_says("Hello?")

        assert talk.said == []
        assert len(talk.model.asked) > 120


@both
async def test_p6_voices_that_always_hand_over_are_stopped_and_one_of_them_speaks(
    channel: Channel,
) -> None:
    to = {"reception": "transfer_to_bar", "bar": "transfer_to_reception"}
    async with Talk([[BAR], [CHEERS]], channel) as talk:
        for turn in range(6):
            here, there = (
                talk.call.speaker,
                "bar" if talk.call.speaker == "reception" else "reception",
            )
            talk.model.replies[1 + 2 * turn :] = [(made(to[here]),), (made(to[there]),)]
            happened = await talk.user_says("Hello?")

            assert [event.text for event in happened if isinstance(event, Said)] == [CANNED]
            assert [type(event) for event in happened].count(YourTurn) == 1
            assert len(talk.model.asked) == 3 + 2 * turn
        talk.holds()


@both
async def test_a_tool_that_hangs_is_given_up_and_the_guest_is_told(channel: Channel) -> None:
    async with Talk([[made("wait_for_ever")], [SORRY]], channel, agents=[Desk]) as talk:
        await talk.user_says("Ask them")

        assert [output[:28] for output in talk.outputs] == ["Nothing was changed. timeout"]
        assert talk.said == [SORRY]
        await talk.goes_on()


@both
async def test_a_tool_that_does_not_heed_its_end_is_left_to_itself(channel: Channel) -> None:
    HangInTheEnd.closed = asyncio.Event()
    try:
        async with Talk([[made("hang_in_the_end")], [SORRY]], channel, agents=[Desk]) as talk:
            await talk.user_says("Ask them")

            assert [output[:28] for output in talk.outputs] == ["Nothing was changed. timeout"]
            assert talk.said == [SORRY]
            await talk.goes_on()
    finally:
        HangInTheEnd.closed.set()


async def test_plain_livekit_waits_for_a_tool_that_hangs() -> None:
    async with Plain([[made("wait_for_ever")], [SORRY]]) as talk:
        await talk.user_says("Ask them", listen_s=600)

        assert talk.said == []
        assert len(talk.model.asked) == 2
        await asyncio.sleep(3600)


@both
async def test_a_tool_that_hangs_after_its_write_is_given_up_and_the_write_is_not_denied(
    channel: Channel,
) -> None:
    async with Talk([[made("book_and_wait")], [SORRY]], channel, agents=[Desk]) as talk:
        await talk.user_says("Book, and ask them")

        assert talk.call.state == Stay(nights=1)
        assert "Nothing was changed" not in talk.shown()
        assert talk.said == [SORRY]
        await talk.goes_on()


@both
async def test_a_handoff_beside_a_tool_that_hangs_does_not_happen(channel: Channel) -> None:
    async with Talk([[made("wait_for_ever"), BAR], [SORRY]], channel, agents=[Desk]) as talk:
        await talk.user_says("Ask them, and a beer")

        assert talk.refused == ["sibling_failed"]
        assert talk.said == [SORRY]
        await talk.goes_on()


@both
async def test_a_handoff_beside_a_slow_tool_waits_for_it(channel: Channel) -> None:
    async with Talk([[BAR, made("busy")], [CHEERS]], channel, agents=[Desk]) as talk:
        await talk.user_says("Do it, and a beer")

        assert talk.outputs == ["Done at last."]
        assert talk.handoffs == ["bar"]
        assert talk.said == [CHEERS]
        await talk.goes_on()


@both
async def test_a_second_turn_while_a_tool_hangs_is_answered_when_it_is_given_up(
    channel: Channel,
) -> None:
    async with Talk([[made("wait_for_ever")], ["Yes."]], channel, agents=[Desk]) as talk:
        talk.call.user_said("Ask them")
        await asyncio.sleep(1.0)
        began = asyncio.get_running_loop().time()
        await talk.user_says("Are you still there?")

        assert asyncio.get_running_loop().time() - began < 6.0
        assert talk.said == ["Yes."]
        assert "timeout" in talk.shown()
        assert "user: Are you still there?" in talk.shown()
        await talk.goes_on()


@both
async def test_a_tool_that_will_not_be_given_up_does_not_keep_the_guest_from_being_answered(
    channel: Channel,
) -> None:
    async with Talk([[made("stubborn")], ["Yes."], ["Yes."]], channel, agents=[Desk]) as talk:
        talk.call.user_said("Ask them")
        await asyncio.sleep(1.0)
        await talk.user_says("Are you still there?")
        await talk.quiet()

        assert set(talk.said) == {"Yes."}
        assert "user: Are you still there?" in talk.shown()


@both
@pytest.mark.parametrize(
    ("bar", "said"),
    [
        (FailingBar, [CHEERS]),
        (LateFailingBar, [CHEERS]),
        (MuteBar, [CHEERS]),
        (HangingBar, [CHEERS]),
        (OwnWordsBar, [CHEERS]),
        (BusyBar, [CHEERS]),
        (BusierBar, [CHEERS]),
    ],
)
async def test_a_voice_with_an_on_enter_of_its_own_is_heard_once_whatever_that_does(
    bar: type[Agent[Any, Any]], said: list[str], channel: Channel
) -> None:
    async with Talk([[BAR], [CHEERS]], channel, agents=[bar]) as talk:
        await talk.user_says("A beer")

        assert talk.handoffs == ["bar"]
        assert talk.said == said
        assert await talk.quiet() == []
        talk.holds()
        await talk.goes_on()


@both
@pytest.mark.parametrize("bar", [FailingBar, MuteBar, HangingBar, OwnWordsBar, BusyBar])
async def test_words_said_while_such_a_voice_comes_in_are_answered(
    bar: type[Agent[Any, Any]], channel: Channel
) -> None:
    async with Talk([["One moment.", BAR], [CHEERS], [CHEERS]], channel, agents=[bar]) as talk:
        talk.call.user_said("A beer")
        await until(lambda: talk.call.handing_over)
        talk.call.user_said("A cold one")
        await talk.until_turn()
        await talk.quiet()

        assert "user: A cold one" in talk.shown()
        assert talk.said[-1] == CHEERS
        talk.planned = len(talk.model.asked)
        await talk.goes_on()


class _BarThatFails(PlainBar):
    async def on_enter(self) -> None:
        raise RuntimeError(SECRET)


async def test_plain_livekit_is_silent_when_on_enter_raises() -> None:
    async with Plain([[CHEERS]]) as talk:
        talk.session.update_agent(_BarThatFails())
        await asyncio.sleep(60)

        assert talk.said == []


@both
@pytest.mark.parametrize("bar", [UnwrittenBar, NosyBar])
async def test_an_agent_that_cannot_be_made_does_not_take_over(
    bar: type[Agent[Any, Any]], channel: Channel
) -> None:
    async with Talk([[BAR], [SORRY]], channel, agents=[bar]) as talk:
        await talk.user_says("A beer")

        assert talk.refused == ["internal"]
        assert talk.said == [SORRY]
        assert SECRET not in talk.shown()
        await talk.goes_on()


@both
@pytest.mark.parametrize("reception", [LeavingReception, LingeringReception])
async def test_a_voice_whose_leaving_fails_or_never_ends_hands_over_all_the_same(
    reception: type[Agent[Any, Any]], channel: Channel
) -> None:
    async with Talk([[BAR], [CHEERS]], channel, agents=[reception]) as talk:
        await talk.user_says("A beer")

        assert talk.handoffs == ["bar"]
        assert talk.said == [CHEERS]
        await talk.goes_on()


@both
async def test_a_voice_that_does_not_know_what_it_offers_says_its_canned_line(
    channel: Channel,
) -> None:
    async with Talk([[CONCIERGE]], channel, stay=Stay(nights=1), agents=[LostConcierge]) as talk:
        await talk.user_says("Out")

        assert talk.said == [CANNED]
        assert talk.call.speaker == "concierge"
        talk.holds()


@both
async def test_a_listener_that_raises_at_everything_changes_nothing(channel: Channel) -> None:
    async with Talk([[made("add_nights", nights=2), BAR], [CHEERS]], channel) as talk:

        def fail(event: object) -> None:
            raise TypeError(SECRET)

        talk.call.subscribe(fail)
        await talk.user_says("Two nights and a beer")

        assert talk.said == [CHEERS]
        await talk.goes_on()
