"""What a reply's pieces cost on their way: one timer for all of them, and nothing that is empty."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import pytest
from livekit.agents import FlushSentinel, ModelSettings
from livekit.agents.llm import ChatChunk, ChatContext, CompletionUsage, LLMStream, Tool

from agents.handoff import Graph
from agents.testing import Conversation
from state.privacy.redaction import redact_whole, safe_length
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.hotel import Bar, Concierge, Reception, hotel, hotel_graph

WORDS = ("We ", "bake ", "all ", "day, ", "", "and ", "the ", "terrace ", "is ", "open. ")
COST = CompletionUsage(prompt_tokens=90, completion_tokens=9, total_tokens=99)


class Watched(Reception):
    """Sees what livekit gets of its replies."""

    passed: list[ChatChunk | str | FlushSentinel]

    async def llm_node(
        self, chat_ctx: ChatContext, tools: list[Tool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        pieces: AsyncIterable[Any] = super().llm_node(chat_ctx, tools, model_settings)
        async for piece in pieces:
            self.passed.append(piece)
            yield piece


def empty(piece: ChatChunk | str | FlushSentinel) -> bool:
    if isinstance(piece, ChatChunk):
        return piece.usage is None and not piece.has_response()
    return piece == ""


@pytest.mark.parametrize("redacted", [False, True])
async def test_nothing_empty_is_passed_on(redacted: bool) -> None:
    Watched.passed = []
    policy: dict[str, Any] = (
        {"redact_output": redact_whole, "safe_prefix": safe_length} if redacted else {}
    )
    graph = Graph((Watched, Concierge, Bar), hotel_graph().handoffs, start="reception")
    replies: list[list[Part]] = [
        ["Good evening."],
        ["", *WORDS, ("add_nights", '{"nights": 1}', "a"), ("transfer_to_bar", "{}", "b"), COST],
        ["A beer?", "", COST],
    ]

    async with Conversation(hotel(graph=graph, **policy), RawModel(*replies)) as talk:
        turn = await talk.user_says("A night and a beer")

    assert turn.said == ["".join(WORDS), "A beer?"]
    assert talk.state.nights == 1
    assert [piece for piece in Watched.passed if empty(piece)] == []
    assert talk.call.spending.total.model_calls == 2


async def test_a_long_reply_sets_no_more_timers_than_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    timers: list[float] = []
    call_at = loop.call_at

    def counted(when: float, *how: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(when)
        return call_at(when, *how, **more)

    monkeypatch.setattr(loop, "call_at", counted)
    model = RawModel(["Good evening."], ["Yes."], [*WORDS * 50])
    async with Conversation(hotel(), model) as talk:
        before = len(timers)
        await talk.user_says("Are you open?")
        short = len(timers) - before
        turn = await talk.user_says("Tell me everything")
        long = len(timers) - before - short

    assert turn.said == ["".join(WORDS) * 50]
    assert long == short


async def test_a_stream_is_gone_when_it_has_ended() -> None:
    """Without the collector, which comes late in a process with many calls."""
    model = Counted(["Good evening."], ["Yes."])
    gc.collect()
    gc.disable()
    try:
        async with Conversation(hotel(), model) as talk:
            for _ in range(5):
                await talk.user_says("Are you open?")
            left = [stream for stream in model.streams if stream() is not None]
    finally:
        gc.enable()

    assert len(model.streams) == 6
    assert left == []


class Counted(RawModel):
    """Keeps weak references to its streams."""

    def __init__(self, *replies: list[Part]) -> None:
        super().__init__(*replies)
        self.streams: list[weakref.ref[LLMStream]] = []

    def chat(self, *, chat_ctx: ChatContext, **how: Any) -> LLMStream:
        stream = super().chat(chat_ctx=chat_ctx, **how)
        self.streams.append(weakref.ref(stream))
        return stream
