"""Promises 4 and 6 with audio: the guest interrupts before, during and after a handoff is decided."""

import asyncio
from typing import Any

import pytest
from livekit.agents.llm import ChatContext, LLMStream
from livekit.agents.voice import SpeechHandle

from agents.handoff import HandedOver, HandoffRefused, Said
from agents.testing import ScriptedLLM, calls, says, until
from tests.agents.handoff.aloud import Aloud
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.hotel import Stay, Telephone


async def test_it_is_not_the_guests_turn_before_the_sentence_was_heard() -> None:
    async with Aloud(ScriptedLLM([says("Good evening."), says("It is 120.")]), Stay()) as talk:
        talk.call.user_said("What does it cost?")
        await until(lambda: talk.speaker.playing)
        for _ in range(100):
            await asyncio.sleep(0)
        before = talk.turns()
        talk.speaker.heard()
        await talk.call.answered()

    assert before == [0]
    assert talk.turns() == [0, 1]


async def test_an_interruption_while_the_old_voice_still_speaks_does_not_undo_its_handoff() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar", say="One moment."), says("A beer?")]
    )

    async with Aloud(model, Stay()) as talk:
        talk.call.user_said("I am thirsty")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        talk.call.user_said("Quickly please")
        await talk.hears_out()
        await talk.hears_out()
        await talk.call.answered()

    assert [event.target for event in talk.of(HandedOver)] == ["bar"]
    assert talk.call.speaker == "bar"
    assert [event.text for event in talk.of(Said)][-1] == "A beer?"
    assert ("user", "Quickly please") in model.requests[2].texts
    assert talk.turns() == [0, 2]


async def test_a_forced_interruption_drops_the_handoff_and_the_old_voice_goes_on() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar", say="One moment."),
            says("Yes?"),
            calls("transfer_to_bar"),
            says("A beer?"),
        ]
    )

    async with Aloud(model, Stay()) as talk:
        talk.call.user_said("I am thirsty")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        await talk.call.session.interrupt(force=True)
        await until(lambda: not talk.call.handing_over)
        await until(lambda: talk.call.shared.speaker == "reception")
        talk.call.user_said("Hello?")
        await talk.hears_out()
        await talk.call.answered()
        speaker = talk.call.speaker
        talk.call.user_said("To the bar")
        await talk.hears_out()
        await talk.call.answered()

    assert speaker == "reception"
    assert [event.reason for event in talk.of(HandoffRefused)] == ["interrupted"]
    assert talk.call.speaker == talk.call.shared.speaker == "bar"


async def test_after_an_interrupted_reply_it_is_the_guests_turn_at_once() -> None:
    async with Aloud(ScriptedLLM([says("Good evening."), says("A long story.")]), Stay()) as talk:
        talk.call.user_said("Tell me")
        await until(lambda: talk.speaker.playing)
        await talk.call.session.interrupt()
        await talk.call.answered()

    assert talk.of(Said)[-1].interrupted
    assert talk.turns() == [0, 1]


async def test_a_write_beside_an_interrupted_sentence_is_kept() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2}), say="One moment."),
            says("You have two nights."),
        ]
    )

    async with Aloud(model, Stay()) as talk:
        talk.call.user_said("Two nights")
        await until(lambda: talk.speaker.playing and talk.call.state.nights == 2)
        talk.call.user_said("Hm")
        await until(lambda: len(model.requests) == 3)
        await talk.hears_out()
        await talk.call.answered()

    assert talk.call.state.nights == 2
    assert ("output", "Done.") in model.requests[2].texts
    assert talk.turns() == [0, 2]


async def test_a_write_before_an_interrupted_answer_is_kept() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 2})),
            says("Two nights, and breakfast is from seven."),
            says("You have two nights."),
        ]
    )

    async with Aloud(model, Stay()) as talk:
        talk.call.user_said("Two nights")
        await until(lambda: talk.speaker.playing)
        talk.call.user_said("Hm")
        await until(lambda: len(model.requests) == 4)
        await talk.hears_out()
        await talk.call.answered()

    assert talk.call.state.nights == 2
    assert talk.turns() == [0, 2]


