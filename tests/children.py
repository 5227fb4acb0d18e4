"""The processes that a test has started, so that none of them outlives it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

_recording = False
_started: list["subprocess.Popen[Any]"] = []
_awaited: list[asyncio.subprocess.Process] = []
"""Those of them that an event loop waits for."""

_popen = subprocess.Popen.__init__
_create_subprocess_exec = asyncio.create_subprocess_exec


def _record(process: "subprocess.Popen[Any]", *arguments: Any, **options: Any) -> None:
    _popen(process, *arguments, **options)
    if _recording:
        _started.append(process)


async def _record_awaited(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
    process = await _create_subprocess_exec(*arguments, **options)
    if _recording:
        _awaited.append(process)
    return process


def install() -> None:
    """Record every process that this one starts from now on, while ``recorded`` says so."""
    subprocess.Popen.__init__ = _record  # type: ignore[method-assign, assignment]
    asyncio.create_subprocess_exec = _record_awaited


@contextmanager
def recorded(on: bool) -> Iterator[None]:
    """Record the processes that are started in the body, or do not."""
    global _recording
    before, _recording = _recording, on
    try:
        yield
    finally:
        _recording = before


async def end_awaited() -> list[str]:
    """End the recorded processes that the running loop waits for; returns those that still ran."""
    left = [process for process in _awaited if process.returncode is None]
    for process in _awaited:
        process._transport.close()  # type: ignore[attr-defined]
        await process.wait()
    _awaited.clear()
    return [f"process {process.pid}" for process in left]


def end() -> list[str]:
    """End the recorded processes and what is in their sessions; returns those that still ran.

    The LiveKit server of the applications under test serves the tests that follow as well.
    """
    shared = _shared_server()
    left = [one for one in _started if one is not shared and one.poll() is None]
    for process in left:
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
    for process in _started:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and process is not shared:
                with suppress(BrokenPipeError):
                    pipe.close()
    _started.clear()
    return [f"process {process.pid}: {process.args!r}" for process in left]


def _shared_server() -> "subprocess.Popen[Any] | None":
    testing = sys.modules.get("agents.app.testing")
    if testing is None or not testing._livekit_server.cache_info().currsize:
        return None
    server = testing._livekit_server()
    return cast("subprocess.Popen[Any] | None", server._process)
