"""Puts a phone caller through to a person: at once by SIP (cold), or after the person was asked (warm).

``WarmTransferTask`` of livekit-agents 1.8.9 is not used: a model decides in it whether the person is
joined. It moves them by a request that livekit-server 1.13.5 refuses as not implemented. Afterwards the
one of the two who stays on the line is disconnected, or is left alone in the room.
"""

import asyncio
import logging
import math
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Generic, TypeVar

from livekit import api, rtc
from livekit.agents.tts import TTS
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
from state.shared import SharedState

T = TypeVar("T")

logger = logging.getLogger(__name__)

RING_S = 25
"""How long the person's telephone rings, in whole seconds."""

RINGING_S = RING_S + 5.0
"""How long the server may take to say that no one has answered, in seconds."""

ANSWER_S = 8.0
"""How long the person has to press a key after they were asked, in seconds; then they are asked
again, once."""

SPOKEN_S = 45.0
"""How long speaking to the person may take at a time, in seconds."""

JOIN_S = 10.0
"""How long the person may take to appear in a room, in seconds: livekit-server 1.13.5 may announce
a participant three seconds late."""

CLOSE_S = 3.0
"""How long closing the person's room may take, in seconds."""

PERSON = "person"
"""The identity of the person begins with it."""

MARK = "transfer"
"""The caller's attribute ``<prefix>.transfer`` names the person's room while they are put through, for
an agent that replaces this one."""

_TAKE, _LEAVE = "1", "2"
_TIMES_ASKED = 2
_RATE = 24_000
_FRAME_S = 0.1
_TONE_S, _PAUSE_S, _HERTZ, _LOUDNESS = 1.0, 2.0, 440, 2_000
"""The tone that a waiting caller hears: short, quiet, and never more than two seconds away."""


@dataclass(frozen=True)
class PhoneServer:
    """The server by which callers are transferred.

    Args:
        trunk: The id of the outbound trunk by which a person is called before the caller is put
            through to them; without it callers are transferred at once.
    """

    api: api.LiveKitAPI
    url: str = ""
    key: str = ""
    secret: str = ""
    trunk: str | None = None


class NotPutThrough(Exception):
    """No one has taken the call; the text says why, for the log."""


async def cold_transfer(server: PhoneServer, room: rtc.Room, caller: str, to: str) -> None:
    """Transfer a caller at once; returns when they are transferred.

    Args:
        server: Where.
        room: The caller's room.
        caller: The caller's identity.
        to: A telephone number (E.164) or a SIP address.

    Raises:
        NotPutThrough: They were not transferred.
    """
    done = await transfer(server.api, room.name, caller, to)
    if done is None:  # the server does not say
        with suppress(TimeoutError):
            async with asyncio.timeout(MOVED_S):
                await _left(room, caller)
                done = True
    if not done:
        raise NotPutThrough("not transferred")


