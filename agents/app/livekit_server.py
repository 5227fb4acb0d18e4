"""Runs a LiveKit server for development and tests, on loopback only, until its owner's process ends.

It needs the server's program. It is not for production: its keys are public.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from json import dumps
from pathlib import Path
from typing import IO, Any

from agents.app.faults import InputError

API_KEY = "local-development"
API_SECRET = "local-development-only-this-secret-is-public"
"""The keys of a server that only this machine can reach; a worker refuses them for any other
address."""

USUAL_PORT = 7880

_PROGRAM = "livekit-server"
_ROOT = Path(__file__).parents[2]
_BUILT = _ROOT / ".tools" / _PROGRAM

HOW_TO_GET = (
    "make .tools/livekit-server builds it"
    if (_ROOT / "Makefile").is_file()  # a clone, not an installed package
    else "https://github.com/livekit/livekit/releases has it"
)
"""How to get the program, for messages."""

_HOST = "127.0.0.1"

_ROOM = {"auto_create": True, "empty_timeout": 30, "departure_timeout": 5}
"""The options of rooms: how long an empty room is kept before anyone joins, and after the last left."""

_HEALTHY_LIMIT_S = 20.0
"""How long a starting server may take until its health check answers, in seconds."""

_STOP_LIMIT_S = 1.0
"""How long it may take to stop, in seconds; a server that has just started ignores the signal."""

_POLL_S = 0.03
_LOOK_S = 0.5
"""How often a server that runs is looked at, in seconds."""
_ATTEMPTS = 5
_LAST_LINES = 5

# The shell process becomes the server, in a process group of its own. A watcher beside it reads a
# pipe from this process: when this process ends, even by a kill, the pipe ends and the watcher ends
# the group. After only one signal a server waits for its participants to leave.
_START_WATCHED = """
exec 3<&0
( trap '' INT TERM HUP; cat <&3 >/dev/null; kill -INT 0; kill -TERM 0; sleep 3; kill -KILL 0 ) &
exec "$@" </dev/null 3<&-
"""


class ServerFaults(InputError):
    """The server's program is missing, or the server does not start."""


def find_program() -> Path | None:
    """Return the program of a LiveKit server: the one built here, or one on the ``PATH``."""
    if _BUILT.is_file():
        return _BUILT
    found = shutil.which(_PROGRAM)
    return Path(found) if found else None


def program_of(named: Path | None) -> Path:
    """Return the program of a LiveKit server: the one that is named, or one that is found.

    Raises:
        ServerFaults: None is found, or the named file is not a program.
    """
    program = named or find_program()
    if program is None:
        raise ServerFaults(
            [
                "There is no LiveKit server: set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET,"
                f" put {_PROGRAM} on the PATH, or name it by --server FILE ({HOW_TO_GET})."
            ]
        )
    if not program.exists():
        raise ServerFaults([f"--server: there is no file {program} ({HOW_TO_GET})"])
    if program.is_dir() or not os.access(program, os.X_OK):
        raise ServerFaults([f"--server: {program} is no program of a LiveKit server"])
    return program


