"""The audio of a spoken call, in and out: noise suppression, the push-to-talk gate, recording."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from livekit import rtc
from livekit.agents.utils import aio
from livekit.agents.utils.audio import silence_frame
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities

_PIECE_S = 0.01
"""The length of the pieces that the audio processing module takes, in seconds."""

_TURN_SILENCE_S = 0.8
"""The silence that follows a turn's audio, in seconds: longer than the silence after which voice
activity detection and speech-to-text end an utterance. It is sent at once."""

_SILENT_FRAME_S = 0.05


class NoiseSuppressor(rtc.FrameProcessor[rtc.AudioFrame]):
    """Suppresses steady noise and rumble with WebRTC's audio processing module."""

    def __init__(self) -> None:
        self._enabled = True
        self._module = rtc.AudioProcessingModule(noise_suppression=True, high_pass_filter=True)

    @property
    def enabled(self) -> bool:
        """Whether frames are processed."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = value

    def _process(self, frame: rtc.AudioFrame) -> rtc.AudioFrame:
        """Return a frame without its noise; a remainder shorter than 10 ms stays as it is."""
        size = round(frame.sample_rate * _PIECE_S)
        step = size * frame.num_channels * 2  # bytes of 16 bits
        data = bytearray(frame.data.cast("B"))
        for start in range(0, len(data) - step + 1, step):
            piece = rtc.AudioFrame(
                data[start : start + step], frame.sample_rate, frame.num_channels, size
            )
            self._module.process_stream(piece)
            data[start : start + step] = piece.data.cast("B")
        return rtc.AudioFrame(
            data,
            frame.sample_rate,
            frame.num_channels,
            frame.samples_per_channel,
            userdata=frame.userdata,
        )

    def _close(self) -> None:
        """Nothing to close: the module is freed with this object."""


class GatedInput(AudioInput):
    """An audio input that passes frames on only while it is open.

    Args:
        source: The microphone.
        spawn: Runs the task that reads the source; its owner cancels it.
        is_open: Whether it is open at first.
        tap: Called with every frame that is passed on.
    """

    def __init__(
        self,
        source: AudioInput,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        *,
        is_open: bool,
        tap: Callable[[rtc.AudioFrame], None] = lambda frame: None,
    ) -> None:
        super().__init__(label="push-to-talk", source=source)
        self.frames = 0
        """How many frames the source has produced."""
        self._microphone = source
        self._spawn = spawn
        self._open = is_open
        self._tap = tap
        self._last: rtc.AudioFrame | None = None
        """The last frame that was passed on since it was opened."""
        self._passed = aio.Chan[rtc.AudioFrame]()
        self._reading = False

    async def __anext__(self) -> rtc.AudioFrame:
        """Return the next frame that is passed on."""
        if not self._reading:
            self._reading = True
            self._spawn(self._read())
        return await self._passed.__anext__()

    def open(self) -> None:
        """Pass frames on."""
        self._open = True

    def close(self) -> None:
        """Pass no more frames on, except a silence that ends the utterance under way."""
        self._open = False
        last, self._last = self._last, None
        if last is not None and not self._passed.closed:
            for _ in range(round(_TURN_SILENCE_S / _SILENT_FRAME_S)):
                frame = silence_frame(_SILENT_FRAME_S, last.sample_rate, last.num_channels)
                self._passed.send_nowait(frame)

    async def _read(self) -> None:
        try:
            async for frame in self._microphone:
                self.frames += 1
                if self._open:
                    self._last = frame
                    self._tap(frame)
                    self._passed.send_nowait(frame)
        finally:
            self._passed.close()


class AudioTap(Protocol):
    """Receives the audio of a call. No method may block or raise.

    livekit-agents 1.8.9 can record a session itself, card numbers included, so it is not asked to.
    """

    def user_audio(self, frame: rtc.AudioFrame) -> None:
        """Audio of the user has arrived; with push-to-talk only within a turn."""

    def agent_speaks(self) -> None:
        """An agent's audio is about to be played."""

    def agent_played(self, frames: list[rtc.AudioFrame], *, ago_s: float) -> None:
        """A piece of an agent's audio was played; it began ``ago_s`` seconds ago."""

    def agent_stopped(self) -> None:
        """An agent's audio has ended, or was interrupted."""

    def understood(self, words: str, *, secret: bool) -> None:
        """The user's audio so far was transcribed; ``secret`` if its words were redacted."""

    def forget(self) -> None:
        """The user's audio so far was not understood, or is to be forgotten."""


