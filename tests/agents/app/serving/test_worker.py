import asyncio
import json
from contextlib import AsyncExitStack
from urllib.request import urlopen

import pytest

from agents.app.serving.worker import FULL
from tests.agents.app.serving.processes import LONG_S, Deployment, Running, answer, free_port

pytestmark = pytest.mark.timeout(300)


async def fetched(url: str) -> str:
    def read() -> str:
        with urlopen(url, timeout=LONG_S) as reply:
            return str(reply.read().decode())

    return await asyncio.to_thread(read)


def health(worker: Running) -> str:
    url: str = next(
        line["health"] for line in worker.logged() if line["message"] == "worker registered"
    )
    return url


async def test_a_worker_serves_tells_that_it_is_well_and_counts(
    deployment: Deployment, room_name: str
) -> None:
    port = free_port()

    async with deployment.worker(
        BELLA_VISTA_METRICS_PORT=str(port), BELLA_VISTA_CALLS="4"
    ) as worker:
        await deployment.send(room_name, order_id="abcd")
        async with deployment.livekit.joined(room_name) as guest:
            told = await answer(guest)
            await until_load(worker, FULL / 4)
            metrics = await fetched(f"http://127.0.0.1:{port}/metrics")

    assert told["metadata"]["state_id"] == "abcd"
    assert "lk_agents_active_job_count" in metrics


async def until_load(worker: Running, load: float, calls: int = 1) -> None:
    deadline = asyncio.get_running_loop().time() + LONG_S
    while True:
        assert await fetched(health(worker)) == "OK"
        seen = json.loads(await fetched(health(worker) + "worker"))
        if seen["active_jobs"] == calls and seen.get("worker_load", 0) == pytest.approx(load):
            return
        assert asyncio.get_running_loop().time() < deadline, (calls, load, seen)
        await asyncio.sleep(0.05)


async def test_a_worker_serves_as_many_calls_as_it_is_told_to_take(deployment: Deployment) -> None:
    rooms = [f"{deployment.agent}-{number}" for number in range(4)]

    async with deployment.worker(BELLA_VISTA_CALLS="4") as worker, AsyncExitStack() as stack:
        for number, room in enumerate(rooms, start=1):
            await deployment.send(room)
            guest = await stack.enter_async_context(deployment.livekit.joined(room))
            await answer(guest)
            await until_load(worker, FULL * number / 4, calls=number)


async def test_guests_who_come_at_once_are_all_served_though_one_process_is_warm(
    deployment: Deployment,
) -> None:
    rooms = [f"{deployment.agent}-{number}" for number in range(5)]

    async with deployment.worker(BELLA_VISTA_CALLS="5"), AsyncExitStack() as stack:
        await asyncio.gather(*(deployment.send(room) for room in rooms))
        # All stay: an agent whose guest has left makes room for the next.
        guests = [
            await stack.enter_async_context(deployment.livekit.joined(room)) for room in rooms
        ]
        told = [await answer(guest) for guest in guests]
        await deployment.send(f"{deployment.agent}-too-many")
        async with deployment.livekit.joined(f"{deployment.agent}-too-many") as guest:
            with pytest.raises(AssertionError, match="no agent answers"):
                await answer(guest, seconds=2)

    assert len({one["job"] for one in told}) == 5
