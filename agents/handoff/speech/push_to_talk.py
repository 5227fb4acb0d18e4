"""Push-to-talk: the user says when their turn begins and ends, instead of a detector.

Between turns no audio reaches voice activity detection or speech-to-text. A call may switch between
an open microphone and push-to-talk at any time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

from livekit.agents.voice import AgentSession
from livekit.agents.voice.turn import TurnHandlingOptions

from agents.handoff.call_base import AnyCall
from agents.handoff.replies import Replies
from agents.handoff.speech.audio import GatedInput
from agents.handoff.speech.user_speech import UserSpeech
from agents.handoff.user_turns import UserTurns
from state.shared import Refused

logger = logging.getLogger(__name__)

MicrophoneMode = Literal["open", "push_to_talk"]
"""Whether a detector ends the user's turns, or the user does."""

TAIL_S = 0.15
"""How long audio is still taken after the end of a turn, in seconds: sound arrives later than the
call that ends the turn. Jitter buffer and frames take 60 to 120 ms on one machine."""

TRANSCRIPT_S = 2.0
"""How long the end of a turn waits for a final transcript, in seconds."""

GONE_S = 10.0
"""How long a client may send no audio packet in a turn until the turn is committed, in seconds."""

_CHECK_S = 1.0
"""How often the client's packets are counted in a turn, in seconds."""

_NOTED_S = 0.5
"""How long livekit may take to end the turn on its side, in seconds."""

_HANDOFF_S = 5.0
"""How long a commit waits for a handoff under way, in seconds."""

_MANUAL: Any = {"mode": "fixed", "min_delay": 0.0, "max_delay": 0.0}
"""Endpointing of turns that the user ends: livekit-agents 1.8.9 would wait for the delay."""


class NoTurn(Refused):
    """There is no turn to end."""

    code = "no_turn"

    def __init__(self) -> None:
        super().__init__("No turn was started: call start_turn first.")


