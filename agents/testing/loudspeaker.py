"""Audio output and input for tests without a room."""

import asyncio
import time
from collections.abc import Callable, Iterable

from livekit import rtc
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities


class Loudspeaker(AudioOutput):
    """An audio output that plays at once, or for as long as the test wants.

    Args:
        waits: Whether each sound plays until the test calls ``heard``; it can change at any time.
    """

    def __init__(self, *, waits: bool = False) -> None:
        super().__init__(
            label="loudspeaker",
            capabilities=AudioOutputCapabilities(pause=True),
            sample_rate=None,
        )
        self.waits = waits
        self.played_s = 0.0
        """The total length of the sound played to its end, in seconds."""
        self.playing = False
        """Whether a sound is playing or paused."""
        self.held = False
        self._length_s = 0.0
        self._complete = False
        self._play_now = False
        self._player: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when a sound begins, is complete, is paused, goes on or ends.

        Returns a function that unsubscribes it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Add the next frame of a sound."""
        await super().capture_frame(frame)
        self._length_s += frame.duration
        if self._player is None:
            self.playing, self._complete, self._play_now = True, False, False
            self._player = asyncio.create_task(self._play())
            self._tell()
            self.on_playback_started(created_at=time.time())

    def flush(self) -> None:
        """Mark the sound as complete."""
        super().flush()
        self._complete = True
        self._tell()

    def clear_buffer(self) -> None:
        """Stop at once."""
        if self._player is not None:
            self._player.cancel()
            self._finish(0.0, interrupted=True)

    def heard(self) -> None:
        """Play the current sound to its end as soon as it is complete."""
        self._play_now = True
        self._changed.set()

    def pause(self) -> None:
        """Pause the sound."""
        self.held = True
        self._tell()

    def resume(self) -> None:
        """Resume the sound."""
        self.held = False
        self._tell()

    async def _play(self) -> None:
        while self.held or not self._complete or (self.waits and not self._play_now):
            self._changed.clear()
            await self._changed.wait()
        self.played_s += self._length_s
        self._finish(self._length_s, interrupted=False)

    def _finish(self, position_s: float, *, interrupted: bool) -> None:
        self._player, self.playing, self._length_s = None, False, 0.0
        self._tell()
        self.on_playback_finished(playback_position=position_s, interrupted=interrupted)

    def _tell(self) -> None:
        self._changed.set()
        for listener in tuple(self._listeners):
            listener()


class Microphone(AudioInput):
    """An audio input for tests without a room: silent, except for what a test plays into it."""

    def __init__(self) -> None:
        super().__init__(label="microphone")
        self._frames: asyncio.Queue[rtc.AudioFrame] = asyncio.Queue()

    def plays(self, frames: Iterable[rtc.AudioFrame]) -> None:
        """Play frames, all at once."""
        for frame in frames:
            self._frames.put_nowait(frame)

    async def __anext__(self) -> rtc.AudioFrame:
        """Wait for the next frame."""
        return await self._frames.get()
