"""Each of livekit's OpenAI models, over each of its connections: a broken stream makes nothing twice."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, get_args

import pytest
from livekit.agents import APIConnectOptions, utils
from livekit.agents.llm import LLM, FallbackAdapter
from livekit.plugins import openai
from pydantic import SecretStr

from agents.app.models.openai import OpenAIModel
from agents.handoff import CallPolicy
from agents.testing import Conversation, Turn
from tests.agents.app.models.openai.breaking import (
    AFTER,
    LISTENS,
    WANTED,
    Break,
    BreakingProvider,
    Piece,
)
from tests.agents.app.models.openai.talking import KEY
from tests.agents.hotel import Stay, hotel

TROUBLE = CallPolicy.trouble
NIGHT: Piece = ("add_nights", {"nights": 1})
TWO_NIGHTS: Piece = ("add_nights", {"nights": 2})
BAR: Piece = ("transfer_to_bar", {})
REST: tuple[Piece, ...] = ("A taxi is five.", ("set_guest", {"name": "Ada"}))

ARRIVED: dict[str, tuple[Piece, ...]] = {
    "nothing": (),
    "words": ("It costs ", "ten."),
    "a call": (NIGHT,),
    "two calls": (NIGHT, TWO_NIGHTS),
    "words and two calls": ("It costs ", "ten.", NIGHT, TWO_NIGHTS),
    "a transfer and a call": (BAR, NIGHT),
    "two calls and a transfer": (NIGHT, TWO_NIGHTS, BAR),
}


def chat(url: str) -> LLM[Any]:
    return openai.LLM(model="test-model", api_key=KEY, base_url=url)


def ours(url: str) -> LLM[Any]:
    return OpenAIModel(
        "test-model", base_url=url, api_key=SecretStr(KEY), attempt_s=20.0, retries=2
    )


def responses(url: str) -> LLM[Any]:
    return openai.responses.LLM(model="test-model", api_key=KEY, base_url=url, use_websocket=False)


def over_websocket(url: str) -> LLM[Any]:
    return openai.responses.LLM(
        model="test-model", api_key=KEY, base_url=f"{url}/responses", use_websocket=True
    )


MODELS: dict[str, Callable[[str], LLM[Any]]] = {
    "chat": chat,
    "chat, watched": ours,
    "responses": responses,
    "responses over WebSocket": over_websocket,
}


@asynccontextmanager
async def held(
    build: Callable[[str], LLM[Any]], provider: BreakingProvider, **policy: Any
) -> AsyncIterator[Conversation[Stay, None]]:
    async with provider.running() as server, utils.http_context.open():
        model = build(server.openai_url)
        try:
            async with Conversation(hotel(**policy), model) as talk:
                yield talk
        finally:
            await model.aclose()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked again is asked again at once."""
    monkeypatch.setattr(APIConnectOptions, "_interval_for_retry", lambda *_: 0.0)


def holds(turn: Turn, state: Stay, provider: BreakingProvider) -> None:
    """The invariants after every failure."""
    said = " ".join(turn.said)
    assert said.strip()
    for words in ("It costs", "ten.", "A taxi", AFTER, LISTENS, TROUBLE):
        assert said.count(words) <= 1, said
    assert len({str(tool.arguments) for tool in turn.tools}) == len(turn.tools)
    done = [tool for tool in turn.tools if not tool.is_error]
    assert state.nights == sum(tool.arguments.get("nights", 0) for tool in done)
    assert turn.commands == [
        *(tool.name for tool in done),
        *(["hand_over"] if turn.handoffs else []),
    ]
    assert len(turn.handoffs) + len(turn.refused) <= 1
    assert len(turn.your_turns) == 1
    if turn.tools and not turn.handoffs:
        assert sorted(provider.outputs) == sorted(tool.output for tool in turn.tools)


@pytest.mark.parametrize("arrived", ARRIVED)
@pytest.mark.parametrize("breaks", [one for one in get_args(Break) if one != "nothing comes"])
@pytest.mark.parametrize("model", MODELS)
async def test_a_broken_stream_is_said_and_done_once(
    model: str, breaks: Break, arrived: str
) -> None:
    provider = BreakingProvider(ARRIVED[arrived], REST, breaks, 1)
    async with held(MODELS[model], provider) as talk:
        turn = await talk.user_says(WANTED)
        state = talk.state
        after = await talk.user_says("Hello?")

    holds(turn, state, provider)
    assert after.said in ([LISTENS], [AFTER])
    # A call of chat completions has arrived when the next one begins.
    if arrived != "nothing" and not (arrived == "a call" and model.startswith("chat")):
        assert provider.attempts == 1
        assert state.guest is None


@pytest.mark.parametrize("model", MODELS)
async def test_a_stream_that_falls_silent_is_said_and_done_once(model: str) -> None:
    provider = BreakingProvider(ARRIVED["words and two calls"], REST, "nothing comes", 9)
    async with held(MODELS[model], provider, think_limit_s=0.5) as talk:
        turn = await talk.user_says(WANTED)
        state = talk.state

    holds(turn, state, provider)
    assert provider.attempts == 1


@pytest.mark.parametrize("model", MODELS)
async def test_a_stream_that_breaks_before_a_word_is_asked_again(model: str) -> None:
    provider = BreakingProvider((), REST, "the connection is cut", 1)
    async with held(MODELS[model], provider) as talk:
        turn = await talk.user_says(WANTED)

    assert provider.attempts == 2
    assert turn.said == ["A taxi is five.", AFTER]
    assert talk.state.guest == "Ada"


@pytest.mark.parametrize("arrived", ARRIVED)
@pytest.mark.parametrize("model", MODELS)
async def test_behind_a_fallback_adapter_that_would_go_on_after_words(
    model: str, arrived: str
) -> None:
    def build(url: str) -> LLM[Any]:
        return Closing(
            [MODELS[model](url), MODELS[model](url)],
            max_retry_per_llm=1,
            retry_on_chunk_sent=True,
        )

    provider = BreakingProvider(ARRIVED[arrived], REST, "the connection is cut", 2)
    async with held(build, provider) as talk:
        turn = await talk.user_says(WANTED)
        state = talk.state

    holds(turn, state, provider)


class Closing(FallbackAdapter):
    """A fallback adapter that closes its models, and looks no longer whether they have recovered."""

    async def aclose(self) -> None:
        for status in self._status:
            if status.recovering_task is not None:
                await utils.aio.cancel_and_wait(status.recovering_task)
        for model in self._llm_instances:
            await model.aclose()
