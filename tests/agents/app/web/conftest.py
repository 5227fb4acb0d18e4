"""The web server of the restaurant and of the clinic, called without a network."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from argon2 import PasswordHasher
from livekit import api

from agents.app.app import AnyApp, Environment
from agents.app.dispatch.dispatcher import server_api
from agents.app.settings import AppSettings
from agents.app.states import open_store
from agents.app.web.protection import RequestLimits
from agents.app.web.server import WebServer
from bella_vista.app import APP
from state.shared import SqlStore

KEY, SECRET = "a-key", "a-secret-of-the-tests-that-is-long-enough"
URL = "wss://rooms.example"
HERE = "http://pizza.example"
PASSWORD = "the cook's own words"
HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


@dataclass
class Site:
    """A web server, and browsers of its pages."""

    server: WebServer[Any, Any]
    store: SqlStore
    settings: AppSettings

    def __post_init__(self) -> None:
        self.asgi = self.server.asgi()

    def browser(
        self, address: str = "192.0.2.1", origin: str = HERE, *, raises: bool = True
    ) -> httpx2.AsyncClient:
        """A browser at an address; it keeps its cookies. A failure of the server is raised, if ``raises``."""
        transport = httpx2.ASGITransport(
            app=self.asgi, client=(address, 4711), raise_app_exceptions=raises
        )
        return httpx2.AsyncClient(transport=transport, base_url=origin)

    def claims(self, reply: httpx2.Response) -> api.access_token.Claims:
        """What a token says."""
        return api.TokenVerifier(KEY, SECRET).verify(reply.json()["participant_token"])


Serve = Callable[..., AbstractAsyncContextManager[Site]]


@pytest.fixture
def serve(clean_folder: Path) -> Serve:
    """Make web servers, each with settings of the test's own."""

    @asynccontextmanager
    async def site(app: AnyApp = APP, **settings: object) -> AsyncIterator[Site]:
        own = {"LIVEKIT_URL": URL, "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET}
        own["web_host"] = "0.0.0.0"
        read = app.settings.read_for_rooms(
            **{**own, "database": f"sqlite:///{clean_folder}/states.db", **settings}
        )
        environment = Environment.of(read)
        context = app.make_context(environment)
        async with (
            open_store(app, read.database, app.owner_of(context)) as store,
            server_api(read) as rooms,
        ):
            yield Site(WebServer(app, read, context, store, rooms, environment.live), store, read)

    return site


@pytest.fixture
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are not refilled, however slow the machine is."""
    defaults = RequestLimits.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock", lambda: 0.0)