class CallerLine(Generic[S, C]):
    """The telephone line of one call, as its agents use it by ``PutThrough``.

    While the user waits they are not heard, and the keys they press are not either.

    Args:
        server: Where callers are transferred.
        spawn: Runs a task; its owner cancels it.
        transferred: Called when the user has been transferred and is gone.
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
        self._asked = False
        self._name = ""
        """The name of the person's room."""
        self._over = asyncio.Event()
        """Set when the user has hung up, or the call has ended."""
        self.on_hold = False
        """Whether the user is waiting for a person, or talking to one."""
        self._call.at_end(self._over.set)

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
        if not self._asked:
            self._asked = True
            self._spawn(self._run(reason))

    def user_left(self) -> None:
        """Note that the user has hung up, or was transferred."""
        self._over.set()

    async def _run(self, reason: str) -> None:
        call, words = self._call, self._conversation.words
        try:
            self._name = f"{self._room.name}-{PERSON}-{token_hex(4)}"
            await self._mark(self._name)
            await call.user_speech.quiet()
            if self._over.is_set():
                return
            self.on_hold = True
            self._conversation.hold()
            try:
                tell = await self._transfer(reason)
            except NotPutThrough as error:
                logger.warning("caller not put through: %s", error)
                noted = await note_wish(self._app, self._call.shared, reason)
                tell = f"{words.not_put_through} {noted}".strip()
            if tell and not self._over.is_set():
                call.speak(tell)
                await call.answered()  # they may be talking, and would interrupt it
            await self.unmark()
        finally:
            self._asked = self.on_hold = False
            self._conversation.resume()

    async def _transfer(self, reason: str) -> str:
        """Transfer the user; returns what they are told if they are still on the line."""
        to = self._number()
        if to is None:
            raise NotPutThrough("closed meanwhile")
        if self._server.trunk is None:
            # The user may leave before the server says that they were transferred.
            await cold_transfer(self._server, self._room, self._user, to)
            self._transferred()
            return ""
        call, words = self._call, self._conversation.words
        tts = call.session.tts
        if not isinstance(tts, TTS):
            raise NotPutThrough("no text-to-speech")
        shown = CallSummary(reason)
        summary: Callable[..., CallSummary] = self._app.phone.summary
        shown = attempt("phone.summary", shown, summary, call.state, call.shared.context, reason)
        warm = WarmTransfer(
            self._server,
            self._room,
            self._user,
            to,
            name=self._name,
            summary=shown,
            words=words,
            tts=tts,
        )
        try:
            await first(warm.run(), self._over.wait())
        finally:
            await warm.aclose(caller_gone=self._over.is_set())
        return words.person_gone

    async def unmark(self) -> None:
        """Note in the room that no one is put through any more."""
        await self._mark("")

    async def _mark(self, name: str) -> None:
        request = api.UpdateParticipantRequest(
            room=self._room.name,
            identity=self._user,
            attributes={f"{self._app.prefix}.{MARK}": name},
        )
        await _quietly(
            lambda: self._server.api.room.update_participant(request), "caller not marked: %s"
        )


async def note_wish(app: App[S, C], shared: SharedState[S, C], reason: str) -> str:
    """Have a caller's wish for a person stored for staff; returns what they are told of that."""
    if app.phone.not_reached is None:
        return ""
    try:
        await app.phone.not_reached(shared, reason)
    except Exception:  # the application's own: it is not said then
        logger.exception("phone.not_reached failed")
        return ""
    return app.rooms.words.noted


async def talked_to_person(server: PhoneServer, room: rtc.Room, caller: str, name: str) -> bool:
    """Settle the transfer of an agent that was lost; returns whether the two had been connected.

    If the two are in the caller's room, it waits until one of them has left. Else it ends the
    person's call: nothing passes their audio on.

    Args:
        server: Where.
        room: The caller's room, connected.
        caller: The caller's identity.
        name: The name of the person's room, as the caller's attribute has it.
    """
    person = name.removeprefix(f"{room.name}-")
    if person in room.remote_participants:
        await first(_left(room, person), _left(room, caller))
        if person in room.remote_participants:
            await end_line(server.api, room.name, person)
        return True
    request = api.DeleteRoomRequest(room=name)
    await _quietly(lambda: server.api.room.delete_room(request), "person's room not closed: %s")
    return False


