"""Speech-to-text whose transcripts are redacted before livekit sees them.

Overriding an agent's ``stt_node`` would do the same, but livekit-agents 1.8.9 then opens a new
stream at every handoff and loses what the user says meanwhile; the stream of an ``STT`` is kept.
"""

import asyncio
from collections.abc import AsyncIterable
from dataclasses import replace
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, APIConnectOptions, NotGivenOr
from livekit.agents.stt import (
    STT,
    RecognizeStream,
    SpeechData,
    SpeechEvent,
    SpeechEventType,
    STTCapabilities,
)
from livekit.agents.utils import AudioBuffer, aio
from livekit.agents.voice.events import ConversationItemAddedEvent

from agents.handoff.user_speech import UserSpeech

_ONCE = APIConnectOptions(max_retry=0)
"""The wrapped model retries by itself."""


class RedactingSTT(STT[Any]):
    """Wraps a speech-to-text model and reports its transcripts to a call.

    Args:
        model: A streaming speech-to-text model; not closed here.
        user_speech: Redacts every transcript.
    """

    def __init__(self, model: STT[Any], user_speech: UserSpeech) -> None:
        # Word timings would carry unredacted words, so they are switched off.
        super().__init__(capabilities=replace(model.capabilities, aligned_transcript=False))
        self._label = model.label
        self._inner = model
        self._user_speech = user_speech
        model.on("metrics_collected", self._forward_metrics)

    @property
    def model(self) -> str:
        """The name of the wrapped model."""
        return self._inner.model

    @property
    def provider(self) -> str:
        """The provider of the wrapped model."""
        return self._inner.provider

    @property
    def capabilities(self) -> STTCapabilities:
        """The capabilities of the wrapped model, except word timings."""
        return replace(self._inner.capabilities, aligned_transcript=False)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> RecognizeStream:
        """Open a stream."""
        inner = self._inner.stream(language=language, conn_options=conn_options)
        return _RedactingStream(self, inner, self._user_speech)

    def prewarm(self) -> None:
        """Let the wrapped model connect."""
        self._inner.prewarm()

    def detach(self) -> None:
        """Unsubscribe from the wrapped model."""
        self._inner.off("metrics_collected", self._forward_metrics)

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> SpeechEvent:
        event = await self._inner.recognize(buffer, language=language, conn_options=conn_options)
        return redact_event(event, self._user_speech)

    def _update_session_keyterms(self, keyterms: list[str]) -> None:
        self._inner._update_session_keyterms(keyterms)

    def _push_conversation_item(self, ev: ConversationItemAddedEvent) -> None:
        self._inner._push_conversation_item(ev)

    def _forward_metrics(self, *metrics: Any) -> None:
        self.emit("metrics_collected", *metrics)


def redact_event(event: SpeechEvent, user_speech: UserSpeech) -> SpeechEvent:
    """Return an event with its first alternative redacted, and no others."""
    if not event.alternatives:
        return event
    heard = event.alternatives[0]
    match event.type:
        case SpeechEventType.FINAL_TRANSCRIPT:
            text = user_speech.final_transcript(heard.text)
        case SpeechEventType.INTERIM_TRANSCRIPT | SpeechEventType.PREFLIGHT_TRANSCRIPT:
            text = user_speech.interim_transcript(heard.text)
        case _:
            return replace(event, alternatives=[])
    redacted = SpeechData(
        language=heard.language,
        text=text,
        start_time=heard.start_time,
        end_time=heard.end_time,
        confidence=heard.confidence,
        speaker_id=heard.speaker_id,
        is_primary_speaker=heard.is_primary_speaker,
    )
    return replace(event, alternatives=[redacted])


class _RedactingStream(RecognizeStream):
    def __init__(self, stt: RedactingSTT, inner: RecognizeStream, user_speech: UserSpeech) -> None:
        super().__init__(stt=stt, conn_options=_ONCE)
        self._inner_stream = inner
        self._user_speech = user_speech

    async def _metrics_monitor_task(self, event_aiter: AsyncIterable[SpeechEvent]) -> None:
        async for _ in event_aiter:  # the wrapped model reports its own metrics
            pass

    async def _run(self) -> None:
        inner = self._inner_stream
        inner.start_time_offset = self.start_time_offset

        async def forward() -> None:
            async for given in self._input_ch:
                if isinstance(given, self._FlushSentinel):
                    inner.flush()
                else:
                    inner.push_frame(given)
            inner.end_input()

        forwarding = asyncio.create_task(forward())
        try:
            async for event in inner:
                self._event_ch.send_nowait(redact_event(event, self._user_speech))
        finally:
            await aio.cancel_and_wait(forwarding)
            await inner.aclose()
