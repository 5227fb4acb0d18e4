"""Encodes sentence numbers as tones, so that tests can send sentences through a room's audio.

A tone of 400 Hz is sentence 0; each further sentence is 100 Hz higher. This survives encoding,
resampling and lost edges.
"""

import math
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from statistics import median

from livekit import rtc

RATE = 48_000
"""The sample rate of the tones made here, in hertz."""

LINE_S = 0.4
"""The length of one sentence's tone, in seconds."""

QUIET_S = 0.2
"""How much silence ends a sentence, in seconds."""

MOST = 30
"""How many sentences can be told apart."""

FRAME_S = 0.01

_LOWEST_HZ, _STEP_HZ = 400, 100
_LOUD = 1000
_AMPLITUDE = 9000


def line(number: int, *, seconds: float = LINE_S) -> Iterator[rtc.AudioFrame]:
    """Yield the tone of one sentence and the silence after it.

    Args:
        number: The index of the sentence in the script.
        seconds: The length of the tone.

    Raises:
        ValueError: The number has no tone.
    """
    if not 0 <= number < MOST:
        raise ValueError(f"the number of a sentence is 0 to {MOST - 1}")
    yield from tone(_LOWEST_HZ + _STEP_HZ * number, seconds)
    yield from silence(2 * QUIET_S)


def tone(hertz: int, seconds: float, *, rate: int = RATE) -> Iterator[rtc.AudioFrame]:
    """Yield a tone in frames of 10 ms.

    Args:
        hertz: The frequency, a multiple of 100, so that all frames are equal.
        seconds: The length.
        rate: The sample rate.
    """
    samples = _frame(hertz, rate)
    for _ in range(round(seconds / FRAME_S)):
        yield rtc.AudioFrame(samples, rate, 1, int(rate * FRAME_S))


@cache
def _frame(hertz: int, rate: int) -> bytes:
    if hertz % 100:
        raise ValueError("the frequency must be a multiple of 100 Hz")
    turn = 2 * math.pi * hertz / rate
    samples = (round(_AMPLITUDE * math.sin(turn * at)) for at in range(int(rate * FRAME_S)))
    return array("h", samples).tobytes()


def silence(seconds: float, *, rate: int = RATE) -> Iterator[rtc.AudioFrame]:
    """Yield silence in frames of 10 ms."""
    for _ in range(round(seconds / FRAME_S)):
        yield rtc.AudioFrame.create(rate, 1, int(rate * FRAME_S))


def is_loud(frame: rtc.AudioFrame) -> bool:
    """Whether a frame contains a tone.

    >>> [is_loud(next(frames)) for frames in (tone(400, 0.1), silence(0.1))]
    [True, False]
    """
    return max(map(abs, frame.data), default=0) > _LOUD


def number_of(samples: "array[int]", rate: int) -> int | None:
    """Return the number of the sentence a tone encodes, or None.

    >>> heard = array("h")
    >>> for frame in tone(400 + 7 * 100, 0.1):
    ...     heard.extend(frame.data)
    >>> number_of(heard, RATE)
    7
    """
    rising = [
        at - samples[at] / (samples[at] - samples[at - 1])
        for at in range(1, len(samples))
        if samples[at - 1] < 0 <= samples[at]
    ]
    if len(rising) < 3:
        return None
    # The median, because periods around lost packets are too long or too short.
    hertz = rate / median(after - before for before, after in pairwise(rising))
    number = round((hertz - _LOWEST_HZ) / _STEP_HZ)
    return number if 0 <= number < MOST else None