class PushToTalk:
    """The turns of one call's user while they decide when a turn begins and ends.

    Args:
        call: The call; its session has started.
        speech: The user's transcripts.
        turns: The user's turns.
        replies: The agents' replies.
        gate: The microphone.
        open_turns: The turn handling of an open microphone.
        manual_flush: Whether the speech-to-text model returns a final transcript on request.
        packets: Counts the audio packets that have arrived from the client; by default the
            microphone's frames.
        on_commit: Called with whether a turn is being committed, when that changes.
        mode: The mode at first.
        resumed: Whether the call resumes an earlier one.
    """

    def __init__(
        self,
        call: AnyCall,
        speech: UserSpeech,
        turns: UserTurns,
        replies: Replies,
        gate: GatedInput,
        *,
        open_turns: TurnHandlingOptions,
        manual_flush: bool,
        packets: Callable[[], Awaitable[int | None]] | None = None,
        on_commit: Callable[[bool], None] = lambda commits: None,
        mode: MicrophoneMode = "open",
        resumed: bool = False,
    ) -> None:
        self._call, self._speech, self._turns, self._replies = call, speech, turns, replies
        self._gate = gate
        self._open_turns = open_turns
        self._manual_flush = manual_flush
        self._packets = packets or self._count_frames
        self._on_commit = on_commit
        self.mode: MicrophoneMode = "open"
        """The mode that was last set."""
        self.held = False
        """Whether a turn has been started and not ended."""
        self._applied: MicrophoneMode = "open"
        self._started_elsewhere = resumed and mode == "push_to_talk"
        """Whether the first turn to end may be one that an earlier process heard in part."""
        self._mode_changed: Callable[[MicrophoneMode], None] = lambda mode: None
        self._committing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._clear_due = False
        self._entered = asyncio.Event()
        if mode == "push_to_talk":
            self.set_mode(mode)

    def on_mode_changed(self, callback: Callable[[MicrophoneMode], None]) -> None:
        """Call a function when the mode has changed."""
        self._mode_changed = callback

    # -- requests of the client --------------------------------------------------------------------

    def set_mode(self, mode: MicrophoneMode) -> None:
        """Switch between an open microphone and push-to-talk; a turn under way is committed."""
        self._want(mode)
        if mode == "open":
            if self.held:
                self.end()
            elif self._committing is None:
                self._apply("open")
        elif self._applied == "open":
            spoken = self._speech.awaiting_transcript
            self._apply("push_to_talk")
            if spoken and self._committing is None:  # said before the switch: it is answered
                self._hold()
                self._commit_soon()
            else:
                self._gate.close()

    def start(self) -> int:
        """Begin a turn; returns its number. Speech under way is interrupted.

        In an open microphone it switches to push-to-talk. A turn that is still being committed is
        continued.
        """
        self._started_elsewhere = False
        if not self.held:
            self._want("push_to_talk")
            if self._applied == "open":
                self._apply("push_to_talk")
            self.held = True
            if self._committing is not None:
                self._committing.cancel()
                self._committing = None
                self._on_commit(False)
                self._speech.keep()
            else:
                self._hold()
            self._gate.open()
            with suppress(RuntimeError):  # the reply decides on a transfer, or nothing is running
                self._call.session.interrupt()
            self._watching = self._call.spawn(self._watch_packets())
        return self._turns.turn + 1

    def end(self) -> int:
        """End the turn; returns its number. The user's words are committed in the background.

        The user is asked again if the turn was started with an earlier agent whose process died.

        Raises:
            NoTurn: No turn was started here.
        """
        if self.held:
            self._let_go()
            self._commit_soon()
        elif self._committing is None:
            if self._started_elsewhere:
                self._started_elsewhere = False
                self._replies.speak(self._call.policy.say_again)
            raise NoTurn
        return self._turns.turn + 1

    def cancel(self) -> int:
        """Forget the user's words in the turn; returns the number of the last turn.

        Raises:
            NoTurn: No turn was started.
        """
        if not self.held:
            self._started_elsewhere = False
            raise NoTurn
        self._let_go()
        self._gate.close()
        self._end_speaking()
        if self._call.active.handoff_under_way:
            self._clear_due = True  # livekit replaces what would be cleared
        else:
            self._clear()
        self._speech.forget()
        self._release()
        return self._turns.turn

    def close(self) -> None:
        """Stop before the session closes: livekit-agents 1.8.9 would commit an empty turn then."""
        self._let_go()
        if self._committing is not None:
            self._committing.cancel()
        with suppress(RuntimeError):  # it is closed
            self._apply("open")

    def user_left(self) -> None:
        """Commit the turn of a user whose client is gone."""
        if self.held:
            self.end()

    # -- reports of the call ------------------------------------------------------------------------

    def agent_entered(self) -> None:
        """Set the options again: livekit-agents 1.8.9 may have prepared the new agent with others."""
        self._update_options()
        if self._clear_due:
            self._clear()
        self._entered.set()
        self._entered = asyncio.Event()

    def _want(self, mode: MicrophoneMode) -> None:
        if self.mode != mode:
            self.mode = mode
            self._mode_changed(mode)

    def _let_go(self) -> None:
        self.held = False
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    # -- the commit ---------------------------------------------------------------------------------

    def _hold(self) -> None:
        self._call.user_holds = True
        self._clear_due = False
        self._speech.hold()

    def _commit_soon(self) -> None:
        self._committing = self._call.spawn(self._commit())
        self._on_commit(True)

    async def _commit(self) -> None:
        try:
            await self._finish_transcript()
        except Exception:  # the transcript so far is accepted all the same
            logger.exception("end of a push-to-talk turn failed")
        self._committing = None
        self._on_commit(False)
        unheard = self._speech.expects_final
        last = self._speech.release()
        if last == "interim":  # its final transcript must not come as another message
            self._clear()
        elif last == "nothing" and unheard:  # the user spoke, and no transcript came
            self._replies.speak(self._call.policy.say_again)
        self._release()

    async def _finish_transcript(self) -> None:
        released = _now()
        await asyncio.sleep(TAIL_S)
        self._gate.close()
        self._end_speaking()
        self._turns.clock.speech_ended(_now() - released)
        with suppress(TimeoutError):
            async with asyncio.timeout(_HANDOFF_S):
                while self._call.active.handoff_under_way:
                    await self._entered.wait()
        await self._transcribe()

    async def _transcribe(self) -> None:
        """Wait for the turn's final transcript, and end the turn on livekit's side."""
        wait = self._manual_flush or self._speech.expects_final
        self._speech.expect_end(flushed=self._manual_flush)
        committed = self._call.session.commit_user_turn(
            transcript_timeout=TRANSCRIPT_S if wait else 0.0
        )
        committed.add_done_callback(_ignore)
        await self._speech.transcribed(TRANSCRIPT_S)
        await self._speech.end_noted(_NOTED_S)

    def _release(self) -> None:
        self._call.user_holds = False
        if self.mode != self._applied:
            self._apply(self.mode)
        answering = self._turns.hold_ended()
        if not self._replies.speak_queued() and not answering:
            self._turns.recheck()

    # -- livekit ------------------------------------------------------------------------------------

    @property
    def _session(self) -> AgentSession[Any]:
        return self._call.session

    def _apply(self, mode: MicrophoneMode) -> None:
        self._applied = mode
        self._update_options()
        if mode == "open":
            self._speech.listen()
            self._gate.open()
        else:
            self._end_speaking()

    def _update_options(self) -> None:
        if self._applied == "open":
            self._session.update_options(
                turn_detection=self._open_turns.get("turn_detection"),
                endpointing_opts=self._open_turns.get("endpointing", {}),
            )
        else:
            self._session.update_options(turn_detection="manual", endpointing_opts=_MANUAL)

    def _end_speaking(self) -> None:
        """End the user's speech now: livekit-agents 1.8.9 holds replies back until its detector does."""
        self._session.input.set_audio_enabled(False)
        self._session.input.set_audio_enabled(True)

    def _clear(self) -> None:
        """Drop the audio that speech-to-text has received; livekit opens a new stream."""
        self._clear_due = False
        with suppress(RuntimeError):  # the session is closing
            self._session.clear_user_turn()

    # -- a client that is gone -----------------------------------------------------------------------

    async def _count_frames(self) -> int | None:
        return self._gate.frames

    async def _watch_packets(self) -> None:
        last, since = await self._packets(), _now()
        while _now() - since < GONE_S:
            await asyncio.sleep(_CHECK_S)
            if (count := await self._packets()) != last:
                last, since = count, _now()
        logger.info("no audio in a push-to-talk turn, committing it")
        self._watching = None
        self.end()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _ignore(committed: "asyncio.Future[str]") -> None:
    if not committed.cancelled():
        committed.exception()
