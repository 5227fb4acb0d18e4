"""A worker as a process of its own: from the settings to the exit code."""

import asyncio
import os
import sys
import threading
from collections.abc import Collection, Iterable
from importlib import import_module

from bella_vista.importing import uncollected
from bella_vista.menus import good_menu_kept, menu_file
from bella_vista.serving.logs import log_as_worker
from bella_vista.settings import ServingSettings, Settings, SettingsFaults, usable_settings

APP = "bella_vista.app"
"""The module whose ``server`` takes the calls."""

_CLOSE_LIMIT_S = 6.0
"""How long a worker lives whose supervisor is gone, in seconds."""

MOVE = b"move\n"
"""What a supervisor writes to a worker that shall leave its calls to the next one."""


def run_worker(module: str = APP, *, ready: int | None = None) -> int:
    """Serve rooms until a signal says that it is enough; returns the exit code.

    Args:
        module: Holds the ``server``.
        ready: Under a supervisor, the file that is told when the worker has registered; stdin then says when it is
            enough: by ``MOVE``, or by its end.

    Raises:
        SettingsFaults: Everything that is wrong with the settings.
    """
    settings = checked_settings()
    log_as_worker(settings.secrets, plain=ready is not None)
    # Imported only now: what it takes a second to import need not be there to say what is wrong.
    with uncollected():
        from bella_vista.serving.worker import Worker
        from bella_vista.serving.working import serve

        worker = import_module(module).server
    if not isinstance(worker, Worker):
        raise TypeError(f"{module}.server was not made by make_server")
    with good_menu_kept(settings.menu):
        return asyncio.run(serve(worker) if ready is None else _serve_supervised(worker, ready))


def checked_settings(**options: object) -> ServingSettings:
    """Read the settings and try what every call will need: better no worker than one whose every call fails.

    Args:
        options: What was given on the command line, by name; ``None`` is not given.

    Raises:
        SettingsFaults: Everything that is wrong with them, with the menu and with the database.
    """
    from bella_vista.speech_models import speaking_settings

    faults: list[str] = []
    settings = None
    found = usable_settings(**options)
    agents = _voices() if found is not None and found[0].tts_voices else ()
    try:
        settings = speaking_settings(agents=agents, **options)
    except SettingsFaults as wrong:
        faults += wrong.faults
    if found is not None:
        faults += _faults_of_calls(*found)
    if settings is None or faults:
        raise SettingsFaults(faults)
    return settings


def _voices() -> Iterable[str]:
    from agents.roster import restaurant_graph

    return restaurant_graph().agents


def _faults_of_calls(settings: Settings, wrong: Collection[str]) -> list[str]:
    """Say what is wrong with the menu and the database, where it is known which are meant."""
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
    from bella_vista.serving.worker import Worker
    from bella_vista.serving.working import Ending, serve

    if not isinstance(worker, Worker):
        raise TypeError("a worker is made by make_server")
    loop = asyncio.get_running_loop()
    told: asyncio.Future[Ending] = loop.create_future()

    def tell(ending: Ending) -> None:
        if not told.done():
            told.set_result(ending)

    def listen() -> None:
        # The supervisor holds the other end: when it is gone, however it went, this ends.
        for line in sys.stdin.buffer:
            if line == MOVE:
                loop.call_soon_threadsafe(tell, Ending.MOVE)
        loop.call_soon_threadsafe(tell, Ending.CLOSE)
        last = threading.Timer(_CLOSE_LIMIT_S, os._exit, args=(0,))
        last.daemon = True
        last.start()

    threading.Thread(target=listen, daemon=True, name="supervisor").start()
    return await serve(worker, told=told, registered=lambda: _say(ready))


def _say(ready: int) -> None:
    try:
        os.write(ready, b"registered\n")
    except OSError:  # nobody waits for it any more
        return
