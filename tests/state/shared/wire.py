"""A wire to a PostgreSQL server that can break at the worst moment: when a change is being committed."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit, urlunsplit

COMMIT = b"COMMIT"


class Wire:
    """Passes on what a client and a server tell each other, and breaks at the next commit when told to.

    Args:
        address: The server's URL.
    """

    def __init__(self, address: str) -> None:
        self.server = address
        self._to = urlsplit(address)
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: list[Connection] = []
        self._breaks: Callable[[Connection, bytes], Awaitable[None]] | None = None
        self.refuses = False
        """Whether it takes in no more connections."""
        self.held: list[tuple[Connection, bytes]] = []
        """Commits that are on their way and do not arrive."""
        self.holds = asyncio.Event()
        """Set when there is one."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in self._connections:
            await connection.close()

    @property
    def address(self) -> str:
        """The server's URL by way of this wire."""
        port = self._server.sockets[0].getsockname()[1]
        host = f"{self._to.username}:{self._to.password}@127.0.0.1:{port}"
        return urlunsplit(self._to._replace(netloc=host))

    def lose_the_next_commit(self) -> None:
        """Break before the server hears of it."""

        async def lose(connection: Connection, request: bytes) -> None:
            await connection.break_to_client()
            await connection.break_to_server()

        self._breaks = lose

    def lose_the_next_answer(self, *, and_then_refuse: bool = False) -> None:
        """Let the server commit, and break before the client hears of it."""

        async def lose(connection: Connection, request: bytes) -> None:
            connection.deaf = asyncio.Event()
            await connection.send(request)
            await connection.deaf.wait()  # so that it has answered: it is done
            self.refuses = and_then_refuse
            await connection.break_to_client()

        self._breaks = lose

    def delay_the_next_commit(self) -> None:
        """Break to the client, and keep the commit until ``deliver``: the server still waits for it."""

        async def keep(connection: Connection, request: bytes) -> None:
            self.held.append((connection, request))
            self.holds.set()
            await connection.break_to_client()

        self._breaks = keep

    async def deliver(self) -> None:
        """Let a commit that was kept arrive."""
        connection, request = self.held.pop()
        connection.deaf = asyncio.Event()
        await connection.send(request)
        await connection.deaf.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        there = await asyncio.open_connection(self._to.hostname, self._to.port)
        connection = Connection((reader, writer), there)
        self._connections.append(connection)
        for work in (self._requests(connection), connection.answers()):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _requests(self, connection: "Connection") -> None:
        while request := await connection.request():
            if COMMIT in request and self._breaks is not None:
                breaks, self._breaks = self._breaks, None
                await breaks(connection, request)
                return
            await connection.send(request)
        await connection.break_to_server()


class Connection:
    """One client and the server's end for it."""

    def __init__(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._from_client, self._to_client = client
        self._from_server, self._to_server = server
        self.deaf: asyncio.Event | None = None
        """Set, when there is one, instead of passing an answer on."""

    async def request(self) -> bytes:
        try:
            return await self._from_client.read(65536)
        except OSError:
            return b""

    async def send(self, request: bytes) -> None:
        self._to_server.write(request)
        await self._to_server.drain()

    async def answers(self) -> None:
        while answer := await self._answer():
            if self.deaf is not None:
                self.deaf.set()
            else:
                self._to_client.write(answer)
        self._to_client.close()

    async def _answer(self) -> bytes:
        try:
            return await self._from_server.read(65536)
        except OSError:
            return b""

    async def break_to_client(self) -> None:
        self._to_client.transport.abort()

    async def break_to_server(self) -> None:
        self._to_server.transport.abort()

    async def close(self) -> None:
        for writer in (self._to_client, self._to_server):
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()
