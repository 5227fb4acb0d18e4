"""A phone caller who asks for a person is put through to one, and hears it when nobody is there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

import pytest
from livekit import api
from livekit.agents import APIConnectionError

from agents.app.rooms import transfer
from agents.app.rooms.media import Media
from agents.app.rooms.process_context import RoomOutcome
from agents.app.rooms.silence import SilenceTimer
from agents.app.rooms.transfer import PhoneServer
from agents.app.words import Words
from agents.testing import ToneTTS
from agents.testing.tones import line
from bella_vista.local.model import LocalLLM
from state.context import OrderContext
from tests.agents.app.rooms.conftest import Agent, Calls
from tests.agents.app.rooms.sip_server import Person, SipServer, sip_server
from tests.agents.app.rooms.test_phone_calls import SIP, press
from tests.agents.app.rooms.test_speech import speech
from tests.livekit import LONG_S, Client, LiveKit, until
from tests.speaking import Speaking, speaking

DESK = "+12125550101"
NUMBER = "+12125550142"
CLOSED = datetime(2026, 11, 20, 4, tzinfo=UTC)
NO_ONE = "no one can take your call just now"
Way = Literal["cold", "warm"]


@pytest.fixture
async def sip(livekit: LiveKit) -> AsyncIterator[SipServer]:
    """The API by which calls are transferred."""
    async with sip_server(livekit) as server:
        yield server


@dataclass
class Calling:
    """A caller, the agent in their room, and the server by which they are transferred."""

    client: Client
    voice: Speaking
    agent: Agent
    tts: ToneTTS
    sip: SipServer

    @property
    def talk(self) -> Any:
        """The call."""
        return self.agent.call._conversation

    @property
    def order(self) -> Any:
        """The order."""
        return self.talk.call.state

    @property
    def silence(self) -> SilenceTimer:
        """The timer of the call for a silent caller."""
        timer: SilenceTimer = self.talk._silence
        return timer

    def is_turn(self, turn: int) -> bool:
        """Whether it is the caller's turn, after so many messages of theirs."""
        talk = self.talk
        return talk is not None and talk.call.turn == turn and talk.call.turns.is_user_turn

    async def asks(self) -> None:
        """Ask for a person by the key."""
        await press(self.client, "0#")

    async def hears(self, words: str) -> None:
        """Wait until something is said to the caller."""
        await until(lambda: any(words in one for one in self.client.said), what=words)

    def waits(self) -> bool:
        """Whether a tone is played to the caller."""
        tracks = self.client.agents()[-1].track_publications.values()
        return any(one.name == "waiting" for one in tracks)

    async def answered(self) -> Person:
        """Wait until a person has answered; returns them."""
        await until(lambda: self.sip.person, what="a person who answers")
        assert self.sip.person is not None
        return self.sip.person


@pytest.fixture
def desk(calls: Calls) -> Calls:
    """The restaurant, with somebody at the telephone in its hours."""
    return with_desk(calls, calls.house.context.now)


def with_desk(calls: Calls, now: Callable[[], datetime]) -> Calls:
    """Have somebody at the restaurant's telephone in its hours."""
    context = calls.house.context
    menu = replace_menu(context.menu, transfer_to=DESK)
    there = OrderContext(menu=menu, now=now, new_id=context.new_id)
    model = partial(LocalLLM, menu, now=now)
    return Calls(calls.livekit, replace(calls.house, context=there, model=model))


def replace_menu(card: Any, **restaurant: Any) -> Any:
    """Change a menu's restaurant."""
    return card.model_copy(update={"restaurant": card.restaurant.model_copy(update=restaurant)})


@asynccontextmanager
async def calling(
    calls: Calls,
    sip: SipServer,
    room_name: str,
    way: Way,
    attributes: dict[str, str] | None = None,
    **how: Any,
) -> AsyncIterator[Calling]:
    """Have a greeted caller with a Margherita on their order."""
    livekit = calls.livekit
    tts = ToneTTS(character_s=0.0005)
    house = replace(calls.house, media=Media(lambda: speech(tts)), **how)
    attributes = {**SIP, "sip.phoneNumber": NUMBER} if attributes is None else attributes
    async with (
        api.LiveKitAPI(sip.url, livekit.api_key, livekit.api_secret) as server,
        livekit.joined(room_name, kind="sip", attributes=attributes) as client,
        speaking(client.room) as voice,
    ):
        phones = PhoneServer(
            server,
            livekit.url,
            livekit.api_key,
            livekit.api_secret,
            trunk="ST_out" if way == "warm" else None,
        )
        async with calls.agent(room_name, house=house, phones=phones) as agent:
            caller = Calling(client, voice, agent, tts, sip)
            await until(lambda: caller.is_turn(0), what="the greeting")
            await client.call("say", {"text": "a large Margherita, please"})
            await until(lambda: caller.is_turn(1), what="the pizza")
            yield caller