async def test_an_interruption_before_the_transfer_is_seen_drops_it_and_keeps_the_write() -> None:
    gate = asyncio.Event()
    model = RawModel(
        ["Good evening."],
        [
            "One",
            " moment.",
            ("add_nights", '{"nights": 2}', "a"),
            gate,
            ("transfer_to_bar", "{}", "b"),
        ],
        ["Two nights. What else?"],
        [("transfer_to_bar", "{}", "b")],
        ["A beer?"],
    )

    async with Aloud(model) as talk:
        talk.call.user_said("Two nights and a beer")
        await until(lambda: talk.speaker.playing and talk.call.state.nights == 2)
        talk.call.user_said("Wait")
        await until(lambda: len(model.asked) == 3)
        gate.set()
        await talk.hears_out()
        await talk.call.answered()
        speaker = talk.call.speaker
        talk.call.user_said("Now the bar")
        await talk.hears_out()
        await talk.call.answered()

    assert speaker == "reception"
    assert talk.call.state.nights == 2
    assert [event.target for event in talk.of(HandedOver)] == ["bar"]
    assert talk.turns() == [0, 2, 3]


async def test_an_interruption_while_a_transfer_waits_for_a_tool_does_not_undo_it() -> None:
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone", "transfer_to_reception", say="One moment."),
            says("Back with me."),
        ]
    )

    async with Aloud(model, Stay(nights=1)) as talk:
        talk.call.user_said("Out")
        await talk.hears_out()
        await talk.call.answered()
        talk.call.user_said("Ask, then back")
        await until(lambda: talk.speaker.playing)
        for _ in range(20):
            await asyncio.sleep(0)
        talk.call.user_said("And a taxi")
        Telephone.gate.set()
        await talk.hears_out()
        await talk.hears_out()
        await talk.call.answered()
    Telephone.gate = None

    assert [event.target for event in talk.of(HandedOver)] == ["concierge", "reception"]
    assert ("user", "And a taxi") in model.requests[-1].texts
    assert talk.turns() == [0, 1, 3]


async def test_what_is_said_while_only_the_tools_before_a_transfer_are_at_work_waits_for_them() -> (
    None
):
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls("telephone", "transfer_to_reception"),
            says("A taxi, from the reception."),
        ]
    )
    at_once: list[int] = []

    async with Aloud(model, Stay(nights=1)) as talk:
        call = talk.call
        call.user_said("Out")
        await talk.hears_out()
        await call.answered()
        call.session.on("speech_created", lambda _: at_once.append(len(call.turns.speeches)))
        call.user_said("Ask, then back")
        await until(lambda: any(not one.allow_interruptions for one in call.turns.speeches))
        await until(lambda: call.session.current_speech is None)
        call.user_said("And a taxi")
        for _ in range(200):
            await asyncio.sleep(0)
        asked_meanwhile = len(model.requests)
        Telephone.gate.set()
        await talk.hears_out()
        await call.answered()
    Telephone.gate = None

    assert asked_meanwhile == 4
    assert at_once == [1, 1]
    assert [event.target for event in talk.of(HandedOver)] == ["concierge", "reception"]
    assert ("user", "And a taxi") in model.requests[-1].texts
    assert talk.turns() == [0, 1, 3]


async def test_a_transfer_that_wins_after_another_was_refused_is_not_undone_either() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge", "transfer_to_bar", say="One moment."),
            says("A beer?"),
        ]
    )

    async with Aloud(model) as talk:
        talk.call.user_said("Out, or to the bar")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        talk.call.user_said("Quickly")
        await talk.hears_out()
        await talk.hears_out()
        await talk.call.answered()

    assert [event.reason for event in talk.of(HandoffRefused)] == ["refused"]
    assert talk.call.speaker == "bar"
    assert talk.turns() == [0, 2]


