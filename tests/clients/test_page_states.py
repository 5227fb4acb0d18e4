"""Every state of the page, as axe and a narrow screen find it; a made-up agent plays the restaurant."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from tests.clients.guest import Browser, Guest, guests
from tests.clients.keyboard import FAULT_OF_FOCUS, NAME_OF_FOCUS, Keyboard
from tests.clients.toolchain import run_node
from tests.missing import missing

# One browser sees all states, so all tests run in one event loop.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

STATES = (
    "welcome",
    "welcome-menu",
    "welcome-placed",
    "no-server",
    "too-many",
    "no-microphone",
    "microphone-off",
    "broken",
    "greeting",
    "your-turn",
    "long",
    "speaking",
    "menu",
    "sheet",
    "combo",
    "review",
    "payment",
    "placed",
    "waiting",
    "failed",
    "refused-earlier",
    "sold-out-line",
    "over",
    "unplaced",
    "newer",
    "dropped",
    "refused",
    "settings",
    "person",
    "way",
    "allergy",
    "extras",
    "other-tip",
    "last-order",
    "paused",
    "closed",
    "recorded",
    "talking",
    "muted",
    "no-agent",
    "disconnected",
    "turned-away",
    "elsewhere",
    "moved",
    "no-hearing",
    "microphone-gone",
    "broken-off",
    "hostile",
)
CUT_OFF = """
[...document.querySelectorAll('.choice-row')].some((row) => row.scrollWidth > row.clientWidth)
"""
SIZES = {1280: 900, 390: 844, 320: 700}
WIDTH_OF_TEXT = """(() => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = '100px "Avenir Next", Avenir, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    return pen.measureText("Halten und reden").width;
})()"""
WIDTH_IN_ARIAL = 767


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stories(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of the states, built."""
    folder = tmp_path_factory.mktemp("stories")
    run_node("node_modules/vite/bin/vite.js", "build", "web/stories", "--outDir", folder)
    async with served(folder) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A browser."""
    async with guests() as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def usual_font(browser: Browser) -> None:
    """Stop a test of tight places where the only font is much wider than the phones' own."""
    guest = await browser.guest()
    await guest.goto("about:blank")
    width = await guest.evaluate(WIDTH_OF_TEXT)
    await guest.close()
    if width > 1.1 * WIDTH_IN_ARIAL:
        missing("the text is drawn in a very wide font: install fonts-liberation")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """Serve files for a while; gives their address."""

    async def index(request: web.Request) -> web.FileResponse:
        return web.FileResponse(folder / "index.html")

    application = web.Application()
    application.router.add_get("/", index)
    application.router.add_static("/", folder)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/"
    finally:
        await runner.cleanup()


async def show(
    guest: Guest, url: str, state: str, language: str = "en", voice: str = "hold"
) -> None:
    """Open a state, once all of its news has come."""
    await guest.goto("about:blank")
    await guest.goto(f"{url}?state={state}&language={language}&voice={voice}")
    await guest.see(":root[data-ready=played]")


LIGHT: dict[str, dict[str, Any]] = {"light": {}}
SCHEMES = {**LIGHT, "dark": {"colorScheme": "dark"}}
COLOURS = {**SCHEMES, "forced": {"colorScheme": "light", "forcedColors": "active"}}


async def faults(
    browser: Browser, url: str, width: int, looks: dict[str, dict[str, Any]]
) -> list[str]:
    """Return all that is wrong with any state at a width, in each look: a name and what the guest's system wants."""
    guest = await browser.guest(width, SIZES[width])
    found = []
    for state in STATES:
        await show(guest, url, state, "en" if width == 1280 else "de")
        for look, wanted in looks.items():
            await guest.do("emulate", **wanted)
            await guest.shot(f"{state}-{width}-{look}")
            # With forced colours the browser chooses them, so axe cannot judge their contrast.
            without = ["color-contrast"] if "forcedColors" in wanted else []
            found += [f"{state}, {look}: {fault}" for fault in await guest.axe(*without)]
        if await guest.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{state}: wider than the screen")
        if await guest.evaluate(CUT_OFF):
            found.append(f"{state}: a choice is cut off")
        if await guest.evaluate("document.getAnimations().length"):
            found.append(f"{state}: something moves for a guest who does not want that")
    await guest.close()
    return found


