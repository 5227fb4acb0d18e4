"""The web server's counters, as Prometheus reads them."""

import asyncio
import re
from typing import Any

import httpx2
import pytest

from agents.app.settings import SettingsFaults
from agents.app.web.protection import MAX_BODY
from tests.agents.app.serving.processes import free_port
from tests.agents.app.web.conftest import HASH, PASSWORD, Serve
from tests.agents.app.web.test_staff import watched


def counted(text: str) -> dict[str, float]:
    """The numbers by name and label."""
    lines = re.findall(r"^(bella_web_\S+) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in lines if not name.endswith("_created")}


@pytest.mark.usefixtures("no_time_passes")
async def test_what_happens_is_counted_without_secrets(serve: Serve) -> None:
    port = free_port()
    async with serve(staff_password_hash=HASH, web_metrics_port=port) as site:
        async with site.browser() as guest, site.browser("192.0.2.2") as cook:
            token = await guest.post("/api/token")
            await guest.post("/api/token", json={"room_name": "secret-4711"})
            await guest.post("/api/token", content=b"x" * (MAX_BODY + 1))
            await guest.post("/api/token", headers={"origin": "https://secret-4711.example"})
            await guest.post("/api/leave", json={"room_name": "secret-4711"})
            guest.cookies.clear()
            await guest.get("/api/order", headers={"cookie": "bella_visitor=secret-4711"})
            for _ in range(80):
                await guest.get("/api/nothing")
            await cook.post("/api/staff/login", json={"password": "secret-4711"})
            await cook.post("/api/staff/login", json={"password": PASSWORD})
            async with watched(site) as board:
                await board.next("snapshot")
                with site.server.metrics.served(site.settings):
                    async with httpx2.AsyncClient() as prometheus:
                        told = (await prometheus.get(f"http://127.0.0.1:{port}/metrics")).text
    numbers = counted(told)
    refused = {
        name.partition('"')[2].strip('"}'): number
        for name, number in numbers.items()
        if name.startswith("bella_web_requests_refused_total")
    }

    assert refused == {
        **{"token": 1, "body": 1, "origin": 1, "request": 1, "cookie": 1, "login": 1, "rate": 22}
    }
    assert numbers["bella_web_tokens_issued_total"] == 1
    assert numbers["bella_web_dispatches_total"] == 0
    assert numbers["bella_web_boards_open"] == 1
    for secret in ("secret-4711", "192.0.2", token.json()["room_name"]):
        assert secret not in told


async def test_a_board_that_is_closed_counts_no_more(serve: Serve) -> None:
    async with serve(staff_password_hash=HASH) as site:
        boards: Any = site.server.metrics.boards
        async with watched(site) as board, watched(site) as other:
            await board.next("snapshot")
            await other.next("snapshot")
            both = boards._value.get()
        assert (both, boards._value.get()) == (2, 0)


async def test_a_metrics_port_that_is_taken_is_named(serve: Serve) -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    async with serve() as site:
        settings = replace_port(site.settings, port)
        with pytest.raises(SettingsFaults, match="BELLA_VISTA_WEB_METRICS_PORT"):
            with site.server.metrics.served(settings):
                pass
    taken.close()
    await taken.wait_closed()


def replace_port(settings: Any, port: int) -> Any:
    return settings.model_copy(update={"web_metrics_port": port})
