"""The process of a phone call is killed while its caller is put through to a person: both are looked after."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from livekit import api

from agents.app.words import Words
from tests.agents.app.rooms.held_call import Held, held_in
from tests.agents.app.rooms.sip_server import Person, SipServer, sip_server
from tests.agents.app.rooms.test_phone_calls import SIP, press
from tests.agents.app.rooms.test_put_through import hears
from tests.agents.app.serving.processes import Running
from tests.livekit import LONG_S, Client, LiveKit, until
from tests.speaking import Speaking, speaking

pytestmark = pytest.mark.processes


@dataclass
class Call:
    """A caller, and the process of their call."""

    held: Held
    client: Client
    voice: Speaking
    process: Running
    sip: SipServer
    livekit: LiveKit
    their_room: str = ""
    """The room of the person, once the agent is lost."""

    async def hears(self, words: str) -> None:
        await until(lambda: any(words in one for one in self.client.said), what=words)

    async def person(self) -> Person:
        await until(lambda: self.sip.person, what="a person who answers")
        assert self.sip.person is not None
        return self.sip.person

    @property
    def marked(self) -> str:
        """What the room says of their transfer."""
        return self.client.room.local_participant.attributes.get("bella.transfer", "")

    async def their_room_is_closed(self) -> None:
        """Wait until the room is gone that the person was called into."""
        theirs = api.ListRoomsRequest(names=[self.their_room])
        async with asyncio.timeout(LONG_S), self.livekit.api() as server:
            while True:
                if not (await server.room.list_rooms(theirs)).rooms:
                    return
                await asyncio.sleep(0.05)

    async def killed(self) -> None:
        """Kill the process, and remove what is left of it in the room, as a worker does."""
        self.their_room = self.marked
        os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.ends()
        gone = api.RoomParticipantIdentity(room=self.held.room, identity=f"agent-{self.held.job}")
        async with self.livekit.api() as server:
            await server.room.remove_participant(gone)
        await until(lambda: not self.client.agents(), what="the end of the lost agent")


async def asked(call: Call) -> None:
    await until(lambda: call.marked, what="the mark")


async def ringing(call: Call) -> None:
    call.sip.answers = False
    await asyncio.wait_for(call.sip.ringing.wait(), LONG_S)


async def told(call: Call) -> None:
    person = await call.person()
    await until(lambda: person.voice.heard_s > 0.05, what="the summary")


async def passed_on(call: Call) -> None:
    await told(call)
    person = await call.person()
    await person.press("1")
    await until(lambda: hears(person.voice, call.voice), what="the caller's voice")


async def moved(call: Call) -> None:
    call.sip.moves = True
    await told(call)
    before = await call.person()
    await before.press("1")
    await until(lambda: call.sip.person not in (None, before), what="the move")


Step = Callable[[Call], Awaitable[None]]


@asynccontextmanager
async def lost_at(
    step: Step, livekit: LiveKit, room_name: str, folder: Path
) -> AsyncIterator[Call]:
    """Have a caller whose agent is lost at a step of the transfer, with a Margherita on their order."""
    async with (
        sip_server(livekit) as sip,
        livekit.joined(room_name, kind="sip", attributes=SIP) as client,
        speaking(client.room) as voice,
    ):
        sip.answers = step is not ringing
        held = held_in(livekit, room_name, folder, sip_url=sip.url)
        with held.process(folder) as process:
            call = Call(held, client, voice, process, sip, livekit)
            await call.hears("Bella Vista")
            await client.call("say", {"text": "a large Margherita, please"})
            await call.hears("Margherita")
            await press(client, "0#")
            await step(call)
            await call.killed()
        yield call


async def goes_on(call: Call, talk: Any) -> None:
    """The order is whole, and the caller can add to it."""
    await until(lambda: talk().call.turns.is_user_turn, what="their turn")
    assert [one.name for one in talk().call.state.order_items] == ["Margherita"]
    await call.client.call("say", {"text": "and a Tiramisu"})
    await until(lambda: len(talk().call.state.order_items) == 2, what="the Tiramisu")


@pytest.mark.timeout(180)  # a process is started, and a busy machine takes its time
@pytest.mark.parametrize("step", [asked, ringing, told, passed_on])
async def test_the_next_agent_says_that_it_broke_off_and_nobody_is_left_in_a_room(
    step: Step, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    async with lost_at(step, livekit, room_name, tmp_path) as call:
        before = call.sip.person
        again = replace(call.held, job="AJ_next", supersedes=call.held.job)
        async with again.agent() as agent:
            await call.hears(Words().transfer_lost)
            if before is not None:
                await until(lambda: "disconnected" in before.client.connection, what="the end")
            await until(lambda: call.marked != call.their_room, what="the end of the mark")
            await call.their_room_is_closed()
            await goes_on(call, lambda: agent.call._conversation)
            state = agent.call._conversation.call.state  # type: ignore[union-attr]
            assert state.person_wanted is True


@pytest.mark.timeout(180)
async def test_the_next_agent_lets_a_caller_and_a_person_talk_to_their_end(
    livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    async with lost_at(moved, livekit, room_name, tmp_path) as call:
        person, said = await call.person(), len(call.client.said)
        again = replace(call.held, job="AJ_next", supersedes=call.held.job)
        async with again.agent() as agent:
            await until(call.client.agents, what="the next agent")
            await until(lambda: hears(person.voice, call.voice), what="the caller's voice")
            assert call.client.said[said:] == []
            await person.hang_up()
            await call.hears(Words().person_gone)
            await goes_on(call, lambda: agent.call._conversation)
