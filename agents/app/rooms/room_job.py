"""Serves one room, from acquiring its lease until the agent has left.

One job serves several calls of the same user, one after another; each is a ``RoomConversation``.
After a call the agent stays in the room, read-only, until the user starts another call or is gone
for good.
"""

import asyncio
import contextlib
import logging
from dataclasses import replace
from typing import Any, Generic

from livekit import rtc

from agents.app.background import BackgroundTasks, Timer
from agents.app.job_metadata import JobMetadata
from agents.app.parts import C, Channel, S
from agents.app.recordings import CallRecorder
from agents.app.rooms.chat import Chat
from agents.app.rooms.conversation import RoomConversation
from agents.app.rooms.departure import (
    LAST_WORDS_S,
    end_without_speech,
    leave_superseded,
    notify_end,
)
from agents.app.rooms.media import SpeechNotBuilt, channel_of
from agents.app.rooms.phone import DtmfDigits, is_telephone
from agents.app.rooms.presence import Presence, UserReturned
from agents.app.rooms.process_context import ProcessContext, RoomOutcome
from agents.app.rooms.rejection import send_transcription
from agents.app.rooms.rejoin import RejoinDetector
from agents.app.rooms.room_lease import RoomLease, lease_name
from agents.app.rooms.state_of_call import Opened, last_of, open_for
from agents.app.rooms.transfer import (
    TRANSFER_ATTRIBUTE,
    CallerLine,
    PhoneServer,
    finish_lost_transfer,
    store_transfer_request,
)
from agents.app.states import is_erased
from agents.handoff import Ended, MicrophoneMode
from rpc.gateway import Caller, Forbidden, Gateway, Mutes, NotYet, RoomService
from rpc.page import PageMethods
from state.shared import Lease, StateError

logger = logging.getLogger(__name__)

STAFF_POLL_S = 2.0
"""How often the database is polled for changes made by staff, in seconds."""

OWN_GOODBYE_S = 2.0
"""How long after the end of a call speech starts no other call, in seconds: it answers the agent's
goodbye."""

OPEN_S = 90.0
"""How long a call may take to open, in seconds: longer than the wait for the database."""

HELLO_S = 5.0
"""How long a hello waits for the next call to begin, in seconds."""

END_STORED_S = 2.0
"""How long the notice of a call's end waits until the end is stored, in seconds."""

ERASED_S = 2.0
"""How long the query whether a state was erased may take, in seconds."""

_ENDED = frozenset({RoomOutcome.COMPLETED, RoomOutcome.STOPPED})
_REPLACED = frozenset({RoomOutcome.SUPERSEDED, RoomOutcome.FAILED, RoomOutcome.DISCONNECTED})
"""The outcomes after which another agent joins the room."""


