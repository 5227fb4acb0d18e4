"""``join`` names the agent that has spoken, also where words overtake the attribute that names it."""

import json
from typing import Any

from agents.app.join.client import ClientEvent, RoomClient, Said, TurnNotice
from tests.livekit import Client, LiveKit, until


async def turn(agent: Client, of: str, *, your_turn: bool = True) -> None:
    notice: dict[str, Any] = {"turn": 1, "your_turn": your_turn, "active_agent": of}
    await agent.room.local_participant.perform_rpc(
        destination_identity="user",
        method="your_turn_to_speak",
        payload=json.dumps(notice),
    )


async def says(agent: Client, text: str) -> None:
    await agent.room.local_participant.send_text(text, topic="lk.transcription")


async def test_the_first_words_after_a_handoff_are_the_next_agents(
    livekit: LiveKit, room_name: str
) -> None:
    told: list[ClientEvent] = []
    client = RoomClient("note", "desk", told.append)
    active = {"desk.active_agent": "clerk"}
    async with livekit.joined(room_name, kind="agent", attributes=active) as agent:
        await client.room.connect(livekit.url, livekit.token(room_name, "user"))
        client.take_notices()
        try:
            await until(lambda: client.agents, what="the agent")
            await until(lambda: "user" in agent.room.remote_participants, what="the user")
            await says(agent, "I put you through.")
            await says(agent, "Hello, I am the poet.")  # its attribute has not arrived
            await until(lambda: client._last_said and len(told) == 1, what="both texts")
            await turn(agent, "poet")
            await until(lambda: len(told) == 3, what="the notice")
        finally:
            await client.leave()

    assert told[:2] == [Said("clerk", "I put you through."), Said("poet", "Hello, I am the poet.")]
    assert isinstance(told[2], TurnNotice)


async def test_words_without_a_notice_are_told_soon_and_none_is_lost_at_the_end(
    livekit: LiveKit, room_name: str
) -> None:
    told: list[ClientEvent] = []
    client = RoomClient("note", "desk", told.append)
    active = {"desk.active_agent": "clerk"}
    async with livekit.joined(room_name, kind="agent", attributes=active) as agent:
        await client.room.connect(livekit.url, livekit.token(room_name, "user"))
        client.take_notices()
        try:
            await until(lambda: client.agents, what="the agent")
            await until(lambda: "user" in agent.room.remote_participants, what="the user")
            await says(agent, "One moment.")
            await until(lambda: len(told) == 1, what="words without a notice")
            await turn(agent, "poet", your_turn=False)
            await says(agent, "Goodbye.")
            await until(lambda: client._last_said is not None, what="the last words")
        finally:
            await client.leave()

    said = [one for one in told if isinstance(one, Said)]
    assert said == [Said("clerk", "One moment."), Said("clerk", "Goodbye.")]
