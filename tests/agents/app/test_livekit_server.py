"""A LiveKit server on this machine: reached from here only, and gone when its owner is."""

import asyncio
import socket
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from livekit import api, rtc

from agents.app import livekit_server as module
from agents.app.livekit_server import API_SECRET, LocalServer, ServerFaults, program_of
from tests.livekit import LiveKit, livekit_server, until

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[3]

OWNER = """
import sys, time
from pathlib import Path
from agents.app.livekit_server import LocalServer

server = LocalServer(Path(sys.argv[1]))
server.start()
print(server._process.pid, server.url, flush=True)
time.sleep(60)
"""


@pytest.fixture
def own_server() -> Iterator[LiveKit]:
    with livekit_server() as running:
        yield running


def program(folder: Path, script: str) -> Path:
    file = folder / "livekit-server"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def family(server: LocalServer) -> list[psutil.Process]:
    process = server._process
    assert process is not None
    first = psutil.Process(process.pid)
    return [first, *first.children(recursive=True)]


def test_it_is_reachable_from_this_machine_only(livekit: LiveKit) -> None:
    (first, *_) = family(livekit.server)

    listening = [
        one.laddr.ip
        for one in first.net_connections("inet")
        if one.status == psutil.CONN_LISTEN or one.type == socket.SOCK_DGRAM
    ]

    assert len(listening) >= 2
    assert set(listening) == {"127.0.0.1"}


def test_its_secret_is_not_shown_to_everybody_on_the_machine(livekit: LiveKit) -> None:
    for process in family(livekit.server):
        assert API_SECRET not in " ".join(process.cmdline())


async def test_it_is_killed_and_comes_back_where_it_was(
    own_server: LiveKit, room_name: str
) -> None:
    server = own_server.server
    async with own_server.api() as server_api:
        room = await server_api.room.create_room(api.CreateRoomRequest(name=room_name))
        server.kill()
        assert not server.running
        await asyncio.to_thread(server.start)

        assert server.url == own_server.url
        found = await server_api.room.list_rooms(api.ListRoomsRequest(names=[room.name]))
        assert list(found.rooms) == []


async def test_it_is_stopped_with_guests_in_its_rooms(own_server: LiveKit, room_name: str) -> None:
    async with own_server.joined(room_name) as guest:
        processes = family(own_server.server)

        await asyncio.to_thread(own_server.server.stop)

        await gone(processes)
        await until(lambda: guest.connection)


async def test_it_does_not_outlive_an_owner_that_was_killed(livekit: LiveKit) -> None:
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER, str(livekit.server._program)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert owner.stdout is not None
    number, _ = (await owner.stdout.readline()).split()
    server = psutil.Process(int(number))
    processes = [server, *server.children(recursive=True)]
    assert alive(server)

    owner.kill()
    await owner.wait()

    await gone(processes)


def test_a_wanted_port_that_is_taken_is_another_one(livekit: LiveKit) -> None:
    taken = int(livekit.url.rpartition(":")[2])

    with LocalServer(livekit.server._program, port=taken) as other:
        assert other.url != livekit.url


def test_a_wanted_port_that_is_free_is_taken(livekit: LiveKit) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        wanted = free.getsockname()[1]

    with LocalServer(livekit.server._program, port=wanted) as server:
        assert server.url == f"ws://127.0.0.1:{wanted}"


def test_one_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    file = program(tmp_path, "echo 'could not parse config: no such thing' >&2; exit 1")

    with pytest.raises(ServerFaults) as told:
        LocalServer(file).start()

    assert str(file) in told.value.faults[0]
    assert "no such thing" in told.value.faults[0]


def test_a_program_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(ServerFaults, match="nowhere"):
        LocalServer(tmp_path / "nowhere").start()


def test_what_is_named_has_to_be_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text := tmp_path / "rules.yaml").write_text("")
    monkeypatch.setattr(module, "find_program", lambda: None)

    for named, told in (
        (tmp_path / "missing", f"--server: there is no file {tmp_path}/missing"),
        (tmp_path, "is no program"),
        (text, "is no program"),
        (None, "There is no LiveKit server: set LIVEKIT_URL"),
    ):
        with pytest.raises(ServerFaults, match=told):
            program_of(named)


def test_one_that_never_gets_well_is_told_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = tmp_path / "number"

    class Clock:
        """A time that runs out when the program runs; its first reading is always zero."""

        sleep = time.sleep
        readings = 0

        @classmethod
        def monotonic(cls) -> float:
            cls.readings += 1
            running = number.exists() and number.read_text().strip()
            return 1e9 if running and cls.readings > 1 else 0

    monkeypatch.setattr(module, "time", Clock)
    monkeypatch.setattr(module, "_ATTEMPTS", 1)
    file = program(tmp_path, f"echo $$ >{number}; exec sleep 60")

    with pytest.raises(ServerFaults):
        LocalServer(file).start()

    assert not psutil.pid_exists(int(number.read_text()))


async def test_a_start_that_is_cancelled_leaves_nothing_behind(tmp_path: Path) -> None:
    number = tmp_path / "number"
    server = LocalServer(program(tmp_path, f"echo $$ >{number}; exec sleep 60"))
    starting = asyncio.create_task(server.__aenter__())
    await until(lambda: number.exists() and number.read_text().strip())

    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    assert not psutil.pid_exists(int(number.read_text()))


async def test_asynchronously_it_is_there_and_gone(livekit: LiveKit, room_name: str) -> None:
    async with LocalServer(livekit.server._program) as server:
        processes = family(server)
        async with LiveKit(server).joined(room_name) as guest:
            assert guest.room.connection_state == rtc.ConnectionState.CONN_CONNECTED

    assert not alive(processes[0])
    await gone(processes)


async def gone(processes: list[psutil.Process]) -> None:
    # The server is waited for by its owner; its watcher is killed with it, and the system takes a moment.
    await until(lambda: not any(alive(process) for process in processes), what="their end")


def alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
