"""Speech-to-text whose transcripts are redacted before livekit has them."""

import asyncio
from collections.abc import AsyncIterable
from dataclasses import replace
from typing import Any

from livekit.agents import APIConnectOptions
from livekit.agents.language import LanguageCode
from livekit.agents.stt import (
    STT,
    AvailabilityChangedEvent,
    RecognizeStream,
    SpeechData,
    SpeechEvent,
    SpeechEventType,
    STTCapabilities,
    STTError,
)
from livekit.agents.utils import AudioBuffer, aio
from livekit.agents.voice.events import ConversationItemAddedEvent

from agents.handoff.speech.sound_faults import SoundCheck
from agents.handoff.speech.user_speech import UserSpeech

UNCLEAR = "unclear"
"""The metadata key of a transcript whose model heard words and does not trust them: the user is
asked again."""

_ONCE = APIConnectOptions(max_retry=0)
"""The wrapped model retries by itself."""


class RedactingSTT(STT[Any]):
    """Wraps a speech-to-text model and reports its transcripts to a call.

    Overriding an agent's ``stt_node`` would do the same, but livekit-agents 1.8.9 then opens a new
    stream at every handoff and loses the user's words meanwhile; the stream of an ``STT`` is kept.

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
        model.on("error", self._failed)
        model.on("stt_availability_changed", self._availability_changed)

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

    def stream(self, **how: Any) -> RecognizeStream:
        """Open a stream; arguments as ``STT.stream``."""
        return _RedactingStream(self, self._inner.stream(**how), self._user_speech)

    def prewarm(self) -> None:
        """Let the wrapped model connect."""
        self._inner.prewarm()

    def detach(self) -> None:
        """Unsubscribe from the wrapped model."""
        self._inner.off("metrics_collected", self._forward_metrics)
        self._inner.off("error", self._failed)
        self._inner.off("stt_availability_changed", self._availability_changed)

    async def _recognize_impl(self, buffer: AudioBuffer, **how: Any) -> SpeechEvent:
        return redact_event(await self._inner.recognize(buffer, **how), self._user_speech)

    def _update_session_keyterms(self, keyterms: list[str]) -> None:
        self._inner._update_session_keyterms(keyterms)

    def _push_conversation_item(self, ev: ConversationItemAddedEvent) -> None:
        self._inner._push_conversation_item(ev)

    def _forward_metrics(self, *metrics: Any) -> None:
        self.emit("metrics_collected", *metrics)

    def _failed(self, error: STTError) -> None:
        if error.recoverable:  # livekit-agents 1.8.9 connects again and sends no audio twice
            self._user_speech.interrupted()

    def _availability_changed(self, event: AvailabilityChangedEvent) -> None:
        if not event.available:  # livekit-agents 1.8.9 sends the fallback later audio only
            self._user_speech.interrupted()


_TRANSCRIPTS = (
    SpeechEventType.FINAL_TRANSCRIPT,
    SpeechEventType.INTERIM_TRANSCRIPT,
    SpeechEventType.PREFLIGHT_TRANSCRIPT,
)


def redact_event(event: SpeechEvent, user_speech: UserSpeech) -> SpeechEvent:
    """Return an event with its first alternative redacted, and no others."""
    if event.type == SpeechEventType.START_OF_SPEECH:
        user_speech.speech_started()
    if event.type not in _TRANSCRIPTS:
        return replace(event, alternatives=[])
    # livekit-agents 1.8.9 reads the first one of every transcript.
    heard = event.alternatives[0] if event.alternatives else SpeechData(LanguageCode(""), "")
    if event.type == SpeechEventType.FINAL_TRANSCRIPT:
        unclear = _is_unclear(event)
        if unclear:
            user_speech.not_understood()
        text = user_speech.final_transcript(
            "" if unclear else heard.text, (heard.start_time, heard.end_time)
        )
    else:
        text = user_speech.interim_transcript(heard.text)
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


def _is_unclear(event: SpeechEvent) -> bool:
    """Whether the model has marked its transcript as one that it does not trust."""
    metadata = event.alternatives[0].metadata if event.alternatives else None
    return metadata is not None and bool(metadata.get(UNCLEAR))


class _RedactingStream(RecognizeStream):
    def __init__(self, stt: RedactingSTT, inner: RecognizeStream, user_speech: UserSpeech) -> None:
        super().__init__(stt=stt, conn_options=_ONCE)
        self._inner_stream = inner
        self._sound = SoundCheck()
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
                    self._sound.heard(given)
                    inner.push_frame(given)
            inner.end_input()

        forwarding = asyncio.create_task(forward())
        try:
            async for event in inner:
                if event.type == SpeechEventType.FINAL_TRANSCRIPT and not _is_unclear(event):
                    self._sound.transcribed()
                self._event_ch.send_nowait(redact_event(event, self._user_speech))
        finally:
            await aio.cancel_and_wait(forwarding)
            await inner.aclose()
