"""The events of a call, for terminals, pages and tests, and how long its answers took.

A listener is a plain function. It is called with every event in order, inside the event loop, and
must not block. ``turn`` is the number of user messages so far; the greeting belongs to turn 0.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

logger = logging.getLogger(__name__)

EndReason = Literal["input_ended", "user_left", "agent_ended", "failed"]
"""Why a call is over: no more input, the user hung up, an agent ended it, or it failed."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The user said something; ``text`` is redacted."""

    turn: int
    text: str
    utterance: str | None = field(default=None, compare=False, repr=False)
    """The utterance that the live transcriptions of these words name; None for typed words."""


@dataclass(frozen=True, slots=True)
class Said:
    """An agent said something; ``interrupted`` if the user cut it short."""

    turn: int
    agent: str
    text: str
    interrupted: bool = False
    version: int | None = field(default=None, compare=False)
    """The version of the state that the words were made from: the one a model request showed, or
    the one given to ``Call.speak``. None for a fallback sentence."""
    about: str | None = field(default=None, compare=False)
    """The topic given to ``Call.speak``; None for a reply."""
    utterance: str | None = field(default=None, compare=False, repr=False)
    """The utterance that the live transcriptions of these words name."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool other than a transfer has ended, successfully or not."""

    turn: int
    agent: str
    name: str
    arguments: Mapping[str, Any]
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Another agent is active from here on; ``arguments`` if the handoff carried any."""

    turn: int
    source: str
    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments that the source passes to the target."""


@dataclass(frozen=True, slots=True)
class HandoffRefused:
    """A transfer was requested and did not happen; ``reason`` is a code."""

    turn: int
    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The shared state changed, whatever the source; ``commands`` are the ops."""

    turn: int
    version: int
    commands: tuple[str, ...]
    state: Any


@dataclass(frozen=True, slots=True)
class Spent:
    """Token usage of this turn, as reported by the models; before ``YourTurn`` or ``Ended``.

    Several agents may have answered a turn; ``agent`` is the active one. If an agent speaks again
    in the same turn, a further event reports the difference.
    """

    turn: int
    agent: str
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class YourTurn:
    """It is the user's turn: everything that belongs to this turn has been said."""

    turn: int
    agent: str
    version: int
    expects: str


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """An agent speaks again although it was the user's turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The call is over; no event follows."""

    reason: EndReason


Event: TypeAlias = (
    Heard
    | Said
    | ToolUsed
    | HandedOver
    | HandoffRefused
    | StateChanged
    | Spent
    | YourTurn
    | TurnWithdrawn
    | Ended
)
"""Any event of a call."""

Listener: TypeAlias = Callable[[Event], None]
"""Called with every event in order, inside the event loop; must not block."""


class EventListeners:
    """The listeners of a call; each gets every event in the order in which it happened."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._queue: deque[Event] = deque()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event; returns a function that unsubscribes it."""
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    def emit(self, event: Event) -> None:
        """Notify all listeners of an event.

        An event that a listener emits is delivered after every listener has got the current one.
        """
        self._queue.append(event)
        if len(self._queue) > 1:
            return
        while self._queue:
            for listener in tuple(self._listeners):
                try:
                    listener(self._queue[0])
                # An exception in a listener must not reach the conversation.
                except (Exception, asyncio.CancelledError):
                    logger.exception("event listener failed")
            self._queue.popleft()


@dataclass(frozen=True, slots=True)
class Latency:
    """How long each part of an answer took, in seconds; None for a part that did not happen.

    Args:
        turn: The number of the turn.
        agent: The agent that had the last word.
        transcript: From the end of the user's speech, or from ``end_turn``, to its final transcript.
        endpointing: From the transcript to the end of the turn: the wait for further speech.
        llm: From the end of the turn to the first word of the answer; tools and handoffs before it
            are part of it.
        tts: From the first word to the first sound.
        total: The sum: from the end of speech to the first sound. For a written message it begins
            with the message, and without audio it ends with the first word.
    """

    turn: int
    agent: str
    transcript: float | None
    endpointing: float | None
    llm: float | None
    tts: float | None
    total: float | None

    @property
    def parts(self) -> dict[str, float]:
        """The parts that happened, and the total, by name."""
        parts = {
            "transcript": self.transcript,
            "endpointing": self.endpointing,
            "llm": self.llm,
            "tts": self.tts,
            "total": self.total,
        }
        return {name: seconds for name, seconds in parts.items() if seconds is not None}


class TurnClock:
    """Notes when the parts of an answer happened, by the event loop's clock."""

    def __init__(self) -> None:
        self._speech_ended: float | None = None
        self._transcribed: float | None = None
        self._begin: float | None = None
        """When the user had finished: the end of their speech, or their written message."""
        self._spoken: tuple[float, float] | None = None
        """The durations of transcript and endpointing."""
        self._accepted: float | None = None
        self._word: float | None = None
        self._sound: float | None = None

    def speech_ended(self, ago_s: float = 0.0) -> None:
        """The user stopped speaking ``ago_s`` seconds ago."""
        self._speech_ended = _now() - max(0.0, ago_s)

    def transcribed(self) -> None:
        """A final transcript has arrived."""
        self._transcribed = _now()

    def accepted(self, *, spoken: bool) -> None:
        """The user's message is about to be answered."""
        self._accepted = self._begin = now = _now()
        self._word = self._sound = self._spoken = None
        if spoken:
            ended = self._transcribed if self._speech_ended is None else self._speech_ended
            if ended is not None:
                at = max(ended, self._transcribed or ended)
                self._begin, self._spoken = ended, (at - ended, now - at)
            self._speech_ended = self._transcribed = None

    def word(self) -> None:
        """A word of an answer has arrived."""
        if self._word is None and self._accepted is not None:
            self._word = _now()

    def sound(self) -> None:
        """The answer is heard."""
        if self._sound is None and self._word is not None:
            self._sound = _now()

    def finished(self, turn: int, agent: str) -> Latency | None:
        """Return the times of an answer's parts, once for each answer."""
        begin, accepted, word, sound = self._begin, self._accepted, self._word, self._sound
        transcript, endpointing = self._spoken or (None, None)
        self._begin = self._accepted = self._word = self._sound = self._spoken = None
        if begin is None or accepted is None or word is None:
            return None
        return Latency(
            turn=turn,
            agent=agent,
            transcript=transcript,
            endpointing=endpointing,
            llm=word - accepted,
            tts=None if sound is None else sound - word,
            total=(word if sound is None else sound) - begin,
        )


def _now() -> float:
    return asyncio.get_running_loop().time()
