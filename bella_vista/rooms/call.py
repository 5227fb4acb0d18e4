"""The calls in one room, from the moment their agent takes the place until it has left it.

One call follows another in the same job: ``Talk`` is what serves one of them, and what is here serves the room.
After a call the agent stays, for reading only, until its guest begins another one or is gone for good.
"""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from livekit import rtc

from agents.handoff import Ended
from agents.roster import restaurant_graph
from bella_vista.job import JobMetadata
from bella_vista.rooms.attendance import Arrival, Attendance
from bella_vista.rooms.chat import Chat
from bella_vista.rooms.house import House, Outcome
from bella_vista.rooms.keys import Keys
from bella_vista.rooms.media import SpeechNotBuilt, channel_of
from bella_vista.rooms.opening import keep_number, open_for
from bella_vista.rooms.phone import is_telephone, play_recording
from bella_vista.rooms.refusing import write
from bella_vista.rooms.seat import Seat, place_of
from bella_vista.rooms.talk import Talk
from bella_vista.rooms.words import MOVED_ON
from rpc.gateway import STAFF, Caller, Forbidden, Gateway, Mutes, NotYet, RoomService
from rpc.methods import OrderMethods
from state.shared import Lease, StateError

logger = logging.getLogger(__name__)

SETTLED_S = 10.0
"""How long after the agent's own connection was lost everybody's new one is no news, in seconds."""

HOUSE_S = 2.0
"""How often it is looked whether staff have written something, in seconds."""

LAST_WORDS_S = 0.5
"""How long the agent stays after the call has ended, in seconds."""

GOODBYE_S = 2.0
"""How long it may take to say where a call goes on, in seconds."""

OWN_GOODBYE_S = 2.0
"""Speech that begins so soon after the end answers the agent's goodbye, in seconds: it begins no other call."""

HELLO_S = 5.0
"""How long a hello waits for another call to begin, in seconds."""

_ANOTHER_COMES = frozenset({Outcome.WITHDRAWN, Outcome.FAILED, Outcome.CUT_OFF})


