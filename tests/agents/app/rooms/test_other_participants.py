"""Participants other than the guest and staff can read and change nothing by RPC or chat."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from typing import Any

import pytest
from livekit import api

from tests.agents.app.rooms.checked_client import (
    CONTRACT,
    LARGE,
    TIRAMISU,
    Checked,
    placed,
    served,
    served_with_staff,
    state,
)
from tests.agents.app.rooms.conftest import Calls
from tests.livekit import LONG_S, Client, LiveKit, until

CALLS: Mapping[str, Mapping[str, Any]] = {
    "hello": {},
    "say": {"text": "ten tiramisu, please"},
    "get_transcript": {},
    "refuse_recording": {},
    "start_turn": {},
    "end_turn": {},
    "cancel_turn": {},
    "set_microphone": {"mode": "push_to_talk"},
    "get_order_state": {"since": 0},
    "get_menu": {},
    "order.apply": {"command": TIRAMISU},
    "order.subscribe": {},
    "order.unsubscribe": {},
    "agent.state": state("create", "note", data={"title": "Eve", "content": "was here"}),
}
"""One proper request of every method."""

MORE = (
    ("order.apply", {"command": {"op": "cancel_order"}, "version": 1}),
    ("order.apply", {"command": {"op": "accept_order"}, "version": 1}),
    ("agent.state", {"operation": "list"}),
    ("agent.state", {"operation": "no such"}),
    ("get_order_state", {"since": "no number"}),
)


async def nothing_for(stranger: Client, ada: Checked) -> None:
    """Try every method as a participant without a role, and check that all are refused."""
    before = await ada.client.call_text("get_order_state")
    heard = len(ada.client.said)
    eve = Checked(stranger)
    assert CALLS.keys() == CONTRACT["methods"].keys()
    tried: list[tuple[str, Any]] = [*CALLS.items(), *MORE]
    tried += [("get_order_state", "no JSON"), ("agent.state", "x" * 9_000)]
    answers = set()
    for method, payload in tried:
        told = await eve.refused(method, payload)
        assert (told["code"], told["facts"]) == (4003, {}), method
        assert "version" not in told
        answers.add(told["detail"])
    assert len(answers) <= 2  # a hello is answered in other words
    await stranger.write("cancel my order")
    await ada.say("what time do you close?")
    assert await ada.client.call_text("get_order_state") == before
    assert stranger.calls == []
    assert len(ada.client.said) == heard + 1


async def test_another_guest_has_no_role(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.page.QUIET_S", LONG_S)  # no agent remarks in between
    async with (
        served(calls, livekit, room_name) as (ada, agent),
        livekit.joined(room_name, grants={"can_update_own_metadata": True}) as cheat,
        livekit.joined(room_name) as eve,
    ):
        assert agent.room.isconnected()
        await ada.apply(**LARGE)
        await ada.call("order.subscribe")
        await cheat.room.local_participant.set_attributes({"bella.role": "staff"})
        await cheat.room.local_participant.set_metadata('{"bella.role": "staff"}')
        await until(lambda: agent.sees(cheat) == "staff")
        for stranger in (eve, cheat):
            await nothing_for(stranger, ada)
        await ada.apply(**TIRAMISU)
        await until(lambda: ada.client.changes)
        assert (eve.calls, cheat.calls) == ([], [])


async def test_a_staff_token_that_can_be_rewritten_is_worth_nothing(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    grants = {"can_update_own_metadata": True}
    async with (
        livekit.joined(room_name, staff=True, grants=grants) as eve,
        served(calls, livekit, room_name) as (ada, _),
    ):
        await nothing_for(eve, ada)


async def test_another_agent_has_no_role(calls: Calls, livekit: LiveKit, room_name: str) -> None:
    grants = {"can_update_own_metadata": False}
    async with (
        served(calls, livekit, room_name) as (ada, agent),
        livekit.joined(room_name, kind="agent", staff=True, grants=grants) as eve,
    ):
        to = agent.room.local_participant.identity
        await until(lambda: eve.identity in agent.room.remote_participants)
        for method, payload in CALLS.items():
            told = await Checked(eve).refused(method, payload, to=to)
            assert told["code"] == 4003, method
            assert "version" not in told
        await eve.write("cancel my order")
        await ada.client.call("say", {"text": "what time do you close?"}, to=to)
        await ada.turn(1)
        order = await ada.client.call("get_order_state", to=to)
        assert order["version"] == 0
        assert eve.calls == []


def answered(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """What the gateway has answered: methods and codes."""
    said = [vars(one) for one in caplog.records if one.getMessage() == "rpc request handled"]
    return [(one["method"], one["code"]) for one in said]


async def test_a_hidden_participant_can_do_nothing(
    calls: Calls, livekit: LiveKit, room_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        served(calls, livekit, room_name) as (ada, agent),
        livekit.joined(room_name, hidden=True, attributes={"bella.role": "staff"}) as eve,
    ):
        before = await ada.client.call_text("get_order_state")
        caplog.set_level(logging.INFO, "rpc.gateway")
        caplog.clear()
        to = agent.room.local_participant.identity
        # The server does not say who calls, so no answer finds its way back.
        tasks = [
            asyncio.create_task(eve.call(method, payload, to=to))
            for method, payload in CALLS.items()
        ]
        await until(lambda: len(answered(caplog)) == len(CALLS))
        assert {code for _, code in answered(caplog)} == {4003}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await eve.write("cancel my order")
        await ada.say("what time do you close?")
        assert await ada.client.call_text("get_order_state") == before
        assert eve.calls == []


async def perform_rpc(server: api.LiveKitAPI, asked: api.PerformRpcRequest) -> None:
    """Call a participant from outside the room; livekit-api has the message and no method for it."""
    room: Any = server.room
    headers = room._auth_header(api.VideoGrants(room_admin=True, room=asked.room))
    await room._client.request("RoomService", "PerformRpc", asked, headers, api.PerformRpcResponse)


async def test_a_call_through_the_server_api_has_no_role(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served(calls, livekit, room_name) as (ada, agent), livekit.api() as server:
        before = await ada.client.call_text("get_order_state")
        for method, payload in CALLS.items():
            asked = api.PerformRpcRequest(
                room=room_name,
                destination_identity=agent.room.local_participant.identity,
                method=method,
                payload=json.dumps(payload),
                response_timeout_ms=9_000,
            )
            with pytest.raises(api.TwirpError, match="RpcError 4003"):
                await perform_rpc(server, asked)
        assert await ada.client.call_text("get_order_state") == before
        await ada.say("what time do you close?")


async def test_no_participant_is_served_before_the_guest_is_known(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name) as first,
        livekit.joined(room_name) as second,
        calls.agent(room_name),
    ):
        for client in (first, second):
            for method, payload in CALLS.items():
                if method != "hello":
                    assert (await Checked(client).refused(method, payload))["code"] == 4003
        await second.hello()
        assert (await Checked(first).refused("hello"))["code"] == 4003
        assert (await second.call("get_order_state"))["version"] == 0


async def test_staff_may_send_staff_commands_and_do_not_speak_for_the_guest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with served_with_staff(calls, livekit, room_name) as (ada, cook):
        client = cook.client
        assert (await cook.call("hello"))["resume_code"] is None
        assert (await cook.call("order.subscribe"))["version"] == 0
        assert (await cook.call("get_menu"))["sections"]
        assert (await cook.refused("say", {"text": "two tiramisu"}))["code"] == 4003
        await client.write("two tiramisu")
        await placed(ada)
        for op, stage in (
            ("accept_order", "accepted"),
            ("start_preparing", "preparing"),
            ("mark_ready", "ready"),
            ("complete_order", "completed"),
        ):
            asked = {"command": {"op": op}, "version": (await ada.order())["version"]}
            assert (await ada.refused("order.apply", asked))["code"] == 4003
            assert (await cook.step(op))["stage"] == stage
        order = await ada.order()
        assert [line["name"] for line in order["order_items"]] == ["Margherita"]
        await until(lambda: client.changes and client.changes[-1]["version"] == order["version"])
        assert client.turns == []
        assert ada.client.called("order_state_changed") == []


@pytest.mark.parametrize("kind", ["agent", "egress", "ingress"])
async def test_a_false_agent_that_has_just_joined_is_refused_at_once(
    calls: Calls, livekit: LiveKit, room_name: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As long as it was waited for a person to be announced.
    monkeypatch.setattr("agents.app.rooms.presence.PRESENCE_S", LONG_S)
    async with served(calls, livekit, room_name) as (ada, agent):
        to = agent.room.local_participant.identity
        for method in ("hello", "get_order_state"):
            grants = {"can_update_own_metadata": False}
            async with livekit.joined(room_name, kind=kind, grants=grants) as eve:
                before = time.monotonic()
                told = await Checked(eve).refused(method, to=to)
                assert told["code"] == 4003
                assert time.monotonic() - before < LONG_S / 2
        assert (await ada.call("hello", to=to))["turn"] == 0
