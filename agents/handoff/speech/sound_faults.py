"""Finds faults in the sound of an utterance, by which words are guessed or not heard at all."""

import logging
from collections import deque

import numpy as np
from livekit import rtc

logger = logging.getLogger(__name__)

_FULL = 26_000
"""The amplitude from which a sample counts as clipped, of 32,768: a codec rounds off what was clipped."""

_MOST_CLIPPED = 0.15
"""The share of clipped samples in speech from which on the words are distorted; in a loud voice
half as many are clipped."""

_LOUD = 0.1
"""The least loudness of a hundredth of a second that counts as speech, as a share of the loudest.
Clipped samples are counted only in speech, since silence has none."""

_QUIETEST = 120
"""The mean amplitude that the loudest hundredth of a second of an utterance needs."""

_FRAME_S = 0.01
_HOLE_LOUDNESS = 0.005
"""The loudness of a hole, as a share of the utterance's loudest hundredth of a second."""

_LONGEST_HOLE_S = 0.06
_MOST_HOLES = 12.0
"""How many holes a second of speech may have: a stop consonant, as in "letter", counts as one."""


_KEPT_S = 6.0
"""How much sound before a transcript is looked at, in seconds."""


class SoundCheck:
    """Logs a fault of the user's sound once, until the sound is good again or has another fault."""

    def __init__(self) -> None:
        self._frames: deque[rtc.AudioFrame] = deque()
        self._seconds = 0.0
        self._told: str | None = None

    def heard(self, frame: rtc.AudioFrame) -> None:
        """Keep a frame until it is transcribed, or for some seconds."""
        self._frames.append(frame)
        self._seconds += frame.duration
        while self._seconds > _KEPT_S:
            self._seconds -= self._frames.popleft().duration

    def transcribed(self) -> None:
        """Look at the sound since the last transcript."""
        frames, self._frames, self._seconds = self._frames, deque(), 0.0
        if not frames or frames[0].num_channels != 1:
            return
        fault = sound_fault(b"".join(one.data for one in frames), frames[0].sample_rate)
        if fault is not None and fault != self._told:
            logger.warning("the user's sound %s", fault)
        self._told = fault


def sound_fault(sound: bytes, rate: int) -> str | None:
    """Return the fault of an utterance, and its remedy; None if it can be recognised.

    Args:
        sound: 16 bit samples, one channel.
        rate: Samples per second.
    """
    samples = np.abs(np.frombuffer(sound, np.int16).astype(np.int32))
    size = int(rate * _FRAME_S)
    if len(samples) < size:
        return None
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    loudness = frames.mean(axis=1)
    if np.mean(frames[loudness >= _LOUD * loudness.max()] >= _FULL) > _MOST_CLIPPED:
        return "is clipped: turn the microphone down, or speak from farther away"
    if loudness.max() < _QUIETEST:
        return "is very quiet: turn the microphone up, or speak closer to it"
    if _holes(loudness) > _MOST_HOLES:
        return "has holes: the network loses packets, or the microphone's driver loses samples"
    return None


def _holes(loudness: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    """Count the short silences in the middle of sound, for each second of sound."""
    loud = np.flatnonzero(loudness > _HOLE_LOUDNESS * loudness.max())
    gaps = np.diff(loud) - 1
    holes = int(np.count_nonzero((gaps > 0) & (gaps * _FRAME_S <= _LONGEST_HOLE_S)))
    return holes / max(len(loud) * _FRAME_S, 0.3)
