"""A model that streams exactly what a test gives it, however odd: what no provider promises not to send."""

import asyncio
from collections.abc import Iterable
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, APIConnectOptions, NotGivenOr
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChoiceDelta,
    CompletionUsage,
    FunctionToolCall,
    LLMStream,
    Tool,
    ToolChoice,
)

Part = (
    str | tuple[str, str | None, str | None] | CompletionUsage | Exception | asyncio.Event | float
)
"""Words; a call as name, arguments and id; what it says it cost; what the stream raises there; what it waits
for; or how long, in seconds of the loop's clock."""


class RawModel(LLM[Any]):
    """Streams each reply's parts one by one; the last reply is given again when asked for more.

    A request that livekit repeats inside its stream gets the next reply, as it would from a provider.
    """

    def __init__(self, *replies: Iterable[Part]) -> None:
        super().__init__()
        self.replies = [tuple(reply) for reply in replies]
        self.asked: list[ChatContext] = []
        self.offered: list[list[str]] = []
        self.repeated = 0
        """How often livekit repeated a request inside a stream."""

    def chat(
        self,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        parallel_tool_calls: NotGivenOr[bool] = NOT_GIVEN,
        tool_choice: NotGivenOr[ToolChoice] = NOT_GIVEN,
        extra_kwargs: NotGivenOr[dict[str, Any]] = NOT_GIVEN,
    ) -> LLMStream:
        self.asked.append(chat_ctx.copy())
        self.offered.append([tool.id for tool in tools or ()])
        return RawStream(
            self,
            self.next_reply(chat_ctx),
            chat_ctx=chat_ctx,
            tools=tools or [],
            conn_options=conn_options,
        )

    def next_reply(self, chat_ctx: ChatContext) -> tuple[Part, ...]:
        """Choose what the last request is answered with."""
        return self.replies[min(len(self.asked) + self.repeated, len(self.replies)) - 1]

    def outputs(self, asked: int = -1) -> list[str]:
        """What tools had answered when the model was asked."""
        return [
            item.output for item in self.asked[asked].items if item.type == "function_call_output"
        ]


class RawStream(LLMStream):
    """Streams the parts of one reply."""

    def __init__(
        self,
        llm: RawModel,
        parts: tuple[Part, ...],
        *,
        chat_ctx: ChatContext,
        tools: list[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(llm, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._model = llm
        self._parts = parts
        self._ran = False

    async def _run(self) -> None:
        if self._ran:
            self._model.repeated += 1
            self._parts = self._model.next_reply(self._chat_ctx)
        self._ran = True
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            if isinstance(part, asyncio.Event):
                await part.wait()
                continue
            if isinstance(part, int | float):
                await asyncio.sleep(part)
                continue
            if isinstance(part, CompletionUsage):
                self._event_ch.send_nowait(ChatChunk(id="raw", usage=part))
                continue
            if isinstance(part, str):
                delta = ChoiceDelta(role="assistant", content=part)
            else:
                name, arguments, call_id = part
                # What providers send is not always what livekit's type says.
                fields: dict[str, Any] = {"name": name, "arguments": arguments, "call_id": call_id}
                made = FunctionToolCall.model_construct(**fields, type="function", extra=None)
                delta = ChoiceDelta.model_construct(
                    role="assistant", content=None, tool_calls=[made], extra=None
                )
            self._event_ch.send_nowait(ChatChunk(id="raw", delta=delta))
