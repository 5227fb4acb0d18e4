"""A page whose token the page server itself refuses: the guest is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from tests.agents.app.web.conftest import Serve, no_time_passes, serve
from tests.clients.guest import guests
from tests.clients.test_staff_board import listening

__all__ = ["no_time_passes", "serve"]  # fixtures

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]

START = "Start by typing"
UNTIL_REFUSED = """
    (async () => {
        for (let calls = 1; calls < 100; calls += 1) {
            const answer = await fetch("/api/token", { method: "POST" });
            if (answer.status !== 201) return answer.status;
        }
    })()
"""


@asynccontextmanager
async def elsewhere(page: Path, server: str) -> AsyncIterator[str]:
    """Serve a page at an address of its own, which the page server behind it is not told; gives the address."""

    async def forward(request: web.Request) -> web.Response:
        kept = {name: request.headers[name] for name in ("Origin",) if name in request.headers}
        async with (
            ClientSession() as session,
            session.request(request.method, f"{server}{request.path}", headers=kept) as answer,
        ):
            return web.Response(
                status=answer.status, body=await answer.read(), content_type="application/json"
            )

    application = web.Application()
    application.router.add_route("*", "/api/{name:.*}", forward)
    application.router.add_static("/", page)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


async def test_a_page_at_an_address_that_the_server_does_not_know_is_let_in_by_nobody(
    serve: Serve, built: Path
) -> None:
    async with (
        serve() as site,
        listening(site) as server,
        elsewhere(built, server) as address,
        guests() as browser,
    ):
        guest = await browser.guest()
        await guest.goto(f"{address}/index.html")
        await guest.press(START)
        await guest.see(".note", "You could not be let in")

        assert site.server.refusals.counts == {"origin": 1}


@pytest.mark.usefixtures("no_time_passes")
async def test_a_guest_who_calls_too_often_is_asked_to_wait(serve: Serve, built: Path) -> None:
    async with (
        serve(web_page=built) as site,
        listening(site) as address,
        guests() as browser,
    ):
        guest = await browser.guest()
        await guest.goto(f"{address}/")
        await guest.see("h1", "Come in.")
        assert await guest.evaluate(UNTIL_REFUSED) == 429
        await guest.press(START)
        await guest.see(".note", "Too many calls at once")

        assert site.server.refusals.counts["rate"] >= 2
