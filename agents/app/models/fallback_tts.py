"""A text-to-speech model with a fallback that reports speech that breaks off in the middle."""

from collections.abc import AsyncGenerator
from typing import Any

from livekit.agents import APIConnectionError, APIConnectOptions
from livekit.agents.tts import TTS, FallbackAdapter, SynthesizedAudio
from livekit.agents.tts.fallback_adapter import (
    DEFAULT_FALLBACK_API_CONNECT_OPTIONS,
    FallbackSynthesizeStream,
)


class FallbackTTS(FallbackAdapter):
    """A ``FallbackAdapter`` that reports an error if a model fails after its first audio.

    livekit-agents 1.8.9 would end the speech as if it were complete. With the error the rest of the
    text can be spoken.
    """

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_FALLBACK_API_CONNECT_OPTIONS
    ) -> FallbackSynthesizeStream:
        """Open a stream; arguments as ``TTS.stream``."""
        return _Stream(tts=self, conn_options=conn_options)


class _Stream(FallbackSynthesizeStream):
    _broken = False

    async def _run(self, output_emitter: Any) -> None:
        await super()._run(output_emitter)
        if self._broken:
            raise APIConnectionError("the speech broke off in the middle", retryable=False)

    async def _try_synthesize(
        self, *, tts: TTS[Any], recovering: bool = False, **how: Any
    ) -> AsyncGenerator[SynthesizedAudio, None]:
        spoken = False
        try:
            async for audio in super()._try_synthesize(tts=tts, recovering=recovering, **how):
                spoken = True
                yield audio
        except Exception:  # of any type; it is raised again
            self._broken = self._broken or (spoken and not recovering)
            raise
