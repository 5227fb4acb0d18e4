"""Push-to-talk in a real room: a client's button, real tracks, the restaurant's agents."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from livekit import rtc

from agents.app.models.speech import SpeechModels
from agents.app.rooms.media import Media
from agents.handoff import Call, Event, Heard, Said, turns_by
from agents.testing import ScriptedSTT, ToneTTS, ToneVAD
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.livekit import Client, LiveKit, is_turn, until
from tests.speaking import Speaking, speaking

LINES = ("Hi, I am Ada", "Two large Margheritas, please")
NAME, ORDER = range(len(LINES))


def speech(voice: ToneTTS) -> SpeechModels:
    """Speech models that need no key."""
    stt, detector = ScriptedSTT(LINES), ToneVAD()
    turns = turns_by(detector)
    turns["endpointing"] = {"mode": "fixed", "min_delay": 0.05, "max_delay": 0.5}
    return SpeechModels(stt, voice, detector, {}, turns, (stt, voice))


@dataclass
class Spoken:
    """A call that is spoken, and its guest."""

    agent: Agent
    guest: Client
    ada: Speaking
    voice: ToneTTS
    heard: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def call(self) -> Call[Any, Any]:
        conversation = self.agent.call._conversation
        assert conversation is not None
        return conversation.call

    async def begin(self) -> None:
        """Wait for the greeting."""
        hello = await self.guest.hello()
        assert "push_to_talk" in hello["features"]
        self.call.subscribe(self._on_event)
        await until(partial(self.is_answered, 0), what="the greeting")

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Heard):
            self.heard.append(event.text)
        elif isinstance(event, Said):
            self.said.append(event.text)

    def is_answered(self, turn: int) -> bool:
        return self.call.turn == turn and self.call.turns.is_user_turn


@asynccontextmanager
async def spoken(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> AsyncIterator[Spoken]:
    """Have a greeted guest with a microphone in a room."""
    voice = ToneTTS(character_s=0.004)
    house = changed(media=Media(lambda: speech(voice)))
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        there = Spoken(agent, guest, ada, voice)
        await there.begin()
        yield there


async def test_only_what_is_said_in_a_turn_is_heard(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    async with spoken(calls, changed, livekit, room_name) as there:
        guest, ada = there.guest, there.ada
        assert await guest.call("set_microphone", {"mode": "push_to_talk"}) == {
            "ok": True,
            "mode": "push_to_talk",
        }
        await ada.says(ORDER)
        assert await guest.call("start_turn") == {"ok": True, "turn": 1}
        await ada.says(NAME)
        assert await guest.call("end_turn") == {"ok": True, "turn": 1}
        await until(partial(there.is_answered, 1), what="the answer")
        with pytest.raises(rtc.RpcError) as refused:
            await guest.call("end_turn")
        await ada.says(ORDER)
        assert await guest.call("set_microphone", {"mode": "open"}) == {"ok": True, "mode": "open"}
        await ada.says(ORDER)
        await until(partial(there.is_answered, 2), what="the answer to an open microphone")
        state = there.call.state
        await until(lambda: is_turn(guest, 2), what="the notice")

    assert refused.value.code == 4022
    assert json.loads(refused.value.data or "")["reason"] == "no_turn"
    assert state.customer_name == "Ada"
    assert [(line.quantity, line.name) for line in state.order_items] == [(2, "Margherita")]
    assert there.heard == [LINES[NAME], LINES[ORDER]]


async def test_a_press_interrupts_and_a_cancelled_turn_is_forgotten(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    async with spoken(calls, changed, livekit, room_name) as there:
        guest, ada = there.guest, there.ada
        there.voice.character_s = 0.05
        await guest.call("start_turn")
        await ada.says(NAME)
        await guest.call("end_turn")
        await until(lambda: ada.hears, what="the answer")
        there.voice.character_s = 0.004
        await guest.call("start_turn")
        await until(lambda: not ada.hears, what="silence")
        await ada.says(ORDER)
        assert await guest.call("cancel_turn") == {"ok": True, "turn": 1}
        await guest.call("start_turn")
        await ada.says(NAME)
        await guest.call("end_turn")
        await until(partial(there.is_answered, 2), what="the answer")
        state = there.call.state

    assert state.order_items == ()
    assert there.heard == [LINES[NAME], LINES[NAME]]


async def test_the_turn_of_a_guest_who_leaves_is_committed(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    async with spoken(calls, changed, livekit, room_name) as there:
        await there.guest.call("start_turn")
        await there.ada.says(ORDER)
        await there.ada.end()
        await there.guest.leave()
        await until(lambda: there.call.turn == 1, what="the turn")
        await until(lambda: there.call.state.order_items, what="the order")


async def test_the_mode_outlives_a_new_connection_and_a_call(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_job.OWN_GOODBYE_S", 0.0)
    async with spoken(calls, changed, livekit, room_name) as there:
        guest, ada = there.guest, there.ada
        await guest.call("set_microphone", {"mode": "push_to_talk"})
        await ada.end()
        await guest.leave()
        async with (
            livekit.joined(room_name, guest.identity) as again,
            speaking(again.room) as back,
        ):
            me = again.room.local_participant
            await until(lambda: me.attributes.get("bella.microphone") == "push_to_talk")
            await again.hello()
            there.call.close_after_reply("agent_ended")
            there.call.speak("Goodbye.")
            await until(lambda: again.ends, what="the end of the call")
            await back.says(ORDER)  # nobody is asked to listen
            ended = there.agent.call._conversation
            with pytest.raises(rtc.RpcError) as refused:
                await again.call("end_turn")
            assert there.agent.call._conversation is ended
            assert await again.call("start_turn") == {"ok": True, "turn": 1}
            await back.says(NAME)
            await again.call("end_turn")
            await until(lambda: there.call.turn == 1 and there.call.turns.is_user_turn)
            state = there.call.state

    assert json.loads(refused.value.data or "")["reason"] == "call_over"
    assert (state.customer_name, state.order_items) == ("Ada", ())


async def test_the_next_agent_in_the_room_keeps_the_microphone_closed(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    voice = ToneTTS(character_s=0.004)
    house = changed(media=Media(lambda: speech(voice)))
    async with livekit.joined(room_name) as guest, speaking(guest.room) as ada:
        async with calls.agent(room_name, house=house) as first:
            there = Spoken(first, guest, ada, voice)
            await there.begin()
            await guest.call("start_turn")
            me = guest.room.local_participant
            await until(lambda: me.attributes.get("bella.microphone") == "push_to_talk")
        async with calls.agent(room_name, house=house) as second:
            there = Spoken(second, guest, ada, voice)
            await there.begin()
            for _ in range(2):  # the second is asked because the answer was lost
                with pytest.raises(rtc.RpcError, match="No turn"):
                    await guest.call("end_turn")
            again = there.call.policy.say_again
            await until(lambda: again in there.said and there.is_answered(0))
            await ada.says(ORDER)
            await guest.call("start_turn")
            await ada.says(NAME)
            await guest.call("end_turn")
            await until(partial(there.is_answered, 1), what="the answer")
            assert there.heard == [LINES[NAME]]
            assert there.said.count(again) == 1


async def test_a_call_in_text_has_no_push_to_talk(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest, calls.agent(room_name):
        hello = await guest.hello()
        with pytest.raises(rtc.RpcError) as refused:
            await guest.call("start_turn")

    assert "push_to_talk" not in hello["features"]
    assert refused.value.code == 4022
    assert json.loads(refused.value.data or "")["reason"] == "no_audio"
