"""The user says when their turn begins and ends: what is between reaches the agents, nothing else does."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from livekit import rtc
from livekit.agents.stt import AvailabilityChangedEvent
from livekit.agents.vad import VADEvent, VADEventType
from livekit.agents.voice import UserStateChangedEvent

from agents.handoff import Graph, HandedOver, Heard, Said, YourTurn
from agents.handoff.speech import push_to_talk
from agents.testing import (
    Loudspeaker,
    Microphone,
    ScriptedLLM,
    ScriptedSTT,
    SpokenConversation,
    ToneVAD,
    calls,
    says,
    until,
)
from agents.testing.conversation import Turn
from agents.testing.tones import line, silence
from tests.agents.hotel import Bar, Concierge, Reception, Stay, hotel, hotel_graph
from tests.virtual_time import in_virtual_time

SOON_S = 10.0
"""How long anything may take on a busy machine, in seconds."""


class Talk(SpokenConversation[Any, Any]):
    """A conversation whose user holds a button."""

    @property
    def button(self) -> push_to_talk.PushToTalk:
        assert self.call.push_to_talk is not None
        return self.call.push_to_talk

    def presses(self) -> int:
        """Begin a turn."""
        self.expects_words()
        return self.button.start()

    async def user_says_held(self, text: str, *, pressed: bool = False) -> Turn:
        """Say something in a turn of its own and wait for the answer."""
        turn = self.expects_words()
        if not pressed:
            self.button.start()
        self.stt.hears(text)
        self.button.end()
        await self.counted(turn.number)
        await self.answered()
        return turn

    @property
    def heard(self) -> list[str]:
        return [event.text for event in self.of(Heard)]

    @property
    def said(self) -> list[str]:
        return [event.text for event in self.of(Said)]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def so(self, fact: Callable[[], object]) -> None:
        await until(fact, SOON_S)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the limits that a test lets pass short."""
    monkeypatch.setattr(push_to_talk, "TRANSCRIPT_S", 0.05)
    monkeypatch.setattr(push_to_talk, "GONE_S", 0.05)
    monkeypatch.setattr(push_to_talk, "_CHECK_S", 0.01)


# -- one turn --------------------------------------------------------------------------------------


@pytest.mark.parametrize("manual_flush", [False, True])
async def test_what_is_said_between_press_and_release_is_one_turn(*, manual_flush: bool) -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model, stt=ScriptedSTT(manual_flush=manual_flush)) as talk:
        assert talk.presses() == 1
        talk.stt.begins("Two")
        talk.stt.finishes("Two nights")
        talk.stt.finishes("please")
        assert (talk.call.turn, talk.heard) == (0, [])
        assert talk.button.end() == 1
        assert talk.button.end() == 1  # asked once more because the answer was lost
        await talk.counted(1)
        await talk.answered()
        with pytest.raises(push_to_talk.NoTurn):
            talk.button.end()

    assert talk.heard == ["Two nights please"]
    assert model.requests[1].texts[-1] == ("user", "Two nights please")
    assert [event.turn for event in talk.of(YourTurn)] == [0, 1]


async def test_a_flush_brings_the_words_at_once() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model, stt=ScriptedSTT(manual_flush=True)) as talk:
        talk.presses()
        talk.stt.unflushed = "two nights"
        talk.button.end()
        await talk.counted(1)
        await talk.answered()

    assert talk.heard == ["two nights"]
    assert talk.stt.opened == 1


@pytest.mark.parametrize("manual_flush", [False, True])
async def test_a_turn_without_a_word_is_no_turn(*, manual_flush: bool) -> None:
    model = ScriptedLLM([says("Good evening."), says("Yes?")])

    async with Talk(hotel(), model, stt=ScriptedSTT(manual_flush=manual_flush)) as talk:
        talk.presses()
        talk.button.end()
        await talk.so(lambda: not talk.call.user_holds)
        assert (talk.call.turn, talk.said) == (0, ["Good evening."])
        await talk.user_says_held("hello")

    assert talk.heard == ["hello"]


