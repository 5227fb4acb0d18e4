"""Where the time of a turn goes, from the end of the user's speech to the first sound of the answer."""

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """How long each part of an answer took, in seconds; None for a part that did not happen.

    Args:
        turn: The number of the turn.
        agent: The agent that had the last word.
        transcript: From the end of the user's speech, or from ``end_turn``, to its final transcript.
        endpointing: From the transcript to the end of the turn: how long it could have gone on.
        llm: From the end of the turn to the first word of the answer; tools and handoffs before it
            are part of it.
        tts: From the first word to the first sound.
        total: The sum: from the end of speech to the first sound. For what was written it begins
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
        """The user has stopped speaking, so many seconds ago."""
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
        """Return where the time went, once for each answer."""
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
