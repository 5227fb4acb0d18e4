"""``web`` as a process: its address, its end, wrong use; and a guest who orders through it."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from livekit import rtc

from tests.agents.app.rooms.restaurant_worker import Restaurant, alone_with, hello_of_another, turn
from tests.livekit import NOTICES, Client, LiveKit

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


@asynccontextmanager
async def web(
    environment: Mapping[str, str], *arguments: str, module: str = "bella_vista"
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A web server as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, "web", "--port", "0", *arguments),
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def address(process: asyncio.subprocess.Process) -> str:
    """Wait until a web server is ready; returns its address."""
    assert process.stdout is not None
    word, _, url = (await process.stdout.readline()).decode().strip().partition(" ")
    assert word == "ready", (await process.communicate())[1].decode()
    return url


@pytest.fixture
def place(livekit: LiveKit, tmp_path: Path) -> Restaurant:
    """A restaurant of this test alone."""
    return Restaurant(livekit, tmp_path)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
async def test_it_says_where_it_is_and_ends_when_told_to(
    place: Restaurant, end: signal.Signals
) -> None:
    async with web(place.environment()) as process:
        url = await address(process)
        async with httpx2.AsyncClient(base_url=url) as browser:
            healthy = await browser.get("/healthz")
            process.send_signal(end)
            code = await process.wait()

    assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
    assert code == 0


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"LIVEKIT_URL": ""}, "LIVEKIT_URL"),
        ({"LIVEKIT_API_SECRET": "another-secret-than-the-one-of-the-server"}, "LIVEKIT_API_KEY"),
        ({"BELLA_VISTA_MENU": "no-such-menu.yaml"}, "no-such-menu.yaml"),
        ({"BELLA_VISTA_DATABASE": "sqlite:////proc/no/such/orders.db"}, "orders.db"),
        ({"BELLA_VISTA_WEB_ORIGINS": "*"}, "BELLA_VISTA_WEB_ORIGINS"),
    ],
)
async def test_what_it_cannot_serve_with_is_named_at_start(
    place: Restaurant, changed: Mapping[str, str], named: str
) -> None:
    async with web({**place.environment(), **changed}) as process:
        out, err = await process.communicate()

    assert process.returncode == 2
    assert out == b""
    assert named in err.decode()
    assert "Traceback" not in err.decode()


async def test_a_port_that_is_taken_is_named(place: Restaurant) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        async with web(place.environment(), "--port", port) as process:
            _, err = await process.communicate()

    assert process.returncode == 2
    assert f"127.0.0.1:{port} cannot be opened" in err.decode()


async def test_a_guest_who_joins_by_the_page_orders_reloads_and_finds_their_order(
    place: Restaurant,
) -> None:
    async with place.worker(), web(place.environment()) as process:
        async with httpx2.AsyncClient(base_url=await address(process), timeout=30) as browser:
            first = (await browser.post("/api/token", json={})).json()
            async with visiting(first) as guest:
                hello = await guest.hello()
                await turn(guest, 0)
                said = await guest.call("say", {"text": "a large Margherita please", "key": "k1"})
                await turn(guest, said["turn"])
                state = await guest.call("get_order_state")
            order = (await browser.get("/api/order")).json()

            again = (await browser.post("/api/token", json={})).json()
            async with visiting(again) as guest:
                back = await guest.hello()
                agents = len(guest.agents())

            await browser.post("/api/leave")
            other = (await browser.post("/api/token", json={})).json()

    assert order["order"] == state["order"]
    assert order["order"]["order_items"][0]["name"] == "Margherita"
    assert again["room_name"] == first["room_name"]
    assert (back["order_id"], back["version"]) == (hello["order_id"], order["version"])
    assert agents == 1
    assert other["room_name"] != first["room_name"]


@asynccontextmanager
async def visiting(told: Mapping[str, str]) -> AsyncIterator[Client]:
    """Join with a token that a page was given."""
    client = Client(rtc.Room(), told["participant_identity"])
    await client.room.connect(told["server_url"], told["participant_token"])
    try:
        client.offer(*NOTICES)
        yield client
    finally:
        await client.leave()


async def test_an_agent_that_was_killed_is_back_once(place: Restaurant) -> None:
    async with place.worker() as worker, web(place.environment()) as process:
        async with httpx2.AsyncClient(base_url=await address(process), timeout=30) as browser:
            told = (await browser.post("/api/token", json={})).json()
            async with visiting(told) as guest:
                hello = await guest.hello()
                await turn(guest, 0)
                job = await worker.job(told["room_name"])
                job.kill()
                reports = [await browser.post("/api/agent") for _ in range(3)]
                back = await hello_of_another(guest, job)
                await alone_with(guest, job)

    assert {one.status_code for one in reports} == {202}
    assert back["order_id"] == hello["order_id"]
