"""How the guest is bound, leaves and returns; other participants can do nothing."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from livekit import api, rtc

from agents.app.rooms.process_context import RoomOutcome
from agents.testing import ScriptedLLM, says
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.livekit import LONG_S, Client, LiveKit, is_turn, new_identity, until

GREETING = "welcome to Bella Vista"


async def test_words_written_before_the_agent_came_are_answered(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with calls.agent(room_name), livekit.joined(room_name) as guest:
        await guest.agent()
        await guest.write("two large margheritas please")
        await until(lambda: any("two large Margherita" in one for one in guest.said))
        assert (await guest.hello())["turn"] == 1


async def test_a_single_silent_participant_is_bound_as_the_guest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest, calls.agent(room_name):
        await until(lambda: any(GREETING in one for one in guest.said))


async def test_a_guest_who_is_still_connecting_is_greeted_once_they_can_receive(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with (
        livekit.connecting(room_name, identity),
        calls.agent(room_name, user=identity) as agent,
    ):
        local = agent.room.local_participant
        await until(lambda: local.attributes.get("lk.agent.state") == "initializing")
        await until(lambda: identity in agent.room.remote_participants)
        assert agent.call.user is None
        async with livekit.joined(room_name, identity) as guest:  # the server ends the other one
            await until(lambda: guest.turns)
            await until(lambda: guest.said)
            assert [GREETING in one for one in guest.said] == [True]


async def test_an_agent_does_not_leave_while_its_guest_is_still_connecting(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name) as agent:
        async with livekit.joined(room_name, identity) as first:
            await first.hello()
            await until(lambda: is_turn(first, 0))
        await until(lambda: agent.call.user is None, what="the guest's leaving")
        async with livekit.connecting(room_name, identity):
            await until(lambda: agent.call.user is not None)
            agent.call._on_grace_over()
            assert agent.call._grace.due_at is not None
            assert not agent.call._outcome.done()
        await until(lambda: agent.call.user is None, what="the end of the connection")
        agent.call._on_grace_over()
        assert await asyncio.wait_for(asyncio.shield(agent.held), LONG_S) is RoomOutcome.COMPLETED


async def test_a_reloaded_page_that_is_still_connecting_is_welcomed_back_once_it_can_receive(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name) as agent:
        async with livekit.joined(room_name, identity) as first:
            order = (await first.hello())["order_id"]
            await until(lambda: first.turns)
            await first.call("say", {"text": "one tiramisu"})
            await until(lambda: is_turn(first, 1))
        sid = agent.room.remote_participants[identity].sid
        async with livekit.connecting(room_name, identity):

            def seen() -> bool:
                there = agent.room.remote_participants.get(identity)
                return there is not None and there.sid != sid

            await until(seen)
            async with livekit.joined(room_name, identity) as again:
                await until(lambda: any("Welcome back" in one for one in again.said))
                assert (await again.hello())["order_id"] == order
                assert agent.call._conversation is not None
                spoken = agent.call._conversation.call.session.history.messages()
                welcomes = ["Welcome back" in (one.text_content or "") for one in spoken]
                assert sum(welcomes) == 1


async def test_a_second_participant_reads_nothing_and_changes_nothing(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name) as guest,
        calls.agent(room_name),
        livekit.joined(room_name) as stranger,
    ):
        await guest.hello()
        await until(lambda: guest.turns)
        before = await guest.call_text("get_order_state")
        add = {"op": "add_item", "name": "Tiramisu", "quantity": 1}
        for method, payload in (
            ("hello", {}),
            ("say", {"text": "two tiramisu"}),
            ("get_order_state", {}),
            ("get_menu", {}),
            ("order.apply", {"command": add}),
            ("order.subscribe", {}),
            ("agent.state", {"operation": "list"}),
        ):
            with pytest.raises(rtc.RpcError) as refused:
                await stranger.call(method, payload)
            assert refused.value.code == 4003, method
            assert "version" not in json.loads(refused.value.data or "{}") or (
                json.loads(refused.value.data or "{}")["version"] is None
            )
        await stranger.write("cancel everything")
        await guest.call("say", {"text": "what time do you close?"})
        await until(lambda: is_turn(guest, 1))
        assert await guest.call_text("get_order_state") == before
        assert stranger.calls == []


async def test_staff_read_and_are_told_but_say_nothing_for_the_guest(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name, staff=True) as staff,
        calls.agent(room_name),
    ):
        async with livekit.joined(room_name) as guest:
            assert (await guest.hello())["resume_code"]
            assert (await staff.hello())["resume_code"] is None
            await staff.call("order.subscribe")
            with pytest.raises(rtc.RpcError) as refused:
                await staff.call("say", {"text": "hello"})
            assert refused.value.code == 4003
            await guest.call("say", {"text": "one tiramisu"})
            await until(lambda: staff.changes)
            assert not staff.turns


async def test_an_attribute_set_by_the_participant_grants_no_staff_role(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with (
        livekit.joined(room_name) as guest,
        calls.agent(room_name) as agent,
        livekit.joined(room_name, grants={"can_update_own_metadata": True}) as cheat,
    ):
        await guest.hello()
        await cheat.room.local_participant.set_attributes({"bella.role": "staff"})
        await until(lambda: agent.sees(cheat) == "staff")
        for _ in range(3):
            with pytest.raises(rtc.RpcError) as refused:
                await cheat.call("get_order_state")
            assert refused.value.code == 4003


async def test_a_page_that_is_loaded_again_finds_its_order_and_is_told_once(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    identity = new_identity()
    async with calls.agent(room_name):
        async with livekit.joined(room_name, identity) as page:
            first = await page.hello()
            await page.call("say", {"text": "two large margheritas"})
            await until(lambda: any("two large Margherita" in one for one in page.said))
            await until(lambda: is_turn(page, 1))
        async with livekit.joined(room_name, identity) as page:
            again = await page.hello()
            assert again["order_id"] == first["order_id"]
            assert again["active_agent"] == "order_taker"
            assert again["turn"] == 1
            await until(lambda: any("Welcome back" in one for one in page.said))
            await page.call("say", {"text": "what time do you close?"})
            await until(lambda: len(page.said) >= 2)
            assert sum("Welcome back" in one for one in page.said) == 1
            assert "two large Margherita" in page.said[0]


async def test_after_the_grace_time_the_order_goes_on_elsewhere_with_its_code(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    house = changed(grace_s=0.5)
    async with calls.agent(room_name, house=house) as agent:
        async with livekit.joined(room_name) as guest:
            hello = await guest.hello()
            await guest.call("say", {"text": "two large margheritas"})
            await until(lambda: is_turn(guest, 1))
        assert await asyncio.wait_for(agent.held, LONG_S) is RoomOutcome.COMPLETED
    other = f"{room_name}-other"
    async with (
        livekit.joined(other) as guest,
        calls.agent(other, resume_code=hello["resume_code"]),
    ):
        again = await guest.hello()
        assert again["order_id"] == hello["order_id"]
        assert again["turn"] == 1
        await until(lambda: any("two large Margherita" in one for one in guest.said))


async def test_words_not_acted_on_are_answered_once_by_the_next_agent(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    never = asyncio.Event()
    slow = changed(model=lambda: ScriptedLLM([says("Good evening."), says("Hm.", until=never)]))
    said = {"text": "two large margheritas", "key": "once"}
    async with livekit.joined(room_name) as guest:
        async with calls.agent(room_name, job="AJ_first", house=slow) as first:
            await guest.hello()
            await until(lambda: is_turn(guest, 0))
            assert await guest.call("say", said) == {"turn": 1}
            async with calls.agent(room_name, job="AJ_second", supersedes="AJ_first"):
                assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.SUPERSEDED
                await until(lambda: _agents(guest) == ["agent-AJ_second"])
                await guest.hello()
                assert await guest.call("say", said) == {"turn": 1}
                await until(lambda: is_turn(guest, 1))
                order = (await guest.call("get_order_state"))["order"]
    assert order["order_summary"].startswith("2x Margherita (")
    assert sum("two large Margherita" in one for one in guest.said) == 1


async def test_words_that_an_agent_was_removed_over_are_answered_by_the_next_one(
    calls: Calls, changed: Changed, livekit: LiveKit, room_name: str
) -> None:
    never = asyncio.Event()
    slow = changed(model=lambda: ScriptedLLM([says("Good evening."), says("Hm.", until=never)]))
    async with livekit.joined(room_name) as guest:
        async with calls.agent(room_name, job="AJ_first", house=slow) as first:
            await guest.hello()
            await until(lambda: is_turn(guest, 0))
            assert await guest.call("say", {"text": "two large margheritas"}) == {"turn": 1}
            async with livekit.api() as server:
                await server.room.remove_participant(
                    api.RoomParticipantIdentity(room=room_name, identity="agent-AJ_first")
                )
            assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.DISCONNECTED
            assert first.call._conversation is not None
            # livekit-agents 1.8.9 closes the session of a job that ends before it tells the job.
            await first.call._conversation.call.session.aclose()
        async with calls.agent(room_name, job="AJ_second", supersedes="AJ_first"):
            await until(lambda: any("two large Margherita" in one for one in guest.said))
    assert not any("lost the thread" in one for one in guest.said)


def _agents(client: Client) -> list[str]:
    """The agents that a participant sees in the room."""
    return [one.identity for one in client.agents()]


async def test_moving_to_another_room_is_announced_in_the_old_one(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.departure.NOTIFY_S", LONG_S)
    other = f"{room_name}-other"
    async with livekit.joined(room_name) as tablet, calls.agent(room_name) as first:
        hello = await tablet.hello()
        await tablet.call(
            "order.apply", {"command": {"op": "set_customer", "name": "Ada"}, "version": 0}
        )
        async with (
            livekit.joined(other) as phone,
            calls.agent(other, resume_code=hello["resume_code"]),
        ):
            assert (await phone.hello())["order_id"] == hello["order_id"]
            assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.SUPERSEDED
            await until(lambda: any("goes on in another place" in one for one in tablet.said))


async def test_an_order_of_another_guest_is_not_found(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest, calls.agent(room_name):
        theirs = (await guest.hello())["order_id"]
        other = f"{room_name}-other"
        for asked in ({"order_id": theirs}, {"resume_code": f"{theirs}.{'a' * 26}"}):
            asked_for: dict[str, Any] = asked
            async with livekit.joined(other) as stranger, calls.agent(other, **asked_for):
                assert (await stranger.hello())["order_id"] != theirs
                await until(partial(getattr, stranger, "said"))
                assert "could not find the order" in stranger.said[0]
                assert GREETING in stranger.said[0]


async def test_two_agents_in_one_room_are_one_too_many(
    calls: Calls, livekit: LiveKit, room_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.rooms.room_lease.LEASE_S", LONG_S)
    async with livekit.joined(room_name) as guest, calls.agent(room_name):
        await guest.hello()
        with pytest.raises(AssertionError):
            async with calls.agent(room_name):
                pytest.fail("a second agent took the place of a living one")


async def test_a_replacement_goes_on_where_the_dead_one_was(
    calls: Calls, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name) as guest, calls.agent(room_name, job="AJ_first") as first:
        hello = await guest.hello()
        await until(lambda: is_turn(guest, 0))
        await guest.call("say", {"text": "two large margheritas"})
        await until(lambda: is_turn(guest, 1))
        async with calls.agent(room_name, job="AJ_second", supersedes="AJ_first"):
            assert await asyncio.wait_for(first.held, LONG_S) is RoomOutcome.SUPERSEDED
            await first.room.disconnect()
            await until(lambda: _agents(guest) == ["agent-AJ_second"])
            again = await guest.hello()
            assert again["order_id"] == hello["order_id"]
            assert again["turn"] == 1
            assert again["active_agent"] == "order_taker"
            await until(lambda: any("Welcome back" in one for one in guest.said))
            assert sum(GREETING in one for one in guest.said) == 1
