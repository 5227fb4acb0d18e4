"""``join`` names the agent that has spoken, also where words overtake the attribute that names it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.app.join.client import ClientEvent, RoomClient, Said, TurnNotice
from tests.livekit import LONG_S, Client, LiveKit, until


async def turn(agent: Client, of: str, *, your_turn: bool = True) -> None:
    notice: dict[str, Any] = {"turn": 1, "your_turn": your_turn, "active_agent": of}
    await agent.room.local_participant.perform_rpc(
        destination_identity="user",
        method="your_turn_to_speak",
        payload=json.dumps(notice),
    )


async def says(agent: Client, text: str) -> None:
    await agent.room.local_participant.send_text(text, topic="lk.transcription")


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


async def test_the_first_words_after_a_handoff_are_the_next_agents(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.join.client._LABEL_S", LONG_S)
    async with joined(livekit, room_name) as (agent, user, told):
        await says(agent, "I put you through.")
        await says(agent, "Hello, I am the poet.")  # its attribute has not arrived
        await until(lambda: user._last_said and len(told) == 1, what="both texts")
        await turn(agent, "poet")
        await until(lambda: len(told) == 3, what="the notice")

    assert told[:2] == [Said("clerk", "I put you through."), Said("poet", "Hello, I am the poet.")]
    assert isinstance(told[2], TurnNotice)


async def test_words_without_a_notice_are_told_soon_and_none_is_lost_at_the_end(
    livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(livekit, room_name) as (agent, user, told):
        await says(agent, "One moment.")
        await until(lambda: len(told) == 1, what="words without a notice")
        monkeypatch.setattr("agents.app.join.client._LABEL_S", LONG_S)
        await turn(agent, "poet", your_turn=False)
        await says(agent, "Goodbye.")
        await until(lambda: user._last_said is not None, what="the last words")

    said = [one for one in told if isinstance(one, Said)]
    assert said == [Said("clerk", "One moment."), Said("clerk", "Goodbye.")]