@pytest.mark.parametrize(("width", "looks"), [(1280, COLOURS), (320, SCHEMES)], ids=["1280", "320"])
async def test_nothing_is_wrong_in_any_state(
    stories: str, browser: Browser, width: int, looks: dict[str, dict[str, Any]]
) -> None:
    assert await faults(browser, stories, width, looks) == []
    assert await browser.complaints() == []


async def test_nothing_is_told_by_a_colour_of_the_page_alone(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(forcedColors="active")
    await show(guest, stories, "menu")
    edge = "getComputedStyle(document.querySelector('%s')).borderBottomColor"
    here, there = ".ways a[aria-current]", ".ways a:not([aria-current])"
    knob = "getComputedStyle(document.querySelector('.switch input'), '::after').backgroundColor"
    paper = "getComputedStyle(document.querySelector('.switch input')).backgroundColor"

    assert await guest.evaluate(edge % here) != await guest.evaluate(edge % there)
    assert await guest.evaluate(knob) != await guest.evaluate(paper)


async def test_something_moves_for_a_guest_who_does_not_mind(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(reducedMotion="no-preference")
    await show(guest, stories, "speaking")

    assert await guest.evaluate("document.getAnimations().length") > 0


@pytest.mark.usefixtures("usual_font")
async def test_text_of_twice_the_size_fits_on_a_phone(stories: str) -> None:
    async with guests("--blink-settings=defaultFontSize=32") as browser:
        found = await faults(browser, stories, 390, {"large-text": {}})
        guest = await browser.guest(390, SIZES[390])
        await show(guest, stories, "your-turn")

        assert found == []
        assert await guest.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
        # A dock that stayed would cover all else.
        assert await guest.evaluate("getComputedStyle(dock).position") == "static"


async def test_markup_in_what_others_wrote_is_text(stories: str, browser: Browser) -> None:
    guest = await browser.guest()
    await show(guest, stories, "hostile")

    assert (
        await guest.evaluate(
            "document.querySelectorAll('script:not([src]), .said b, .said img').length"
        )
        == 0
    )
    assert "<img src=x onerror=alert(1)> <b>bold</b>" in await guest.texts(".said")
    assert await guest.texts(".stamp") == ["tree nuts", "<script>alert(1)</script>"]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [390, 320])
async def test_over_the_menu_of_a_phone_mute_and_sound_stay_in_reach(
    stories: str, browser: Browser, width: int, language: str
) -> None:
    guest = await browser.guest(width, SIZES[width])
    await show(guest, stories, "menu", language, "silent")
    await guest.see(".dock.slim")
    await guest.shot(f"slim-dock-{width}-{language}")
    mute, sound = (
        ("Stumm", "Ton einschalten") if language == "de" else ("Mute", "Turn on the sound")
    )
    await guest.press(mute, within=".dock")
    await guest.see(".dock [aria-pressed=true]", mute)
    await guest.press(sound, within=".dock")

    assert await guest.evaluate("dock.offsetHeight / innerHeight") <= 0.3
    assert await guest.evaluate("dock.scrollWidth <= innerWidth")
    assert await guest.axe() == []


REACHED = """[...document.querySelectorAll('.welcome .button:not(.quiet)')].map((button) => {
    const {left, right, top, bottom} = button.getBoundingClientRect();
    const points = [[left + 9, top + 9], [right - 9, bottom - 9]];
    return points.every(([x, y]) => button.contains(document.elementFromPoint(x, y)));
})"""


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("width", "height"), [(320, 640), (375, 667), (390, 760), (1280, 720)])
async def test_both_ways_to_start_are_in_view_and_nothing_covers_them(
    stories: str, browser: Browser, width: int, height: int, language: str
) -> None:
    guest = await browser.guest(width, height)
    await show(guest, stories, "welcome", language)
    await guest.see(".tablecloth svg")

    assert await guest.evaluate(REACHED) == [True, True]


