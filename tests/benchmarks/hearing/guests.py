"""Guests that are programs: voices of flite and espeak-ng, and what a line does to them."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from livekit import rtc

RATE = 16_000

Samples = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Guest:
    """One voice.

    Args:
        program: ``flite`` or ``espeak-ng``.
        voice: Its name there.
        pace: For flite how much longer than usual, for espeak-ng words per minute.
    """

    program: str
    voice: str
    pace: float

    @property
    def name(self) -> str:
        """Its name in a table."""
        return f"{self.program} {self.voice}"

    def says(self, text: str) -> Samples:
        """Return a line as samples at ``RATE``."""
        if self.program == "flite":
            how = ["-voice", self.voice, "--setf", f"duration_stretch={self.pace}", "-t", text]
            command = ["flite", *how, "-o", "/dev/stdout"]
        else:
            how = ["-v", self.voice, "-s", f"{self.pace:g}", "--stdout"]
            command = ["espeak-ng", *how, text]
        done = subprocess.run(command, capture_output=True, check=True, timeout=60)
        rate = int.from_bytes(done.stdout[24:28], "little")
        return resampled(np.frombuffer(done.stdout[44:], np.int16), rate, RATE)


GUESTS = (
    Guest("flite", "slt", 1.0),
    Guest("espeak-ng", "en-us", 160),
    Guest("flite", "rms", 1.0),
    Guest("espeak-ng", "en-gb", 150),
    Guest("flite", "awb", 1.0),
    Guest("espeak-ng", "en-us+f3", 165),
    Guest("flite", "kal16", 1.1),
    Guest("espeak-ng", "en-us+m3", 175),
)


def resampled(samples: Samples, rate: int, wanted: int) -> Samples:
    """Return sound at another rate."""
    if rate == wanted:
        return samples
    resampler = rtc.AudioResampler(rate, wanted, quality=rtc.AudioResamplerQuality.HIGH)
    frame = rtc.AudioFrame(samples.tobytes(), rate, 1, len(samples))
    made = [
        np.frombuffer(one.data, np.int16) for one in (*resampler.push(frame), *resampler.flush())
    ]
    return np.concatenate(made)


def between_silences(samples: Samples, seed: int) -> Samples:
    """Put a line between silences with the faint noise of a microphone."""
    chance = np.random.default_rng(seed)
    parts = (np.zeros(RATE * 3 // 10, np.int16), samples, np.zeros(RATE * 6 // 10, np.int16))
    whole = np.concatenate(parts)
    return _clipped(whole + chance.normal(0, 3, len(whole)))


def telephone(samples: Samples, seed: int) -> Samples:
    """Send sound through a telephone line: 8,000 samples per second, mu-law."""
    narrow = resampled(samples, RATE, 8_000) / 32_768
    law = np.sign(narrow) * np.log1p(255 * np.abs(narrow)) / np.log1p(255)
    coarse = np.round(law * 127) / 127
    heard = np.sign(coarse) * (256 ** np.abs(coarse) - 1) / 255
    return resampled(_clipped(heard * 32_767), 8_000, RATE)


def noise(decibels: float) -> Callable[[Samples, int], Samples]:
    """Return what adds white noise to sound that is so much louder than it."""

    def noisy(samples: Samples, seed: int) -> Samples:
        chance = np.random.default_rng(seed)
        loudness = np.sqrt(np.mean(samples.astype(float) ** 2))
        hiss = chance.normal(0, loudness / 10 ** (decibels / 20), len(samples))
        return _clipped(samples + hiss)

    return noisy


LINES: Mapping[str, Callable[[Samples, int], Samples]] = {
    "clean": lambda samples, seed: samples,
    "8 kHz mu-law": telephone,
    "noise, 20 dB": noise(20),
    "noise, 10 dB": noise(10),
}
"""The ways of a sound to the recogniser, by name."""


def _clipped(samples: npt.NDArray[np.floating]) -> Samples:
    clipped: Samples = np.clip(samples, -32_768, 32_767).astype(np.int16)
    return clipped
