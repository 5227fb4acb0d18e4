"""Whose turn it is to speak, told once and only when it is true.

livekit-agents 1.8.9 reports ``listening`` before the greeting, in the middle of every handoff and after a
reply that failed. It is the guest's turn when the session listens, no reply is under way, no handoff is
pending, and an agent has said something since the guest did.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from livekit.agents.voice import SpeechHandle


@dataclass
class TurnTracker:
    """Counts the guest's turns and knows when the next one begins.

    Args:
        more_to_come: Whether a handoff is pending or being taken back, or words of the guest wait.
        give: Called once when it is the guest's turn.
        withdraw: Called when an agent starts again after that.
        silent: Called when every reply ended and nobody said a word.
        awaits_words: Whether the guest is saying something just now that nobody has taken up.
        turn: The number of things the guest has said.
        lag_s: How much later than played out a reply has been heard, in seconds; 0 where it is read.
    """

    more_to_come: Callable[[], bool]
    give: Callable[[], None]
    withdraw: Callable[[], None]
    silent: Callable[[], None]
    awaits_words: Callable[[], bool] = lambda: False
    turn: int = 0
    lag_s: float = 0.0
    listening: bool = False
    answered: bool = False
    given: bool = False
    broken_off: bool = False
    """Whether the reply that ended last was interrupted."""
    _speeches: set[SpeechHandle] = field(default_factory=set)
    _one_ended: asyncio.Event = field(default_factory=asyncio.Event)
    _cut_short: bool = False
    _later: asyncio.TimerHandle | None = None

    @property
    def speeches(self) -> tuple[SpeechHandle, ...]:
        """The replies under way."""
        return tuple(self._speeches)

    @property
    def speaking(self) -> bool:
        """Whether a reply is under way, heard or not."""
        return bool(self._speeches)

    async def reply_ends(self) -> None:
        """Wait until one of the replies under way has ended."""
        await self._one_ended.wait()

    def guest_spoke(self, number: int | None = None) -> int:
        """Begin the guest's next turn and return its number: the one given, unless it is past already."""
        self.turn = max(self.turn + 1, number or 0)
        self.answered = False
        self.given = False
        return self.turn

    def agent_entered(self) -> None:
        """Another agent took over: what the one before said does not answer the guest."""
        self.answered = False

    def speech_created(self, speech: SpeechHandle) -> None:
        """A reply is under way until its handle is done, its tools and their answers included."""
        self._speeches.add(speech)
        speech.add_done_callback(self._speech_done)
        self._take_back()

    def spoke(self, *, interrupted: bool) -> None:
        """An agent's words were delivered, or cut short by the guest."""
        self._cut_short = interrupted
        if not interrupted or len(self._speeches) <= 1:
            self.answered = True

    def state_changed(self, state: str) -> None:
        """The session went from one of livekit's agent states to another."""
        self.listening = state == "listening"
        if self.listening:
            self._perhaps_give()
        elif state in ("thinking", "speaking"):
            self._take_back()

    def look_again(self) -> None:
        """Give the turn, or break the silence, if what that waited for is no longer to come."""
        if not self.given:
            self._settle()

    def _speech_done(self, speech: SpeechHandle) -> None:
        self._speeches.discard(speech)
        self.broken_off = speech.interrupted
        self._one_ended.set()
        self._one_ended = asyncio.Event()
        self._settle()

    def _settle(self) -> None:
        if self._speeches or self.more_to_come():
            return
        if not self.answered:
            if not self.awaits_words():  # they will be answered, or this is looked at again
                self.silent()
        else:
            self._perhaps_give()

    def _perhaps_give(self) -> None:
        if not self._is_guests_turn():
            return
        if self.lag_s and not self._cut_short:
            self._wait_no_longer()
            self._later = asyncio.get_running_loop().call_later(self.lag_s, self._give)
        else:
            self._give()

    def _is_guests_turn(self) -> bool:
        if self.given or not self.listening or not self.answered:
            return False
        return not (self._speeches or self.more_to_come())

    def _give(self) -> None:
        self._wait_no_longer()
        if self._is_guests_turn():
            self.given = True
            self.give()

    def _wait_no_longer(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def _take_back(self) -> None:
        if self.given:
            self.given = False
            self.withdraw()
