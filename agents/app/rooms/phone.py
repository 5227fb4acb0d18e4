"""Phone calls: DTMF digits, the announcement for calls without speech, transfers and hanging up."""

import asyncio
import logging
import wave
from collections.abc import Callable
from pathlib import Path

from livekit import api, rtc

from agents.app.background import Timer

logger = logging.getLogger(__name__)

PAUSE_S = 1.5
"""How long after a digit the next one still belongs to the same number, in seconds."""

MAX_DIGITS = 20
"""The most digits of one message; a telephone number has at most fifteen (ITU-T E.164)."""

_DONE, _PERSON = "#", "0"

RECORDING = Path(__file__).with_name("not_by_phone.wav")
"""A recorded announcement: the call cannot be taken by phone now; please call again if there is no answer
in a moment."""

SUBSCRIBED_S = 3.0
"""How long to wait for a phone participant to subscribe to the announcement, in seconds; then it is
played anyway."""

PLAYED_S = 20.0
"""How long playing the announcement may take in all, in seconds."""

TRANSFER_S = 35.0
"""How long a transfer may take, in seconds; the server's own ringing timeout is shorter."""

MOVED_S = 5.0
"""How long a caller may take to leave the room after a transfer without a reported result, in
seconds."""

_FRAME_S = 0.1


class DtmfDigits:
    """Collects DTMF digits and passes them on as the caller's words.

    ``#`` ends a number at once. ``0`` alone asks for a person. A lone ``*`` or ``#`` is ignored.

    Args:
        say: Called with the words.
        a_person: The caller's words for ``0``.
        pause_s: How long after a digit the next one still belongs to the same number, in seconds.
    """

    def __init__(
        self, say: Callable[[str], None], *, a_person: str, pause_s: float = PAUSE_S
    ) -> None:
        self._say = say
        self._a_person = a_person
        self._pause_s = pause_s
        self._pressed = ""
        self._timer = Timer(self._finish)

    def press(self, key: str) -> None:
        """Process one key press."""
        self._timer.stop()
        if key == _DONE:
            self._finish()
        elif key.isascii() and key.isdigit() and len(key) == 1:
            self._pressed = (self._pressed + key)[-MAX_DIGITS:]
            self._timer.start(self._pause_s)
        elif self._pressed:
            self._timer.start(self._pause_s)

    def cancel(self) -> None:
        """Cancel the timer; digits pressed so far are kept."""
        self._timer.stop()

    def _finish(self) -> None:
        pressed, self._pressed = self._pressed, ""
        if pressed:
            self._say(self._a_person if pressed == _PERSON else pressed)


def is_telephone(participant: rtc.RemoteParticipant) -> bool:
    """Whether a participant is on the phone."""
    return participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP


async def play_recording(room: rtc.Room) -> None:
    """Play the announcement in a room; returns when it was played, or could not be.

    Args:
        room: The room, connected.
    """
    try:
        async with asyncio.timeout(PLAYED_S):
            await _play(room, await asyncio.to_thread(_frames))
    except Exception as error:  # of any type: the line has to be ended anyway
        logger.error("recorded announcement not played: %s", type(error).__name__)


async def end_line(
    server: api.LiveKitAPI, room: str, identity: str, *, transfer_to: str | None = None
) -> None:
    """End a phone call: transfer the caller, or remove them from the room if that fails.

    Args:
        server: The LiveKit server's API.
        room: The room's name.
        identity: The phone participant's identity.
        transfer_to: A telephone number (E.164) or a SIP address; without it the caller is not
            transferred.
    """
    if transfer_to is not None:
        done = await transfer(server, room, identity, transfer_to)
        if done:
            return
        if done is None:
            await asyncio.sleep(MOVED_S)
    request = api.RoomParticipantIdentity(room=room, identity=identity)
    try:
        await server.room.remove_participant(request)
    except Exception as error:  # the caller may have hung up
        logger.info("phone participant already gone: %s", type(error).__name__)


async def transfer(server: api.LiveKitAPI, room: str, identity: str, to: str) -> bool | None:
    """Transfer a phone caller by SIP REFER.

    Returns:
        Whether they were transferred; ``None`` if the server does not report it. A caller who was
        transferred leaves the room.

    Args:
        server: The LiveKit server's API.
        room: The room's name.
        identity: The phone participant's identity.
        to: A telephone number (E.164) or a SIP address.
    """
    request = api.TransferSIPParticipantRequest(
        room_name=room,
        participant_identity=identity,
        transfer_to=to if to.startswith("sip") else f"tel:{to}",
        play_dialtone=True,
    )
    try:
        async with asyncio.timeout(TRANSFER_S):
            status = (await server.sip.transfer_sip_participant(request)).status
    except Exception as error:
        logger.error("phone transfer failed: %s", type(error).__name__)
        return False
    if status == api.SIPTransferStatus.STS_TRANSFER_ONGOING:
        return None
    if status != api.SIPTransferStatus.STS_TRANSFER_SUCCESSFUL:
        logger.error("phone transfer failed: transfer status %d", status)
        return False
    return True


async def _play(room: rtc.Room, recorded: "tuple[int, list[rtc.AudioFrame]]") -> None:
    rate, frames = recorded
    source = rtc.AudioSource(rate, 1)
    agent = room.local_participant
    try:
        track = rtc.LocalAudioTrack.create_audio_track("recording", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        publication = await agent.publish_track(track, options)
        try:
            async with asyncio.timeout(SUBSCRIBED_S):
                await publication.wait_for_subscription()
        except TimeoutError:
            logger.warning("phone did not subscribe to the recorded announcement")
        for frame in frames:
            await source.capture_frame(frame)
        await source.wait_for_playout()
    finally:
        await source.aclose()


def _frames() -> "tuple[int, list[rtc.AudioFrame]]":
    """Read the announcement; returns its sample rate and its frames."""
    frames = []
    with wave.open(str(RECORDING), "rb") as recording:
        rate = recording.getframerate()
        while data := recording.readframes(int(rate * _FRAME_S)):
            frames.append(rtc.AudioFrame(data, rate, 1, len(data) // 2))
    return rate, frames
