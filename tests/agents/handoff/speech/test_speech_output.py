"""Replies are spoken as far as a voice works, shown as far as it does not, and kept as far as they were played."""

import asyncio
from typing import Any

import pytest
from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, APIConnectionError
from livekit.agents.tts import AudioEmitter, SynthesizeStream
from livekit.agents.voice.transcription.synchronizer import TranscriptSynchronizer

from agents.handoff import (
    Said,
    YourTurn,
)
from agents.handoff.livekit_workarounds import CallSession
from agents.handoff.speech import speech_output
from agents.testing import (
    Loudspeaker,
    ScriptedLLM,
    ScriptedSTT,
    SpokenConversation,
    ToneTTS,
    calls,
    says,
)
from agents.testing.tones import silence, tone
from tests.agents.handoff.speech.waiting import of, so
from tests.agents.hotel import hotel


async def test_a_model_that_fails_is_spoken_for_aloud() -> None:
    model = ScriptedLLM([says("Good evening."), says("Let me", error="down")])

    async with SpokenConversation(hotel(trouble="Say that again?"), model) as talk:
        await talk.user_says("Two nights")

    assert talk.tts.spoken[-1].endswith("Say that again?")


async def test_each_voice_may_have_its_own_mouth() -> None:
    bar = ToneTTS(hertz=300)
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("A beer?")])

    async with SpokenConversation(hotel(), model, tts_by_agent={"bar": bar}) as talk:
        await talk.user_says("I am thirsty")

    assert (talk.tts.spoken, bar.spoken) == (["Good evening."], ["A beer?"])


async def test_words_that_cannot_be_spoken_are_said_all_the_same_and_tools_run() -> None:
    tone = ToneTTS()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"}), say="One moment."),
            says("Ada!"),
            says("Goodbye."),
        ]
    )

    async with SpokenConversation(hotel(cannot_speak="Read this."), model, tts=tone) as talk:
        tone.broken = True
        turn = await talk.user_says("I am Ada")
        later = await talk.user_says("bye")

    assert talk.state.guest == "Ada"
    assert turn.said == ["One moment.", "Read this.", "Ada!"]
    assert later.said == ["Goodbye."]
    assert [event.interrupted for event in of(talk, Said)] == [False] * 5
    assert [event.turn for event in of(talk, YourTurn)] == [0, 1, 2]


class Breaking(ToneTTS):
    """Breaks off in each reply that is to be broken, once its first sound is played."""

    def __init__(self, loudspeaker: Loudspeaker) -> None:
        super().__init__()
        self.loudspeaker = loudspeaker
        self.breaks = 0
        self.asked: list[str] = []

    def stream(self, **how: Any) -> SynthesizeStream:
        if not self.breaks:
            return super().stream(**how)
        self.breaks -= 1
        return BreakingStream(tts=self, conn_options=DEFAULT_API_CONNECT_OPTIONS)


class BreakingStream(SynthesizeStream):
    _tts: Breaking

    async def _run(self, output_emitter: AudioEmitter) -> None:
        text = "".join([one async for one in self._input_ch if isinstance(one, str)])
        self._tts.asked.append(text)
        output_emitter.initialize(
            request_id="breaks",
            sample_rate=24_000,
            num_channels=1,
            mime_type="audio/pcm",
            stream=True,
        )
        output_emitter.start_segment(segment_id="breaks")
        # Half of what it says, and more than the emitter keeps back.
        for frame in tone(200, len(text) * self._tts.character_s / 2 + 0.2, rate=24_000):
            output_emitter.push(bytes(frame.data))
        output_emitter.flush()
        loudspeaker = self._tts.loudspeaker
        await so(loudspeaker, lambda: loudspeaker.playing)
        raise APIConnectionError("the voice is gone", retryable=False)


@pytest.mark.parametrize("breaks", [1, 2])
async def test_the_rest_of_a_reply_whose_voice_breaks_off_is_spoken_in_a_second_attempt(
    breaks: int,
) -> None:
    story = "There are rooms with a view of the sea, of the hills, of the garden, and of the yard."
    model = ScriptedLLM([says("Good evening."), says(story)])
    loudspeaker = Loudspeaker()
    voice = Breaking(loudspeaker)

    async with SpokenConversation(
        hotel(cannot_speak="Read this."), model, tts=voice, loudspeaker=loudspeaker
    ) as talk:
        voice.breaks = breaks
        turn = await talk.user_says("Which rooms are there?")

    rest = (voice.asked + voice.spoken[1:])[1]
    assert story.endswith(rest)
    assert 10 < len(rest) < len(story) - 10
    assert turn.said == ([story] if breaks == 1 else [story, "Read this."])


async def test_a_voice_that_makes_no_sound_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech_output, "AUDIO_TIMEOUT_S", 0.1)
    tone = ToneTTS()
    model = ScriptedLLM([says("Good evening."), says("Ada!")])

    async with SpokenConversation(hotel(cannot_speak="Read this."), model, tts=tone) as talk:
        tone.mute = True
        turn = await talk.user_says("I am Ada")

    assert turn.said == ["Ada!", "Read this."]


