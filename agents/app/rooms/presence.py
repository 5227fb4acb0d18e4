"""Tracks the participants of a room: which one is the user, and whether they are present.

A call belongs to one user. If the dispatch names them, only that identity can be the user.
Otherwise it is the first participant to say hello, write, publish a microphone or join by phone, or
a participant who is alone with the agent for some seconds. Staff have an attribute that only the
server can set.

livekit-server announces participants who have joined before anything can be sent to them: on a busy
machine their data channel opens many seconds later, and they receive the messages of the last two
seconds only. So a participant counts as present once they are active, or have called or written.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from livekit import api, rtc

from agents.app.background import Timer
from agents.handoff import MicrophoneMode
from rpc.gateway import USER, RoomService

logger = logging.getLogger(__name__)

ROLE, SEEN = "role", "seen"
"""Two attributes, without the application's prefix: the role of participants other than the user,
and one that is set only to make the server announce a participant."""

MICROPHONE = "microphone"
"""The user's attribute with the mode of their microphone, without the prefix."""

ALONE_S = 3.0
"""How long a participant is alone with the agent before they are bound as the user, in seconds."""

PRESENCE_S = 4.0
"""How long the server may take to announce a participant who has just joined, in seconds.

livekit-server 1.13.5 announces participants without tracks on a tick of three seconds, and at once
when one of their attributes changes."""

PEOPLE = frozenset(
    {
        rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD,
        rtc.ParticipantKind.PARTICIPANT_KIND_SIP,
        rtc.ParticipantKind.PARTICIPANT_KIND_CONNECTOR,
    }
)
"""The kinds of participants who may be the user."""


@dataclass(frozen=True)
class UserReturned:
    """The user is back in the room.

    Args:
        reloaded: Whether they have a new connection, as after reloading the page.
    """

    reloaded: bool


