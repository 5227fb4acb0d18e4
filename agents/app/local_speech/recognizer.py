"""Recognises English speech with pocketsphinx, by the language model of what is expected."""

import threading
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from agents.app.local_speech.language_models import OPEN, LanguageModels

RATE = 16_000
"""The samples per second that it needs."""

PIECE_S = 0.05
"""The length of sound that the decoder takes in one call, in seconds.

It holds the interpreter's lock during a call: 0.2 s of sound stalled the event loop for up to 40 ms,
0.05 s for up to 12.
"""

_PIECE = 2 * int(RATE * PIECE_S)

_CEPSTRAL_MEAN = "41,-5,0"
"""The mean of a voice before anything was heard; it then follows the speaker."""

SURE = 0.74
"""The mean posterior from which the words of an utterance are believed."""

_DOUBTFUL = 0.08
"""The posterior below which one word makes the whole unclear."""

_THOROUGH = {"beam": 1e-60, "wbeam": 1e-40, "pbeam": 1e-60, "maxhmmpf": -1, "topn": 8}
"""How much is considered: more than usual, since the language models are small."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word of an utterance.

    Args:
        text: The word.
        start_s: When it began, in seconds from the utterance's beginning.
        end_s: When it ended.
        posterior: How probable it is among everything that could have been said, 0 to 1.
    """

    text: str
    start_s: float
    end_s: float
    posterior: float


@dataclass(frozen=True, slots=True)
class Recognized:
    """The recognised words of an utterance.

    Args:
        words: One by one; none if it holds no speech.
    """

    words: tuple[HeardWord, ...] = ()

    @property
    def text(self) -> str:
        """The words, divided by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """The mean posterior of the words; 0 if there are none."""
        return fmean(word.posterior for word in self.words) if self.words else 0.0

    def is_sure(self, sure: float = SURE) -> bool:
        """Whether the words may be believed: all of them together, and each: it may be the number.

        Args:
            sure: The confidence from which they are, 0 to 1.
        """
        if not self.words:
            return True
        doubtful = any(word.posterior < _DOUBTFUL for word in self.words)
        return self.confidence >= sure and not doubtful


class Recognizer:
    """Recognises one speaker's utterances, one after another.

    Its methods block, each for a small part of the sound's length; they may be called in any
    thread, and wait for one another.
    """

    def __init__(self, models: LanguageModels) -> None:
        from pocketsphinx import Decoder, get_model_path

        # The second pass over a whole utterance would only delay its words.
        self._decoder: Any = Decoder(
            hmm=get_model_path("en-us/en-us"),
            dict=str(models.dictionary),
            lm=str(models.by_kind[OPEN]),
            fwdflat=False,
            bestpath=True,
            **_THOROUGH,
            cmn="live",
            cmninit=_CEPSTRAL_MEAN,
            loglevel="FATAL",
        )
        for kind, file in models.by_kind.items():
            self._decoder.add_lm_file(kind, str(file))
        self._kinds = frozenset(models.by_kind)
        self._lock = threading.Lock()
        self._listening = False

    def begin(self, expected: str = OPEN) -> None:
        """Begin an utterance.

        Args:
            expected: The kind of answer that is expected; ``open`` if it has no language model.
        """
        with self._lock:
            self._stop()
            self._decoder.activate_search(expected if expected in self._kinds else OPEN)
            self._decoder.start_utt()
            self._listening = True

    def listen(self, sound: bytes) -> None:
        """Take the next part of an utterance, of any length: 16 bit samples, one channel."""
        with self._lock:
            if not self._listening:
                return
            for at in range(0, len(sound), _PIECE):  # the decoder fails on an empty piece
                piece = sound[at : at + _PIECE]
                self._decoder.process_raw(piece, no_search=False, full_utt=False)

    def end(self) -> Recognized:
        """End an utterance; returns what was recognised in it."""
        with self._lock:
            if not self._listening:
                return Recognized()
            self._stop()
            return Recognized(tuple(self._words()))

    def _stop(self) -> None:
        if self._listening:
            self._listening = False
            self._decoder.end_utt()

    def _words(self) -> list[HeardWord]:
        frame_s = 1 / self._decoder.config["frate"]
        return [
            HeardWord(
                part.word.partition("(")[0],
                part.start_frame * frame_s,
                (part.end_frame + 1) * frame_s,
                min(1.0, float(part.prob)),
            )
            for part in self._decoder.seg() or ()
            if not part.word.startswith(("<", "["))
        ]
