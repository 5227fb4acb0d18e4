"""A worker for development: restarted when a file changes, without cutting calls off.

The new worker is started first. Only when it has registered with the LiveKit server does the old
one stop and hand its calls over: each when its agent is not speaking, with its state. If the new
worker does not start, the old one stays.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, TypeVar

from watchfiles import Change, awatch

from agents.app.app import AnyApp
from agents.app.importing import FRAMEWORK
from agents.app.livekit_server import USUAL_PORT, LocalServer
from agents.app.serving.worker_process import MOVE
from agents.app.settings import AppSettings
from agents.app.terminal.signals import on_signals
from agents.app.terminal.stdio import print_error

_WRITTEN = (".json", ".md", ".py", ".yaml", ".yml")
_DEBOUNCE_MS, _STEP_MS = 300, 50
_CLOSE_LIMIT_S = 8.0
_MOVE_LIMIT_S = 20.0
_SERVED, _FAILED = 0, 1

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Watched:
    """The files whose change restarts the worker.

    Args:
        folders: All source files in them, recursively.
        files: Single files, which need not exist.
    """

    folders: Sequence[Path]
    files: Sequence[Path]

    async def watch(self, tell: Callable[[str], None]) -> NoReturn:
        """Report each change by the name of a file, until cancelled."""
        files = {file.absolute() for file in self.files}

        def counts(_: Change, name: str) -> bool:
            path = Path(name)
            within = (path.relative_to(one) for one in self.folders if path.is_relative_to(one))
            return path in files or any(map(_is_source, within))

        async def look(folders: Sequence[Path], *, recursive: bool) -> None:
            async for found in awatch(
                *folders,
                watch_filter=counts,
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                recursive=recursive,
            ):
                tell(min(name for _, name in found))

        # The folder of a single file is watched non-recursively: it may be a whole home directory.
        flat = {file.parent for file in files if file.parent.is_dir()} - set(self.folders)
        async with asyncio.TaskGroup() as group:
            group.create_task(look(self.folders, recursive=True))
            if flat:
                group.create_task(look(sorted(flat), recursive=False))
        raise RuntimeError("file watching has stopped")


class _Child:
    """A worker process."""

    def __init__(self, process: Process, ready: int) -> None:
        self._process = process
        self._ready = ready

    @classmethod
    async def start(cls, target: str, environment: Mapping[str, str]) -> "_Child":
        ready, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "agents.app.serving", target, str(theirs)),
                stdin=PIPE,
                pass_fds=(theirs,),
                env={**os.environ, **environment},
                # Ctrl-C is for us; a child ends when its stdin does, however that happens.
                start_new_session=True,
            )
        except BaseException:
            os.close(ready)
            raise
        finally:
            os.close(theirs)
        return cls(process, ready)

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    async def is_registered(self) -> bool:
        """Wait until it has registered or ended; returns whether it has registered."""
        loop = asyncio.get_running_loop()
        said: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            loop.remove_reader(self._ready)
            if not said.done():
                said.set_result(os.read(self._ready, 100))

        loop.add_reader(self._ready, read)
        try:
            registered = bool(await said)
        finally:
            loop.remove_reader(self._ready)
            os.close(self._ready)
        if not registered:
            await self._process.wait()
        return registered

    async def ended(self) -> int:
        return await self._process.wait()

    async def leave(self) -> None:
        """Have it hand its calls over to the next worker, and end."""
        await self._end(MOVE, _MOVE_LIMIT_S)

    async def close(self) -> None:
        """Have it end, with its calls."""
        await self._end(b"", _CLOSE_LIMIT_S)

    async def _end(self, word: bytes, limit_s: float) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(ConnectionError):
                stdin.write(word)
                await stdin.drain()
            if not word:
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


class ReloadSupervisor:
    """Supervises one worker, and replaces it when a file has changed.

    Args:
        target: What ``python -m agents.app.serving`` serves.
        watched: The files whose change replaces the worker.
        environment: Environment variables of each worker.
    """

    def __init__(
        self,
        target: str,
        watched: Watched,
        environment: Mapping[str, str],
    ) -> None:
        self._target = target
        self._environment = environment
        self._watched = watched
        self._children: set[_Child] = set()
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Run until cancelled; returns the exit code of a first worker that did not start."""
        try:
            current = await self._start()
            if not await current.is_registered():
                return current.exit_code or _FAILED
            print_error("The worker is ready. It restarts when a file changes; Ctrl-C ends it.")
            await self._supervise(current)
        finally:
            for task in self._leaving:
                task.cancel()
            await asyncio.gather(*self._leaving, return_exceptions=True)
            await asyncio.gather(*(child.close() for child in self._children))

    async def _supervise(self, current: _Child) -> NoReturn:
        changed: asyncio.Queue[str] = asyncio.Queue()
        watching = asyncio.create_task(self._watched.watch(changed.put_nowait))
        try:
            while True:
                reason = await _first(changed.get(), current.ended(), asyncio.shield(watching))
                while not changed.empty():
                    changed.get_nowait()
                if isinstance(reason, str):
                    print_error(f"{_short(reason)} has changed: starting a new worker")
                else:
                    print_error(f"The worker exited with code {reason}: starting another")
                following = await self._start()
                if await following.is_registered():
                    self._retire(current)
                    current = following
                    print_error("The new worker is ready.")
                    continue
                self._children.discard(following)
                if current.exit_code is None:
                    print_error("The new worker did not start. The old one keeps running.")
                else:
                    print_error("The new worker did not start. Waiting for the next change.")
                    changed.put_nowait(await _first(changed.get(), asyncio.shield(watching)))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _start(self) -> _Child:
        child = await _Child.start(self._target, self._environment)
        self._children.add(child)
        return child

    def _retire(self, child: _Child) -> None:
        async def leave() -> None:
            await child.leave()
            self._children.discard(child)

        task = asyncio.create_task(leave())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def run_dev(app: AnyApp, *, server: Path | None = None) -> int:
    """Serve rooms during development, until Ctrl-C; returns the exit code.

    The worker restarts when the framework, the application's package, ``.env`` or a file named by
    an option of the application changes.

    Args:
        app: The application.
        server: The program of a LiveKit server to run meanwhile; without it the settings name a
            server.

    Raises:
        SettingsFaults: Everything that is wrong with the settings.
        ServerFaults: The LiveKit server does not start.
    """
    return asyncio.run(_run_dev(app, server))


