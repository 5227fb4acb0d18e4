"""What a user says aloud is accepted once, and asked for again where it was not understood."""

import asyncio

import pytest
from livekit.agents import APIConnectionError
from livekit.agents.stt import AvailabilityChangedEvent, SpeechEventType, STTError
from livekit.agents.voice import UserStateChangedEvent
from livekit.agents.voice.turn import TurnHandlingOptions

from agents.handoff import (
    Heard,
    Said,
    YourTurn,
)
from agents.handoff.policy import BACKCHANNELS
from agents.handoff.speech import user_speech
from agents.testing import (
    Loudspeaker,
    Microphone,
    ScriptedLLM,
    ScriptedSTT,
    SpokenConversation,
    ToneVAD,
    calls,
    quick_turns,
    says,
)
from agents.testing.tones import silence, tone
from tests.agents.handoff.speech.waiting import of, so
from tests.agents.hotel import hotel
from tests.virtual_time import in_virtual_time


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


async def test_each_spoken_turn_is_one_utterance_and_its_transcriptions_name_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marked: list[str] = []
    monkeypatch.setattr(
        user_speech, "mark_user_transcriptions", lambda session, utterance: marked.append(utterance)
    )
    model = ScriptedLLM([says("Good evening."), *[says("Yes?")] * 4])

    async with SpokenConversation(hotel(), model) as talk:
        for _ in range(2):
            talk.expects_words()
            talk.stt.begins("Two")
            talk.stt.finishes("Two nights", "please")
            await talk.counted(len(of(talk, Heard)) + 1)
            await talk.answered()
        talk.stt.begins()
        talk.stt.is_unclear("A room")  # it is dropped
        await so(talk, lambda: len(of(talk, Said)) == 4)
        await talk.answered()
        await talk.user_says("A view")
        talk.call.user_said("typed")
        await talk.answered()

    heard = [event.utterance for event in of(talk, Heard)]
    assert heard == [marked[0], marked[1], marked[3], None]
    assert len({*marked}) == len(marked) == 4
    said = [event.utterance for event in of(talk, Said)]
    assert len({*said} - {None}) == len(said)


async def test_a_final_transcript_that_comes_twice_is_taken_once() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        turn = talk.expects_words()
        talk.stt.begins("two")
        talk.stt.finishes("two nights", "two nights")
        await talk.counted(1)
        await talk.answered()

    assert turn.heard == ["two nights"]


@pytest.mark.parametrize("speaks_again", [False, True])
async def test_the_same_words_later_are_taken_if_speech_was_detected(
    monkeypatch: pytest.MonkeyPatch, *, speaks_again: bool
) -> None:
    monkeypatch.setattr(user_speech, "AT_ONCE_S", 0.0)
    monkeypatch.setattr(user_speech, "MOMENT_S", 60.0)
    model = ScriptedLLM([says("Good evening."), says("Yes?"), says("And a third.")])
    microphone = Microphone()

    async with SpokenConversation(hotel(), model, vad=ToneVAD(), microphone=microphone) as talk:
        await talk.user_says("a night more")
        if speaks_again:
            microphone.plays(tone(3000, 0.3))
            await so(talk, lambda: talk.call.user_speech.speaking)
            microphone.plays(silence(0.7))
        talk.expects_words()
        talk.stt.finishes("a night more")
        if not speaks_again:
            talk.stt.hears("and one more")
        await talk.counted(2)
        await talk.answered()

    second = "a night more" if speaks_again else "and one more"
    assert [event.text for event in of(talk, Heard)] == ["a night more", second]


async def test_a_word_said_twice_is_not_taken_for_one_sent_twice() -> None:
    model = ScriptedLLM([says("Good evening."), says("Fifty-five.")])

    async with SpokenConversation(hotel(), model) as talk:
        turn = talk.expects_words()
        talk.stt.begins()
        for start in (1.0, 1.4):
            talk.call.user_speech.final_transcript("five", (start, start + 0.3))
        talk.stt.finishes()
        await talk.counted(1)
        await talk.answered()

    assert turn.heard == ["five five"]


async def test_without_a_display_speech_to_text_is_tried_twice() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])
    call = hotel(cannot_hear="Please type.")
    lost = asyncio.Event()
    async with SpokenConversation(call, model) as talk:
        call.speech_output.on_lost(lost.set)
        await talk.user_says("Two nights")
        talk.stt.breaks()
        await so(talk, lambda: of(talk, Said)[-1].text == call.policy.trouble)
        assert not lost.is_set()
        await lost.wait()  # tried again, and failed again


