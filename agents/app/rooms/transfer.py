"""Transfers a phone caller to a person: at once by SIP (cold), or after asking the person (warm).

``WarmTransferTask`` of livekit-agents 1.8.9 is not used: a model decides in it whether the person is
connected. It moves them by a request that livekit-server 1.13.5 refuses as not implemented. When one of the
two hangs up, the other is disconnected or left alone in the room.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Generic, TypeVar

from livekit import api, rtc
from livekit.agents.tts import TTS
from livekit.agents.utils.audio import silence_frame
from livekit.rtc.room import EventTypes

from agents.app.app import App
from agents.app.background import first
from agents.app.declaration import attempt
from agents.app.parts import C, CallSummary, S
from agents.app.rooms.conversation import RoomConversation
from agents.app.rooms.phone import MOVED_S, end_line, transfer
from agents.app.rooms.rejection import send_transcription
from agents.app.words import Words
from agents.handoff.livekit_workarounds import connect
from agents.handoff.speech.waiting_tone import quiet_tone
from state.shared import SharedState

T = TypeVar("T")

logger = logging.getLogger(__name__)

RING_S = 25
"""How long the person's telephone rings, in whole seconds."""

RINGING_S = RING_S + 5.0
"""How long the server may take to report that no one has answered, in seconds."""

ANSWER_S = 8.0
"""How long the person has to press a key after the question, in seconds. They are asked twice."""

SPOKEN_S = 45.0
"""How long speaking to the person may take at a time, in seconds."""

JOIN_S = 10.0
"""How long the person may take to appear in a room, in seconds: livekit-server 1.13.5 may announce
a participant three seconds late."""

CLOSE_S = 3.0
"""How long closing the person's room may take, in seconds."""

PERSON = "person"
"""The start of the person's identity."""

TRANSFER_ATTRIBUTE = "transfer"
"""The caller's attribute ``<prefix>.transfer`` names the person's room during a transfer, for an agent
that replaces this one."""

_ACCEPT_KEY, _DECLINE_KEY = "1", "2"
_MAX_PROMPTS = 2
_RATE = 24_000
_FRAME_S = 0.1
_TONE_S, _PAUSE_S = 1.0, 2.0
"""The length of the hold tone and of the pause after it, in seconds."""


@dataclass(frozen=True)
class PhoneServer:
    """The LiveKit server that transfers callers.

    Args:
        trunk: The id of the outbound trunk of warm transfers; without it transfers are cold.
    """

    api: api.LiveKitAPI
    url: str = ""
    key: str = ""
    secret: str = ""
    trunk: str | None = None


class TransferFailed(Exception):
    """The caller was not transferred; the text is the reason, for the log."""


async def cold_transfer(server: PhoneServer, room: rtc.Room, caller: str, to: str) -> None:
    """Transfer a caller at once; returns when they are transferred.

    Args:
        server: The LiveKit server.
        room: The caller's room.
        caller: The caller's identity.
        to: A telephone number (E.164) or a SIP address.

    Raises:
        TransferFailed: They were not transferred.
    """
    done = await transfer(server.api, room.name, caller, to)
    if done is None:  # the server does not report it
        with suppress(TimeoutError):
            async with asyncio.timeout(MOVED_S):
                await _wait_until_left(room, caller)
                done = True
    if not done:
        raise TransferFailed("not transferred")