async def _run_dev(app: AnyApp, server: Path | None) -> int:
    async with AsyncExitStack() as stack:
        stopped = asyncio.Event()
        stack.enter_context(on_signals(stopped.set, "SIGINT", "SIGTERM"))
        if server is not None:
            local = await stack.enter_async_context(LocalServer(server, port=USUAL_PORT))
            os.environ.update(local.environment)
            arguments = app.command.removeprefix("python ")
            words = " ".join(f"{name}={value}" for name, value in local.environment.items())
            print_error(
                f"A LiveKit server runs at {local.url}, on this machine only. To join as a user:",
                f"  {words} {_python()} {arguments} join",
            )
        watched = watched_files(app, app.settings.read_for_rooms())
        # Two workers run side by side for a moment, so each takes a free port.
        ports = {
            app.settings.variable("health_port"): "0",
            app.settings.variable("metrics_port"): "",
        }
        if app.module not in sys.modules:  # a file that is run: its folder is where imports begin
            folders = (sys.path[0], os.environ.get("PYTHONPATH"))
            ports["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        supervisor = ReloadSupervisor(app.path, watched, ports)
        return await _first(supervisor.run(), _when(stopped))


def watched_files(app: AnyApp, settings: AppSettings) -> Watched:
    """Return the files whose change restarts the worker of an application."""
    package = sys.modules.get(app.module, sys.modules["__main__"]).__file__ or ""
    specs = [find_spec(name) for name in FRAMEWORK]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    folders = {*(Path(place).resolve() for place in places), Path(package).resolve().parent}
    named = (getattr(settings, option) for option in app.command_line.options)
    return Watched(
        sorted(folders), [Path(".env"), *(one for one in named if isinstance(one, Path))]
    )


async def _when(stopped: asyncio.Event) -> int:
    await stopped.wait()
    return _SERVED


async def _first(*awaited: Awaitable[_T]) -> _T:
    """Wait for the first of several awaitables, and cancel the others."""
    waiting = [asyncio.ensure_future(one) for one in awaited]
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return next(one for one in waiting if one in done).result()
    finally:
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _is_source(path: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    return path.suffix in _WRITTEN and not hidden


def _short(name: str) -> str:
    path = Path(name)
    with suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return name


def _python() -> str:
    return _short(str(Path(sys.executable).absolute()))
