"""The guest speaks, or is spoken over, at every moment of a turn: between any two steps of the event loop.

What happens in one step is not for anybody to see; so whoever may come in anywhere is brought in everywhere.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agents.handoff import Said, YourTurn
from state.shared import NotStored
from tests.agents.matrix.applications import CLINIC, RESTAURANT, SCENES, Scene
from tests.agents.matrix.rows import BAR, CHEERS, TWO_NIGHTS, made
from tests.agents.matrix.stage import CHANNELS, HOTEL, Application, Channel, Talk, until

MOMENTS = (0, 2, 4, 7, 10, 12, 14, 16, 18, 21, 25, 30, 40)
"""After how many steps of the loop somebody comes in."""


async def speaks(talk: Talk) -> None:
    talk.call.user_said("And a taxi")


async def speaks_twice(talk: Talk) -> None:
    talk.call.user_said("And a taxi")
    for _ in range(3):
        await asyncio.sleep(0)
    talk.call.user_said("At nine")


async def is_interrupted(talk: Talk) -> None:
    try:
        await talk.call.session.interrupt()
    except RuntimeError:  # livekit says no
        pass


async def is_broken_off(talk: Talk) -> None:
    await talk.call.session.interrupt(force=True)


async def is_broken_off_and_speaks(talk: Talk) -> None:
    talk.call.session.interrupt(force=True)
    talk.call.user_said("And a taxi")


ComesIn = Callable[[Talk], Awaitable[None]]

COMING_IN: tuple[ComesIn, ...] = (
    speaks,
    speaks_twice,
    is_interrupted,
    is_broken_off,
    is_broken_off_and_speaks,
)


WAYS: list[tuple[Application, Channel, ComesIn]] = [(HOTEL, "text", act) for act in COMING_IN]
WAYS.extend((HOTEL, "aloud", act) for act in (speaks, is_broken_off))
for one in (RESTAURANT, CLINIC):
    WAYS.extend((one, "text", act) for act in (speaks, is_broken_off_and_speaks))
    WAYS.append((one, "aloud", speaks))


@pytest.mark.parametrize(
    ("application", "channel", "comes_in"), WAYS, ids=lambda one: getattr(one, "__name__", str(one))
)
@pytest.mark.parametrize("scene", SCENES[HOTEL])
async def test_whoever_comes_in_at_any_moment_is_answered_once_and_nothing_comes_apart(
    scene: str, application: Application, channel: Channel, comes_in: ComesIn
) -> None:
    replies = [*SCENES[application][scene], ["Anything else?"]]
    for steps in MOMENTS if application is HOTEL else MOMENTS[::2]:
        async with Talk(replies, channel, application=application) as talk:
            talk.call.user_said("Good evening")
            for _ in range(steps):
                await asyncio.sleep(0)
            await comes_in(talk)
            await talk.until_turn()

            assert await talk.quiet() == [], steps
            talk.holds()
            if talk.call.ended is None:
                shown = talk.shown()
                assert "Good evening" in shown, steps
                assert ("And a taxi" in shown) == (talk.call.turn > 1), steps
                assert ("At nine" in shown) == (talk.call.turn > 2), steps
                talk.planned = len(talk.model.asked)
                await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("after_s", [0.0, 0.5, 1.9, 2.1, 3.9, 4.1, 5.9, 6.1, 7.9, 9.0])
@pytest.mark.parametrize("comes_in", [speaks, is_broken_off_and_speaks], ids=lambda a: a.__name__)
async def test_a_slow_disk_loses_no_word_and_hands_over_whole_or_not_at_all(
    comes_in: Callable[[Talk], Awaitable[None]], after_s: float, channel: Channel
) -> None:
    """Two seconds a commit: livekit waits five for the tools of a reply that was interrupted."""
    replies: Scene = [["One moment.", BAR, TWO_NIGHTS], [CHEERS], ["Anything else?"]]
    async with Talk(replies, channel) as talk:
        talk.speaks_up = True
        talk.disk.takes_s = 2.0
        talk.call.user_said("Two nights and a beer")
        await asyncio.sleep(after_s)
        await comes_in(talk)
        await talk.until_turn()
        await talk.quiet()
        talk.holds()

        assert "And a taxi" in talk.shown()
        assert talk.handoffs in ([], ["bar"])
        assert talk.call.speaker == ("bar" if talk.handoffs else "reception")
        talk.disk.takes_s = 0.0
        talk.planned = len(talk.model.asked)
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_handoff_that_was_written_down_too_late_for_livekit_is_taken_back(
    channel: Channel,
) -> None:
    """livekit stops waiting after five seconds; the handoff's row is on its way for eight."""
    async with Talk([["One moment.", BAR], ["It is 120."], [CHEERS]], channel) as talk:
        talk.speaks_up = True
        talk.disk.takes_s = 8.0
        talk.call.user_said("A beer")
        await until(lambda: talk.disk.asked > 0)
        talk.call.session.interrupt(force=True)
        talk.call.user_said("What does a night cost?")
        await talk.until_turn()
        await talk.quiet()

        assert talk.call.speaker == "reception"
        assert talk.refused == ["interrupted"]
        talk.disk.takes_s = 0.0
        talk.planned = len(talk.model.asked)
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_hand_back_that_could_not_be_stored_is_stored_in_the_next_turn(
    channel: Channel,
) -> None:
    async with Talk([["One moment.", BAR], ["Yes?"]], channel) as talk:
        talk.call.user_said("A beer")
        await until(lambda: talk.call.handing_over)
        talk.disk.fails = True
        await talk.call.session.interrupt(force=True)
        await talk.until_turn()
        talk.disk.fails = False
        wrong = talk.call.shared.speaker

        await talk.user_says("Hello?")

        assert wrong == "bar"
        assert talk.call.shared.speaker == talk.call.speaker == "reception"
        talk.holds()
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("many", [1, 4])
async def test_words_said_during_a_handoff_are_answered_by_the_next_voice_together(
    many: int, channel: Channel
) -> None:
    words = [f"word {number}" for number in range(many)]
    async with Talk([["One moment.", BAR], [CHEERS]], channel) as talk:
        talk.call.user_said("A beer")
        await until(lambda: talk.call.handing_over)
        for one in words:
            talk.call.user_said(one)
        await talk.until_turn()

        assert talk.handoffs == ["bar"]
        assert talk.said == ["One moment.", CHEERS]
        shown = talk.shown()
        assert [shown.count(f"user: {one}") for one in words] == [1] * many
        assert [event.turn for event in talk.of(YourTurn)] == [0, 1 + many]
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_handoff_in_the_reply_to_words_that_were_late_happens_once(
    channel: Channel,
) -> None:
    replies: Scene = [
        ["One moment.", BAR],
        ["A beer."],
        [made("transfer_to_reception")],
        ["A room?"],
    ]
    async with Talk(replies, channel) as talk:
        talk.call.user_said("A beer")
        await until(lambda: talk.call.handing_over)
        talk.call.user_said("A cold one")
        await until(lambda: len(talk.model.asked) >= 3)
        talk.call.user_said("No, a room")
        await talk.until_turn()

        assert talk.handoffs == ["bar", "reception"]
        assert talk.said[-1] == "A room?"
        assert talk.call.speaker == "reception"
        talk.holds()
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_journal_that_refuses_during_a_handoff_keeps_the_guest_and_says_so(
    channel: Channel,
) -> None:
    async with Talk([[BAR], ["Please stay."], ["Yes?"]], channel) as talk:
        talk.disk.fails = True
        await talk.user_says("A beer")
        talk.disk.fails = False

        assert talk.refused == [NotStored.code]
        assert talk.said == ["Please stay."]
        talk.holds()
        talk.planned = len(talk.model.asked)
        await talk.goes_on()


@pytest.mark.parametrize("channel", CHANNELS)
async def test_an_application_may_speak_up_unasked_even_during_the_opening(
    channel: Channel,
) -> None:
    async with Talk([[BAR], [0.5, CHEERS]], channel) as talk:
        talk.call.user_said("A beer")
        await until(lambda: len(talk.model.asked) >= 3)
        talk.call.speak("The kitchen closes in ten minutes.")
        await talk.until_turn()
        await talk.quiet()

        assert sorted(talk.said) == sorted(["The kitchen closes in ten minutes.", CHEERS])
        assert isinstance(talk.events[-1], YourTurn)
        assert len({event.turn for event in talk.of(YourTurn)}) == len(talk.of(YourTurn))
        assert [event.agent for event in talk.of(Said)[1:]] == ["bar", "bar"]
        await talk.goes_on()
