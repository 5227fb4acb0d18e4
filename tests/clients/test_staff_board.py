"""The board of staff in a browser, with the page server of the restaurant."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from state.commands import CallPerson, StartPreparing
from tests.agents.app.web.conftest import HASH, PASSWORD, Serve, Site, serve
from tests.agents.app.web.test_staff import AT, placed
from tests.clients.browser import PageError, browser, serving
from tests.clients.guest import guests
from tests.livekit import until

__all__ = ["serve"]  # a fixture

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]


@asynccontextmanager
async def listening(site: Site) -> AsyncIterator[str]:
    """Have a page server listen; gives its address."""
    options: dict[str, Any] = {"log_config": None, "lifespan": "off"}
    server = uvicorn.Server(
        uvicorn.Config(site.asgi, port=0, timeout_graceful_shutdown=1, **options)
    )
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started, what="the page server")
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await task


def stages(seen: dict[str, Any]) -> list[str]:
    return [order["stage"] for order in seen["states"]]


async def test_staff_see_orders_as_they_come_and_advance_them(
    serve: Serve, bundle: Path, tmp_path: Path
) -> None:
    async with serving(bundle) as (page, control):
        # A page may connect to the LiveKit server's address only: here the test is there.
        control = control.replace("http", "ws", 1)
        own: dict[str, Any] = {"web_livekit_url": control, "web_page": bundle}
        async with (
            serve(staff_password_hash=HASH, **own) as site,
            listening(site) as address,
            browser(f"{address}/staff#{control}/control", tmp_path / "profile"),
        ):
            await page.call("start")
            await page.until(lambda seen: seen["status"] == "login", "the question for a password")
            with pytest.raises(PageError) as wrong:
                await page.call("login", "another one")
            assert wrong.value.error["code"] == 401

            await page.call("login", PASSWORD)
            await page.until(lambda seen: seen["status"] == "live", "the orders")
            assert "house" in page.snapshot["settings"]
            order = await placed(site)
            await page.until(lambda seen: stages(seen) == ["placed"], "an order")
            accepted = await page.call("apply", order.state_id, {"op": "accept_order"})
            assert accepted["stage"] == "accepted"
            assert stages(page.snapshot) == ["accepted"]
            with pytest.raises(PageError) as late:
                await page.call("apply", order.state_id, {"op": "complete_order"})
            assert late.value.error["code"] == 409
            await order.refresh()
            await order.apply(StartPreparing(), actor="staff")  # in another browser
            await page.until(lambda seen: stages(seen) == ["preparing"], "their change")

            house = await page.call("change", "house", {"paused": True})
            assert house["paused"] is True
            await page.call("logout")
            assert (page.snapshot["status"], page.snapshot["states"]) == ("login", [])


async def test_staff_press_each_step_of_an_order_in_a_browser(serve: Serve, built: Path) -> None:
    async with (
        serve(staff_password_hash=HASH, web_page=built, at=AT) as site,
        listening(site) as address,
        guests() as browser,
    ):
        order = await placed(site)
        number = order.state.order_number
        cook = await browser.guest(1440, 900)
        await cook.goto(f"{address}/staff")
        await cook.fill("Password", PASSWORD)
        await cook.press("Log in")
        await cook.see(".rail[aria-label=New] .ticket", "Late: promised for")  # AT is long ago
        await browser.complaints()  # that nobody was logged in
        assert order.state.fulfilment is not None
        before = datetime.now(UTC)
        await cook.evaluate("document.querySelector('.choice-row label:last-child').click()")
        for button, rail in (
            ("Accept", "Accepted"),
            ("Start", "In the oven"),
            ("Ready", "Ready"),
        ):
            await cook.press(f"{button} {number}")
            await cook.see(f".rail[aria-label='{rail}'] h3", number)
        after = datetime.now(UTC)
        await cook.press(f"Handed over {number}")
        await cook.unsee(".rail h3", number)

        refused = await placed(site)
        number = refused.state.order_number
        await cook.press(f"Refuse {number}")
        await cook.fill("Why?", "no more flour")
        await cook.press(f"Refuse {number}")
        await cook.unsee(".rail h3", number)
        complaints = await browser.complaints()
        await cook.evaluate("fetch('/api/staff/logout', { method: 'POST' })")  # in another tab
        await cook.see("[role=alert]", "Your login has ended.")
        await order.refresh()
        await refused.refresh()

    assert order.state.stage == "completed"
    in_half_an_hour = order.state.fulfilment.ready_at - timedelta(minutes=30)
    # In whole minutes, of a time that the board looks at every ten seconds.
    assert before - timedelta(seconds=11) <= in_half_an_hour <= after + timedelta(minutes=1)
    assert (refused.state.stage, refused.state.ended_reason) == ("failed", "no more flour")
    assert complaints == []


async def test_the_board_reads_well_in_the_dark_on_a_phone_and_in_german(
    serve: Serve, built: Path
) -> None:
    looks: dict[str, dict[str, Any]] = {
        "dark": {"colorScheme": "dark"},
        "phone": {"width": 390, "height": 844, "locale": "de-DE", "colorScheme": "dark"},
        "narrow": {"width": 320, "height": 700, "colorScheme": "dark"},
        "forced": {"width": 390, "height": 844, "forcedColors": "active"},
    }
    async with (
        serve(staff_password_hash=HASH, web_page=built) as site,
        listening(site) as address,
        guests() as browser,
    ):
        order = await placed(site)
        await order.apply(CallPerson(reason="a candle on it"), actor="guest")
        for look, context in looks.items():
            cook = await browser.guest(**context)
            await cook.goto(f"{address}/staff")
            await cook.see("input[type=password]")
            assert await cook.axe(*(["color-contrast"] if look == "forced" else [])) == []
            german = look == "phone"
            await cook.fill("Passwort" if german else "Password", PASSWORD)
            await cook.press("Anmelden" if german else "Log in")
            await cook.see(".rail h3", order.state.order_number)
            await cook.see(".calls button", "Erledigt" if german else "Answered")
            await cook.shot(f"staff-{look}")

            # Where the browser chooses the colours, axe cannot judge them.
            assert await cook.axe(*(["color-contrast"] if look == "forced" else [])) == []
            wide = "document.documentElement.scrollWidth > innerWidth"
            assert not await cook.evaluate(wide)
            assert await cook.evaluate("document.documentElement.lang") == (
                "de" if german else "en"
            )
