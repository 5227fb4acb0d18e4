"""The user's speech in a call: its transcripts, redacted and kept until their turn ends.

livekit-agents 1.8.9 drops a finished turn during a handoff ("skipping user input, speech scheduling
is paused") and while a reply may not be interrupted. Here the transcripts are kept until they are
passed to the call.
"""

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from livekit.agents.voice import ErrorEvent, UserStateChangedEvent

from agents.handoff.call_base import AnyCall
from agents.handoff.failures import why_model_failed
from agents.handoff.livekit_workarounds import mark_user_transcriptions, utterance_name
from agents.handoff.replies import Replies
from agents.handoff.speech.audio import AudioTap
from agents.handoff.speech.speech_output import SpeechOutput
from agents.handoff.user_turns import UserTurns
from state.shared import Refused

logger = logging.getLogger(__name__)

TURN_END_TIMEOUT_S = 4.0
"""How long final transcripts wait for the end of their turn until they are accepted, in seconds."""

SURELY_SPEECH_S = 1.0
"""How long speech without any transcript must be detected until the user is asked again, in seconds:
what is shorter may be a cough or a door."""

_REPLY_END_S = 0.1
"""How often the end of a reply is looked for by words that are too few to interrupt it, in seconds."""

AT_ONCE_S = 0.25
"""How soon after a final transcript the same words cannot have been said again, in seconds."""

MOMENT_S = 2.0
"""How long after a final transcript the provider may send it again, in seconds."""

