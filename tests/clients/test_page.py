"""The restaurant's page in a real browser: real rooms, agents and web server, and no key."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.agents.app.rooms.checked_client import Checked
from tests.agents.app.rooms.restaurant_worker import Restaurant, Worker
from tests.agents.app.web.conftest import HASH, PASSWORD
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import Browser, Guest, guests
from tests.clients.keyboard import Keyboard
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


# The restaurant's clock stands still; a board with a later one would take all orders for late.
THEN = "Date.now = () => Date.parse('2026-11-20T18:00-05:00')"


async def logged_in(browser: Browser, url: str) -> Guest:
    """Have a cook who is logged in at the staff's page."""
    cook = await browser.guest(1440, 900, script=THEN)
    await cook.goto(f"{url}staff")
    await cook.fill("Password", PASSWORD)
    await cook.press("Log in")
    return cook


async def place_order(guest: Guest) -> None:
    """Have a guest place a complete order by hand, to be paid in cash."""
    await guest.press("That is all, read it back")
    await guest.choose("Cash")
    await guest.press("Yes, place the order")
    await guest.see(".placed h2", "Number")


@pytest.mark.usefixtures("worker")
async def test_a_whole_evening_from_greeting_to_stars(browser: Browser, url: str) -> None:
    guest = await browser.guest()
    await guest.goto(url)
    await guest.see("h1", "Come in. What would you like?")
    await guest.shot("evening-1-before")
    await guest.press(START)
    await guest.see(".typing input:focus")
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
async def test_a_combo_costs_on_the_ticket_what_its_sheet_has_said(
    browser: Browser, url: str
) -> None:
    guest = await greeted(browser, url)
    await guest.press("Menu", role="link")
    await guest.press("Combos")
    await guest.press("Choose Family pizza night", role="link")
    await guest.see(".sheet-foot", "Add to order, $52.00")
    await guest.press("One more Margherita")
    await guest.press("One more Marinara")
    for _ in range(3):
        await guest.press("One more Cola")
    await guest.press("One more Still water")
    await guest.see(".sheet output", "4 of 4 chosen")
    # A keyboard goes on from the button that can do no more.
    assert await guest.focused() == "One more Still water"
    await guest.evaluate("document.querySelector('.part summary').click()")
    await guest.choose("Large +$6.00")
    await guest.choose("Pan +$2.50")
    await guest.do("check", name="Extra", within="[role=radiogroup][aria-label=mozzarella]")
    await guest.shot("combo-parts")
    (price,) = await guest.texts(".sheet-foot [type=submit]")
    await guest.press(price)
    await guest.see(".item h3", "Family pizza night")

    (line,) = await guest.texts(".item > .amount")
    assert price == f"Add to order, {line}"
    assert line != "$52.00"
    (parts,) = await guest.texts(".item .details")
    assert parts.startswith("Large Margherita extra mozzarella pan, small Marinara, ")
    assert "3 × can Cola" in parts


