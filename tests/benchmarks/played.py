"""A model that answers at once from a script and keeps nothing of what it was asked, however long the call.

The test kit's ``ScriptedLLM`` keeps every request, which is what a test wants and would cost more than what
is measured here.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, APIConnectOptions, NotGivenOr
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChoiceDelta,
    FunctionToolCall,
    LLMStream,
    Tool,
    ToolChoice,
)

from agents.testing import Step

LONG, PIECE = 200, 4
"""From how many characters on a reply comes in pieces, and how long those are."""


class PlayedLLM(LLM[Any]):
    """Plays steps in order, one for each request.

    Args:
        steps: May be endless.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        super().__init__()
        self._steps: Iterator[Step] = iter(steps)
        self.asked = 0
        self.watch: Callable[[ChatContext, Sequence[Tool]], None] | None = None
        """Override to count in every request."""

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
        """Answer with the next step."""
        self.asked += 1
        if self.watch is not None:
            self.watch(chat_ctx, tools or [])
        return _PlayedStream(
            self,
            next(self._steps),
            self.asked,
            chat_ctx=chat_ctx,
            tools=tools or [],
            conn_options=conn_options,
        )

    def over(self) -> bool:
        """Whether every step was played."""
        return next(self._steps, None) is None


class _PlayedStream(LLMStream):
    def __init__(
        self,
        llm: PlayedLLM,
        step: Step,
        number: int,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(llm, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._step = step
        self._number = number

    async def _run(self) -> None:
        step, number = self._step, self._number
        *first, last = _pieces(step.say)
        for piece in first:
            self._send(ChoiceDelta(role="assistant", content=piece))
        made = [
            FunctionToolCall(name=name, arguments=json.dumps(given), call_id=f"call_{number}_{at}")
            for at, (name, given) in enumerate(step.calls)
        ]
        self._send(ChoiceDelta(role="assistant", content=last, tool_calls=made))

    def _send(self, delta: ChoiceDelta) -> None:
        self._event_ch.send_nowait(ChatChunk(id=f"played_{self._number}", delta=delta))


def _pieces(said: str | None) -> list[str | None]:
    """Take a long reply apart as models send it: in pieces of about four characters."""
    if said is None or len(said) < LONG:
        return [said]
    return [said[at : at + PIECE] for at in range(0, len(said), PIECE)]


def texts(context: ChatContext) -> Iterator[tuple[str, str]]:
    """Role and text of each message of a request, and of each call and its answer."""
    for item in context.items:
        if item.type == "message":
            yield item.role, item.text_content or ""
        elif item.type == "function_call":
            yield "call", f"{item.name} {item.arguments}"
        elif item.type == "function_call_output":
            yield "output", item.output


def characters(context: ChatContext) -> int:
    """How much text a request holds."""
    return sum(len(text) for _, text in texts(context))
