"""Who is in the room, who of them the guest is, and whether he is there just now.

A call is one guest's. Where the dispatch names him it is he and nobody else. Else it is whoever first says
hello, writes, publishes a microphone or is a telephone, or who is alone with the agent for a while. Staff are
known by an attribute that only the server could have set.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from livekit import api, rtc

from rpc.gateway import GUEST, STAFF

logger = logging.getLogger(__name__)

ROLE, SEEN = "bella.role", "bella.seen"
"""The attribute that makes somebody staff, and the one that is set so that the others are told of him."""

ALONE_S = 3.0
"""How long somebody is alone with the agent until he is taken for the guest, in seconds."""

PRESENCE_S = 4.0
"""How long it may take until a server tells of somebody who has just come, in seconds.

livekit-server 1.13.5 tells of those who publish nothing on a tick of three seconds, and at once when one of
their attributes changes."""

_GUESTS = frozenset(
    {
        rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD,
        rtc.ParticipantKind.PARTICIPANT_KIND_SIP,
        rtc.ParticipantKind.PARTICIPANT_KIND_CONNECTOR,
    }
)


class Rooms(Protocol):
    """What is asked of the server: who is there, and to change something about a participant, so that they are told of."""

    async def get_participant(self, get: api.RoomParticipantIdentity) -> Any:
        """Return what the server knows of a participant, or raise that they are not there."""

    async def update_participant(self, update: api.UpdateParticipantRequest) -> Any:
        """Change a participant's attributes, or raise that he is not there."""


@dataclass(frozen=True)
class Arrival:
    """The guest is there again.

    Args:
        anew: Whether it is another connection of his: a page that was loaded again.
    """

    anew: bool


