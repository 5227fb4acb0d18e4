"""A loudspeaker for tests without a room: it takes time to play, and can be cut short and held."""

import asyncio
import time

from livekit import rtc
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities


class Loudspeaker(AudioOutput):
    """Plays what it is given, at once or for as long as the test wants.

    Args:
        waits: Whether each sound goes on until the test says ``heard``; it can change at any time.
    """

    def __init__(self, *, waits: bool = False) -> None:
        super().__init__(
            label="loudspeaker",
            capabilities=AudioOutputCapabilities(pause=True),
            sample_rate=None,
        )
        self.waits = waits
        self.played_s = 0.0
        """How much sound has been played to its end in all, in seconds."""
        self.playing = False
        """Whether a sound is under way, heard or held."""
        self.held = False
        self._given_s = 0.0
        self._all_given = False
        self._at_once = False
        self._player: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Take in the next piece of a sound."""
        await super().capture_frame(frame)
        self._given_s += frame.duration
        if self._player is None:
            self.playing, self._all_given, self._at_once = True, False, False
            self._player = asyncio.create_task(self._play())
            self.on_playback_started(created_at=time.time())

    def flush(self) -> None:
        """Take note that the sound is whole."""
        super().flush()
        self._all_given = True
        self._news.set()

    def clear_buffer(self) -> None:
        """Stop at once."""
        if self._player is not None:
            self._player.cancel()
            self._finish(0.0, interrupted=True)

    def heard(self) -> None:
        """Have the sound that is under way played to its end, as soon as all of it has been given."""
        self._at_once = True
        self._news.set()

    def pause(self) -> None:
        """Hold the sound."""
        self.held = True

    def resume(self) -> None:
        """Go on."""
        self.held = False
        self._news.set()

    async def _play(self) -> None:
        while self.held or not self._all_given or (self.waits and not self._at_once):
            self._news.clear()
            await self._news.wait()
        self.played_s += self._given_s
        self._finish(self._given_s, interrupted=False)

    def _finish(self, position_s: float, *, interrupted: bool) -> None:
        self._player, self.playing, self._given_s = None, False, 0.0
        self.on_playback_finished(playback_position=position_s, interrupted=interrupted)


class Microphone(AudioInput):
    """A microphone that nobody speaks into: what is heard is told to the speech-to-text model."""

    def __init__(self) -> None:
        super().__init__(label="microphone")

    async def __anext__(self) -> rtc.AudioFrame:
        """Wait for a sound that never comes."""
        await asyncio.Event().wait()
        raise StopAsyncIteration
