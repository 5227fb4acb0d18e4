"""Speaks the replies of a call; if text-to-speech fails, the text is shown and the call goes on.

livekit-agents 1.8.9 stops a reply whose speech fails, its tools included, and shows nothing of it.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any

from livekit import agents as livekit_agents
from livekit import rtc
from livekit.agents import ModelSettings
from livekit.agents.tts import TTS

from agents.handoff.call_base import CallBase
from agents.handoff.replies import Replies

logger = logging.getLogger(__name__)

AUDIO_TIMEOUT_S = 6.0
"""How long a model may return no audio for complete text before it has failed, in seconds."""

RETRY_AFTER_S = 30.0
"""How long a failed model is not retried, in seconds; until then text is shown at once."""

_SILENCE_S = 0.02
"""The length of the silence that is played for text without audio, in seconds."""


class SpeechOutput:
    """The speech of one call's agents, and whether it works.

    Args:
        call: The call.
        replies: Its replies.
    """

    def __init__(self, call: CallBase[Any, Any], replies: Replies) -> None:
        self.lost: Callable[[], None] | None = None
        """Called when speech input or output has failed and the user cannot read text."""
        self._call = call
        self._replies = replies
        self._suspended_until: float | None = None
        self._may_retry = False

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
        if self._suspended_until is None or _now() >= self._suspended_until:
            try:
                async for frame in _frames(agent, text, settings):
                    self._suspended_until = None
                    self._may_retry = True
                    yield frame
            except Exception as error:  # the text is shown instead
                logger.error(
                    "text-to-speech failed: %s", type(error).__name__, extra={"agent": agent.id}
                )
                self._failed()
            else:
                return
        async for _ in text:  # consume all of it, so that the silence ends after the text
            pass
        yield self._silence(agent)

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
        own = agent.tts if isinstance(agent.tts, TTS) else self._call.session.tts
        rate = own.sample_rate if isinstance(own, TTS) else 24_000
        return rtc.AudioFrame.create(rate, 1, int(rate * _SILENCE_S))


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
