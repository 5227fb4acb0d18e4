"""The restaurant's own worker as a process: ``python -m bella_vista start``, with a database of its own.

``Restaurant`` starts workers, sends their agents to rooms, and finds the process of a call, so that a test can
kill it, stop it for a while, or read what it has left in the database.
"""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from livekit import api, rtc

from agents.app.rooms.room_lease import lease_name
from state.shared import Lease, SqlStore
from tests.agents.app.serving.processes import (
    LONG_S,
    Running,
    clean_environment,
    started,
)
from tests.livekit import Client, LiveKit, until
from tests.stored_orders import list_orders, open_store, show_order

GREETING = "welcome to Bella Vista"
WELCOME_BACK = "Welcome back"


class Restaurant:
    """A database and a name that only this restaurant's workers go by.

    Args:
        livekit: The server whose rooms are served.
        folder: Where the database is.
    """

    def __init__(self, livekit: LiveKit, folder: Path) -> None:
        self.livekit = livekit
        self.folder = folder
        self.agent = f"bella-{token_hex(4)}"
        self.database = f"sqlite:///{folder}/orders.db"

    # -- workers -------------------------------------------------------------------------------------

    def environment(self, **more: str) -> dict[str, str]:
        """What a worker of this restaurant finds in its environment."""
        own = {
            **self.livekit.environment,
            "BELLA_VISTA_AGENT_NAME": self.agent,
            "BELLA_VISTA_IDLE": "1",
            "BELLA_VISTA_AT": "2026-11-20T18:00",
            "BELLA_VISTA_DATABASE": self.database,
        }
        return clean_environment(self.folder, **{**own, **more})

    @contextmanager
    def starting(self, **more: str) -> Iterator["Worker"]:
        """Have a worker that is about to register."""
        with started(("-m", "bella_vista", "start"), self.environment(**more)) as running:
            yield Worker(running)

    @asynccontextmanager
    async def worker(self, **more: str) -> AsyncIterator["Worker"]:
        """Have a worker that has registered."""
        with self.starting(**more) as worker:
            await worker.registered()
            yield worker

    # -- rooms ---------------------------------------------------------------------------------------

    async def send(self, room: str, metadata: Mapping[str, Any] | str | None = None) -> None:
        """Dispatch an agent; metadata given as text is sent unchanged."""
        text = metadata if isinstance(metadata, str) else None
        if text is None:
            await self.livekit.dispatch(room, metadata, agent=self.agent)  # type: ignore[arg-type]
            return
        request = api.CreateAgentDispatchRequest(agent_name=self.agent, room=room, metadata=text)
        async with self.livekit.api() as server:
            await server.agent_dispatch.create_dispatch(request)

    @asynccontextmanager
    async def called(self, room: str, identity: str | None = None) -> AsyncIterator[Client]:
        """Have a guest in a room, and an agent sent for."""
        async with self.livekit.joined(room, identity) as guest:
            await self.send(room)
            yield guest

    @asynccontextmanager
    async def greeted(
        self, room: str, identity: str | None = None
    ) -> AsyncIterator[tuple[Client, dict[str, Any]]]:
        """Have a guest in a room, up to their first turn; gives the answer to their hello, too."""
        async with self.called(room, identity) as guest:
            hello = await guest.hello()
            await turn(guest, 0)
            yield guest, hello

    # -- what is stored ------------------------------------------------------------------------------

    @asynccontextmanager
    async def store(self) -> AsyncIterator[SqlStore]:
        """Look into the database, as another process does."""
        async with open_store(self.database, "bella-vista") as store:
            yield store

    async def order(self, order_id: str) -> dict[str, Any]:
        """Read an order's view as it is stored."""
        async with self.store() as store:
            return dict((await show_order(store, order_id))[1])

    async def orders(self) -> int:
        """Count the orders that were begun."""
        async with self.store() as store:
            return len(await list_orders(store, 1000))

    async def lease(self, room: str) -> Lease | None:
        """Read the holder of a room's lease."""
        async with self.store() as store:
            return await store.leases.at(lease_name(self.agent, room))

    async def closed(self, room: str) -> None:
        """Wait until the next agent in a room would start a new order, while the lease is held."""
        async with asyncio.timeout(LONG_S):
            while True:
                lease = await self.lease(room)
                if lease is not None and not lease.open:
                    return
                await asyncio.sleep(0.05)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the database for a while, so that no job acquires a lease."""
        with closing(sqlite3.connect(self.folder / "orders.db", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                held.execute("ROLLBACK")

    def spoil(self) -> None:
        """Put something in the database's place that is none, at once: nothing can be created in between."""
        none = self.folder / "none"
        none.write_bytes(b"this is no database" * 1000)
        none.replace(self.folder / "orders.db")
        for file in self.folder.glob("orders.db-*"):
            file.unlink()

    @asynccontextmanager
    async def frozen(self, job: "Job") -> AsyncIterator[None]:
        """Stop a job for a while, as a machine does that is out of breath; the databases stay free."""
        deadline = asyncio.get_running_loop().time() + 30
        while True:
            os.kill(job.pid, signal.SIGSTOP)
            if self._writable():
                break
            os.kill(
                job.pid, signal.SIGCONT
            )  # in the middle of a write: all others would wait for it
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.01)
        try:
            yield
        finally:
            os.kill(job.pid, signal.SIGCONT)

    def _writable(self) -> bool:
        try:
            for file in ("orders.db", "orders.db.leases"):
                with closing(sqlite3.connect(self.folder / file, timeout=0)) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.rollback()
        except sqlite3.OperationalError:
            return False
        return True


