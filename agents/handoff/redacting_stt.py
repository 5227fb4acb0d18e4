"""Speech-to-text whose words are let in before livekit sees them.

An agent's own ``stt_node`` would do the same, but livekit-agents 1.8.9 then opens a new stream at every handoff
and loses what the guest says meanwhile; the stream of an ``STT`` goes along.
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

from agents.handoff.hearing import Hearing

_ONCE = APIConnectOptions(max_retry=0)
"""The model within tries again by itself."""


class RedactingSTT(STT[Any]):
    """Hears what a model hears, and reports it to a call.

    Args:
        model: A streaming speech-to-text model; whoever built it closes it.
        hearing: Where every word is let in.
    """

    def __init__(self, model: STT[Any], hearing: Hearing) -> None:
        # The words a model lines up with their times are not let in, so they are not passed on.
        super().__init__(capabilities=replace(model.capabilities, aligned_transcript=False))
        self._label = model.label
        self._heard_by = model
        self._hearing = hearing
        model.on("metrics_collected", self._measured)

    @property
    def model(self) -> str:
        """The name of the model within."""
        return self._heard_by.model

    @property
    def provider(self) -> str:
        """Who runs it."""
        return self._heard_by.provider

    @property
    def capabilities(self) -> STTCapabilities:
        """What the model within can do, but for telling when each word was said."""
        return replace(self._heard_by.capabilities, aligned_transcript=False)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> RecognizeStream:
        """Begin to hear."""
        within = self._heard_by.stream(language=language, conn_options=conn_options)
        return _Redacted(self, within, self._hearing)

    def prewarm(self) -> None:
        """Have the model within connect."""
        self._heard_by.prewarm()

    def detach(self) -> None:
        """Let go of the model within."""
        self._heard_by.off("metrics_collected", self._measured)

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> SpeechEvent:
        event = await self._heard_by.recognize(buffer, language=language, conn_options=conn_options)
        return redact_input(event, self._hearing)

    def _update_session_keyterms(self, keyterms: list[str]) -> None:
        self._heard_by._update_session_keyterms(keyterms)

    def _push_conversation_item(self, ev: ConversationItemAddedEvent) -> None:
        self._heard_by._push_conversation_item(ev)

    def _measured(self, *measured: Any) -> None:
        self.emit("metrics_collected", *measured)


def redact_input(event: SpeechEvent, hearing: Hearing) -> SpeechEvent:
    """Return an event with what may enter of its words: of the first way to read them, and of no other."""
    if not event.alternatives:
        return event
    heard = event.alternatives[0]
    match event.type:
        case SpeechEventType.FINAL_TRANSCRIPT:
            text = hearing.finished(heard.text)
        case SpeechEventType.INTERIM_TRANSCRIPT | SpeechEventType.PREFLIGHT_TRANSCRIPT:
            text = hearing.in_passing(heard.text)
        case _:
            return replace(event, alternatives=[])
    told = SpeechData(
        language=heard.language,
        text=text,
        start_time=heard.start_time,
        end_time=heard.end_time,
        confidence=heard.confidence,
        speaker_id=heard.speaker_id,
        is_primary_speaker=heard.is_primary_speaker,
    )
    return replace(event, alternatives=[told])


class _Redacted(RecognizeStream):
    def __init__(self, stt: RedactingSTT, within: RecognizeStream, hearing: Hearing) -> None:
        super().__init__(stt=stt, conn_options=_ONCE)
        self._within = within
        self._hearing = hearing

    async def _metrics_monitor_task(self, event_aiter: AsyncIterable[SpeechEvent]) -> None:
        async for _ in event_aiter:  # the model within measures itself
            pass

    async def _run(self) -> None:
        within = self._within
        within.start_time_offset = self.start_time_offset

        async def pass_on() -> None:
            async for given in self._input_ch:
                if isinstance(given, self._FlushSentinel):
                    within.flush()
                else:
                    within.push_frame(given)
            within.end_input()

        passing_on = asyncio.create_task(pass_on())
        try:
            async for event in within:
                self._event_ch.send_nowait(redact_input(event, self._hearing))
        finally:
            await aio.cancel_and_wait(passing_on)
            await within.aclose()
