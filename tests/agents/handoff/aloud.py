"""The hotel's call with a loudspeaker whose sentences the test hears out, or interrupts."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Self

from livekit import rtc
from livekit.agents import AgentSession, ModelSettings
from livekit.agents.llm import LLM
from livekit.agents.voice import io

from agents.handoff import (
    Call,
    CallPolicy,
    Event,
    Graph,
    YourTurn,
    stop,
)
from agents.testing import ScriptedLLM, until
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

    def __init__(self, model: LLM[Any], stay: Stay | None = None) -> None:
        graph = Graph(
            (LoudReception, LoudConcierge, LoudBar), hotel_graph().handoffs, start="reception"
        )
        self.call: Call[Stay, None] = Call(SharedState(stay or Stay(), None), graph, CallPolicy())
        self.model = model
        self.speaker = Loudspeaker()
        self.events: list[Event] = []

    async def __aenter__(self) -> Self:
        self.call.subscribe(self.events.append)
        session: AgentSession[Any] = AgentSession(
            userdata=self.call,
            llm=self.model,
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
        )
        session.output.audio = self.speaker
        self.call.attach(session)
        await session.start(self.call.first_agent(), session_host=False, record=False)
        await self.hears_out()
        await self.call.answered()
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await stop(self.call)
        if kind is None and isinstance(self.model, ScriptedLLM):
            self.model.finished()

    async def hears_out(self) -> None:
        """Wait for a sentence and let it be heard to its end."""
        await until(lambda: self.speaker.playing)
        self.speaker.heard()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def turns(self) -> list[int]:
        return [event.turn for event in self.of(YourTurn)]
