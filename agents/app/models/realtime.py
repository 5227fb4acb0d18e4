"""OpenAI's realtime model, with audio input and text output.

It is used like every other model: ``chat`` requests a reply, and speech-to-text returns the
transcripts. So tools, redaction, turn numbers and handoffs work as with any model. livekit-agents 1.8.9
would run a ``RealtimeModel`` without ``llm_node``, and reply to words before the call has recorded them.

A call has one conversation with the provider. Before each request the conversation is synchronized
with the history of the request: audio whose transcript is in the history is kept; other audio is
replaced by the redacted text, or deleted.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import aiohttp
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    APIConnectionError,
    APIConnectOptions,
    APIStatusError,
    APITimeoutError,
)
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChatItem,
    ChatMessage,
    ChoiceDelta,
    CompletionUsage,
    FunctionCall,
    FunctionToolCall,
    LLMStream,
    RawFunctionTool,
    RealtimeError,
    Tool,
    function_tool,
)
from livekit.agents.llm.realtime import GenerationCreatedEvent, RealtimeModelError
from livekit.agents.utils import aio
from livekit.plugins.openai import realtime
from openai.types.realtime import AudioTranscription
from openai.types.realtime.realtime_audio_input_turn_detection import ServerVad
from pydantic import SecretStr

from agents.app.setting_values import OPENAI_URL, key_text
from agents.handoff import ModelFailure
from agents.handoff.model_requests import is_instructions

logger = logging.getLogger(__name__)

TRANSCRIPT_S = 2.0
"""How long a request waits for the transcript of the user's last words, in seconds."""

_CANCELLED_S = 2.0
"""How long a cancelled response may take to end, in seconds."""

_RENEW_S = 50 * 60.0
"""The age at which a connection is replaced between two requests, in seconds: the provider closes it
after an hour."""

_FINISH_FAULTS = {
    "max_output_tokens": "its reply was cut off at the longest it may be",
    "content_filter": "its reply was withheld by a filter",
}
_FINAL_CODES = {
    "insufficient_quota": "the account is out of credit",
    "invalid_api_key": "the key was not accepted",
}


