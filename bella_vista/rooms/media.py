"""How a call sounds: in text only, or with speech where it is set up and the guest wants it."""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from livekit import rtc
from livekit.agents.llm import LLM

from agents.handoff import Call, start_text
from bella_vista.rooms.attendance import Attendance

if TYPE_CHECKING:
    from bella_vista.speech_models import Speech
from state.context import OrderContext
from state.order import Channel, OrderState

logger = logging.getLogger(__name__)

MICROPHONE_S = 1.0
"""How long a page may take to publish its microphone after it has come, in seconds."""

_LOOK_EVERY_S = 0.05


class SpeechNotBuilt(Exception):
    """The models for speech cannot be built."""


class Media:
    """The speech models of a house, built for a call that needs them and not before.

    Args:
        speech: Builds them; ``None`` where the house has none.
    """

    def __init__(self, speech: "Callable[[], Speech] | None") -> None:
        self._build = speech
        self._speech: Speech | None = None

    @property
    def has_speech(self) -> bool:
        """Whether a guest can talk to this house."""
        return self._build is not None

    async def start(
        self,
        call: Call[OrderState, OrderContext],
        model: LLM[Any],
        room: rtc.Room,
        guest: str,
        channel: Channel,
        lost: Callable[[], None] | None = None,
    ) -> None:
        """Start the session of a call: its first agent opens.

        Args:
            call: The call.
            model: The language model of its agents.
            room: The room, connected.
            guest: The identity of the guest.
            channel: How he talks to the house.
            lost: Called when they cannot be heard or spoken to any more; without it they are shown the words.

        Raises:
            SpeechNotBuilt: The models for speech cannot be built.
        """
        if channel == "web_text" or self._build is None:
            await start_text(call, model, room=room, user_identity=guest)
            return
        # The audio plugins take a second to import: nobody else needs them.
        from agents.handoff.speech import start_speech

        try:
            self._speech = speech = self._build()
        except Exception as error:
            raise SpeechNotBuilt from error
        await start_speech(
            call,
            model,
            stt=speech.stt,
            tts=speech.tts,
            vad=speech.vad,
            tts_by_agent=speech.tts_by_agent,
            turns=speech.turns,
            room=room,
            user_identity=guest,
            lost=lost,
        )

    async def aclose(self) -> None:
        """Close what was built."""
        if self._speech is not None:
            await self._speech.aclose()
            self._speech = None


async def channel_of(attendance: Attendance, asked: Channel | None, media: Media) -> Channel:
    """Say how the guest talks to the house: as the dispatch says, or as he is there.

    Args:
        attendance: The people in the room.
        asked: What the dispatch says.
        media: Whether there is anything to be heard with.
    """
    guest = attendance.participant
    if guest is not None and guest.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP:
        return "phone"
    if asked in ("phone", "web_voice", "web_text"):
        return asked
    if not media.has_speech:
        return "web_text"
    loop = asyncio.get_running_loop()
    until = loop.time() + MICROPHONE_S
    while not _has_microphone(attendance.participant):
        if loop.time() >= until:
            return "web_text"
        await asyncio.sleep(_LOOK_EVERY_S)
    return "web_voice"


def _has_microphone(guest: rtc.RemoteParticipant | None) -> bool:
    return guest is not None and any(
        publication.source == rtc.TrackSource.SOURCE_MICROPHONE
        for publication in guest.track_publications.values()
    )