class CallerLine(Generic[S, C]):
    """The telephone line of one call, as its agents use it by ``PutThrough``.

    While the user waits, their speech and their key presses are ignored.

    Args:
        server: The LiveKit server.
        spawn: Starts a task and owns it.
        transferred: Called when the user has been transferred and has left.
    """

    def __init__(
        self,
        server: PhoneServer,
        app: App[S, C],
        conversation: RoomConversation[S, C],
        room: rtc.Room,
        user: str,
        *,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        transferred: Callable[[], None],
    ) -> None:
        self._server, self._app, self._conversation = server, app, conversation
        self._call = conversation.call
        self._room, self._user = room, user
        self._spawn, self._transferred = spawn, transferred
        self._requested = False
        self._person_room_name = ""
        """The name of the person's room."""
        self._gone = asyncio.Event()
        """Set when the user has hung up, or the call has ended."""
        self.on_hold = False
        """Whether the user is waiting for a person, or talking to one."""
        self._call.at_end(self._gone.set)

    @property
    def reaches_person(self) -> bool:
        """Whether a person can be called now."""
        return self._number() is not None

    def _number(self) -> str | None:
        phone, context = self._app.phone, self._call.shared.context
        if not attempt("phone.person_there", False, phone.person_there, context):
            return None
        return attempt("phone.transfer_to", None, phone.transfer_to, context)

    def put_through(self, reason: str) -> None:
        """Put the user through once the reply under way has been spoken."""
        if not self._requested:
            self._requested = True
            self._spawn(self._run(reason))

    def user_left(self) -> None:
        """Note that the user has hung up, or was transferred."""
        self._gone.set()

    async def _run(self, reason: str) -> None:
        call, words = self._call, self._conversation.words
        try:
            self._person_room_name = f"{self._room.name}-{PERSON}-{token_hex(4)}"
            await self._set_attribute(self._person_room_name)
            await call.user_speech.quiet()
            if self._gone.is_set():
                return
            self.on_hold = True
            self._conversation.hold()
            try:
                tell = await self._transfer(reason)
            except TransferFailed as error:
                logger.warning("phone transfer failed: %s", error)
                noted = await store_transfer_request(self._app, self._call.shared, reason)
                tell = f"{words.not_put_through} {noted}".strip()
            if tell and not self._gone.is_set():
                call.speak(tell)
                await call.answered()  # they may be talking, and would interrupt it
            await self.clear_attribute()
        finally:
            self._requested = self.on_hold = False
            self._conversation.resume()

    async def _transfer(self, reason: str) -> str:
        """Transfer the user; returns the sentence for them if they are still on the line."""
        to = self._number()
        if to is None:
            raise TransferFailed("no person can be called any more")
        if self._server.trunk is None:
            # The user may leave before the server reports the transfer.
            await cold_transfer(self._server, self._room, self._user, to)
            self._transferred()
            return ""
        call, words = self._call, self._conversation.words
        tts = call.session.tts
        if not isinstance(tts, TTS):
            raise TransferFailed("no text-to-speech")
        default = CallSummary(reason)
        summarize: Callable[..., CallSummary] = self._app.phone.summary
        summary = attempt(
            "phone.summary", default, summarize, call.state, call.shared.context, reason
        )
        warm = WarmTransfer(
            self._server,
            self._room,
            self._user,
            to,
            name=self._person_room_name,
            summary=summary,
            words=words,
            tts=tts,
        )
        try:
            await first(warm.run(), self._gone.wait())
        finally:
            await warm.aclose(caller_gone=self._gone.is_set())
        return words.person_gone

    async def clear_attribute(self) -> None:
        """Clear the caller's attribute: no transfer is under way."""
        await self._set_attribute("")

    async def _set_attribute(self, name: str) -> None:
        request = api.UpdateParticipantRequest(
            room=self._room.name,
            identity=self._user,
            attributes={f"{self._app.prefix}.{TRANSFER_ATTRIBUTE}": name},
        )
        await _best_effort(
            lambda: self._server.api.room.update_participant(request),
            "transfer attribute not set: %s",
        )


async def store_transfer_request(app: App[S, C], shared: SharedState[S, C], reason: str) -> str:
    """Store for staff that a caller asked for a person; returns the sentence that says so."""
    if app.phone.not_reached is None:
        return ""
    try:
        await app.phone.not_reached(shared, reason)
    except Exception:  # of any type: the application's function raised it; the sentence is omitted
        logger.exception("phone.not_reached failed")
        return ""
    return app.rooms.words.noted


async def finish_lost_transfer(server: PhoneServer, room: rtc.Room, caller: str, name: str) -> bool:
    """Finish the transfer of a lost agent; returns whether caller and person were connected.

    If both are in the caller's room, this waits until one of them leaves. Otherwise it ends the
    person's call: no process forwards their audio any more.

    Args:
        server: The LiveKit server.
        room: The caller's room, connected.
        caller: The caller's identity.
        name: The name of the person's room, from the caller's attribute.
    """
    person = name.removeprefix(f"{room.name}-")
    if person in room.remote_participants:
        await first(_wait_until_left(room, person), _wait_until_left(room, caller))
        if person in room.remote_participants:
            await end_line(server.api, room.name, person)
        return True
    request = api.DeleteRoomRequest(room=name)
    await _best_effort(lambda: server.api.room.delete_room(request), "person's room not closed: %s")
    return False


