"""The user's speech in a call: its transcripts, redacted and kept until their turn ends.

livekit-agents 1.8.9 drops a finished turn during a handoff ("skipping user input, speech scheduling
is paused") and while a reply may not be interrupted. Here the transcripts are kept until they are
passed to the call.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

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
from livekit.agents.voice import ErrorEvent, UserStateChangedEvent
from livekit.agents.voice.events import ConversationItemAddedEvent

from agents.handoff.audio import AudioTap, SpeechOutput
from agents.handoff.call_base import AnyCall
from agents.handoff.replies import Replies
from agents.handoff.sound_faults import SoundCheck
from agents.handoff.user_turns import UserTurns
from state.shared import Refused

logger = logging.getLogger(__name__)

UNCLEAR = "unclear"
"""The key in a transcript's metadata of a model that heard words and does not trust them: the user is
asked again."""

TURN_END_TIMEOUT_S = 4.0
"""How long final transcripts wait for the end of their turn until they are accepted, in seconds."""

_MAX_EXTENSIONS = 3
"""How many times the timeout is extended while the user is reported to be speaking."""


class UserSpeech:
    """The user's speech in one call."""

    def __init__(
        self, call: AnyCall, replies: Replies, turns: UserTurns, output: SpeechOutput
    ) -> None:
        self._call, self._replies, self._turns, self._output = call, replies, turns, output
        self.speaking = False
        """Whether the user is speaking, as far as livekit reports it."""
        self.tap: AudioTap | None = None
        """What records the call is told what became of the user's audio."""
        self._secret = False
        """Whether a transcript of the present turn was redacted."""
        self._turn_end_timeout_s = TURN_END_TIMEOUT_S
        self._finals: list[str] = []
        self._unclear = False
        self._stt_reported = False
        self._transcript_due = False
        self._failure_announced = False
        self._may_retry = False
        self._extensions = 0
        self._timer: asyncio.TimerHandle | None = None
        self._accepted = asyncio.Event()
        self.expects_final = False
        """Whether something was heard since the last final transcript."""
        self._held = False
        """Whether the user says when their turn ends."""
        self._interim = ""
        """The last interim transcript of a held turn, not redacted; empty after a final one."""
        self._kept: tuple[int, str] = (0, "")
        """How many final transcripts ``forget`` leaves, and the interim one after them."""
        self._forgetting = False
        self._final_came, self._end_came = asyncio.Event(), asyncio.Event()

    @property
    def awaiting_transcript(self) -> bool:
        """Whether speech is under way, or a transcript is due or not accepted yet."""
        return self.speaking or self._transcript_due or bool(self._finals) or self._held

    async def quiet(self) -> None:
        """Wait until it is the user's turn and they are not speaking, or the call has ended."""
        await self._turns.wait_for_turn()
        while self._call.ended is None and self.awaiting_transcript:
            await self._accepted.wait()
            await self._turns.wait_for_turn()

    def use_turn_end_timeout(self, seconds: float) -> None:
        """Set how long final transcripts wait for the end of their turn, in seconds."""
        self._turn_end_timeout_s = seconds

    # -- reports of the speech-to-text model ------------------------------------------------------

    def speech_started(self) -> None:
        """Note that speech has begun: a final transcript will follow."""
        self.expects_final = True

    def interim_transcript(self, text: str) -> str:
        """Return what may be shown of an interim transcript."""
        if self._forgetting:
            return ""
        self._stt_reported, self._failure_announced = True, False
        self.expects_final = self.expects_final or bool(text.strip())
        if self._held:
            self._interim = text
        try:
            return self._call.policy.redact_partial(text).strip()
        except Exception:  # text that cannot be redacted is dropped
            logger.exception("policy.redact_partial failed: an interim transcript was dropped")
            return ""

    def final_transcript(self, text: str) -> str:
        """Keep a final transcript; returns it redacted."""
        if self._forgetting:
            return ""
        self._stt_reported, self._failure_announced = True, False
        self._interim, self.expects_final = "", False
        self._final_came.set()
        try:
            words = self._call.redact_input(text).strip()
        except Refused:  # it is dropped, and the user is asked again
            self._replies.speak(self._call.policy.trouble)
            self._forget_audio()
            return ""
        self._secret = self._secret or words != text.strip()
        if words:
            self._turns.clock.transcribed()
            self._may_retry = True
            self._finals.append(words)
            if not self._held:
                self._start_timer()
        return words

    def not_understood(self) -> None:
        """Ask the user again: they were heard and not understood.

        What else they say in the same turn is dropped, since it is not the whole. A reply under way
        goes on: the sound may have been no words at all.
        """
        if self._forgetting:
            return
        self._stt_reported, self._failure_announced = True, False
        # livekit will report the end of a turn with words, and interrupt what is said before.
        if self._finals or self._held:
            self._unclear = True
        else:
            self._ask_again()

    def interrupted(self) -> None:
        """Note that speech-to-text broke off and goes on with a new connection, or another provider.

        What it heard of an utterance under way is lost: the user is asked again when they are
        silent, and the rest of the utterance is dropped, since it is not the whole.
        """
        due = self._transcript_due or self._held
        if not self._forgetting and (self.speaking or (self.expects_final and due)):
            self._unclear = True

    def _ask_again(self) -> None:
        self._unclear = False
        self._finals.clear()
        self._forget_audio()
        self._stop_timer()
        if not self._turns.speeches:
            self._replies.speak(self._call.policy.say_again)

    def state_changed(self, event: UserStateChangedEvent) -> None:
        """Handle the start or end of the user's speech."""
        was_speaking, self.speaking = self.speaking, event.new_state == "speaking"
        if self.speaking:
            self.expects_final = True
        if was_speaking and not self.speaking:
            self._turns.clock.speech_ended(time.time() - event.created_at)
        if was_speaking and not self.speaking and not self._held:
            self._transcript_due = True  # its final transcript may still arrive
            self._start_timer()

    def stt_failed(self, event: ErrorEvent) -> None:
        """Tell the user that speech recognition failed, once until it works again."""
        error = event.error
        if getattr(error, "type", "") != "stt_error" or error.recoverable:
            return
        logger.error("speech-to-text failed: %s", type(error.error).__name__)
        self._unclear = False  # they are told of the failure instead
        self._forget_audio()
        if (lost := self._output.lost) is not None:
            if self._may_retry:
                self._may_retry = False
                self._replies.speak(self._call.policy.trouble)
            else:
                lost()
        elif not self._failure_announced:
            self._failure_announced = True
            self._replies.speak(self._call.policy.cannot_hear)

    # -- turns that the user ends ------------------------------------------------------------------

    def hold(self) -> None:
        """Accept nothing until ``release`` or ``forget``: the user says when their turn ends."""
        if not self.awaiting_transcript:
            self.expects_final = False
        self.listen()
        self._held = True
        self._interim, self._kept = "", (0, "")
        self._stop_timer()

    def keep(self) -> None:
        """Keep what has been heard so far even if what follows is forgotten."""
        self._kept = len(self._finals), self._interim

    def expect_end(self, *, flushed: bool) -> None:
        """Expect the end of the held turn.

        Args:
            flushed: Whether a final transcript will come, even if there was nothing to hear.
        """
        self.expects_final = self.expects_final or flushed
        self._end_came.clear()

    async def transcribed(self, limit_s: float) -> None:
        """Wait until all that was heard has its final transcript, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self.expects_final:
                    self._final_came.clear()
                    await self._final_came.wait()

    async def end_noted(self, limit_s: float) -> None:
        """Wait until livekit has ended the held turn, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._end_came.wait()

    def release(self) -> Literal["final", "interim", "nothing"]:
        """Accept what was said in the held turn; returns the kind of its last transcript."""
        interim, self._interim = self._interim.strip(), ""
        if interim:
            self.final_transcript(interim)
        heard = bool(self._finals) or self._unclear
        self._held = self.expects_final = False
        self._submit()
        if interim:
            return "interim"
        return "final" if heard else "nothing"

    def forget(self) -> None:
        """Forget what was said in the held turn, except what is kept."""
        count, self._interim = self._kept
        self._unclear = False
        del self._finals[count:]
        self._forget_audio()
        self.release()
        self._forgetting = True

    def listen(self) -> None:
        """Accept transcripts again after ``forget``."""
        self._forgetting = False

    # -- finished turns ----------------------------------------------------------------------------

    def turn_ended(self, text: str) -> None:
        """Accept the turn the user has finished.

        Args:
            text: The whole turn, as livekit has it; used only if no transcript was reported here.
        """
        self._end_came.set()
        if self._held:
            return
        if not self._stt_reported:
            self._turns.user_said(text)
        else:
            self._submit()
            self._turns.recheck()  # a reply may have ended while the transcript was due

    def agent_changes(self) -> None:
        """Accept what was said to the leaving agent: livekit will not report that turn's end."""
        if not self.speaking and not self._held:
            self._submit()

    def _submit(self) -> None:
        if self._unclear:
            self._ask_again()
            return
        self._stop_timer()
        words, self._finals = " ".join(self._finals), []
        secret, self._secret = self._secret, False
        if words:
            if self.tap is not None:
                self.tap.understood(words, secret=secret)
            self._turns.accept(words, spoken=True)

    def _forget_audio(self) -> None:
        if self.tap is not None:
            self.tap.forget()

    def _start_timer(self) -> None:
        self._stop_timer(transcript_due=self._transcript_due)
        self._arm()

    def _arm(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._turn_end_timeout_s, self._timed_out)

    def _timed_out(self) -> None:
        self._timer = None
        if self.speaking and self._extensions < _MAX_EXTENSIONS:
            self._extensions += 1
            self._arm()
            return
        self._transcript_due = False
        self._wake()
        if self._finals:
            logger.warning("end of user turn not detected, accepting transcripts after timeout")
            self._submit()
        elif self._unclear:
            self._ask_again()
        else:
            self._turns.recheck()

    def _wake(self) -> None:
        self._accepted.set()
        self._accepted = asyncio.Event()

    def _stop_timer(self, *, transcript_due: bool = False) -> None:
        self._transcript_due = transcript_due
        if not transcript_due:
            self._wake()
        self._extensions = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Cancel the timer and drop what is left."""
        self._stop_timer()
        self._finals.clear()


_ONCE = APIConnectOptions(max_retry=0)
"""The wrapped model retries by itself."""


class RedactingSTT(STT[Any]):
    """Wraps a speech-to-text model and reports its transcripts to a call.

    Overriding an agent's ``stt_node`` would do the same, but livekit-agents 1.8.9 then opens a new
    stream at every handoff and loses what the user says meanwhile; the stream of an ``STT`` is kept.

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
        text = user_speech.final_transcript("" if unclear else heard.text)
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
    """Whether the model does not trust what it heard: it has said why."""
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
