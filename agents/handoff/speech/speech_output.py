"""The agents' replies, spoken aloud.

livekit-agents 1.8.9 stops a reply whose speech fails, its tools included, and shows nothing of it.
Here the text is shown.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from livekit import agents as livekit_agents
from livekit import rtc
from livekit.agents import ModelSettings
from livekit.agents.tts import TTS
from livekit.agents.voice import SpeechHandle
from livekit.agents.voice.io import PlaybackFinishedEvent

from agents.handoff.call_base import AnyCall
from agents.handoff.failures import why_model_failed
from agents.handoff.livekit_workarounds import current_speech
from agents.handoff.replies import Replies

logger = logging.getLogger(__name__)

AUDIO_TIMEOUT_S = 6.0
"""How long a model may return no audio for complete text before it has failed, in seconds."""

RETRY_AFTER_S = 30.0
"""How long a failed model is not retried, in seconds; until then text is shown at once."""

_REPEATED = 0.9
"""Of the words that a voice has spoken before it broke off, the share that is not said again."""

_SILENCE_S = 0.02
"""The length of the silence that is played for text without audio, in seconds."""


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
            words = _noted(text, synthesis)
            for attempt in range(2):
                try:
                    async for frame in _frames(agent, words, settings):
                        self._suspended_until = None
                        self._may_retry = True
                        synthesis.seconds += frame.duration
                        yield frame
                except Exception as error:  # a provider's plugin may raise anything
                    why = why_model_failed(error)
                    if attempt == 0 and synthesis.seconds:
                        logger.warning("text-to-speech broke off, speaking the rest: %s", why)
                        words = _noted(text, synthesis, first=self._rest(synthesis))
                        continue
                    # the text is shown instead
                    logger.error("text-to-speech failed: %s", why, extra={"agent": agent.id})
                    self._failed()
                    break
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
        a word at its end: the history would lack many words of a faster voice, and hold words that
        a slower voice has not spoken. Until the audio is complete the voice is taken to be as fast
        as in its last reply; in its first reply livekit's estimate stays.
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

    def _rest(self, synthesis: _Synthesis) -> str:
        """Return the text that was not spoken before the voice broke off, all of it if unknown.

        The voice is taken to be as fast as in its last reply; the last words are said again.
        """
        pace = None if synthesis.voice is None else self._pace.get(synthesis.voice)
        if not pace or not synthesis.text:
            return synthesis.text
        share = _REPEATED * synthesis.seconds * pace / len(synthesis.text)
        return synthesis.text[len(played_words(synthesis.text, min(share, 1.0))) :].lstrip()

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


async def _noted(
    text: AsyncIterable[str], synthesis: _Synthesis, first: str = ""
) -> AsyncIterator[str]:
    if first:
        yield first
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
