"""Tracks whose turn it is to speak; notified once and only when it is true.

livekit-agents 1.8.9 reports ``listening`` before the greeting, in the middle of every handoff and
after a reply that failed. It is the user's turn when the session listens, no reply is under way, no
handoff is pending, and an agent has said something since the user did.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from livekit.agents.voice import SpeechHandle


@dataclass
class TurnTracker:
    """Counts the user's turns and detects when the next one begins.

    Args:
        more_pending: Whether a handoff is pending or being reverted, or user messages are queued.
        on_user_turn: Called once when it is the user's turn.
        on_turn_withdrawn: Called when an agent speaks again after that.
        on_no_reply: Called when every reply has ended and nothing was said.
        awaiting_transcript: Whether the user is speaking or a transcript is not accepted yet.
        turn: The number of user messages so far.
        playout_lag_s: How long after playout a reply has been heard, in seconds; 0 for text.
    """

    more_pending: Callable[[], bool]
    on_user_turn: Callable[[], None]
    on_turn_withdrawn: Callable[[], None]
    on_no_reply: Callable[[], None]
    awaiting_transcript: Callable[[], bool] = lambda: False
    turn: int = 0
    playout_lag_s: float = 0.0
    listening: bool = False
    answered: bool = False
    is_user_turn: bool = False
    last_interrupted: bool = False
    """Whether the reply that ended last was interrupted."""
    _speeches: set[SpeechHandle] = field(default_factory=set)
    _reply_ended: asyncio.Event = field(default_factory=asyncio.Event)
    _cut_short: bool = False
    _timer: asyncio.TimerHandle | None = None

    @property
    def speeches(self) -> tuple[SpeechHandle, ...]:
        """The replies under way."""
        return tuple(self._speeches)

    @property
    def speaking(self) -> bool:
        """Whether a reply is under way, audible or not."""
        return bool(self._speeches)

    async def reply_ended(self) -> None:
        """Wait until one of the replies under way has ended."""
        await self._reply_ended.wait()

    def user_spoke(self, number: int | None = None) -> int:
        """Begin the next turn; returns its number: the one given, unless that is past."""
        self.turn = max(self.turn + 1, number or 0)
        self.answered = False
        self.is_user_turn = False
        return self.turn

    def agent_entered(self) -> None:
        """Mark the user as unanswered: what the previous agent said does not count."""
        self.answered = False

    def speech_created(self, speech: SpeechHandle) -> None:
        """Register a reply; it is under way until its handle is done, its tools included."""
        self._speeches.add(speech)
        speech.add_done_callback(self._speech_done)
        self._withdraw()

    def agent_spoke(self, *, interrupted: bool) -> None:
        """Record that an agent's words were delivered, or interrupted by the user."""
        self._cut_short = interrupted
        if not interrupted or len(self._speeches) <= 1:
            self.answered = True

    def state_changed(self, state: str) -> None:
        """Handle a change of livekit's agent state."""
        self.listening = state == "listening"
        if self.listening:
            self._give_if_due()
        elif state in ("thinking", "speaking"):
            self._withdraw()

    def recheck(self) -> None:
        """Check again whether it is the user's turn, or whether nothing was said."""
        if not self.is_user_turn:
            self._update()

    def _speech_done(self, speech: SpeechHandle) -> None:
        self._speeches.discard(speech)
        self.last_interrupted = speech.interrupted
        self._reply_ended.set()
        self._reply_ended = asyncio.Event()
        self._update()

    def _update(self) -> None:
        if self._speeches or self.more_pending():
            return
        if not self.answered:
            if not self.awaiting_transcript():  # otherwise it is answered, or this is checked again
                self.on_no_reply()
        else:
            self._give_if_due()

    def _give_if_due(self) -> None:
        if not self._turn_is_due():
            return
        if self.playout_lag_s and not self._cut_short:
            self._cancel_timer()
            self._timer = asyncio.get_running_loop().call_later(self.playout_lag_s, self._give)
        else:
            self._give()

    def _turn_is_due(self) -> bool:
        if self.is_user_turn or not self.listening or not self.answered:
            return False
        return not (self._speeches or self.more_pending())

    def _give(self) -> None:
        self._cancel_timer()
        if self._turn_is_due():
            self.is_user_turn = True
            self.on_user_turn()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _withdraw(self) -> None:
        if self.is_user_turn:
            self.is_user_turn = False
            self.on_turn_withdrawn()