class RoomJob(Generic[S, C]):
    """Serves one user in one room, in one call after another, each about a state.

    Args:
        room: The room, not connected.
        rooms: The LiveKit server API; without it participants are neither looked up nor muted.
        phones: Transfers phone callers who ask for a person; without it no agent offers that.
    """

    def __init__(
        self,
        process: ProcessContext[S, C],
        room: rtc.Room,
        rooms: RoomService | None,
        *,
        name: str,
        job: str,
        metadata: JobMetadata,
        phones: PhoneServer | None = None,
    ) -> None:
        self._spec = spec = process.app.page_spec
        self._process = process
        self._room = room
        self._metadata = metadata
        self._outcome: asyncio.Future[RoomOutcome] = asyncio.get_running_loop().create_future()
        self._room_lease = RoomLease(
            process.store,
            lease_name(process.agent, name),
            job,
            supersedes=metadata.supersedes,
            tries=metadata.tries if metadata.supersedes else None,
            lost=self._on_lease_lost,
        )
        self._presence = Presence(
            room,
            rooms,
            expected=metadata.user,
            user_role=spec.user,
            roles=spec.roles,
            prefix=process.app.prefix,
            left=self._on_user_left,
            came_back=self._on_user_back,
            joined=self._on_joined,
            gone=self._on_gone,
        )
        self._background = BackgroundTasks("background task failed")
        self._spawn = self._background.spawn
        self._rejoin = RejoinDetector(self._presence, self._spawn)
        self._methods = PageMethods(spec, self._on_hello, self._begin_for_message)
        self._mutes = Mutes(rooms, name) if rooms is not None else None
        self._gateway = Gateway(
            self._methods.methods(),
            role_of=self._presence.role_of,
            is_there=self._presence.is_there,
            find=self._presence.wait_for,
            version=lambda: (
                self._conversation.call.shared.version if self._conversation is not None else None
            ),
            mutes=self._mutes,
        )
        words = process.app.rooms.words
        self._chat = Chat(
            self._presence, self._on_message, self._send_refusal, too_long=words.too_long
        )
        self._dtmf = DtmfDigits(self._on_message, a_person=words.a_person)
        self._ready = asyncio.Event()
        """Set while the present call takes input, or the last one can be read."""
        self._conversation: RoomConversation[S, C] | None = None
        self._next_lease: Lease | None = None
        """The lease with the state that the next call continues, after the first call."""
        self._over = asyncio.Event()
        """Set when the last call has ended normally and no other has begun."""
        self._ended_at = float("-inf")
        self._finding_cause = False
        """Whether a task is finding out why the state cannot be written any more."""
        self._erased = False
        """Whether the present call's state was erased."""
        self._next_call_requested = asyncio.Event()
        """Set when the user has asked for another call."""
        self._leaving = False
        self._on_phone = False
        self._phones = phones
        self._caller_line: CallerLine[S, C] | None = None
        self._lost_transfer_connected: bool | None = None
        """If an agent was lost during a transfer: whether the user was connected to the person."""
        self._queued_messages: list[str] = []
        """Messages of the user that arrived while no call took input."""
        self._grace = Timer(self._on_grace_over)

    # -- lifecycle -----------------------------------------------------------------------------------

    async def acquire_lease(self) -> bool:
        """Acquire the room's lease before connecting; returns whether it is ours.

        Raises:
            JournalFault: The database cannot be used.
        """
        if not await self._room_lease.acquire():
            return False
        lease = self._room_lease.lease
        if self._metadata.supersedes is not None and lease.user is not None:
            self._presence.expect(lease.user)
        return True

    def attach(self) -> None:
        """Subscribe to the room's events. Call it before the room is connected, so that none is missed."""
        self._chat.follow(self._room)
        self._room.on("sip_dtmf_received", self._on_dtmf)
        self._room.on("active_speakers_changed", self._on_speakers)
        self._room.on("reconnecting", self._rejoin.agent_reconnecting)
        self._room.on("reconnected", self._on_reconnected)
        self._room.on("disconnected", self._on_disconnected)

    async def run(self) -> RoomOutcome:
        """Serve the user until they are gone or served elsewhere. Call it when the room is connected.

        Raises:
            StateFaults: The database cannot be used.
        """
        self._gateway.install(self._room.local_participant)
        # livekit-server 1.13.5 announces an agent to the others at once when an attribute changes.
        self._spawn(self._set_agent_state("initializing"))
        if self._mutes is not None:
            self._spawn(self._mutes.warm_up(self._room.local_participant.identity))
        self._presence.start()
        if not await self._wait_for_user():
            return self._finish(RoomOutcome.NO_USER)
        try:
            await self._finish_lost_transfer()
            while not self._outcome.done():
                async with asyncio.timeout(OPEN_S):
                    conversation = await self._open()
                await self._event_or_outcome(self._over)
                if conversation is not None and self._over.is_set():
                    await self._stay_read_only(conversation)
        except Exception:
            if self._outcome.done():  # the lease was lost meanwhile: another agent continues
                return self._outcome.result()
            raise
        outcome = self._outcome.result()
        if outcome in _ENDED and not self._over.is_set():
            await notify_end(self._conversation)
        elif outcome is RoomOutcome.SUPERSEDED:
            await leave_superseded(
                self._room,
                self._process.store,
                self._room_lease,
                self._conversation,
                self._presence,
            )
        elif outcome is RoomOutcome.NO_SPEECH:
            apology = end_without_speech(self._room, self._conversation, self._presence)
            await asyncio.wait((self._spawn(apology),))
        return outcome

    def leave_when_over(self) -> None:
        """Leave after the present call: the worker is shutting down."""
        self._leaving = True
        if self._over.is_set() and not self._next_call_requested.is_set():
            self._finish(RoomOutcome.COMPLETED)

    async def aclose(self) -> None:
        """Leave: stop all tasks, store the transcript, release the lease."""
        outcome = self._finish(RoomOutcome.DISCONNECTED)
        self._methods.close()
        self._presence.close()
        self._dtmf.cancel()
        self._grace.stop()
        if self._conversation is not None:
            self._conversation.stop_waiting()
        await self._background.aclose()
        await self._chat.aclose()
        if self._conversation is not None:
            await self._conversation.aclose()
        await self._gateway.aclose()
        said_goodbye = self._conversation is None or self._is_finished(self._conversation)
        done = outcome in (RoomOutcome.NO_USER, RoomOutcome.NO_SPEECH)
        done = done or (outcome in _ENDED and said_goodbye)
        await self._room_lease.release(done=done)

    @property
    def user(self) -> rtc.RemoteParticipant | None:
        """The user, while present."""
        return self._presence.participant

    @property
    def successor_metadata(self) -> JobMetadata:
        """The metadata for a job that continues this call."""
        state_id = self._metadata.state_id
        if self._conversation is not None and not self._over.is_set():
            state_id = self._conversation.call.shared.state_id
        user = self._presence.user or self._metadata.user
        return self._metadata.model_copy(update={"state_id": state_id, "user": user})

    async def _set_agent_state(self, state: str) -> None:
        """Set LiveKit's attribute for the agent's state while no session does."""
        await self._room.local_participant.set_attributes({"lk.agent.state": state})

    # -- the start of a call -------------------------------------------------------------------------

    async def _wait_for_user(self) -> bool:
        """Wait until the user is bound; returns whether there is one to serve."""
        waiting = asyncio.ensure_future(self._presence.bound())
        try:
            while not waiting.done() and not self._outcome.done():
                candidate = self._presence.has_candidate
                await asyncio.wait(
                    (waiting, self._outcome),
                    timeout=self._process.user_wait_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not waiting.done() and not candidate and not self._presence.has_candidate:
                    return False
        finally:
            waiting.cancel()
        return waiting.done() and not waiting.cancelled() and not self._outcome.done()

    async def _finish_lost_transfer(self) -> None:
        """Finish a transfer whose agent was lost: wait while caller and person are connected."""
        user = self._presence.participant
        name = (
            user.attributes.get(f"{self._process.app.prefix}.{TRANSFER_ATTRIBUTE}")
            if user
            else None
        )
        if user is None or not name or self._phones is None or not is_telephone(user):
            return
        settled = asyncio.ensure_future(
            finish_lost_transfer(self._phones, self._room, user.identity, name)
        )
        try:
            await asyncio.wait((settled, self._outcome), return_when=asyncio.FIRST_COMPLETED)
            if settled.done():
                self._lost_transfer_connected = settled.result()
        finally:
            settled.cancel()

    async def _open(self) -> RoomConversation[S, C] | None:
        """Start the first call or the next one; ``None`` if speech is needed and missing."""
        process, user = self._process, await self._presence.bound()
        channel = await channel_of(self._presence, self._metadata.channel, process.media)
        participant = self._presence.participant
        self._on_phone = telephone = participant is not None and is_telephone(participant)
        if telephone and not process.media.has_speech:
            logger.error("phone call not served: no STT and TTS configured")
            self._on_speech_lost()
            return None
        await process.live.refresh()
        opened = await open_for(
            process.app,
            process.store,
            process.context,
            self._metadata,
            self._next_lease or self._room_lease.lease,
            user=user,
            channel=channel,
            secret=process.secret,
        )
        if self._lost_transfer_connected is not None:
            first = await self._lost_transfer_preamble(opened)
            opened = replace(opened, preamble=f"{first} {opened.preamble}".strip())
        last = () if opened.resumed else await last_of(process.app, process.store, user)
        await self._room_lease.record_state(opened.shared.state_id, user)
        keep_number = process.app.phone.caller_number
        if channel == "phone" and participant is not None and not opened.resumed and keep_number:
            if number := participant.attributes.get("sip.phoneNumber", ""):  # else withheld
                try:
                    await keep_number(opened.shared, number)
                except Exception:  # of any type: the application's function raised it
                    logger.exception("phone.caller_number failed")
        self._conversation = conversation = RoomConversation(
            process,
            self._room,
            opened,
            user=user,
            channel=channel,
            present=lambda: self._presence.present,
            ended=self._on_end,
            lost=self._on_speech_lost if telephone else None,
            microphone_mode=self._presence.microphone_mode,
            mode_changed=self._store_microphone_mode,
            last=last,
            recorder=await self._recorder(channel, opened),
        )
        if telephone and self._phones is not None:
            conversation.call.line = self._caller_line = CallerLine(
                self._phones,
                process.app,
                conversation,
                self._room,
                user,
                spawn=self._spawn,
                transferred=self._on_gone_for_good,
            )
        # The dispatch asked for this state and code only for the first call.
        self._metadata = self._metadata.model_copy(update={"state_id": None, "resume_code": None})
        self._over.clear()
        self._next_call_requested.clear()
        self._erased = False
        self._methods.open(conversation.session, conversation.page)
        early, self._queued_messages = self._queued_messages, []
        for words in early:
            conversation.call.user_said(words)
        self._ready.set()
        self._spawn(self._poll_staff_changes(conversation))
        try:
            await conversation.start()
        except SpeechNotBuilt as error:
            if not telephone:
                raise
            logger.error("phone call not served: speech models not built", exc_info=error)
            self._on_speech_lost()
        if self._lost_transfer_connected is not None and self._caller_line is not None:
            self._lost_transfer_connected = None
            self._spawn(self._caller_line.clear_attribute())  # the preamble has told the caller
        if not self._presence.present:
            self._on_user_left()
        return conversation

    async def _lost_transfer_preamble(self, opened: Opened[S, C]) -> str:
        """Return the sentence for a caller whose transfer was interrupted by the loss of its agent."""
        words = self._process.app.rooms.words
        if self._lost_transfer_connected:
            return words.person_gone
        noted = await store_transfer_request(self._process.app, opened.shared, words.a_person)
        return f"{words.transfer_lost} {noted}".strip()

    async def _recorder(self, channel: Channel, opened: Opened[S, C]) -> CallRecorder | None:
        """Create the recording of a call that is recorded."""
        kept = self._process.recordings
        if kept is None or not self._process.media.is_spoken(channel):
            return None
        if opened.prior.recording_refused:
            return None
        return await asyncio.to_thread(kept.begin, opened.shared.state_id)

    # -- between two calls ---------------------------------------------------------------------------

    async def _stay_read_only(self, conversation: RoomConversation[S, C]) -> None:
        """Stay read-only after a call, until the user starts another one or is gone for good."""
        said_goodbye = self._is_finished(conversation)
        # Stored before clients are notified: an agent that replaces this one must not continue the
        # call.
        stored = [self._spawn(self._room_lease.reset())] if said_goodbye else []
        if stored:
            await asyncio.wait(stored, timeout=END_STORED_S)
        conversation.page.ended(
            "agent_ended" if said_goodbye else "user_left",
            present=self._presence.present,
            kept=not self._erased,
        )
        # The RPC reply to the last message, and the last words, may not have been sent yet.
        await asyncio.sleep(LAST_WORDS_S)
        if self._on_phone or (self._leaving and not self._next_call_requested.is_set()):
            self._finish(RoomOutcome.COMPLETED)
        if not self._outcome.done():
            await conversation.finish()
        if self._outcome.done():
            return
        self._spawn(self._set_agent_state("idle"))
        if stored:
            await asyncio.wait(stored)
        await self._event_or_outcome(self._next_call_requested)
        if self._outcome.done():
            return
        # After a silence timeout the user continues their state; after a goodbye they start a new
        # one.
        over = self._is_finished(conversation)  # it may have been erased meanwhile
        state_id = None if over else conversation.call.shared.state_id
        self._next_lease = replace(
            self._room_lease.lease, state_id=state_id, user=self._presence.user, tries=0
        )
        self._conversation = None
        await conversation.aclose()

    def _request_next_call(self) -> None:
        """Start another call if the last one is over."""
        if self._over.is_set():
            self._next_call_requested.set()
            self._ready.clear()

    async def _begin_for_message(self) -> None:
        """Start a call for a message after the end of one; returns when the call takes input."""
        self._request_next_call()
        await self._until_ready()

    def _on_speakers(self, speakers: "list[rtc.Participant]") -> None:
        if not self._over.is_set() or not self._process.media.has_speech:
            return
        if self._presence.microphone_mode == "push_to_talk":  # only start_turn is heard
            return
        early = asyncio.get_running_loop().time() < self._ended_at + OWN_GOODBYE_S
        if not early and any(one.identity == self._presence.user for one in speakers):
            self._request_next_call()

    # -- requests of the user -----------------------------------------------------------------------

    async def _on_hello(self, caller: Caller) -> None:
        """Accept a hello of the user or of staff once the call takes input."""
        role = self._presence.role_of(caller.identity)
        if role in (None, self._spec.user) and not self._presence.claim(caller.identity):
            raise Forbidden("This call is another user's. Join a room of your own.")
        if (
            role in (None, self._spec.user)
            and self._over.is_set()
            and await self._rejoin.has_rejoined()
        ):
            self._request_next_call()
        # Before the first call the agent may still be joining. Later only the database can delay a
        # hello.
        limit_s = HELLO_S if self._ended_at > float("-inf") else None
        try:
            async with asyncio.timeout(limit_s):
                await self._until_ready()
        except TimeoutError:
            raise NotYet("The next call is still starting: call hello again in a moment.") from None
        if self._conversation is not None:
            self._conversation.page.greeted(caller.identity)

    async def _until_ready(self) -> None:
        """Wait until the present call takes input, or the one that is over can be read."""
        await self._event_or_outcome(self._ready)
        if self._outcome.done() and self._outcome.result() in _REPLACED:
            # No reply: the client sees this agent leave, and calls hello of the next one.
            await asyncio.Event().wait()
        if self._conversation is None or not self._ready.is_set():
            raise Forbidden("This call is over.")

    def _on_message(self, words: str) -> None:
        if self._conversation is None or self._over.is_set():
            self._queued_messages.append(words)
            self._request_next_call()
        elif self._room_lease.may_have_expired:
            self._spawn(self._on_message_if_held(self._conversation, words))
        else:
            self._conversation.call.user_said(words)

    async def _on_message_if_held(self, conversation: RoomConversation[S, C], words: str) -> None:
        """Pass on a message received while suspended, unless another agent has the lease by now."""
        if await self._room_lease.renew():
            conversation.call.user_said(words)

    async def _send_refusal(self, words: str, segment: str) -> None:
        """Notify the user that their messages were not accepted."""
        to = self._presence.user
        if to is not None:
            await send_transcription(self._room.local_participant, words, segment, to=to)

    def _store_microphone_mode(self, mode: MicrophoneMode) -> None:
        """Store the microphone's mode for an agent that replaces this one, and for the next call."""
        self._spawn(self._presence.store_microphone_mode(mode))

    def _on_dtmf(self, pressed: rtc.SipDTMF) -> None:
        participant = pressed.participant
        waits = self._caller_line is not None and self._caller_line.on_hold
        if participant is not None and participant.identity == self._presence.user and not waits:
            self._dtmf.press(pressed.digit)

    def _on_user_left(self) -> None:
        if self._caller_line is not None:
            self._caller_line.user_left()
        if self._conversation is not None:
            self._conversation.user_left()
        if self._grace.due_at is None and not self._outcome.done():
            self._grace.start(self._process.grace_s)

    def _on_user_back(self, arrival: UserReturned) -> None:
        self._grace.stop()
        conversation = self._conversation
        if conversation is None:
            return
        button = conversation.call.push_to_talk
        if arrival.reloaded and button is not None and button.mode == "push_to_talk":
            self._store_microphone_mode(button.mode)
        reloaded = arrival.reloaded and self._rejoin.is_settled
        if self._over.is_set():
            conversation.page.returned(reloaded=reloaded)
            if not self._rejoin.is_settled:
                self._rejoin.record_connection()
        elif conversation.call.ended is None:
            conversation.page.returned(reloaded=reloaded)
            if reloaded:
                self._spawn(conversation.call.come_back())

    def _on_grace_over(self) -> None:
        if self._presence.participant is not None:  # they are back but not active yet
            self._on_user_left()
        else:
            self._on_gone_for_good()

    def _on_gone_for_good(self) -> None:
        self._finish(RoomOutcome.COMPLETED)
        conversation = self._conversation
        if conversation is not None and conversation.call.ended is None:
            conversation.call.end("user_left")
            if self._room.isconnected():
                conversation.page.ended("user_left", present=False)

    def _on_joined(self, identity: str) -> None:
        if self._conversation is not None:
            staff = self._presence.role_of(identity) not in (None, self._spec.user)
            self._conversation.page.joined(identity, staff=staff)

    def _on_gone(self, identity: str) -> None:
        if self._conversation is not None:
            self._conversation.page.left(identity)

    # -- events of the call --------------------------------------------------------------------------

    def _on_end(self, event: Ended) -> None:
        conversation = self._conversation
        if event.reason != "failed" or self._erased:
            if conversation is not None:
                conversation.session.end()
            if conversation is None or conversation.call.closing is None or self._outcome.done():
                # livekit closes the session when the job is shut down. A phone caller keeps the line.
                self._finish(RoomOutcome.COMPLETED if self._erased else RoomOutcome.STOPPED)
                return
            self._end_call()
        elif conversation is not None and conversation.call.shared.taken_over:
            self._spawn(self._lose_state(conversation))
        elif not self._finding_cause:
            self._finish(RoomOutcome.FAILED)

    def _end_call(self) -> None:
        """Take no more input for this call; ``_stay_read_only`` notifies the clients."""
        self._ended_at = asyncio.get_running_loop().time()
        self._over.set()
        self._rejoin.record_connection()

    def _is_finished(self, conversation: RoomConversation[S, C]) -> bool:
        """Whether the user's next call starts a new state: the agent ended this one."""
        return self._erased or conversation.call.ended == "agent_ended"

    async def _lose_state(self, conversation: RoomConversation[S, C]) -> None:
        """Leave the room if another agent has the state; end the call if the state was erased."""
        if self._finding_cause:
            return
        self._finding_cause = True
        call, process = conversation.call, self._process
        try:
            async with asyncio.timeout(ERASED_S):
                erased = await is_erased(process.store, call.shared.state_id)
                erased = erased and await self._room_lease.acquire()
        except (StateError, TimeoutError):  # unknown, so assume that another agent has the state
            erased = False
        self._finding_cause = False
        if not erased:
            self._finish(RoomOutcome.SUPERSEDED)
            call.hang_up()
            call.end("failed")
            return
        self._erased = True
        conversation.session.lines.clear()
        logger.info("state erased, ending its call", extra={"room": self._room.name})
        if call.ended is None:
            call.close_after_reply("failed")
            call.speak(conversation.words.erased)
        elif not self._over.is_set():  # the failed write has ended the call
            conversation.session.end()
            to = self._room.local_participant
            await send_transcription(to, conversation.words.erased, "erased")
            self._end_call()

    async def _poll_staff_changes(self, conversation: RoomConversation[S, C]) -> None:
        """Reload changes by staff in other processes for the user's page; also after the end."""
        live = self._process.live
        known = live.values
        while self._conversation is conversation:
            await asyncio.sleep(STAFF_POLL_S)
            await live.refresh()
            if live.values != known:
                conversation.page.live_changed(known, live.values)
                known = live.values
            with contextlib.suppress(StateError):  # retried at the next poll
                await conversation.call.shared.refresh()

    def _on_speech_lost(self) -> None:
        """A phone caller can no longer be heard or spoken to."""
        self._finish(RoomOutcome.NO_SPEECH)

    # -- the connection and the lease ----------------------------------------------------------------

    def _on_reconnected(self) -> None:
        self._rejoin.agent_reconnected()
        if self._conversation is not None:
            self._conversation.page.on_reconnected()

    def _on_disconnected(self, reason: Any = None) -> None:
        closed = reason in (
            rtc.DisconnectReason.ROOM_CLOSED,
            rtc.DisconnectReason.ROOM_DELETED,
        )
        if closed:
            self._on_gone_for_good()
        self._finish(RoomOutcome.DISCONNECTED)
        if self._conversation is not None:
            # Without this the closing session would apologize, unheard, for the interrupted reply,
            # and the next agent would take the user's words as answered.
            self._conversation.call.hang_up()
            self._conversation.call.end("user_left")

    def _on_lease_lost(self) -> None:
        if self._conversation is not None:
            self._spawn(self._lose_state(self._conversation))
        else:
            self._finish(RoomOutcome.SUPERSEDED)

    # -- helpers -------------------------------------------------------------------------------------

    async def _event_or_outcome(self, event: asyncio.Event) -> None:
        """Wait for an event or the outcome."""
        waiting = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait((waiting, self._outcome), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    def _finish(self, outcome: RoomOutcome) -> RoomOutcome:
        """Set the outcome unless one is set; returns the one that holds."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)
        return self._outcome.result()
