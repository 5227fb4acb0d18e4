"""Speech for tests, from the programs that need no key: a guest's voice as samples, and as a WAV file."""

import shutil
import subprocess
import wave
from array import array
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from livekit import rtc

from tests.missing import missing

RATE = 16_000


def speech_program(name: str = "flite") -> str:
    """Find flite or espeak-ng; without it the test is skipped, and with ``CI=true`` it fails."""
    if program := shutil.which(name):
        return program
    missing(f"there is no {name} here: apt install {name}")


@cache
def spoken(text: str, voice: str = "slt") -> bytes:
    """Return what a voice of flite says: 16 bit samples at ``RATE``."""
    done = subprocess.run(
        [speech_program(), "-voice", voice, "-t", text, "-o", "/dev/stdout"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout[44:]


@cache
def spoken_in(language: str, text: str) -> bytes:
    """Return what espeak-ng says in a language: 16 bit samples at ``RATE``."""
    command = [speech_program("espeak-ng"), "-v", language, "--stdout", text]
    sound = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    rate, samples = int.from_bytes(sound[24:28], "little"), sound[44:]
    resampler = rtc.AudioResampler(rate, RATE)
    frame = rtc.AudioFrame(samples, rate, 1, len(samples) // 2)
    return b"".join(bytes(one.data) for one in (*resampler.push(frame), *resampler.flush()))


def silence(seconds: float) -> bytes:
    """Return silence."""
    return bytes(2 * int(RATE * seconds))


def pieces(samples: bytes, seconds: float = 0.2) -> Iterable[bytes]:
    """Divide samples into pieces."""
    size = 2 * int(RATE * seconds)
    return (samples[at : at + size] for at in range(0, len(samples), size))


def wav(file: Path, samples: bytes, *, rate: int = RATE, channels: int = 1, width: int = 2) -> Path:
    """Write a WAV file."""
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(rate)
        sound.writeframes(samples)
    return file


def loudest(samples: bytes) -> int:
    """Return the loudest sample."""
    return max(map(abs, array("h", samples)), default=0)