async def test_what_is_said_in_the_moment_a_reply_is_broken_off_gets_no_two_replies_at_once() -> (
    None
):
    model = Booking()
    at_once: list[int] = []

    async with Aloud(model, Stay()) as talk:
        call = talk.call
        call.user_said("Tell me")
        await until(lambda: talk.speaker.playing)
        (reply,) = call.turns.speeches

        def says_more(ended: SpeechHandle) -> None:
            if call.turns.speeches:  # the call has not been told yet
                asyncio.get_running_loop().call_soon(says_more, ended)
                return
            call.user_said("for Ada")
            call.user_said("quickly")

        reply.add_done_callback(says_more)
        call.session.on("speech_created", lambda _: at_once.append(len(call.turns.speeches)))
        call.user_said("Two nights")
        await until(lambda: call.state.nights > 0 and talk.speaker.playing)
        talk.speaker.heard()
        await call.answered()

    assert call.state.nights == 2
    assert at_once == [1, 1]
    assert talk.turns() == [0, 4]


class Booking(RawModel):
    """Books two nights when it is told to, unless it sees that it has."""

    def chat(self, *, chat_ctx: ChatContext, **how: Any) -> LLMStream:
        told = any("Two nights" in (item.text_content or "") for item in chat_ctx.messages())
        done = any(item.type == "function_call_output" for item in chat_ctx.items)
        books: Part = ("add_nights", '{"nights": 2}', "a")
        self.replies = [(books,) if told and not done else ("A long story.",)]
        return super().chat(chat_ctx=chat_ctx, **how)


async def test_an_interruption_of_the_opening_is_answered_by_the_new_voice() -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls("transfer_to_bar"), says("A long menu."), says("A beer.")]
    )

    async with Aloud(model) as talk:
        talk.call.user_said("I am thirsty")
        await until(lambda: talk.speaker.playing)
        talk.call.user_said("Just a beer")
        await until(lambda: len(model.requests) == 4)
        await talk.hears_out()
        await talk.call.answered()

    assert [(event.agent, event.interrupted) for event in talk.of(Said)] == [
        ("reception", False),
        ("bar", True),
        ("bar", False),
    ]
    assert "transfer_to_reception" in model.requests[3].tools
    assert talk.turns() == [0, 2]


async def test_a_forced_interruption_while_a_tool_works_keeps_what_it_did_and_gives_the_turn() -> (
    None
):
    Telephone.gate = asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_concierge"),
            says("Yes?"),
            calls(("set_guest", {"name": "Ada"}), "telephone", say="One moment."),
            says("There are seats."),
        ]
    )

    async with Aloud(model, Stay(nights=1)) as talk:
        talk.call.user_said("Out")
        await talk.hears_out()
        await talk.call.answered()
        talk.call.user_said("I am Ada, ask the theatre")
        await until(lambda: talk.speaker.playing and talk.call.state.guest == "Ada")
        broken = talk.call.session.interrupt(force=True)
        Telephone.gate.set()
        await broken
        await talk.call.answered()
        talk.call.user_said("And?")
        await talk.hears_out()
        await talk.call.answered()
    Telephone.gate = None

    assert talk.call.state.guest == "Ada"
    assert ("output", "The theatre has seats.") in model.requests[-1].texts
    assert talk.turns() == [0, 1, 2, 3]


@pytest.mark.parametrize("made", ["end_call", "transfer_to_bar"])
async def test_an_interruption_of_the_words_before_it_takes_back_an_end_but_no_handoff(
    made: str,
) -> None:
    model = ScriptedLLM(
        [says("Good evening."), calls(made, say="Goodbye then."), says("Yes, at eight.")]
    )

    async with Aloud(model) as talk:
        talk.call.user_said("Bye")
        await until(lambda: talk.speaker.playing)
        for _ in range(20):
            await asyncio.sleep(0)
        talk.call.user_said("Wait, when is breakfast?")
        if made == "transfer_to_bar":
            await talk.hears_out()
        await until(lambda: len(model.requests) == 3)
        await talk.hears_out()
        await talk.call.answered()

    assert talk.call.speaker == ("bar" if made == "transfer_to_bar" else "reception")
    assert talk.turns() == [0, 2]
    assert ("user", "Wait, when is breakfast?") in model.requests[2].texts