class Presence:
    """Tracks the participants of one room and binds one of them as the user.

    Args:
        room: The room, before it is connected.
        rooms: The LiveKit server API; without it the server is not asked.
        expected: The user's identity, if the dispatch names it.
        user_role: The role of the user.
        roles: The roles of others, which a token gives by the attribute ``<prefix>.role``.
        left: Called when the user has left.
        came_back: Called when the user is in the room again.
        joined: Called when another participant joins or rejoins.
        gone: Called when any participant has left.
        alone_s: How long a participant is alone before they are bound as the user, in seconds.
    """

    def __init__(
        self,
        room: rtc.Room,
        rooms: RoomService | None,
        *,
        expected: str | None = None,
        user_role: str = USER,
        roles: Collection[str] = ("staff",),
        prefix: str,
        left: Callable[[], None] = lambda: None,
        came_back: Callable[[UserReturned], None] = lambda arrival: None,
        joined: Callable[[str], None] = lambda identity: None,
        gone: Callable[[str], None] = lambda identity: None,
        alone_s: float = ALONE_S,
    ) -> None:
        self._room = room
        self._rooms = rooms
        self._expected = expected
        self._user_role = user_role
        self._roles = frozenset(roles) - {user_role}
        self._prefix = prefix
        self._left = left
        self._came_back = came_back
        self._joined = joined
        self._gone = gone
        self._alone_s = alone_s
        self._user: str | None = None
        self._connection_id: str | None = None
        self._present = False
        self._alone = Timer(self.claim)
        self._changed = asyncio.Event()
        self._announcements = 0
        self._callbacks: Mapping[Any, Callable[..., None]] = {
            "participant_connected": self._on_connected,
            "participant_active": self._on_active,
            "participant_disconnected": self._on_disconnected,
            "track_published": self._on_track,
            "participant_attributes_changed": self._on_attributes,
            "reconnected": self._scan,
        }
        for event, callback in self._callbacks.items():
            room.on(event, callback)

    # -- queries -----------------------------------------------------------------------------------

    @property
    def user(self) -> str | None:
        """The user's identity, once bound."""
        return self._user

    @property
    def present(self) -> bool:
        """Whether the user is in the room."""
        return self._present

    @property
    def participant(self) -> rtc.RemoteParticipant | None:
        """The user as a participant, while present."""
        return self._room.remote_participants.get(self._user) if self._user else None

    @property
    def has_candidate(self) -> bool:
        """Whether any participant in the room could be the user."""
        return any(self._may_be_user(one) for one in self._room.remote_participants.values())

    def role_of(self, identity: str) -> str | None:
        """Return a participant's role; ``None`` if they have none."""
        if identity and identity == self._user:
            return self._user_role
        there = self._room.remote_participants.get(identity)
        return self._role_in_token(there) if there is not None else None

    def _role_in_token(self, participant: rtc.RemoteParticipant) -> str | None:
        """Return the role in a participant's token; one that they could set themselves does not count."""
        role = participant.attributes.get(f"{self._prefix}.{ROLE}")
        if role not in self._roles or participant.permissions.can_update_metadata:
            return None
        return role

    def _warn_of_role(self, participant: rtc.RemoteParticipant) -> None:
        """Log that a token names a role that the application does not have."""
        role = participant.attributes.get(f"{self._prefix}.{ROLE}")
        if role and role not in (*self._roles, self._user_role):
            known = ", ".join((self._user_role, *sorted(self._roles)))
            logger.warning("unknown role in a token: %.40r; the roles are %s", role, known)

    def is_there(self, identity: str) -> bool:
        """Whether a person of this identity is in the room and visible to all."""
        there = self._room.remote_participants.get(identity)
        return there is not None and there.kind in PEOPLE

    async def wait_for(self, identity: str) -> bool:
        """Make the server announce a participant; returns whether they are in the room.

        A caller that is not a visible participant - the server API, a hidden participant - is never
        announced.
        """
        if self.is_there(identity):
            return True
        if not identity or self._rooms is None or not self._room.isconnected():
            return False
        if identity in self._room.remote_participants:  # present, but another agent
            return False
        self._announcements += 1
        update = api.UpdateParticipantRequest(
            room=self._room.name,
            identity=identity,
            attributes={f"{self._prefix}.{SEEN}": str(self._announcements)},
        )
        try:
            async with asyncio.timeout(PRESENCE_S):
                await self._rooms.update_participant(update)
                while not self.is_there(identity):
                    if identity in self._room.remote_participants:  # another agent
                        return False
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        except Exception as error:  # no such participant, or the server cannot be reached
            logger.debug("participant not announced: %s", type(error).__name__)
            return False
        return True

    @property
    def microphone_mode(self) -> MicrophoneMode:
        """The mode of the user's microphone, as stored for their present connection."""
        user = self.participant
        kept = None if user is None else user.attributes.get(f"{self._prefix}.{MICROPHONE}")
        return "push_to_talk" if kept == "push_to_talk" else "open"

    async def store_microphone_mode(self, mode: MicrophoneMode) -> None:
        """Store the mode of the user's microphone in the room, for an agent that replaces this one."""
        if self._user is None or self._rooms is None:
            return
        update = api.UpdateParticipantRequest(
            room=self._room.name,
            identity=self._user,
            attributes={f"{self._prefix}.{MICROPHONE}": mode},
        )
        try:
            async with asyncio.timeout(PRESENCE_S):
                await self._rooms.update_participant(update)
        except Exception as error:  # they left, or the server cannot be reached
            logger.warning("microphone mode not stored: %s", type(error).__name__)

    @property
    def known_connection(self) -> str | None:
        """The id of the user's connection by the room's events, while present."""
        return self._connection_id if self._present else None

    async def connection(self) -> str | None:
        """Return the id of the user's present connection; ``None`` when they are not in the room.

        The server is asked, because the room's events report a reloaded page up to three seconds
        late.
        """
        if self._user is None:
            return None
        known = self.known_connection
        if self._rooms is None or not self._room.isconnected():
            return known
        request = api.RoomParticipantIdentity(room=self._room.name, identity=self._user)
        try:
            async with asyncio.timeout(PRESENCE_S):
                sid: str = (await self._rooms.get_participant(request)).sid
        except api.TwirpError as error:
            return None if error.code == api.TwirpErrorCode.NOT_FOUND else known
        except Exception as error:  # the server cannot be reached
            logger.debug("connection id not read: %s", type(error).__name__)
            return known
        return sid

    def claim(self, identity: str) -> bool:
        """Bind a participant as the user if none is bound; returns whether they are the user.

        Args:
            identity: A participant who has called, written or published a microphone, so that they
                can receive although the server has not announced it yet.
        """
        there = self._room.remote_participants.get(identity)
        if there is not None:
            if self._user is None and self._may_be_user(there):
                self._bind(there)
            elif identity == self._user:
                self._on_user_present(there)
        return identity == self._user

    async def bound(self) -> str:
        """Wait until the user is bound; returns their identity."""
        while self._user is None:
            self._changed.clear()
            await self._changed.wait()
        return self._user

    def expect(self, identity: str) -> None:
        """Accept only this identity as the user."""
        self._expected = identity

    def start(self) -> None:
        """Process the participants already in the room. Call once, when the room is connected."""
        self._scan()

    def close(self) -> None:
        """Unsubscribe from the room's events."""
        self._alone.stop()
        for event, callback in self._callbacks.items():
            with contextlib.suppress(ValueError, KeyError):
                self._room.off(event, callback)

    # -- the room's events -----------------------------------------------------------------------

    def _on_connected(self, participant: rtc.RemoteParticipant) -> None:
        self._on_participant(participant)
        self._changed.set()

    def _on_active(self, participant: rtc.RemoteParticipant) -> None:
        self._warn_of_role(participant)
        self._on_connected(participant)

    def _on_disconnected(self, participant: rtc.RemoteParticipant) -> None:
        self._gone(participant.identity)
        # After a rejoin within the server's tick, the new participant is in the room already.
        now = self._room.remote_participants.get(participant.identity)
        gone = now is None or now.sid == participant.sid
        if participant.identity == self._user and self._present and gone:
            self._present = False
            self._left()
        self._start_alone_timer()
        self._changed.set()

    def _on_track(
        self, publication: rtc.RemoteTrackPublication, participant: rtc.RemoteParticipant
    ) -> None:
        if publication.source == rtc.TrackSource.SOURCE_MICROPHONE:
            self.claim(participant.identity)

    def _on_attributes(self, changed: dict[str, str], participant: rtc.Participant) -> None:
        self._changed.set()

    def _scan(self) -> None:
        people = sorted(
            self._room.remote_participants.values(),
            key=lambda one: one.joined_at.timestamp() if one.joined_at else 0.0,
        )
        for participant in people:
            self._on_participant(participant)
        if self._user is not None and self._present and self.participant is None:
            self._present = False
            self._left()
        self._changed.set()

    def _on_participant(self, participant: rtc.RemoteParticipant) -> None:
        if not _is_active(participant):  # ``participant_active`` follows
            self._start_alone_timer()
            return
        if participant.identity == self._user:
            self._on_user_present(participant)
            return
        if self._user is not None:
            self._joined(participant.identity)
        if self._user is None and self._may_be_user(participant):
            telephone = participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_SIP
            if self._expected is not None or telephone or has_microphone(participant):
                self._bind(participant)
        self._start_alone_timer()

    def _on_user_present(self, participant: rtc.RemoteParticipant) -> None:
        reloaded = participant.sid != self._connection_id
        back = reloaded or not self._present
        self._connection_id, self._present = participant.sid, True
        if back:
            self._came_back(UserReturned(reloaded))

    # -- binding -----------------------------------------------------------------------------------

    def _may_be_user(self, participant: rtc.RemoteParticipant) -> bool:
        if self._expected is not None:
            return participant.identity == self._expected and participant.kind in PEOPLE
        return participant.kind in PEOPLE and self._role_in_token(participant) is None

    def _bind(self, participant: rtc.RemoteParticipant) -> None:
        self._user, self._connection_id, self._present = participant.identity, participant.sid, True
        self._alone.stop()
        self._changed.set()

    def _start_alone_timer(self) -> None:
        self._alone.stop()
        if self._user is not None:
            return
        candidates = [
            one for one in self._room.remote_participants.values() if self._may_be_user(one)
        ]
        if len(candidates) == 1 and _is_active(candidates[0]):
            self._alone.start(self._alone_s, candidates[0].identity)


def has_microphone(participant: rtc.RemoteParticipant) -> bool:
    """Whether a participant has published a microphone."""
    return any(
        publication.source == rtc.TrackSource.SOURCE_MICROPHONE
        for publication in participant.track_publications.values()
    )


def _is_active(participant: rtc.RemoteParticipant) -> bool:
    """Whether messages to a participant reach them."""
    return participant.state == rtc.ParticipantState.PARTICIPANT_STATE_ACTIVE