class LocalServer:
    """A LiveKit server on loopback, as a context manager, asynchronous or not.

    Within the context it may be stopped, killed and started again; it keeps its ports and loses its
    rooms.

    Args:
        program: The server's program.
        port: The port of its address, if it is free; else any free one.
    """

    api_key = API_KEY
    api_secret = API_SECRET

    def __init__(self, program: Path, *, port: int | None = None) -> None:
        self._program = program
        self._wanted_port = port
        self._ports: tuple[int, int] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._given_up = False

    @property
    def url(self) -> str:
        """The address for clients and workers, once it has been started."""
        if self._ports is None:
            raise RuntimeError("the server has not been started yet")
        return f"ws://{_HOST}:{self._ports[0]}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables for its clients, by LiveKit's own names."""
        return {
            "LIVEKIT_URL": self.url,
            "LIVEKIT_API_KEY": self.api_key,
            "LIVEKIT_API_SECRET": self.api_secret,
        }

    @property
    def running(self) -> bool:
        """Whether its process is running."""
        return self._process is not None and self._process.poll() is None

    async def ended(self) -> int:
        """Wait until its process has ended by itself; returns its exit code."""
        while self.running:  # noqa: ASYNC110 - nothing reports the end of a Popen
            await asyncio.sleep(_LOOK_S)
        return self._process.returncode if self._process is not None else 0

    def start(self) -> None:
        """Start it, and wait until its health check answers.

        Raises:
            ServerFaults: It does not start; with the last lines of its log.
        """
        self._given_up = False
        attempts = _ATTEMPTS if self._ports is None else 1
        log = ""
        for attempt in range(attempts):
            # Another process may take a port between the check and the server's start.
            ports = self._ports or _free_ports(self._wanted_port if attempt == 0 else None)
            self._launch(ports)
            if self._is_healthy(ports[0]):
                self._ports = ports
                return
            log = self._last_log_lines()
            self.kill()
            if self._given_up:
                return
        raise ServerFaults([f"{self._program} does not start: {log}"])

    def stop(self) -> None:
        """Stop it with its rooms, and wait until it has ended."""
        # After one signal the server waits for its last participant to leave; a second one ends that.
        self._signal(signal.SIGINT)
        self._signal(signal.SIGTERM)
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_LIMIT_S)
        self.kill()

    def kill(self) -> None:
        """Kill it, as a crash would."""
        self._signal(signal.SIGKILL)
        process, self._process = self._process, None
        if process is not None:
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> "LocalServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> "LocalServer":
        starting = asyncio.create_task(asyncio.to_thread(self.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._given_up = True
            with suppress(ServerFaults):
                await starting
            self.kill()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def _launch(self, ports: tuple[int, int]) -> None:
        self._log = tempfile.TemporaryFile(prefix="livekit-server-")
        # A minimal environment: this process's own may hold settings of another server.
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        # The configuration goes into the environment since arguments are visible to everyone on the
        # machine.
        environment["LIVEKIT_CONFIG"] = dumps(self._config(*ports))
        try:
            self._process = subprocess.Popen(
                ["sh", "-c", _START_WATCHED, "sh", str(self._program.absolute())],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            self.kill()
            raise ServerFaults([f"{self._program} cannot be run: {error.strerror}"]) from None

    def _config(self, port: int, udp_port: int) -> dict[str, Any]:
        """Configure livekit-server 1.13.5 so that it is reachable, and reaches out, on loopback only."""
        return {
            "port": port,
            "bind_addresses": [_HOST],
            "keys": {self.api_key: self.api_secret},
            "rtc": {
                "tcp_port": 0,  # its listener would bind every interface
                "udp_port": udp_port,
                "use_external_ip": False,
                "node_ip": _HOST,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": _loopback_interfaces()},
                "stun_servers": [f"{_HOST}:3478"],  # by default it asks public servers
            },
            "turn": {"enabled": False},
            "room": _ROOM,
            "logging": {"level": "warn", "json": True},
        }

    def _is_healthy(self, port: int) -> bool:
        deadline = time.monotonic() + _HEALTHY_LIMIT_S
        while self.running and not self._given_up and time.monotonic() < deadline:
            connection = HTTPConnection(_HOST, port, timeout=1)
            with suppress(OSError, HTTPException):
                connection.request("GET", "/")
                if connection.getresponse().status == 200:
                    connection.close()
                    return self.running
            connection.close()
            time.sleep(_POLL_S)
        return False

    def _last_log_lines(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return "\n".join(lines[-_LAST_LINES:]) or "its log is empty"

    def _signal(self, number: int) -> None:
        # The watcher is in the group, so the group's id cannot be reused before it ends.
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _loopback_interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")]


def _free_ports(wanted: int | None) -> tuple[int, int]:
    """Find a free TCP port for the address and a free UDP port for media."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        udp.bind((_HOST, 0))
        try:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tcp.bind((_HOST, wanted or 0))
        except OSError:
            tcp.bind((_HOST, 0))
        return tcp.getsockname()[1], udp.getsockname()[1]
