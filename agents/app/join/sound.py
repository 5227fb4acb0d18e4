"""A user's microphone and loudspeaker in a room: WAV files, or those of this machine."""

import asyncio
import wave
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from livekit import rtc

from agents.app.faults import InputError

RATE = 48_000
"""The samples per second of a microphone's track."""

RECORDED_RATE = 24_000
"""The samples per second of a recording."""

BETWEEN_S = 0.8
"""How much silence divides two utterances in a file, in seconds; a pause within one is shorter."""

_FRAME_S = 0.02
_EDGE_S = 0.2
"""How much of the silence around an utterance is kept, in seconds."""

_QUIET = 100.0
"""The RMS level below which audio is silence, of 32,768."""

_QUIET_SHARE = 0.05
"""The share of the file's highest level below which audio is silence, for files with noise."""

_LONGEST_S = 3_600


@dataclass(frozen=True, slots=True)
class Utterance:
    """A part of a user's speech without a long pause.

    Args:
        samples: 16 bit samples, one channel, at ``RATE``.
    """

    samples: bytes

    @property
    def seconds(self) -> float:
        """Its length, in seconds."""
        return len(self.samples) / 2 / RATE


def read_utterances(file: Path) -> list[Utterance]:
    """Read a WAV file and split it into utterances at silences.

    Raises:
        InputError: The file cannot be read, is not a WAV file, or is silent.
    """
    samples = _read(file)
    if not samples:
        raise InputError([f"{file}: holds no audio"])
    step = int(RATE * _FRAME_S)
    loudness = [_loudness(samples[at : at + step]) for at in range(0, len(samples), step)]
    threshold = max(_QUIET, _QUIET_SHARE * max(loudness))
    loud = [at for at, level in enumerate(loudness) if level > threshold]
    if not loud:
        raise InputError([f"{file}: is silent: record speech in it"])
    found: list[tuple[int, int]] = []
    for at in loud:
        if found and (at - found[-1][1]) * _FRAME_S <= BETWEEN_S:
            found[-1] = found[-1][0], at
        else:
            found.append((at, at))
    edge = int(_EDGE_S / _FRAME_S)
    return [
        Utterance(samples[max(0, first - edge) * step : (last + 1 + edge) * step].tobytes())
        for first, last in found
    ]


def _read(file: Path) -> "array[int]":
    try:
        with wave.open(str(file), "rb") as sound:
            channels, width, rate = (
                sound.getnchannels(),
                sound.getsampwidth(),
                sound.getframerate(),
            )
            data = sound.readframes(min(sound.getnframes(), _LONGEST_S * rate))
    except OSError as error:
        raise InputError([f"{file}: cannot be read: {error.strerror}"]) from None
    except (wave.Error, EOFError) as error:
        raise InputError(
            [f"{file}: is no WAV file of uncompressed samples (PCM): {error or 'it ends early'}"]
        ) from None
    if not 4_000 <= rate <= 192_000:
        raise InputError([f"{file}: {rate} samples per second: 4,000 to 192,000 are possible"])
    return _resampled(_mono(data, channels, width), rate)


