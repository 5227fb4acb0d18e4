"""The LiveKit server is restarted under the restaurant's page."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.app.rooms.restaurant_worker import Restaurant
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import guests
from tests.livekit import livekit_server

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


async def test_the_page_comes_back_and_has_its_order(tmp_path: Path, built: Path) -> None:
    with livekit_server() as livekit:
        restaurant = Restaurant(livekit, tmp_path)
        async with (
            restaurant.worker(),
            web(restaurant.environment(), "--page", str(built)) as process,
            guests(seconds=120) as browser,
        ):
            guest = await browser.guest()
            await guest.goto(await address(process))
            await guest.press("Start by typing")
            await guest.hear("welcome to Bella Vista")
            await guest.say("a large margherita please")
            await guest.hear("large Margherita")

            livekit.server.kill()
            await guest.see(".banner", "The line dropped")
            await guest.see(".dock.held")
            await guest.shot("restart-1-dropped")
            await asyncio.to_thread(livekit.server.start)
            await guest.unsee(".banner")
            await guest.see(".dock.yours")
            await guest.press("One more Margherita")
            await guest.see(".sums .total", "$41.37")  # the agent has answered

            livekit.server.kill()
            await guest.see(".banner button", "Try now")  # LiveKit's client has given up
            await guest.see(".dock.held")
            assert await guest.texts(".item output") == ["2"]
            await guest.shot("restart-2-try-now")
            await asyncio.to_thread(livekit.server.start)
            await guest.press("Try now")
            await guest.unsee(".banner")
            await guest.see(".dock.yours")
            await guest.say("and a tiramisu")
            await guest.see(".item h3", "Tiramisu")
            await guest.see(".dock.yours")

            assert await guest.texts(".item output") == ["2", "1"]