def whole(caller: Calling) -> None:
    """The order is what it was."""
    assert [(line.quantity, line.name) for line in caller.order.order_items] == [(1, "Margherita")]
    assert caller.order.phone == NUMBER


async def test_a_caller_is_transferred_at_once(desk: Calls, sip: SipServer, room_name: str) -> None:
    async with calling(desk, sip, room_name, "cold") as caller:
        sip.transferred = caller.client.leave  # a caller who was transferred leaves the room
        await caller.asks()
        outcome = await asyncio.wait_for(asyncio.shield(caller.agent.held), LONG_S)

        assert outcome is RoomOutcome.COMPLETED
        (asked,) = sip.of(api.TransferSIPParticipantRequest)
        assert (asked.room_name, asked.participant_identity) == (room_name, caller.client.identity)
        assert asked.transfer_to == f"tel:{DESK}"
        assert any("hold the line" in one for one in caller.tts.spoken)
        whole(caller)
        assert caller.order.person_wanted is False


@pytest.mark.parametrize(("way", "asks"), [("cold", "0#"), ("warm", "I want to talk to a person")])
async def test_outside_of_the_hours_a_caller_hears_that_nobody_is_there(
    calls: Calls, sip: SipServer, room_name: str, way: Way, asks: str
) -> None:
    closed = with_desk(calls, lambda: CLOSED)
    async with calling(closed, sip, room_name, way) as caller:
        if asks == "0#":
            await caller.asks()
        else:
            await caller.client.call("say", {"text": asks})
        await caller.hears("No one can come to the telephone just now")
        await until(lambda: caller.is_turn(2), what="their turn")
        assert caller.order.person_wanted is True
        whole(caller)
        await caller.client.call("say", {"text": "and a Tiramisu"})
        await until(lambda: len(caller.order.order_items) == 2, what="the Tiramisu")
        assert not caller.agent.held.done()
    assert sip.asked == []


