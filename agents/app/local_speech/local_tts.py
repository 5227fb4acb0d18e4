"""Text-to-speech without a key: espeak-ng or flite behind livekit's ``tts.TTS``."""

import asyncio
import uuid
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, APIConnectionError, APIConnectOptions
from livekit.agents.tokenize import blingfire
from livekit.agents.tts import TTS, AudioEmitter, ChunkedStream, SynthesizeStream, TTSCapabilities
from livekit.agents.types import TimedString
from livekit.agents.utils import aio

from agents.app.local_speech.voices import Espeak, Voice, VoiceFault, sayable

_PAUSE_S = 0.1
"""The length of the silence for a text without words, in seconds."""


class LocalTTS(TTS[Any]):
    """Text-to-speech on this machine: each sentence is spoken as soon as it is complete."""

    def __init__(self, voice: Voice) -> None:
        times = isinstance(voice, Espeak)
        super().__init__(
            capabilities=TTSCapabilities(streaming=True, aligned_transcript=times),
            sample_rate=voice.rate,
            num_channels=1,
        )
        self.voice = voice

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return type(self.voice).__name__.lower()

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "local"

    def synthesize(self, text: str, **how: Any) -> ChunkedStream:
        """Speak a whole text; arguments as ``TTS.synthesize``."""
        return self._synthesize_with_stream(text, **how)

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> SynthesizeStream:
        """Open a stream for text that arrives in pieces."""
        return _LocalStream(tts=self, conn_options=conn_options)


class _LocalStream(SynthesizeStream):
    _tts: LocalTTS

    async def _run(self, output_emitter: AudioEmitter) -> None:
        sentences = blingfire.SentenceTokenizer(retain_format=True).stream()
        output_emitter.initialize(
            request_id=str(uuid.uuid4()),
            sample_rate=self._tts.sample_rate,
            num_channels=1,
            mime_type="audio/pcm",
            stream=True,
        )
        output_emitter.start_segment(segment_id=str(uuid.uuid4()))

        async def divide() -> None:
            async for given in self._input_ch:
                if isinstance(given, self._FlushSentinel):
                    sentences.flush()
                else:
                    sentences.push_text(given)
            sentences.end_input()

        async def speak() -> None:
            passed_s = 0.0
            async for sentence in sentences:
                passed_s += await self._speak(sentence.token, passed_s, output_emitter)

        tasks = [asyncio.create_task(divide()), asyncio.create_task(speak())]
        try:
            await asyncio.gather(*tasks)
        finally:
            await aio.cancel_and_wait(*tasks)
            await sentences.aclose()
        output_emitter.end_segment()

    async def _speak(self, text: str, passed_s: float, output_emitter: AudioEmitter) -> float:
        """Speak a sentence; returns how long it is, in seconds."""
        spoken_text, original = sayable(text)
        if not any(sign.isalnum() for sign in spoken_text):
            output_emitter.push_timed_transcript(TimedString(text, start_time=passed_s))
            # livekit-agents 1.8.9 treats a text without audio as a failure.
            return _push(
                output_emitter, bytes(2 * int(_PAUSE_S * self._tts.sample_rate)), self._tts
            )
        self._mark_started()
        try:
            spoken = await self._tts.voice.speak(spoken_text)
        except (VoiceFault, OSError) as error:
            raise APIConnectionError(f"{self._tts.model}: {error}") from error
        starts: dict[int, float] = {}
        for at, since_s in spoken.words:  # an amount of money has one start and several words
            starts.setdefault(original(at), passed_s + since_s)
        begins = sorted({0, *starts} - {len(text)})
        for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
            since_s = starts.get(begin, passed_s)
            output_emitter.push_timed_transcript(TimedString(text[begin:end], start_time=since_s))
        return _push(output_emitter, spoken.sound, self._tts)


def _push(output_emitter: AudioEmitter, sound: bytes, tts: LocalTTS) -> float:
    """Deliver a sound; returns how long it is, in seconds."""
    output_emitter.push(sound)
    output_emitter.flush()
    return len(sound) / 2 / tts.sample_rate