class RoomCall:
    """A guest and their calls in one room, each about an order of its own.

    Args:
        house: What all calls share.
        room: The room, not connected.
        rooms: The server's own interface; without it nobody is looked for or muted.
        name: The room's name.
        job: The id of the job that serves it.
        metadata: What the dispatch says.
    """

    def __init__(
        self,
        house: House,
        room: rtc.Room,
        rooms: RoomService | None,
        *,
        name: str,
        job: str,
        metadata: JobMetadata,
    ) -> None:
        self._house = house
        self._room = room
        self._metadata = metadata
        self._outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._seat = Seat(
            house.store,
            place_of(house.agent, name),
            job,
            supersedes=metadata.supersedes,
            tries=metadata.tries if metadata.supersedes else None,
            lost=self._withdraw,
        )
        self._attendance = Attendance(
            room,
            rooms,
            expected=metadata.user,
            left=self._guest_left,
            came_back=self._guest_back,
            joined=self._somebody_joined,
            gone=self._somebody_left,
        )
        self._methods = OrderMethods(self._receive, self._begin_for_words)
        self._mutes = Mutes(rooms, name) if rooms is not None else None
        self._gateway = Gateway(
            self._methods.methods(),
            role_of=self._attendance.role_of,
            is_there=self._attendance.is_there,
            find=self._attendance.look_for,
            version=lambda: self._talk.call.shared.version if self._talk is not None else None,
            mutes=self._mutes,
        )
        self._chat = Chat(self._attendance, self._hear, self._refuse_text)
        self._keys = Keys(self._hear)
        self._ready = asyncio.Event()
        self._talk: Talk | None = None
        self._lease: Lease | None = None
        """What the next call goes on with, after the first."""
        self._over = asyncio.Event()
        """Whether the last call has ended by itself and no other one has begun."""
        self._over_at = float("-inf")
        self._wanted = asyncio.Event()
        """Whether the guest has begun another call."""
        self._leaving = False
        self._telephone = False
        self._connection: str | None = None
        """The guest's connection when the last call ended."""
        self._connection_noted: asyncio.Task[None] | None = None
        self._early: list[str] = []
        self._grace: asyncio.TimerHandle | None = None
        self._settled_at = float("-inf")
        self._tasks: set[asyncio.Task[None]] = set()

    # -- from outside --------------------------------------------------------------------------------

    async def take_place(self) -> bool:
        """Take the place before connecting; returns whether it is free, and nobody hears of us if not.

        Raises:
            OrderFaults: The database cannot be used.
        """
        if not await self._seat.take():
            return False
        lease = self._seat.lease
        if self._metadata.supersedes is not None and lease.guest is not None:
            self._attendance.expect(lease.guest)
        return True

    def follow(self) -> None:
        """Listen to the room. Call it before the room is connected, so that nothing of it is missed."""
        self._chat.follow(self._room)
        self._room.on("sip_dtmf_received", self._on_key)
        self._room.on("active_speakers_changed", self._on_speakers)
        self._room.on("reconnecting", self._on_reconnecting)
        self._room.on("reconnected", self._on_reconnected)
        self._room.on("disconnected", self._on_disconnected)

    async def hold(self) -> Outcome:
        """Serve the guest until they are gone or served elsewhere. Call it when the room is connected.

        Raises:
            OrderFaults: The database cannot be used.
        """
        self._gateway.install(self._room.local_participant)
        # livekit-server 1.13.5 tells the others of us at once when an attribute changes.
        self._spawn(self._show_state("initializing"))
        if self._mutes is not None:
            self._spawn(self._mutes.warm_up(self._room.local_participant.identity))
        self._attendance.start()
        if not await self._somebody():
            return self._result(Outcome.NOBODY)
        try:
            while not self._outcome.done():
                talk = await self._open()
                await self._either(self._over)
                if talk is not None and self._over.is_set():
                    await self._stay(talk)
        except Exception:
            if self._outcome.done():  # the place was lost meanwhile: somebody else goes on
                return self._outcome.result()
            raise
        outcome = self._outcome.result()
        if outcome is Outcome.OVER and not self._over.is_set():
            await self._tell_of_the_end()
        elif outcome is Outcome.WITHDRAWN:
            await self._leave_the_room()
        elif outcome is Outcome.UNSPOKEN:
            await asyncio.wait((self._spawn(self._say_that_nobody_can_speak()),))
        return outcome

    def leave_when_over(self) -> None:
        """Stay no longer than the present call: the worker is leaving."""
        self._leaving = True
        if self._over.is_set() and not self._wanted.is_set():
            self._result(Outcome.OVER)

    async def aclose(self) -> None:
        """Leave: stop what runs, keep what was said, give up the place."""
        outcome = self._result(Outcome.CUT_OFF)
        self._methods.close()
        self._attendance.close()
        self._keys.cancel()
        if self._grace is not None:
            self._grace.cancel()
        if self._talk is not None:
            self._talk.stop_waiting()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._chat.aclose()
        if self._talk is not None:
            await self._talk.aclose()
        await self._gateway.aclose()
        said_goodbye = self._talk is None or self._talk.call.ended == "agent_ended"
        over = outcome in (Outcome.NOBODY, Outcome.UNSPOKEN)
        over = over or (outcome is Outcome.OVER and said_goodbye)
        await self._seat.leave(done=over)

    @property
    def guest(self) -> rtc.RemoteParticipant | None:
        """The guest, while he is in the room."""
        return self._attendance.participant

    @property
    def metadata_of_successor(self) -> JobMetadata:
        """What a job is told that goes on with this call."""
        order_id = self._metadata.order_id
        if self._talk is not None and not self._over.is_set():
            order_id = self._talk.call.state.order_id
        guest = self._attendance.guest or self._metadata.user
        return self._metadata.model_copy(update={"order_id": order_id, "user": guest})

    async def _show_state(self, state: str) -> None:
        """Show what the agent does while no session does, by LiveKit's own attribute."""
        await self._room.local_participant.set_attributes({"lk.agent.state": state})

    # -- the beginning ---------------------------------------------------------------------------------

    async def _somebody(self) -> bool:
        """Wait until the guest is known; returns whether there is one to serve."""
        waiting = asyncio.ensure_future(self._attendance.bound())
        try:
            while not waiting.done() and not self._outcome.done():
                there = self._attendance.anybody
                await asyncio.wait(
                    (waiting, self._outcome),
                    timeout=self._house.nobody_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not waiting.done() and not there and not self._attendance.anybody:
                    return False
        finally:
            waiting.cancel()
        return waiting.done() and not waiting.cancelled() and not self._outcome.done()

    async def _open(self) -> Talk | None:
        """Begin a call: the first one, or another in the place of one that is over; none where there is no speech."""
        house, guest = self._house, await self._attendance.bound()
        channel = await channel_of(self._attendance, self._metadata.channel, house.media)
        participant = self._attendance.participant
        self._telephone = telephone = participant is not None and is_telephone(participant)
        if telephone and not house.media.has_speech:
            logger.error("somebody is on the phone, and there is no speech for them")
            self._result(Outcome.UNSPOKEN)
            return None
        opened = await open_for(
            house.store,
            house.context,
            self._metadata,
            self._lease or self._seat.lease,
            guest=guest,
            channel=channel,
            speaker=restaurant_graph().start,
            secret=house.secret,
        )
        await self._seat.settle(opened.shared.state.order_id, guest)
        if channel == "phone" and participant is not None and not opened.resumed:
            await keep_number(opened.shared, participant.attributes.get("sip.phoneNumber", ""))
        self._talk = talk = Talk(
            house,
            self._room,
            opened,
            guest=guest,
            channel=channel,
            present=lambda: self._attendance.present,
            ended=self._on_end,
            lost=self._lose_speech if telephone else None,
        )
        # What was asked for was the first call's.
        self._metadata = self._metadata.model_copy(update={"order_id": None, "resume_code": None})
        self._over.clear()
        self._wanted.clear()
        self._methods.open(talk.order_session, talk.page)
        early, self._early = self._early, []
        for words in early:
            talk.call.user_said(words)
        self._ready.set()
        self._spawn(self._follow_the_house(talk))
        try:
            await talk.start()
        except SpeechNotBuilt as error:
            if not telephone:
                raise
            logger.error("there is no speech for a call by phone", exc_info=error)
            self._lose_speech()
        if not self._attendance.present:
            self._guest_left()
        return talk

    # -- between two calls -----------------------------------------------------------------------------

    async def _stay(self, talk: Talk) -> None:
        """Stay for reading after the end of a call, until its guest begins another one or is gone for good."""
        # The answer to the last "goodbye" may still be waiting for the disk, and the last words be on their way.
        await asyncio.sleep(LAST_WORDS_S)
        if self._telephone or (self._leaving and not self._wanted.is_set()):
            self._result(Outcome.OVER)
        if not self._outcome.done():
            await talk.finish()
        if self._outcome.done():
            return
        said_goodbye = talk.call.ended == "agent_ended"
        self._spawn(self._show_state("idle"))
        if said_goodbye:
            await self._seat.begin_anew()
        await self._either(self._wanted)
        if self._outcome.done():
            return
        # A guest who was silent for too long goes on with their order; after a goodbye they begin a new one.
        order_id = None if said_goodbye else talk.call.state.order_id
        self._lease = replace(
            self._seat.lease, state_id=order_id, guest=self._attendance.guest, tries=0
        )
        self._talk = None
        await talk.aclose()

    def _begin_again(self) -> None:
        """The guest wants another call, if the last one is over."""
        if self._over.is_set():
            self._wanted.set()
            self._ready.clear()

    async def _begin_for_words(self) -> None:
        """Have a call begun for what the guest says after the end of one; returns when it can be said there."""
        self._begin_again()
        await self._until_ready()

    async def _has_joined_again(self) -> bool:
        """Whether the guest has joined the room anew since the end of the last call.

        A page that only says hello again has the same connection. When it was the agent's connection that was
        lost, everybody's may be another, and nobody has left.
        """
        if self._connection_noted is None or not self._over.is_set():
            return False
        if not self._settled:
            self._connection_noted = self._spawn(self._note_connection())
        await asyncio.wait((self._connection_noted,))
        return await self._attendance.connection() != self._connection

    async def _note_connection(self) -> None:
        self._connection = await self._attendance.connection()

    def _on_speakers(self, speakers: "list[rtc.Participant]") -> None:
        """The server says who speaks just now."""
        if not self._over.is_set() or not self._house.media.has_speech:
            return
        early = asyncio.get_running_loop().time() < self._over_at + OWN_GOODBYE_S
        if not early and any(one.identity == self._attendance.guest for one in speakers):
            self._begin_again()

    # -- the guest ---------------------------------------------------------------------------------------

    async def _receive(self, caller: Caller) -> None:
        """Answer a hello: only to the guest and to staff, and once they can be heard."""
        role = self._attendance.role_of(caller.identity)
        if role is None and not self._attendance.claim(caller.identity):
            raise Forbidden("This call is another guest's. Join a room of your own.")
        if role != STAFF and await self._has_joined_again():
            self._begin_again()
        # For its first call an agent is only arriving. After that nothing but a database makes a hello wait.
        limit_s = HELLO_S if self._over_at > float("-inf") else None
        try:
            async with asyncio.timeout(limit_s):
                await self._until_ready()
        except TimeoutError:
            raise NotYet("Another call is only beginning. Say hello again in a moment.") from None
        if self._talk is not None:
            self._talk.page.greeted(caller.identity)

    async def _until_ready(self) -> None:
        """Wait until the present call can be taken part in, or the one that is over be read."""
        await self._either(self._ready)
        if self._outcome.done() and self._outcome.result() in _ANOTHER_COMES:
            # The caller is told by our leaving, and says hello to the next agent.
            await asyncio.Event().wait()
        if self._talk is None or not self._ready.is_set():
            raise Forbidden("This call is over.")

    def _hear(self, words: str) -> None:
        if self._talk is None or self._over.is_set():
            self._early.append(words)
            self._begin_again()
        elif self._seat.overdue:
            self._spawn(self._hear_if_held(self._talk, words))
        else:
            self._talk.call.user_said(words)

    async def _hear_if_held(self, talk: Talk, words: str) -> None:
        """Hear what came while this process stood still, unless another agent serves the guest by now."""
        if await self._seat.renew():
            talk.call.user_said(words)

    async def _refuse_text(self, words: str, segment: str) -> None:
        """Tell the guest that texts of theirs were not taken in."""
        to = self._attendance.guest
        if to is not None:
            await write(self._room.local_participant, words, segment, to=to)

    def _on_key(self, pressed: rtc.SipDTMF) -> None:
        participant = pressed.participant
        if participant is not None and participant.identity == self._attendance.guest:
            self._keys.press(pressed.digit)

    def _guest_left(self) -> None:
        if self._talk is not None:
            self._talk.stop_waiting()
        if self._grace is None and not self._outcome.done():
            loop = asyncio.get_running_loop()
            self._grace = loop.call_later(self._house.grace_s, self._gone_for_good)

    def _guest_back(self, arrival: Arrival) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        talk = self._talk
        if talk is None:
            return
        anew = arrival.anew and self._settled
        if self._over.is_set():
            talk.page.returned(anew=anew)
            if not self._settled:
                self._connection_noted = self._spawn(self._note_connection())
        elif talk.call.ended is None:
            talk.page.returned(anew=anew)
            if anew:
                self._spawn(talk.call.come_back())

    @property
    def _settled(self) -> bool:
        """Whether the agent's own connection has been there for so long that everybody's new one is news."""
        return asyncio.get_running_loop().time() - self._settled_at > SETTLED_S

    def _gone_for_good(self) -> None:
        self._result(Outcome.OVER)
        talk = self._talk
        if talk is not None and talk.call.ended is None:
            talk.call.end("user_left")
            if self._room.isconnected():
                talk.page.ended("user_left", present=False)

    def _somebody_joined(self, identity: str) -> None:
        if self._talk is not None:
            staff = self._attendance.role_of(identity) == STAFF
            self._talk.page.joined(identity, staff=staff)

    def _somebody_left(self, identity: str) -> None:
        if self._talk is not None:
            self._talk.page.left(identity)

    # -- what happens in the call --------------------------------------------------------------------

    def _on_end(self, event: Ended) -> None:
        talk = self._talk
        if event.reason != "failed":
            if talk is None or talk.call.closing is None or self._outcome.done():
                self._result(Outcome.OVER)  # the session was closed, by the end of the job perhaps
                return
            self._over_at = asyncio.get_running_loop().time()
            self._over.set()
            talk.order_session.end()
            self._connection_noted = self._spawn(self._note_connection())
            talk.page.ended(
                "agent_ended" if event.reason == "agent_ended" else "user_left",
                present=self._attendance.present,
            )
        elif talk is not None and talk.call.shared.taken_over:
            self._result(Outcome.WITHDRAWN)
        else:
            self._result(Outcome.FAILED)

    async def _follow_the_house(self, talk: Talk) -> None:
        """Take in what staff write beside us, so that the guest's page shows it; also after the end of the call."""
        while self._talk is talk:
            await asyncio.sleep(HOUSE_S)
            with contextlib.suppress(StateError):  # nothing can be read just now: later, then
                await talk.call.shared.refresh()

    async def _tell_of_the_end(self) -> None:
        """Let staff hear that the guest has left, before the agent does."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_S):
                if self._talk is not None:
                    await self._talk.page.end_is_told()

    async def _say_where_it_goes_on(self) -> None:
        """Who took the order along to another room leaves nobody behind without a word."""
        talk = self._talk
        if talk is None or not self._room.isconnected():
            return
        lease = await self._house.store.lease_of(talk.call.state.order_id)
        if lease is not None and lease.place != self._seat.place:
            talk.page.ended("moved", present=self._attendance.present)
            await write(self._room.local_participant, MOVED_ON, f"moved on {lease.since}")
            await asyncio.sleep(LAST_WORDS_S)  # what has not left when the room is left never does

    async def _leave_the_room(self) -> None:
        """Leave at once: of whatever is being said just now nobody hears the rest."""
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._say_where_it_goes_on()
        except Exception as error:  # it is a courtesy
            logger.info("nobody was told where the call goes on: %s", type(error).__name__)
        await self._room.disconnect()

    def _lose_speech(self) -> None:
        """A caller on a telephone cannot be heard or spoken to any more."""
        self._result(Outcome.UNSPOKEN)

    async def _say_that_nobody_can_speak(self) -> None:
        talk = self._talk
        if talk is None:
            await play_recording(self._room)
            return
        talk.call.hang_up()
        talk.call.end("failed")
        talk.page.ended("failed", present=self._attendance.present)
        await asyncio.gather(play_recording(self._room), talk.finish(), return_exceptions=True)

    # -- the connection ------------------------------------------------------------------------------------

    def _on_reconnecting(self, *_: object) -> None:
        self._settled_at = float("inf")

    def _on_reconnected(self, *_: object) -> None:
        self._settled_at = asyncio.get_running_loop().time()
        if self._talk is not None:
            self._talk.page.connected_again()

    def _on_disconnected(self, reason: Any = None) -> None:
        closed = reason in (
            rtc.DisconnectReason.ROOM_CLOSED,
            rtc.DisconnectReason.ROOM_DELETED,
        )
        if closed:
            self._gone_for_good()
        self._result(Outcome.CUT_OFF)
        if self._talk is not None:
            # Nobody hears us. A session that closes would apologise for a reply that it breaks off, and the next
            # agent would take the guest's words for answered.
            self._talk.call.hang_up()
            self._talk.call.end("user_left")

    def _withdraw(self) -> None:
        self._result(Outcome.WITHDRAWN)
        if self._talk is not None:
            self._talk.call.hang_up()
            self._talk.call.end("failed")

    # -- small things --------------------------------------------------------------------------------------

    async def _either(self, event: asyncio.Event) -> None:
        """Wait for something to happen, or for the outcome."""
        waiting = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait((waiting, self._outcome), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    def _result(self, outcome: Outcome) -> Outcome:
        if not self._outcome.done():
            self._outcome.set_result(outcome)
        return self._outcome.result()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("something beside the call failed: %s", type(error).__name__)