COUNT_LOST_FOCUS = """
window.timesLost = 0;
addEventListener('focusout', ({ relatedTarget }) => queueMicrotask(() => {
  if (!relatedTarget && document.activeElement === document.body) timesLost += 1;
}));
true
"""


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
async def test_a_whole_order_by_keyboard_alone(
    browser: Browser, url: str, width: int, height: int
) -> None:
    guest = await browser.guest(width, height)
    keys = Keyboard(guest)
    await guest.goto(url)
    await guest.see("h1")
    await keys.use(START)
    await guest.hear("welcome to Bella Vista")
    assert (await keys.at()).startswith("Type to the restaurant")

    await keys.use("Menu", back=True)
    await guest.see(".dish")
    await keys.reach("Search the menu")
    await keys.write("your way")
    await guest.see(".dish", "Pizza your way")
    await keys.use("Choose Pizza your way")
    await guest.see("h1:focus", "Pizza your way")
    await guest.evaluate(COUNT_LOST_FOCUS)
    await keys.use("Menu", back=True)
    await guest.see(".dish .button:focus")
    await keys.press("Enter")
    await guest.see("h1:focus", "Pizza your way")
    await keys.reach("Small")
    await keys.press("ArrowRight")
    assert (await keys.at()).startswith("Large")
    await guest.shot("keyboard-sheet")
    await keys.use("Add to order")
    await guest.see(".dish .button:focus")
    assert await guest.evaluate("timesLost") == 0
    await guest.see(".item .name", "Pizza your way")
    await keys.use("One more Pizza your way")
    await guest.see(".item output", "2")
    await keys.use("Choose Pickup or delivery?", back=True)
    await guest.see(".form input:focus")
    await keys.reach("Name for the order")
    await keys.write("Ada")
    await keys.press("Enter")
    await guest.see(".ticket", "for Ada")
    await guest.see(".block button:focus")
    await keys.use("That is all, read it back")
    await guest.see(".ticket h2", "Read back to you")

    await keys.use("Talk", back=True)
    await guest.see(".payment")
    await keys.use("None", "Space")
    await keys.use("Card", "Space")
    await keys.use("Yes, place the order")
    await guest.see(".placed h2", "Number")
    await guest.hear("Your order is placed")
    await keys.reach("5 stars, very good", back=True)
    await keys.press("ArrowLeft")
    await guest.see(".stars .lit:nth-child(4)")
    await keys.reach("Type to the restaurant")
    await keys.write("bye")
    await keys.press("Enter")
    await guest.see(".dock.over")
    await keys.reach("New order")
    assert await browser.complaints() == []


CORNER = """
restaurant:
  id: corner
  name: The Corner
  currency: EUR
  timezone: Europe/Berlin
  hours: {monday: ["11:00-23:00"], friday: ["11:00-23:00"]}
  service: {pickup: {lead_minutes: 5}}
  payment: [cash]
  tax: {mode: added, rates: {food: "10"}}
  tip: {base: total, suggested: [5, 10]}
sections:
  - name: Rolls
    dishes:
      - {name: Falafel, price: "10.00"}
"""


async def test_a_house_of_another_menu_is_ordered_from_by_its_own_rules(
    livekit: LiveKit, built: Path, browser: Browser, tmp_path: Path
) -> None:
    corner = Restaurant(livekit, tmp_path)
    menu = tmp_path / "corner.yaml"
    menu.write_text(CORNER, encoding="utf-8")
    environment = corner.environment(BELLA_VISTA_MENU=str(menu))
    async with (
        corner.worker(BELLA_VISTA_MENU=str(menu)),
        web(environment, "--page", str(built)) as process,
    ):
        guest = await browser.guest()
        await guest.goto(await address(process))
        await guest.see(".sign", "The Corner")
        await guest.press(START)
        await guest.hear("The Corner")
        assert await guest.evaluate("document.title") == "The Corner"
        assert await guest.texts(".sign") == ["The Corner"]
        await guest.press("Menu", role="link")
        await guest.press("Add Falafel")
        await guest.press("Choose When, and for whom?")
        assert await guest.texts(".form .choice-row label") == ["Pickup"]
        await guest.fill("Name for the order", "Ada")
        await guest.press("Keep it")
        await guest.press("That is all, read it back")
        await guest.press("Talk", role="link")
        await guest.see(".methods", "Cash")
        assert await guest.texts(".methods label") == ["Cash"]
        await guest.choose("10 % €1.10")
        await guest.choose("Cash")
        await guest.see(".sums", "Tip, 10 %€1.10")
        await guest.press("Yes, place the order")
        await guest.see(".placed h2", "Number")

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


# While the page "keeps", nothing that it sends leaves the browser.
KEEPING = """
const send = RTCDataChannel.prototype.send;
const kept = [];
let keeps = false;
RTCDataChannel.prototype.send = function (data) {
  if (keeps) kept.push(() => send.call(this, data));
  else send.call(this, data);
};
window.keep = (now) => {
  keeps = now;
  if (!keeps) for (const go of kept.splice(0)) go();
};
"""


