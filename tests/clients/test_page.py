"""The restaurant's page in a real browser: real rooms, agents and web server, and no key."""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.agents.app.rooms.restaurant_worker import Restaurant, Worker
from tests.agents.app.web.conftest import HASH, PASSWORD
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import Browser, Guest, guests
from tests.clients.toolchain import run_node
from tests.livekit import LiveKit

# One restaurant, web server and browser serve all guests, so all tests run in one event loop.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

START = "Start by typing"


@pytest.fixture(scope="module")
def restaurant(livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> Restaurant:
    """A restaurant of these tests alone."""
    return Restaurant(livekit, tmp_path_factory.mktemp("restaurant"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worker(restaurant: Restaurant) -> AsyncIterator[Worker]:
    """Its agents."""
    async with restaurant.worker(BELLA_VISTA_IDLE="2") as worker:
        yield worker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(restaurant: Restaurant, built: Path) -> AsyncIterator[str]:
    """The page's address."""
    environment = restaurant.environment(BELLA_VISTA_STAFF_PASSWORD_HASH=HASH)
    async with web(environment, "--page", str(built)) as process:
        yield await address(process)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_browser() -> AsyncIterator[Browser]:
    """A browser."""
    async with guests() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def browser(shared_browser: Browser) -> AsyncIterator[Browser]:
    """The browser, without the guests and the complaints of other tests."""
    yield shared_browser
    await shared_browser.ask("leave")


async def greeted(browser: Browser, url: str, width: int = 1280, height: int = 900) -> Guest:
    """Have a guest who was greeted."""
    guest = await browser.guest(width, height)
    await guest.goto(url)
    await guest.press(START)
    await guest.hear("welcome to Bella Vista")
    return guest


@pytest.mark.usefixtures("worker")
async def test_a_whole_evening_from_greeting_to_stars(browser: Browser, url: str) -> None:
    guest = await browser.guest()
    await guest.goto(url)
    await guest.see("h1", "Come in. What would you like?")
    await guest.shot("evening-1-before")
    await guest.press(START)
    await guest.hear("welcome to Bella Vista")
    await guest.see(".agents [aria-current]", "Greeter")

    await guest.say("two large margheritas without basil please")
    await guest.hear("two large Margheritas without basil")
    await guest.see(".agents [aria-current]", "Order taker")
    await guest.see(".happened", "On your ticket: 2 × Margherita, large, no basil")
    assert await guest.texts(".item .name") == ["Margherita"]
    assert await guest.texts(".sums .total") == ["Total", "$41.37"]
    await guest.shot("evening-2-order")

    await guest.say("that's all")
    await guest.hear("pick it up, or shall we deliver it")
    await guest.say("pickup")
    await guest.hear("What name")
    await guest.see(".dock .field[autocomplete]")
    await guest.say("Ada")
    await guest.hear("Is that right?")
    await guest.see(".ticket h2", "Read back to you")
    await guest.shot("evening-3-read-back")
    await guest.press("Yes", within=".answers")
    await guest.hear("cash or card")
    await guest.see(".agents [aria-current]", "Payment")
    await guest.choose("18 % $6.84")
    await guest.see(".sums", "Tip, 18 %")
    await guest.press("Card", within=".answers")
    await guest.hear("Shall I place the order?")
    await guest.shot("evening-4-payment")
    await guest.press("Yes", within=".answers")
    await guest.hear("from one to five stars")
    await guest.see(".placed h2", "Number")
    await guest.see(".track [aria-current]", "Placed")
    await guest.press("5 stars", within=".answers")
    await guest.hear("Thank you for 5 stars")
    await guest.see(".stars .lit:nth-child(5)")
    await guest.shot("evening-5-placed")
    await guest.say("no thanks")
    await guest.see(".dock.over")
    await guest.shot("evening-6-over")

    assert await browser.complaints() == []


@pytest.mark.usefixtures("worker")
async def test_a_guest_orders_by_hand_alone(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url)
    await guest.press("Menu", role="link")
    await guest.press("Soft drinks")
    await guest.press("Choose Cola", role="link")
    await guest.press("Add to order, $2.75")
    await guest.see(".item h3", "Cola")
    await guest.see(".dish .button:focus")
    await guest.shot("by-hand-1-menu")
    await guest.press("One more Cola")
    await guest.see(".sums .total", "$5.99")
    await guest.press("Choose Pickup or delivery?")
    await guest.fill("Name for the order", "Ada <b>")
    await guest.press("Keep it")
    await guest.see(".ticket", "Pickup, as soon as possible, ready about 6:")
    await guest.see(".ticket", "pm, for Ada <b>")
    await guest.press("That is all, read it back")
    await guest.see(".ticket h2", "Read back to you")
    await guest.press("Talk", role="link")
    await guest.choose("None")
    await guest.choose("Cash")
    await guest.press("Yes, place the order")
    await guest.see(".placed h2", "Number")
    await guest.choose("4 stars, good")
    await guest.see(".stars .lit:nth-child(4)")
    await guest.shot("by-hand-2-placed")

    assert await browser.complaints() == []


@pytest.mark.usefixtures("worker")
async def test_a_reload_brings_everything_back(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url)
    await guest.say("a large margherita please")
    await guest.hear("large Margherita")
    await guest.press("One more Margherita")
    await guest.see(".item output", "2")
    await guest.see(".script .happened", "Margherita")
    await guest.see(".dock.yours")
    script = await guest.texts(".said, .who, .happened")
    ticket = await guest.texts(".item .name, .sums")

    await guest.reload()
    await guest.see(".dock.yours")
    await guest.see(".item h3", "Margherita")

    assert await guest.texts(".item .name, .sums") == ticket
    assert (await guest.texts(".said, .who, .happened"))[: len(script)] == script
    await guest.press("One more Margherita")
    await guest.see(".item output", "3")
    assert await browser.complaints() == []


async def test_a_killed_agent_is_replaced_and_the_order_goes_on(
    browser: Browser, url: str, worker: Worker
) -> None:
    guest = await greeted(browser, url)
    await guest.say("a large margherita please")
    await guest.hear("large Margherita")
    started = worker.logged("job started")[-1]
    job = await worker.job(started["room"])

    job.kill()
    await guest.say("and a tiramisu")
    await guest.see(".item h3", "Tiramisu")
    await guest.see(".dock.yours")

    assert await guest.texts(".item .name") == ["Margherita", "Tiramisu"]


@pytest.mark.usefixtures("worker")
async def test_another_guest_sees_nothing_of_it(browser: Browser, url: str) -> None:
    first = await greeted(browser, url)
    await first.say("a large margherita please")
    await first.hear("large Margherita")
    other = await greeted(browser, url)

    assert await other.texts(".item .name") == []
    assert "Margherita" not in " ".join(await other.texts(".said"))


@pytest.mark.usefixtures("worker")
async def test_after_goodbye_comes_a_new_order(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url)
    await guest.say("a cola please")
    await guest.hear("Cola")
    await guest.say("cancel my order")
    await guest.hear("Shall I cancel the whole order?")
    await guest.say("yes")
    await guest.hear("is cancelled")
    await guest.say("no thanks")
    await guest.see(".dock.over")
    await guest.press("New order")
    await guest.hear("welcome to Bella Vista")

    assert await guest.texts(".item .name") == []


async def test_a_refused_token_and_a_dead_server_are_told(browser: Browser, url: str) -> None:
    guest = await browser.guest()
    await guest.goto(url)
    await guest.evaluate(
        "window.fetch = () => Promise.resolve(new Response('{}', { status: 403 }))"
    )
    await guest.press(START)
    await guest.see(".note", "You could not be let in")
    await guest.evaluate("window.fetch = () => Promise.reject(new TypeError('no network'))")
    await guest.press("Try again")
    await guest.see(".note", "The restaurant cannot be reached")
    await guest.shot("trouble-no-server")


@pytest.mark.usefixtures("worker")
async def test_a_phone_sized_page(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url, 390, 844)
    await guest.shot("phone-1-greeting")
    await guest.say("two large margheritas and a cola")
    await guest.see(".item h3", "Cola")
    await guest.see(".dock.yours")
    await guest.shot("phone-2-order")
    await guest.press("Menu", role="link")
    await guest.see(".dish h3")
    await guest.shot("phone-3-menu")

    share = await guest.evaluate("document.getElementById('dock').offsetHeight / innerHeight")
    assert share <= 0.3
    assert await guest.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.usefixtures("worker")
async def test_a_line_is_changed_by_hand_while_the_agent_answers(
    browser: Browser, url: str
) -> None:
    guest = await greeted(browser, url)
    await guest.say("a large margherita please")
    await guest.see(".item .name", "Margherita")
    await guest.say("and a tiramisu")
    await guest.press("One more Margherita")
    await guest.see(".item .name", "Tiramisu")
    await guest.see(".sums .total", "$51.17")
    await guest.see(".dock.yours")

    assert await guest.texts(".item output") == ["2", "1"]
    assert await guest.texts(".refused") == []


@pytest.mark.usefixtures("worker")
async def test_without_a_microphone_a_guest_goes_on_typing(browser: Browser, url: str) -> None:
    guest = await browser.guest()
    await guest.goto(url)
    refusal = "Promise.reject(new DOMException('no', 'NotAllowedError'))"
    await guest.evaluate(f"navigator.mediaDevices.getUserMedia = () => {refusal}")
    await guest.press("Start talking")
    await guest.see(".note", "Your microphone is off")
    await guest.shot("trouble-microphone")
    await guest.press("Go on typing")
    await guest.hear("welcome to Bella Vista")


@pytest.mark.usefixtures("worker")
async def test_an_agent_without_speech_is_typed_to(browser: Browser, url: str) -> None:
    guest = await browser.guest(permissions=["microphone"])
    await guest.goto(url)
    await guest.press("Start talking")
    await guest.hear("welcome to Bella Vista")
    await guest.see(".note", "Please type this time")


@pytest.mark.usefixtures("worker")
async def test_what_staff_do_reaches_the_guest(browser: Browser, url: str) -> None:
    cook = await browser.guest(1440, 900)
    await cook.goto(f"{url}staff")
    await cook.fill("Password", "not this one")
    await cook.press("Log in")
    await cook.see(".refused", "That is not the password.")
    await cook.fill("Password", PASSWORD)
    await cook.press("Log in")
    await cook.see(".rail h2", "New")

    guest = await greeted(browser, url)
    for words, answer in (
        ("I am allergic to peanuts. A large margherita please", "Margherita"),
        ("that's all", "pick it up"),
        ("pickup", "What name"),
        ("Bo", "Is that right?"),
    ):
        await guest.say(words)
        await guest.hear(answer)
    await guest.see(".ticket h2", "Read back to you")
    await guest.choose("Cash")
    await guest.press("Yes, place the order")
    await guest.see(".placed h2", "Number")
    (number,) = await guest.texts(".placed h2")
    number = number.removeprefix("Number ")

    await cook.see(".rail h3", number)
    await cook.shot("staff-1-new")
    await cook.press(f"Accept {number}")
    await guest.see(".track [aria-current]", "Accepted")
    await cook.press(f"Start {number}")
    await guest.see(".placed .lead", "In the oven.")
    await cook.shot("staff-2-oven")
    await cook.fill("Find a dish", "Panna cotta")
    await cook.press("Sold out")
    await cook.see(".house li", "Panna cotta")
    found = await cook.axe()

    other = await browser.guest()  # before their call
    await other.goto(url)
    await other.press("See the menu", role="link")
    await other.press("Desserts")
    await other.see(".dish.out", "Sold out today")
    assert await other.texts(".dish.out :is(h3, h4)") == ["Panna cotta"]
    await other.shot("trouble-sold-out")
    await cook.press("Back on Panna cotta")
    await cook.unsee(".house li", "Panna cotta")
    await other.unsee(".dish.out")
    await other.press(START)
    await other.see(".dock.yours")
    await other.press("Desserts")
    await other.see(".dish", "Choose Panna cotta")
    await cook.press("Pause new orders", role="checkbox")
    await other.see(".note", "We take no orders just now")
    await cook.press("Pause new orders", role="checkbox")
    await other.unsee(".note", "We take no orders just now")

    assert found == []


@pytest.mark.usefixtures("worker")
async def test_the_last_order_is_one_tap_away(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url)
    await guest.say("two tiramisu for pickup, my name is Cy")
    await guest.see(".item .name", "Tiramisu")
    await guest.see(".dock.yours")
    await guest.press("That is all, read it back")
    await guest.choose("Cash")
    await guest.press("Yes, place the order")
    await guest.see(".placed h2", "Number")
    await guest.evaluate("fetch('/api/leave', { method: 'POST' })")
    await guest.reload()
    await guest.hear("welcome to Bella Vista")
    await guest.see(".last-order", "2 × Tiramisu")
    await guest.shot("again-last-order")
    await guest.press("Start with these")
    await guest.see(".item output", "2")

    assert await guest.texts(".item .name") == ["Tiramisu"]


TOKEN_SOURCE = """
import("livekit-client").then(async ({ TokenSource }) => {
  const given = await TokenSource.endpoint(process.argv[1]).fetch(JSON.parse(process.argv[2]));
  console.log(JSON.stringify(given));
});
"""


@pytest.mark.parametrize("named", [False, True])
async def test_livekits_own_token_source_gets_a_token(
    restaurant: Restaurant, url: str, named: bool
) -> None:
    """``useSession`` asks by it, with the agent's name or without."""
    asked = {"participantName": "Ada", **({"agentName": restaurant.agent} if named else {})}
    endpoint = f"{url}api/token"
    printed = await asyncio.to_thread(run_node, "-e", TOKEN_SOURCE, endpoint, json.dumps(asked))

    given = json.loads(printed)
    assert given["serverUrl"].startswith("ws://")
    assert given["participantToken"].count(".") == 2


async def test_the_script_before_start_is_small(built: Path) -> None:
    html = (built / "index.html").read_text()
    scripts = re.findall(r'"/(assets/[^"]+\.js)"', html)
    size = sum(len(gzip.compress((built / one).read_bytes())) for one in scripts)

    assert scripts
    assert size < 300_000
