"""``join`` names the agent that has spoken, also where words overtake the participant's attributes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents.app.join.client import ClientEvent, RoomClient, Said, TurnNotice
from tests.livekit import Client, LiveKit, until


async def turn(agent: Client, of: str) -> None:
    notice: dict[str, Any] = {"turn": 1, "your_turn": True, "active_agent": of}
    await agent.room.local_participant.perform_rpc(
        destination_identity="user",
        method="your_turn_to_speak",
        payload=json.dumps(notice),
    )


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
        await turn(agent, "poet")
        await until(lambda: len(told) == 3, what="the notice")

    assert told[:2] == [Said("clerk", "I put you through."), Said("poet", "Hello, I am the poet.")]
    assert isinstance(told[2], TurnNotice)


async def test_words_without_a_name_are_the_active_agents(livekit: LiveKit, room_name: str) -> None:
    async with joined(livekit, room_name) as (agent, user, told):
        await says(agent, "One moment.")
        await until(lambda: told, what="the words")

    assert told == [Said("clerk", "One moment.")]