class RealtimeLLM(LLM[Any]):
    """A realtime model of one call.

    Args:
        transcription: The name of the model that transcribes users' speech.
        base_url: The server's address; OpenAI's own without it.
        api_key: The key, if the server requires one.
        attempt_s: The timeout for the first word, and for each pause after it, in seconds.
        retries: How often it is retried.
        http: The HTTP session; a job's own without it.
    """

    def __init__(
        self,
        model: str,
        *,
        transcription: str,
        language: str,
        base_url: str | None,
        api_key: SecretStr | None,
        attempt_s: float,
        retries: int,
        http: aiohttp.ClientSession | None = None,
    ) -> None:
        super().__init__()
        self.reply_limit_s = attempt_s
        self.retries = retries
        self.language = language
        self._realtime = realtime.RealtimeModel(
            model=model,
            modalities=["text"],
            input_audio_transcription=AudioTranscription(
                model=transcription, language=language.partition("-")[0]
            ),
            # The provider detects utterances but does not reply: a reply is requested after the call
            # has recorded the user's words.
            turn_detection=ServerVad(
                type="server_vad",
                silence_duration_ms=400,
                create_response=False,
                interrupt_response=False,
            ),
            api_key=key_text(api_key),
            base_url=base_url or OPENAI_URL,
            http_session=http,
            max_session_duration=None,
            # ``conversation`` reconnects instead, with the history of the next request.
            conn_options=APIConnectOptions(max_retry=0, timeout=attempt_s),
        )
        self._conversation: RealtimeConversation | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._requests = asyncio.Lock()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._realtime.model

    @property
    def provider(self) -> str:
        """The server's name."""
        return self._realtime.provider

    def chat(
        self,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **others: Any,
    ) -> LLMStream:
        """Request a reply within this model's own limits; the agent retries ``retries`` times."""
        return _Reply(self, chat_ctx, tools or [], replace(conn_options, max_retry=0))

    def conversation(self) -> "RealtimeConversation":
        """Return the conversation with the provider; a new one if there is none, or it was lost."""
        current = self._conversation
        if current is None or current.lost is not None:
            self._drop_connection()
            current = self._conversation = RealtimeConversation(self._realtime)
        return current

    @asynccontextmanager
    async def request(self) -> AsyncIterator["RealtimeConversation"]:
        """Hold the conversation for one request, once the last response has ended."""
        async with self._requests:
            current = self._conversation
            if current is not None and (current.is_old or not await current.is_idle(_CANCELLED_S)):
                self._drop_connection()
            yield self.conversation()

    async def aclose(self) -> None:
        """Close the connection."""
        self._drop_connection()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._realtime.aclose()
        await super().aclose()

    def _drop_connection(self) -> None:
        old, self._conversation = self._conversation, None
        if old is not None:
            old.was_replaced = old.lost is None
            old.lose(APIConnectionError("the connection is replaced"))
            task = asyncio.create_task(old.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


class RealtimeConversation:
    """One connection to the provider, and its conversation."""

    def __init__(self, model: realtime.RealtimeModel) -> None:
        self.session = model.session()
        self.lost: Exception | None = None
        """Why it cannot be used any more; ``None`` while it can."""
        self.was_replaced = False
        """Whether it was replaced by a new connection before it was lost."""
        self.responses: dict[str, dict[str, Any]] = {}
        """The responses that have ended, as the provider reported them."""
        self._listeners: list[Callable[[dict[str, Any] | None], None]] = []
        self._untranscribed: set[str] = set()
        self._changed = asyncio.Event()
        self._responding = False
        self._began = asyncio.get_running_loop().time()
        self.session.on("openai_server_event_received", self._received)
        self.session.on("error", self._failed)

    @property
    def is_old(self) -> bool:
        """Whether the provider will close it soon."""
        return asyncio.get_running_loop().time() - self._began > _RENEW_S

    def listen(self, listener: Callable[[dict[str, Any] | None], None]) -> Callable[[], None]:
        """Call a function with each of the provider's events, and with ``None`` at its loss.

        Returns:
            A function that removes the listener.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def lose(self, why: Exception) -> None:
        """Mark it as lost: it cannot be used any more."""
        if self.lost is None:
            self.lost = why
            self._notify(None)

    async def is_idle(self, limit_s: float) -> bool:
        """Wait until no response is under way; returns whether it ended in time."""
        return await self._wait(lambda: not self._responding, limit_s)

    async def transcribed(self, limit_s: float) -> bool:
        """Wait until all speech is transcribed; returns whether it was in time."""
        return await self._wait(lambda: not self._untranscribed, limit_s)

    async def ask(
        self, context: ChatContext, tools: list[Tool], instructions: str
    ) -> GenerationCreatedEvent:
        """Synchronize the conversation with a history, and request a response.

        Raises:
            RealtimeError: The provider does not accept it.
        """
        await self.transcribed(TRANSCRIPT_S)
        wanted = aligned(context, self.session.chat_ctx)
        await self.session.update_chat_ctx(wanted)
        self._responding = True
        return await self.session.generate_reply(
            instructions=instructions, tools=tools, tool_choice="auto" if tools else "none"
        )

    def stop(self) -> None:
        """Cancel the response under way."""
        if self._responding and self.lost is None:
            self.session.interrupt()

    async def aclose(self) -> None:
        """Close the connection."""
        with suppress(Exception):  # of any type: the plugin raises its last error again
            await self.session.aclose()

    async def _wait(self, is_true: Callable[[], bool], limit_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not is_true() and self.lost is None:
                    await self._changed.wait()
        return is_true()

    def _received(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "response.done":
                self.responses = {event["response"]["id"]: event["response"]}
                self._responding = False
            case "error":
                error = event.get("error") or {}
                if not str(error.get("message", "")).startswith("Cancellation failed"):
                    self._responding = False
            case "input_audio_buffer.committed":
                self._untranscribed.add(event["item_id"])
            case (
                "conversation.item.input_audio_transcription.completed"
                | "conversation.item.input_audio_transcription.failed"
            ):
                self._untranscribed.discard(event["item_id"])
        self._notify(event)

    def _failed(self, error: RealtimeModelError) -> None:
        if not error.recoverable:
            self.lose(error.error)

    def _notify(self, event: dict[str, Any] | None) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        for listener in tuple(self._listeners):
            listener(event)


class _Reply(LLMStream):
    def __init__(
        self,
        model: RealtimeLLM,
        chat_ctx: ChatContext,
        tools: list[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(model, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._realtime = model
        self._spoke = False

    async def _run(self) -> None:
        limit_s = self._realtime.reply_limit_s
        try:
            async with asyncio.timeout(limit_s) as self._limit, self._realtime.request() as held:
                try:
                    await self._respond(held)
                except RealtimeError as error:
                    raise _failure(held.lost or error, spoke=self._spoke) from error
                finally:
                    held.stop()
        except TimeoutError as error:
            raise APITimeoutError(retryable=False) from error

    async def _respond(self, held: RealtimeConversation) -> None:
        instructions, rest = split_instructions(self._chat_ctx)
        made = await held.ask(rest, [plain_tool(one) for one in self._tools], instructions)
        response_id = made.response_id or ""
        async with asyncio.TaskGroup() as streams:
            streams.create_task(self._forward_text(made, response_id))
            streams.create_task(self._forward_calls(made, response_id))
        ended = held.responses.get(response_id)
        if ended is None:
            raise _failure(held.lost, spoke=self._spoke)
        try:
            _check_status(ended, spoke=self._spoke)
        except ModelFailure as failure:
            if failure.message in _FINAL_CODES.values():  # the plugin will close the connection
                held.lose(failure)
            raise
        if usage := ended.get("usage"):
            self._emit(ChatChunk(id=response_id, usage=_usage(usage)))

    async def _forward_text(self, made: GenerationCreatedEvent, response_id: str) -> None:
        async for message in made.message_stream:
            async for text in message.text_stream:
                delta = ChoiceDelta(role="assistant", content=str(text))
                self._emit(ChatChunk(id=response_id, delta=delta))

    async def _forward_calls(self, made: GenerationCreatedEvent, response_id: str) -> None:
        async for call in made.function_stream:
            asked = FunctionToolCall(name=call.name, arguments=call.arguments, call_id=call.call_id)
            delta = ChoiceDelta(role="assistant", tool_calls=[asked])
            self._emit(ChatChunk(id=response_id, delta=delta))

    def _emit(self, chunk: ChatChunk) -> None:
        self._spoke = self._spoke or chunk.has_response()
        if not self._limit.expired():
            loop = asyncio.get_running_loop()
            self._limit.reschedule(loop.time() + self._realtime.reply_limit_s)
        with suppress(aio.ChanClosed):
            self._event_ch.send_nowait(chunk)


def _failure(error: Exception | None, *, spoke: bool) -> Exception:
    """Return the error of a request whose response is missing or incomplete."""
    cause = error.__cause__ if error is not None else None
    if isinstance(cause, aiohttp.WSServerHandshakeError):
        return APIStatusError("refused", status_code=cause.status, retryable=cause.status >= 429)
    code = getattr(getattr(error, "body", error), "code", None)
    if isinstance(code, str) and code in _FINAL_CODES:
        return ModelFailure(_FINAL_CODES[code], retryable=False)
    if isinstance(error, RealtimeError) and code is not None:
        return ModelFailure("it rejected the request", retryable=False)
    message = "its connection was lost" if error is not None else "its reply broke off"
    return ModelFailure(message, retryable=not spoke)


def _check_status(response: dict[str, Any], *, spoke: bool) -> None:
    status, details = response.get("status"), response.get("status_details") or {}
    if status == "completed":
        return
    code = str((details.get("error") or {}).get("code"))
    if status == "failed":
        message = _FINAL_CODES.get(code, "it failed")
        raise ModelFailure(message, retryable=not spoke and code not in _FINAL_CODES)
    reason = _FINISH_FAULTS.get(details.get("reason", ""), "its reply broke off")
    raise ModelFailure(reason, retryable=False)


def _usage(usage: dict[str, Any]) -> CompletionUsage:
    details = usage.get("input_token_details") or {}
    return CompletionUsage(
        completion_tokens=usage.get("output_tokens", 0),
        prompt_tokens=usage.get("input_tokens", 0),
        prompt_cached_tokens=details.get("cached_tokens", 0),
        total_tokens=usage.get("total_tokens", 0),
    )


def split_instructions(context: ChatContext) -> tuple[str, ChatContext]:
    """Return the instructions a history begins with, and the rest of it."""
    items, texts = list(context.items), []
    while items and is_instructions(items[0]):
        first = items.pop(0)
        texts.append(first.text_content if isinstance(first, ChatMessage) else None)
    return "\n\n".join(filter(None, texts)), ChatContext(items)


def plain_tool(tool: Tool) -> Tool:
    """Return a tool whose schema is not strict: the realtime API refuses strict ones."""
    if not isinstance(tool, RawFunctionTool) or "strict" not in tool.info.raw_schema:
        return tool
    schema = {name: value for name, value in tool.info.raw_schema.items() if name != "strict"}

    async def never(raw_arguments: dict[str, object]) -> None:
        raise NotImplementedError  # the agent's own tool is run

    return function_tool(never, raw_schema=schema)


def aligned(wanted: ChatContext, remote: ChatContext) -> ChatContext:
    """Return a history in which items that the provider has already have the provider's ids.

    Audio is equal to a message with its transcript, so it stays in the conversation. Other items of
    the provider that are not in the history will be deleted.
    """
    known = {item.id for item in wanted.items}
    own = [item for item in remote.items if item.id not in known]  # made by the provider
    items: list[ChatItem] = []
    for item in wanted.items:
        if item.type not in ("message", "function_call", "function_call_output"):
            continue
        found = _matching_items(item, own)
        if found:
            own = own[own.index(found[-1]) + 1 :]
        items.extend(found or [item])
    return ChatContext(items)


def _matching_items(item: ChatItem, own: list[ChatItem]) -> list[ChatItem]:
    """Return the provider's items that are equal to an item of the history; empty if none are."""
    if isinstance(item, FunctionCall):
        made = (item.call_id, item.name, item.arguments)
        for call in own:
            if isinstance(call, FunctionCall) and (call.call_id, call.name, call.arguments) == made:
                return [call]
        return []
    if not isinstance(item, ChatMessage):
        return []
    text = item.text_content or ""
    messages = [one for one in own if isinstance(one, ChatMessage) and one.role == item.role]
    for at in range(len(messages)):
        joined, run = "", list[ChatItem]()
        for one in messages[at:]:
            run.append(one)
            joined = f"{joined} {(one.text_content or '').strip()}".strip()
            if joined == text.strip():
                return run
            if item.role != "user" or not text.startswith(joined):
                break
    return []
