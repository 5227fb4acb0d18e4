"""Final transcripts of the user's speech, kept until their turn is accepted.

livekit-agents 1.8.9 drops a finished turn during a handoff ("skipping user input, speech scheduling
is paused") and while a reply may not be interrupted. Here the transcripts are kept until they are
passed to the call.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from livekit.agents.voice import ErrorEvent, UserStateChangedEvent

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

TURN_END_TIMEOUT_S = 4.0
"""How long final transcripts wait for the end of their turn until they are accepted, in seconds."""

_MAX_EXTENSIONS = 3
"""How many times the timeout is extended while the user is reported to be speaking."""


class UserSpeech:
    """The user's speech in one call.

    Args:
        call: Gets the finished turns.
    """

    def __init__(self, call: "Call[Any, Any]") -> None:
        self.speaking = False
        """Whether the user is speaking, as far as livekit reports it."""
        self.turn_end_timeout_s = TURN_END_TIMEOUT_S
        self._call = call
        self._finals: list[str] = []
        self._stt_reported = False
        self._transcript_due = False
        self._failure_announced = False
        self._may_retry = False
        self._extensions = 0
        self._timer: asyncio.TimerHandle | None = None
        self._accepted = asyncio.Event()

    @property
    def awaiting_transcript(self) -> bool:
        """Whether speech is under way, or a transcript is due or not accepted yet."""
        return self.speaking or self._transcript_due or bool(self._finals)

    async def accepted(self) -> None:
        """Wait until what is under way has been accepted, or given up."""
        await self._accepted.wait()

    # -- reports of the speech-to-text model ------------------------------------------------------

    def interim_transcript(self, text: str) -> str:
        """Return what may be shown of an interim transcript."""
        self._stt_reported, self._failure_announced = True, False
        try:
            return self._call.policy.redact_partial(text).strip()
        except Exception:  # text that cannot be redacted is dropped
            logger.exception("redaction of an interim transcript failed")
            return ""

    def final_transcript(self, text: str) -> str:
        """Keep a final transcript; returns it redacted."""
        self._stt_reported, self._failure_announced = True, False
        try:
            words = self._call.policy.redact_input(text).strip()
        except Exception:  # text that cannot be redacted is dropped, and the user is asked again
            logger.exception("redaction of a final transcript failed")
            self._call.speak(self._call.policy.trouble)
            return ""
        if words:
            self._may_retry = True
            self._finals.append(words)
            self._start_timer()
        return words

    def state_changed(self, event: UserStateChangedEvent) -> None:
        """Handle the start or end of the user's speech."""
        was_speaking, self.speaking = self.speaking, event.new_state == "speaking"
        if was_speaking and not self.speaking:
            self._transcript_due = True  # its final transcript may still arrive
            self._start_timer()

    def stt_failed(self, event: ErrorEvent) -> None:
        """Tell the user that speech recognition failed, once until it works again."""
        error = event.error
        if getattr(error, "type", "") != "stt_error" or error.recoverable:
            return
        logger.error("speech-to-text failed: %s", type(error.error).__name__)
        if self._call.speech_lost is not None:
            if self._may_retry:
                self._may_retry = False
                self._call.speak(self._call.policy.trouble)
            else:
                self._call.speech_lost()
        elif not self._failure_announced:
            self._failure_announced = True
            self._call.speak(self._call.policy.cannot_hear)

    # -- finished turns ----------------------------------------------------------------------------

    def turn_ended(self, text: str) -> None:
        """Accept the turn the user has finished.

        Args:
            text: The whole turn, as livekit has it; used only if no transcript was reported here.
        """
        if not self._stt_reported:
            self._call.user_said(text)
        else:
            self._submit()
            self._call.turns.recheck()  # a reply may have ended while the transcript was due

    def agent_changes(self) -> None:
        """Accept what was said to the leaving agent: livekit will not report that turn's end."""
        if not self.speaking:
            self._submit()

    def _submit(self) -> None:
        self._stop_timer()
        words, self._finals = " ".join(self._finals), []
        if words:
            self._call.accept_user_input(words)

    def _start_timer(self) -> None:
        self._stop_timer(transcript_due=self._transcript_due)
        self._arm()

    def _arm(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.turn_end_timeout_s, self._timed_out)

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
        else:
            self._call.turns.recheck()

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