class OutputWrapper(AudioOutput):
    """An audio output that passes everything on to another.

    Args:
        output: Plays the audio.
        label: The wrapper's name in livekit's logs.
    """

    def __init__(self, output: AudioOutput, *, label: str) -> None:
        super().__init__(
            label=label,
            capabilities=AudioOutputCapabilities(pause=True),
            next_in_chain=output,
        )
        self._output = self.next_in_chain or output  # livekit-agents 1.8.9 puts a proxy between

    @property
    def sample_rate(self) -> int | None:
        """The sample rate of the output."""
        return self._output.sample_rate

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Pass a frame on."""
        await super().capture_frame(frame)
        await self._output.capture_frame(frame)

    def flush(self) -> None:
        """Mark the segment as complete."""
        super().flush()
        self._output.flush()

    def clear_buffer(self) -> None:
        """Stop playing."""
        self._output.clear_buffer()


class TappedOutput(OutputWrapper):
    """An audio output that reports what was played of it.

    Args:
        output: Plays the audio.
        tap: Receives what was played.
    """

    def __init__(self, output: AudioOutput, tap: AudioTap) -> None:
        super().__init__(output, label="recording")
        self._tap = tap
        self._frames: list[rtc.AudioFrame] = []
        """The audio of the present segment, in pieces."""
        self._reported = False

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Pass a frame on."""
        await super().capture_frame(frame)
        if not self._frames:
            self._tap.agent_speaks()
        self._frames.append(frame)

    def on_playback_progressed(self, *, started_at: float, offset: float, duration: float) -> None:
        """Report a stretch that was played."""
        super().on_playback_progressed(started_at=started_at, offset=offset, duration=duration)
        self._reported = True
        self._report(offset, duration, ago_s=time.time() - started_at)

    def on_playback_finished(
        self,
        *,
        playback_position: float,
        interrupted: bool,
        synchronized_transcript: str | None = None,
    ) -> None:
        """Report the end of a segment, all of it if the output reports no stretches."""
        super().on_playback_finished(
            playback_position=playback_position,
            interrupted=interrupted,
            synchronized_transcript=synchronized_transcript,
        )
        if not self._reported:
            self._report(0.0, playback_position, ago_s=playback_position)
        self._frames, self._reported = [], False
        self._tap.agent_stopped()

    def _report(self, offset: float, duration: float, *, ago_s: float) -> None:
        played: list[rtc.AudioFrame] = []
        at = 0.0
        for frame in self._frames:
            end = at + frame.duration
            if at < offset + duration and end > offset:
                played.append(_part(frame, offset - at, offset + duration - at))
            at = end
        if played:
            self._tap.agent_played(played, ago_s=ago_s)


def _part(frame: rtc.AudioFrame, start_s: float, end_s: float) -> rtc.AudioFrame:
    """Return the part of a frame between two moments, which may lie outside of it."""
    count = frame.samples_per_channel
    first = min(max(round(start_s * frame.sample_rate), 0), count)
    last = min(max(round(end_s * frame.sample_rate), first), count)
    size = 2 * frame.num_channels
    data = frame.data.cast("B")[first * size : last * size]
    return rtc.AudioFrame(bytes(data), frame.sample_rate, frame.num_channels, last - first)
