"""A worker process: from the settings to the exit code, alone or under a supervisor."""

import asyncio
import os
import sys
import threading
from collections.abc import Collection, Iterable
from importlib import import_module

from agents.app.importing import gc_paused
from agents.app.serving.logs import log_as_worker
from agents.app.settings import SettingsFaults
from bella_vista.menus import keep_menu_copy, menu_file
from bella_vista.settings import Settings

APP = "bella_vista.app"
"""The module whose ``server`` serves the calls."""

_CLOSE_LIMIT_S = 6.0
"""How long a worker lives after its supervisor has gone, in seconds."""

MOVE = b"move\n"
"""Written by a supervisor to a worker that shall hand its calls over to the next one."""


def run_worker(module: str = APP, *, ready: int | None = None) -> int:
    """Serve rooms until a signal; returns the exit code.

    Args:
        module: Holds the ``server``.
        ready: Under a supervisor, the file descriptor to write to when the worker has registered;
            stdin then stops the worker: by ``MOVE``, or by its end.

    Raises:
        SettingsFaults: Everything that is wrong with the settings.
    """
    settings = checked_settings()
    log_as_worker(settings.secrets, plain=ready is not None)
    # Imported late: an import takes a second, which reporting faults should not need.
    with gc_paused():
        from agents.app.serving.lifecycle import serve
        from agents.app.serving.worker import Worker

        worker = import_module(module).server
    if not isinstance(worker, Worker):
        raise TypeError(f"{module}.server was not made by make_server")
    with keep_menu_copy(settings.menu):
        return asyncio.run(serve(worker) if ready is None else _serve_supervised(worker, ready))


def checked_settings(**options: object) -> Settings:
    """Read the settings and check everything that each call will need, the menu and the database included.

    Args:
        options: Command-line options by name; ``None`` means not given.

    Raises:
        SettingsFaults: Everything that is wrong with them, with the menu and with the database.
    """
    from agents.app.models.speech import worker_settings

    faults: list[str] = []
    settings = None
    found = Settings.usable(**options)
    agents = _agent_names() if found is not None and found[0].tts_voices else ()
    try:
        settings = worker_settings(Settings, agents=agents, **options)
    except SettingsFaults as wrong:
        faults += wrong.faults
    if found is not None:
        faults += _faults_of_calls(*found)
    if settings is None or faults:
        raise SettingsFaults(faults)
    return settings


def _agent_names() -> Iterable[str]:
    from agents.roster import restaurant_graph

    return restaurant_graph().agents


def _faults_of_calls(settings: Settings, wrong: Collection[str]) -> list[str]:
    """List the faults of the menu and the database, where the settings name them correctly."""
    from bella_vista.orders import OrderFaults, default_database, list_orders, open_store
    from state.menu import MenuFaults, load_menu

    faults: list[str] = []
    if "menu" not in wrong:
        try:
            load_menu(menu_file(settings.menu))
        except MenuFaults as error:
            faults += map(str, error.faults)
    if "database" in wrong:
        return faults

    async def look() -> None:
        async with open_store(settings.database or default_database(), None) as store:
            await list_orders(store, 1)

    try:
        asyncio.run(look())
    except OrderFaults as error:
        faults += error.faults
    return faults


async def _serve_supervised(worker: object, ready: int) -> int:
    from agents.app.serving.lifecycle import ShutdownMode, serve
    from agents.app.serving.worker import Worker

    if not isinstance(worker, Worker):
        raise TypeError("a worker is made by make_server")
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[ShutdownMode] = loop.create_future()

    def set_mode(mode: ShutdownMode) -> None:
        if not stop.done():
            stop.set_result(mode)

    def listen() -> None:
        # The supervisor holds the other end: when it dies, however that happens, this ends.
        for line in sys.stdin.buffer:
            if line == MOVE:
                loop.call_soon_threadsafe(set_mode, ShutdownMode.MOVE)
        loop.call_soon_threadsafe(set_mode, ShutdownMode.CLOSE)
        last = threading.Timer(_CLOSE_LIMIT_S, os._exit, args=(0,))
        last.daemon = True
        last.start()

    threading.Thread(target=listen, daemon=True, name="supervisor").start()
    return await serve(worker, stop=stop, registered=lambda: _report_ready(ready))


def _report_ready(ready: int) -> None:
    try:
        os.write(ready, b"registered\n")
    except OSError:  # the supervisor has gone
        return
