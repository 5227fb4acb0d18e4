"""Speech, noise and typing during a reply or a handoff: nothing is lost, and it is the user's turn once."""

import asyncio
from typing import Any

import pytest

from agents.handoff import (
    Ended,
    Graph,
    Heard,
    Said,
    TurnWithdrawn,
    YourTurn,
    turns_by,
)
from agents.testing import (
    Loudspeaker,
    Microphone,
    ScriptedLLM,
    SpokenConversation,
    ToneVAD,
    calls,
    quick_turns,
    says,
)
from agents.testing.tones import silence, tone
from tests.agents.handoff.speech.waiting import of, so
from tests.agents.hotel import Bar, Concierge, Reception, Stay, Telephone, hotel, hotel_graph
from tests.virtual_time import in_virtual_time


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
        await so(talk, lambda: talk.call.user_speech.awaiting_transcript)
        Lingering.leaves.set()
        await talk.counted(2)
        await talk.answered()

    assert [event.text for event in of(talk, Heard)] == ["I am thirsty", "A glass of wine"]
    assert ("user", "A glass of wine") in model.requests[2].texts
    assert talk.call.speaker == "bar"
    assert talk.stt.opened == 1
    assert [event.turn for event in of(talk, YourTurn)] == [0, 2]


@in_virtual_time
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
            await asyncio.sleep(1)  # until the reply only waits for the telephone
            # From the moment a transfer is being decided on.
            assert [speech.allow_interruptions for speech in call.turns.speeches] == [False]
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
        await so(talk, lambda: loud.playing)
        talk.expects_words()
        talk.stt.begins("No")
        await so(talk, lambda: loud.held)
        withheld = len(of(talk, YourTurn))
        talk.stt.finishes("No thanks")
        await so(talk, lambda: not loud.playing)
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
        await so(talk, lambda: loud.playing)
        talk.stt.begins("hm")
        await so(talk, lambda: loud.held)
        talk.stt.finishes()
        await so(talk, lambda: not loud.held)
        before = [event.turn for event in of(talk, YourTurn)]
        loud.heard()
        await talk.answered()

    assert before == [0]
    assert [event.turn for event in of(talk, YourTurn)] == [0, 1]
    assert [event.interrupted for event in of(talk, Said)] == [False, False]


@in_virtual_time
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
        await asyncio.sleep(0.5)
        assert len(model.requests) == 2
        talk.expects_words()
        talk.stt.begins("no")
        talk.stt.finishes("no, two")
        await talk.counted(2)
        await talk.answered()

    assert talk.tts.spoken == ["Good evening.", "Two nights, noted."]
    assert [event.turn for event in of(talk, YourTurn)] == [0, 2]


@in_virtual_time
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
        await so(loud, lambda: loud.playing)
        await asyncio.sleep(10)  # until there is nothing to wait for but the end of the sound
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
        await so(talk, lambda: of(talk, TurnWithdrawn))
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
        await so(talk, lambda: loud.playing)
        talk.call.user_said("No thanks")
        await so(talk, lambda: not loud.playing)
        loud.waits = False
        await talk.answered()

    assert talk.tts.spoken[-1] == "As you like."
    assert [event.turn for event in of(talk, YourTurn)][-1] == 2


async def test_a_noise_in_a_reply_is_not_asked_about() -> None:
    model = ScriptedLLM([says("Good evening."), says("We have a room for you.")])
    loudspeaker = Loudspeaker()

    async with SpokenConversation(hotel(), model, loudspeaker=loudspeaker) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("Good evening")
        await so(talk, lambda: loudspeaker.playing)
        talk.stt.is_unclear()
        await so(talk, lambda: loudspeaker.playing)
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
        await so(talk, lambda: loudspeaker.playing)
        microphone.plays(tone(3000, 0.7))
        await so(talk, lambda: loudspeaker.held)
        microphone.plays(silence(0.4))
        await so(talk, lambda: not loudspeaker.held)
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.answered()

    assert [
        (event.text, event.interrupted) for event in turn.events if isinstance(event, Said)
    ] == [("A long story.", False)]


async def test_typed_words_are_answered_although_the_microphone_hears_speech() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            says("A long story."),
            calls("ask_rate", say="One moment."),
            says("120 euros."),
        ]
    )
    microphone, loudspeaker, vad = Microphone(), Loudspeaker(), ToneVAD()

    async with SpokenConversation(
        hotel(), model, vad=vad, microphone=microphone, loudspeaker=loudspeaker
    ) as talk:
        loudspeaker.waits = True
        talk.user_says_nowait("tell me")
        await so(talk, lambda: loudspeaker.playing)
        microphone.plays(tone(3000, 0.7))  # and no silence after it
        await so(talk, lambda: loudspeaker.held)
        talk.expects_words()
        talk.call.user_said("What does it cost?")
        await so(talk, lambda: len(model.requests) == 3 and loudspeaker.playing)
        microphone.plays(tone(3000, 0.7))
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.answered()
        noisy = talk.call.user_speech.speaking

    assert noisy
    assert [(event.text, event.interrupted) for event in of(talk, Said)][-2:] == [
        ("One moment.", False),
        ("120 euros.", False),
    ]


@pytest.mark.parametrize("typed", [False, True])
async def test_an_answer_over_noise_can_be_interrupted_by_typing_or_when_the_noise_has_ended(
    typed: bool,
) -> None:
    model = ScriptedLLM([says("Good evening."), says("A long story."), says("As you like.")])
    microphone, loudspeaker, vad = Microphone(), Loudspeaker(), ToneVAD()

    async with SpokenConversation(
        hotel(), model, vad=vad, microphone=microphone, loudspeaker=loudspeaker
    ) as talk:
        loudspeaker.waits = True
        microphone.plays(tone(3000, 0.7))
        await so(talk, lambda: talk.call.user_speech.speaking)
        talk.expects_words()
        talk.call.user_said("Tell me a story.")
        await so(talk, lambda: loudspeaker.playing)
        talk.expects_words()
        if typed:
            talk.call.user_said("No thanks.")
        else:
            microphone.plays(silence(0.7))
            await so(talk, lambda: not talk.call.user_speech.speaking)
            microphone.plays(tone(3000, 0.7))
            await so(talk, lambda: loudspeaker.held)
            talk.stt.hears("No thanks.")
            microphone.plays(silence(0.7))
        await so(talk, lambda: not loudspeaker.playing)
        loudspeaker.waits = False
        loudspeaker.heard()
        await talk.counted(2)
        await talk.answered()

    assert [(event.text, event.interrupted) for event in of(talk, Said)][-1:] == [
        ("As you like.", False)
    ]


async def test_a_transfer_over_noise_is_not_undone_when_the_noise_has_ended() -> None:
    microphone, vad = Microphone(), ToneVAD()
    model = ScriptedLLM([says("Good evening."), calls("transfer_to_bar"), says("Red or white?")])

    async with SpokenConversation(
        hotel(graph=lingering()), model, vad=vad, microphone=microphone
    ) as talk:
        microphone.plays(tone(3000, 0.7))
        await so(talk, lambda: talk.call.user_speech.speaking)
        talk.expects_words()
        talk.call.user_said("I am thirsty.")
        await Lingering.left.wait()
        microphone.plays(silence(0.7))
        await so(talk, lambda: not talk.call.user_speech.speaking)
        Lingering.leaves.set()
        await talk.answered()

    assert talk.call.speaker == "bar"
    assert of(talk, Said)[-1].text == "Red or white?"