class WarmTransfer:
    """Calls a person, tells them what it is about, and connects the caller if they take the call.

    The caller hears a tone meanwhile. The person is called into a room of their own, which ends
    with the transfer.

    Args:
        server: Where.
        room: The caller's room, connected.
        to: Whom to call: a telephone number (E.164) or a SIP address.
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
        self._theirs = rtc.Room()
        """The person's room."""
        self._name, self._person = name, name.removeprefix(f"{room.name}-")
        self._source: rtc.AudioSource | None = None
        self._answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Put the caller through, and return when one of the two has hung up.

        Raises:
            NotPutThrough: No one has taken the call.
        """
        try:
            async with hold_tone(self._room):
                await self._reach()
            await self._connect()
        except NotPutThrough:
            raise
        except Exception as error:  # of whatever kind: the caller is told
            raise NotPutThrough(_why(error)) from error

    async def aclose(self, *, caller_gone: bool) -> None:
        """End the person's call and close their room.

        Args:
            caller_gone: Whether the caller has hung up: the person is told.
        """
        try:
            there = self._theirs.isconnected() and self._person in self._theirs.remote_participants
            if caller_gone and there:
                await self._speak(self._words.caller_gone)
        except Exception as error:  # a courtesy
            logger.info("person not told that the caller is gone: %s", type(error).__name__)
        finally:
            await self._close()

    async def _close(self) -> None:
        if self._source is not None:
            await self._source.aclose()
        for closing in (
            lambda: self._theirs.disconnect(),
            lambda: self._server.api.room.delete_room(api.DeleteRoomRequest(room=self._name)),
        ):
            await _quietly(closing, "person's room not closed: %s")
        if self._person in self._room.remote_participants:
            await end_line(self._server.api, self._room.name, self._person)

    # -- reaching the person ------------------------------------------------------------------------

    async def _reach(self) -> None:
        """Call the person, tell them what it is about, and wait until they take the call."""
        server = self._server
        self._theirs.on("sip_dtmf_received", self._on_key)
        self._theirs.on("participant_disconnected", self._on_left)
        self._source = rtc.AudioSource(self._tts.sample_rate, self._tts.num_channels)
        room = api.CreateRoomRequest(
            name=self._name,
            metadata=self._summary.written,
            empty_timeout=RING_S + 10,
            departure_timeout=5,
        )
        async with asyncio.timeout(JOIN_S):
            await server.api.room.create_room(room)
            await connect(self._theirs, server.url, self._token())
            published = await _publish(self._theirs, self._source, "summary")
        call = api.CreateSIPParticipantRequest(
            sip_trunk_id=server.trunk,
            sip_call_to=self._to,
            room_name=self._name,
            participant_identity=self._person,
            wait_until_answered=True,
        )
        call.ringing_timeout.FromSeconds(RING_S)
        async with asyncio.timeout(RINGING_S):
            await server.api.sip.create_sip_participant(call)
        async with asyncio.timeout(JOIN_S):
            await _joined(self._theirs, self._person)
            await published.wait_for_subscription()
        await send_transcription(
            self._theirs.local_participant, self._summary.written, "summary", to=self._person
        )
        await first(self._ask(), asyncio.shield(self._answer))
        if not self._answer.done():
            raise NotPutThrough("no key pressed")  # a mailbox presses none
        if not self._answer.result():
            raise NotPutThrough("declined")
        self._source.clear_queue()
        await self._speak(self._words.taken)

    async def _ask(self) -> None:
        for _ in range(_TIMES_ASKED):
            await self._speak(f"{self._summary.spoken} {self._words.take_or_leave}")
            await asyncio.sleep(ANSWER_S)

    def _on_key(self, pressed: rtc.SipDTMF) -> None:
        if pressed.digit in (_TAKE, _LEAVE):
            self._answered(pressed.digit == _TAKE)

    def _on_left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self._person:
            self._answered(False)

    def _answered(self, takes: bool) -> None:
        if not self._answer.done():
            self._answer.set_result(takes)

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
        grants = api.VideoGrants(room_join=True, room=self._name)
        token = api.AccessToken(self._server.key, self._server.secret)
        agent = self._room.local_participant.identity
        return token.with_identity(agent).with_grants(grants).with_kind("agent").to_jwt()

    # -- the two together ---------------------------------------------------------------------------

    async def _connect(self) -> None:
        """Connect the two; returns when one of them has hung up."""
        move = api.MoveParticipantRequest(
            room=self._name, identity=self._person, destination_room=self._room.name
        )
        try:
            await self._server.api.room.move_participant(move)
        except api.TwirpError as error:  # livekit-server 1.13.5: not implemented
            logger.info("person not moved, their audio is passed on: %s", error.message)
            await self._relay()
            return
        async with asyncio.timeout(JOIN_S):
            await _joined(self._room, self._person)
        await first(_left(self._room, self._person), _left(self._room, self._caller))

    async def _relay(self) -> None:
        """Pass the audio of both on, between their rooms."""
        await first(
            _pass_on(self._room, self._caller, self._theirs),
            _pass_on(self._theirs, self._person, self._room),
            _left(self._theirs, self._person),
            _left(self._room, self._caller),
        )


@asynccontextmanager
async def hold_tone(room: rtc.Room) -> AsyncIterator[None]:
    """Play a tone in a room again and again, for a caller who waits."""
    playing = asyncio.ensure_future(_play_tone(room))
    try:
        yield
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        if not playing.cancelled() and (error := playing.exception()) is not None:
            logger.warning("waiting caller heard no tone: %s", type(error).__name__)


async def _play_tone(room: rtc.Room) -> None:
    source = rtc.AudioSource(_RATE, 1, queue_size_ms=200)
    published = await _publish(room, source, "waiting")
    count = int(_RATE * _FRAME_S)
    tone = array(
        "h", (round(_LOUDNESS * math.sin(math.tau * _HERTZ * at / _RATE)) for at in range(count))
    ).tobytes()
    frames = [rtc.AudioFrame(tone, _RATE, 1, count)] * round(_TONE_S / _FRAME_S)
    frames += [rtc.AudioFrame(bytes(2 * count), _RATE, 1, count)] * round(_PAUSE_S / _FRAME_S)
    try:
        while True:
            for frame in frames:
                await source.capture_frame(frame)
    finally:
        await _unpublish(room, published, source)


async def _pass_on(source_room: rtc.Room, identity: str, target_room: rtc.Room) -> None:
    """Pass a participant's audio on into another room until it ends."""
    track = await _audio_of(source_room, identity)
    source = rtc.AudioSource(_RATE, 1, queue_size_ms=200)
    published = await _publish(target_room, source, identity)
    stream = rtc.AudioStream(track, sample_rate=_RATE, num_channels=1)
    try:
        async for event in stream:
            await source.capture_frame(event.frame)
    finally:
        await stream.aclose()
        await _unpublish(target_room, published, source)


