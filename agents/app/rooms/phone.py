"""Phone calls: the keys that are pressed; without working speech a recorded sentence, then a transfer or the end."""

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
"""How many digits one message keeps; a telephone number has at most fifteen (ITU-T E.164)."""

_DONE, _PERSON = "#", "0"

RECORDING = Path(__file__).with_name("not_by_phone.wav")
"""Says that the call cannot be taken by phone just now, and to call again if there is no answer in a
moment."""

SUBSCRIBED_S = 3.0
"""How long a phone participant may take to subscribe to the recording, in seconds; then it is
played anyway."""

PLAYED_S = 20.0
"""How long playing the recording may take in all, in seconds."""

TRANSFER_S = 35.0
"""How long a transfer may take, in seconds; the server lets the other side ring for less."""

MOVED_S = 5.0
"""How long a caller may take to leave the room after a transfer without a reported result, in
seconds."""

_FRAME_S = 0.1


class DtmfDigits:
    """Collects DTMF digits and passes them on as the caller's words.

    ``#`` ends a number at once. ``0`` alone asks for a person. A lone star or hash is ignored.

    Args:
        say: Receives the words.
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
    """Play the recorded sentence in a room; returns when it has been played, or cannot be.

    Args:
        room: The room, connected.
    """
    try:
        async with asyncio.timeout(PLAYED_S):
            await _play(room, await asyncio.to_thread(_frames))
    except Exception as error:  # the line is ended anyway
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
    """Transfer a phone caller by SIP REFER; returns whether that was done.

    ``None`` if the server does not report it: a caller who was transferred leaves the room then.

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
        logger.error("phone transfer failed: reported by the server")
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
    """Read the recording; returns its sample rate and its frames."""
    frames = []
    with wave.open(str(RECORDING), "rb") as recording:
        rate = recording.getframerate()
        while data := recording.readframes(int(rate * _FRAME_S)):
            frames.append(rtc.AudioFrame(data, rate, 1, len(data) // 2))
    return rate, frames
