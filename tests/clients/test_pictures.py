"""The README's pictures: taken in a real call with a microphone. ``make pictures`` puts them into docs/images."""

from pathlib import Path

import pytest

from tests.agents.app.web.conftest import HASH
from tests.clients.guest import SHOTS, Browser, Guest
from tests.clients.test_page import logged_in, place_order
from tests.clients.test_spoken_page import open_restaurant
from tests.clients.toolchain import CLIENTS
from tests.livekit import LiveKit

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

IMAGES = CLIENTS.parent / "docs" / "images"


async def test_the_readmes_pictures_are_of_the_real_page(
    livekit: LiveKit, tmp_path: Path, built: Path
) -> None:
    settings = {"BELLA_VISTA_STAFF_PASSWORD_HASH": HASH, "BELLA_VISTA_RECORD_CALLS": "off"}
    async with open_restaurant(livekit, tmp_path, built, **settings) as (browser, url):
        await show_placed_order(browser, url)
        guest = await talking(browser, url)
        await show_halves(guest)
        await show_sheet(guest)

    taken = {one.name: size(SHOTS / one.name) for one in IMAGES.glob("*.png")}
    assert taken == {one.name: size(one) for one in IMAGES.glob("*.png")}


async def talking(
    browser: Browser, url: str, width: int = 1280, height: int = 900, **context: str
) -> Guest:
    """Have a guest who was greeted and has a microphone."""
    guest = await browser.guest(width, height, speaks=True, **context)
    await guest.goto(url)
    await guest.press("Start talking")
    await guest.hear("welcome to Bella Vista")
    return guest


async def show_halves(guest: Guest) -> None:
    """Order a pizza of two halves in words."""
    await guest.say("Two large Margheritas without basil, please.")
    await guest.hear("two large Margheritas without basil")
    await guest.say("A large Pizza your way, ham on one half and mushrooms on the other.")
    await guest.hear("mushrooms on the other half")
    await guest.unsee(".item .tag")  # what is new is no longer so after a while
    await guest.evaluate("document.activeElement.blur()")
    await guest.shot("page-your-turn")


async def show_sheet(guest: Guest) -> None:
    """Choose the same pizza by hand."""
    await guest.press("Menu", role="link")
    await guest.press("Pizza")
    await guest.press("Choose Pizza your way", role="link")
    await guest.choose("Large $18.00")
    await guest.press("Show all 42")
    await guest.do("check", name="Half", within="[role=radiogroup][aria-label=ham]")
    await guest.do("check", name="Other half", within="[role=radiogroup][aria-label=mushrooms]")
    await guest.evaluate("scrollTo(0, 0)")
    await guest.shot("page-menu")


async def show_placed_order(browser: Browser, url: str) -> None:
    """Follow an order on a phone, in the dark, until it is in the oven."""
    cook = await logged_in(browser, url)
    guest = await talking(browser, url, 390, 844, colorScheme="dark")
    await guest.say("two large margheritas for pickup, my name is Ada")
    await guest.hear("large Margheritas")
    await place_order(guest)
    await cook.press("Accept 101")
    await guest.see(".track [aria-current]", "Accepted")
    await cook.press("Start 101")
    await guest.see(".placed .lead", "In the oven.")
    await guest.see(".dock.yours")
    await guest.evaluate("scrollTo(0, 0)")
    await guest.shot("page-phone")


def size(picture: Path) -> tuple[int, int]:
    """Return the width and the height of a PNG file."""
    head = picture.read_bytes()[16:24]
    return int.from_bytes(head[:4]), int.from_bytes(head[4:])
