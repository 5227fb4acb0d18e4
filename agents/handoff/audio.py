"""The audio of a spoken call: noise suppression, and what a recorder receives."""

import time
from typing import Protocol

from livekit import rtc
from livekit.agents.voice.io import AudioOutput, AudioOutputCapabilities

_PIECE_S = 0.01
"""The length of the pieces that the audio processing module takes, in seconds."""


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
        """Return a frame without its noise; a rest shorter than 10 ms stays as it is."""
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


class AudioTap(Protocol):
    """Receives the audio of a call. No method may block or raise.

    livekit-agents 1.8.9 can record a session itself, card numbers included, so it is not asked to.
    """

    def user_audio(self, frame: rtc.AudioFrame) -> None:
        """Audio of the user has arrived, outside a push-to-talk turn none."""

    def agent_speaks(self) -> None:
        """An agent's audio is about to be played."""

    def agent_played(self, frames: list[rtc.AudioFrame], *, ago_s: float) -> None:
        """A piece of an agent's audio was played; its beginning so many seconds ago."""

    def agent_stopped(self) -> None:
        """An agent's audio has ended, or was interrupted."""

    def understood(self, words: str, *, secret: bool) -> None:
        """The user's audio so far has become words, redacted ones if ``secret``."""

    def forget(self) -> None:
        """The user's audio so far was not understood, or is to be forgotten."""


class TappedOutput(AudioOutput):
    """An audio output that reports what was played of it.

    Args:
        output: Plays the audio.
        tap: Receives what was played.
    """

    def __init__(self, output: AudioOutput, tap: AudioTap) -> None:
        super().__init__(
            label="recording",
            capabilities=AudioOutputCapabilities(pause=True),
            next_in_chain=output,
        )
        self._output = output
        self._tap = tap
        self._frames: list[rtc.AudioFrame] = []
        """The audio of the present segment, in pieces."""
        self._reported = False

    @property
    def sample_rate(self) -> int | None:
        """The sample rate of the output."""
        return self._output.sample_rate

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Pass a frame on."""
        await self._output.capture_frame(frame)
        await super().capture_frame(frame)
        if not self._frames:
            self._tap.agent_speaks()
        self._frames.append(frame)

    def flush(self) -> None:
        """Mark the segment as complete."""
        super().flush()
        self._output.flush()

    def clear_buffer(self) -> None:
        """Stop playing."""
        self._output.clear_buffer()

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
