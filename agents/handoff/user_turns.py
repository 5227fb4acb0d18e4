"""The user's turns in one call: their messages, numbered and queued, and the notice of the next turn.

livekit-agents 1.8.9 reports ``listening`` before the greeting, in the middle of every handoff and
after a reply that failed. It is the user's turn when the session listens, no reply is under way, no
handoff is pending, and an agent has said something since the user did.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from inspect import unwrap
from types import CodeType

from livekit.agents.voice import AgentStateChangedEvent, SpeechCreatedEvent, SpeechHandle

from agents.handoff.call_base import AnyCall
from agents.handoff.events import Heard, Latency, Spent, TurnClock, TurnWithdrawn, YourTurn
from agents.handoff.policy import ANSWER_KINDS
from agents.handoff.replies import Replies
from state.shared import Refused

logger = logging.getLogger(__name__)


class UserTurns:
    """Counts the user's turns, has their messages answered, and detects when the next turn begins.

    Args:
        turn: The number of user messages before this call.
        awaiting_transcript: Whether the user is speaking or a transcript is not accepted yet.
        on_message: Called after each user message.
    """

    def __init__(
        self,
        call: AnyCall,
        replies: Replies,
        *,
        turn: int,
        awaiting_transcript: Callable[[], bool],
        on_message: Callable[[], None],
    ) -> None:
        self.turn = turn
        """The number of user messages so far; 0 during the greeting."""
        self.queued: list[str] = []
        """The user's messages that no reply has been requested for."""
        self.answered = False
        """Whether an agent has said something since the user did."""
        self.is_user_turn = False
        self.written = False
        """Whether the user's last message was written."""
        self.clock = TurnClock()
        self.latency: Latency | None = None
        """The times of the last answer's parts."""
        self.own_answer: Callable[[str], str | None] = lambda text: None
        """Returns the answer to a message that is not passed to an agent, or None."""
        self._call = call
        self._replies = replies
        self._awaiting_transcript = awaiting_transcript
        self._on_message = on_message
        self._listening = False
        self._speeches: set[SpeechHandle] = set()
        self._reply_ended = asyncio.Event()
        self._last_interrupted = False
        self._cut_short = False
        self._playout_lag_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiters: list[asyncio.Future[None]] = []
        call.at_end(self._emit_spent)
        call.at_end(self._wake_waiters)

    def use_playout_lag(self, seconds: float) -> None:
        """Set how long after playout a reply has been heard, in seconds; 0 for text."""
        self._playout_lag_s = seconds

    # -- the user's messages ----------------------------------------------------------------------

    def user_said(self, text: str) -> int:
        """Redact a user message and have it answered; see ``Call.user_said``."""
        if not self._call.listening:
            return self.turn
        try:
            return self.accept(self._call.redact_input(text))
        except Refused:
            self._replies.speak(self._call.policy.trouble)
            return self.turn

    def accept(
        self,
        text: str,
        number: int | None = None,
        *,
        spoken: bool = False,
        utterance: str | None = None,
    ) -> int:
        """Accept a user message that has been redacted; see ``Call.accept_user_input``."""
        if not self._call.listening:
            return self.turn
        self.written = not spoken
        self.clock.accepted(spoken=spoken)
        turn = self.user_spoke(number)
        self._call.active.user_spoke()
        self._call.emit(Heard(turn, text, utterance))
        if (answer := self.own_answer(text)) is not None:
            self._replies.speak(answer)
            return turn
        self.queued.append(text)
        if self._may_reply:
            self._answer_when_quiet()
        self._on_message()
        return turn

    def user_spoke(self, number: int | None = None) -> int:
        """Begin the next turn; returns its number: the one given, unless that is past."""
        self.turn = max(self.turn + 1, number or 0)
        self.answered = False
        self.is_user_turn = False
        return self.turn

    def answer(self, words: Iterable[str]) -> None:
        """Have messages answered that the user sent earlier and that are still unanswered."""
        self.queued.extend(words)
        if self._may_reply:
            self._answer_when_quiet()

    def hold_ended(self) -> bool:
        """Answer the spoken and written words of a held turn; returns whether there were any."""
        if not self.queued:
            return False
        if self._may_reply:
            self._answer_when_quiet()
        return True

    @property
    def _may_reply(self) -> bool:
        return self._call.active.can_reply and not self._call.user_holds

    def queue_again(self, words: Sequence[str]) -> None:
        """Queue messages before all others: those that an agent took and could not answer."""
        self.queued[:0] = words

    def take_queued(self) -> list[str]:
        """Return the queued messages, which are to be answered now."""
        queued, self.queued = self.queued, []
        self._replies.takes(self.turn)
        return queued

    def answer_after(self, speech: SpeechHandle) -> None:
        """Answer the queued messages, now that a reply has ended."""
        self._call.spawn(self.answer_queued())

    async def answer_queued(self) -> None:
        """Interrupt the reply under way, then answer the messages that the next agent has not taken.

        Waits until every reply has ended. livekit-agents 1.8.9 adds a reply's tool results to the
        history only then, and two replies at once would both act on the user's last message. A
        reply that cannot be interrupted is deciding on a transfer; livekit says so only while the
        reply is playing, not while only its tools are running.
        """
        call, active = self._call, self._call.active
        while self._may_reply and self.queued and call.listening:
            self._replies.let_interrupt()
            try:
                call.session.interrupt()
            except RuntimeError:
                if not self._speeches:  # the session is closing
                    return
            if self._speeches:
                await self._reply_ended.wait()
                continue
            if active.committing:  # its reply has ended without it
                await active.commit_ended()
                continue
            if self._may_reply and self.queued and not call.time_limits.hung_up:
                self._answer()

    def _answer_when_quiet(self) -> None:
        if self._speeches:
            self._call.spawn(self.answer_queued())
        else:
            self._answer()

    def _answer(self) -> None:
        try:
            self._replies.request(self.take_queued())
        except RuntimeError:  # the session is closing
            logger.warning("user input after session close ignored")

    # -- replies ----------------------------------------------------------------------------------

    @property
    def speeches(self) -> tuple[SpeechHandle, ...]:
        """The replies under way."""
        return tuple(self._speeches)

    def agent_entered(self) -> None:
        """Mark the user as unanswered: the previous agent's words do not count."""
        self.answered = False

    def speech_created(self, event: SpeechCreatedEvent) -> None:
        """Register a reply; it is under way until its handle is done, its tools included."""
        self._speeches.add(event.speech_handle)
        event.speech_handle.add_done_callback(self._speech_done)
        if self._call.user_holds:  # an opening: its agent answers when the user has spoken
            asyncio.get_running_loop().call_soon(_interrupt, event.speech_handle)
        self.withdraw()

    def agent_spoke(self, *, interrupted: bool) -> None:
        """Record that an agent's words were delivered, or interrupted by the user."""
        self._cut_short = interrupted
        if not interrupted or len(self._speeches) <= 1:
            self.answered = True

    def state_changed(self, event: AgentStateChangedEvent) -> None:
        """Handle a change of livekit's agent state."""
        self._listening = event.new_state == "listening"
        if self._listening:
            self._give_if_due()
        elif event.new_state in ("thinking", "speaking"):
            if event.new_state == "speaking" and self._call.session.output.audio is not None:
                self.clock.sound()
            self.withdraw()

    def _speech_done(self, speech: SpeechHandle) -> None:
        self._speeches.discard(speech)
        self._last_interrupted = speech.interrupted
        self._reply_ended.set()
        self._reply_ended = asyncio.Event()
        self._update()

    # -- the notice -------------------------------------------------------------------------------

    async def wait_for_turn(self) -> None:
        """Wait until it is the user's turn, or the call has ended."""
        while not self.is_user_turn and self._call.ended is None:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    @property
    def is_quiet(self) -> bool:
        """Whether it is the user's turn and they have not begun to speak."""
        return self.is_user_turn and not self._call.user_holds and not self._awaiting_transcript()

    def recheck(self) -> None:
        """Check again whether it is the user's turn, or whether nothing was said."""
        if not self.is_user_turn:
            self._update()

    @property
    def _more_pending(self) -> bool:
        return self._call.active.handoff_under_way or bool(self.queued)

    def _update(self) -> None:
        if self._speeches or self._more_pending:
            return
        if self.answered:
            self._give_if_due()
        elif not self._awaiting_transcript():  # otherwise it is answered, or this is checked again
            self._speak_fallback()

    def _speak_fallback(self) -> None:
        call = self._call
        if not call.can_speak:
            return  # nothing can be said any more
        if self._last_interrupted and call.closing is None:
            # Interrupted by sounds without words: the user's earlier message is still unanswered.
            self._answer()
        else:
            self._replies.speak(self._replies.apology)

    def _give_if_due(self) -> None:
        if not self._turn_is_due():
            return
        if self._playout_lag_s and not self._cut_short:
            self._cancel_timer()
            self._timer = asyncio.get_running_loop().call_later(self._playout_lag_s, self._give)
        else:
            self._give()

    def _turn_is_due(self) -> bool:
        if self.is_user_turn or not self._listening or not self.answered:
            return False
        return not (self._speeches or self._more_pending)

    def _give(self) -> None:
        self._cancel_timer()
        if not self._turn_is_due():
            return
        self.is_user_turn = True
        self._replies.pending_calls.forget_all()
        call, active = self._call, self._call.active
        if call.closing is not None:
            call.end(call.closing)
            return
        self._emit_spent()
        if (latency := self.clock.finished(self.turn, active.name)) is not None:
            self.latency = latency
        call.emit(YourTurn(self.turn, active.name, call.shared.version, self._expected()))
        self._wake_waiters()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def withdraw(self) -> None:
        """Withdraw the notice that it is the user's turn."""
        if self.is_user_turn:
            self.is_user_turn = False
            self._call.emit(TurnWithdrawn(self.turn))

    def _emit_spent(self) -> None:
        cost = self._replies.spending.take_unreported()
        if cost is not None:
            self._call.emit(Spent(turn=self.turn, agent=self._call.active.name, **asdict(cost)))

    def _expected(self) -> str:
        call, active = self._call, self._call.active
        expects = call.policy.expects
        try:
            kind = expects(call.shared.state, active.name, active.last_refusal)
            if kind in ANSWER_KINDS:
                return kind
        except Exception:  # it is the user's turn all the same
            logger.exception("policy.expects failed")
        else:
            logger.error(
                "policy.expects (%s) returned an unknown kind of answer for %s, not one of %s",
                _defined_at(expects),
                active.name,
                ", ".join(ANSWER_KINDS),
            )
        return ANSWER_KINDS[0]

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for one in waiters:
            if not one.done():
                one.set_result(None)


def _defined_at(function: Callable[..., object]) -> str:
    code: CodeType | None = getattr(unwrap(function), "__code__", None)
    return type(function).__name__ if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _interrupt(speech: SpeechHandle) -> None:
    with suppress(RuntimeError):  # it may not be interrupted
        speech.interrupt()