async def test_the_user_is_told_when_nothing_was_understood(short: None) -> None:
    model = ScriptedLLM([says("Good evening.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.begins()
        talk.button.end()
        await talk.so(lambda: len(talk.said) == 2)
        await talk.answered()
        sorry = talk.call.policy.say_again

    assert talk.said == ["Good evening.", sorry]


async def test_a_turn_in_which_speech_to_text_breaks_off_is_asked_for_again_once(
    short: None,
) -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.begins("two")
        await talk.so(lambda: talk.call.user_speech.expects_final)
        talk.stt.emit("stt_availability_changed", AvailabilityChangedEvent(talk.stt, False))
        talk.button.end()
        again = talk.call.policy.say_again
        await talk.so(lambda: again in talk.said)
        await talk.answered()
        await talk.user_says_held("two nights")

    assert talk.heard == ["two nights"]
    assert talk.said == ["Good evening.", again, "Two nights."]


async def test_words_whose_final_transcript_is_late_are_taken_as_they_are(short: None) -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights."), says("Five.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.begins("two nights")
        late = talk.stt._streams[0]
        talk.button.end()
        await talk.counted(1)
        # Its final transcript cannot come as a second message.
        await talk.so(lambda: talk.stt.opened == 2 and not late.open)
        await talk.answered()
        await talk.user_says_held("five nights")

    assert talk.heard == ["two nights", "five nights"]


# -- what is outside a turn ------------------------------------------------------------------------


class Heeding(ToneVAD):
    """Counts the loud frames it was given."""

    loud_s = 0.0

    def stream(self) -> Any:
        stream: Any = super().stream()
        process = stream._process

        def count(frame: rtc.AudioFrame) -> None:
            self.loud_s += frame.duration if max(frame.data) > 1000 else 0.0
            process(frame)

        stream._process = count
        return stream


async def test_no_sound_outside_a_turn_reaches_a_detector_or_speech_to_text() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    stt, vad, microphone = ScriptedSTT(("one", "two")), Heeding(), Microphone()

    async with Talk(hotel(), model, stt=stt, vad=vad, microphone=microphone) as talk:
        talk.button.set_mode("push_to_talk")
        microphone.plays([*line(0)])
        await talk.so(lambda: talk.button._gate.frames == 80)
        talk.presses()
        microphone.plays([*line(1)][:40])
        await talk.so(lambda: talk.call.session.user_state == "speaking")
        microphone.plays(silence(0.4))
        await talk.so(lambda: talk.button._gate.frames == 160)
        talk.button.end()
        await talk.counted(1)
        await talk.answered()
        microphone.plays([*line(0)])
        await talk.so(lambda: talk.button._gate.frames == 240)
        assert talk.call.session.user_state == "listening"

    assert talk.heard == ["two"]
    assert vad.loud_s == pytest.approx(0.4)


async def test_the_reply_need_not_wait_for_the_detector() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    stt, microphone = ScriptedSTT(("two",)), Microphone()

    class Stuck(ToneVAD):
        """Never reports the end of speech."""

        def stream(self) -> Any:
            stream: Any = super().stream()
            emit = stream._event_ch.send_nowait

            def drop(event: VADEvent) -> None:
                if event.type is not VADEventType.END_OF_SPEECH:
                    emit(event)

            stream._event_ch.send_nowait = drop
            return stream

    async with Talk(hotel(), model, stt=stt, vad=Stuck(), microphone=microphone) as talk:
        talk.presses()
        microphone.plays([*line(0)][:40])
        await talk.so(lambda: talk.call.session.user_state == "speaking")
        microphone.plays(silence(0.4))
        await talk.so(lambda: talk.call.user_speech._finals)
        talk.button.end()
        await talk.counted(1)
        await talk.answered()

    assert talk.said == ["Good evening.", "Two nights."]


# -- cancel ----------------------------------------------------------------------------------------


async def test_what_is_cancelled_is_forgotten() -> None:
    model = ScriptedLLM([says("Good evening."), says("Five.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.begins("two")
        talk.stt.finishes("two nights")
        talk.stt.begins("no")
        await talk.so(lambda: talk.call.user_speech._interim)
        first = talk.stt._streams[0]
        assert talk.button.cancel() == 0
        first.emit(*_final("no three"))
        assert talk.call.turns.is_user_turn
        with pytest.raises(push_to_talk.NoTurn):
            talk.button.cancel()
        await talk.so(lambda: talk.stt.opened == 2)
        turn = await talk.user_says_held("five nights")

    assert (talk.heard, turn.number) == (["five nights"], 1)
    said = [text for who, text in model.requests[1].texts if who == "user"]
    assert [text for text in said if text.endswith("nights")] == ["five nights"]


def _final(words: str) -> tuple[Any, str]:
    from livekit.agents.stt import SpeechEventType

    return SpeechEventType.FINAL_TRANSCRIPT, words


async def test_a_press_right_after_a_release_continues_the_turn() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two, at the front.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.hears("two nights")
        talk.button.end()
        assert talk.button.start() == 1
        talk.stt.hears("at the front")
        talk.button.end()
        await talk.counted(1)
        await talk.answered()

    assert talk.heard == ["two nights at the front"]


async def test_what_was_released_is_not_forgotten_with_what_follows() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.finishes("two")
        talk.stt.begins("nights")
        await talk.so(lambda: talk.call.user_speech._interim)
        talk.button.end()
        talk.button.start()
        talk.stt.finishes("nights please never mind")
        await talk.so(lambda: not talk.call.user_speech._interim)
        talk.button.cancel()
        await talk.counted(1)
        await talk.answered()

    assert talk.heard == ["two nights"]


# -- agents ----------------------------------------------------------------------------------------


async def test_a_press_stops_the_agent() -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("Two nights.")])
    loudspeaker = Loudspeaker()

    async with Talk(hotel(), model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("tell me")
        await talk.so(lambda: loudspeaker.playing)
        talk.presses()
        await talk.so(lambda: not loudspeaker.playing)
        loudspeaker.waits = False
        talk.stt.hears("two nights")
        talk.button.end()
        await talk.counted(2)
        await talk.answered()

    assert talk.heard == ["tell me", "two nights"]
    assert [event.interrupted for event in talk.of(Said)] == [False, True, False]


async def test_a_cancelled_turn_leaves_the_earlier_words_to_be_answered() -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("It costs.", delay=30), says("120 euros a night.")]
    )

    async with Talk(hotel(), model) as talk:
        talk.user_says_nowait("what does it cost")
        await talk.counted(1)
        await talk.so(lambda: len(model.requests) == 2)
        talk.button.start()
        await talk.so(lambda: not talk.call.turns.speeches)
        talk.button.cancel()
        await talk.answered()

    assert talk.said == ["Good evening.", "120 euros a night."]


async def test_a_handoff_in_a_held_turn_is_heard_once_and_the_next_agent_answers() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("transfer_to_bar", {})),
            says("The bar is open."),
            says("One beer."),
        ]
    )

    async with Talk(hotel(), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await until(lambda: talk.call.handing_over)
        talk.presses()
        await talk.so(lambda: talk.of(HandedOver))
        talk.stt.hears("a beer please")
        await talk.so(lambda: not talk.call.turns.speeches)
        assert talk.said == ["Good evening."]
        talk.button.end()
        await talk.counted(2)
        await talk.answered()

    assert talk.heard == ["I am thirsty", "a beer please"]
    assert [event.target for event in talk.of(HandedOver)] == ["bar"]
    assert talk.of(Said)[-1].agent == "bar"


async def test_a_press_while_the_next_agent_is_prepared_holds_for_it() -> None:
    pressed: list[int] = []

    class LeavingReception(Reception):
        async def on_exit(self) -> None:
            pressed.append(talk.presses())

    graph = Graph((LeavingReception, Concierge, Bar), hotel_graph().handoffs, start="reception")
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("transfer_to_bar", {})),
            says("The bar is open."),
            says("One beer."),
        ]
    )

    async with Talk(hotel(graph=graph), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await until(lambda: pressed and talk.call.active.can_reply)
        activity = talk.call.session._activity
        assert activity is not None
        assert activity._turn_detection == "manual"
        talk.stt.hears("a beer please")
        talk.button.end()
        await talk.counted(2)
        await talk.answered()

    assert talk.heard == ["I am thirsty", "a beer please"]


async def test_no_agent_speaks_while_a_turn_is_held() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.call.speak("Your table is ready.")
        talk.stt.hears("two nights")
        await talk.so(lambda: talk.call.user_speech.awaiting_transcript)
        assert talk.said == ["Good evening."]
        talk.button.end()
        await talk.counted(1)
        await talk.so(lambda: len(talk.said) == 3)
        await talk.answered()

    assert talk.said == ["Good evening.", "Two nights.", "Your table is ready."]


async def test_what_is_written_while_a_turn_is_held_is_answered_with_it() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights, at the front.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.call.user_said("two nights")
        talk.stt.hears("at the front")
        talk.button.end()
        await talk.counted(2)
        await talk.answered()

    assert talk.heard == ["two nights", "at the front"]
    assert len(model.requests) == 2


# -- a client that is gone --------------------------------------------------------------------------


async def test_a_turn_without_audio_packets_is_committed(short: None) -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.hears("two nights")
        await talk.counted(1)
        await talk.answered()
        with pytest.raises(push_to_talk.NoTurn):
            talk.button.end()

    assert talk.heard == ["two nights"]


@in_virtual_time
async def test_a_turn_with_audio_packets_goes_on() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    microphone = Microphone()

    async with Talk(hotel(), model, microphone=microphone) as talk:
        talk.presses()
        for _ in range(60):
            microphone.plays(silence(0.01))
            await asyncio.sleep(1)
        assert talk.button.held
        talk.stt.hears("two nights")
        talk.button.user_left()
        await talk.counted(1)
        await talk.answered()


# -- open microphone and push-to-talk ---------------------------------------------------------------


async def test_a_call_switches_between_both() -> None:
    model = ScriptedLLM([says("Good evening."), says("One."), says("Two."), says("Three.")])

    async with Talk(hotel(), model) as talk:
        await talk.user_says("one")
        assert talk.button.start() == 2
        assert talk.button.mode == "push_to_talk"
        await talk.user_says_held("two", pressed=True)
        talk.button.set_mode("open")
        await talk.user_says("three")

    assert talk.heard == ["one", "two", "three"]


async def test_opening_the_microphone_commits_the_turn() -> None:
    model = ScriptedLLM([says("Good evening."), says("One."), says("Two.")])

    async with Talk(hotel(), model) as talk:
        talk.presses()
        talk.stt.hears("one")
        talk.button.set_mode("open")
        await talk.counted(1)
        await talk.answered()
        await talk.user_says("two")

    assert talk.heard == ["one", "two"]


async def test_what_was_being_said_at_the_switch_is_answered() -> None:
    model = ScriptedLLM([says("Good evening."), says("One."), says("Two.")])

    async with Talk(hotel(), model) as talk:
        talk.expects_words()
        talk.stt.begins("one")
        await talk.so(lambda: talk.call.session.user_state == "speaking")
        talk.button.set_mode("push_to_talk")
        talk.stt.finishes("one night")
        await talk.counted(1)
        await talk.answered()
        await talk.user_says_held("two")

    assert talk.heard == ["one night", "two"]


async def test_push_to_talk_from_the_beginning() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    stt, microphone = ScriptedSTT(("one",)), Microphone()

    async with Talk(
        hotel(Stay()), model, stt=stt, microphone=microphone, microphone_mode="push_to_talk"
    ) as talk:
        microphone.plays([*line(0)])
        await talk.so(lambda: talk.button._gate.frames == 80)
        await talk.user_says_held("two nights")

    assert talk.heard == ["two nights"]


async def test_a_noise_after_a_cancelled_turn_is_not_asked_about() -> None:
    async with Talk(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        speech = talk.call.user_speech
        talk.presses()
        talk.stt.begins("Two nights")
        await talk.so(lambda: speech.expects_final)
        talk.button.cancel()
        talk.button.set_mode("open")
        speech.use_turn_end_timeout(0.02)
        for event in (
            UserStateChangedEvent(old_state="listening", new_state="speaking", created_at=1.0),
            UserStateChangedEvent(old_state="speaking", new_state="listening", created_at=1.3),
        ):
            speech.state_changed(event)
        await talk.so(lambda: not speech.awaiting_transcript)
        await talk.answered()

    assert talk.said == ["Good evening."]
