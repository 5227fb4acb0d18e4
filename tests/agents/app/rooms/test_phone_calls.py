"""Somebody on the telephone: a participant of kind SIP, whose keys are heard and who is never called by RPC."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agents.app.rooms.media import Media
from agents.testing import ToneTTS
from tests.agents.app.rooms.checked_client import LARGE, TIRAMISU, Checked
from tests.agents.app.rooms.conftest import Agent, Calls
from tests.agents.app.rooms.test_speech import speech
from tests.livekit import Client, LiveKit, until

NUMBER = "+12125550142"
SIP = {"sip.callID": "SCL_1", "sip.callStatus": "active", "sip.trunkPhoneNumber": "+12125550187"}
CODES = {"*": 10, "#": 11}


@asynccontextmanager
async def phoned(
    calls: Calls, livekit: LiveKit, room_name: str, number: str = NUMBER, **how: Any
) -> AsyncIterator[tuple[Checked, Agent]]:
    """Have a greeted caller on the phone; at the end it got no RPC call."""
    attributes = {**SIP, "sip.phoneNumber": number}
    house = replace(calls.house, media=Media(lambda: speech(ToneTTS(character_s=0.0005))))
    async with (
        livekit.joined(room_name, kind="sip", attributes=attributes, **how) as client,
        calls.agent(room_name, house=house) as agent,
    ):
        phone = Checked(client)
        await phone.heard("welcome to Bella Vista")
        yield phone, agent
        assert client.calls == []


async def press(client: Client, keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        code = CODES.get(key) or int(key)
        await client.room.local_participant.publish_dtmf(code=code, digit=key)


async def said(phone: Checked, words: str) -> None:
    """Say something and wait until it is answered."""
    heard = len(phone.client.said)
    await phone.call("say", {"text": words})
    await until(lambda: len(phone.client.said) > heard, what=f"an answer to {words!r}")


async def read(phone: Checked, **facts: Any) -> Mapping[str, Any]:
    """Wait until the order says so."""
    attributes: Mapping[str, str] = {}

    def changed() -> bool:
        nonlocal attributes
        seen = dict(phone.client.agents()[-1].attributes)
        was, attributes = attributes, seen
        return was != seen

    order: Mapping[str, Any] = {}
    while any(order.get(name) != value for name, value in facts.items()):
        await until(changed, what=f"an order with {facts}, and not {order}")
        order = await phone.order()
    return order


async def test_a_number_is_kept_and_the_keys_are_heard(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with phoned(calls, livekit, room_name) as (phone, _):
        order = await phone.order()
        assert (order["channel"], order["phone"]) == ("phone", NUMBER)
        await said(phone, "I am Ada, two large Margheritas")
        await said(phone, "that is all, I will pick it up")
        await said(phone, "yes")
        await said(phone, "in cash")
        await said(phone, "no tip, thank you")
        await said(phone, "yes please")
        assert (await phone.order())["stage"] == "placed"
        await until(lambda: "stars" in phone.client.said[-1])
        turn = (await phone.call("hello"))["turn"]
        await press(phone.client, "####")
        await press(phone.client, "5#")
        await read(phone, feedback_rating=5)
        assert (await phone.call("hello"))["turn"] == turn + 1
        await press(phone.client, "0#")
        await read(phone, person_wanted=True)


async def test_a_phone_is_never_called_though_it_would_answer(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name, staff=True) as staff,
        phoned(calls, livekit, room_name) as (phone, _),
    ):
        await staff.hello()
        await staff.call("order.subscribe")
        assert (await phone.call("order.subscribe"))["version"] == 1
        assert (await phone.call("hello"))["turn"] == 0
        await phone.apply(**LARGE)
        await said(phone, "and a tiramisu, please")
        version = (await phone.order())["version"]
        await until(lambda: staff.changes and staff.changes[-1]["version"] >= version)
        assert await phone.call("order.unsubscribe") == {"ok": True}


async def test_a_phone_that_acknowledges_nothing_delays_nobody(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    grants = {"can_publish_data": False}
    async with (
        livekit.joined(room_name, staff=True) as staff,
        phoned(calls, livekit, room_name, grants=grants) as (phone, agent),
    ):
        cook = Checked(staff)
        await staff.hello()
        assert (await cook.call("order.subscribe"))["order"]["phone"] == NUMBER
        for version in (2, 3, 4):
            await cook.apply(**TIRAMISU)
            await cook.pushed(version)
        await until(lambda: phone.client.agents()[-1].attributes.get("bella.version") == "4")
        assert not agent.held.done()


@pytest.mark.parametrize("number", ["", "anonymous", "+1"])
async def test_a_caller_with_a_withheld_number_is_served(
    calls: Calls, livekit: LiveKit, room_name: str, number: str
) -> None:
    async with phoned(calls, livekit, room_name, number) as (phone, _):
        order = await phone.order()
        assert (order["channel"], order["phone"], order["version"]) == ("phone", None, 0)


async def test_keys_of_anybody_else_are_not_heard(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name) as eve,
        livekit.joined(room_name, staff=True) as staff,
        phoned(calls, livekit, room_name) as (phone, agent),
    ):
        pressed: list[str] = []
        agent.room.on("sip_dtmf_received", lambda key: pressed.append(key.digit))
        for client in (eve, staff):
            await press(client, "0#")
        await until(lambda: len(pressed) == 4)
        await said(phone, "what time do you close?")
        assert (await phone.call("hello"))["turn"] == 1
        assert (await phone.order())["person_wanted"] is False