@pytest.mark.usefixtures("usual_font")
@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_small_phone_is_mostly_the_sheets(
    stories: str, browser: Browser, language: str
) -> None:
    guest = await browser.guest(320, 640)
    await show(guest, stories, "sheet", language)
    low = "dock.offsetHeight + document.querySelector('.sheet-foot').offsetHeight"

    assert await guest.evaluate(low) <= 135
    assert await guest.evaluate("document.querySelector('.dock [role=status]').offsetHeight") <= 32


@pytest.mark.usefixtures("usual_font")
@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_dock_leaves_most_of_a_phone_to_the_talk_in_every_state(
    stories: str, browser: Browser, language: str
) -> None:
    guest = await browser.guest(320, SIZES[320])
    share = "document.getElementById('dock')?.offsetHeight / innerHeight"
    high = {}
    for state in STATES:
        await show(guest, stories, state, language)
        if (await guest.evaluate(share) or 0) > 0.3:
            high[state] = await guest.evaluate(share)

    assert high == {}


async def test_what_is_expected_is_read_aloud_where_the_answers_stand_in_its_place(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "review", "de")
    status = "document.querySelector('.dock [role=status]')"

    assert await guest.evaluate(f"{status}.textContent") == "Sie sind dranJa oder nein?"
    assert await guest.evaluate(f"{status}.querySelector('p').offsetHeight") == 1


async def test_the_menus_words_are_read_in_the_menus_language(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest()
    await show(guest, stories, "menu", "de")

    assert await guest.texts(".sign[lang=en]") == ["Bella Vista"]
    assert await guest.texts("[lang=en] .name") == ["Margherita", "Pizza your way", "House salad"]


async def test_a_guest_orders_by_keyboard_alone(stories: str, browser: Browser) -> None:
    guest = await browser.guest()
    await show(guest, stories, "menu")
    order = await walk(guest, 60)

    assert order.index("Skip to speaking and typing") < order.index("Talk") < order.index("Menu")
    assert order.index("Menu") < order.index("Search the menu") < order.index("Choose Garlic bread")
    # Header, menu, dock, ticket: as it is read.
    assert order.index("Choose Burrata with peaches") < order.index("Type to the restaurant")
    assert order.index("Type to the restaurant") < order.index("One fewer Margherita")

    await guest.evaluate("document.querySelector('[data-remove]').focus()")
    await guest.key("Enter")
    await guest.unsee(".item h3", "Margherita")
    await guest.see("[data-remove]:focus")
    assert await guest.focused() == "Remove Pizza your way"


async def test_the_focus_stays_near_what_went_away(stories: str, browser: Browser) -> None:
    guest = await browser.guest()
    await show(guest, stories, "review")
    await guest.evaluate("document.querySelector('.answers button').focus()")
    await guest.key("Enter")
    await guest.unsee(".answers")
    assert await guest.evaluate("document.activeElement.id") == "dock"
    await guest.key("Tab")
    assert await guest.evaluate(NAME_OF_FOCUS) == "Hold to talk"

    await show(guest, stories, "your-turn")
    await guest.press("Change Margherita", role="link")
    await guest.see("h1:focus", "Margherita")
    await guest.key("Escape")
    await guest.see("a:focus")
    assert await guest.evaluate(NAME_OF_FOCUS) == "Change Margherita"


async def test_the_link_to_the_talk_takes_the_focus_to_its_newest_line(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "menu", "de")
    keys = Keyboard(guest)
    await keys.reach("Gespräch")
    await guest.key("Enter")
    await guest.see("#talk:focus")

    assert await guest.evaluate(FAULT_OF_FOCUS) == ""
    await keys.reach("Halten und reden")


@pytest.mark.usefixtures("usual_font")
async def test_how_many_change_and_remove_stand_in_one_row(stories: str, browser: Browser) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "your-turn", "de")
    tops = "[...document.querySelector('.item .row').children].map((one) => one.getBoundingClientRect())"
    middles = await guest.evaluate(f"{tops}.map(({{ top, height }}) => top + height / 2)")

    assert len(middles) == 3
    assert max(middles) - min(middles) < 4


