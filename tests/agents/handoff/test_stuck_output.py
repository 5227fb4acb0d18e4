"""A handoff whose reply livekit gives up, because its words do not leave."""

import asyncio

import pytest
from livekit.agents.voice.io import TextOutput

from agents.handoff import HandoffRefused
from agents.testing import Conversation, ScriptedLLM, calls, says, until
from tests.agents.hotel import hotel


class Stuck(TextOutput):
    """An output that takes no words and ignores cancellation until it is let go."""

    def __init__(self) -> None:
        super().__init__(label="stuck", next_in_chain=None)
        self.gate = asyncio.Event()

    async def capture_text(self, text: str) -> None:
        while not self.gate.is_set():
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                continue

    def flush(self) -> None:
        """Nothing is kept."""


async def test_a_handoff_of_a_reply_that_livekit_gives_up_is_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("livekit.agents.voice.speech_handle.INTERRUPTION_TIMEOUT", 0.0)
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar", say="One moment."),
            says("I am still here."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        stuck = Stuck()
        talk.call.session.output.transcription = stuck
        turn = talk.user_says_nowait("I am thirsty")
        await until(lambda: talk.call.active.pending)
        talk.call.session.interrupt(force=True)
        await until(lambda: talk.call.active.pending is None)
        stuck.gate.set()
        await talk.call.answered()

    refused = [event for event in turn.events if isinstance(event, HandoffRefused)]
    assert [event.reason for event in refused] == ["interrupted"]
    assert talk.call.speaker == talk.call.shared.speaker == "reception"
    assert turn.said[-1] == "I am still here."
