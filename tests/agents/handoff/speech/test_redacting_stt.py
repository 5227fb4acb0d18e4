"""Transcripts are redacted once, before livekit has them."""

import logging

import pytest
from livekit.agents.voice import UserInputTranscribedEvent

from agents.handoff import (
    Heard,
    Said,
)
from agents.testing import (
    ScriptedLLM,
    SpokenConversation,
    says,
)
from tests.agents.handoff.speech.waiting import of, so
from tests.agents.hotel import hotel


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
        await so(talk, lambda: of(talk, Said)[-1].text == "Say that again?")
        await talk.answered()
        history = talk.call.session.history.to_dict()

    assert "canary" not in str(history)
    assert of(talk, Heard) == []