async def test_an_edit_that_meets_another_writers_is_made_or_told(
    browser: Browser, url: str, worker: Worker, livekit: LiveKit
) -> None:
    guest = await browser.guest(script=KEEPING)
    await guest.goto(url)
    await guest.press(START)
    await guest.hear("welcome to Bella Vista")
    await guest.say("a large margherita please")
    await guest.hear("large Margherita")
    room = worker.logged("job started")[-1]["room"]
    async with livekit.joined(room, staff=True) as client:
        staff = Checked(client)
        await client.hello()

        await guest.evaluate("keep(true)")
        await guest.press("One more Margherita")
        await staff.apply("add_item", name="Tiramisu")
        await guest.evaluate("keep(false)")
        await guest.see(".item output", "2")
        await guest.see(".item .name", "Tiramisu")
        await guest.see(".sums .total", "$51.17")
        assert await guest.texts(".refused") == []

        await guest.evaluate("keep(true)")
        await guest.press("One more Margherita")
        await staff.step("change_item", line_id="L1", quantity=5)
        await guest.evaluate("keep(false)")
        await guest.see(".item .refused", "This changed meanwhile. Look at the ticket")
        await guest.see(".item output", "5")
        await guest.shot("trouble-changed-meanwhile")

        await guest.evaluate("keep(true)")
        await guest.press("Remove Margherita")
        await staff.step("change_item", line_id="L1", quantity=6)
        await guest.evaluate("keep(false)")
        await guest.see(".item .refused", "This changed meanwhile. Look at the ticket")
        await guest.see(".item output", "6")

        await guest.evaluate("keep(true)")
        await guest.press("One more Margherita")
        await staff.step("remove_item", line_id="L1")
        await guest.evaluate("keep(false)")
        await guest.see(".ticket .refused", "It is not on the ticket any more.")
        assert await guest.texts(".item .name") == ["Tiramisu"]
        assert [line["quantity"] for line in (await staff.order())["order_items"]] == [1]


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
    cook = await browser.guest(1440, 900, script=THEN)
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
    await guest.see(".said", "The kitchen has accepted your order. It will be ready at")
    await guest.see(".dock.yours")
    await cook.press(f"Start {number}")
    await guest.see(".placed .lead", "In the oven.")
    await cook.shot("staff-2-oven")

    await guest.press("Ask for a person")
    await guest.fill("What is it about?", "a candle on it")
    await guest.press("Ask for them")
    await guest.see("[role=status]", "Asked.")
    await cook.see(".calls", f"{number} wants a person: Bo")
    await cook.see(".calls", "Reason: a candle on it")
    await cook.shot("staff-3-person")
    await cook.press(f"Answered {number}")
    await cook.unsee(".calls")
    await guest.unsee("[role=status]", "Asked.")
    await guest.key("Escape")
    await cook.press(f"Ready {number}")
    await guest.see(".track [aria-current]", "Ready")
    await cook.press(f"Handed over {number}")
    await cook.unsee(".rail h3", number)

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
async def test_codes_notes_sold_out_dishes_and_a_person_by_hand(browser: Browser, url: str) -> None:
    cook = await logged_in(browser, url)
    guest = await greeted(browser, url)
    await guest.say("two large margheritas please")
    await guest.see(".item .name", "Margherita")
    await guest.see(".dock.yours")
    await guest.evaluate("document.querySelector('.extras summary').click()")
    await guest.fill("Code", "SUMMER26")
    await guest.press("Use the code")
    await guest.see(".extras .refused", "This code has expired.")
    await guest.fill("Code", "WELCOME10")
    await guest.press("Use the code")
    await guest.see(".sums", "Coupon WELCOME10 (10 %)")
    await guest.fill("Note for the kitchen", "no cutlery")
    await guest.press("Add the note")
    await guest.see(".ticket i", "no cutlery")

    await guest.press("Menu", role="link")
    await guest.fill("Search the menu", "panna")
    await guest.press("Choose Panna cotta", role="link")
    await guest.see("h1", "Panna cotta")
    await cook.fill("Find a dish", "Panna cotta")
    await cook.press("Sold out")
    await cook.see(".house li", "Panna cotta")
    (add,) = await guest.texts(".sheet-foot [type=submit]")
    await guest.press(add)
    await guest.see(".sheet-foot .refused", "Panna cotta is sold out today.")
    await guest.shot("trouble-sold-out-meanwhile")
    assert await guest.axe() == []
    await cook.press("Back on Panna cotta")

    await guest.press("Ask for a person")
    await guest.fill("What is it about?", "A cake for twelve")
    await guest.fill("The number to call you at", "212 555 0142")
    await guest.press("Ask for them")
    await guest.see(".panel", "Someone from the restaurant will get in touch.")
    await cook.see(".board", "A cake for twelve")

    assert await guest.texts(".item .name") == ["Margherita"]


