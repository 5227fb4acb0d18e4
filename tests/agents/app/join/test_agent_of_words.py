"""``join`` names the agent that has spoken, also where words overtake the participant's attributes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import pytest
from livekit import rtc

from agents.app.join.client import ClientEvent, RoomClient, SaidText
from tests.livekit import Client, LiveKit, until


async def says(agent: Client, text: str, of: str | None = None) -> None:
    named = {"active_agent": of} if of is not None else {}
    await agent.room.local_participant.send_text(text, topic="lk.transcription", attributes=named)


@asynccontextmanager
async def joined(
    livekit: LiveKit, room_name: str
) -> AsyncIterator[tuple[Client, RoomClient, list[ClientEvent]]]:
    """Have an agent in a room, and a user to whose client it speaks; gives what that client tells."""
    told: list[ClientEvent] = []
    user = RoomClient("note", "desk", told.append)
    active = {"desk.active_agent": "clerk"}
    async with livekit.joined(room_name, kind="agent", attributes=active) as agent:
        await user.room.connect(livekit.url, livekit.token(room_name, "user"))
        user.take_notices()
        try:
            await until(lambda: user.agents, what="the agent")
            await until(lambda: "user" in agent.room.remote_participants, what="the user")
            yield agent, user, told
        finally:
            await user.leave()


async def test_words_are_those_of_the_agent_that_their_transcription_names(
    livekit: LiveKit, room_name: str
) -> None:
    async with joined(livekit, room_name) as (agent, user, told):
        await says(agent, "I put you through.", of="clerk")
        await says(agent, "Hello, I am the poet.", of="poet")  # the participant's has not arrived
        await until(lambda: len(told) == 2, what="both texts")

    assert told == [
        SaidText("clerk", "I put you through."),
        SaidText("poet", "Hello, I am the poet."),
    ]


async def test_words_without_a_name_are_the_active_agents(livekit: LiveKit, room_name: str) -> None:
    async with joined(livekit, room_name) as (agent, user, told):
        await says(agent, "One moment.")
        await until(lambda: told, what="the words")

    assert told == [SaidText("clerk", "One moment.")]


class Reader:
    """A transcription that is whole when the test says so."""

    def __init__(self, text: str) -> None:
        self.info = SimpleNamespace(attributes={"active_agent": "clerk"})
        self.whole = asyncio.Event()
        self._text = text

    async def read_all(self) -> str:
        await self.whole.wait()
        return self._text


async def test_words_are_told_in_the_order_in_which_they_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[ClientEvent] = []
    monkeypatch.setattr(RoomClient, "agents", ["agent"])
    client = RoomClient("note", "desk", told.append)
    first, second = Reader("One moment."), Reader("Here you are.")
    for reader in (first, second):
        client._on_stream(cast("rtc.TextStreamReader", reader), "agent")

    second.whole.set()
    await asyncio.sleep(0)
    first.whole.set()
    await until(lambda: len(told) == 2, what="both texts")

    assert told == [SaidText("clerk", "One moment."), SaidText("clerk", "Here you are.")]