class WarmTransfer:
    """Calls a person, summarizes the call for them, and connects the caller if they accept.

    Meanwhile the caller hears a hold tone. The person is in a room of their own, which is deleted
    after the transfer.

    Args:
        server: The LiveKit server.
        room: The caller's room, connected.
        to: The person's telephone number (E.164) or SIP address.
        name: The name of the person's room.
        tts: Speaks to the person; not closed here.
    """

    def __init__(
        self,
        server: PhoneServer,
        room: rtc.Room,
        caller: str,
        to: str,
        *,
        name: str,
        summary: CallSummary,
        words: Words,
        tts: TTS[Any],
    ) -> None:
        self._server, self._room, self._caller, self._to = server, room, caller, to
        self._summary, self._words, self._tts = summary, words, tts
        self._person_room = rtc.Room()
        """The person's room."""
        self._person_room_name, self._person = name, name.removeprefix(f"{room.name}-")
        self._source: rtc.AudioSource | None = None
        self._answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Put the caller through, and return when one of the two has hung up.

        Raises:
            TransferFailed: No one has accepted the call.
        """
        try:
            async with hold_tone(self._room):
                await self._call_person()
            await self._connect()
        except TransferFailed:
            raise
        except Exception as error:  # of any type: the caller is told
            raise TransferFailed(_failure_reason(error)) from error

    async def aclose(self, *, caller_gone: bool) -> None:
        """End the person's call and close their room.

        Args:
            caller_gone: Whether the caller has hung up: the person is told.
        """
        try:
            there = (
                self._person_room.isconnected()
                and self._person in self._person_room.remote_participants
            )
            if caller_gone and there:
                await self._speak(self._words.caller_gone)
        except Exception as error:  # the transfer is over either way
            logger.info("person not notified that the caller left: %s", type(error).__name__)
        finally:
            await self._close()

    async def _close(self) -> None:
        if self._source is not None:
            await self._source.aclose()
        for closing in (
            lambda: self._person_room.disconnect(),
            lambda: self._server.api.room.delete_room(
                api.DeleteRoomRequest(room=self._person_room_name)
            ),
        ):
            await _best_effort(closing, "person's room not closed: %s")
        if self._person in self._room.remote_participants:
            await end_line(self._server.api, self._room.name, self._person)

    # -- reaching the person ------------------------------------------------------------------------

    async def _call_person(self) -> None:
        """Call the person, speak the summary, and wait until they accept.

        Raises:
            TransferFailed: They do not.
        """
        server = self._server
        self._person_room.on("sip_dtmf_received", self._on_key)
        self._person_room.on("participant_disconnected", self._on_left)
        self._source = rtc.AudioSource(self._tts.sample_rate, self._tts.num_channels)
        room = api.CreateRoomRequest(
            name=self._person_room_name,
            metadata=self._summary.written,
            empty_timeout=RING_S + 10,
            departure_timeout=5,
        )
        async with asyncio.timeout(JOIN_S):
            await server.api.room.create_room(room)
            await connect(self._person_room, server.url, self._token())
            published = await _publish(self._person_room, self._source, "summary")
        call = api.CreateSIPParticipantRequest(
            sip_trunk_id=server.trunk,
            sip_call_to=self._to,
            room_name=self._person_room_name,
            participant_identity=self._person,
            wait_until_answered=True,
        )
        call.ringing_timeout.FromSeconds(RING_S)
        async with asyncio.timeout(RINGING_S):
            await server.api.sip.create_sip_participant(call)
        async with asyncio.timeout(JOIN_S):
            await _wait_until_joined(self._person_room, self._person)
            await published.wait_for_subscription()
        await send_transcription(
            self._person_room.local_participant, self._summary.written, "summary", to=self._person
        )
        await first(self._prompt(), asyncio.shield(self._answer))
        if not self._answer.done():
            raise TransferFailed("no key pressed")  # it may be a voicemail
        if not self._answer.result():
            raise TransferFailed("declined")
        self._source.clear_queue()
        await self._speak(self._words.taken)

    async def _prompt(self) -> None:
        for _ in range(_MAX_PROMPTS):
            await self._speak(f"{self._summary.spoken} {self._words.take_or_leave}")
            await asyncio.sleep(ANSWER_S)

    def _on_key(self, pressed: rtc.SipDTMF) -> None:
        if pressed.digit in (_ACCEPT_KEY, _DECLINE_KEY):
            self._set_answer(pressed.digit == _ACCEPT_KEY)

    def _on_left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self._person:
            self._set_answer(False)

    def _set_answer(self, accepted: bool) -> None:
        if not self._answer.done():
            self._answer.set_result(accepted)

    async def _speak(self, text: str) -> None:
        """Speak to the person; returns when it has been played."""
        source = self._source
        if source is None:
            return
        async with asyncio.timeout(SPOKEN_S):
            async with self._tts.synthesize(text) as spoken:
                async for audio in spoken:
                    await source.capture_frame(audio.frame)
            await source.wait_for_playout()

    def _token(self) -> str:
        grants = api.VideoGrants(room_join=True, room=self._person_room_name)
        token = api.AccessToken(self._server.key, self._server.secret)
        agent = self._room.local_participant.identity
        return token.with_identity(agent).with_grants(grants).with_kind("agent").to_jwt()

    # -- the two together ---------------------------------------------------------------------------

    async def _connect(self) -> None:
        """Connect the two; returns when one of them has hung up."""
        move = api.MoveParticipantRequest(
            room=self._person_room_name, identity=self._person, destination_room=self._room.name
        )
        try:
            await self._server.api.room.move_participant(move)
        except api.TwirpError as error:  # livekit-server 1.13.5: not implemented
            logger.info("participant not moved, forwarding audio instead: %s", error.message)
            await self._relay()
            return
        async with asyncio.timeout(JOIN_S):
            await _wait_until_joined(self._room, self._person)
        await first(
            _wait_until_left(self._room, self._person), _wait_until_left(self._room, self._caller)
        )

    async def _relay(self) -> None:
        """Forward the audio of both between their rooms."""
        await first(
            _forward_audio(self._room, self._caller, self._person_room),
            _forward_audio(self._person_room, self._person, self._room),
            _wait_until_left(self._person_room, self._person),
            _wait_until_left(self._room, self._caller),
        )


@asynccontextmanager
async def hold_tone(room: rtc.Room) -> AsyncIterator[None]:
    """Play a repeated tone in a room for a waiting caller."""
    playing = asyncio.ensure_future(_play_tone(room))
    try:
        yield
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        if not playing.cancelled() and (error := playing.exception()) is not None:
            logger.warning("hold tone not played: %s", type(error).__name__)


async def _play_tone(room: rtc.Room) -> None:
    source = rtc.AudioSource(_RATE, 1, queue_size_ms=200)
    published = await _publish(room, source, "waiting")
    frames = [quiet_tone(_FRAME_S, _RATE)] * round(_TONE_S / _FRAME_S)
    frames += [silence_frame(_FRAME_S, _RATE, 1)] * round(_PAUSE_S / _FRAME_S)
    try:
        while True:
            for frame in frames:
                await source.capture_frame(frame)
    finally:
        await _unpublish(room, published, source)


async def _forward_audio(source_room: rtc.Room, identity: str, target_room: rtc.Room) -> None:
    """Forward a participant's audio into another room until it ends."""
    track = await _wait_for_audio(source_room, identity)
    source = rtc.AudioSource(_RATE, 1, queue_size_ms=200)
    published = await _publish(target_room, source, identity)
    stream = rtc.AudioStream(track, sample_rate=_RATE, num_channels=1)
    try:
        async for event in stream:
            await source.capture_frame(event.frame)
    finally:
        await stream.aclose()
        await _unpublish(target_room, published, source)


