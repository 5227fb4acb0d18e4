"""The language model that needs no key: deterministic, built with a menu, and honest about what it is.

It stands behind livekit's ``llm.LLM``, so the conversation around it is the same as with a provider's
model. It sees what any model sees - instructions, the order as data, what was said, its tools and their
answers - and it knows the menu.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import count
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

from bella_vista.local.dialogue import Dialogue
from bella_vista.local.policy import Move
from bella_vista.local.scene import scene_of
from state.menu import Menu


class LocalLLM(LLM[Any]):
    """Takes straightforward orders on any menu, without a network.

    Args:
        menu: What can be ordered.
        now: The present time, aware; needed for "at seven" and for "are you open".
    """

    def __init__(self, menu: Menu, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._dialogue = Dialogue(menu, now)
        self._numbers = count(1)

    @property
    def model(self) -> str:
        """Its name: rules, no neural network."""
        return "local-rules"

    @property
    def provider(self) -> str:
        """The provider's name, as livekit reports it."""
        return "bella-vista"

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
        """Answer one request."""
        return _LocalStream(
            self,
            self._dialogue,
            f"local_{next(self._numbers)}",
            chat_ctx=chat_ctx,
            tools=tools or [],
            conn_options=conn_options,
        )


class _LocalStream(LLMStream):
    def __init__(
        self,
        llm: LocalLLM,
        dialogue: Dialogue,
        name: str,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(llm, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._dialogue = dialogue
        self._name = name

    async def _run(self) -> None:
        scene = scene_of(self._chat_ctx, frozenset(tool.id for tool in self._tools))
        self._event_ch.send_nowait(
            ChatChunk(id=self._name, delta=self._delta(self._dialogue.move(scene)))
        )

    def _delta(self, move: Move) -> ChoiceDelta:
        about = f"-{move.about}" if move.about else ""
        return ChoiceDelta(
            role="assistant",
            content=move.words or None,
            tool_calls=[
                FunctionToolCall(
                    name=call.name,
                    arguments=call.as_json(),
                    call_id=f"{self._name}_{place}{about}",
                )
                for place, call in enumerate(move.calls)
            ],
        )
