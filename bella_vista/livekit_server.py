"""A LiveKit server on this machine, for developing and for the tests: on loopback only, and gone when its owner is.

It needs the server's program, which ``make .tools/livekit-server`` builds. It is no server for guests: its
keys stand here for everybody to read.
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
from types import TracebackType
from typing import IO, Any

from bella_vista.faults import Faulty

API_KEY = "bella-vista-development"
API_SECRET = "everybody-knows-this-one-so-it-guards-nothing"
"""The keys of a server that only this machine reaches; a worker must refuse them anywhere else."""

HOW_TO_GET_IT = "make .tools/livekit-server"

USUAL_PORT = 7880

_BUILT = Path(__file__).parent.parent / ".tools" / "livekit-server"
_PROGRAM = "livekit-server"
_HOST = "127.0.0.1"

_HEALTHY_LIMIT_S = 20.0
"""How long a starting server may take until it answers that it is well, in seconds."""

_STOP_LIMIT_S = 1.0
"""How long it may take to say goodbye, in seconds; one that has just started does not hear that it should."""

_LOOK_EVERY_S = 0.03
_ATTEMPTS = 5
_LAST_LINES = 5

# The server becomes the process that was started, in a group of its own. Beside it a watcher holds the other
# end of a pipe of ours: when we are gone, however we went, the pipe ends and the whole group with it.
# The first signal alone lets a server wait for its guests to leave.
_WATCHED = """
exec 3<&0
( trap '' INT TERM HUP; cat <&3 >/dev/null; kill -INT 0; kill -TERM 0; sleep 3; kill -KILL 0 ) &
exec "$@" </dev/null 3<&-
"""


class ServerFaults(Faulty):
    """There is no server's program, or it does not start."""


def find_program() -> Path | None:
    """Find the program of a LiveKit server: the one built here, or one on the ``PATH``."""
    if _BUILT.is_file():
        return _BUILT
    found = shutil.which(_PROGRAM)
    return Path(found) if found else None


class LocalServer:
    """A LiveKit server that only this machine reaches, as a context manager, asynchronous or not.

    It may be stopped, killed and started again within; it keeps its ports and forgets its rooms.

    Args:
        program: The server's program.
        port: The port of its address, where it is free; any free one without it.
        empty_timeout_s: How long it keeps a room that nobody has joined, in seconds.
        departure_timeout_s: How long it keeps a room after the last guest has left, in seconds.
    """

    api_key = API_KEY
    api_secret = API_SECRET

    def __init__(
        self,
        program: Path,
        *,
        port: int | None = None,
        empty_timeout_s: int = 30,
        departure_timeout_s: int = 5,
    ) -> None:
        self._program = program
        self._room = {
            "auto_create": True,
            "empty_timeout": empty_timeout_s,
            "departure_timeout": departure_timeout_s,
        }
        self._wanted_port = port
        self._ports: tuple[int, int] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._given_up = False

    @property
    def url(self) -> str:
        """Where clients and workers find it, once it has been started."""
        if self._ports is None:
            raise RuntimeError("the server has not been started yet")
        return f"ws://{_HOST}:{self._ports[0]}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The settings, by LiveKit's own names, of whoever wants to talk to it."""
        return {
            "LIVEKIT_URL": self.url,
            "LIVEKIT_API_KEY": self.api_key,
            "LIVEKIT_API_SECRET": self.api_secret,
        }

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and wait until it is well.

        Raises:
            ServerFaults: It does not start; with what it said last.
        """
        self._given_up = False
        attempts = _ATTEMPTS if self._ports is None else 1
        said = ""
        for attempt in range(attempts):
            # Between looking for free ports and taking them another process may have taken them.
            ports = self._ports or _free_ports(self._wanted_port if attempt == 0 else None)
            self._launch(ports)
            if self._is_well(ports[0]):
                self._ports = ports
                return
            said = self._last_words()
            self.kill()
            if self._given_up:
                return
        raise ServerFaults([f"{self._program} does not start: {said}"])

    def stop(self) -> None:
        """Stop it, rooms and all, and wait until it is gone."""
        # What is told before the last guest has left only makes it wait for him, so it is told twice.
        self._signal(signal.SIGINT)
        self._signal(signal.SIGTERM)
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_LIMIT_S)
        self.kill()

    def kill(self) -> None:
        """End it as a crash does: nobody is told."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _launch(self, ports: tuple[int, int]) -> None:
        self._log = tempfile.TemporaryFile(prefix="livekit-server-")
        # Nothing of our environment but what a program needs: it may name another server's settings.
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        # In the environment and not in an argument: arguments are shown to everybody on the machine.
        environment["LIVEKIT_CONFIG"] = dumps(self._config(*ports))
        try:
            self._process = subprocess.Popen(
                ["sh", "-c", _WATCHED, "sh", str(self._program.absolute())],
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
        """Write what livekit-server 1.13.5 needs to reach nothing and be reached by nobody outside."""
        return {
            "port": port,
            "bind_addresses": [_HOST],
            "keys": {self.api_key: self.api_secret},
            "rtc": {
                "tcp_port": 0,  # its listener would take every interface
                "udp_port": udp_port,
                "use_external_ip": False,
                "node_ip": _HOST,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": _loopback_interfaces()},
                "stun_servers": [f"{_HOST}:3478"],  # without one, public servers would be asked
            },
            "turn": {"enabled": False},
            "room": self._room,
            "logging": {"level": "warn", "json": True},
        }

    def _is_well(self, port: int) -> bool:
        deadline = time.monotonic() + _HEALTHY_LIMIT_S
        while self.running and not self._given_up and time.monotonic() < deadline:
            connection = HTTPConnection(_HOST, port, timeout=1)
            with suppress(OSError, HTTPException):
                connection.request("GET", "/")
                if connection.getresponse().status == 200:
                    connection.close()
                    return self.running
            connection.close()
            time.sleep(_LOOK_EVERY_S)
        return False

    def _last_words(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return "\n".join(lines[-_LAST_LINES:]) or "it said nothing"

    def _signal(self, number: int) -> None:
        # The group lives as long as the watcher in it, so its number is nobody else's.
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _loopback_interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")]


def _free_ports(wanted: int | None) -> tuple[int, int]:
    """Find a port for the address and one for media, both free a moment ago."""
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
