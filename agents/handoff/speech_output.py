"""An agent's words made audible; where that fails they are still shown, and the conversation goes on.

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

SILENT_S = 6.0
"""How long a model may make no sound of words it has in full, in seconds, before it has failed."""

REST_S = 30.0
"""How long one that has failed is left alone, in seconds: until then words are shown at once."""

_PAUSE_S = 0.02
"""How long the silence is that stands for words nobody can hear, in seconds."""


class SpeechOutput:
    """Whether the agents of one call can be heard."""

    def __init__(self) -> None:
        self._silent_until: float | None = None
        self._second_chance = False

    @property
    def resting(self) -> bool:
        """Whether speech has failed lately, so that it is not tried."""
        return self._silent_until is not None and _now() < self._silent_until

    def failed(self) -> bool:
        """Take note of a failure; returns whether it is news."""
        news = self._silent_until is None
        self._silent_until = _now() + REST_S
        return news

    def failed_for_good(self) -> bool:
        """Take note of a failure where nobody reads; returns whether it is the second in a row, or the first of all."""
        chance, self._second_chance = self._second_chance, False
        return not chance

    def heard(self) -> None:
        """Take note that it works."""
        self._silent_until = None
        self._second_chance = True


async def spoken(
    agent: "Agent[Any, Any]", text: AsyncIterable[str], settings: ModelSettings
) -> AsyncIterator[rtc.AudioFrame]:
    """Speak a text, or stand silent for it.

    Silence of no length would not do: livekit-agents 1.8.9 shows what was heard, and a reply that made no
    sound was not.
    """
    call = agent.call
    if not call.tts.resting:
        try:
            async for frame in _frames(agent, text, settings):
                call.tts.heard()
                yield frame
        except Exception as error:  # the guest reads what he cannot hear
            logger.error(
                "an agent is not heard: %s", type(error).__name__, extra={"agent": agent.name}
            )
            if call.speech_lost is None:
                if call.tts.failed():
                    call.speak(call.policy.cannot_speak)
            elif call.tts.failed_for_good():
                call.speech_lost()
            else:
                call.speak(call.policy.trouble)
        else:
            return
    async for _ in text:  # all of it, so that the silence ends after the words
        pass
    yield _silence(agent)


async def _frames(
    agent: "Agent[Any, Any]", text: AsyncIterable[str], settings: ModelSettings
) -> AsyncIterator[rtc.AudioFrame]:
    """Have the model speak, and fail when it makes no sound of what it was given."""
    waiting: asyncio.Timeout | None = None
    ended = False

    async def given() -> AsyncIterator[str]:
        nonlocal ended
        async for piece in text:
            yield piece
        ended = True
        if waiting is not None and not waiting.expired():
            waiting.reschedule(_now() + SILENT_S)

    frames = livekit_agents.Agent.default.tts_node(agent, given(), settings)
    try:
        while True:
            try:
                async with asyncio.timeout(SILENT_S if ended else None) as waiting:
                    frame = await anext(frames)
            except StopAsyncIteration:
                return
            waiting = None
            yield frame
    finally:
        await frames.aclose()


def _silence(agent: "Agent[Any, Any]") -> rtc.AudioFrame:
    own = agent.tts if isinstance(agent.tts, TTS) else agent.call.session.tts
    rate = own.sample_rate if isinstance(own, TTS) else 24_000
    return rtc.AudioFrame.create(rate, 1, int(rate * _PAUSE_S))


def _now() -> float:
    return asyncio.get_running_loop().time()
