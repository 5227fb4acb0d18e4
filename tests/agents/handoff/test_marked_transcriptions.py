"""Transcriptions in a room name the utterance that they are part of, one reply after the other."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from livekit.agents import AgentSession

from agents.handoff.livekit_workarounds import mark_transcriptions


async def test_the_last_words_of_a_reply_are_not_marked_as_the_next_one() -> None:
    words_sent = asyncio.Event()
    stream = SimpleNamespace(_additional_attributes={"utterance": "U_1"})
    room = SimpleNamespace(
        _tr_synchronizer=SimpleNamespace(barrier=words_sent.wait),
        _agent_tr_output=SimpleNamespace(_ParticipantTranscriptionOutput__outputs=[stream]),
    )
    session = cast(AgentSession[Any], SimpleNamespace(_room_io=room))

    marking = asyncio.ensure_future(mark_transcriptions(session, "desk", "U_2"))
    await asyncio.sleep(0)
    assert stream._additional_attributes == {"utterance": "U_1"}
    words_sent.set()
    await marking
    assert stream._additional_attributes == {"active_agent": "desk", "utterance": "U_2"}
