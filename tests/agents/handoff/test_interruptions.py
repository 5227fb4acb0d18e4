"""Promises 4 and 6 with audio: the guest interrupts before, during and after a handoff is decided."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from livekit import rtc
from livekit.agents import AgentSession, ModelSettings
from livekit.agents.voice import io

from agents.handoff import (
    Call,
    Event,
    Graph,
    HandedOver,
    HandoffRefused,
    Manners,
    Said,
    YourTurn,
    stop,
)
from agents.testing import ScriptedLLM, calls, says, until
from state.shared import SharedState
from tests.agents.hotel import Bar, Concierge, Reception, Stay, hotel_graph

FRAME = rtc.AudioFrame(
    data=b"\x00\x00" * 240, sample_rate=24000, num_channels=1, samples_per_channel=240
)


class Loudspeaker(io.AudioOutput):
    """Plays each sentence until the test says that it has been heard, or the guest interrupts."""

    def __init__(self) -> None:
        super().__init__(
            label="test", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24000
        )
        self.playing = False

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self.playing:
            self.playing = True
            self.on_playback_started(created_at=0.0)

    def flush(self) -> None:
        super().flush()

    def clear_buffer(self) -> None:
        if self.playing:
            self._finish(interrupted=True)

    def heard(self) -> None:
        """The sentence has been played to its end."""
        self._finish(interrupted=False)

    def _finish(self, *, interrupted: bool) -> None:
        self.playing = False
        self.on_playback_finished(
            playback_position=0.01, interrupted=interrupted, synchronized_transcript=None
        )


class _Aloud:
    async def tts_node(
        self, text: AsyncIterable[str], model_settings: ModelSettings
    ) -> AsyncIterator[rtc.AudioFrame]:
        async for _ in text:
            yield FRAME


class LoudReception(_Aloud, Reception):
    pass


class LoudConcierge(_Aloud, Concierge):
    pass


class LoudBar(_Aloud, Bar):
    pass


class Aloud:
    """The hotel's call with a loudspeaker."""

    def __init__(self, model: ScriptedLLM, stay: Stay) -> None:
        graph = Graph(
            (LoudReception, LoudConcierge, LoudBar), hotel_graph().handoffs, start="reception"
        )
        self.call: Call[Stay, None] = Call(SharedState(stay, None), graph, Manners())
        self.model = model
        self.speaker = Loudspeaker()
        self.events: list[Event] = []

    async def __aenter__(self) -> "Aloud":
        self.call.listen(self.events.append)
        session: AgentSession[Any] = AgentSession(
            userdata=self.call,
            llm=self.model,
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
        )
        session.output.audio = self.speaker
        self.call.attach(session)
        await session.start(self.call.first_voice(), session_host=False, record=False)
        await self.hears_out()
        await self.call.answered()
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await stop(self.call)
        if kind is None:
            self.model.finished()

    async def hears_out(self) -> None:
        """Wait for a sentence and let it be heard to its end."""
        await until(lambda: self.speaker.playing)
        self.speaker.heard()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def turns(self) -> list[int]:
        return [event.turn for event in self.of(YourTurn)]


async def test_it_is_not_the_guests_turn_before_the_sentence_was_heard() -> None:
    async with Aloud(ScriptedLLM([says("Good evening."), says("It is 120.")]), Stay()) as talk:
        talk.call.hear("What does it cost?")
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
        talk.call.hear("I am thirsty")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        talk.call.hear("Quickly please")
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
        talk.call.hear("I am thirsty")
        await until(lambda: talk.speaker.playing and talk.call.handing_over)
        await talk.call.session.interrupt(force=True)
        await until(lambda: not talk.call.handing_over)
        await until(lambda: talk.call.shared.speaker == "reception")
        talk.call.hear("Hello?")
        await talk.hears_out()
        await talk.call.answered()
        speaker = talk.call.speaker
        talk.call.hear("To the bar")
        await talk.hears_out()
        await talk.call.answered()

    assert speaker == "reception"
    assert [event.reason for event in talk.of(HandoffRefused)] == ["interrupted"]
    assert talk.call.speaker == talk.call.shared.speaker == "bar"


async def test_after_an_interrupted_reply_it_is_the_guests_turn_at_once() -> None:
    async with Aloud(ScriptedLLM([says("Good evening."), says("A long story.")]), Stay()) as talk:
        talk.call.hear("Tell me")
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
        talk.call.hear("Two nights")
        await until(lambda: talk.speaker.playing and talk.call.state.nights == 2)
        talk.call.hear("Hm")
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
        talk.call.hear("Two nights")
        await until(lambda: talk.speaker.playing)
        talk.call.hear("Hm")
        await until(lambda: len(model.requests) == 4)
        await talk.hears_out()
        await talk.call.answered()

    assert talk.call.state.nights == 2
    assert talk.turns() == [0, 2]