async def _wait_for_audio(room: rtc.Room, identity: str) -> rtc.RemoteAudioTrack:
    """Wait until a participant's audio track is subscribed."""

    def found() -> rtc.RemoteAudioTrack | None:
        participant = room.remote_participants.get(identity)
        for one in participant.track_publications.values() if participant is not None else ():
            if isinstance(one.track, rtc.RemoteAudioTrack):
                return one.track
        return None

    return await _wait_until(room, "track_subscribed", found)


async def _publish(room: rtc.Room, source: rtc.AudioSource, name: str) -> rtc.LocalTrackPublication:
    track = rtc.LocalAudioTrack.create_audio_track(name, source)
    options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
    return await room.local_participant.publish_track(track, options)


async def _unpublish(
    room: rtc.Room, published: rtc.LocalTrackPublication, source: rtc.AudioSource
) -> None:
    try:
        if room.isconnected():
            await _best_effort(
                lambda: room.local_participant.unpublish_track(published.sid),
                "track not unpublished: %s",
            )
    finally:
        await source.aclose()


async def _wait_until_joined(room: rtc.Room, identity: str) -> None:
    await _wait_until(room, "participant_connected", lambda: room.remote_participants.get(identity))


async def _wait_until_left(room: rtc.Room, identity: str) -> None:
    """Wait until a participant has left, or the room is gone."""
    await _wait_until(
        room,
        "participant_disconnected",
        lambda: identity not in room.remote_participants or not room.isconnected() or None,
    )


async def _wait_until(room: rtc.Room, event: EventTypes, found: Callable[[], T | None]) -> T:
    """Wait until a function finds something; it is called at each such event and at a disconnect."""
    changed = asyncio.Event()

    def look(*_: object) -> None:
        changed.set()

    events: tuple[EventTypes, ...] = (event, "disconnected")
    for one in events:
        room.on(one, look)
    try:
        while (result := found()) is None:
            changed.clear()
            await changed.wait()
        return result
    finally:
        for one in events:
            room.off(one, look)


async def _best_effort(work: Callable[[], Awaitable[object]], failed: str) -> None:
    """Do something within ``CLOSE_S``; a failure is only logged."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await work()
    except Exception as error:  # of any type: the clean-up has to go on
        logger.info(failed, type(error).__name__)


def _failure_reason(error: BaseException) -> str:
    """Return why a call failed, without the number that was called."""
    if isinstance(error, api.SipCallError):
        return f"SIP status {error.sip_status_code}"
    return error.code if isinstance(error, api.TwirpError) else type(error).__name__
