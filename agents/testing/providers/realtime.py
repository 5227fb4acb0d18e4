"""OpenAI's realtime API: one conversation over a WebSocket, sound in, text out."""

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web

from agents.testing.providers.connection import Progress, Refused, SpeechDetector
from agents.testing.providers.script import Answer, Utterance

RATE = 24_000
"""The sample rate of its sound, in hertz."""

_LEAST_S = 0.1
"""How much sound a commit needs, in seconds."""

_LONGEST_ID = 32
"""The longest id of an item or a call."""

_KEYS: dict[str, str] = {
    "session.update": "session",
    "input_audio_buffer.append": "audio",
    "input_audio_buffer.commit": "",
    "input_audio_buffer.clear": "",
    "conversation.item.create": "item previous_item_id",
    "conversation.item.delete": "item_id",
    "response.create": "response",
    "response.cancel": "response_id",
}
_SESSION = frozenset(
    "type model output_modalities audio instructions tools tool_choice max_output_tokens tracing"
    " truncation include parallel_tool_calls reasoning".split()
)
_RESPONSE = frozenset(
    "instructions tools tool_choice metadata max_output_tokens output_modalities audio conversation"
    " input parallel_tool_calls reasoning".split()
)
_TOOL = frozenset({"type", "name", "description", "parameters"})
_CONTENT = {"user": "input_text", "assistant": "output_text", "system": "input_text"}
_DETECTION = frozenset(
    "type threshold prefix_padding_ms silence_duration_ms create_response interrupt_response"
    " eagerness idle_timeout_ms".split()
)
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CODES = {401: "invalid_api_key", 402: "insufficient_quota", 429: "rate_limit_exceeded"}


