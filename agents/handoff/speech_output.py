"""Speaks an agent's reply; if text-to-speech fails, the text is shown and the call goes on.

livekit-agents 1.8.9 stops a reply whose speech fails, its tools included, and shows nothing of it.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from livekit import agents as livekit_agents
from livekit import rtc
from livekit.agents import ModelSettings
from livekit.agents.tts import TTS

if TYPE_CHECKING:
    from agents.handoff.agent import Agent

logger = logging.getLogger(__name__)

AUDIO_TIMEOUT_S = 6.0
"""How long a model may return no audio for complete text before it has failed, in seconds."""

RETRY_AFTER_S = 30.0
"""How long a failed model is not retried, in seconds; until then text is shown at once."""

_SILENCE_S = 0.02
"""The length of the silence that is played for text without audio, in seconds."""


class SpeechOutput:
    """Tracks whether text-to-speech works in one call."""

    def __init__(self) -> None:
        self._suspended_until: float | None = None
        self._may_retry = False

    @property
    def suspended(self) -> bool:
        """Whether speech has failed recently, so that it is not tried."""
        return self._suspended_until is not None and _now() < self._suspended_until

    def record_failure(self) -> bool:
        """Record a failure where text is shown; returns whether it is the first in a row."""
        first = self._suspended_until is None
        self._suspended_until = _now() + RETRY_AFTER_S
        return first

    def record_unshown_failure(self) -> bool:
        """Record a failure where no text is shown; returns whether speech is lost.

        It is after the second failure in a row, or if it has never worked.
        """
        may_retry, self._may_retry = self._may_retry, False
        return not may_retry

    def record_success(self) -> None:
        """Record that speech works."""
        self._suspended_until = None
        self._may_retry = True


async def speak_text(
    agent: "Agent[Any, Any]", text: AsyncIterable[str], settings: ModelSettings
) -> AsyncIterator[rtc.AudioFrame]:
    """Speak a text, or play a short silence in its place.

    The silence must not be empty: livekit-agents 1.8.9 shows only what was played, and a reply
    without audio was not.
    """
    call = agent.call
    if not call.speech_output.suspended:
        try:
            async for frame in _frames(agent, text, settings):
                call.speech_output.record_success()
                yield frame
        except Exception as error:  # the text is shown instead
            logger.error(
                "text-to-speech failed: %s", type(error).__name__, extra={"agent": agent.name}
            )
            if call.speech_lost is None:
                if call.speech_output.record_failure():
                    call.speak(call.policy.cannot_speak)
            elif call.speech_output.record_unshown_failure():
                call.speech_lost()
            else:
                call.speak(call.policy.trouble)
        else:
            return
    async for _ in text:  # consume all of it, so that the silence ends after the text
        pass
    yield _silence(agent)


async def _frames(
    agent: "Agent[Any, Any]", text: AsyncIterable[str], settings: ModelSettings
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


def _silence(agent: "Agent[Any, Any]") -> rtc.AudioFrame:
    own = agent.tts if isinstance(agent.tts, TTS) else agent.call.session.tts
    rate = own.sample_rate if isinstance(own, TTS) else 24_000
    return rtc.AudioFrame.create(rate, 1, int(rate * _SILENCE_S))


def _now() -> float:
    return asyncio.get_running_loop().time()
