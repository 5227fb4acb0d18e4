"""A worker for development: restarted when a file changes, without cutting calls off.

The new worker starts first. When it has registered with the LiveKit server, the old worker stops and
hands its calls over, each with its state and when its agent is not speaking. If the new worker does
not start, the old one keeps running.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from watchfiles import Change, awatch

from agents.app.app import AnyApp, Environment
from agents.app.background import BackgroundTasks, first
from agents.app.faults import short_path
from agents.app.importing import FRAMEWORK
from agents.app.livekit_server import USUAL_PORT, LocalServer
from agents.app.models.speech import language_models_of
from agents.app.models.speech_settings import (
    LOCAL_SPEECH_NOTE,
    REALTIME_NOTE,
    missing_for_speech,
    model_hears,
    stt_provider,
    tts_provider,
    uses_local,
)
from agents.app.serving.worker_process import WorkerChild, child_environment, how_ended
from agents.app.settings import AppSettings
from agents.app.terminal.signals import on_signals
from agents.app.terminal.stdio import print_error

_WRITTEN = (".json", ".md", ".py", ".yaml", ".yml")
_DEBOUNCE_MS, _STEP_MS = 300, 50
_FAILED = 1


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

        # The folder of a single file is not watched recursively: it may be a home directory.
        flat = {file.parent for file in files if file.parent.is_dir()} - set(self.folders)
        async with asyncio.TaskGroup() as group:
            group.create_task(look(self.folders, recursive=True))
            if flat:
                group.create_task(look(sorted(flat), recursive=False))
        raise RuntimeError("file watching has stopped")


class ReloadSupervisor:
    """Supervises one worker, and replaces it when a file has changed.

    Args:
        target: The argument of ``python -m agents.app.serving``.
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
        self._children: set[WorkerChild] = set()
        self._leaving = BackgroundTasks("old worker not ended")

    async def run(self) -> int:
        """Run until cancelled; returns the exit code of the first worker if it does not start."""
        try:
            current = await self._start()
            if not await current.is_registered():
                return current.exit_code or _FAILED
            print_error("The worker is ready. It restarts when a file changes; Ctrl-C ends it.")
            await self._supervise(current)
        finally:
            await self._leaving.aclose()
            await asyncio.gather(*(child.close() for child in self._children))

    async def _supervise(self, current: WorkerChild) -> NoReturn:
        changed: asyncio.Queue[str] = asyncio.Queue()
        watching = asyncio.create_task(self._watched.watch(changed.put_nowait))
        try:
            while True:
                reason = await first(changed.get(), current.ended(), asyncio.shield(watching))
                while not changed.empty():
                    changed.get_nowait()
                if isinstance(reason, str):
                    print_error(f"{short_path(Path(reason))} has changed: starting a new worker")
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
                    changed.put_nowait(await first(changed.get(), asyncio.shield(watching)))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _start(self) -> WorkerChild:
        child = await WorkerChild.start(self._target, self._environment)
        self._children.add(child)
        return child

    def _retire(self, child: WorkerChild) -> None:
        async def leave() -> None:
            await child.leave()
            self._children.discard(child)

        self._leaving.spawn(leave())


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
        hearing = prepare_speech(app)
        local = None
        if server is not None:
            local = await stack.enter_async_context(LocalServer(server, port=USUAL_PORT))
            os.environ.update(local.environment)
            arguments = app.command.removeprefix("python ")
            words = " ".join(f"{name}={value}" for name, value in local.environment.items())
            print_error(
                f"A LiveKit server runs at {local.url}, on this machine only. To join as a user:",
                f"  {words} {short_path(Path(sys.executable))} {arguments} join{' --speech' if hearing else ''}",
            )
        watched = watched_files(app, app.settings.read_for_rooms())
        supervisor = ReloadSupervisor(app.path, watched, child_environment(app))
        ends: list[Coroutine[Any, Any, int]] = [supervisor.run(), stopped.wait()]
        if local is not None:
            ends.append(_server_ended(local))
        code = await first(*ends)
        return 0 if stopped.is_set() else code


async def _server_ended(server: LocalServer) -> int:
    """Wait until the LiveKit server ends, and say so; returns the exit code."""
    print_error(f"The LiveKit server has ended {how_ended(await server.ended())}.")
    return _FAILED


def prepare_speech(app: AnyApp) -> bool:
    """Build the models of local speech before the first call; returns whether rooms have speech.

    Raises:
        InputError: A model cannot be built.
    """
    settings = app.settings.read()
    if missing_for_speech(settings):
        return False
    if model_hears(settings):
        print_error(f"Note: {REALTIME_NOTE}.")
    if uses_local(settings):
        heard, spoken = stt_provider(settings), tts_provider(settings)
        print_error(
            f"Speech-to-text: {heard}; text-to-speech: {spoken}. Note: {LOCAL_SPEECH_NOTE}."
        )
        language_models_of(app, app.make_context(Environment.of(settings)), settings)
    return True


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


def _is_source(path: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    return path.suffix in _WRITTEN and not hidden
