"""A user whose answer takes long hears a quiet tone, which is nothing that an agent has said."""

import asyncio
import time
from typing import Any

import pytest
from livekit import rtc
from livekit.agents.voice import UserStateChangedEvent

from agents.handoff import Said, TurnWithdrawn, YourTurn
from agents.handoff.speech.waiting_tone import ToneOutput, quiet_tone
from agents.testing import Loudspeaker, ScriptedLLM, SpokenConversation, calls, says
from tests.agents.hotel import hotel
from tests.virtual_time import in_virtual_time

TONE_S = 0.3


class Listened(Loudspeaker):
    """Notes when each sound begins, and which of them are tones."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[tuple[float, str]] = []

    @property
    def tones(self) -> list[float]:
        """When the tones began."""
        return [at for at, sound in self.begun if sound == "tone"]

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        sound = "tone" if frame.duration == TONE_S else "words"
        if self.begun[-1:] != [(now(), sound)]:
            self.begun.append((now(), sound))
        await super().capture_frame(frame)


def now() -> float:
    return round(asyncio.get_running_loop().time(), 1)


def user(state: Any, before: Any) -> UserStateChangedEvent:
    return UserStateChangedEvent(old_state=before, new_state=state, created_at=time.time())


@in_virtual_time
async def test_a_slow_answer_is_waited_for_with_tones_that_no_one_has_said() -> None:
    loud = Listened()
    model = ScriptedLLM([says("Good evening."), says("Two nights.", delay=8.0)])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        greeted = loud.tones
        turn = await talk.user_says("two nights")
        await asyncio.sleep(60)
        notices = [event for event in talk.events if isinstance(event, YourTurn | TurnWithdrawn)]

    assert greeted == []
    assert loud.begun[1:] == [(2.5, "tone"), (5.0, "tone"), (7.5, "tone"), (8.0, "words")]
    assert turn.said == ["Two nights."]
    assert [(type(event), event.turn) for event in notices] == [(YourTurn, 0), (YourTurn, 1)]
    assert [event.text for event in talk.events if isinstance(event, Said)] == [
        "Good evening.",
        "Two nights.",
    ]


@in_virtual_time
async def test_after_the_first_words_the_rest_is_waited_for_too() -> None:
    loud = Listened()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("ask_rate", say="One moment.", delay=1.0),
            says("120 euros.", delay=4.0),
        ]
    )

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        turn = await talk.user_says("what does it cost")

    assert loud.begun[1:] == [(1.0, "words"), (3.5, "tone"), (5.0, "words")]
    assert turn.said == ["One moment.", "120 euros."]


@in_virtual_time
async def test_a_greeting_that_takes_long_is_waited_for() -> None:
    loud = Listened()
    model = ScriptedLLM([says("Good evening.", delay=4.0)])

    async with SpokenConversation(hotel(), model, loudspeaker=loud):
        pass

    assert loud.begun == [(2.5, "tone"), (4.0, "words")]


@in_virtual_time
async def test_without_the_setting_there_is_no_tone() -> None:
    loud = Listened()
    model = ScriptedLLM([says("Good evening."), says("Two nights.", delay=8.0)])

    async with SpokenConversation(hotel(), model, loudspeaker=loud, tone_after_s=0) as talk:
        await talk.user_says("two nights")

    assert loud.tones == []


@in_virtual_time
async def test_the_user_is_not_disturbed_while_they_speak() -> None:
    loud = Listened()
    model = ScriptedLLM([says("Good evening."), says("Two nights.", delay=8.0)])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        talk.user_says_nowait("two nights")
        await talk.counted(1)
        loud.waits = True
        await asyncio.sleep(2.6)
        assert loud.playing
        talk.call.session.emit("user_state_changed", user("speaking", "listening"))
        assert not loud.playing
        await asyncio.sleep(4.0)
        loud.waits = False
        talk.call.session.emit("user_state_changed", user("listening", "speaking"))
        await talk.answered()

    assert loud.begun[1:] == [(2.5, "tone"), (8.0, "words")]


@in_virtual_time
async def test_a_transcript_that_does_not_come_is_waited_for() -> None:
    loud = Listened()

    async with SpokenConversation(
        hotel(), ScriptedLLM([says("Good evening.")]), loudspeaker=loud
    ) as talk:
        talk.call.user_speech.use_turn_end_timeout(4.0)
        talk.stt.begins("Two")
        talk.stt.finishes()
        await asyncio.sleep(10)
        await talk.answered()

    assert loud.begun[1:] == [(2.5, "tone"), (4.0, "words")]
    assert talk.tts.spoken[-1] == talk.call.policy.say_again


@in_virtual_time
async def test_the_transcript_of_a_turn_that_the_user_ended_is_waited_for() -> None:
    loud = Listened()
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(
        hotel(), model, loudspeaker=loud, microphone_mode="push_to_talk", tone_after_s=1.0
    ) as talk:
        button = talk.call.push_to_talk
        assert button is not None
        talk.expects_words()
        button.start()
        talk.stt.begins("Two nights")
        await asyncio.sleep(5)
        held = loud.tones
        button.end()
        await talk.counted(1)
        await talk.answered()

    assert held == []
    assert loud.tones == [6.0, 7.0]


# -- the output ------------------------------------------------------------------------------------


async def test_words_end_the_tone_at_once() -> None:
    loud = Loudspeaker(waits=True)
    output = ToneOutput(loud)
    finished: list[float] = []
    started: list[object] = []
    output.on("playback_finished", lambda event: finished.append(event.playback_position))
    output.on("playback_started", started.append)

    await output.play_tone()
    assert loud.playing
    assert started == []
    output.flush()  # of a reply without sound
    await output.capture_frame(quiet_tone(0.1, 24_000))
    output.flush()
    loud.heard()
    await output.wait_for_playout()

    assert finished == [pytest.approx(0.1)]
    assert len(started) == 1
    assert loud.played_s == pytest.approx(0.1)


async def test_there_is_no_tone_over_words_or_while_the_output_is_paused() -> None:
    loud = Loudspeaker(waits=True)
    output = ToneOutput(loud)

    await output.capture_frame(quiet_tone(0.1, 24_000))
    await output.play_tone()
    output.flush()
    loud.heard()
    await output.wait_for_playout()
    output.pause()
    await output.play_tone()
    output.resume()

    assert loud.played_s == pytest.approx(0.1)
    assert not loud.playing