@pytest.mark.parametrize("way", ["cold", "warm"])
@pytest.mark.parametrize("status", [486, 603, 480, None])
async def test_a_caller_hears_that_nobody_was_reached_and_goes_on(
    desk: Calls,
    sip: SipServer,
    room_name: str,
    way: Way,
    status: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if status is None:  # it rings, and nobody answers
        sip.answers = False
        monkeypatch.setattr("agents.app.rooms.phone.TRANSFER_S", 0.3)
        monkeypatch.setattr(transfer, "RINGING_S", 0.3)
    sip.status = status
    async with calling(desk, sip, room_name, way) as caller:
        await caller.asks()
        await caller.hears(NO_ONE)
        await until(lambda: caller.is_turn(2), what="their turn")
        whole(caller)
        assert caller.order.person_wanted is True
        await caller.voice.says(1)
        await until(lambda: caller.is_turn(3), what="an answer to what they say")
        await caller.client.call("say", {"text": "and a Tiramisu"})
        await until(lambda: len(caller.order.order_items) == 2, what="the Tiramisu")
        assert not caller.agent.held.done()


@pytest.mark.parametrize("moves", [True, False], ids=["moved", "passed on"])
async def test_a_person_hears_what_it_is_about_and_is_joined(
    desk: Calls, sip: SipServer, room_name: str, moves: bool
) -> None:
    sip.moves = moves
    async with calling(desk, sip, room_name, "warm") as caller:
        await caller.asks()
        person = await caller.answered()
        (asked,) = sip.of(api.CreateSIPParticipantRequest)
        assert (asked.sip_trunk_id, asked.sip_call_to) == ("ST_out", DESK)
        assert asked.room_name != room_name
        assert asked.wait_until_answered
        await until(lambda: person.voice.heard_s > 0.05, what="the summary")
        assert "Margherita" in caller.tts.spoken[-1]
        assert "Press 1" in caller.tts.spoken[-1]
        await until(lambda: any("Margherita" in one for one in person.client.said))
        assert "Margherita" in person.client.room.metadata
        turn, waited_s = caller.talk.call.turn, caller.voice.heard_s
        await until(lambda: caller.voice.heard_s > waited_s, what="the tone")

        await person.press("1")
        if moves:
            await until(lambda: sip.person not in (None, person), what="the move")
            person = await caller.answered()
            there = caller.client.room.remote_participants
            identity = person.client.identity
            await until(lambda: identity in there, what="the person in the caller's room")
        await until(lambda: not caller.waits(), what="the end of the tone")
        await until(lambda: hears(person.voice, caller.voice), what="the caller's voice")
        await until(lambda: hears(caller.voice, person.voice), what="the person's voice")
        assert caller.is_turn(turn)
        assert caller.tts.spoken[-1].startswith("Thank you")
        assert (caller.talk.call.turn, caller.silence.due_at) == (turn, None)
        whole(caller)

        caller.voice.speaks_on()  # they were talking to the person
        await person.hang_up()
        await caller.hears(Words().person_gone)
        assert await rooms(caller) == [room_name]
        await until(lambda: not caller.talk._on_hold, what="the end of the hold")
        caller.voice.falls_silent()  # livekit-agents begins no reply while they speak
        await caller.client.call("say", {"text": "and a Tiramisu"})
        await until(lambda: len(caller.order.order_items) == 2, what="the Tiramisu")


def hears(one: Speaking, other: Speaking) -> bool:
    """Whether one hears the other speak."""
    if not other._lines.qsize():
        other._lines.put_nowait(line(0))
    return one.hears


async def rooms(caller: Calling) -> list[str]:
    """The caller's room, and others of this call."""
    async with caller.sip._livekit.api() as server:
        found = await server.room.list_rooms(api.ListRoomsRequest())
    return [one.name for one in found.rooms if one.name.startswith(caller.client.room.name)]


def cannot(*_: Any, **__: Any) -> Any:
    """Fail as a text-to-speech provider does."""
    raise APIConnectionError("no voice")


@pytest.mark.parametrize("how", ["declines", "hangs up", "says nothing", "cannot be spoken to"])
async def test_a_person_who_does_not_take_the_call(
    desk: Calls, sip: SipServer, room_name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "says nothing":
        monkeypatch.setattr(transfer, "ANSWER_S", 0.1)
    async with calling(desk, sip, room_name, "warm") as caller:
        if how == "cannot be spoken to":
            monkeypatch.setattr(caller.tts, "synthesize", cannot)
        await caller.asks()
        person = await caller.answered()
        if how != "cannot be spoken to":
            await until(lambda: person.voice.heard_s > 0.05, what="the summary")
        match how:
            case "declines":
                await person.press("2")
            case "hangs up":
                await person.hang_up()
        await caller.hears(NO_ONE)
        await until(lambda: caller.is_turn(2), what="their turn")
        whole(caller)
        assert caller.order.person_wanted is True
        assert not sip.of(api.MoveParticipantRequest)
        if how != "hangs up":
            await until(lambda: "disconnected" in person.client.connection, what="the end")
        assert await rooms(caller) == [room_name]


@pytest.mark.parametrize("moment", ["ringing", "asked", "joined"])
async def test_a_caller_who_hangs_up_meanwhile_leaves_nobody_behind(
    desk: Calls, sip: SipServer, room_name: str, moment: str
) -> None:
    sip.answers = moment != "ringing"
    async with calling(desk, sip, room_name, "warm", grace_s=0.5) as caller:
        await caller.asks()
        await asyncio.wait_for(sip.ringing.wait(), LONG_S)
        person = None if moment == "ringing" else await caller.answered()
        if person is not None:
            await until(lambda: person.voice.heard_s > 0.05, what="the summary")
        if person is not None and moment == "joined":
            await person.press("1")
            await until(lambda: not caller.waits(), what="the end of the tone")
            await until(lambda: hears(person.voice, caller.voice), what="the caller")
        await caller.client.leave()
        if person is not None:
            await until(lambda: "disconnected" in person.client.connection, what="the end")
            assert "The caller has hung up" in caller.tts.spoken[-1]
        assert await asyncio.wait_for(asyncio.shield(caller.agent.held), LONG_S)
        whole(caller)
        assert not [one for one in await rooms(caller) if one != room_name]
