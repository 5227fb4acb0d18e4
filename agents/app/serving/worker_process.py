"""Runs a worker as a process, alone or as the child of a supervisor."""

import asyncio
import os
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import TYPE_CHECKING

from agents.app.app import AnyApp, Environment, load_app
from agents.app.declaration import named_faults
from agents.app.faults import InputError
from agents.app.importing import gc_paused, is_installed, missing_extra
from agents.app.serving.logs import log_as_worker
from agents.app.setting_values import OPENAI_MODELS
from agents.app.settings import AppSettings, SettingsFaults

if TYPE_CHECKING:
    from agents.app.serving.worker import Worker

_CLOSE_LIMIT_S = 6.0
"""How long a worker may run after its supervisor has ended, in seconds."""

_END_LIMIT_S, _MOVE_LIMIT_S = 8.0, 20.0
"""How long a supervised worker may take to end, and to hand its calls over, in seconds."""

MOVE = b"move\n"
"""The message by which a supervisor has a worker hand its calls over to the next worker."""


def run_worker(app: AnyApp, *, ready: int | None = None) -> int:
    """Serve an application's rooms until a signal; returns the exit code.

    Args:
        app: The application.
        ready: Under a supervisor, the file descriptor to write to when the worker has registered;
            stdin then stops the worker: by ``MOVE``, or by its end.

    Raises:
        InputError: Everything that is wrong with the settings, or the language models of local
            speech-to-text cannot be made.
    """
    from agents.app.models.speech import language_models_of

    settings = checked_settings(app)
    log_as_worker(settings.secrets, application=app.package, plain=ready is not None)
    # Built before the job processes start: on a busy machine this takes longer than their start may.
    language_models_of(app, app.make_context(Environment.of(settings)), settings)
    # Imported late: it takes a second, which the report of faults would have to wait for.
    with gc_paused():
        from agents.app.serving.app_worker import make_app_worker

        worker = make_app_worker(app, settings)
    with ExitStack() as contexts:
        with named_faults("worker.serving", settings.secrets):
            contexts.enter_context(app.worker.serving(settings))
        if settings.metrics_port is not None:
            from agents.app.turn_metrics import turns_counted

            contexts.enter_context(turns_counted(app.prefix))
        return asyncio.run(_serve(worker, ready))


def run_worker_of(target: str, *, ready: int | None = None) -> int:
    """Serve an application, named as ``module:NAME``, or the ``server`` of a module.

    Args:
        target: The module.
        ready: As for ``run_worker``.
    """
    if ":" in target:
        return run_worker(load_app(target), ready=ready)
    with gc_paused():
        worker = import_module(target).server
    log_as_worker(worker.settings.secrets, application=worker.application, plain=ready is not None)
    return asyncio.run(_serve(worker, ready))


def checked_settings(app: AnyApp, **options: object) -> AppSettings:
    """Read the settings, and check everything that a call needs, including the database.

    Args:
        app: The application.
        options: Command-line options by name; ``None`` means not given.

    Raises:
        SettingsFaults: All faults of the settings, of the files they name, and of the database.
    """
    from agents.app.models.speech_settings import worker_settings

    faults: list[str] = []
    settings = None
    found = app.settings.usable(**options)
    agents = app.agents.agents if found is not None and found[0].tts_voices else ()
    try:
        settings = worker_settings(app.settings, agents=agents, **options)
    except SettingsFaults as wrong:
        faults += wrong.faults
    if found is not None:
        faults += _call_faults(app, *found)
    if settings is None or faults:
        raise SettingsFaults(faults)
    return settings


def _call_faults(app: AnyApp, settings: AppSettings, wrong: Collection[str]) -> list[str]:
    """List the faults of the files that the settings name, and of the database."""
    from agents.app.states import list_states, open_store

    faults: list[str] = []
    if not wrong & app.command_line.options.keys():
        try:
            context = app.make_context(Environment.of(settings))
            app.rehearse(context)
        except InputError as error:
            faults += error.faults
    faults += [
        f"worker.preload: there is no module {name}"
        for name in app.worker.preload
        if not is_installed(name)
    ]
    if settings.model in OPENAI_MODELS and (message := missing_extra("openai", ("openai",))):
        faults.append(f"--model {settings.model}: {message}")
    if "database" in wrong:
        return faults

    async def look() -> None:
        async with open_store(app, settings.database, None) as store:
            await list_states(app, store, 1)

    try:
        asyncio.run(look())
    except InputError as error:
        faults += error.faults
    return faults


async def _serve(worker: "Worker", ready: int | None) -> int:
    from agents.app.serving.lifecycle import ShutdownMode, serve

    if ready is None:
        return await serve(worker)
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[ShutdownMode] = loop.create_future()

    def set_mode(mode: ShutdownMode) -> None:
        if not stop.done():
            stop.set_result(mode)

    def listen() -> None:
        # The supervisor holds the other end of the pipe, so stdin ends when it dies.
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
    with suppress(OSError):  # the supervisor has ended
        os.write(ready, b"registered\n")


def how_ended(code: int) -> str:
    """Say how a process has ended, by its exit code as ``subprocess`` reports it.

    >>> how_ended(1), how_ended(-9)
    ('with exit code 1', 'by SIGKILL')
    """
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


class WorkerChild:
    """A worker in a process of its own, which ends when this one does."""

    def __init__(self, process: Process, ready: int) -> None:
        self._process = process
        self._ready = ready

    @classmethod
    async def start(cls, target: str, environment: Mapping[str, str]) -> "WorkerChild":
        """Start a worker.

        Args:
            target: The argument of ``python -m agents.app.serving``.
            environment: Environment variables in addition to those of this process.
        """
        ready, child_end = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "agents.app.serving", target, str(child_end)),
                stdin=PIPE,
                pass_fds=(child_end,),
                env={**os.environ, **environment},
                # Ctrl-C is for this process only; a child ends when its stdin ends.
                start_new_session=True,
            )
        except BaseException:  # also a cancellation: the pipe would stay open
            os.close(ready)
            raise
        finally:
            os.close(child_end)
        return cls(process, ready)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self._process.returncode

    async def is_registered(self) -> bool:
        """Wait until it has registered or ended; returns whether it has registered."""
        loop = asyncio.get_running_loop()
        received: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            loop.remove_reader(self._ready)
            if not received.done():
                received.set_result(os.read(self._ready, 100))

        loop.add_reader(self._ready, read)
        try:
            registered = bool(await received)
        finally:
            loop.remove_reader(self._ready)
            os.close(self._ready)
        if not registered:
            await self._process.wait()
        return registered

    async def ended(self) -> int:
        """Wait until the process has ended; returns its exit code."""
        return await self._process.wait()

    async def leave(self) -> None:
        """Have the worker hand its calls over to the next worker, and end."""
        await self._end(MOVE, _MOVE_LIMIT_S)

    async def close(self) -> None:
        """End the worker and its calls."""
        await self._end(b"", _END_LIMIT_S)

    async def _end(self, message: bytes, limit_s: float) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(ConnectionError):
                stdin.write(message)
                await stdin.drain()
            if not message:
                stdin.close()
        try:
            async with asyncio.timeout(limit_s):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        finally:
            if stdin is not None:
                stdin.close()


def child_environment(app: AnyApp) -> dict[str, str]:
    """Return the environment variables of a worker that may run beside another one: each takes free ports."""
    variables = {
        app.settings.variable("health_port"): "0",
        app.settings.variable("metrics_port"): "",
    }
    if app.module not in sys.modules:  # the application is a script: its folder is on the path
        folders = (sys.path[0], os.environ.get("PYTHONPATH"))
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    return variables
