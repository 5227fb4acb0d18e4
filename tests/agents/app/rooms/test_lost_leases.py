"""The leases of rooms are lost while calls go on, or with the power: no call ends for it, and no order is begun anew."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

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
from tests.livekit import LiveKit, new_identity, until

pytestmark = pytest.mark.timeout(300)


def delete(file: Path) -> None:
    file.unlink()


def damage(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(os.urandom(3000))


@pytest.mark.parametrize("fault", [delete, damage])
async def test_a_call_goes_on_when_the_leases_are_lost(
    livekit: LiveKit, tmp_path: Path, room_name: str, fault: Callable[[Path], None]
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    leases = tmp_path / "orders.db.leases"
    async with restaurant.worker() as worker, restaurant.greeted(room_name) as (guest, _):
        job = await worker.job(room_name)
        fault(leases)
        await worker.tells("recreated the lease store")

        lease = None
        while lease is None or lease.holder != job.id:
            lease = await restaurant.lease(room_name)
        await guest.call("say", {"text": "two large margheritas"})
        await turn(guest, 1)
        order = (await guest.call("get_order_state"))["order"]
        replaced = worker.logged("replaced a lost agent", room_name)

    assert order["order_summary"].startswith("2x Margherita (")
    assert guest.gone == {}
    assert replaced == []


async def test_after_a_power_cut_the_next_agent_goes_on_with_the_same_order(
    livekit: LiveKit, tmp_path: Path, room_name: str
) -> None:
    restaurant = Restaurant(livekit, tmp_path)
    async with livekit.joined(room_name, new_identity()) as guest:
        async with restaurant.worker() as first:
            await restaurant.send(room_name)
            hello = await guest.hello()
            await turn(guest, 0)
            await guest.call("say", {"text": "two large margheritas"})
            await turn(guest, 1)
            job = await first.job(room_name)
        # It is killed, and everything with it.
        (tmp_path / "orders.db.leases").unlink()
        async with restaurant.worker():
            again = await hello_of_another(guest, job)
            await alone_with(guest, job)
            await until(lambda: heard(guest, WELCOME_BACK), what="a word of the next agent")

    assert (again["order_id"], again["turn"]) == (hello["order_id"], 1)
    assert heard(guest, GREETING) == 1
    assert heard(guest, WELCOME_BACK) == 1


async def test_while_the_orders_are_locked_no_agent_loses_its_room(
    restaurant: Restaurant, worker: Worker, room_name: str
) -> None:
    async with restaurant.greeted(room_name) as (guest, _):
        before = await restaurant.lease(room_name)
        with restaurant.locked():
            lease = before
            while before is not None and (lease is None or lease.until == before.until):
                lease = await restaurant.lease(room_name)
        await guest.call("say", {"text": "two large margheritas"})
        await turn(guest, 1)

    assert lease is not None
    assert lease.holder == (await worker.job(room_name)).id
    assert not worker.logged("room lease could not be renewed", room_name)
    assert not worker.logged("replaced a lost agent", room_name)
