"""A participant counts as present once they can receive; what is sent before that is lost."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from livekit import rtc

from agents.app.rooms.presence import Presence, UserReturned
from rpc.gateway import STAFF

JOINED = rtc.ParticipantState.PARTICIPANT_STATE_JOINED
ACTIVE = rtc.ParticipantState.PARTICIPANT_STATE_ACTIVE
STANDARD = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
PHONE = rtc.ParticipantKind.PARTICIPANT_KIND_SIP
WAYS = ("named by the dispatch", "alone", "by telephone")


@dataclass
class Somebody:
    """A participant as the agent knows them."""

    identity: str
    sid: str = "PA_1"
    kind: "rtc.ParticipantKind.ValueType" = STANDARD
    state: "rtc.ParticipantState.ValueType" = JOINED
    attributes: dict[str, str] = field(default_factory=dict)
    permissions: Any = field(default_factory=lambda: SimpleNamespace(can_update_metadata=False))
    track_publications: dict[str, Any] = field(default_factory=dict)
    joined_at: datetime = datetime(2026, 11, 20, 18, tzinfo=UTC)


class Room(rtc.EventEmitter[str]):
    """A room whose events come from the test."""

    name = "room"

    def __init__(self) -> None:
        super().__init__()
        self.remote_participants: dict[str, Somebody] = {}

    def isconnected(self) -> bool:
        """Return that it is connected."""
        return True

    def joins(self, one: Somebody) -> Somebody:
        """Add a participant."""
        self.remote_participants[one.identity] = one
        self.emit("participant_connected", one)
        return one

    def becomes_active(self, one: Somebody) -> None:
        """Announce that a participant can receive."""
        one.state = ACTIVE
        self.emit("participant_active", one)

    def leaves(self, one: Somebody) -> None:
        """Remove a participant."""
        del self.remote_participants[one.identity]
        self.emit("participant_disconnected", one)


class Seen:
    """A presence and its callbacks' arguments."""

    def __init__(self, expected: str | None = None) -> None:
        self.room = Room()
        self.back: list[bool] = []
        self.joined: list[str] = []
        self.presence = Presence(
            cast(rtc.Room, self.room),
            None,
            expected=expected,
            prefix="bella",
            came_back=self._came_back,
            joined=self.joined.append,
            alone_s=0.0,
        )
        self.presence.start()

    def _came_back(self, arrival: UserReturned) -> None:
        self.back.append(arrival.reloaded)

    @property
    def guest(self) -> str | None:
        """The guest's identity, once bound."""
        return self.presence.user


async def everything_due() -> None:
    """Run the callbacks that are due."""
    for _ in range(5):
        await asyncio.sleep(0)


async def a_guest(way: str, *, active: bool) -> tuple[Seen, Somebody]:
    """Let a participant join and be bound as the guest in one of the ways."""
    seen = Seen("ada" if way == WAYS[0] else None)
    kind = PHONE if way == WAYS[2] else STANDARD
    ada = seen.room.joins(Somebody("ada", kind=kind, state=ACTIVE if active else JOINED))
    await everything_due()
    return seen, ada


@pytest.mark.parametrize("way", WAYS)
async def test_a_participant_who_is_still_connecting_is_bound_once_they_can_receive(
    way: str,
) -> None:
    seen, ada = await a_guest(way, active=False)
    assert seen.presence.user is None
    assert seen.presence.has_candidate
    seen.room.becomes_active(ada)
    await everything_due()
    assert (seen.guest, seen.presence.present, seen.back) == ("ada", True, [])


@pytest.mark.parametrize("way", WAYS)
async def test_a_participant_who_can_receive_is_bound_at_once(way: str) -> None:
    seen, _ = await a_guest(way, active=True)
    assert (seen.guest, seen.presence.present) == ("ada", True)


@pytest.mark.parametrize("way", WAYS)
async def test_a_participant_who_calls_is_bound_before_they_are_announced_as_active(
    way: str,
) -> None:
    seen, ada = await a_guest(way, active=False)
    assert seen.presence.claim("ada")
    assert (seen.guest, seen.presence.present) == ("ada", True)
    seen.room.becomes_active(ada)
    await everything_due()
    assert (seen.guest, seen.back) == ("ada", [])


@pytest.mark.parametrize("way", WAYS)
async def test_a_reloaded_page_is_back_once_it_can_receive(way: str) -> None:
    seen, first = await a_guest(way, active=True)
    seen.room.leaves(first)
    again = seen.room.joins(Somebody("ada", sid="PA_2", kind=first.kind))
    await everything_due()
    assert (seen.presence.present, seen.back) == (False, [])
    seen.room.becomes_active(again)
    assert (seen.presence.present, seen.back) == (True, [True])


async def test_a_reloaded_page_that_calls_is_back_at_once() -> None:
    seen, first = await a_guest(WAYS[1], active=True)
    seen.room.leaves(first)
    again = seen.room.joins(Somebody("ada", sid="PA_2"))
    assert seen.presence.claim("ada")
    assert (seen.presence.present, seen.back) == (True, [True])
    seen.room.becomes_active(again)
    assert seen.back == [True]


async def test_a_participant_beside_one_who_is_still_connecting_is_not_alone() -> None:
    seen = Seen()
    seen.room.joins(Somebody("ada", state=ACTIVE))
    bob = seen.room.joins(Somebody("bob"))
    await everything_due()
    assert seen.presence.user is None
    seen.room.leaves(bob)
    await everything_due()
    assert seen.guest == "ada"


async def test_a_role_that_the_application_does_not_have_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen, _ = await a_guest(WAYS[1], active=True)
    for name, role in (("cook", STAFF), ("boss", "janitor")):
        somebody = seen.room.joins(Somebody(name, attributes={"bella.role": role}))
        seen.room.becomes_active(somebody)

    assert caplog.messages == ["unknown role in a token: 'janitor'; the roles are user, staff"]


async def test_staff_are_sent_what_they_missed_once_they_can_receive() -> None:
    seen, _ = await a_guest(WAYS[1], active=True)
    staff = seen.room.joins(Somebody("staff", attributes={"bella.role": STAFF}))
    assert seen.joined == []
    seen.room.becomes_active(staff)
    assert seen.joined == ["staff"]
