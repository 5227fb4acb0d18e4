"""A guest of a LiveKit room who speaks in tones and listens: what ``tests.livekit`` has for those who write.

::

    async with livekit.joined(room_name) as guest, speaking(guest.room) as ada:
        await ada.says(0)
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat

from livekit import rtc

from agents.testing.tones import RATE, is_loud, line, silence, tone

QUIET_S = 0.45
"""The silence that ends an utterance for stand-ins that hear a room, in seconds.

A busy machine makes gaps of more than 0.2 s in a room's audio.
"""

STILL_S = 0.08
"""The silence after which speech counts as over, in seconds: more than a frame may be late."""


class Speaking:
    """A participant who speaks and listens.

    Args:
        room: Where; joined.
    """

    def __init__(self, room: rtc.Room) -> None:
        self.room = room
        self.sounds: list[tuple[float, float]] = []
        """When each sound began and ended that was heard, by ``time.monotonic``; the last may go on."""
        self.heard_s = 0.0
        """How much sound was heard in all, in seconds of sound: on a busy machine it comes late, and in pieces."""
        self._source = rtc.AudioSource(RATE, 1, queue_size_ms=100)
        self._lines: asyncio.Queue[Iterator[rtc.AudioFrame]] = asyncio.Queue()
        self._said = asyncio.Event()
        self._silent = asyncio.Event()
        self._work: list[asyncio.Task[None]] = []

    @property
    def hears(self) -> bool:
        """Whether another participant speaks now."""
        return bool(self.sounds) and time.monotonic() - self.sounds[-1][1] < STILL_S

    def what_happened(self) -> str:
        """Return which sounds were heard."""
        return f"heard {self.heard_s:.2f} s of sound: {self.sounds}"

    async def says(self, number: int) -> None:
        """Say a sentence to its end."""
        self._said.clear()
        self._lines.put_nowait(line(number))
        await self._said.wait()

    async def plays(self, samples: bytes, rate: int, *, pause_s: float = 0.7) -> None:
        """Play a recording to its end, and silence after it.

        Args:
            samples: 16 bit samples.
            rate: How many of them a second has.
            pause_s: How much silence, in seconds.
        """
        resampler = rtc.AudioResampler(rate, RATE)
        whole = rtc.AudioFrame(samples, rate, 1, len(samples) // 2)
        frames = [*resampler.push(whole), *resampler.flush()]
        self._said.clear()
        self._lines.put_nowait(iter([*frames, *silence(pause_s)]))
        await self._said.wait()

    def speaks_on(self) -> None:
        """Begin to speak without a pause, until they fall silent or everything is switched off."""
        self._lines.put_nowait(chain.from_iterable(repeat([*tone(400, 1.0)])))

    def falls_silent(self) -> None:
        """Break off what is said, and say nothing that was to follow."""
        while not self._lines.empty():
            self._lines.get_nowait()
        self._silent.set()

    async def begin(self) -> None:
        """Switch the microphone on, and listen to every published track."""
        self.room.on("track_subscribed", self._subscribed)
        for one in self.room.remote_participants.values():
            for publication in one.track_publications.values():
                self._listen_to(publication.track)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", self._source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self.room.local_participant.publish_track(track, options)
        self._work.append(asyncio.create_task(self._speak()))

    async def end(self) -> None:
        """Switch everything off."""
        self.room.off("track_subscribed", self._subscribed)
        for task in self._work:
            task.cancel()
        for task in self._work:
            with suppress(asyncio.CancelledError):
                await task
        await self._source.aclose()

    async def _speak(self) -> None:
        while True:
            if self._lines.empty():
                self._silent.clear()
                for frame in silence(0.02):
                    await self._source.capture_frame(frame)
                continue
            for frame in self._lines.get_nowait():
                if self._silent.is_set():
                    self._silent.clear()
                    break
                await self._source.capture_frame(frame)
            self._said.set()

    def _subscribed(self, track: rtc.RemoteTrack, *_: object) -> None:
        self._listen_to(track)

    def _listen_to(self, track: rtc.RemoteTrack | None) -> None:
        if isinstance(track, rtc.RemoteAudioTrack):
            self._work.append(asyncio.create_task(self._listen(track)))

    async def _listen(self, track: rtc.RemoteAudioTrack) -> None:
        stream = rtc.AudioStream(track, sample_rate=RATE, num_channels=1)
        try:
            async for event in stream:
                if is_loud(event.frame):
                    now = time.monotonic()
                    self.heard_s += event.frame.duration
                    if self.hears:
                        self.sounds[-1] = (self.sounds[-1][0], now)
                    else:
                        self.sounds.append((now, now))
        finally:
            await stream.aclose()


@asynccontextmanager
async def speaking(room: rtc.Room) -> AsyncIterator[Speaking]:
    """Speak and listen in a room for a while."""
    guest = Speaking(room)
    await guest.begin()
    try:
        yield guest
    finally:
        await guest.end()