NEWEST_IS_UNCOVERED = (
    "document.querySelector('.newest .said').getBoundingClientRect().bottom"
    " <= dock.getBoundingClientRect().top"
)
GROW = """(() => {
    const grown = document.createElement("div");
    grown.style.height = "%dpx";
    document.querySelector(".script").before(grown);
})()"""
TWO_FRAMES = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => setTimeout(done)
)))"""


async def at_the_end_of_a_long_page(stories: str, browser: Browser) -> Guest:
    """A guest who reads the newest line, far below the top of the page."""
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "review", "de")
    await guest.evaluate(GROW % 900)
    await guest.do("until", expression=f"scrollY > 700 && {NEWEST_IS_UNCOVERED}")
    return guest


async def test_a_dock_that_grows_covers_no_word_of_the_newest_line(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "review", "de")

    await guest.do("until", expression=NEWEST_IS_UNCOVERED)


@pytest.mark.parametrize("grown", [60, 900])
async def test_the_newest_line_stays_in_view_when_the_page_grows_above_it(
    stories: str, browser: Browser, grown: int
) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "review", "de")
    await guest.do("until", expression=NEWEST_IS_UNCOVERED)

    await guest.evaluate(GROW % grown)
    await guest.do("until", expression=NEWEST_IS_UNCOVERED)


async def test_the_newest_line_stays_in_view_when_the_page_shrinks_and_grows_again(
    stories: str, browser: Browser
) -> None:
    guest = await at_the_end_of_a_long_page(stories, browser)

    page = "document.querySelector('.script').closest('main')"
    await guest.evaluate(f"{page}.style.display = 'none'; {TWO_FRAMES}")
    await guest.evaluate(f"{page}.style.display = ''")
    await guest.do("until", expression=f"scrollY > 700 && {NEWEST_IS_UNCOVERED}")


async def test_a_guest_elsewhere_on_the_page_stays_there_when_it_grows(
    stories: str, browser: Browser
) -> None:
    guest = await at_the_end_of_a_long_page(stories, browser)

    await guest.evaluate(f"scrollTo(0, 0); {TWO_FRAMES}")
    await guest.evaluate(f"{GROW % 60}; {TWO_FRAMES}")
    assert await guest.evaluate("scrollY") == 0


async def test_the_earlier_lines_stay_in_view_until_they_are_closed(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest(320, 800)  # so high that any font leaves the summary in view
    await show(guest, stories, "your-turn")
    top = "document.querySelector('.earlier summary').getBoundingClientRect().top"
    ready = f"document.fonts.status === 'loaded' && {top} > 0 && {NEWEST_IS_UNCOVERED}"
    await guest.do("until", expression=ready)
    before = await guest.evaluate(top)

    press = "document.querySelector('.earlier summary').click()"
    await guest.evaluate(f"{press}; {TWO_FRAMES}")
    assert await guest.evaluate(top) == before
    assert not await guest.evaluate(NEWEST_IS_UNCOVERED)

    await guest.evaluate(press)
    await guest.do("until", expression=NEWEST_IS_UNCOVERED)


@pytest.mark.parametrize(
    ("state", "selector", "name"),
    [
        ("your-turn", ".agents [aria-current] .name", "Bestellung"),
        ("placed", ".track [aria-current] > :not(.step)", "Im Ofen"),
        ("waiting", ".track [aria-current] > :not(.step)", "Angenommen"),
    ],
)
async def test_no_name_is_broken_on_a_narrow_screen(
    stories: str, browser: Browser, state: str, selector: str, name: str
) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, state, "de")
    line = f"document.querySelector('{selector}')"

    assert await guest.texts(selector) == [name]
    assert await guest.evaluate(f"{line}.offsetHeight < 1.5 * 13 * 1.2")


async def test_a_button_that_waits_is_drawn_so_below_the_pointer(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest()
    await show(guest, stories, "review")
    await guest.evaluate("document.querySelector('.steps .main').ariaDisabled = 'true'")
    await guest.hold("Yes, this is right")
    paper = "getComputedStyle(document.querySelector('.steps .main')).backgroundColor"

    assert await guest.evaluate(paper) == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("width", [1280, 320])
async def test_the_buttons_of_the_ticket_stand_below_each_other(
    stories: str, browser: Browser, width: int
) -> None:
    guest = await browser.guest(width, SIZES[width])
    await show(guest, stories, "your-turn", "de")
    edges = "[...document.querySelectorAll('.block > .button')].map((one) => one.getBoundingClientRect().right)"
    before = await guest.evaluate(edges)
    await guest.evaluate(
        "document.querySelector('.block .stamp').textContent = 'Schalenfrüchte, Krebstiere und Sellerie'"
    )

    assert len({round(one) for one in [*before, *await guest.evaluate(edges)]}) == 1


async def test_what_went_wrong_is_seen_at_once(stories: str, browser: Browser) -> None:
    guest = await browser.guest(320, SIZES[320])
    await show(guest, stories, "no-server", "de")
    await guest.see(".note")
    note = "document.querySelector('.note').getBoundingClientRect()"

    assert await guest.evaluate(f"{note}.top >= 0 && {note}.bottom <= innerHeight")


async def test_after_the_end_nothing_is_offered_that_would_be_refused(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest()
    await show(guest, stories, "unplaced")

    assert await guest.texts(".dock button") == ["New order"]
    assert await guest.texts(":is(.payment, .ticket) :is(button, input, summary)") == []


async def test_an_order_in_a_stage_of_a_newer_server_is_shown(
    stories: str, browser: Browser
) -> None:
    guest = await browser.guest()
    await show(guest, stories, "newer")

    assert await guest.texts(".placed :is(h2, .lead)") == ["Number 101", "On its way."]
    assert await guest.texts(".ticket header") == ["Number 101\nOn its way"]


async def walk(guest: Guest, steps: int) -> list[str]:
    """Press Tab so often; returns the names of what had the focus."""
    names = []
    for _ in range(steps):
        await guest.key("Tab")
        names.append(await guest.evaluate(NAME_OF_FOCUS))
    return names


async def test_the_sheet_gives_the_focus_back_to_its_dish(stories: str, browser: Browser) -> None:
    guest = await browser.guest()
    await show(guest, stories, "menu")
    await guest.press("Pizza")
    await guest.press("Choose Diavola", role="link")
    await guest.see("h1:focus", "Diavola")
    await guest.key("Escape")
    await guest.see(".dish .button:focus")

    assert await guest.evaluate(NAME_OF_FOCUS) == "Choose Diavola"


async def test_halves_are_drawn_priced_and_ordered(stories: str, browser: Browser) -> None:
    guest = await browser.guest()
    await show(guest, stories, "sheet")
    await guest.choose("Large $18.00")
    await guest.press("Show all 42")
    await guest.do("check", name="Half", within="[role=radiogroup][aria-label=ham]")
    await guest.do("check", name="Other half", within="[role=radiogroup][aria-label=mushrooms]")
    await guest.shot("sheet-halves-1280-light")
    await guest.press("Add to order, $21.00")
    await guest.see(".item .details", "Large, half ham, other half mushrooms")
