"""The audio of a spoken call: noise suppression, the push-to-talk gate, recording, replies spoken aloud.

livekit-agents 1.8.9 stops a reply whose speech fails, its tools included, and shows nothing of it.
Here the text is shown.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from livekit import agents as livekit_agents
from livekit import rtc
from livekit.agents import ModelSettings
from livekit.agents.tts import TTS
from livekit.agents.utils import aio
from livekit.agents.utils.audio import silence_frame
from livekit.agents.voice import SpeechHandle
from livekit.agents.voice.io import (
    AudioInput,
    AudioOutput,
    AudioOutputCapabilities,
    PlaybackFinishedEvent,
)

from agents.handoff.call_base import AnyCall
from agents.handoff.livekit_workarounds import current_speech
from agents.handoff.replies import Replies

logger = logging.getLogger(__name__)

_PIECE_S = 0.01
"""The length of the pieces that the audio processing module takes, in seconds."""

_TURN_SILENCE_S = 0.8
"""The silence that follows a turn's audio, in seconds: longer than the silence after which voice
activity detection and speech-to-text end an utterance. It is sent at once."""

_SILENT_FRAME_S = 0.05

AUDIO_TIMEOUT_S = 6.0
"""How long a model may return no audio for complete text before it has failed, in seconds."""

RETRY_AFTER_S = 30.0
"""How long a failed model is not retried, in seconds; until then text is shown at once."""

_SILENCE_S = 0.02
"""The length of the silence that is played for text without audio, in seconds."""


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


@dataclass(slots=True)
class _Synthesis:
    """The text of a reply, and the length of its audio so far; ``whole`` once it has all of it."""

    voice: TTS[Any] | None
    text: str = ""
    seconds: float = 0.0
    whole: bool = False


class SpeechOutput:
    """The speech of one call's agents, and whether it works."""

    def __init__(self, call: AnyCall, replies: Replies) -> None:
        self._call, self._replies = call, replies
        self.lost: Callable[[], None] | None = None
        """Called when speech input or output has failed and the user cannot read text."""
        self._suspended_until: float | None = None
        self._may_retry = False
        self._syntheses: WeakKeyDictionary[SpeechHandle, _Synthesis] = WeakKeyDictionary()
        self._pace: WeakKeyDictionary[TTS[Any], float] = WeakKeyDictionary()
        """How many characters a second each voice has spoken in its last reply."""

    def on_lost(self, callback: Callable[[], None]) -> None:
        """Call a function when speech has failed, instead of showing what cannot be said."""
        self.lost = callback

    async def speak(
        self, agent: livekit_agents.Agent, text: AsyncIterable[str], settings: ModelSettings
    ) -> AsyncIterator[rtc.AudioFrame]:
        """Speak a text, or play a short silence in its place.

        The silence must not be empty: livekit-agents 1.8.9 shows only what was played, and a reply
        without audio was not.
        """
        synthesis = _Synthesis(self._voice(agent))
        if (speech := current_speech()) is not None:
            self._syntheses[speech] = synthesis
        if self._suspended_until is None or _now() >= self._suspended_until:
            try:
                async for frame in _frames(agent, _noted(text, synthesis), settings):
                    self._suspended_until = None
                    self._may_retry = True
                    synthesis.seconds += frame.duration
                    yield frame
            except Exception as error:  # the text is shown instead
                logger.error(
                    "text-to-speech failed: %s", type(error).__name__, extra={"agent": agent.id}
                )
                self._failed()
            else:
                synthesis.whole = True
                if synthesis.voice is not None and synthesis.seconds:
                    self._pace[synthesis.voice] = len(synthesis.text) / synthesis.seconds
                return
        async for _ in text:  # consume all of it, so that the silence ends after the text
            pass
        yield self._silence(agent)

    def playback_finished(self, event: PlaybackFinishedEvent) -> None:
        """Correct the transcript of an interrupted reply to the words that were played.

        livekit-agents 1.8.9 assumes 3.83 syllables a second until the audio is complete, and counts
        a word at its end: much of what a faster voice has said would be in no history, and words in
        it that a slower one has not said. Until the audio is complete the voice is taken to be as
        fast as in its last reply; in its first one livekit's estimate stays.
        """
        speech = self._call.session.current_speech
        synthesis = None if speech is None else self._syntheses.get(speech)
        if not event.interrupted or event.synchronized_transcript is None or synthesis is None:
            return
        length_s = synthesis.seconds
        if not synthesis.whole:
            pace = None if synthesis.voice is None else self._pace.get(synthesis.voice)
            length_s = len(synthesis.text) / pace if pace else 0.0
        if length_s:
            share = event.playback_position / length_s
            event.synchronized_transcript = played_words(synthesis.text, share)

    def _voice(self, agent: livekit_agents.Agent) -> TTS[Any] | None:
        voice = agent.tts if isinstance(agent.tts, TTS) else self._call.session.tts
        return voice if isinstance(voice, TTS) else None

    def _failed(self) -> None:
        policy = self._call.policy
        if self.lost is None:
            first, self._suspended_until = self._suspended_until is None, _now() + RETRY_AFTER_S
            if first:
                self._replies.speak(policy.cannot_speak)
        elif self._may_retry:
            self._may_retry = False
            self._replies.speak(policy.trouble)
        else:  # it has failed twice in a row, or has never worked
            self.lost()

    def _silence(self, agent: livekit_agents.Agent) -> rtc.AudioFrame:
        voice = self._voice(agent)
        rate = 24_000 if voice is None else voice.sample_rate
        return rtc.AudioFrame.create(rate, 1, int(rate * _SILENCE_S))


def played_words(text: str, share: float) -> str:
    """Return the whole words of a text of which a share was played, 1 for all of it.

    >>> [played_words("Good evening, Ada.", share) for share in (0.1, 0.5, 0.75, 1.0)]
    ['', 'Good', 'Good evening,', 'Good evening, Ada.']
    """
    end = round(len(text) * min(share, 1.0))
    if end < len(text) and not text[end].isspace():
        end = max(at + 1 for at in range(-1, end) if at < 0 or text[at].isspace())
    return text[:end].rstrip()


async def _noted(text: AsyncIterable[str], synthesis: _Synthesis) -> AsyncIterator[str]:
    async for piece in text:
        synthesis.text += piece
        yield piece


async def _frames(
    agent: livekit_agents.Agent, text: AsyncIterable[str], settings: ModelSettings
) -> AsyncIterator[rtc.AudioFrame]:
    """Yield the model's audio; time out if it returns none for the text it was given."""
    timeout: asyncio.Timeout | None = None
    ended = False

    async def given() -> AsyncIterator[str]:
        nonlocal ended
        async for piece in text:
            yield piece
        ended = True
        if timeout is not None and not timeout.expired():
            timeout.reschedule(_now() + AUDIO_TIMEOUT_S)

    frames = livekit_agents.Agent.default.tts_node(agent, given(), settings)
    try:
        while True:
            try:
                async with asyncio.timeout(AUDIO_TIMEOUT_S if ended else None) as timeout:
                    frame = await anext(frames)
            except StopAsyncIteration:
                return
            timeout = None
            yield frame
    finally:
        await frames.aclose()


def _now() -> float:
    return asyncio.get_running_loop().time()
