"""A worker is told to stop: its calls go on and end by themselves, and nothing of them is lost."""

import signal
from pathlib import Path

import pytest

from tests.agents.app.rooms.restaurant_worker import (
    GREETING,
    WELCOME_BACK,
    Restaurant,
    heard,
    hello_of_another,
    turn,
)
from tests.livekit import LiveKit, until

pytestmark = pytest.mark.timeout(300)

ADD = {"op": "add_item", "name": "Tiramisu", "quantity": 1}


async def test_calls_in_progress_go_on_and_end_by_themselves_and_no_new_one_begins(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    rooms = [f"{room_name}-{number}" for number in (1, 2, 3)]
    async with (
        restaurant.worker(BELLA_VISTA_GRACE="1", BELLA_VISTA_IDLE="2") as worker,
        restaurant.called(rooms[0]) as first,
        restaurant.called(rooms[1]) as second,
    ):
        hellos = [await guest.hello() for guest in (first, second)]
        for guest in (first, second):
            await turn(guest, 0)

        worker.signal(signal.SIGTERM)
        await worker.tells("worker shutting down")
        async with restaurant.called(rooms[2]) as third:
            for guest in (first, second):
                await guest.call("say", {"text": "two large margheritas"})
            for guest in (first, second):
                await turn(guest, 1)
            await first.call("say", {"text": "goodbye"})
            await worker.tells("job process exited", rooms[0])
            assert worker.running.process.poll() is None
            await second.call("order.apply", {"command": ADD})
            await second.leave()
            assert await worker.ends() == 0
            assert third.agents() == []
            await until(lambda: heard(first, "Goodbye") == 1, what="the goodbye")
        orders = [await restaurant.order(hello["order_id"]) for hello in hellos]
        leases = [await restaurant.lease(room) for room in rooms]

    assert orders[0]["order_summary"].startswith("2x Margherita (")
    assert orders[1]["order_summary"].startswith("2x Margherita, 1x Tiramisu")
    assert all(heard(guest, GREETING) == 1 for guest in (first, second))
    assert all(lease is None or lease.holder is None for lease in leases)
    assert sorted(line["room"] for line in worker.logged("job started")) == rooms[:2]
    assert worker.logged("replaced a lost agent") == []


async def test_a_second_signal_ends_it_at_once_and_the_order_goes_on_with_the_next_worker(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    async with livekit.joined(room_name) as guest:
        async with restaurant.worker() as worker:
            await restaurant.send(room_name)
            hello = await guest.hello()
            await turn(guest, 0)
            job = await worker.job(room_name)
            applied = await guest.call("order.apply", {"command": ADD})
            worker.signal(signal.SIGTERM)
            await worker.tells("worker shutting down")
            worker.signal(signal.SIGTERM)
            assert await worker.ends() == 1  # without that it would wait for the guest's leaving
        order = await restaurant.order(hello["order_id"])
        async with restaurant.worker():
            again = await hello_of_another(guest, job)
            await until(lambda: heard(guest, WELCOME_BACK), what="a word of the next agent")

    assert order["version"] == applied["version"]
    assert (again["order_id"], again["version"]) == (hello["order_id"], applied["version"])
    assert heard(guest, GREETING) == 1