async def _audio_of(room: rtc.Room, identity: str) -> rtc.RemoteAudioTrack:
    """Wait for a participant's audio."""

    def found() -> rtc.RemoteAudioTrack | None:
        participant = room.remote_participants.get(identity)
        for one in participant.track_publications.values() if participant is not None else ():
            if isinstance(one.track, rtc.RemoteAudioTrack):
                return one.track
        return None

    return await _when(room, "track_subscribed", found)


async def _publish(room: rtc.Room, source: rtc.AudioSource, name: str) -> rtc.LocalTrackPublication:
    track = rtc.LocalAudioTrack.create_audio_track(name, source)
    options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
    return await room.local_participant.publish_track(track, options)


async def _unpublish(
    room: rtc.Room, published: rtc.LocalTrackPublication, source: rtc.AudioSource
) -> None:
    try:
        if room.isconnected():
            await _quietly(
                lambda: room.local_participant.unpublish_track(published.sid),
                "track not unpublished: %s",
            )
    finally:
        await source.aclose()


async def _joined(room: rtc.Room, identity: str) -> None:
    await _when(room, "participant_connected", lambda: room.remote_participants.get(identity))


async def _left(room: rtc.Room, identity: str) -> None:
    """Wait until a participant has left, or the room is gone."""
    await _when(
        room,
        "participant_disconnected",
        lambda: identity not in room.remote_participants or not room.isconnected() or None,
    )


async def _when(room: rtc.Room, event: EventTypes, found: Callable[[], T | None]) -> T:
    """Wait until something is found, looking again at an event of the room and when it is gone."""
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


async def _quietly(work: Callable[[], Awaitable[object]], failed: str) -> None:
    """Do something for a limited time; a failure is only logged."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await work()
    except Exception as error:  # cleaning up goes on with what is next, whatever livekit raises
        logger.info(failed, type(error).__name__)


def _why(error: BaseException) -> str:
    """Say why a call failed, without the number that was called."""
    if isinstance(error, api.SipCallError):
        return f"SIP status {error.sip_status_code}"
    return error.code if isinstance(error, api.TwirpError) else type(error).__name__
