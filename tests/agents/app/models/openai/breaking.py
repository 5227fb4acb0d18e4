"""A provider on this machine that breaks its answers off: chat completions, responses, and those over WebSocket.

Asked the same again, it gives the same answer again, as a provider does; so a request that is repeated acts twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from aiohttp import web

from tests.agents.app.models.openai.server import MODELS, chunk, listening, stream

LISTENS = "I am listening."
AFTER = "That is done."
WANTED = "A night, and a beer"
"""What the guest says to have it break."""

Piece = str | tuple[str, dict[str, Any]]
"""Words, or a call by name and arguments."""

Break = Literal[
    "the connection is cut",
    "the body ends",
    "an error is sent",
    "nonsense is sent",
    "nothing comes",
]


class BreakingProvider:
    """Answers what the guest wants with pieces, and breaks off after them, the first few times.

    Args:
        pieces: What arrives.
        rest: What comes after them when nothing breaks.
        breaks: How it breaks.
        times: How often.
    """

    def __init__(
        self, pieces: Sequence[Piece], rest: Sequence[Piece], breaks: Break, times: int
    ) -> None:
        self._pieces, self._rest = tuple(pieces), tuple(rest)
        self._breaks: Break = breaks
        self._left = times
        self.attempts = 0
        self.outputs: list[str] = []
        """What the tools had answered when it was asked last."""
        self.port = 0
        self._closing = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["BreakingProvider"]:
        async with listening(
            web.post("/v1/chat/completions", self._chat),
            web.post("/v1/responses", self._responses),
            web.get("/v1/responses", self._socket),
            MODELS,
        ) as self.port:
            try:
                yield self
            finally:
                self._closing.set()

    def _answer(self, request: dict[str, Any]) -> tuple[tuple[Piece, ...], Break | None]:
        messages = request.get("messages") or request["input"]
        answered = [
            one.get("output") or one.get("content")
            for one in messages
            if one.get("type") == "function_call_output" or one.get("role") == "tool"
        ]
        wanted = [one for one in messages if one.get("role") == "user" and WANTED in str(one)]
        if answered:
            self.outputs = [str(one) for one in answered]
            return (AFTER,), None
        if not wanted or messages[-1] is not wanted[-1]:
            return (LISTENS,), None
        self.attempts += 1
        if not self._left:
            return (*self._pieces, *self._rest), None
        self._left -= 1
        return self._pieces, self._breaks

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        pieces, broken = self._answer(await request.json())
        events = list(_chat_events(pieces, self.attempts, whole=broken is None))
        error = {"error": {"message": "overloaded", "code": "overloaded"}}
        return await self._stream(request, events, broken, error)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        pieces, broken = self._answer(await request.json())
        events = list(_response_events(pieces, self.attempts, whole=broken is None))
        return await self._stream(request, events, broken, _ERROR)

    async def _stream(
        self,
        request: web.Request,
        events: list[dict[str, Any]],
        broken: Break | None,
        error: dict[str, Any],
    ) -> web.StreamResponse:
        response = await stream(request, chunked=broken != "the body ends")
        if broken == "an error is sent":
            events = [*events, error]
        for event in events:
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        match broken:
            case "nonsense is sent":
                await response.write(b'data: {"type": "response.\n\n')
            case "nothing comes":
                await self._closing.wait()
            case "the connection is cut" if request.transport is not None:
                request.transport.abort()
                return response
            case None:
                await response.write(b"data: [DONE]\n\n")
            case _:
                pass
        await response.write_eof()
        return response

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            pieces, broken = self._answer(json.loads(message.data))
            for event in _response_events(pieces, self.attempts, whole=broken is None):
                await socket.send_json(event)
            match broken:
                case "the connection is cut" if request.transport is not None:
                    request.transport.abort()
                case "the body ends":
                    await socket.close(code=1011)
                case "an error is sent":
                    await socket.send_json(_ERROR)
                case "nonsense is sent":
                    await socket.send_str('{"type": "response.')
                case _:
                    pass
        return socket


_ERROR = {"type": "error", "code": "overloaded", "message": "overloaded", "sequence_number": 9}


def _chat_events(pieces: Sequence[Piece], number: int, *, whole: bool) -> Iterator[dict[str, Any]]:
    yield chunk(number, {"role": "assistant", "content": ""})
    calls = 0
    for piece in pieces:
        if isinstance(piece, str):
            yield chunk(number, {"content": piece})
            continue
        name, given = piece
        function = {"name": name, "arguments": json.dumps(given)}
        made = {"index": calls, "id": f"call_{calls}", "type": "function", "function": function}
        yield chunk(number, {"tool_calls": [made]})
        calls += 1
    if whole:
        yield chunk(number, {}, "tool_calls" if calls else "stop")


def _response_events(
    pieces: Sequence[Piece], number: int, *, whole: bool
) -> Iterator[dict[str, Any]]:
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "test-model",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    count = iter(range(1000))
    yield {"type": "response.created", "response": response, "sequence_number": next(count)}
    for at, piece in enumerate(pieces):
        place = {"output_index": at, "sequence_number": next(count)}
        if isinstance(piece, str):
            where = {"item_id": "msg", "content_index": 0, "logprobs": []}
            yield {"type": "response.output_text.delta", "delta": piece, **where, **place}
            continue
        name, given = piece
        made = {
            "type": "function_call",
            "id": f"fc_{at}",
            "call_id": f"call_{at}",
            "name": name,
            "arguments": json.dumps(given),
            "status": "completed",
        }
        yield {"type": "response.output_item.done", "item": made, **place}
    if whole:
        yield {"type": "response.completed", "response": response, "sequence_number": next(count)}
