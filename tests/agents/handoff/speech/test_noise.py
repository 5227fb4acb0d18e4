"""Noise is suppressed on this machine; what is loud and clear stays."""

import math
import random
from array import array

import pytest
from livekit import rtc

from agents.handoff.speech.audio import NoiseSuppressor

RATE = 24_000


def frames(seconds: float, sign: random.Random, size: int = 1200) -> list[rtc.AudioFrame]:
    """White noise in frames as a room's input has them."""
    return [
        rtc.AudioFrame(
            array("h", (sign.randint(-1000, 1000) for _ in range(size))).tobytes(), RATE, 1, size
        )
        for _ in range(round(seconds * RATE / size))
    ]


def loudness(heard: list[rtc.AudioFrame]) -> float:
    samples = [sample for frame in heard for sample in frame.data]
    return math.sqrt(sum(sample * sample for sample in samples) / len(samples))


def test_steady_noise_becomes_quieter() -> None:
    suppressor = NoiseSuppressor()
    noise = frames(3.0, random.Random(1))

    heard = [suppressor._process(frame) for frame in noise]

    assert loudness(heard[-20:]) < loudness(noise[-20:]) / 2
    assert [frame.samples_per_channel for frame in heard] == [1200] * len(noise)


@pytest.mark.parametrize("size", [1, 239, 240, 500])
def test_frames_of_any_length_keep_it(size: int) -> None:
    (frame,) = frames(size / RATE, random.Random(1), size)

    assert NoiseSuppressor()._process(frame).samples_per_channel == size
