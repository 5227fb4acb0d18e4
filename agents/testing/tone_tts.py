"""Text-to-speech for tests: every text becomes a tone whose length depends on the text's."""

import asyncio
import uuid
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, APIConnectionError, APIConnectOptions
from livekit.agents.tts import TTS, AudioEmitter, ChunkedStream, SynthesizeStream, TTSCapabilities

from agents.testing.tones import tone

RATE = 24_000


class ToneTTS(TTS[Any]):
    """Text-to-speech for tests.

    Args:
        hertz: The frequency of its tone, a multiple of 100; tells models apart.
        character_s: The length of the tone per character, in seconds.
    """

    def __init__(self, *, hertz: int = 200, character_s: float = 0.01) -> None:
        super().__init__(
            capabilities=TTSCapabilities(streaming=True), sample_rate=RATE, num_channels=1
        )
        self.hertz = hertz
        self.character_s = character_s
        self.spoken: list[str] = []
        """The texts it was asked to say, one per reply."""
        self.broken = False
        """Whether every request fails."""
        self.mute = False
        """Whether it accepts text and never returns audio."""

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "tones"

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "testing"

    def synthesize(self, text: str, **how: Any) -> ChunkedStream:
        """Speak a whole text; arguments as ``TTS.synthesize``."""
        return self._synthesize_with_stream(text, **how)

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> SynthesizeStream:
        """Open a stream for text that arrives in pieces."""
        return _ToneStream(tts=self, conn_options=conn_options)


class _ToneStream(SynthesizeStream):
    _tts: ToneTTS

    async def _run(self, output_emitter: AudioEmitter) -> None:
        tts = self._tts
        words: list[str] = []
        begun = False
        async for given in self._input_ch:
            if isinstance(given, self._FlushSentinel):
                continue
            if tts.broken:
                raise APIConnectionError("the text-to-speech model is broken", retryable=False)
            words.append(given)
            if tts.mute:
                continue
            if not begun:
                begun = True
                output_emitter.initialize(
                    request_id=str(uuid.uuid4()),
                    sample_rate=RATE,
                    num_channels=1,
                    mime_type="audio/pcm",
                    stream=True,
                )
                output_emitter.start_segment(segment_id=str(uuid.uuid4()))
                self._mark_started()
            for frame in tone(tts.hertz, max(0.01, len(given) * tts.character_s), rate=RATE):
                output_emitter.push(bytes(frame.data))
        if words:
            tts.spoken.append("".join(words))
        if tts.mute and words:
            await asyncio.Event().wait()  # for ever
        if begun:
            output_emitter.end_segment()
