"""Runs the web server as a process."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from livekit import api
from uvicorn.protocols.http.h11_impl import H11Protocol

from agents.app.app import AnyApp, Environment
from agents.app.background import Timer, first
from agents.app.dispatch.dispatcher import UNANSWERED, server_api
from agents.app.join.room_access import KeysRefused
from agents.app.livekit_server import USUAL_PORT, LocalServer
from agents.app.serving.logs import log_as_worker
from agents.app.serving.worker_process import WorkerChild, child_environment, how_ended
from agents.app.settings import AppSettings, SettingsFaults
from agents.app.states import list_states, open_store
from agents.app.terminal.signals import ctrl_c_alone, on_signals
from agents.app.terminal.stdio import print_error, say
from agents.app.web.server import WebServer

logger = logging.getLogger(__name__)

_STOP_S = 3
"""How long running requests may take when the server stops, in seconds."""

_CONNECTIONS = 1000
"""How many connections are served at once; further ones are answered 503."""

HEADERS_S = 10.0
"""How long the headers of a request may take to arrive, in seconds."""

_IDLE_S = 5
"""How long a connection may be idle after a response, in seconds."""

_BACKLOG = 128
_FAILED = 1


def run_web(app: AnyApp, settings: AppSettings) -> int:
    """Serve an application's page and its token endpoint until a signal; returns the exit code.

    Args:
        app: The application.
        settings: The settings, checked for rooms.

    Raises:
        InputError: The settings, a file or the database cannot be used.
    """
    log_as_worker(settings.secrets, application=app.package)
    return asyncio.run(_run(app, settings))


async def _run(app: AnyApp, settings: AppSettings) -> int:
    stopped = asyncio.Event()
    with on_signals(stopped.set, "SIGINT", "SIGTERM"):
        async with serving(app, settings) as url:
            say(f"ready {url}")
            await stopped.wait()
    return 0


def run_demo(app: AnyApp, server: Path, **options: object) -> int:
    """Serve the page, the agents and a LiveKit server, on this machine only, until a signal.

    Args:
        app: The application.
        server: The LiveKit server's program.
        options: Command-line options by name; ``None`` means not given.

    Returns:
        The exit code: 0 after a signal, another if the LiveKit server or the agents end before; stderr says which.

    Raises:
        InputError: The settings, a file or the database cannot be used, or the LiveKit server does not start.
    """
    with ctrl_c_alone():
        return asyncio.run(_run_demo(app, server, options))


async def _run_demo(app: AnyApp, server: Path, options: Mapping[str, Any]) -> int:
    stopped = asyncio.Event()
    with on_signals(stopped.set, "SIGINT", "SIGTERM"):
        code = await first(_demo(app, server, options), stopped.wait())
    return 0 if stopped.is_set() else code


async def _demo(app: AnyApp, server: Path, options: Mapping[str, Any]) -> int:
    """Serve until cancelled, or until the LiveKit server or the agents end; returns the exit code."""
    async with LocalServer(server, port=USUAL_PORT) as local:
        os.environ.update(local.environment)
        settings = app.settings.read_for_rooms(**options)
        log_as_worker(settings.secrets, application=app.package, plain=True)
        agents = await WorkerChild.start(app.path, child_environment(app))
        try:
            async with serving(app, settings) as url:
                return await first(_of_server(local), _of_agents(agents, url))
        finally:
            await agents.close()


async def _of_server(server: LocalServer) -> int:
    """Wait until the LiveKit server ends, and say so; returns the demonstration's exit code."""
    code = await server.ended()
    print_error(f"The LiveKit server has ended {how_ended(code)}: the demonstration ends.")
    return _FAILED


async def _of_agents(agents: WorkerChild, url: str) -> int:
    """Say when the agents are ready, and that they have ended; returns the demonstration's exit code."""
    if await agents.is_registered():
        say(f"ready {url}")
    code = await agents.ended()
    print_error(f"The agents' process has ended {how_ended(code)}: the demonstration ends.")
    return code if code > 0 else _FAILED


@asynccontextmanager
async def serving(app: AnyApp, settings: AppSettings) -> AsyncIterator[str]:
    """Serve within a context; its value is the address.

    Args:
        app: The application.
        settings: The settings, checked for rooms.

    Raises:
        InputError: The port, a file or the database cannot be used.
    """
    environment = Environment.of(settings)
    context = app.make_context(environment)
    app.make_parts()
    with closing(_open_port(settings)) as listening:
        async with (
            open_store(app, settings.database, app.owner_of(context)) as store,
            server_api(settings) as rooms,
            AsyncExitStack() as stack,
        ):
            await list_states(app, store, 1)
            await _check_keys(rooms)
            web = WebServer(app, settings, context, store, rooms, environment.live)
            await environment.live.refresh()
            config = uvicorn.Config(
                web.asgi(),
                http=HttpProtocol,
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                # ``WebServer.asgi`` reads the headers of the proxies that the settings name.
                proxy_headers=False,
                limit_concurrency=_CONNECTIONS,
                timeout_keep_alive=_IDLE_S,
                timeout_graceful_shutdown=_STOP_S,
            )
            stack.enter_context(web.metrics.served(settings))
            server = _Server(config)
            running = asyncio.create_task(server.serve(sockets=[listening]))
            ready = asyncio.create_task(server.ready.wait())
            try:
                await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
                yield _address(listening)
            finally:
                ready.cancel()
                server.should_exit = True
                await web.end_streams()
                await running


async def _check_keys(rooms: api.LiveKitAPI) -> None:
    """Check that the LiveKit server accepts the keys; one that does not answer may start later.

    Raises:
        KeysRefused: The server rejects them.
    """
    try:
        await rooms.room.list_rooms(api.ListRoomsRequest(names=["-"]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            raise KeysRefused from None
    except UNANSWERED as error:
        logger.warning("LIVEKIT_URL: LiveKit server unreachable", extra={"error": error})


class HttpProtocol(H11Protocol):
    """Closes a connection whose request does not arrive in time: uvicorn 0.54 limits only the idle time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline for a request."""
        super().connection_made(transport)
        self._deadline = Timer(transport.close)
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        """Process a part of a request."""
        super().data_received(data)
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        super().connection_lost(exc)
        self._deadline.stop()

    def _update_deadline(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._deadline.stop()
        elif self._deadline.due_at is None:  # headers are due, or the rest of an answered body
            self._deadline.start(HEADERS_S)


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to this process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers."""
        yield


def _open_port(settings: AppSettings) -> socket.socket:
    """Open the port.

    Raises:
        SettingsFaults: The port cannot be opened.
    """
    host, port = settings.web_host, settings.web_port
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        where = f"{settings.variable('web_host')}, {settings.variable('web_port')}"
        raise SettingsFaults(
            [f"{where}: {host}:{port} cannot be opened ({error.strerror})"]
        ) from None


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"
