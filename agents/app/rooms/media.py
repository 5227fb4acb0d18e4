"""The media of a call: text only, or speech where it is configured and the user wants it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from livekit import rtc
from livekit.agents.llm import LLM

from agents.app.parts import Channel
from agents.app.rooms.presence import Presence, has_microphone
from agents.handoff import Call, start_text

if TYPE_CHECKING:
    from agents.app.models.speech import SpeechModels

logger = logging.getLogger(__name__)

MICROPHONE_S = 1.0
"""How long a page may take to publish its microphone after joining, in seconds."""

_LOOK_EVERY_S = 0.05


class SpeechNotBuilt(Exception):
    """The speech models could not be built."""


class Media:
    """Builds the speech models when a call needs them.

    Args:
        speech: Builds them; ``None`` where none are configured.
    """

    def __init__(self, speech: "Callable[[], SpeechModels] | None") -> None:
        self._build = speech
        self._speech: SpeechModels | None = None

    @property
    def has_speech(self) -> bool:
        """Whether speech is configured."""
        return self._build is not None

    async def start(
        self,
        call: Call[Any, Any],
        model: LLM[Any],
        room: rtc.Room,
        user: str,
        channel: Channel,
        lost: Callable[[], None] | None = None,
        llm_by_agent: Mapping[str, LLM[Any]] = MappingProxyType({}),
    ) -> None:
        """Start the session of a call; its first agent greets.

        Args:
            call: The call.
            model: The language model of its agents.
            room: The room, connected.
            user: The user's identity.
            channel: How the user talks to us.
            lost: Called when the user can no longer be heard or spoken to; without it the call
                continues as text.
            llm_by_agent: Language models of single agents.

        Raises:
            SpeechNotBuilt: The speech models could not be built.
        """
        if channel == "web_text" or self._build is None:
            await start_text(call, model, llm_by_agent=llm_by_agent, room=room, user_identity=user)
            return
        # The audio plugins take a second to import, so only calls with speech load them.
        from agents.handoff.sessions import start_speech

        try:
            self._speech = speech = self._build()
        except Exception as error:
            raise SpeechNotBuilt from error
        await start_speech(
            call,
            model,
            llm_by_agent=llm_by_agent,
            stt=speech.stt,
            tts=speech.tts,
            vad=speech.vad,
            tts_by_agent=speech.tts_by_agent,
            turns=speech.turns,
            room=room,
            user_identity=user,
            lost=lost,
        )

    async def aclose(self) -> None:
        """Close what was built."""
        if self._speech is not None:
            await self._speech.aclose()
            self._speech = None


async def channel_of(presence: Presence, asked: Channel | None, media: Media) -> Channel:
    """Return the channel of a call: as the dispatch says, or as the user has joined.

    Args:
        presence: Knows the user.
        asked: The channel the dispatch asks for.
        media: Says whether speech is configured.
    """
    user = presence.participant
    if user is not None and user.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP:
        return "phone"
    if asked in ("phone", "web_voice", "web_text"):
        return asked
    if not media.has_speech:
        return "web_text"
    loop = asyncio.get_running_loop()
    until = loop.time() + MICROPHONE_S
    while (user := presence.participant) is None or not has_microphone(user):
        if loop.time() >= until:
            return "web_text"
        await asyncio.sleep(_LOOK_EVERY_S)
    return "web_voice"
