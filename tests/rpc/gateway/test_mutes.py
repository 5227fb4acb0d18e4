"""A flooding caller is muted at the server for a while."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from livekit import api, rtc

from rpc.gateway import Mutes
from rpc.testing import FakeRoom


@pytest.fixture
async def room() -> AsyncIterator[FakeRoom]:
    async with FakeRoom() as room:
        room.join("ada")
        yield room


def muting(room: FakeRoom) -> Mutes:
    return Mutes(room.service, room.name, seconds=10.0, sleep=room.clock.sleep)


def may(room: FakeRoom, identity: str = "ada") -> bool:
    return room.permission_of(identity).can_publish_data


async def test_a_caller_is_muted_for_a_while(room: FakeRoom) -> None:
    mutes, over = muting(room), []

    mutes.mute("ada", lambda: over.append("over"))
    await room.clock.advance(9.9)
    assert (may(room), mutes.muted("ada"), over) == (False, True, [])
    with pytest.raises(rtc.RpcError) as lost:
        await room.call("ada", "anything")
    await room.clock.advance(0.2)

    assert lost.value.code == 1501
    assert (may(room), mutes.muted("ada"), over) == (True, False, ["over"])


async def test_other_permissions_stay_as_they_were(room: FakeRoom) -> None:
    asked = api.ParticipantPermission(
        can_subscribe=True,
        can_publish=True,
        can_publish_data=True,
        can_publish_sources=[api.TrackSource.MICROPHONE],
        can_update_metadata=True,
        can_subscribe_metrics=True,
        recorder=True,
    )
    room.permission_of("ada").CopyFrom(asked)
    mutes = muting(room)

    mutes.mute("ada", lambda: None)
    await room.clock.advance(1)
    during = api.ParticipantPermission()
    during.CopyFrom(room.permission_of("ada"))
    await room.clock.advance(10)

    assert room.permission_of("ada") == asked
    during.can_publish_data = True
    assert during == asked


async def test_two_floods_of_one_caller_are_one_mute(room: FakeRoom) -> None:
    mutes = muting(room)

    mutes.mute("ada", lambda: None)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(20)

    assert [update.permission.can_publish_data for update in room.service.updates] == [False, True]


async def test_concurrent_permission_changes_are_kept(room: FakeRoom) -> None:
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(5)

    room.permission_of("ada").can_publish = False
    await room.clock.advance(6)

    assert may(room)
    assert not room.permission_of("ada").can_publish


async def test_a_caller_unmuted_by_another_program_is_left_alone(
    room: FakeRoom,
) -> None:
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(5)

    room.permission_of("ada").can_publish_data = True
    await room.clock.advance(6)

    assert len(room.service.updates) == 1


async def test_a_participant_without_the_permission_does_not_gain_it(room: FakeRoom) -> None:
    room.join("listener", can_publish_data=False)
    mutes = muting(room)

    mutes.mute("listener", lambda: None)
    await room.clock.advance(20)

    assert room.service.updates == []


async def test_a_muted_caller_may_leave(room: FakeRoom, caplog: pytest.LogCaptureFixture) -> None:
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(5)

    room.leave("ada")
    await room.clock.advance(20)

    assert not mutes.muted("ada")
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_server_that_fails_is_told_of_without_its_words(
    room: FakeRoom, caplog: pytest.LogCaptureFixture
) -> None:
    room.service.fault = RuntimeError("invalid token: eyJhbGciOi.SECRET")
    mutes, over = muting(room), []

    mutes.mute("ada", lambda: over.append("over"))
    await room.clock.advance(30)

    assert over == ["over"]
    assert "SECRET" not in caplog.text
    assert "SECRET" not in repr([vars(record) for record in caplog.records])


async def test_a_server_that_fails_for_a_moment_is_asked_again(room: FakeRoom) -> None:
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(9)

    room.service.fault = RuntimeError("away")
    await room.clock.advance(1.5)
    room.service.fault = None
    await room.clock.advance(2)

    assert may(room)


async def test_a_closing_agent_unmutes_all_callers(room: FakeRoom) -> None:
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await room.clock.advance(1)
    assert not may(room)

    await mutes.aclose()
    mutes.mute("ada", lambda: None)

    assert may(room)
    assert not mutes.muted("ada")


async def test_closing_before_the_mute_has_begun_mutes_no_caller(room: FakeRoom) -> None:
    mutes = muting(room)

    mutes.mute("ada", lambda: None)
    await mutes.aclose()

    assert may(room)


async def test_closing_waits_for_no_server_that_hangs(
    room: FakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(get: object) -> api.ParticipantInfo:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("rpc.gateway.mutes.CLOSING_S", 0.01)
    monkeypatch.setattr(room.service, "get_participant", hangs)
    mutes = muting(room)
    mutes.mute("ada", lambda: None)
    await asyncio.sleep(0)

    await mutes.aclose()

    assert not mutes.muted("ada")


async def test_warming_up_asks_and_harms_nothing(room: FakeRoom) -> None:
    mutes = muting(room)

    await mutes.warm_up("ada")
    await mutes.warm_up("nobody")
    room.service.fault = RuntimeError("away")
    await mutes.warm_up("ada")

    assert room.service.updates == []
