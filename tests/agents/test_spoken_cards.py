"""Promise 9 aloud: a card number is said into the restaurant's call, and livekit never has it."""

import logging
from typing import Any

import pytest

from agents.handoff import Heard
from agents.testing import ScriptedLLM, SpokenConversation, says
from tests.agents.restaurant import restaurant


@pytest.mark.parametrize(
    "pieces",
    [
        ("4242 4242 4242 4242",),
        ("four two four two four two four two", "four two four two four two four two"),
        ("my card is 4242424242424242", "thanks"),
    ],
)
async def test_a_spoken_card_number_reaches_no_model_and_no_log(
    pieces: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    transcribed: list[str] = []
    model = ScriptedLLM([says("Good evening."), says("Please tell nobody.")])

    async with SpokenConversation(restaurant(), model) as talk:
        talk.call.session.on(
            "user_input_transcribed", lambda event: transcribed.append(event.transcript)
        )
        talk.expects_words()
        talk.stt.begins()
        for piece in pieces:
            for end in range(1, len(piece.split()) + 1):
                talk.stt.goes_on(" ".join(piece.split()[:end]))
        talk.stt.finishes(*pieces)
        await talk.counted(1)
        await talk.answered()
        history = talk.call.session.history.to_dict()
        heard: list[Any] = [event for event in talk.events if isinstance(event, Heard)]

    records = [(one.getMessage(), vars(one)) for one in caplog.records]
    for place in (history, heard, transcribed, records, model.requests):
        text = str(place).replace(" ", "")
        assert "42424242" not in text
        assert "fourtwo" * 4 not in text
    assert "[card]" in heard[0].text
