"""The clinic's page: the packages for pages with another application, in a real browser."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from examples.clinic.app import APP
from rpc.page import contract
from tests.agents.app.web.test_command import address, web
from tests.clients.guest import Browser, Guest, guests
from tests.clients.toolchain import CLIENTS, run_node
from tests.examples.clinic.test_rooms import Worker
from tests.livekit import LiveKit

# One clinic and one browser serve all tests, so all run in one event loop.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

PAGE = CLIENTS / "clinic"
START = "Talk to Maple Street Dental"


async def test_its_types_are_those_of_the_clinics_contract(tmp_path: Path) -> None:
    """``make docs`` writes them."""
    shown, types = tmp_path / "contract.json", tmp_path / "contract.gen.ts"
    shown.write_text(json.dumps(contract(APP.page_spec, "The RPC of clinic")))
    run_node("core/bin/typed-handoffs-types.mjs", shown, types)

    assert (PAGE / "src/contract.gen.ts").read_text() == types.read_text()


async def test_it_is_shorter_than_150_lines() -> None:
    written = [
        PAGE / "index.html",
        *(one for one in (PAGE / "src").iterdir() if ".gen." not in one.name),
    ]

    assert {one.suffix for one in written} == {".html", ".tsx", ".css"}
    assert sum(len(one.read_text().splitlines()) for one in written) < 150


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of the page, with the clinic's agents behind it."""
    folder = tmp_path_factory.mktemp("clinic")
    run_node("node_modules/vite/bin/vite.js", "build", "clinic", "--outDir", folder / "page")
    worker = Worker(livekit, folder)
    try:
        await worker.tells("worker registered")
        arguments = ("--page", str(folder / "page"))
        async with web(worker.environment, *arguments, module="examples.clinic") as process:
            yield await address(process)
    finally:
        worker.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A browser."""
    async with guests() as browser:
        yield browser


async def say(patient: Guest, words: str) -> None:
    """Type something and send it."""
    await patient.fill("Your words", words)
    await patient.key("Enter")


async def hear(patient: Guest, agent: str, words: str) -> None:
    """Wait until an agent has said something, and it is the patient's turn."""
    await patient.see("[role=log] p:last-child", f"{agent}: {words}")
    await patient.see("[role=status]", "It is your turn.")


async def test_a_patient_books_by_typing_and_changes_the_reason_by_hand(
    browser: Browser, url: str
) -> None:
    ada = await browser.guest()
    await ada.goto(url)
    await ada.see("main h1", "Maple Street Dental")
    assert await ada.axe() == []
    await ada.press(START)
    await ada.see("input:focus")
    await hear(ada, "Reception", "Hello, this is Maple Street Dental")
    await say(ada, "Hello, I am Ada Lovelace, born 1990-12-10")
    await hear(ada, "Reception", "Thank you, Ada Lovelace.")
    await ada.see("aside li", "Ada Lovelace")
    await ada.see("aside li", "...0142")
    await say(ada, "I need a cleaning")
    await hear(ada, "Scheduling", "These are free: Monday, November 23 at 9:00")
    assert await ada.evaluate("document.querySelector('select').value") == "cleaning"

    await ada.select("Reason", "toothache")
    await say(ada, "Tuesday at 9:30")
    await hear(ada, "Scheduling", "Tuesday at 9:30. Shall I book it?")
    await ada.see("aside li", "Chosen: Tuesday, November 24, 2026 at 9:30 AM")
    await ada.shot("clinic-1-chosen")
    assert await ada.axe() == []

    said = await ada.texts("[role=log] p")
    await ada.reload()
    await hear(ada, "Scheduling", "Welcome back. Tuesday at 9:30. Shall I book it?")
    await ada.see("aside li", "Chosen: Tuesday, November 24, 2026 at 9:30 AM")
    assert (await ada.texts("[role=log] p"))[: len(said)] == said
    await ada.press("Yes")
    await hear(ada, "Scheduling", "Booked: Tuesday, November 24 at 9:30.")
    await ada.see("h2", "Your visit: Booked")
    await ada.see("aside li", "Booked: Tuesday, November 24, 2026 at 9:30 AM")
    assert await ada.evaluate("document.querySelector('select').value") == "toothache"
    await say(ada, "that is all")
    await hear(ada, "Survey", "May I send you a text message")
    await ada.press("No")
    await hear(ada, "Survey", "No message, then.")
    await say(ada, "5")
    await ada.see("aside li", "5 of 5 stars")
    await say(ada, "bye")
    await ada.see("[role=status]", "The call is over. Write to start another.")
    await ada.shot("clinic-2-over")
    await say(ada, "bye")  # begins a call, and ends it
    await ada.see("[role=log] p:last-child", "Reception: Thank you for calling. Goodbye!")
    await ada.see("[role=status]", "The call is over. Write to start another.")

    assert await browser.complaints() == []


async def test_what_is_refused_is_told_and_taken_back(browser: Browser, url: str) -> None:
    mary = await browser.guest(320, 640, colorScheme="dark")
    await mary.goto(url)
    await mary.press(START)
    await hear(mary, "Reception", "Hello, this is Maple Street Dental")
    await say(mary, "a" * 1001)
    await mary.see("[role=alert]")
    assert len(await mary.texts("[role=log] p")) == 1
    assert await mary.evaluate("document.querySelector('input').value.length") == 1001
    await say(mary, "I am Mary Shelley, born 1997-08-30")
    await hear(mary, "Reception", "Thank you, Mary Shelley.")
    await mary.unsee("[role=alert]")
    await mary.shot("clinic-3-phone")

    assert await mary.axe() == []
    assert await mary.evaluate("document.documentElement.scrollWidth <= innerWidth")