class _Rejected(Refused):
    """An error event of the service; ``expected`` ones are no fault of the client's."""

    def __init__(
        self, message: str, code: str = "invalid_value", *, expected: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.expected = expected


class Realtime:
    """The stand-in for the realtime API.

    Args:
        progress: The requests, and the answers that are left.
        admit: Checks the key of a request.
        answer: Returns how a response is made, and its number.
    """

    def __init__(
        self,
        progress: Progress,
        admit: Callable[[web.Request, dict[str, Any] | None], None],
        answer: Callable[[dict[str, Any]], tuple[Answer, int]],
    ) -> None:
        self._progress, self._admit, self._answer = progress, admit, answer

    def routes(self) -> list[web.RouteDef]:
        """Return what it serves."""
        return [web.get("/v1/realtime", self._serve)]

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        self._admit(request, None)
        if not request.query.get("model"):
            raise self._progress.refuse("openai", "model is missing")
        socket = await self._progress.accept("openai", request)
        conversation = _Conversation(self._progress, request, socket, self._answer)
        leave = asyncio.create_task(self._leave(socket))
        try:
            await conversation.send("session.created", session={"type": "realtime"})
            async for message in socket:
                if message.type != WSMsgType.TEXT:
                    break
                event = json.loads(message.data)
                if event.get("type") not in ("input_audio_buffer.append", "response.create"):
                    self._admit(request, event)
                elif event["type"] == "response.create":
                    self._admit(request, {**event, "items": conversation.snapshot()})
                await conversation.take(event)
        except web.HTTPException:  # it refuses everything from now on
            await socket.close(code=1008)
        finally:
            leave.cancel()
            await conversation.aclose()
        return socket

    async def _leave(self, socket: web.WebSocketResponse) -> None:
        await self._progress.closing.wait()
        await socket.close()


class _Conversation:
    def __init__(
        self,
        progress: Progress,
        request: web.Request,
        socket: web.WebSocketResponse,
        answer: Callable[[dict[str, Any]], tuple[Answer, int]],
    ) -> None:
        self._progress, self._request, self._socket = progress, request, socket
        self._answer = answer
        self._session: dict[str, Any] = {}
        self._items: list[dict[str, Any]] = []
        self._made: set[str] = set()
        self._sent = self._ids = 0
        self._detector = SpeechDetector(RATE, progress.quiet_s)
        self._buffered_s = 0.0
        self._speaking: str | None = None
        self._response: asyncio.Task[None] | None = None
        self._response_id = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def snapshot(self) -> list[dict[str, Any]]:
        """Return the conversation's items as they are now."""
        return [dict(item) for item in self._items]

    async def send(self, kind: str, **fields: Any) -> None:
        """Send an event."""
        self._sent += 1
        if not self._socket.closed:
            await self._socket.send_json(
                {"type": kind, "event_id": f"event_{self._sent}", **fields}
            )

    async def aclose(self) -> None:
        """Cancel what is under way."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take(self, event: dict[str, Any]) -> None:
        """Handle an event of the client's, or refuse it as the service would."""
        try:
            kind = event.get("type", "")
            if kind not in _KEYS:
                raise _Rejected(f"unknown event {kind}")
            _known(event, frozenset(f"type event_id {_KEYS[kind]}".split()), kind)
            await getattr(self, f"_{kind.replace('.', '_')}")(event)
        except Refused as refused:
            code = refused.code if isinstance(refused, _Rejected) else "invalid_value"
            if not (isinstance(refused, _Rejected) and refused.expected):
                self._progress.faults.append(f"openai: {refused}")
            error = {"type": "invalid_request_error", "code": code, "message": str(refused)}
            await self.send("error", error={**error, "event_id": event.get("event_id")})

    # -- the session and its items -----------------------------------------------------------------

    async def _session_update(self, event: dict[str, Any]) -> None:
        session = event.get("session") or {}
        _known(session, _SESSION, "session")
        if session.get("type") != "realtime":
            raise _Rejected("session.type has to be realtime")
        modalities = session.get("output_modalities")
        if modalities not in (None, ["text"], ["audio"]):
            raise _Rejected(f"output_modalities cannot be {modalities}")
        if modalities == ["audio"]:
            raise _Rejected("this stand-in answers in text only")
        detection = ((session.get("audio") or {}).get("input") or {}).get("turn_detection") or {}
        _known(detection, _DETECTION, "session.audio.input.turn_detection")
        if detection and detection.get("create_response") is not False:
            raise _Rejected("this stand-in does not answer by itself: set create_response")
        _check_tools(session.get("tools") or (), "session")
        self._session.update(session)
        await self.send("session.updated", session=self._session)

    async def _conversation_item_create(self, event: dict[str, Any]) -> None:
        item = dict(event.get("item") or {})
        ids = [one["id"] for one in self._items]
        item.setdefault("id", self._new_id())
        if len(item["id"]) > _LONGEST_ID or len(item.get("call_id", "")) > _LONGEST_ID:
            raise _Rejected("string too long: an id has at most 32 characters")
        if item["id"] in ids:
            code = "item_create_duplicate_item_id"
            raise _Rejected(f"there is an item {item['id']} already", code)
        self._check_item(item)
        before = event.get("previous_item_id")
        if before not in (None, "root", *ids):
            raise _Rejected(f"there is no item {before} to follow")
        at = len(ids) if before is None else 0 if before == "root" else ids.index(before) + 1
        await self._add(item, at)

    def _check_item(self, item: dict[str, Any]) -> None:
        match item.get("type"):
            case "message":
                wanted = _CONTENT.get(item.get("role", ""))
                parts = item.get("content") or ()
                if wanted is None or not parts or any(part["type"] != wanted for part in parts):
                    raise _Rejected(f"no content of a message by {item.get('role')}: {parts}")
            case "function_call":
                json.loads(item["arguments"])
                self._made.add(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in self._made:
                    raise _Rejected(f"an output without its call: {item['call_id']}")
            case kind:
                raise _Rejected(f"unknown item {kind}")

    async def _add(self, item: dict[str, Any], at: int | None = None) -> None:
        at = len(self._items) if at is None else at
        before = self._items[at - 1]["id"] if at else None
        self._items.insert(at, item)
        await self.send("conversation.item.added", previous_item_id=before, item=item)

    async def _conversation_item_delete(self, event: dict[str, Any]) -> None:
        left = [item for item in self._items if item["id"] != event.get("item_id")]
        if len(left) == len(self._items):
            raise _Rejected(
                f"there is no item {event.get('item_id')}", "item_delete_invalid_item_id"
            )
        self._items = left
        await self.send("conversation.item.deleted", item_id=event["item_id"])

    # -- sound -------------------------------------------------------------------------------------

    async def _input_audio_buffer_append(self, event: dict[str, Any]) -> None:
        try:
            data = base64.b64decode(event.get("audio", ""), validate=True)
        except binascii.Error:
            raise _Rejected("audio is no base64") from None
        self._buffered_s += len(data) / 2 / RATE
        found = self._detector.hear(data)
        if found == "began":
            self._speaking = self._new_id()
            name = "input_audio_buffer.speech_started"
            await self.send(name, item_id=self._speaking, audio_start_ms=0)
        elif found == "ended":
            name = "input_audio_buffer.speech_stopped"
            await self.send(name, item_id=self._speaking, audio_end_ms=0)
            await self._commit()

    async def _input_audio_buffer_commit(self, event: dict[str, Any]) -> None:
        if self._buffered_s < _LEAST_S:
            raise _Rejected("the buffer is empty", "input_audio_buffer_commit_empty", expected=True)
        self._detector.end()
        await self._commit()

    async def _input_audio_buffer_clear(self, event: dict[str, Any]) -> None:
        self._detector.end()
        self._speaking, self._buffered_s = None, 0.0
        await self.send("input_audio_buffer.cleared")

    async def _commit(self) -> None:
        item_id = self._speaking or self._new_id()
        self._speaking, self._buffered_s = None, 0.0
        before = self._items[-1]["id"] if self._items else None
        name = "input_audio_buffer.committed"
        await self.send(name, item_id=item_id, previous_item_id=before)
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": item_id, "type": "message", "role": "user", "content": content}
        await self._add({**item, "status": "completed"})
        if (utterance := self._progress.utterance()) is not None:
            self._spawn(self._transcribe(item_id, utterance))

    async def _transcribe(self, item_id: str, utterance: Utterance) -> None:
        kind = "conversation.item.input_audio_transcription"
        where = {"item_id": item_id, "content_index": 0}
        sent = ""
        for words in utterance.interim:
            if words.startswith(sent):  # pieces are only added, never taken back
                await self.send(f"{kind}.delta", **where, delta=words[len(sent) :])
                sent = words
        await self._progress.pause(utterance.delay_s)
        if utterance.closes is not None:
            await self._socket.close(code=utterance.closes)
            return
        for _ in range(utterance.finals):
            usage = {"type": "duration", "seconds": 1}
            await self.send(f"{kind}.completed", **where, transcript=utterance.text, usage=usage)
        for item in self._items:
            if item["id"] == item_id and utterance.finals:
                item["content"] = [{"type": "input_audio", "transcript": utterance.text}]

    # -- responses ---------------------------------------------------------------------------------

    async def _response_create(self, event: dict[str, Any]) -> None:
        asked = event.get("response") or {}
        _known(asked, _RESPONSE, "response")
        _check_tools(asked.get("tools") or (), "response")
        if self._response is not None:
            code = "conversation_already_has_active_response"
            raise _Rejected("Conversation already has an active response", code)
        if self._session.get("output_modalities") != ["text"]:
            raise _Rejected("no session.update has come yet")
        answer, number = self._answer({**event, "items": self.snapshot()})
        self._response_id = f"resp_{number}"
        self._response = self._spawn(self._respond(answer, number, asked.get("metadata")))

    async def _response_cancel(self, event: dict[str, Any]) -> None:
        named = event.get("response_id")
        if self._response is None or named not in (None, self._response_id):
            message = "Cancellation failed: no active response found"
            raise _Rejected(message, "response_cancel_not_active", expected=True)
        self._response.cancel()
        self._response = None
        details = {"type": "cancelled", "reason": "client_cancelled"}
        await self._done("cancelled", details)

    async def _respond(self, answer: Answer, number: int, metadata: Any) -> None:
        await self._progress.pause(answer.delay_s)
        if answer.stalls == "headers":
            await self._progress.closing.wait()
        made = {"id": self._response_id, "object": "realtime.response", "status": "in_progress"}
        await self.send("response.created", response={**made, "output": [], "metadata": metadata})
        if answer.status != 200:
            error = {
                "type": "invalid_request_error",
                "code": _CODES.get(answer.status, "server_error"),
            }
            self._response = None
            await self._done("failed", {"type": "failed", "error": error})
            return
        if answer.stalls == "words":
            await self._progress.closing.wait()
        index = 0
        if answer.say:
            await self._say(answer, index)
            index += 1
        whole = len(answer.calls) if answer.whole else answer.whole_calls
        for at in range(whole):
            await self._call(answer, number, at, index + at)
        if not answer.whole:
            await self._break(answer)
            return
        self._response = None
        if answer.finish in ("length", "content_filter"):
            reason = "max_output_tokens" if answer.finish == "length" else "content_filter"
            await self._done("incomplete", {"type": "incomplete", "reason": reason}, answer)
        else:
            await self._done("completed", None, answer)

    async def _say(self, answer: Answer, index: int) -> None:
        item: dict[str, Any] = {"id": self._new_id(), "type": "message", "role": "assistant"}
        where = {"response_id": self._response_id, "output_index": index, "item_id": item["id"]}
        added = {**item, "content": [], "status": "in_progress"}
        await self.send("response.output_item.added", **_without_item(where), item=added)
        await self._add(added)
        part = {**where, "content_index": 0}
        await self.send("response.content_part.added", **part, part={"type": "text", "text": ""})
        said = ""
        for word in re.findall(r"\s*\S+", answer.say or ""):
            said += word
            await self.send("response.output_text.delta", **part, delta=word)
        if not answer.whole and not answer.calls:
            return
        await self.send("response.output_text.done", **part, text=said)
        added["content"], added["status"] = [{"type": "output_text", "text": said}], "completed"
        await self.send("response.output_item.done", **_without_item(where), item=added)

    async def _call(self, answer: Answer, number: int, at: int, index: int) -> None:
        made = answer.calls[at]
        call_id = f"call_{number}_{at}"
        item = {
            "id": self._new_id(),
            "type": "function_call",
            "call_id": call_id,
            "name": made.name,
        }
        where = {"response_id": self._response_id, "output_index": index}
        added = {**item, "arguments": "", "status": "in_progress"}
        await self.send("response.output_item.added", **where, item=added)
        await self._add(added)
        self._made.add(call_id)
        text = json.dumps(dict(made.arguments))
        if answer.finish == "length" and at >= answer.whole_calls:
            text = text[:-1]
        added["arguments"], added["status"] = text, "completed"
        kind = "response.function_call_arguments.done"
        await self.send(kind, **where, item_id=item["id"], call_id=call_id, arguments=text)
        await self.send("response.output_item.done", **where, item=added)

    async def _break(self, answer: Answer) -> None:
        if answer.stalls == "end":
            await self._progress.closing.wait()
        match answer.breaks:
            case "hard" if self._request.transport is not None:
                self._request.transport.abort()
            case "soft":
                await self._socket.close(code=1011)
            case "error":
                self._response = None
                error = {"type": "server_error", "code": "server_error"}
                await self._done("failed", {"type": "failed", "error": error})
            case _:
                await self._socket.send_str('{"type": "response.')

    async def _done(
        self, status: str, details: dict[str, Any] | None, answer: Answer | None = None
    ) -> None:
        response: dict[str, Any] = {"id": self._response_id, "object": "realtime.response"}
        response |= {"status": status, "status_details": details, "output": [], "usage": None}
        if answer is not None and (usage := answer.usage) is not None:
            response["usage"] = {
                "input_tokens": usage.prompt,
                "output_tokens": usage.completion,
                "total_tokens": usage.prompt + usage.completion,
                "input_token_details": {"cached_tokens": usage.cached, "text_tokens": usage.prompt},
                "output_token_details": {"text_tokens": usage.completion},
            }
        await self.send("response.done", response=response)

    def _spawn(self, work: Any) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _new_id(self) -> str:
        self._ids += 1
        return f"item_server_{self._ids}"


def _without_item(where: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in where.items() if name != "item_id"}


def _known(given: dict[str, Any], names: frozenset[str], where: str) -> None:
    if unknown := sorted(given.keys() - names):
        raise _Rejected(f"Unknown parameter: '{where}.{unknown[0]}'.", "unknown_parameter")


def _check_tools(tools: Any, where: str) -> None:
    for at, tool in enumerate(tools):
        _known(tool, _TOOL, f"{where}.tools[{at}]")
        if tool.get("type") != "function" or not _TOOL_NAME.fullmatch(tool.get("name", "")):
            raise _Rejected(f"no tool: {tool.get('name')}")
