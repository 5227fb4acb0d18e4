"""OpenAI's chat completions, responses over HTTP and WebSocket, transcriptions, speech, and realtime."""

import asyncio
import io
import json
import re
import wave
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from aiohttp import web

from agents.testing.providers.connection import Progress, Refused, pieces_of
from agents.testing.providers.realtime import Realtime
from agents.testing.providers.script import Answer, Usage

SPEECH_RATE = 24_000
"""The sample rate of OpenAI's speech, in hertz."""

_CHAT = frozenset(
    "model messages stream stream_options tools tool_choice parallel_tool_calls temperature top_p"
    " max_completion_tokens max_tokens user metadata store service_tier reasoning_effort verbosity"
    " safety_identifier prompt_cache_key prompt_cache_options response_format modalities seed stop"
    " logprobs n presence_penalty frequency_penalty".split()
)
_RESPONSES = frozenset(
    "type model input instructions stream tools tool_choice parallel_tool_calls temperature top_p"
    " max_output_tokens user metadata store service_tier reasoning text previous_response_id include"
    " truncation safety_identifier prompt_cache_key prompt_cache_options".split()
)
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OVER = Answer(
    status=400, body=json.dumps({"error": {"message": "the scenario has no reply left"}})
)


class OpenAI:
    """The stand-in for OpenAI."""

    def __init__(
        self, progress: Progress, reply: Callable[[dict[str, Any]], Answer] | None
    ) -> None:
        self._progress = progress
        self._reply = reply
        self._replied = 0
        self._calls: set[str] = set()

    def routes(self) -> list[web.RouteDef]:
        """Return what it serves."""
        return [
            web.get("/v1/models", self._models),
            web.post("/v1/chat/completions", self._chat),
            web.post("/v1/responses", self._responses),
            web.get("/v1/responses", self._socket),
            web.post("/v1/audio/transcriptions", self._transcribe),
            web.post("/v1/audio/speech", self._speak),
            *Realtime(self._progress, self._admit, self._answer).routes(),
        ]

    def _admit(self, request: web.Request, body: dict[str, Any] | None = None) -> None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        self._progress.request("openai", request, key if scheme == "Bearer" else "", body)

    def _answer(self, body: dict[str, Any]) -> tuple[Answer, int]:
        number = self._replied
        self._replied += 1
        if self._reply is not None:
            return self._reply(body), number
        replies = self._progress.scenario.replies
        if number >= len(replies):
            self._progress.faults.append("openai: the scenario has no reply left")
            return _OVER, number
        return replies[number], number

    async def _models(self, request: web.Request) -> web.Response:
        self._admit(request)
        return web.json_response({"object": "list", "data": []})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self._admit(request, body)
        self._check(_check_chat, body)
        answer, number = self._answer(body)
        return await self._http(request, answer, _ChatForm(answer, number))

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self._admit(request, body)
        self._check(self._check_responses, body)
        answer, number = self._answer(body)
        return await self._http(request, answer, self._response_form(answer, number))

    def _response_form(self, answer: Answer, number: int) -> "_ResponseForm":
        self._calls |= {f"call_{number}_{at}" for at in range(len(answer.calls))}
        return _ResponseForm(answer, number)

    def _check(self, check: Any, body: dict[str, Any]) -> None:
        try:
            check(body)
        except Refused as refused:
            raise self._progress.refuse("openai", str(refused)) from None

    def _check_responses(self, body: dict[str, Any]) -> None:
        _check_keys(body, _RESPONSES)
        _check_tools(body.get("tools") or (), lambda tool: tool)
        known = set(self._calls) if body.get("previous_response_id") else set()
        for item in body.get("input") or ():
            if item.get("type") == "function_call":
                known.add(item["call_id"])
            if item.get("type") == "function_call_output" and item["call_id"] not in known:
                raise Refused(f"an output without its call: {item['call_id']}")

    async def _http(
        self, request: web.Request, answer: Answer, form: "_Form"
    ) -> web.StreamResponse:
        await self._progress.pause(answer.delay_s)
        if answer.stalls == "headers":
            await self._progress.closing.wait()
        if answer.body is not None:
            return web.Response(
                status=answer.status,
                text=answer.body,
                content_type=answer.kind,
                headers=dict(answer.headers),
            )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if answer.breaks == "soft":  # the end of the connection is the end of the body
            response.force_close()
            response.headers["Connection"] = "close"
        else:
            response.enable_chunked_encoding()
        await response.prepare(request)
        if answer.stalls == "words":
            await self._silence(response, answer)
        for event in form.events():
            await response.write(_sse(event))
        if answer.stalls == "end":
            await self._silence(response, answer)
        match answer.breaks:
            case "hard" if request.transport is not None:
                request.transport.abort()
                return response
            case "error":
                await response.write(_sse(form.error))
            case "nonsense":
                await response.write(b'data: {"half": "of a\n\n')
            case None:
                await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _silence(self, response: web.StreamResponse, answer: Answer) -> None:
        closing = self._progress.closing
        while not closing.is_set():
            if answer.pings:
                try:
                    await response.write(b": still here\n\n")
                except ConnectionError:
                    return
            try:
                async with asyncio.timeout(0.02 if answer.pings else None):
                    await closing.wait()
            except TimeoutError:
                continue

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        self._admit(request)
        socket = await self._progress.accept("openai", request)
        async for message in socket:
            body = json.loads(message.data)
            self._admit(request, body)
            try:
                if body.get("type") != "response.create":
                    raise Refused(f"unknown event {body.get('type')}")
                self._check_responses(body)
            except Refused as refused:
                self._progress.faults.append(f"openai: {refused}")
                error = {"type": "invalid_request_error", "code": "400", "message": str(refused)}
                await socket.send_json({"type": "error", "status": 400, "error": error})
                continue
            answer, number = self._answer(body)
            form = self._response_form(answer, number)
            await self._progress.pause(answer.delay_s)
            if answer.status != 200:
                error = json.loads(answer.body or "{}").get("error", {})
                error = {"type": "error", "code": str(answer.status), **_set(error)}
                await socket.send_json({"type": "error", "status": answer.status, "error": error})
                continue
            for event in form.events():
                await socket.send_json(event)
            if answer.stalls is not None:
                await self._progress.closing.wait()
            match answer.breaks:
                case "hard" if request.transport is not None:
                    request.transport.abort()
                case "soft":
                    await socket.close(code=1011)
                case "error":
                    await socket.send_json(form.error)
                case "nonsense":
                    await socket.send_str('{"type": "response.')
        return socket

    async def _transcribe(self, request: web.Request) -> web.Response:
        form = await request.post()
        self._admit(request, {name: str(form[name]) for name in form if name != "file"})
        sound = form.get("file")
        if not isinstance(sound, web.FileField) or not form.get("model"):
            raise self._progress.refuse("openai", "file and model are needed")
        self._check_model(form["model"])
        try:
            wave.open(io.BytesIO(sound.file.read())).close()
        except (wave.Error, EOFError):
            raise self._progress.refuse("openai", "the file is no WAV") from None
        utterance = self._progress.utterance()
        await self._progress.pause(utterance.delay_s if utterance is not None else 0.0)
        if utterance is not None and (utterance.closes is not None or not utterance.finals):
            await self._progress.closing.wait()
        return web.json_response({"text": utterance.text if utterance is not None else ""})

    def _check_model(self, name: object) -> None:
        if not self._progress.names.has_model("openai", name):
            raise self._progress.refuse("openai", f"no model {name} here", status=404)

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self._admit(request, body)
        if not body.get("input") or not body.get("model") or not body.get("voice"):
            raise self._progress.refuse("openai", "input, model and voice are needed")
        self._check_model(body["model"])
        if not self._progress.names.has_voice("openai", body["voice"]):
            raise self._progress.refuse("openai", f"no voice {body['voice']} here")
        speech = self._progress.speech(body["input"])
        await self._progress.pause(speech.delay_s)
        if speech.ends == "error":
            raise web.HTTPInternalServerError(text="overloaded")
        sound = b"".join(pieces_of(speech, SPEECH_RATE))
        if speech.ends == "done":
            return web.Response(body=_wav(sound), content_type="audio/wav")
        response = web.StreamResponse(headers={"Content-Type": "audio/wav"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(_wav(sound))
        if speech.ends == "nothing":
            await self._progress.closing.wait()
        elif request.transport is not None:
            request.transport.abort()
        return response


class _Form(Protocol):
    error: dict[str, Any]

    def events(self) -> Iterator[dict[str, Any]]: ...


class _ChatForm:
    error: dict[str, Any] = {"error": {"message": "overloaded", "code": "overloaded"}}  # noqa: RUF012

    def __init__(self, answer: Answer, number: int) -> None:
        self._answer = answer
        self._number = number

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a chat completion, without its end where it breaks."""
        answer = self._answer
        yield self._chunk({"role": "assistant", "content": "" if answer.say else None})
        for piece in _words(answer):
            yield self._chunk({"content": piece})
        for index, call in enumerate(answer.calls):
            function = {"name": call.name, "arguments": ""}
            made = {"index": index, "id": f"call_{self._number}_{index}", "type": "function"}
            yield self._chunk({"tool_calls": [{**made, "function": function}]})
            text = json.dumps(dict(call.arguments))
            pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
            if (not answer.whole or answer.finish == "length") and index >= answer.whole_calls:
                pieces = pieces[:-1]
            for piece in pieces:
                part = {"index": index, "function": {"arguments": piece}}
                yield self._chunk({"tool_calls": [part]})
        if not answer.whole:
            return
        finish = answer.finish
        if finish is None:
            finish = "tool_calls" if answer.calls else "stop"
        if finish:
            yield self._chunk({}, finish)
        if answer.usage is not None:
            yield {**self._chunk({}), "choices": [], "usage": _chat_usage(answer.usage)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._number}",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": "test-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }


class _ResponseForm:
    error: dict[str, Any] = {  # noqa: RUF012
        "type": "error",
        "code": "overloaded",
        "message": "overloaded",
        "sequence_number": 9,
    }

    def __init__(self, answer: Answer, number: int) -> None:
        self._answer = answer
        self._number = number

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events of a response, without its end where it breaks."""
        answer, count = self._answer, iter(range(10_000))
        response: dict[str, Any] = {
            "id": f"resp_{self._number}",
            "object": "response",
            "created_at": 1_790_000_000,
            "model": "test-model",
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        yield {"type": "response.created", "response": response, "sequence_number": next(count)}
        for piece in _words(answer):
            where = {"item_id": "msg_0", "output_index": 0, "content_index": 0, "logprobs": []}
            event = {"type": "response.output_text.delta", "delta": piece, **where}
            yield {**event, "sequence_number": next(count)}
        whole = len(answer.calls) if answer.whole else answer.whole_calls
        for at, call in enumerate(answer.calls[:whole]):
            item = {
                "type": "function_call",
                "id": f"fc_{at}",
                "call_id": f"call_{self._number}_{at}",
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments)),
                "status": "completed",
            }
            event = {"type": "response.output_item.done", "item": item, "output_index": at + 1}
            yield {**event, "sequence_number": next(count)}
        if not answer.whole:
            return
        done = {"sequence_number": next(count)}
        if answer.finish == "length":
            details = {"incomplete_details": {"reason": "max_output_tokens"}}
            yield {"type": "response.incomplete", "response": {**response, **details}, **done}
            return
        if answer.usage is not None:
            response = {**response, "usage": _response_usage(answer.usage)}
        yield {"type": "response.completed", "response": response, **done}


def _words(answer: Answer) -> list[str]:
    return re.findall(r"\s*\S+", answer.say or "")


def _chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _response_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt + usage.completion,
    }