async def said_goodbye(guest: Guest, name: str) -> str:
    """Have a guest place an order and end the call; returns its number."""
    await guest.say(f"a tiramisu for pickup, my name is {name}")
    await guest.see(".item .name", "Tiramisu")
    await guest.see(".dock.yours")
    await place_order(guest)
    (number,) = await guest.texts(".placed h2")
    await guest.see(".dock.yours")
    await guest.say("no thanks, goodbye")
    await guest.see(".dock.over")
    return number.removeprefix("Number ")


@pytest.mark.usefixtures("worker")
async def test_a_placed_order_is_followed_after_goodbye_and_after_a_reload(
    browser: Browser, url: str
) -> None:
    cook = await logged_in(browser, url)
    guest = await greeted(browser, url)
    number = await said_goodbye(guest, "Dee")
    await cook.press(f"Accept {number}")
    await guest.see(".track [aria-current]", "Accepted")
    await guest.reload()
    await guest.see("h1", "Come in. What would you like?")
    await guest.see(".placed h2", f"Number {number}")
    await guest.shot("after-goodbye")
    await cook.press(f"Start {number}")
    await guest.see(".placed .lead", "In the oven.")
    await guest.see("[role=status]", f"Number {number}. In the oven.")
    found = await guest.axe()

    other = await greeted(browser, url)
    number = await said_goodbye(other, "Eve")
    await cook.press(f"Refuse {number}")
    await cook.fill("Why?", "The oven broke")
    await cook.press(f"Refuse {number}")
    await other.see(".ticket", "Reason: The oven broke")
    await other.reload()
    await other.see(".invitation .note", "Reason: The oven broke")

    assert (found, await other.axe()) == ([], [])


@pytest.mark.usefixtures("worker")
async def test_the_last_order_is_one_tap_away(browser: Browser, url: str) -> None:
    guest = await greeted(browser, url)
    await guest.say("two tiramisu for pickup, my name is Cy, I have an egg allergy")
    await guest.see(".item .name", "Tiramisu")
    await guest.see(".ticket .stamp", "eggs")
    await guest.see(".dock.yours")
    await place_order(guest)
    await guest.evaluate("fetch('/api/leave', { method: 'POST' })")
    await guest.reload()
    await guest.hear("welcome to Bella Vista")
    await guest.see(".last-order", "2 × Tiramisu")
    await guest.see(".last-order .stamp", "eggs")
    await guest.shot("again-last-order")
    await guest.press("Start with these")
    await guest.see(".item output", "2")
    await guest.see(".item .warning", "Holds")

    assert await guest.texts(".item .name") == ["Tiramisu"]
    assert await guest.texts(".ticket .stamp") == ["eggs"]


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


SCRIPTS = """
performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'))
"""


async def test_all_script_that_comes_before_start_is_small(
    browser: Browser, url: str, built: Path
) -> None:
    """The script of a call included, which the page loads ahead of the button."""
    (call,) = (built / "assets").glob("call-*.js")
    guest = await browser.guest()
    await guest.goto(url)
    await guest.press("See the menu", role="link")
    await guest.see(".dish")
    come = f"{SCRIPTS.strip()}.some(({{ name }}) => name.endsWith('/{call.name}'))"
    await guest.do("until", expression=come)
    sizes: list[int] = await guest.evaluate(f"{SCRIPTS}.map((one) => one.encodedBodySize)")

    assert min(sizes) > 0
    assert sum(sizes) < 300_000
