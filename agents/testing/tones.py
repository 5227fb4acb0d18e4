"""Sentences as tones: a sound that carries the number of a sentence through a room and back out of it.

A tone of 400 Hz is sentence 0, and each further sentence lies 100 Hz higher. That survives what a room does
to sound: encoding, another rate of samples, lost edges.
"""

import math
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from statistics import median

from livekit import rtc

RATE = 48_000
"""Samples a second of the tones made here."""

LINE_S = 0.4
"""How long the tone of one sentence sounds, in seconds."""

QUIET_S = 0.2
"""So much silence ends a sentence, in seconds."""

MOST = 30
"""So many sentences can be told apart."""

FRAME_S = 0.01

_LOWEST_HZ, _STEP_HZ = 400, 100
_LOUD = 1000
_AMPLITUDE = 9000


def line(number: int, *, seconds: float = LINE_S) -> Iterator[rtc.AudioFrame]:
    """Make the sound of one sentence, and the silence after it.

    Args:
        number: The place of the sentence among those of the script.
        seconds: How long the guest takes to say it.

    Raises:
        ValueError: There is no tone for so many sentences.
    """
    if not 0 <= number < MOST:
        raise ValueError(f"there are tones for the sentences 0 to {MOST - 1}")
    yield from tone(_LOWEST_HZ + _STEP_HZ * number, seconds)
    yield from silence(2 * QUIET_S)


def tone(hertz: int, seconds: float, *, rate: int = RATE) -> Iterator[rtc.AudioFrame]:
    """Make a tone, in frames of 10 ms.

    Args:
        hertz: How high, in hundreds: so every frame of it is the same.
        seconds: How long.
        rate: Samples a second.
    """
    samples = _frame(hertz, rate)
    for _ in range(round(seconds / FRAME_S)):
        yield rtc.AudioFrame(samples, rate, 1, int(rate * FRAME_S))


@cache
def _frame(hertz: int, rate: int) -> bytes:
    if hertz % 100:
        raise ValueError("a tone has some hundreds of hertz")
    turn = 2 * math.pi * hertz / rate
    samples = (round(_AMPLITUDE * math.sin(turn * at)) for at in range(int(rate * FRAME_S)))
    return array("h", samples).tobytes()


def silence(seconds: float, *, rate: int = RATE) -> Iterator[rtc.AudioFrame]:
    """Make silence, in frames of 10 ms."""
    for _ in range(round(seconds / FRAME_S)):
        yield rtc.AudioFrame.create(rate, 1, int(rate * FRAME_S))


def is_loud(frame: rtc.AudioFrame) -> bool:
    """Whether a tone is in a frame.

    >>> [is_loud(next(frames)) for frames in (tone(400, 0.1), silence(0.1))]
    [True, False]
    """
    return max(map(abs, frame.data), default=0) > _LOUD


def number_of(samples: "array[int]", rate: int) -> int | None:
    """Tell which sentence a tone is; nothing when it is none.

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
    # The one in the middle: where a network loses sound, others are too long or too short.
    hertz = rate / median(after - before for before, after in pairwise(rising))
    number = round((hertz - _LOWEST_HZ) / _STEP_HZ)
    return number if 0 <= number < MOST else None
