"""What is said aloud goes the way of what is typed, and no model's failure leaves silence."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from livekit.agents import APIConnectionError
from livekit.agents.stt import AvailabilityChangedEvent, SpeechEventType, STTError
from livekit.agents.voice import UserInputTranscribedEvent
from livekit.agents.voice.transcription.synchronizer import TranscriptSynchronizer

from agents.handoff import (
    Ended,
    Graph,
    Heard,
    Said,
    TurnWithdrawn,
    YourTurn,
    audio,
    turns_by,
)
from agents.handoff.livekit_workarounds import CallSession
from agents.testing import (
    Loudspeaker,
    Microphone,
    ScriptedLLM,
    ScriptedSTT,
    SpokenConversation,
    ToneTTS,
    ToneVAD,
    calls,
    quick_turns,
    says,
)
from agents.testing.tones import silence, tone
from tests.agents.hotel import Bar, Concierge, Reception, Stay, Telephone, hotel, hotel_graph


async def so(fact: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not fact():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.001)


def of(talk: SpokenConversation[Any, Any], kind: type) -> list[Any]:
    return [event for event in talk.events if isinstance(event, kind)]


async def test_spoken_words_are_counted_told_and_answered_once() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(("set_guest", {"name": "Ada"})), says("Ada!")]
    )

    async with SpokenConversation(hotel(), model) as talk:
        turn = await talk.user_says("I am Ada")
        history = [
            (item.role, item.text_content)
            for item in talk.call.session.history.items
            if item.type == "message"
        ]

    assert [type(event) for event in turn.events if isinstance(event, Heard | Said | YourTurn)] == [
        Heard,
        Said,
        YourTurn,
    ]
    assert (turn.heard, turn.said, talk.state.guest) == (["I am Ada"], ["Ada!"], "Ada")
    assert history.count(("user", "I am Ada")) == 1
    assert talk.tts.spoken == ["Good evening.", "Ada!"]
    assert talk.stt.opened == 1


async def test_speech_with_pauses_is_one_turn() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        turn = talk.expects_words()
        talk.stt.begins("Two")
        talk.stt.finishes("Two nights", "please")
        await talk.counted(1)
        await talk.answered()

    assert turn.heard == ["Two nights please"]
    assert model.requests[1].texts[-1] == ("user", "Two nights please")


async def test_words_are_let_in_once_before_livekit_has_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    judged: list[str] = []
    shown: list[str] = []

    def redact_input(words: str) -> str:
        judged.append(words)
        return words.replace("canary", "[x]")

    def shows(event: UserInputTranscribedEvent) -> None:
        shown.append(event.transcript)

    model = ScriptedLLM([says("Good evening."), says("Noted.")])
    async with SpokenConversation(hotel(redact_input=redact_input), model) as talk:
        talk.call.session.on("user_input_transcribed", shows)
        turn = talk.expects_words()
        talk.stt.begins("my canary")
        talk.stt.goes_on("my canary is")
        talk.stt.finishes("my canary", "is yellow")
        await talk.counted(1)
        await talk.answered()
        history = talk.call.session.history.to_dict()

    assert judged == ["my canary", "is yellow"]
    assert turn.heard == ["my [x] is yellow"]
    assert shown == ["...", "...", "my [x]", "is yellow"]
    assert "canary" not in str(history)
    assert "canary" not in str([(one.getMessage(), vars(one)) for one in caplog.records])


async def test_an_application_may_show_words_in_passing() -> None:
    shown: list[str] = []
    model = ScriptedLLM([says("Good evening."), says("Noted.")])

    async with SpokenConversation(hotel(redact_partial=str.upper), model) as talk:
        talk.call.session.on("user_input_transcribed", lambda event: shown.append(event.transcript))
        await talk.user_says("two nights")

    assert shown == ["TWO", "two nights"]


async def test_words_that_cannot_be_let_in_stay_outside_and_are_asked_for_again() -> None:
    def redact_input(words: str) -> str:
        raise RuntimeError("cannot judge this")

    model = ScriptedLLM([says("Good evening.")])
    async with SpokenConversation(
        hotel(redact_input=redact_input, trouble="Say that again?"), model
    ) as talk:
        talk.stt.hears("canary")
        await so(lambda: of(talk, Said)[-1].text == "Say that again?")
        await talk.answered()
        history = talk.call.session.history.to_dict()

    assert "canary" not in str(history)
    assert of(talk, Heard) == []


class Lingering(Reception):
    """A reception that takes its time to leave, while livekit takes in no turn."""

    leaves: asyncio.Event
    left: asyncio.Event

    async def on_exit(self) -> None:
        type(self).left.set()
        await type(self).leaves.wait()


def lingering() -> Graph[Stay]:
    Lingering.leaves, Lingering.left = asyncio.Event(), asyncio.Event()
    return Graph((Lingering, Concierge, Bar), hotel_graph().handoffs, start="reception")


async def test_speech_during_a_handoff_is_answered_by_the_next_agent() -> None:
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("Red or white?")])

    async with SpokenConversation(hotel(graph=lingering()), model) as talk:
        talk.user_says_nowait("I am thirsty")
        await Lingering.left.wait()
        talk.expects_words()
        talk.stt.hears("A glass of wine")
        await so(lambda: talk.call.user_speech.awaiting_transcript)
        Lingering.leaves.set()
        await talk.counted(2)
        await talk.answered()

    assert [event.text for event in of(talk, Heard)] == ["I am thirsty", "A glass of wine"]
    assert ("user", "A glass of wine") in model.requests[2].texts
    assert talk.call.speaker == "bar"
    assert talk.stt.opened == 1
    assert [event.turn for event in of(talk, YourTurn)] == [0, 2]


async def test_speech_while_a_handoff_waits_for_a_tool_is_answered() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("telephone", "transfer_to_reception"),
            says("Two nights, here at the reception."),
        ]
    )
    try:
        call = hotel(Stay(nights=1), speaker="concierge")
        async with SpokenConversation(call, model) as talk:
            talk.user_says_nowait("Ask the theatre, then take me back")
            await talk.counted(1)
            # From the moment a transfer is being decided on.
            await so(lambda: [s for s in call.turns.speeches if not s.allow_interruptions])
            talk.user_says_nowait("For two nights")
            await talk.counted(2)
            Telephone.gate.set()
            await talk.answered()
    finally:
        Telephone.gate = None

    assert ("user", "For two nights") in model.requests[2].texts
    assert [event.turn for event in of(talk, YourTurn)] == [0, 2]


async def test_a_guest_who_speaks_in_between_cuts_the_voice_short_and_is_answered() -> None:
    loud = Loudspeaker()
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("As you like.")])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        loud.waits = True
        talk.user_says_nowait("Tell me a story")
        await so(lambda: loud.playing)
        talk.expects_words()
        talk.stt.begins("No")
        await so(lambda: loud.held)
        withheld = len(of(talk, YourTurn))
        talk.stt.finishes("No thanks")
        await so(lambda: not loud.playing)
        loud.waits = False
        await talk.counted(2)
        await talk.answered()

    story, answer = of(talk, Said)[1:]
    assert (story.interrupted, answer.text) == (True, "As you like.")
    assert withheld == 1
    assert [event.turn for event in of(talk, YourTurn)] == [0, 1, 2]
    assert len(model.requests) == 3


async def test_a_cough_holds_the_voice_and_it_goes_on_to_the_end() -> None:
    loud = Loudspeaker()
    model = ScriptedLLM([says("Good evening."), says("A long story.")])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        loud.waits = True
        talk.user_says_nowait("Tell me a story")
        await so(lambda: loud.playing)
        talk.stt.begins("hm")
        await so(lambda: loud.held)
        talk.stt.finishes()
        await so(lambda: not loud.held)
        before = [event.turn for event in of(talk, YourTurn)]
        loud.heard()
        await talk.answered()

    assert before == [0]
    assert [event.turn for event in of(talk, YourTurn)] == [0, 1]
    assert [event.interrupted for event in of(talk, Said)] == [False, False]


async def test_a_guest_who_goes_on_before_the_answer_hears_no_apology() -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("One?", delay=1.0), says("Two nights, noted.")]
    )

    turns: Any = {
        **quick_turns(),
        "endpointing": {"mode": "fixed", "min_delay": 0.2, "max_delay": 0.2},
    }
    async with SpokenConversation(hotel(), model, turns=turns) as talk:
        talk.user_says_nowait("A night")
        await so(lambda: len(model.requests) == 2)
        talk.expects_words()
        talk.stt.begins("no")
        talk.stt.finishes("no, two")
        await talk.counted(2)
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Two nights, noted."]
    assert [event.turn for event in of(talk, YourTurn)] == [0, 2]


async def test_it_is_the_guests_turn_when_the_sentence_has_been_heard() -> None:
    loud = Loudspeaker(waits=True)
    played: list[tuple[bool, float]] = []
    model = ScriptedLLM([says("Good evening.")])
    talk = SpokenConversation(hotel(), model, loudspeaker=loud)
    talk.call.subscribe(
        lambda event: (
            played.append((loud.playing, loud.played_s)) if isinstance(event, YourTurn) else None
        )
    )

    async def hears_out() -> None:
        await so(lambda: loud.playing)
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert played == []
        loud.heard()

    listener = asyncio.create_task(hears_out())
    async with talk:
        await listener

    ((playing, played_s),) = played
    assert not playing
    assert played_s == pytest.approx(0.13)


async def test_the_turn_is_taken_back_when_a_voice_speaks_up() -> None:
    model = ScriptedLLM([says("Good evening."), says("Anybody there?")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.call.session.generate_reply(instructions="Ask again.")
        await so(lambda: of(talk, TurnWithdrawn))
        await talk.answered()

    assert [
        type(event) for event in talk.events if isinstance(event, YourTurn | TurnWithdrawn)
    ] == [
        YourTurn,
        TurnWithdrawn,
        YourTurn,
    ]


async def test_the_farewell_is_heard_before_the_call_ends() -> None:
    loud = Loudspeaker()
    at_end: list[bool] = []
    model = ScriptedLLM([says("Good evening."), calls("end_call", say="Goodbye.")])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        talk.call.subscribe(
            lambda event: at_end.append(loud.playing) if isinstance(event, Ended) else None
        )
        await talk.user_says("bye")

    assert at_end == [False]
    assert talk.tts.spoken[-1] == "Goodbye."


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


async def test_a_voice_that_makes_no_sound_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio, "AUDIO_TIMEOUT_S", 0.1)
    tone = ToneTTS()
    model = ScriptedLLM([says("Good evening."), says("Ada!")])

    async with SpokenConversation(hotel(cannot_speak="Read this."), model, tts=tone) as talk:
        tone.mute = True
        turn = await talk.user_says("I am Ada")

    assert turn.said == ["Ada!", "Read this."]


async def test_a_voice_that_has_failed_is_tried_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audio, "RETRY_AFTER_S", 0.0)
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
        lost: list[str] = []
        tone.broken, stt.broken = model is tone, model is stt
        call = hotel(cannot_hear="Please type.", cannot_speak="Read this.")
        call.speech_output.on_lost(partial(lost.append, "lost"))
        async with SpokenConversation(
            call, ScriptedLLM([says("Good evening.")]), tts=tone, stt=stt
        ) as talk:
            await so(partial(len, lost))
            assert not any("Read this." in one.text for one in of(talk, Said))


async def test_without_a_display_text_to_speech_is_tried_twice() -> None:
    tone = ToneTTS()
    model = ScriptedLLM([says("Good evening."), says("Ada!"), says("Yes?"), says("Hm?")])
    call = hotel(cannot_speak="Read this.")
    lost: list[str] = []
    async with SpokenConversation(call, model, tts=tone) as talk:
        call.speech_output.on_lost(lambda: lost.append("lost"))
        speak = call.replies.speak

        def works_again(words: str) -> None:
            tone.broken = False
            speak(words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(call.replies, "speak", works_again)
            tone.broken = True
            turn = await talk.user_says("I am Ada")
        assert (turn.said, lost) == (["Ada!", call.policy.trouble], [])
        await talk.user_says("Hello?")
        tone.broken = True
        await talk.user_says("And now?")
        await so(lambda: lost)
    assert tone.spoken == ["Good evening.", call.policy.trouble, "Yes?"]


async def test_without_a_display_speech_to_text_is_tried_twice() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    call = hotel(cannot_hear="Please type.")
    lost: list[str] = []
    async with SpokenConversation(call, model) as talk:
        call.speech_output.on_lost(lambda: lost.append("lost"))
        await talk.user_says("Two nights")
        talk.stt.breaks()
        await so(lambda: of(talk, Said)[-1].text == call.policy.trouble)
        assert lost == []
        await so(lambda: lost)  # tried again, and failed again


async def test_a_guest_who_is_not_heard_is_told_so_once_and_can_type() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model) as talk:
        talk.stt.breaks()
        await so(lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()
        talk.call.user_said("Two nights")
        await talk.answered()
        await so(lambda: talk.stt.opened > 3)  # it has been tried again, and has failed again
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Please type.", "Two nights."]


async def test_ears_that_never_worked_are_told_of_after_the_greeting() -> None:
    stt = ScriptedSTT()
    stt.broken = True
    model = ScriptedLLM([says("Good evening.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model, stt=stt) as talk:
        await so(lambda: len(of(talk, Said)) == 2)
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Please type."]


async def test_ears_that_come_back_are_told_of_again_when_they_fail_again() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model) as talk:
        talk.stt.breaks()
        await so(lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()
        talk.stt.broken = False
        await so(lambda: talk.stt.opened == 2)
        await talk.user_says("Two nights")
        talk.stt.breaks()
        await so(lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()

    assert talk.tts.spoken.count("Please type.") == 2


async def test_an_undetected_end_of_turn_loses_no_words() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.call.user_speech.use_turn_end_timeout(0.02)
        talk.expects_words()
        talk.stt._emit(SpeechEventType.FINAL_TRANSCRIPT, "Two nights")
        await talk.counted(1)
        await talk.answered()

    assert talk.turns[1].said == ["Two nights."]


def test_nothing_is_left_to_what_livekit_thinks_best() -> None:
    turns = turns_by(None)
    interruption = turns.get("interruption", {})

    assert turns.get("turn_detection") == "stt"
    assert turns.get("preemptive_generation") == {"enabled": False}
    assert interruption.get("mode") == "vad"  # the other one asks a server in the cloud
    assert interruption.get("discard_audio_if_uninterruptible") is False


async def test_typed_words_interrupt_speech_and_are_answered_aloud() -> None:
    loud = Loudspeaker()
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("As you like.")])

    async with SpokenConversation(hotel(), model, loudspeaker=loud) as talk:
        loud.waits = True
        talk.user_says_nowait("Tell me a story")
        await so(lambda: loud.playing)
        talk.call.user_said("No thanks")
        await so(lambda: not loud.playing)
        loud.waits = False
        await talk.answered()

    assert talk.tts.spoken[-1] == "As you like."
    assert [event.turn for event in of(talk, YourTurn)][-1] == 2


async def test_what_was_not_understood_is_asked_for_again() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.begins()
        talk.stt.is_unclear()
        await so(lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        asked = [event.text for event in of(talk, Said)]
        turn = await talk.user_says("Two nights")

    assert asked == ["Good evening.", talk.call.policy.say_again]
    assert (turn.number, turn.heard, turn.said) == (1, ["Two nights"], ["Two nights."])


async def test_half_of_what_was_said_is_not_acted_on() -> None:
    model = ScriptedLLM([says("Good evening."), says("A room without a view.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.begins()
        talk.stt.is_unclear("A room with a view")
        await so(lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        await talk.user_says("A room without a view")

    assert [event.text for event in of(talk, Heard)] == ["A room without a view"]
    assert [event.text for event in of(talk, Said)][1] == talk.call.policy.say_again


@pytest.mark.parametrize("event", ["error", "stt_availability_changed"])
async def test_an_utterance_in_which_speech_to_text_breaks_off_is_asked_for_again(
    event: str,
) -> None:
    model = ScriptedLLM([says("Good evening."), says("A room without a view.")])

    async with SpokenConversation(hotel(), model) as talk:
        failure = STTError(
            timestamp=0.0, label="", error=APIConnectionError("closed"), recoverable=True
        )
        lost = AvailabilityChangedEvent(talk.stt, False)
        talk.stt.begins("A room")
        await so(lambda: talk.call.user_speech.speaking)
        talk.stt.emit(event, failure if event == "error" else lost)
        talk.stt.finishes("a view")
        await so(lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        await talk.user_says("A room without a view")

    assert [event.text for event in of(talk, Heard)] == ["A room without a view"]
    assert [event.text for event in of(talk, Said)][1] == talk.call.policy.say_again


async def test_speech_to_text_that_breaks_off_in_silence_is_not_spoken_of() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.emit("stt_availability_changed", AvailabilityChangedEvent(talk.stt, False))
        turn = await talk.user_says("Two nights")

    assert [event.text for event in of(talk, Said)] == ["Good evening.", *turn.said]


async def test_a_noise_in_a_reply_is_not_asked_about() -> None:
    model = ScriptedLLM([says("Good evening."), says("We have a room for you.")])
    loudspeaker = Loudspeaker()

    async with SpokenConversation(hotel(), model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("Good evening")
        await so(lambda: loudspeaker.playing)
        talk.stt.is_unclear()
        await so(lambda: loudspeaker.playing)
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.answered()

    assert [event.text for event in of(talk, Said)] == ["Good evening.", "We have a room for you."]


async def test_a_noise_pauses_the_agent_who_then_goes_on() -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story.")])
    microphone, loudspeaker, vad = Microphone(), Loudspeaker(), ToneVAD()

    async with SpokenConversation(
        hotel(), model, vad=vad, microphone=microphone, loudspeaker=loudspeaker
    ) as talk:
        loudspeaker.waits = True
        turn = talk.user_says_nowait("tell me")
        await so(lambda: loudspeaker.playing)
        microphone.plays(tone(3000, 0.7))
        await so(lambda: loudspeaker.held)
        microphone.plays(silence(0.4))
        await so(lambda: not loudspeaker.held)
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.answered()

    assert [
        (event.text, event.interrupted) for event in turn.events if isinstance(event, Said)
    ] == [("A long story.", False)]


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
        await so(lambda: loudspeaker._complete and len(tts.spoken) == 2 and loudspeaker.playing)
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
