"""A worker that another process starts and ends."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress

from agents.app.app import AnyApp
from agents.app.serving.worker_process import MOVE

_CLOSE_LIMIT_S = 8.0
_MOVE_LIMIT_S = 20.0


class WorkerChild:
    """A worker in a process of its own, which ends when this one does."""

    def __init__(self, process: Process, ready: int) -> None:
        self._process = process
        self._ready = ready

    @classmethod
    async def start(cls, target: str, environment: Mapping[str, str]) -> "WorkerChild":
        """Start a worker.

        Args:
            target: What ``python -m agents.app.serving`` serves.
            environment: Environment variables beside ours.
        """
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
        except BaseException:  # cancelled too: the pipe would stay open
            os.close(ready)
            raise
        finally:
            os.close(theirs)
        return cls(process, ready)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, once it has ended."""
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
        """Wait for its end; returns the exit code."""
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


def child_environment(app: AnyApp) -> dict[str, str]:
    """Return the environment variables of a worker that may run beside another one."""
    # Two workers may run side by side, so each takes a free port.
    variables = {
        app.settings.variable("health_port"): "0",
        app.settings.variable("metrics_port"): "",
    }
    if app.module not in sys.modules:  # a file that is run: its folder is where imports begin
        folders = (sys.path[0], os.environ.get("PYTHONPATH"))
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    return variables
