"""Dispatches: their metadata, their number, and surplus agents."""

import asyncio
import json

import pytest
from livekit import api, rtc

from agents.app.dispatch.dispatcher import MAX_TRIES
from tests.agents.app.rooms.restaurant_worker import (
    GREETING,
    WELCOME_BACK,
    Restaurant,
    Worker,
    alone_with,
    heard,
    hello_of_another,
    turn,
)
from tests.livekit import new_identity, until

pytestmark = pytest.mark.timeout(300)

SECRET = "a-guests-secret-4711"


WRONG = {
    "an unknown field": (json.dumps({"ordre_id": SECRET}), '"ordre_id"'),
    "a wrong type": (json.dumps({"order_id": [SECRET]}), "order_id:"),
    "no JSON": (SECRET, "not a JSON object"),
    "an unknown channel": (json.dumps({"channel": SECRET}), "channel:"),
}


@pytest.mark.parametrize(("metadata", "named"), WRONG.values(), ids=WRONG)
async def test_a_dispatch_with_wrong_metadata_is_told_to_the_guest_and_named_in_the_log(
    restaurant: Restaurant, worker: Worker, room_name: str, metadata: str, named: str
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        await restaurant.send(room_name, metadata)
        with pytest.raises(rtc.RpcError) as refused:
            await guest.hello()
        await until(lambda: guest.said, what="a word")
        await until(lambda: not guest.agents(), what="the agent's leaving")

    told = await worker.tells("invalid job metadata", room_name)
    assert refused.value.code == 4001
    assert guest.said == [
        "I am sorry, this call could not be set up. Please try again in a moment."
    ]
    assert guest.ends == []  # it never began
    assert named in told["message"]
    assert SECRET not in worker.running.text
    assert len(worker.logged("job started", room_name)) == 1


@pytest.mark.parametrize("named", [True, False])
async def test_a_call_that_is_given_up_has_failed_and_its_guest_is_told(
    restaurant: Restaurant, worker: Worker, room_name: str, named: bool
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        user = {"user": guest.identity} if named else {}
        await restaurant.send(room_name, {"tries": MAX_TRIES + 1, **user})
        with pytest.raises(rtc.RpcError) as refused:
            await guest.hello()
        await until(lambda: not guest.agents(), what="the agent's leaving")

    assert refused.value.code == 4003
    assert heard(guest, "this call cannot go on") == 1
    assert guest.ends == [{"reason": "failed"}]


async def test_of_two_agents_that_are_sent_at_once_the_guest_hears_one(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.livekit.joined(room_name) as guest:
        await asyncio.gather(*(restaurant.send(room_name) for _ in range(2)))
        hello = await guest.hello()
        await worker.tells("room lease held by another agent", room_name)
        await turn(guest, 0)
        await guest.call("say", {"text": "two large margheritas"})
        await turn(guest, 1)
        order = await restaurant.order(hello["order_id"])

    assert len(guest.agents()) == 1
    assert len(guest.said) == 2
    assert heard(guest, GREETING) == 1
    assert order["order_summary"].startswith("2x Margherita (")


async def test_a_suspended_agent_leaves_silently_after_another_has_taken_over(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, hello):
        job = await worker.job(room_name)
        async with restaurant.frozen(job):
            await guest.write("what time do you close?")
            await restaurant.send(room_name)
            again = await hello_of_another(guest, job)
            await until(lambda: heard(guest, WELCOME_BACK), what="a word of the second agent")
        await until(
            lambda: any(line["job_id"] == job.id for line in worker.logged("job process exited")),
            what="the end of the first job",
        )
        await alone_with(guest, job)
        await guest.call("say", {"text": "one tiramisu"})
        await turn(guest, 1)
        order = await restaurant.order(hello["order_id"])

    assert again["order_id"] == hello["order_id"]
    assert [one.by == job.agent for one in guest.written] == [True, False, False]
    assert order["order_summary"].startswith("1x Tiramisu (")
    assert heard(guest, GREETING) == 1


async def test_a_second_tab_goes_on_with_the_order_and_the_first_one_is_out(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    identity = new_identity()
    async with restaurant.greeted(room_name, identity) as (first, hello):
        await first.call("say", {"text": "two large margheritas"})
        await turn(first, 1)
        async with restaurant.livekit.joined(room_name, identity) as second:
            again = await second.hello()
            await until(lambda: "disconnected" in first.connection, what="the end of the first")
            await until(lambda: heard(second, WELCOME_BACK), what="where they were")
            await second.call("order.subscribe")
            await second.call("say", {"text": "one tiramisu"})
            await turn(second, 2)
            order = await restaurant.order(hello["order_id"])
            await until(
                lambda: second.changes and second.changes[-1]["version"] == order["version"],
                what="the newest order",
            )

    assert (again["order_id"], again["active_agent"], again["turn"]) == (
        hello["order_id"],
        "order_taker",
        1,
    )
    assert order["order_summary"].startswith("2x Margherita, 1x Tiramisu (")
    assert heard(second, GREETING) == 0
    assert heard(second, WELCOME_BACK) == 1


async def test_a_call_that_goes_on_in_another_room_says_so_in_the_first_and_leaves_it(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    other = f"{room_name}-other"
    async with restaurant.called(room_name) as tablet, restaurant.livekit.joined(other) as phone:
        hello = await tablet.hello()
        await turn(tablet, 0)
        await restaurant.send(other, {"resume_code": hello["resume_code"]})
        again = await phone.hello()
        await until(lambda: heard(tablet, "goes on in another place"), what="the last word")
        await until(lambda: not tablet.agents(), what="the agent's leaving")

    assert again["order_id"] == hello["order_id"]


@pytest.mark.parametrize("departure_s", [1, 20], ids=["the room first", "the agent first"])
async def test_a_guest_who_has_gone_for_good_leaves_a_stored_order_and_a_free_place(
    restaurant: Restaurant, worker: Worker, room_name: str, departure_s: int
) -> None:
    async with restaurant.livekit.api() as server:
        await server.room.create_room(
            api.CreateRoomRequest(name=room_name, departure_timeout=departure_s)
        )
    async with restaurant.greeted(room_name) as (guest, hello):
        await guest.call("say", {"text": "two large margheritas"})
        await turn(guest, 1)
    await worker.tells("job process exited", room_name)
    order = await restaurant.order(hello["order_id"])
    lease = await restaurant.lease(room_name)

    assert order["order_summary"].startswith("2x Margherita (")
    assert lease is not None
    assert lease.holder is None
    other = f"{room_name}-other"
    async with restaurant.livekit.joined(other) as guest:
        await restaurant.send(other, {"resume_code": hello["resume_code"]})
        again = await guest.hello()
    assert (again["order_id"], again["active_agent"], again["turn"]) == (
        hello["order_id"],
        "order_taker",
        1,
    )
    assert worker.logged("replaced a lost agent", room_name) == []
