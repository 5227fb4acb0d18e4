"""A LiveKit server, our worker, and rooms, for measurements."""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from livekit import rtc

from agents.app.livekit_server import LocalServer
from tests.agents.app.serving.processes import REGISTERED, clean_environment
from tests.benchmarks.rooms import bare
from tests.benchmarks.rooms.processes import Running, started
from tests.benchmarks.rooms.watched_app import WATCH
from tests.livekit import NOTICES, ROLE, STAFF, Client, LiveKit, new_identity, until

AGENT = "bella-vista-measured"
JOIN_S = 60.0
"""How long an agent may take to come, in seconds."""

WATCHED = ("-m", "agents.app.serving", "tests.benchmarks.rooms.watched_app")
AS_IT_IS = ("-m", "bella_vista", "start")

Noted = dict[str, Any]
"""Something the watch has written down: ``what`` it was, ``at`` which second, and more."""


class Guest(Client):
    """Somebody in a room who knows when each text was whole.

    Args:
        room: The room, joined or about to be.
        identity: The participant's identity.
    """

    def __init__(self, room: rtc.Room, identity: str) -> None:
        super().__init__(room, identity)
        self._news = asyncio.Condition()

    async def _read(self, reader: rtc.TextStreamReader, identity: str) -> None:
        await super()._read(reader, identity)
        await self._tell()

    async def _called(self, data: rtc.RpcInvocationData) -> str:
        answer = await super()._called(data)
        await self._tell()
        return answer

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def asks(self, words: str, limit_s: float = 30.0) -> float:
        """Write something and wait for all of the answer; returns the seconds that it took.

        Raises:
            TimeoutError: There was none.
        """
        before, start = len(self.said), time.monotonic()
        await self.write(words)
        await self.hears(before + 1, limit_s)
        return time.monotonic() - start

    async def hears(self, texts: int, limit_s: float = 30.0) -> None:
        """Wait until so many texts of others were whole.

        Raises:
            TimeoutError: They were not.
        """
        async with asyncio.timeout(limit_s), self._news:
            await self._news.wait_for(lambda: len(self.said) >= texts)

    async def is_given(self, turn: int, limit_s: float = 30.0) -> None:
        """Wait for the notice of this turn.

        Raises:
            TimeoutError: It did not become so.
        """
        async with asyncio.timeout(limit_s), self._news:
            await self._news.wait_for(
                lambda: (
                    bool(self.turns)
                    and self.turns[-1]["your_turn"]
                    and self.turns[-1]["turn"] >= turn
                )
            )


@dataclass
class Place:
    """One room with our agent in it.

    Args:
        deployment: Its server and worker.
        name: The room's.
        guest: The bound guest.
        agent: The identity of our agent.
    """

    deployment: "Deployment"
    name: str
    guest: Guest
    agent: str

    @property
    def process(self) -> int:
        """The number of the process that holds the call.

        Raises:
            RuntimeError: The worker has not told of it.
        """
        for line in reversed(self.deployment.worker.lines):
            with suppress(ValueError):
                told = json.loads(line)
                if told["message"] == "job started" and told.get("room") == self.name:
                    return int(told["pid"])
        raise RuntimeError("the worker has not told of the call's process")

    def noted(
        self, what: str, begin: float = 0.0, end: float = float("inf"), *, of: str = ""
    ) -> list[Noted]:
        """Return what was noted between two seconds of this call, or of the bare handler in its room."""
        lines = self.deployment.notes(self.name, of).read_text().splitlines()
        notes: list[Noted] = [json.loads(line) for line in lines if line.endswith("}")]
        return [one for one in notes if one["what"] == what and begin <= one["at"] <= end]


@dataclass
class Deployment:
    """A server, a worker of ours, and where its files are."""

    livekit: LiveKit
    worker: Running
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a program beside the worker finds in its environment."""
        return _environment(self.livekit, self.folder)

    def notes(self, room: str, of: str = "") -> Path:
        """Return the file with what was noted in a room, of our agent or of another one."""
        return self.folder / f"{room}{of and f'-{of}'}.jsonl"

    @asynccontextmanager
    async def client(self, room: str, *, staff: bool = False) -> AsyncIterator[Guest]:
        """Join a room."""
        identity = new_identity("staff" if staff else "guest")
        token = self.livekit.token(room, identity, attributes={ROLE: STAFF} if staff else {})
        guest = Guest(rtc.Room(), identity)
        await guest.room.connect(self.livekit.url, token)
        try:
            guest.offer(*NOTICES)
            yield guest
        finally:
            await guest.leave()

    @asynccontextmanager
    async def place(self, **metadata: str) -> AsyncIterator[Place]:
        """Be a greeted guest in a room of their own.

        Args:
            metadata: What the agent is told when it is dispatched.

        Raises:
            TimeoutError: No agent has greeted the guest.
        """
        name = f"bench-{token_hex(8)}"
        await self.livekit.dispatch(name, metadata, agent=AGENT)
        async with self.client(name) as guest:
            try:
                await until(guest.agents, JOIN_S, "an agent in the room")
            except pytest.fail.Exception as failed:
                raise TimeoutError from failed
            await guest.hello(JOIN_S)
            await guest.hears(1, JOIN_S)
            await guest.is_given(0, JOIN_S)
            yield Place(self, name, guest, await guest.agent())

    @asynccontextmanager
    async def bare(self, room: str) -> AsyncIterator[Running]:
        """Have a bare handler in a room, in a process of its own, known there by ``bare.IDENTITY``."""
        token = self.livekit.token(room, bare.IDENTITY, grants={"can_update_own_metadata": True})
        notes = str(self.notes(room, bare.IDENTITY))
        with self.started(bare.__name__, self.livekit.url, token, notes) as running:
            await running.says("ready")
            yield running

    @contextmanager
    def started(self, module: str, *given: str) -> Iterator[Running]:
        """Run a module in a process of its own for a while."""
        file = self.folder / f"{module}-{token_hex(4)}.log"
        with started(("-m", module, *given), self.environment, file) as one:
            yield one


@contextmanager
def deployed(program: Path, command: Sequence[str], **more: str) -> Iterator[Deployment]:
    """Run a server and a worker for a while.

    Args:
        program: The server's.
        command: The worker's.
        more: Settings of the worker.
    """
    with tempfile.TemporaryDirectory() as folder, LocalServer(program) as server:
        livekit = LiveKit(server)
        environment = {**_environment(livekit, Path(folder)), **more}
        with started(command, environment, Path(folder) / "worker.log") as running:
            asyncio.run(running.says(REGISTERED))
            yield Deployment(livekit, running, Path(folder))


def _environment(livekit: LiveKit, folder: Path) -> dict[str, str]:
    own = {"BELLA_VISTA_AGENT_NAME": AGENT, WATCH: str(folder)}
    return clean_environment(folder, **livekit.environment, **own)
