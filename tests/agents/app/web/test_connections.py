"""Connections that send nothing, or slowly: closed in time, without a sleep."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from agents.app.web.command import HttpProtocol

LINES = b"GET / HTTP/1.1\r\nHost: pizza.example\r\n"


@asynccontextmanager
async def connected(app: Any) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server of an application."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, http=HttpProtocol, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve([listening]))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        try:
            yield reader, writer
        finally:
            writer.close()
            server.should_exit = True
            await serving


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answer before the body has come."""
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a byte again and again until the connection is closed."""
    closed = asyncio.create_task(reader.read())
    async with asyncio.timeout(30):
        while not closed.done():
            writer.write(b"x")
            await asyncio.wait((closed,), timeout=0.02)
    if not isinstance(
        closed.exception(), ConnectionError
    ):  # it may be reset, with bytes on their way
        assert closed.result() == b""


@pytest.mark.parametrize("sent", [b"", LINES + b"X: "])
async def test_headers_that_do_not_come_in_time_end_the_connection(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.command.HEADERS_S", 0.2)
    async with connected(answer) as (reader, writer):
        writer.write(sent)
        if sent:
            await drip(reader, writer)
        else:
            async with asyncio.timeout(30):
                assert await reader.read() == b""


@pytest.mark.parametrize(
    "first", [LINES + b"\r\n", LINES.replace(b"GET", b"POST") + b"Content-Length: 999\r\n\r\n"]
)
async def test_what_comes_slowly_after_an_answer_ends_the_connection(
    first: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.web.command.HEADERS_S", 0.2)
    async with connected(answer) as (reader, writer):
        writer.write(first)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        await drip(reader, writer)


async def test_an_answer_may_take_longer_than_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.app.web.command.HEADERS_S", 0.1)
    later = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        asyncio.get_running_loop().call_later(0.3, later.set)
        await later.wait()
        await answer(scope, receive, send)

    async with connected(slow) as (reader, writer):
        writer.write(LINES + b"\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