class Attendance:
    """The people of one room.

    Args:
        room: The room, before it is connected.
        rooms: The server's own interface; nobody is looked for without it.
        expected: The guest's identity, where the dispatch names it.
        left: Called when the guest has gone.
        came_back: Called when he is there again.
        joined: Called when somebody else is there, perhaps again.
        gone: Called when anybody has gone.
        alone_s: How long somebody is alone until he is taken for the guest, in seconds.
    """

    def __init__(
        self,
        room: rtc.Room,
        rooms: Rooms | None,
        *,
        expected: str | None = None,
        left: Callable[[], None] = lambda: None,
        came_back: Callable[[Arrival], None] = lambda arrival: None,
        joined: Callable[[str], None] = lambda identity: None,
        gone: Callable[[str], None] = lambda identity: None,
        alone_s: float = ALONE_S,
    ) -> None:
        self._room = room
        self._rooms = rooms
        self._expected = expected
        self._left = left
        self._came_back = came_back
        self._joined = joined
        self._gone = gone
        self._alone_s = alone_s
        self._guest: str | None = None
        self._sid: str | None = None
        self._present = False
        self._alone: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._looked = 0
        room.on("participant_connected", self._on_connected)
        room.on("participant_disconnected", self._on_disconnected)
        room.on("track_published", self._on_track)
        room.on("participant_attributes_changed", self._on_attributes)
        room.on("reconnected", self._look_around)

    # -- what others ask -------------------------------------------------------------------------

    @property
    def guest(self) -> str | None:
        """The identity of the guest, once it is known."""
        return self._guest

    @property
    def present(self) -> bool:
        """Whether the guest is in the room."""
        return self._present

    @property
    def participant(self) -> rtc.RemoteParticipant | None:
        """The guest as the room knows him, while he is there."""
        return self._room.remote_participants.get(self._guest) if self._guest else None

    @property
    def anybody(self) -> bool:
        """Whether somebody is in the room who could be the guest."""
        return any(self._eligible(one) for one in self._room.remote_participants.values())

    def role_of(self, identity: str) -> str | None:
        """Say who somebody is: the guest, staff, or nobody."""
        if identity and identity == self._guest:
            return GUEST
        there = self._room.remote_participants.get(identity)
        return STAFF if there is not None and _is_staff(there) else None

    def is_there(self, identity: str) -> bool:
        """Whether this is a person in the room whom everybody can see."""
        there = self._room.remote_participants.get(identity)
        return there is not None and there.kind in _GUESTS

    async def look_for(self, identity: str) -> bool:
        """Have the server tell of somebody who may have just come; returns whether he is there.

        One who is no participant - a call by the server's own interface, a hidden one - never comes.
        """
        if self.is_there(identity):
            return True
        if not identity or self._rooms is None or not self._room.isconnected():
            return False
        if identity in self._room.remote_participants:  # there, and no person: another agent
            return False
        self._looked += 1
        update = api.UpdateParticipantRequest(
            room=self._room.name, identity=identity, attributes={SEEN: str(self._looked)}
        )
        try:
            async with asyncio.timeout(PRESENCE_S):
                await self._rooms.update_participant(update)
                while not self.is_there(identity):
                    if identity in self._room.remote_participants:  # no person: another agent
                        return False
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        except Exception as error:  # the server does not know him, or cannot be asked just now
            logger.debug("nobody was found: %s", type(error).__name__)
            return False
        return True

    async def connection(self) -> str | None:
        """Return the id of the guest's present connection; ``None`` when they are not in the room.

        The server is asked, because the room tells of a page that was loaded again up to three seconds late.
        """
        if self._guest is None:
            return None
        known = self._sid if self._present else None
        if self._rooms is None or not self._room.isconnected():
            return known
        request = api.RoomParticipantIdentity(room=self._room.name, identity=self._guest)
        try:
            async with asyncio.timeout(PRESENCE_S):
                sid: str = (await self._rooms.get_participant(request)).sid
        except api.TwirpError as error:
            return None if error.code == api.TwirpErrorCode.NOT_FOUND else known
        except Exception as error:  # the server cannot be asked just now
            logger.debug("the guest's connection is not known: %s", type(error).__name__)
            return known
        return sid

    def claim(self, identity: str) -> bool:
        """Take somebody for the guest, if nobody is yet and he may be; returns whether he is the guest."""
        if self._guest is None:
            there = self._room.remote_participants.get(identity)
            if there is not None and self._eligible(there):
                self._bind(there)
        return identity == self._guest

    async def bound(self) -> str:
        """Wait until it is known who the guest is; returns his identity."""
        while self._guest is None:
            self._changed.clear()
            await self._changed.wait()
        return self._guest

    def expect(self, identity: str) -> None:
        """Wait for this guest and no other: it is his call that goes on here."""
        self._expected = identity

    def start(self) -> None:
        """Look at those who were there first. Call it once, when the room is connected."""
        self._look_around()

    def close(self) -> None:
        """Follow the room no longer."""
        self._stop_waiting()
        for event, callback in (
            ("participant_connected", self._on_connected),
            ("participant_disconnected", self._on_disconnected),
            ("track_published", self._on_track),
            ("participant_attributes_changed", self._on_attributes),
            ("reconnected", self._look_around),
        ):
            with contextlib.suppress(ValueError, KeyError):
                self._room.off(event, callback)  # type: ignore[arg-type]

    # -- the room's events -----------------------------------------------------------------------

    def _on_connected(self, participant: rtc.RemoteParticipant) -> None:
        self._see(participant)
        self._tell()

    def _on_disconnected(self, participant: rtc.RemoteParticipant) -> None:
        self._gone(participant.identity)
        # One who came back within the server's tick is there already, as somebody new.
        now = self._room.remote_participants.get(participant.identity)
        gone = now is None or now.sid == participant.sid
        if participant.identity == self._guest and self._present and gone:
            self._present = False
            self._left()
        self._wait_for_one_alone()
        self._tell()

    def _on_track(
        self, publication: rtc.RemoteTrackPublication, participant: rtc.RemoteParticipant
    ) -> None:
        if publication.source == rtc.TrackSource.SOURCE_MICROPHONE:
            self.claim(participant.identity)

    def _on_attributes(self, changed: dict[str, str], participant: rtc.Participant) -> None:
        self._tell()

    def _look_around(self) -> None:
        people = sorted(
            self._room.remote_participants.values(),
            key=lambda one: one.joined_at.timestamp() if one.joined_at else 0.0,
        )
        for participant in people:
            self._see(participant)
        if self._guest is not None and self._present and self.participant is None:
            self._present = False
            self._left()
        self._tell()

    def _see(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self._guest:
            anew = participant.sid != self._sid
            back = anew or not self._present
            self._sid, self._present = participant.sid, True
            if back:
                self._came_back(Arrival(anew))
            return
        if self._guest is not None:
            self._joined(participant.identity)
        if self._guest is None and self._eligible(participant):
            telephone = participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP
            speaks = any(
                publication.source == rtc.TrackSource.SOURCE_MICROPHONE
                for publication in participant.track_publications.values()
            )
            if self._expected is not None or telephone or speaks:
                self._bind(participant)
        self._wait_for_one_alone()

    # -- binding -----------------------------------------------------------------------------------

    def _eligible(self, participant: rtc.RemoteParticipant) -> bool:
        if self._expected is not None:
            return participant.identity == self._expected and participant.kind in _GUESTS
        return participant.kind in _GUESTS and not _is_staff(participant)

    def _bind(self, participant: rtc.RemoteParticipant) -> None:
        self._guest, self._sid, self._present = participant.identity, participant.sid, True
        self._stop_waiting()
        self._tell()

    def _wait_for_one_alone(self) -> None:
        self._stop_waiting()
        if self._guest is not None:
            return
        candidates = [
            one.identity for one in self._room.remote_participants.values() if self._eligible(one)
        ]
        if len(candidates) == 1:
            loop = asyncio.get_running_loop()
            self._alone = loop.call_later(self._alone_s, self.claim, candidates[0])

    def _stop_waiting(self) -> None:
        if self._alone is not None:
            self._alone.cancel()
            self._alone = None

    def _tell(self) -> None:
        self._changed.set()


def _is_staff(participant: rtc.RemoteParticipant) -> bool:
    """Whether the server says that somebody is staff: one who can write his attributes himself is not."""
    return (
        participant.attributes.get(ROLE) == STAFF
        and not participant.permissions.can_update_metadata
    )
