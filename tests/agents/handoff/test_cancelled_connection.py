"""A connection to a room that is cancelled while it is made."""

import asyncio
from typing import Any, cast

import pytest
from livekit import rtc

from agents.handoff.livekit_workarounds import connect


class Room:
    """A room whose connection is made, or fails, when the test says so."""

    def __init__(self) -> None:
        self.under_way = asyncio.Event()
        self.answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.connected = False

    async def connect(self, url: str, token: str) -> None:
        self.under_way.set()
        await self.answer
        self.connected = True

    async def disconnect(self) -> None:
        self.connected = False


async def cancelled() -> tuple[Room, "asyncio.Task[None]"]:
    room = Room()
    connecting = asyncio.create_task(connect(cast(Any, room), "ws://here", "token"))
    await room.under_way.wait()
    connecting.cancel()
    await asyncio.sleep(0)
    return room, connecting


async def test_it_is_made_to_its_end_and_left() -> None:
    room, connecting = await cancelled()
    assert not connecting.done()  # livekit would end the process 15 s later
    assert not room.answer.cancelled()
    room.answer.set_result(None)
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert not room.connected


async def test_one_that_fails_is_cancelled_all_the_same() -> None:
    room, connecting = await cancelled()
    room.answer.set_exception(rtc.ConnectError("no server"))
    with pytest.raises(asyncio.CancelledError):
        await connecting


async def test_one_that_nobody_cancels_connects_or_raises() -> None:
    room = Room()
    room.answer.set_result(None)
    await connect(cast(Any, room), "ws://here", "token")
    assert room.connected
    failing = Room()
    failing.answer.set_exception(rtc.ConnectError("no server"))
    with pytest.raises(rtc.ConnectError):
        await connect(cast(Any, failing), "ws://here", "token")
