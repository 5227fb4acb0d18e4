"""Processes of the benchmarks, which log into a file, so that reading the log costs no time."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # comes with livekit-agents, without types

from tests.benchmarks.fresh import ROOT

LIMIT_S = 120.0
"""How long something may take to start, in seconds."""

_LOOK_EVERY_S = 0.02


def worked(pid: int) -> float:
    """Return the processor time of a process so far, in seconds: all threads, in steps of a hundredth."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def worked_by(pids: Iterable[int]) -> float:
    """Return the processor time of these processes together so far, in seconds; of one that ended, none."""
    taken = 0.0
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            taken += worked(pid)
    return taken


class Running:
    """A process, and the file that its stderr goes to."""

    def __init__(self, process: "subprocess.Popen[bytes]", file: Path) -> None:
        self.process = process
        self._file = file

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    @property
    def lines(self) -> list[str]:
        """What it has written so far."""
        return self._file.read_text(errors="replace").splitlines()

    async def says(self, word: str, limit_s: float = LIMIT_S) -> None:
        """Wait until it has written something.

        Raises:
            RuntimeError: It ended or took too long; with what it wrote last.
        """
        deadline = time.monotonic() + limit_s
        while not any(word in line for line in self.lines):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("\n".join(self.lines[-20:]))
            await asyncio.sleep(_LOOK_EVERY_S)


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str], file: Path
) -> Iterator[Running]:
    """Run a Python process for a while, in a session of its own: all of it is gone afterwards.

    Args:
        command: What follows the interpreter.
        environment: All of its environment.
        file: Where its stderr goes.
    """
    with file.open("wb") as words:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,
        )
    try:
        yield Running(process, file)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
