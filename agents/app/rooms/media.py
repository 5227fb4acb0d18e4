"""The media of a call: text only, or speech if it is configured and the user has a microphone."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from livekit import rtc
from livekit.agents.llm import LLM

from agents.app.parts import Channel
from agents.app.rooms.presence import Presence, has_microphone
from agents.handoff import Call, Event, MicrophoneMode, YourTurn, start_text

if TYPE_CHECKING:
    from livekit.agents.stt import STT

    from agents.app.models.speech import SpeechModels
    from agents.app.models.turn_taking import TurnTaking
    from agents.app.recordings import CallRecorder

logger = logging.getLogger(__name__)

MICROPHONE_S = 1.0
"""How long a page may take to publish its microphone after joining, in seconds."""

_LOOK_EVERY_S = 0.05


class SpeechNotBuilt(Exception):
    """The speech models could not be built."""


class Media:
    """Builds the speech models when a call needs them.

    Args:
        speech: Builds them; ``None`` if none are configured.
        turn_taking: Returns the turn taking of a channel; by default that of the models.
    """

    def __init__(
        self,
        speech: "Callable[[], SpeechModels] | None",
        turn_taking: "Callable[[Channel], TurnTaking] | None" = None,
    ) -> None:
        self._build = speech
        self._turn_taking = turn_taking
        self._speech: SpeechModels | None = None
        self._stt: STT[Any] | None = None

    @property
    def has_speech(self) -> bool:
        """Whether speech is configured."""
        return self._build is not None

    def is_spoken(self, channel: Channel) -> bool:
        """Whether calls on a channel have audio."""
        return channel != "web_text" and self._build is not None

    async def start(
        self,
        call: Call[Any, Any],
        model: LLM[Any],
        room: rtc.Room,
        user: str,
        channel: Channel,
        lost: Callable[[], None] | None = None,
        llm_by_agent: Mapping[str, LLM[Any]] = MappingProxyType({}),
        microphone_mode: MicrophoneMode = "open",
        recorder: "CallRecorder | None" = None,
    ) -> None:
        """Start the session of a call; its first agent greets.

        Args:
            call: The call.
            model: The language model of its agents.
            room: The room, connected.
            user: The user's identity.
            channel: How the user talks to the agents.
            lost: Called when the user can no longer be heard or spoken to; without it the call
                continues as text.
            llm_by_agent: Language models of single agents.
            microphone_mode: The microphone's mode at first.
            recorder: Records the call.

        Raises:
            SpeechNotBuilt: The speech models could not be built.
        """
        if self._build is None or not self.is_spoken(channel):
            await start_text(call, model, llm_by_agent=llm_by_agent, room=room, user_identity=user)
            return
        # The audio plugins take a second to import, and a text call does not need them.
        from agents.handoff.sessions import start_speech
        from agents.handoff.speech.waiting_tone import TONE_AFTER_S

        try:
            self._speech = speech = self._build()
            taking = self._turn_taking(channel) if self._turn_taking is not None else None
            if taking is not None:
                taking.tune(speech.vad)
            self._stt = stt = _stt(speech, model)
            turns = speech.turns if taking is None else taking.turns(speech.vad)
        except Exception as error:
            raise SpeechNotBuilt from error
        if speech.expect is not None:
            call.subscribe(partial(_tell_expected, speech.expect))
        await start_speech(
            call,
            model,
            llm_by_agent=llm_by_agent,
            stt=stt,
            tts=speech.tts,
            vad=speech.vad,
            tts_by_agent=speech.tts_by_agent,
            turns=turns,
            noise_suppression=taking is not None and taking.noise_suppression,
            tone_after_s=TONE_AFTER_S if taking is None else taking.tone_after_s,
            room=room,
            user_identity=user,
            microphone_mode=microphone_mode,
            lost=lost,
            tap=recorder,
        )

    async def aclose(self) -> None:
        """Close the speech models."""
        speech, self._speech = self._speech, None
        if speech is not None and self._stt is not None and self._stt is not speech.stt:
            await self._stt.aclose()
        if speech is not None:
            await speech.aclose()


def _stt(speech: "SpeechModels", model: LLM[Any]) -> "STT[Any]":
    if speech.model_hears:
        from agents.app.models.realtime_stt import stt_of

        return stt_of(model, speech.stt, speech.vad)
    if speech.stt is None:
        raise ValueError("no speech-to-text model was built")
    return speech.stt


def _tell_expected(expect: Callable[[str], None], event: Event) -> None:
    if isinstance(event, YourTurn):
        expect(event.expects)


async def channel_of(presence: Presence, asked: Channel | None, media: Media) -> Channel:
    """Return the channel of a call: that of the dispatch, or the one by which the user has joined.

    Args:
        presence: Tracks the user.
        asked: The channel that the dispatch names.
        media: Has speech, if it is configured.
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
