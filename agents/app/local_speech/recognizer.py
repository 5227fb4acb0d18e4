"""Recognises English speech with pocketsphinx, by the language model of the expected answer.

Each utterance is recognised twice, once with faint noise added; its words are accepted if both results
have the same meaning. With the noise, fewer words of synthetic voices are wrong.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np

from agents.app.local_speech.language_models import OPEN, LanguageModels, plain

RATE = 16_000
"""The samples per second that it needs."""

PIECE_S = 0.05
"""How much audio the decoder gets in one call, in seconds.

It holds the GIL during a call: 0.2 s of audio stalled the event loop for up to 40 ms, 0.05 s for up to
12 ms.
"""

_PIECE = 2 * int(RATE * PIECE_S)

_CEPSTRAL_MEAN = "41,-5,0"
"""The initial cepstral mean; it then adapts to the speaker."""

_NOISY_MEAN = "51.04,-7.08,0.06,7.43,-4.65,-2.02,-2.03,-6.75,-2.99,-2.04,0.52,-0.22,-1.36"
"""The initial cepstral mean with noise, measured over eight voices."""

_NOISE = 10 ** (-36 / 20)
"""The level of the noise, as a share of the highest level so far."""

_DECAY = 0.998
"""The share of the highest level that remains after each piece."""

_PAUSE_S = 0.1
"""The pause between words that is written as a comma, in seconds."""

SURE = 0.65
"""The least confidence at which words are accepted if both results have the same meaning."""

_SEARCH_OPTIONS = {"beam": 1e-60, "wbeam": 1e-40, "pbeam": 1e-60, "maxhmmpf": -1, "topn": 8}
"""The decoder's beam widths: wider than its defaults, since the language models are small."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word of an utterance.

    Args:
        text: The word.
        start_s: When it began, in seconds from the utterance's beginning.
        end_s: When it ended.
        posterior: Its posterior probability, 0 to 1.
    """

    text: str
    start_s: float
    end_s: float
    posterior: float


@dataclass(frozen=True, slots=True)
class Recognized:
    """The words of an utterance, recognised twice.

    Args:
        words: The words of the more probable result; empty if it has no speech.
        others: The words of the other result.
    """

    words: tuple[HeardWord, ...] = ()
    others: tuple[HeardWord, ...] = ()

    @property
    def text(self) -> str:
        """The words, divided by spaces, with a comma at each pause."""
        return _text(self.words)

    @property
    def confidence(self) -> float:
        """The mean posterior of the words of both results."""
        return (_posterior(self.words) + _posterior(self.others)) / 2

    def is_sure(self, sure: float = SURE, meaning: Callable[[str], object] = plain) -> bool:
        """Whether the words are accepted: both results have the same meaning, and the confidence is high.

        Args:
            sure: The least confidence, 0 to 1.
            meaning: Returns the meaning of a text.
        """
        if not self.words:
            return True
        return self.confidence >= sure and meaning(self.text) == meaning(_text(self.others))


def _text(words: tuple[HeardWord, ...]) -> str:
    between = (
        ", " if after.start_s - before.end_s >= _PAUSE_S else " "
        for before, after in pairwise(words)
    )
    return "".join(word.text + gap for word, gap in zip(words, (*between, ""), strict=False))


def _posterior(words: tuple[HeardWord, ...]) -> float:
    return fmean(word.posterior for word in words) if words else 0.0


class Recognizer:
    """Recognises one speaker's utterances, one after another.

    Its methods block for a fraction of the audio's length. They may be called in any thread; a lock
    serializes them.
    """

    def __init__(self, models: LanguageModels) -> None:
        self._decoders = [_decoder(models, mean) for mean in (_CEPSTRAL_MEAN, _NOISY_MEAN)]
        self._random = np.random.default_rng(1)
        self._loudest = 0.0
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
            for decoder in self._decoders:
                decoder.activate_search(expected if expected in self._kinds else OPEN)
                decoder.start_utt()
            self._listening = True

    def listen(self, sound: bytes) -> None:
        """Take the next part of an utterance, of any length: 16 bit samples, one channel."""
        with self._lock:
            if not self._listening:
                return
            for at in range(0, len(sound), _PIECE):  # the decoder fails on an empty piece
                piece = sound[at : at + _PIECE]
                for decoder, heard in zip(self._decoders, (piece, self._noisy(piece)), strict=True):
                    decoder.process_raw(heard, no_search=False, full_utt=False)

    def end(self) -> Recognized:
        """End an utterance; returns its recognised words."""
        with self._lock:
            if not self._listening:
                return Recognized()
            self._stop()
            results = sorted(map(_words, self._decoders), key=_posterior, reverse=True)
            return Recognized(*results)

    def _stop(self) -> None:
        if self._listening:
            self._listening = False
            for decoder in self._decoders:
                decoder.end_utt()

    def _noisy(self, piece: bytes) -> bytes:
        """Add faint white noise in proportion to the level of the speech."""
        samples = np.frombuffer(piece, np.int16).astype(float)
        self._loudest = max(float(np.sqrt(np.mean(samples**2))), self._loudest * _DECAY)
        samples += self._random.normal(0, self._loudest * _NOISE, len(samples))
        return bytes(np.clip(samples, -32_768, 32_767).astype(np.int16).data)


def _decoder(models: LanguageModels, cepstral_mean: str) -> Any:
    from pocketsphinx import Decoder, get_model_path

    # Without the flat lexicon pass, which would only delay the words.
    decoder = Decoder(
        hmm=get_model_path("en-us/en-us"),
        dict=str(models.dictionary),
        lm=str(models.by_kind[OPEN]),
        fwdflat=False,
        bestpath=True,
        **_SEARCH_OPTIONS,
        cmn="live",
        cmninit=cepstral_mean,
        loglevel="FATAL",
    )
    for kind, file in models.by_kind.items():
        decoder.add_lm_file(kind, str(file))
    return decoder


def _words(decoder: Any) -> tuple[HeardWord, ...]:
    frame_s = 1 / decoder.config["frate"]
    return tuple(
        HeardWord(
            part.word.partition("(")[0],
            part.start_frame * frame_s,
            (part.end_frame + 1) * frame_s,
            min(1.0, float(part.prob)),
        )
        for part in decoder.seg() or ()
        if not part.word.startswith(("<", "["))
    )