class Worker:
    """A worker's process, its calls, and what it logs.

    Args:
        running: The process.
    """

    def __init__(self, running: Running) -> None:
        self.running = running

    def what_happened(self) -> str:
        """Return what it has logged so far."""
        return self.running.what_happened()

    async def registered(self, times: int = 1) -> None:
        """Wait until the server has taken it in."""
        await self.running.says('"worker registered"', times=times)

    def logged(self, message: str, room: str | None = None) -> list[dict[str, Any]]:
        """The lines with this message, of one room only where one is named."""
        return [
            line
            for line in self.running.logged()
            if line["message"].startswith(message) and room in (None, line.get("room"))
        ]

    async def tells(
        self, message: str, room: str | None = None, times: int = 1, seconds: float = LONG_S
    ) -> dict[str, Any]:
        """Wait for a line; returns it."""
        await until(
            lambda: len(self.logged(message, room)) >= times,
            seconds,
            f"{message!r} in the log",
        )
        return self.logged(message, room)[times - 1]

    async def job(self, room: str, number: int = 1) -> "Job":
        """Wait for the job that is the first, second ... in a room."""
        line = await self.tells("job started", room, number)
        return Job(line["job_id"], line["pid"])

    async def job_of(self, agent: str) -> "Job":
        """Wait for the job of an agent that is in a room."""

        def found() -> list[Job]:
            begun = [Job(one["job_id"], one["pid"]) for one in self.logged("job started")]
            return [job for job in begun if job.agent == agent]

        await until(found, LONG_S, f"the job of {agent}")
        return found()[0]

    def replaced_after_s(self, job: "Job") -> float:
        """How long after a job's end another one was sent for, in seconds, by the worker's own clock."""
        over, replaced = (
            next(line for line in self.logged(message) if line["job_id"] == job.id)
            for message in ("job process exited", "replaced a lost agent")
        )
        times = [datetime.fromisoformat(line["time"]) for line in (over, replaced)]
        return (times[1] - times[0]).total_seconds()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.running.signal(number)

    async def ends(self, seconds: float = LONG_S) -> int:
        """Wait for its end; returns the exit code."""
        return await self.running.ends(seconds)


class Job:
    """The process of one call.

    Args:
        id: The job's id.
        pid: The process's.
    """

    def __init__(self, id: str, pid: int) -> None:
        self.id = id
        self.pid = pid

    @property
    def agent(self) -> str:
        """Who it is in its room."""
        return f"agent-{self.id}"

    def kill(self) -> None:
        """End it as a crash does."""
        os.kill(self.pid, signal.SIGKILL)


async def answering(client: Client, *dead: Job) -> tuple[str, dict[str, Any]]:
    """Say hello to the agent after these jobs until it is answered; returns its identity and answer."""
    deadline = asyncio.get_running_loop().time() + LONG_S
    while asyncio.get_running_loop().time() < deadline:
        for one in reversed(client.agents()):
            if one.identity not in {job.agent for job in dead}:
                with suppress(rtc.RpcError):
                    return one.identity, await client.call("hello", to=one.identity, timeout_s=3)
        await asyncio.sleep(0.02)
    raise AssertionError(f"no agent answers the hello\n{client.what_happened()}")


async def hello_of_another(client: Client, dead: Job) -> dict[str, Any]:
    """Say hello to the agent after a job until it is answered; returns the answer."""
    return (await answering(client, dead))[1]


async def alone_with(client: Client, dead: Job) -> None:
    """Wait until there is one agent in the room, and it is not that job's."""
    await until(
        lambda: [one.identity == dead.agent for one in client.agents()] == [False],
        what="the end of the ghost",
    )


def heard(client: Client, words: str) -> int:
    """How often a client was told something with these words in it."""
    return sum(words in text for text in client.said)


def your_turns(client: Client) -> Sequence[dict[str, Any]]:
    """The notices that it is the guest's turn."""
    return [notice for notice in client.turns if notice["your_turn"]]


async def turn(client: Client, number: int, seconds: float = LONG_S) -> dict[str, Any]:
    """Wait for the turn notice with this number, or a later one; returns it."""
    await until(
        lambda: any(one["turn"] >= number for one in your_turns(client)),
        seconds,
        f"turn {number}",
    )
    return next(one for one in reversed(your_turns(client)) if one["turn"] >= number)