BACKCHANNEL_S = 1.5
"""How soon after a backchannel a reply has to end for it to be an answer, in seconds."""

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
        """Records the call, and is told whether the user's audio was understood."""
        self._secret = False
        """Whether a transcript of the present turn was redacted."""
        self._turn_end_timeout_s = TURN_END_TIMEOUT_S
        self._interruption_words = 0
        self._finals: list[str] = []
        self._utterance: str | None = None
        """The utterance under way; None until words of it are heard."""
        self._unclear = False
        self._broke_off = False
        """Whether ``_unclear`` is because speech-to-text broke off."""
        self._asked_for_failure = False
        """Whether the user was asked again because it broke off, and no transcript came since."""
        self._stt_reported = False
        self._transcript_due = False
        self._failure_announced = False
        self._may_retry = False
        self._extensions = 0
        self._timer: asyncio.TimerHandle | None = None
        self._backchannel_timer: asyncio.TimerHandle | None = None
        self._accepted = asyncio.Event()
        self.expects_final = False
        """Whether something was heard since the last final transcript."""
        self._held = False
        """Whether the user says when their turn ends."""
        self._interim = ""
        """The last interim transcript of a held turn, not redacted; empty after a final one."""
        self._has_interim = False
        """Whether words were heard since the last final transcript."""
        self._speech_began = 0.0
        self._detected_s = 0.0
        """How long speech was detected since the last final transcript, in seconds."""
        self._over_reply = False
        """Whether the user's last speech ended while an agent's reply was under way."""
        self._noise_announced = False
        """Whether the user was asked again for speech without words, and no words came since."""
        self._last_final = _Final("", (0.0, 0.0), -MOMENT_S)
        self._detected = False
        """Whether the user was speaking at any time since the last final transcript."""
        self._kept: tuple[int, str] = (0, "")
        """How many final transcripts ``forget`` keeps, and the interim transcript after them."""
        self._forgetting = False
        self._final_came, self._end_came = asyncio.Event(), asyncio.Event()

    @property
    def awaiting_transcript(self) -> bool:
        """Whether speech is under way, or a transcript is due or not accepted yet."""
        return self.speaking or self._transcript_due or bool(self._finals) or self._held

    @property
    def final_due(self) -> bool:
        """Whether the user has said words whose final transcript is not there yet."""
        return self._transcript_due and self._has_interim and not self.speaking

    async def quiet(self) -> None:
        """Wait until it is the user's turn and they are not speaking, or the call has ended."""
        await self._turns.wait_for_turn()
        while self._call.ended is None and self.awaiting_transcript:
            await self._accepted.wait()
            await self._turns.wait_for_turn()

    def use_turn_end_timeout(self, seconds: float) -> None:
        """Set how long final transcripts wait for the end of their turn, in seconds."""
        self._turn_end_timeout_s = seconds

    def use_interruption_words(self, count: int) -> None:
        """Set how many words interrupt a reply; with fewer the user waits for its end."""
        self._interruption_words = count

    # -- reports of the speech-to-text model ------------------------------------------------------

    def speech_started(self) -> None:
        """Note that speech has begun: a final transcript will follow."""
        self.expects_final = True

    def interim_transcript(self, text: str) -> str:
        """Return what may be shown of an interim transcript."""
        if self._forgetting:
            return ""
        self._stt_reported, self._failure_announced = True, False
        if text.strip():
            self.expects_final = self._has_interim = True
            self._begin_utterance()
        if self._held:
            self._interim = text
        try:
            return self._call.policy.redact_partial(text).strip()
        except Exception:  # text that cannot be redacted is dropped
            logger.exception("policy.redact_partial failed: an interim transcript was dropped")
            return ""

    def final_transcript(self, text: str, times: tuple[float, float] = (0.0, 0.0)) -> str:
        """Keep a final transcript, unless it has come twice; returns it redacted.

        Args:
            text: The transcript.
            times: When its words begin and end in the audio, in seconds; zeros if not reported.
        """
        if self._forgetting:
            return ""
        had_interim = self._has_interim
        self._stt_reported = True
        self._failure_announced = self._asked_for_failure = False
        self._interim, self.expects_final = "", False
        self._forget_detected()
        self._final_came.set()
        try:
            words = self._call.redact_input(text).strip()
        except Refused:  # it is dropped, and the user is asked again
            self._replies.speak(self._call.policy.trouble)
            self._forget_audio()
            return ""
        self._secret = self._secret or words != text.strip()
        if words and self._came_twice(words, times, had_interim=had_interim):
            logger.warning("the same final transcript came twice: the second one is dropped")
            return ""
        if words:
            self._turns.clock.transcribed()
            self._may_retry, self._noise_announced = True, False
            self._begin_utterance()
            if self._is_backchannel(words):
                self._take_backchannel(words)
                return ""
            self._finals.append(words)
            if not self._held:
                self._start_timer()
        return words

    def _begin_utterance(self) -> None:
        # Not when the one before ends: its last transcript may not have been sent yet.
        if self._utterance is None:
            self._utterance = utterance_name()
            mark_user_transcriptions(self._call.session, self._utterance)

    def _end_utterance(self) -> str | None:
        utterance, self._utterance = self._utterance, None
        return utterance

    def _is_backchannel(self, words: str) -> bool:
        """Whether these words are only a sign that the user listens to the reply under way."""
        if self._finals or self._unclear or self._held or not self._turns.speeches:
            return False
        return only_backchannels(words, self._call.policy.backchannels)

    def _take_backchannel(self, words: str) -> None:
        """Let the reply under way go on; if it ends soon, the words may have been its answer."""
        if self.tap is not None:
            self.tap.understood(words, secret=False)
        self._stop_timer()
        loop, turn = asyncio.get_running_loop(), self._turns.turn
        utterance = self._end_utterance()
        latest = loop.time() + BACKCHANNEL_S

        def check() -> None:
            self._backchannel_timer = None
            if self._turns.turn != turn or self._finals or self._held:
                return  # the user has said more
            if not self._turns.speeches and not self.speaking:
                self._stop_timer()
                self._turns.accept(words, spoken=True, utterance=utterance)
            elif loop.time() < latest:
                self._backchannel_timer = loop.call_later(_REPLY_END_S, check)

        self._cancel_backchannel()
        self._backchannel_timer = loop.call_later(_REPLY_END_S, check)

    def _cancel_backchannel(self) -> None:
        if self._backchannel_timer is not None:
            self._backchannel_timer.cancel()
            self._backchannel_timer = None

    def _came_twice(self, words: str, times: tuple[float, float], *, had_interim: bool) -> bool:
        """Whether these are the words of the last final transcript, which was sent again.

        A user may say the same words twice. That takes them some time, speech is detected in it, and
        a provider that reports times reports others.
        """
        last, now = self._last_final, time.monotonic()
        detected, self._detected = self._detected, self.speaking
        self._last_final = _Final(words, times, now)
        age_s = now - last.came_at
        if had_interim or words != last.words or not _overlap(times, last.times):
            return False
        if age_s < AT_ONCE_S:
            return True
        return age_s < MOMENT_S and self._call.session.vad is not None and not detected

    def not_understood(self) -> None:
        """Ask the user again: they were heard and not understood.

        Their other words in the same turn are dropped, since the turn is incomplete. A reply under
        way goes on: the sound may have been no words at all.
        """
        if self._forgetting:
            return
        self._stt_reported, self._failure_announced = True, False
        # livekit will report the end of a turn with words, and interrupt a reply begun before that.
        if self._finals or self._held:
            self._unclear = True
        else:
            self._ask_again()

    def interrupted(self) -> None:
        """Note that speech-to-text broke off and goes on with a new connection, or another provider.

        The beginning of an utterance under way is lost: the user is asked again when they are
        silent, and the rest of the utterance is dropped, since it is incomplete. If it breaks off
        again before there is a transcript, they are told that they cannot be heard.
        """
        due = self._transcript_due or self._held
        if not self._forgetting and (self.speaking or (self.expects_final and due)):
            self._unclear = self._broke_off = True

    def _ask_again(self) -> None:
        broke_off, self._unclear, self._broke_off = self._broke_off, False, False
        self._finals.clear()
        self._end_utterance()
        self._forget_audio()
        self._stop_timer()
        if broke_off and self._asked_for_failure:
            self._announce_failure()
            self._turns.recheck()
        elif not self._turns.speeches:
            self._asked_for_failure = broke_off
            self._replies.speak(self._call.policy.say_again)

    def state_changed(self, event: UserStateChangedEvent) -> None:
        """Handle the start or end of the user's speech."""
        was_speaking, self.speaking = self.speaking, event.new_state == "speaking"
        if self.speaking:
            self.expects_final = self._detected = True
            self._speech_began = event.created_at
        if was_speaking and not self.speaking:
            self._turns.clock.speech_ended(time.time() - event.created_at)
            self._detected_s += event.created_at - self._speech_began
            self._over_reply = bool(self._turns.speeches)
            self._replies.let_interrupt()
        if was_speaking and not self.speaking and not self._held:
            self._transcript_due = True  # its final transcript may still arrive
            self._start_timer()

    def stt_failed(self, event: ErrorEvent) -> None:
        """Tell the user that speech recognition failed, once until it works again."""
        error = event.error
        if getattr(error, "type", "") != "stt_error" or error.recoverable:
            return
        logger.error("speech-to-text failed: %s", why_model_failed(error.error))
        self._unclear = self._broke_off = False  # they are told of the failure instead
        self._forget_audio()
        self._announce_failure()

    def _announce_failure(self) -> None:
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
            self._forget_detected()
        self.listen()
        self._held = True
        self._interim, self._kept = "", (0, "")
        self._stop_timer()

    def keep(self) -> None:
        """Keep the words heard so far, even if later ones are forgotten."""
        self._kept = len(self._finals), self._interim

    def expect_end(self, *, flushed: bool) -> None:
        """Expect the end of the held turn.

        Args:
            flushed: Whether a final transcript will come, even if there was nothing to hear.
        """
        self.expects_final = self.expects_final or flushed
        self._end_came.clear()

    async def transcribed(self, limit_s: float) -> None:
        """Wait until all speech has its final transcript, at most ``limit_s`` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self.expects_final:
                    self._final_came.clear()
                    await self._final_came.wait()

    async def end_noted(self, limit_s: float) -> None:
        """Wait until livekit has ended the held turn, at most ``limit_s`` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._end_came.wait()

    def release(self) -> Literal["final", "interim", "nothing"]:
        """Accept the words of the held turn; returns the kind of its last transcript."""
        interim, self._interim = self._interim.strip(), ""
        if interim:
            self.final_transcript(interim)
        heard = bool(self._finals) or self._unclear
        self._held = self.expects_final = False
        self._forget_detected()
        self._submit()
        if interim:
            return "interim"
        return "final" if heard else "nothing"

    def forget(self) -> None:
        """Forget the words of the held turn, except those that ``keep`` has kept."""
        count, self._interim = self._kept
        self._unclear = self._broke_off = False
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
        """Accept the words spoken to the leaving agent: livekit will not report that turn's end."""
        if not self.speaking and not self._held:
            self._submit()

    def _submit(self) -> None:
        if self._unclear:
            self._ask_again()
            return
        self._stop_timer()
        words, self._finals = " ".join(self._finals), []
        secret, self._secret = self._secret, False
        utterance = self._end_utterance()
        if words:
            if self.tap is not None:
                self.tap.understood(words, secret=secret)
            self._turns.accept(words, spoken=True, utterance=utterance)

    def _forget_audio(self) -> None:
        if self.tap is not None:
            self.tap.forget()

    def _start_timer(self) -> None:
        self._stop_timer(transcript_due=self._transcript_due)
        self._arm()

    def _arm(self, seconds: float | None = None) -> None:
        loop = asyncio.get_running_loop()
        wait_s = self._turn_end_timeout_s if seconds is None else seconds
        self._timer = loop.call_later(wait_s, self._timed_out)

    def _timed_out(self) -> None:
        self._timer = None
        if self.speaking and self._extensions < _MAX_EXTENSIONS:
            self._extensions += 1
            self._arm()
            return
        if self._turns.speeches and self._are_too_few():
            self._arm(_REPLY_END_S)
            return
        self._transcript_due = False
        self._wake()
        if self._finals:
            logger.warning("end of user turn not detected, accepting transcripts after timeout")
            self._submit()
        elif self._unclear:
            self._ask_again()
        elif self._is_missing():
            logger.warning("no final transcript of the user's speech, asking them again")
            self._ask_again()
        else:
            self._turns.recheck()
        self._forget_detected()

    def _are_too_few(self) -> bool:
        """Whether the words are too few to interrupt a reply: livekit reports no end of their turn."""
        count = sum(len(words.split()) for words in self._finals)
        return 0 < count < self._interruption_words

    def _is_missing(self) -> bool:
        """Whether the user spoke, and only the transcript is missing.

        A user who was told that they are not heard is not asked to say anything again.
        Speech over a reply is left out: it may be a cough, after which the reply goes on. Speech
        without words counts once until words come: it may be a noise that does not end.
        """
        if self.speaking or self._over_reply or self._failure_announced:
            return False
        if not (self.expects_final and self._turns.answered):
            return False
        if self._has_interim:
            return True
        if self._noise_announced or self._detected_s < SURELY_SPEECH_S:
            return False
        self._noise_announced = True
        return True

    def _forget_detected(self) -> None:
        self._has_interim, self._detected_s = False, 0.0

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
        """Cancel the timer and drop the remaining transcripts."""
        self._stop_timer()
        self._cancel_backchannel()
        self._finals.clear()


@dataclass(frozen=True)
class _Final:
    """A final transcript: its words, their times in the audio, and when it came."""

    words: str
    times: tuple[float, float]
    came_at: float


def _overlap(times: tuple[float, float], others: tuple[float, float]) -> bool:
    """Whether two transcripts may be of the same audio; if times are missing, they may."""
    if not (times[1] and others[1]):
        return True
    return times[0] < others[1] and others[0] < times[1]


def only_backchannels(words: str, backchannels: Sequence[str]) -> bool:
    """Whether a transcript has nothing but some of these backchannels.

    >>> [only_backchannels(said, ("mhm", "uh-huh")) for said in ("Mhm, uh huh.", "Mhm, no.", "")]
    [True, False, False]
    """
    longest_first = sorted(map(_plain, backchannels), key=len, reverse=True)
    known = "|".join(map(re.escape, longest_first))
    # Atomic and possessive: "mm hm mm hm ..." can be divided in many ways.
    return bool(known and re.fullmatch(rf"(?>(?:{known})(?: |$))++", _plain(words)))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
