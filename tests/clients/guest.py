"""A guest at a page in a real browser, and the pages they visit.

``clients/web/tests/driver.mjs`` is the other end::

    async with guests() as browser:
        guest = await browser.guest()
        await guest.goto(url)
        await guest.press("Start by typing")
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.clients.toolchain import CLIENTS, chromium_program, node_program
from tests.livekit import LONG_S

SHOTS = CLIENTS.parent / "build" / "screenshots"
"""Where screenshots are kept; git ignores it."""

PAGE_S = 90.0
"""How long anything on a page may take, in seconds: a browser beside many tests may wait long for a core."""

_LONGEST_LINE = 1 << 24


class PageError(Exception):
    """What a guest wanted to do could not be done in time."""


class Browser:
    """A browser, and what its pages have complained about.

    Args:
        driver: The process that drives it.
    """

    def __init__(self, driver: asyncio.subprocess.Process) -> None:
        self._driver = driver
        self._turn = asyncio.Lock()
        self._guests = 0

    async def ask(self, method: str, **given: Any) -> Any:
        """Have the driver do something; returns the answer's value.

        Raises:
            PageError: It was not possible in time.
        """
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        async with self._turn:
            self._driver.stdin.write(json.dumps({"method": method, **given}).encode() + b"\n")
            line = await self._driver.stdout.readline()
        answer = json.loads(line or b'{"error": "the browser has gone"}')
        if "error" in answer:
            raise PageError(answer["error"])
        return answer["value"]

    async def guest(self, width: int = 1280, height: int = 900, **context: Any) -> "Guest":
        """Have one more guest, with cookies of their own.

        Args:
            width: The width of the page, in pixels.
            height: Its height, in pixels.
            context: More of playwright's ``newContext``: ``colorScheme``, ``permissions``, ``locale``; ``speaks``
                gives them a microphone that tests speak into, and ears; ``script`` is run before the page's own.
        """
        self._guests += 1
        guest = Guest(self, f"guest {self._guests}")
        await guest.do("open", width=width, height=height, **context)
        return guest

    async def complaints(self) -> list[str]:
        """Return the errors of the pages' own scripts since the last time."""
        found: list[str] = await self.ask("wrong")
        return found


class Guest:
    """Somebody at a page."""

    def __init__(self, browser: Browser, name: str) -> None:
        self._browser = browser
        self._name = name

    async def do(self, method: str, **given: Any) -> Any:
        """Have the driver do something at this guest's page."""
        return await self._browser.ask(method, page=self._name, **given)

    async def goto(self, url: str) -> None:
        await self.do("goto", url=url)

    async def reload(self) -> None:
        await self.do("reload")

    async def close(self) -> None:
        await self.do("close")

    async def press(self, name: str, role: str = "button", within: str | None = None) -> None:
        """Press what has this name for a screen reader."""
        given = {} if within is None else {"within": within}
        await self.do("press", name=name, role=role, **given)

    async def choose(self, name: str, role: str = "radio") -> None:
        """Choose a radio button, or tick a box."""
        await self.do("check", name=name, role=role)

    async def fill(self, label: str, text: str) -> None:
        await self.do("fill", label=label, text=text)

    async def select(self, label: str, value: str) -> None:
        """Choose from a list."""
        await self.do("select", label=label, value=value)

    async def key(self, key: str) -> None:
        await self.do("key", key=key)

    async def focused(self) -> str:
        """Return the name of what has the focus."""
        name: str = await self.do("focused")
        return name

    async def see(self, selector: str, text: str | None = None) -> None:
        """Wait until something is on the page."""
        await self.do("see", selector=selector, **({} if text is None else {"text": text}))

    async def unsee(self, selector: str, text: str | None = None) -> None:
        """Wait until it is not."""
        await self.do("unsee", selector=selector, **({} if text is None else {"text": text}))

    async def texts(self, selector: str) -> list[str]:
        found: list[str] = await self.do("texts", selector=selector)
        return found

    async def evaluate(self, expression: str) -> Any:
        return await self.do("evaluate", expression=expression)

    async def say(self, text: str) -> None:
        """Type something and send it."""
        await self.fill("Type to the restaurant", text)
        await self.key("Enter")

    async def hear(self, words: str) -> None:
        """Wait until an agent has said something with these words, and it is the guest's turn."""
        await self.see(".line.newest:not(.by-user) .said", words)
        await self.see(".dock.yours")

    async def hold(self, name: str) -> None:
        """Press a button and keep it pressed, until ``release``."""
        await self.do("hold", name=name)

    async def release(self) -> None:
        await self.do("release")

    async def speak(self, wav: bytes) -> None:
        """Speak into the microphone, to the end of the sound; for a guest with ``speaks=True``."""
        await self.do("speak", wav=b64encode(wav).decode())

    async def hear_sound(self) -> None:
        """Wait until the page's loudspeaker is as loud as a voice; for a guest with ``speaks=True``."""
        await self.do("loudness", level=0.02)

    async def hear_silence(self) -> None:
        """Wait until it is silent."""
        await self.do("loudness", level=-0.001)

    async def look(self, expression: str) -> None:
        """Wait until an expression holds; unlike all else here but ``tap``, it is no gesture for the browser."""
        await self.do("look", expression=expression)

    async def tap(self, selector: str) -> None:
        """Press the first that is found, as a hand does: only the press is a gesture."""
        await self.do("tap", selector=selector)

    async def shot(self, name: str, *, whole: bool = False) -> Path:
        """Keep a screenshot."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        await self.do("shot", path=str(path), whole=whole)
        return path

    async def axe(self, *without: str) -> list[str]:
        """Return what axe finds wrong with the page as it is, without some of its rules."""
        found: list[str] = await self.do("axe", without=without)
        return found


@asynccontextmanager
async def guests(*flags: str, seconds: float = PAGE_S) -> AsyncIterator[Browser]:
    """Have a browser.

    Args:
        flags: More flags of Chromium's command line.
        seconds: How long anything may take, in seconds.
    """
    driver = await asyncio.create_subprocess_exec(
        *(
            node_program(),
            "web/tests/driver.mjs",
            chromium_program(),
            str(int(seconds * 1000)),
            *flags,
        ),
        cwd=CLIENTS,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LONGEST_LINE,
    )
    assert driver.stdin is not None
    assert driver.stdout is not None
    try:
        async with asyncio.timeout(2 * LONG_S):
            assert json.loads(await driver.stdout.readline()) == {"ready": True}
        yield Browser(driver)
    finally:
        driver.stdin.close()
        try:
            async with asyncio.timeout(LONG_S):
                await driver.communicate()
        except TimeoutError:
            driver.kill()
            await driver.wait()
