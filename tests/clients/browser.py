"""A page with the client in a real browser, told over a WebSocket what to do.

``clients/core/tests/room/remote.ts`` is the other end::

    async with browser_page(bundle, tmp_path) as page:
        await page.call("connect", livekit.url, token)
        await page.call("start")
        await page.until(lambda seen: seen["turn"] is not None)
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from tests.clients.guest import PAGE_S
from tests.clients.toolchain import chromium_program
from tests.livekit import LONG_S, until

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--allow-loopback-in-peer-connection",
)


class PageError(Exception):
    """What the page was asked for has failed.

    Args:
        error: The client's ``AppError``.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error


class BrowserPage:
    """One page, and what its session has told so far."""

    def __init__(self) -> None:
        self.snapshot: dict[str, Any] = {}
        """The session's latest snapshot."""
        self.changes: list[dict[str, Any]] = []
        """The versions of the state, as they came."""
        self.warned: list[str] = []
        """What the client has told the developer."""
        self.missing = 0
        """How often the client has asked for an agent."""
        self._socket: web.WebSocketResponse | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}

    async def call(self, method: str, *given: Any) -> Any:
        """Call a method of the page and return its value.

        Raises:
            PageError: It failed.
        """
        await until(lambda: self._socket, PAGE_S, "the page")
        assert self._socket is not None
        number = len(self._answers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "given": given})
        async with asyncio.timeout(2 * LONG_S):
            return await answer

    async def until(self, fact: Callable[[dict[str, Any]], object], what: str = "") -> None:
        """Wait until a snapshot fulfils a condition."""
        try:
            await until(lambda: self.snapshot and fact(self.snapshot), PAGE_S, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\nlast seen: {json.dumps(self.snapshot)}") from None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Hear what the page tells."""
        socket = self._socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self._take(json.loads(message.data))
        return socket

    def _take(self, told: dict[str, Any]) -> None:
        if "snapshot" in told:
            self.snapshot = told["snapshot"]
        elif "change" in told:
            self.changes.append(told["change"])
        elif "warned" in told:
            self.warned.append(told["warned"])
        elif "missing" in told:
            self.missing += 1
        elif not (answer := self._answers[told["id"]]).done():
            if "error" in told:
                answer.set_exception(PageError(told["error"]))
            else:
                answer.set_result(told.get("value"))


@asynccontextmanager
async def browser_page(
    bundle: Path, profile: Path, token: Mapping[str, str] | None = None
) -> AsyncIterator[BrowserPage]:
    """Have a page open in a browser.

    Args:
        bundle: The built page.
        profile: A folder for the browser's own files.
        token: What the token endpoint answers.
    """
    async with serving(bundle, token) as (page, address), browser(f"{address}/index.html", profile):
        yield page


@asynccontextmanager
async def serving(
    bundle: Path, token: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[BrowserPage, str]]:
    """Serve a page and hear what it tells; gives the address as well."""

    async def give_token(request: web.Request) -> web.Response:
        return web.json_response(token, status=201)

    page = BrowserPage()
    application = web.Application()
    application.router.add_get("/control", page.serve)
    application.router.add_post("/api/token", give_token)
    application.router.add_static("/", bundle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield page, f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def browser(url: str, profile: Path) -> AsyncIterator[None]:
    """Have a browser at an address."""
    process = await asyncio.create_subprocess_exec(
        chromium_program(),
        *FLAGS,
        f"--user-data-dir={profile}",
        url,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        await process.wait()
