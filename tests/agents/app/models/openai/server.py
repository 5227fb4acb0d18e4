"""A server on this machine that speaks OpenAI's streamed chat completions, well or badly, as it is told."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

USAGE = (900, 20, 800)
"""What each good reply says it cost: tokens of the prompt, of the reply, and of the prompt those cached."""


@dataclass(frozen=True)
class Answer:
    """How one request is answered.

    Args:
        say: Words, streamed word by word.
        calls: Tool calls, their arguments streamed in pieces.
        whole_calls: How many of them arrive whole where the reply does not.
        finish: The reason it gives for ending; none when empty.
        usage: What it says it cost, if anything.
        status: Anything but 200 is answered with ``body`` alone.
        headers: Sent with the status.
        body: Sent as it stands instead of a stream.
        kind: The body's media type.
        stalls: Falls silent before this part: ``headers``, ``words`` or ``end``.
        pings: Keeps the line alive while it is silent, until then.
        breaks: Cuts the connection before its end: ``hard``, or ``soft`` as if it had ended.
    """

    say: str | None = None
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    whole_calls: int = 0
    finish: str | None = None
    usage: tuple[int, int, int] | None = USAGE
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    kind: str = "application/json"
    stalls: str | None = None
    pings: bool = False
    breaks: str | None = None


def says(text: str, **how: Any) -> Answer:
    return Answer(say=text, **how)


def calls(*made: str | tuple[str, Mapping[str, Any]], say: str | None = None, **how: Any) -> Answer:
    named = tuple((one, {}) if isinstance(one, str) else one for one in made)
    return Answer(say=say, calls=named, **how)


def refuses(status: int, message: str = "No.", code: str | None = None, **how: Any) -> Answer:
    error = {"message": message, "code": code}
    return Answer(status=status, body=json.dumps({"error": error}), **how)


@asynccontextmanager
async def listening(*routes: web.RouteDef) -> AsyncIterator[int]:
    """Serve routes on loopback for a while; gives the port."""
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _no_models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": []})


MODELS = web.get("/v1/models", _no_models)


async def stream(request: web.Request, *, chunked: bool) -> web.StreamResponse:
    """Begin a stream of events; without chunks the end of the connection is the end of the body."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    if chunked:
        response.enable_chunked_encoding()
    else:
        response.force_close()
        response.headers["Connection"] = "close"
    await response.prepare(request)
    return response


class ChatServer:
    """Answers requests in the order of its script; ``requests`` keeps what was asked.

    Args:
        script: The answers. A request beyond them is refused and counted in ``overrun``.
    """

    def __init__(self, script: Sequence[Answer]) -> None:
        self.script = tuple(script)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.overrun = 0
        self.port = 0
        self._closing = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ChatServer"]:
        async with listening(web.post("/v1/chat/completions", self._complete), MODELS) as self.port:
            try:
                yield self
            finally:
                self._closing.set()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("Authorization"))
        number = len(self.requests) - 1
        if number >= len(self.script):
            self.overrun += 1
            return web.json_response({"error": {"message": "the script is over"}}, status=400)
        answer = self.script[number]
        if answer.stalls == "headers":
            await self._closing.wait()
        if answer.body is not None:
            return web.Response(
                status=answer.status,
                text=answer.body,
                content_type=answer.kind,
                headers=dict(answer.headers),
            )
        return await self._stream(request, answer, number)

    async def _stream(
        self, request: web.Request, answer: Answer, number: int
    ) -> web.StreamResponse:
        response = await stream(request, chunked=answer.breaks != "soft")
        if answer.stalls == "words":
            await self._silence(response, answer)
        for chunk in _chunks(answer, number):
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        if answer.stalls == "end":
            await self._silence(response, answer)
        if answer.breaks == "hard" and request.transport is not None:
            request.transport.abort()
            return response
        if answer.breaks is None:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _silence(self, response: web.StreamResponse, answer: Answer) -> None:
        while not self._closing.is_set():
            if answer.pings:
                try:
                    await response.write(b": still here\n\n")
                except ConnectionError:
                    return
            try:
                async with asyncio.timeout(0.02 if answer.pings else None):
                    await self._closing.wait()
            except TimeoutError:
                continue


def _chunks(answer: Answer, number: int) -> Iterator[dict[str, Any]]:
    yield chunk(number, {"role": "assistant", "content": "" if answer.say else None})
    for piece in re.findall(r"\s*\S+", answer.say or ""):
        yield chunk(number, {"content": piece})
    for index, (name, arguments) in enumerate(answer.calls):
        function = {"name": name, "arguments": ""}
        made = {"index": index, "id": f"call_{number}_{index}", "type": "function"}
        yield chunk(number, {"tool_calls": [{**made, "function": function}]})
        text = json.dumps(arguments)
        pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
        broken = answer.breaks or answer.stalls == "end" or answer.finish == "length"
        if broken and index >= answer.whole_calls:
            pieces = pieces[:-1]
        for piece in pieces:
            part = {"index": index, "function": {"arguments": piece}}
            yield chunk(number, {"tool_calls": [part]})
    if answer.breaks or answer.stalls == "end":
        return
    finish = answer.finish if answer.finish is not None else _finish(answer)
    if finish:
        yield chunk(number, {}, finish)
    if answer.usage is not None:
        prompt, completion, cached = answer.usage
        yield {
            **chunk(number, {}),
            "choices": [],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def chunk(number: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "test-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
