"""Speech-to-text by a realtime model: its provider transcribes the user's audio."""

import asyncio
from contextlib import suppress
from typing import Any

from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    APIConnectionError,
    APIConnectOptions,
)
from livekit.agents.language import LanguageCode
from livekit.agents.llm import LLM, FallbackAdapter
from livekit.agents.stt import (
    STT,
    RecognizeStream,
    SpeechData,
    SpeechEvent,
    SpeechEventType,
    STTCapabilities,
)
from livekit.agents.stt import FallbackAdapter as FallbackSTT
from livekit.agents.utils import AudioBuffer, aio
from livekit.agents.vad import VAD

from agents.app.models.realtime import RealtimeConversation, RealtimeLLM
from agents.app.models.speech import ATTEMPT_S
from agents.handoff import UNCLEAR

LATE_S = 5.0
"""How long the transcript of an utterance may take until the user is asked again, in seconds."""

_TRANSCRIPTION = "conversation.item.input_audio_transcription."


def stt_of(model: LLM[Any], second: STT[Any] | None, vad: VAD) -> STT[Any]:
    """Return the speech-to-text of a realtime model, with its fallback.

    Args:
        model: The model, or a fallback adapter around it.
        second: The fallback, if any.
        vad: Voice activity detection for it.

    Raises:
        ValueError: The model is no realtime model.
    """
    models = model._llm_instances if isinstance(model, FallbackAdapter) else [model]
    found = next((one for one in models if isinstance(one, RealtimeLLM)), None)
    if found is None:
        raise ValueError(f"{model.model} cannot hear: it is no realtime model")
    first = RealtimeSTT(found)
    if second is None:
        return first
    return FallbackSTT([first, second], vad=vad, attempt_timeout=ATTEMPT_S, max_retry_per_stt=0)


class RealtimeSTT(STT[Any]):
    """Sends the user's audio to a realtime model, and returns the model's transcripts."""

    def __init__(self, model: RealtimeLLM) -> None:
        super().__init__(capabilities=STTCapabilities(streaming=True, interim_results=True))
        self.language = LanguageCode(model.language)
        self._realtime = model

    @property
    def model(self) -> str:
        """The name of the realtime model."""
        return self._realtime.model

    @property
    def provider(self) -> str:
        """Its server's name."""
        return self._realtime.provider

    def conversation(self) -> RealtimeConversation:
        """Return the model's conversation."""
        return self._realtime.conversation()

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, **others: Any
    ) -> RecognizeStream:
        """Open a stream: audio is sent to the model while it is open."""
        return _Stream(self, conn_options)

    async def _recognize_impl(self, buffer: AudioBuffer, **others: Any) -> SpeechEvent:
        raise NotImplementedError("a realtime model transcribes streams only")


class _Stream(RecognizeStream):
    """Reports the utterances that begin while the stream is open."""

    def __init__(self, stt: RealtimeSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=stt, conn_options=conn_options)
        self._realtime_stt = stt
        self._partial: dict[str, str] = {}
        """The utterances without a final transcript, each with its transcript so far."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ended: asyncio.Future[None]

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            held = self._realtime_stt.conversation()
            self._ended = loop.create_future()
            unlisten = held.listen(self._received)
            forwarding = asyncio.create_task(self._forward(held))
            try:
                await asyncio.wait((forwarding, self._ended), return_when="FIRST_COMPLETED")
                if forwarding.done():
                    forwarding.result()
                    return
            finally:
                unlisten()
                await aio.cancel_and_wait(forwarding)
                self._end_pending(is_lost=held.lost is not None)
                if held.lost is None:
                    held.session.clear_audio()
            if held.was_replaced:
                continue
            raise APIConnectionError("the realtime model's connection was lost") from held.lost

    async def _forward(self, held: RealtimeConversation) -> None:
        async for given in self._input_ch:
            if not isinstance(given, self._FlushSentinel):
                held.session.push_audio(given)

    def _received(self, event: dict[str, Any] | None) -> None:
        if event is None:
            if not self._ended.done():
                self._ended.set_result(None)
            return
        kind, item = event.get("type", ""), event.get("item_id", "")
        if kind == "input_audio_buffer.speech_started":
            self._partial[item] = ""
            self._emit(SpeechEventType.START_OF_SPEECH)
        elif item not in self._partial:
            return
        elif kind == "input_audio_buffer.speech_stopped":
            self._emit(SpeechEventType.END_OF_SPEECH)
            loop = asyncio.get_running_loop()
            self._timers[item] = loop.call_later(LATE_S, self._emit_final, item, "", True)
        elif kind == f"{_TRANSCRIPTION}delta":
            self._partial[item] += event.get("delta") or ""
            self._emit(SpeechEventType.INTERIM_TRANSCRIPT, self._partial[item])
        elif kind == f"{_TRANSCRIPTION}completed":
            self._emit_final(item, event.get("transcript") or "")
        elif kind == f"{_TRANSCRIPTION}failed":
            self._emit_final(item, "", True)

    def _emit_final(self, item: str, text: str, unclear: bool = False) -> None:
        if not unclear:
            self._partial.pop(item, None)
        if (timer := self._timers.pop(item, None)) is not None:
            timer.cancel()
        self._emit(SpeechEventType.FINAL_TRANSCRIPT, text, unclear=unclear)

    def _end_pending(self, *, is_lost: bool) -> None:
        """Report the utterances that will get no transcript, so that the user is asked again."""
        pending = is_lost and bool(self._timers)
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._partial.clear()
        if pending:
            self._emit(SpeechEventType.FINAL_TRANSCRIPT, unclear=True)

    def _emit(self, kind: SpeechEventType, text: str = "", *, unclear: bool = False) -> None:
        metadata = {UNCLEAR: True} if unclear else None
        heard = SpeechData(self._realtime_stt.language, text, metadata=metadata)
        with suppress(aio.ChanClosed):
            self._event_ch.send_nowait(SpeechEvent(kind, alternatives=[heard]))