def _check_keys(body: dict[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted(body.keys() - known):
        raise Refused(f"unknown key {unknown[0]}")
    if not body.get("model"):
        raise Refused("model is missing")


def _check_chat(body: dict[str, Any]) -> None:
    _check_keys(body, _CHAT)
    _check_tools(body.get("tools") or (), lambda tool: tool["function"])
    waiting: list[str] = []
    for message in body.get("messages") or ():
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Refused(f"an output without its call: {message.get('tool_call_id')}")
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise Refused(f"a call without its output: {waiting[0]}")
        if role not in ("system", "developer", "user", "assistant"):
            raise Refused(f"unknown role {role}")
        waiting = [one["id"] for one in message.get("tool_calls") or ()]
    if waiting:
        raise Refused(f"a call without its output: {waiting[0]}")


def _check_tools(tools: Any, function_of: Any) -> None:
    for tool in tools:
        function = function_of(tool)
        if not _TOOL_NAME.fullmatch(function.get("name", "")):
            raise Refused(f"no name of a tool: {function.get('name')}")
        if function.get("strict"):
            _check_strict(function["name"], function.get("parameters") or {})


def _check_strict(name: str, schema: Any) -> None:
    """Check what strict tools demand of a schema: each key required, no others allowed."""
    if isinstance(schema, list):
        for one in schema:
            _check_strict(name, one)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise Refused(f"{name}: additionalProperties must be false")
        if set(schema.get("required") or ()) != set(schema.get("properties") or ()):
            raise Refused(f"{name}: each property must be required")
    for one in schema.values():
        _check_strict(name, one)


def _sse(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def _set(error: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in error.items() if value is not None}


def _wav(sound: bytes) -> bytes:
    whole = io.BytesIO()
    with wave.open(whole, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(SPEECH_RATE)
        recording.writeframes(sound)
    return whole.getvalue()
