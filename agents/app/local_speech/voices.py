"""The speech synthesizers: libespeak-ng, as a library, and flite, as a subprocess."""

import asyncio
import ctypes
import ctypes.util
import re
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ESPEAK, FLITE = "espeak-ng", "flite"

INSTALL = "install espeak-ng (Debian, Ubuntu: apt install espeak-ng; macOS: brew install espeak-ng)"
"""The advice where neither program is installed."""

_LIMIT_S = 20.0
"""How long flite may take for one sentence, in seconds."""

_WAV_HEADER = 44


class VoiceFault(Exception):
    """A text cannot be spoken, or a voice does not exist; the message says which."""


@dataclass(frozen=True, slots=True)
class Synthesized:
    """A text as sound.

    Args:
        sound: 16 bit samples, one channel.
        words: The position in the text and the time, in seconds, at which each word begins; empty if
            the program does not report them.
    """

    sound: bytes
    words: tuple[tuple[int, float], ...] = ()


class Espeak:
    """libespeak-ng. It has one global state, so all its calls are made in one thread.

    Args:
        voice: Such as ``en-us``, ``en-gb`` or, with a variant, ``en-us+f3``.

    Raises:
        VoiceFault: The library is not installed, or there is no such voice.
    """

    usual_voice = "en-us"

    def __init__(self, voice: str | None = None) -> None:
        self._voice = voice or self.usual_voice
        self.rate = _library().rate
        _library().check(self._voice)

    async def speak(self, text: str) -> Synthesized:
        """Speak a text; stops soon after it is cancelled.

        Raises:
            VoiceFault: It cannot be spoken.
        """
        stopped = threading.Event()
        library = _library()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                library.thread, lambda: library.speak(text, self._voice, stopped)
            )
        finally:
            stopped.set()