def _mono(data: bytes, channels: int, width: int) -> "array[int]":
    if width == 1:  # unsigned samples
        samples = array("h", ((value - 128) << 8 for value in data))
    else:  # the upper 16 of 24 or 32 bits
        kept = bytearray(len(data) // width * 2)
        kept[0::2], kept[1::2] = data[width - 2 :: width], data[width - 1 :: width]
        samples = array("h", bytes(kept))
    if channels == 1:
        return samples
    whole = len(samples) - len(samples) % channels
    return array(
        "h", (sum(samples[at : at + channels]) // channels for at in range(0, whole, channels))
    )


def _resampled(samples: "array[int]", rate: int) -> "array[int]":
    if rate == RATE or not samples:
        return samples
    resampler = rtc.AudioResampler(rate, RATE, quality=rtc.AudioResamplerQuality.HIGH)
    frame = rtc.AudioFrame(samples.tobytes(), rate, 1, len(samples))
    made = array("h")
    for one in (*resampler.push(frame), *resampler.flush()):
        made.frombytes(bytes(one.data))
    return made


def _loudness(samples: Sequence[int]) -> float:
    return sqrt(sum(value * value for value in samples) / len(samples)) if samples else 0.0


class Sound:
    """A user's microphone and loudspeaker in a room.

    Args:
        microphone: A WAV file to say, utterance by utterance; the machine's microphone without it.
        loudspeaker: A WAV file to record the agents into; the machine's loudspeaker without it.

    Raises:
        InputError: A file cannot be used, or the machine's devices cannot.
    """

    def __init__(self, microphone: Path | None, loudspeaker: Path | None) -> None:
        self.utterances: Iterable[Utterance] | None = (
            read_utterances(microphone) if microphone is not None else None
        )
        """The utterances of the file; ``None`` where a person speaks."""
        self.note = ""
        """A hint about the devices for the user."""
        self._recording = _Recording(loudspeaker) if loudspeaker is not None else None
        self._devices = self._open_devices()
        self._source: rtc.AudioSource | None = None
        self._playing: Iterator[rtc.AudioFrame] | None = None
        self._played = asyncio.Event()
        self._heard = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: list[Any] = []

    def _open_devices(self) -> Any:
        if self.utterances is not None and self._recording is not None:
            return None
        try:
            import sounddevice  # noqa: F401
        except (ImportError, OSError) as error:
            message = (
                "sounddevice is not installed (python -m pip install sounddevice)"
                if isinstance(error, ImportError)
                else f"PortAudio is missing (Debian, Ubuntu: apt install libportaudio2): {error}"
            )
            if self.utterances is not None:
                self.note = (
                    f"The agents are not heard here: {message}; or give --loudspeaker FILE.wav"
                )
                return None
            raise InputError(
                [f"--speech: this machine's microphone: {message}; or give --microphone FILE.wav"]
            ) from None
        return rtc.MediaDevices()

    @property
    def hears(self) -> bool:
        """Whether an agent's audio track was received."""
        return self._heard.is_set()

    async def open(self, room: rtc.Room) -> None:
        """Publish the microphone, and listen to the agents.

        Args:
            room: The room, joined.
        """
        room.on("track_subscribed", self._subscribed)
        for one in room.remote_participants.values():
            for publication in one.track_publications.values():
                if publication.track is not None:
                    self._subscribed(publication.track, publication, one)
        if self.utterances is None:
            captured = self._devices.open_input()
            self._closing.append(captured)
            source = captured.source
        else:
            self._source = source = rtc.AudioSource(RATE, 1, queue_size_ms=100)
            self._tasks.append(asyncio.create_task(self._speak(source)))
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await room.local_participant.publish_track(track, options)

    async def say(self, utterance: Utterance) -> None:
        """Say an utterance to its end."""
        self._played.clear()
        self._playing = _frames(utterance.samples)
        await self._played.wait()

    async def aclose(self) -> None:
        """Close all devices, and complete the recording."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for device in self._closing:
            await device.aclose()
        if self._source is not None:
            await self._source.aclose()
        if self._recording is not None:
            self._recording.close()

    async def _speak(self, source: rtc.AudioSource) -> None:
        """Send the utterances, and silence between them as a microphone does."""
        quiet = next(_frames(bytes(2 * int(RATE * _FRAME_S))))
        while True:
            frame = next(self._playing, None) if self._playing is not None else None
            if frame is None and self._playing is not None:
                self._playing = None
                self._played.set()
            await source.capture_frame(frame or quiet)

    def _subscribed(
        self,
        track: rtc.Track,
        publication: rtc.RemoteTrackPublication,
        participant: rtc.RemoteParticipant,
    ) -> None:
        agent = participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
        if agent and isinstance(track, rtc.RemoteAudioTrack):
            self._heard.set()
            if self._recording is not None:
                self._tasks.append(asyncio.create_task(self._record(track, self._recording)))
            elif self._devices is not None:
                self._tasks.append(asyncio.create_task(self._play(track)))

    async def _record(self, track: rtc.RemoteAudioTrack, recording: "_Recording") -> None:
        stream = rtc.AudioStream(track, sample_rate=RECORDED_RATE, num_channels=1)
        try:
            async for event in stream:
                recording.write(bytes(event.frame.data))
        finally:
            await stream.aclose()

    async def _play(self, track: rtc.RemoteAudioTrack) -> None:
        player = self._devices.open_output()
        self._closing.append(player)
        await player.add_track(track)
        await player.start()


class _Recording:
    """A WAV file with the agents' audio."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._opened = file.open("wb")
            self._sound = wave.open(self._opened, "wb")
            self._sound.setparams((1, 2, RECORDED_RATE, 0, "NONE", "not compressed"))
            self._sound.writeframes(b"")
        except OSError as error:
            raise InputError([f"{file}: cannot be written: {error.strerror}"]) from None
        self.fault: OSError | None = None
        """Why it can no longer be written."""

    def write(self, samples: bytes) -> None:
        if self.fault is None:
            try:
                self._sound.writeframesraw(samples)
            except OSError as error:  # the disk is full: the conversation goes on
                self.fault = error

    def close(self) -> None:
        with suppress(OSError):
            self._sound.close()
        with suppress(OSError):
            self._opened.close()


def _frames(samples: bytes) -> Iterator[rtc.AudioFrame]:
    size = 2 * int(RATE * _FRAME_S)
    for at in range(0, len(samples), size):
        piece = samples[at : at + size].ljust(size, b"\0")
        yield rtc.AudioFrame(piece, RATE, 1, size // 2)