@in_virtual_time
async def test_a_guest_who_is_not_heard_is_told_so_once_and_can_type() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model) as talk:
        talk.stt.breaks()
        await so(talk, lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()
        talk.call.user_said("Two nights")
        await talk.answered()
        await asyncio.sleep(60)
        assert talk.stt.opened > 3  # it has been tried again, and has failed again
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Please type.", "Two nights."]


async def test_ears_that_never_worked_are_told_of_after_the_greeting() -> None:
    stt = ScriptedSTT()
    stt.broken = True
    model = ScriptedLLM([says("Good evening.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model, stt=stt) as talk:
        await so(talk, lambda: len(of(talk, Said)) == 2)
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Please type."]


@in_virtual_time
async def test_ears_that_come_back_are_told_of_again_when_they_fail_again() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(cannot_hear="Please type."), model) as talk:
        talk.stt.breaks()
        await so(talk, lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()
        talk.stt.broken = False
        await asyncio.sleep(10)
        assert talk.stt.opened == 2
        await talk.user_says("Two nights")
        talk.stt.breaks()
        await so(talk, lambda: of(talk, Said)[-1].text == "Please type.")
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


async def test_what_was_not_understood_is_asked_for_again() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.begins()
        talk.stt.is_unclear()
        await so(talk, lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        asked = [event.text for event in of(talk, Said)]
        turn = await talk.user_says("Two nights")

    assert asked == ["Good evening.", talk.call.policy.say_again]
    assert (turn.number, turn.heard, turn.said) == (1, ["Two nights"], ["Two nights."])


async def test_speech_whose_final_transcript_never_comes_is_asked_for_again_once() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.call.user_speech.use_turn_end_timeout(0.02)
        talk.stt.begins("Two")
        talk.stt.finishes()
        await so(talk, lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        talk.call.user_speech.use_turn_end_timeout(4.0)
        turn = await talk.user_says("Two nights")

    asked = [event.text for event in of(talk, Said)]
    assert asked == ["Good evening.", talk.call.policy.say_again, "Two nights."]
    assert turn.heard == ["Two nights"]


def spoke(seconds: float) -> list[UserStateChangedEvent]:
    """Return livekit's reports of so much speech."""
    return [
        UserStateChangedEvent(old_state="listening", new_state="speaking", created_at=100.0),
        UserStateChangedEvent(
            old_state="speaking", new_state="listening", created_at=100.0 + seconds
        ),
    ]


async def test_speech_without_any_transcript_is_asked_for_again_once_until_words_come() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        speech = talk.call.user_speech
        speech.use_turn_end_timeout(0.02)
        asked: list[int] = []
        for seconds in (0.5, 1.5, 1.5):
            for event in spoke(seconds):
                speech.state_changed(event)
            await speech.quiet()
            await talk.answered()
            asked.append(talk.tts.spoken.count(talk.call.policy.say_again))
        await talk.user_says("Two nights")
        for event in spoke(1.5):
            speech.state_changed(event)
        await so(talk, lambda: talk.tts.spoken.count(talk.call.policy.say_again) == 2)
        await talk.answered()

    assert asked == [0, 1, 1]


async def test_a_guest_who_is_told_that_they_are_not_heard_is_not_asked_again() -> None:
    async with SpokenConversation(
        hotel(cannot_hear="Please type."), ScriptedLLM([says("Good evening.")])
    ) as talk:
        speech = talk.call.user_speech
        speech.use_turn_end_timeout(0.02)
        talk.stt.breaks()
        await so(talk, lambda: of(talk, Said)[-1].text == "Please type.")
        await talk.answered()
        for event in spoke(1.5):
            speech.state_changed(event)
        await speech.quiet()
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Please type."]


async def test_sound_that_speech_to_text_finds_no_words_in_is_not_asked_about() -> None:
    async with SpokenConversation(hotel(), ScriptedLLM([says("Good evening.")])) as talk:
        speech = talk.call.user_speech
        speech.use_turn_end_timeout(0.02)
        began, ended = spoke(1.5)
        speech.state_changed(began)
        speech.final_transcript("")
        speech.state_changed(ended)
        await speech.quiet()
        await talk.answered()

    assert talk.tts.spoken == ["Good evening."]


async def test_half_of_what_was_said_is_not_acted_on() -> None:
    model = ScriptedLLM([says("Good evening."), says("A room without a view.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.begins()
        talk.stt.is_unclear("A room with a view")
        await so(talk, lambda: len(of(talk, Said)) == 2)
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
        await so(talk, lambda: talk.call.user_speech.speaking)
        talk.stt.emit(event, failure if event == "error" else lost)
        talk.stt.finishes("a view")
        await so(talk, lambda: len(of(talk, Said)) == 2)
        await talk.answered()
        await talk.user_says("A room without a view")

    assert [event.text for event in of(talk, Heard)] == ["A room without a view"]
    assert [event.text for event in of(talk, Said)][1] == talk.call.policy.say_again


async def test_a_user_is_told_once_that_speech_to_text_keeps_breaking_off() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        speech, policy = talk.call.user_speech, talk.call.policy
        speech.use_turn_end_timeout(0.02)
        for _ in range(3):
            begins, ends = spoke(1.5)
            speech.state_changed(begins)
            talk.stt.emit("stt_availability_changed", AvailabilityChangedEvent(talk.stt, False))
            speech.state_changed(ends)
            await speech.quiet()
            await talk.answered()
        speech.use_turn_end_timeout(4.0)
        await talk.user_says("Two nights")

    told = ["Good evening.", policy.say_again, policy.cannot_hear, "Two nights."]
    assert [event.text for event in of(talk, Said)] == told


async def test_speech_to_text_that_breaks_off_in_silence_is_not_spoken_of() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights.")])

    async with SpokenConversation(hotel(), model) as talk:
        talk.stt.emit("stt_availability_changed", AvailabilityChangedEvent(talk.stt, False))
        turn = await talk.user_says("Two nights")

    assert [event.text for event in of(talk, Said)] == ["Good evening.", *turn.said]


@in_virtual_time
async def test_too_few_words_to_interrupt_a_reply_are_answered_after_it() -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("Yes?")])
    loudspeaker, usual = Loudspeaker(), quick_turns()
    turns: TurnHandlingOptions = {
        **usual,
        "interruption": {**usual.get("interruption", {}), "min_words": 2},
    }

    async with SpokenConversation(hotel(), model, loudspeaker=loudspeaker, turns=turns) as talk:
        talk.call.user_speech.use_turn_end_timeout(0.0)
        loudspeaker.waits = True
        talk.user_says_nowait("tell me")
        await so(talk, lambda: loudspeaker.playing)
        talk.user_says_nowait("why")
        await asyncio.sleep(10)
        assert loudspeaker.playing
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.counted(2)
        await talk.answered()

    assert [(event.text, event.interrupted) for event in of(talk, Said)][1:] == [
        ("A long story.", False),
        ("Yes?", False),
    ]


@pytest.mark.parametrize("words", ["mhm", "Uh huh, okay."])
@in_virtual_time
async def test_a_backchannel_does_not_interrupt_a_reply(words: str) -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("Yes?")])
    loudspeaker = Loudspeaker()

    async with SpokenConversation(hotel(), model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("tell me")
        await so(talk, lambda: loudspeaker.playing)
        talk.user_says_nowait(words)
        await asyncio.sleep(10)
        assert loudspeaker.playing
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.answered()
        await talk.user_says(words)  # no reply is under way

    assert [event.text for event in of(talk, Heard)] == ["tell me", words]
    assert [(event.text, event.interrupted) for event in of(talk, Said)][1:] == [
        ("A long story.", False),
        ("Yes?", False),
    ]


@pytest.mark.timeout(30)  # where backchannels could be divided in many ways, it would take years
def test_a_long_row_of_backchannels_blocks_nothing() -> None:
    row = "mm hm " * 1_000

    assert user_speech.only_backchannels(row, BACKCHANNELS)
    assert not user_speech.only_backchannels(f"{row}no", BACKCHANNELS)


@in_virtual_time
async def test_a_backchannel_at_the_end_of_a_reply_is_answered() -> None:
    model = ScriptedLLM([says("Good evening."), says("Two nights?"), says("Booked.")])
    loudspeaker = Loudspeaker()

    async with SpokenConversation(hotel(), model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("a room")
        await so(talk, lambda: loudspeaker.playing)
        talk.user_says_nowait("mhm")
        await asyncio.sleep(1)
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.counted(2)
        await talk.answered()

    assert [event.text for event in of(talk, Heard)] == ["a room", "mhm"]
    assert [(event.text, event.interrupted) for event in of(talk, Said)][1:] == [
        ("Two nights?", False),
        ("Booked.", False),
    ]


@pytest.mark.parametrize(
    ("words", "backchannels"), [("mhm no", BACKCHANNELS), ("stop", BACKCHANNELS), ("mhm", ())]
)
async def test_other_words_interrupt_a_reply(words: str, backchannels: tuple[str, ...]) -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("Yes?")])
    loudspeaker, call = Loudspeaker(), hotel(backchannels=backchannels)

    async with SpokenConversation(call, model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("tell me")
        await so(talk, lambda: loudspeaker.playing)
        talk.user_says_nowait(words)
        await so(talk, lambda: len(of(talk, Heard)) == 2)
        loudspeaker.waits = False
        await so(talk, lambda: of(talk, Said)[-1].text == "Yes?")

    assert of(talk, Heard)[-1].text == words
    assert all(event.interrupted for event in of(talk, Said) if event.text != "Yes?" and event.turn)
