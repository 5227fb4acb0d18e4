"""Workers as processes, for tests: started, listened to, and gone when the test is over."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from livekit import rtc

from tests.livekit import Client, LiveKit, until

ROOT = Path(__file__).parents[4]
SMALL_APP = "tests.agents.app.serving.small_app"

REGISTERED = "registered"

# A machine with two cores and many tests takes its time.
LONG_S = 90.0

_OURS = ("LIVEKIT_", "BELLA_VISTA_", "OPENAI_")


def clean_environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing is set but this, and whose user has this folder for a home."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(_OURS)}
    own = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "BELLA_VISTA_HEALTH_PORT": "0"}
    return {**kept, **own, "BELLA_VISTA_DATABASE": f"sqlite:///{folder}/orders.db", **more}


class Running:
    """A process, and what it has written to stderr so far.

    Args:
        process: Was started with stderr as a pipe of text.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self) -> None:
        for line in self.process.stderr or ():
            self.lines.append(line.rstrip("\n"))

    def what_happened(self) -> str:
        """Return what it has written, and its exit code if it has ended."""
        return f"{self.text}\nexit code: {self.process.poll()}"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def logged(self) -> list[dict[str, Any]]:
        """The lines, each of which is JSON."""
        return [json.loads(line) for line in self.lines]

    async def says(self, text: str, seconds: float = LONG_S, times: int = 1) -> None:
        await until(
            lambda: self.text.count(text) >= times or self.process.poll() is not None,
            seconds,
            f"{text!r} in the log",
        )
        if self.process.poll() is not None:
            self._reader.join(5)
        assert self.text.count(text) >= times, self.text

    def close(self) -> None:
        """Wait for its end, and let nothing be left of it."""
        self.process.wait()
        self._reader.join()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    async def ends(self, seconds: float = LONG_S) -> int:
        """Wait for its end; returns the exit code."""
        await until(lambda: self.process.poll() is not None, seconds, "the end of the process")
        self._reader.join(5)
        return self.process.returncode


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str], folder: Path = ROOT
) -> Iterator[Running]:
    """Run a Python process for a while, in a session of its own: all of it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    running = Running(process)
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        running.close()


class Deployment:
    """A LiveKit server and a name that only this test's workers go by.

    Args:
        livekit: The server.
        folder: Where the test's files are.
    """

    def __init__(self, livekit: LiveKit, folder: Path) -> None:
        self.livekit = livekit
        self.folder = folder
        self.agent = f"agent-{token_hex(4)}"
        self.given_up = folder / "given_up"

    def environment(self, **more: str) -> dict[str, str]:
        own = {
            **self.livekit.environment,
            "BELLA_VISTA_AGENT_NAME": self.agent,
            "BELLA_VISTA_IDLE": "1",
            "TEST_GIVEN_UP": str(self.given_up),
        }
        return clean_environment(self.folder, **{**own, **more})

    @contextmanager
    def starting(self, **more: str) -> Iterator[Running]:
        """A worker that is about to register."""
        command = ("-m", "agents.app.serving", SMALL_APP)
        with started(command, self.environment(**more)) as running:
            yield running

    @asynccontextmanager
    async def worker(self, **more: str) -> AsyncIterator[Running]:
        """A worker that has registered."""
        with self.starting(**more) as running:
            await running.says(REGISTERED)
            yield running

    async def send(self, room: str, **metadata: Any) -> None:
        """Send for an agent."""
        await self.livekit.dispatch(room, metadata, agent=self.agent)


async def answer(
    client: Client, *, but: str | None = None, seconds: float = LONG_S
) -> dict[str, Any]:
    """Ask for the room's agent, other than that job, until one answers; returns its answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for agent in reversed(client.agents()):
            if agent.identity == f"agent-{but}":
                continue
            with suppress(rtc.RpcError):
                return await client.call("who", to=agent.identity, timeout_s=1)
        await asyncio.sleep(0.02)
    raise AssertionError(f"no agent answers\n{client.what_happened()}")


def alive(pid: int) -> bool:
    """Whether a process lives; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        with suppress(OSError):
            os.kill(pid, 0)
            return not Path("/proc").is_dir()
        return False
    return state != "Z"


def living(pids: Iterable[int]) -> dict[int, str]:
    """Those of the processes that live, with their commands."""
    found = dict.fromkeys(filter(alive, pids), "")
    for pid in found:
        with suppress(OSError):  # no /proc here, or it ended
            found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    return found


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have, as far as they live."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    parents = {int(one): int(of) for one, of in map(str.split, listed.stdout.splitlines())}
    found = {pid}
    while more := {one for one, of in parents.items() if of in found} - found:
        found |= more
    return {one for one in found - {pid} if alive(one)}


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