async def test_a_voice_that_has_failed_is_tried_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speech_output, "RETRY_AFTER_S", 0.0)
    tone = ToneTTS()
    model = ScriptedLLM([says("Good evening."), says("Ada!"), says("Yes?")])

    async with SpokenConversation(hotel(cannot_speak="Read this."), model, tts=tone) as talk:
        tone.broken = True
        await talk.user_says("I am Ada")
        tone.broken = False
        await talk.user_says("Hello?")

    assert tone.spoken == ["Good evening.", "Yes?"]


async def test_without_a_display_speech_that_never_worked_fails_at_once() -> None:
    tone, stt = ToneTTS(), ScriptedSTT()
    for model in (tone, stt):
        lost = asyncio.Event()
        tone.broken, stt.broken = model is tone, model is stt
        call = hotel(cannot_hear="Please type.", cannot_speak="Read this.")
        call.speech_output.on_lost(lost.set)
        async with SpokenConversation(
            call, ScriptedLLM([says("Good evening.")]), tts=tone, stt=stt
        ) as talk:
            await lost.wait()
            assert not any("Read this." in one.text for one in of(talk, Said))


async def test_without_a_display_text_to_speech_is_tried_twice() -> None:
    tone = ToneTTS()
    model = ScriptedLLM([says("Good evening."), says("Ada!"), says("Yes?"), says("Hm?")])
    call = hotel(cannot_speak="Read this.")
    lost = asyncio.Event()
    async with SpokenConversation(call, model, tts=tone) as talk:
        call.speech_output.on_lost(lost.set)
        speak = call.replies.speak

        def works_again(words: str) -> None:
            tone.broken = False
            speak(words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(call.replies, "speak", works_again)
            tone.broken = True
            turn = await talk.user_says("I am Ada")
        assert (turn.said, lost.is_set()) == (["Ada!", call.policy.trouble], False)
        await talk.user_says("Hello?")
        tone.broken = True
        await talk.user_says("And now?")
        await lost.wait()
    assert tone.spoken == ["Good evening.", call.policy.trouble, "Yes?"]


class StoppedAt(Loudspeaker):
    """Reports an interruption as livekit does in a room.

    Args:
        share: How much of a sound was played before it.
        transcript: The words that livekit takes for played.
    """

    def __init__(self, share: float, transcript: str) -> None:
        super().__init__()
        self._share, self._transcript = share, transcript

    def _finish(self, position_s: float, *, interrupted: bool) -> None:
        if not interrupted:
            super()._finish(position_s, interrupted=False)
            return
        position_s, self._player, self._length_s = self._share * self._length_s, None, 0.0
        self.playing = False
        self.on_playback_finished(
            playback_position=position_s,
            interrupted=True,
            synchronized_transcript=self._transcript,
        )


@pytest.mark.parametrize(
    ("share", "played"), [(0.1, ["We"]), (0.5, ["We have a"]), (1.0, ["We have a room for you."])]
)
@pytest.mark.parametrize("transcript", ["", "We have a room"])
async def test_the_words_that_were_played_are_said_and_no_others(
    share: float, played: list[str], transcript: str
) -> None:
    model = ScriptedLLM([says("Good evening."), says("We have a room for you.")])
    loudspeaker, tts = StoppedAt(share, transcript), ToneTTS(character_s=0.005)

    async with SpokenConversation(hotel(), model, tts=tts, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("Good evening")
        await so(
            talk, lambda: loudspeaker._complete and len(tts.spoken) == 2 and loudspeaker.playing
        )
        await talk.call.session.interrupt()
        await talk.answered()
        history = [
            item.text_content
            for item in talk.call.session.history.items
            if item.type == "message" and item.role == "assistant"
        ]

    assert [event.text for event in of(talk, Said) if event.interrupted] == played
    assert history == ["Good evening.", *played]


async def test_words_are_shown_evenly_over_the_time_with_sound() -> None:
    """An estimate of how fast they are spoken stops the event loop while a reply begins."""
    shown = TranscriptSynchronizer(next_in_chain_audio=Loudspeaker(), next_in_chain_text=None)
    session: CallSession[None] = CallSession(userdata=None)
    session.output.audio = shown.audio_output
    first, later = shown._impl, shown._opts.speaking_rate_detector.stream()
    for frame in (*tone(400, 1.5), *tone(900, 1.5), *silence(2.0)):
        first.push_audio(frame)
        later.push_frame(frame)
    first.end_audio_input()
    later.end_input()
    rates = [event.speaking_rate async for event in later]
    await first._speaking_rate_atask
    assert rates == first._audio_data.estimated_rate.speaking_rate
    await shown.aclose()
    await later.aclose()

    assert set(rates) == {0.0, 1.0}
    assert rates[:20] == [1.0] * 20
    assert rates[-5:] == [0.0] * 5
