"""Finds what is wrong with the sound of an utterance: a recogniser would guess words from it."""

import numpy as np

_FULL = 32_000
"""The amplitude from which a sample counts as clipped, of 32,768."""

_MOST_CLIPPED = 0.05
"""The share of clipped samples from which the words are distorted; a loud voice has hardly any."""

_QUIETEST = 120
"""The mean amplitude that the loudest hundredth of a second of an utterance needs."""

_FRAME_S = 0.01
_HOLE_LOUDNESS = 0.005
"""The loudness of a hole, as a share of the utterance's loudest hundredth of a second."""

_LONGEST_HOLE_S = 0.06
_MOST_HOLES = 12.0
"""How many holes a second of speech may have: a stop such as in "pizza" is one, too."""


def sound_fault(sound: bytes, rate: int) -> str | None:
    """Return what is wrong with an utterance, and what helps; None if it can be recognised.

    Args:
        sound: 16 bit samples, one channel.
        rate: Samples per second.
    """
    samples = np.abs(np.frombuffer(sound, np.int16).astype(np.int32))
    size = int(rate * _FRAME_S)
    if len(samples) < size:
        return None
    if np.mean(samples >= _FULL) > _MOST_CLIPPED:
        return "is clipped: turn the microphone down, or speak from farther away"
    loudness = samples[: len(samples) // size * size].reshape(-1, size).mean(axis=1)
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