class Flite:
    """The program flite. It returns no audio before the whole text is spoken, and no word times.

    Args:
        voice: One of those that ``flite -lv`` lists: ``slt``, ``rms``, ``awb``, ``kal16``.

    Raises:
        VoiceFault: The program is not installed, or there is no such voice.
    """

    usual_voice = "slt"
    rate = 16_000

    def __init__(self, voice: str | None = None) -> None:
        program = shutil.which("flite")
        if program is None:
            raise VoiceFault("flite is not installed")
        self._program = program
        self._voice = voice or self.usual_voice
        known = _flite_voices(program)
        if self._voice not in known:
            raise VoiceFault(f'flite has no voice "{self._voice}": it has {", ".join(known)}')

    async def speak(self, text: str) -> Synthesized:
        """Speak a text; the program is killed when it is cancelled.

        Raises:
            VoiceFault: It cannot be spoken.
        """
        # Other users of the machine can read a command line, but not files in this folder. Only into
        # a file does flite write a text of several utterances.
        with TemporaryDirectory(prefix="flite-") as folder:
            given, made = Path(folder, "text"), Path(folder, "sound.wav")
            _write(given, text)
            await self._run("-f", str(given), "-o", str(made))
            sound = _read(made)
        if len(sound) < _WAV_HEADER:
            raise VoiceFault("flite returned no audio")
        return Synthesized(sound[_WAV_HEADER:])

    async def _run(self, *arguments: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *(self._program, "-voice", self._voice, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(_LIMIT_S):
                await process.wait()
        except TimeoutError:
            raise VoiceFault(f"flite took more than {_LIMIT_S:g} seconds") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise VoiceFault(f"flite ended with code {process.returncode}")


Voice = Espeak | Flite


def find_voice(program: str | None = None, voice: str | None = None) -> Voice:
    """Return a voice of the program that is named, or of one that is installed.

    Raises:
        VoiceFault: No program is installed, or it has no such voice; the message has the remedy.
    """
    if program == FLITE:
        return Flite(voice)
    if program == ESPEAK:
        return Espeak(voice)
    if program is not None:
        raise VoiceFault(f'there is no program "{program}": use {ESPEAK} or {FLITE}')
    if has_espeak():
        return Espeak(voice)
    if shutil.which("flite"):
        return Flite(voice)
    raise VoiceFault(f"neither espeak-ng nor flite is installed: {INSTALL}")


def has_espeak() -> bool:
    """Whether libespeak-ng is installed."""
    return _library_name() is not None


@cache
def _flite_voices(program: str) -> tuple[str, ...]:
    import subprocess

    try:
        listing = subprocess.run(
            [program, "-lv"], capture_output=True, text=True, timeout=_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(listing.stdout.partition(":")[2].split())


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _without_controls(text: str) -> str:
    """Replace control characters and lone surrogates by spaces: NUL would end the text in C."""
    return _CONTROLS.sub(" ", text)


def _write(file: Path, text: str) -> None:
    file.write_text(_without_controls(text), encoding="utf-8")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


# -- amounts of money --------------------------------------------------------------------------------

_AMOUNT = re.compile(r"([$€£])\s?(\d+(?:,\d{3})*)(?:\.(\d\d))?(?!\d)")
_CENTS = ("cent", "cents")
_UNITS = {
    "$": (("dollar", "dollars"), _CENTS),
    "€": (("euro", "euros"), _CENTS),
    "£": (("pound", "pounds"), ("penny", "pence")),
}


def sayable(text: str) -> tuple[str, Callable[[int], int]]:
    """Return a text with its amounts of money in words, and a function that maps positions to the original.

    >>> sayable("The total is $28.47.")[0]
    'The total is 28 dollars and 47 cents.'
    """
    made: list[str] = []
    places: list[tuple[int, int, bool]] = []
    at = length = 0
    for amount in _AMOUNT.finditer(text):
        whole, part = _UNITS[amount[1]]
        count = int(amount[3] or 0)
        units = [_counted(amount[2], whole)] if amount[2].strip("0") or not count else []
        words = " and ".join([*units, _counted(str(count), part)] if count else units)
        before = text[at : amount.start()]
        places += [(length, at, False), (length + len(before), amount.start(), True)]
        made += [before, words]
        length += len(before) + len(words)
        at = amount.end()
    places.append((length, at, False))
    made.append(text[at:])

    def original(place: int) -> int:
        begin, there, whole = next(one for one in reversed(places) if one[0] <= place)
        return there if whole else there + place - begin

    return "".join(made), original


def _counted(number: str, unit: tuple[str, str]) -> str:
    return f"{number} {unit[number != '1']}"


# -- libespeak-ng ------------------------------------------------------------------------------------

_SYNCHRONOUS, _BUFFER_MS = 2, 50
_UTF8 = 1
_CHARACTERS = 1
_WORD = 1
_LIST_ENDS = 0
_OK, _GO_ON, _STOP = 0, 0, 1


class _Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("text", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Id),
    ]


class _Wanted(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_char_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class _Library:
    """The loaded library; its methods are called in its thread only."""

    def __init__(self, name: str) -> None:
        self.thread = ThreadPoolExecutor(1, "espeak-ng")
        self._lock = threading.Lock()
        self._library: Any = ctypes.CDLL(name)
        self.rate = int(self._library.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, None, 0))
        if self.rate <= 0:
            raise VoiceFault(f"libespeak-ng does not start: {INSTALL}")
        self._callback = _Callback(self._on_samples)  # kept alive: the library has only its address
        self._library.espeak_SetSynthCallback(self._callback)
        self._sound = bytearray()
        self._words: list[tuple[int, float]] = []
        self._stopped = threading.Event()

    def check(self, voice: str) -> None:
        with self._lock:
            self._set(voice)

    def _set(self, voice: str) -> None:
        if self._library.espeak_SetVoiceByName(voice.encode()) == _OK:
            return
        wanted = _Wanted(languages=voice.encode())  # some are named by their language only
        if self._library.espeak_SetVoiceByProperties(ctypes.byref(wanted)) != _OK:
            raise VoiceFault(f'espeak-ng has no voice "{voice}": espeak-ng --voices=en lists them')

    def speak(self, text: str, voice: str, stopped: threading.Event) -> Synthesized:
        with self._lock:
            self._sound, self._words, self._stopped = bytearray(), [], stopped
            if stopped.is_set():
                return Synthesized(b"")
            self._set(voice)
            encoded = _without_controls(text).encode("utf-8") + b"\0"
            wrong = self._library.espeak_Synth(
                encoded, ctypes.c_size_t(len(encoded)), 0, _CHARACTERS, 0, _UTF8, None, None
            )
            if wrong != _OK:
                raise VoiceFault(f"espeak-ng failed with code {wrong}")
            return Synthesized(bytes(self._sound), tuple(self._words))

    def _on_samples(self, samples: Any, count: int, events: Any) -> int:
        if self._stopped.is_set():
            return _STOP
        if samples and count > 0:
            self._sound += ctypes.string_at(samples, 2 * count)
        at = 0
        while events[at].type != _LIST_ENDS:
            event = events[at]
            if event.type == _WORD and event.length > 0:  # one without letters is a pause
                self._words.append((event.text_position - 1, event.audio_position / 1000))
            at += 1
        return _GO_ON


@cache
def _library_name() -> str | None:
    return ctypes.util.find_library("espeak-ng")


@cache
def _library() -> _Library:
    name = _library_name()
    if name is None:
        raise VoiceFault(f"libespeak-ng is not installed: {INSTALL}")
    return _Library(name)
