"""Wherever and however a stream breaks: each call is made at most once, no word is said twice, no turn is silent.

The model repeats its whole answer whenever it is asked the same again, as a provider does. livekit-agents 1.8.9
asks again by itself, after a part of the answer has been said and done.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    AgentSession,
    APIConnectionError,
    APIConnectOptions,
    APIError,
    APIStatusError,
    APITimeoutError,
    FlushSentinel,
    ModelSettings,
    NotGivenOr,
)
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    CompletionUsage,
    FallbackAdapter,
    LLMStream,
    Tool,
    ToolChoice,
)

from agents.handoff import Graph, stop
from agents.testing import Conversation, Turn, until
from state.privacy.redaction import redact_whole, safe_length
from tests.agents.handoff.raw_model import Part, RawModel
from tests.agents.hotel import Bar, Concierge, Reception, Stay, hotel, hotel_graph
from tests.agents.matrix.stage import CANNED, TROUBLE

USAGE = CompletionUsage(prompt_tokens=9, completion_tokens=1, total_tokens=10)
WORDS: tuple[Part, ...] = ("It costs ", "ten.")
NIGHT: Part = ("add_nights", '{"nights": 1}', "call_a")
TWO_NIGHTS: Part = ("add_nights", '{"nights": 2}', "call_b")
BAR: Part = ("transfer_to_bar", "{}", "call_c")
END: Part = ("end_call", "{}", "call_d")
AFTER = "That is done."
LISTENS = "I am listening."
OPENS = "A beer?"
OPENING = Bar.opening.handed_over

ARRIVED: dict[str, tuple[Part, ...]] = {
    "nothing": (),
    "usage": (USAGE,),
    "blanks": ("  ",),
    "words": WORDS,
    "words and usage": (*WORDS, USAGE),
    "a call": (NIGHT,),
    "a call and usage": (NIGHT, USAGE),
    "two calls": (NIGHT, TWO_NIGHTS),
    "words and a call": (*WORDS, NIGHT),
    "a call between words": ("It costs ", NIGHT, "ten."),
    "a transfer": (BAR,),
    "a transfer and a call": (BAR, NIGHT),
    "words, a call, a transfer and usage": (*WORDS, NIGHT, BAR, USAGE),
    "the end": (END,),
    "a call that was cut": (("add_nights", '{"nights": 1', "call_a"),),
}
"""What arrives before it breaks."""

REST: tuple[Part, ...] = (" A taxi is five.", ("set_guest", '{"name": "Ada"}', "call_e"))
"""What would have come after that."""

BREAKS: dict[str, Callable[[], Part | None]] = {
    "a connection that may be tried again": lambda: APIConnectionError("broken"),
    "a time that is over": lambda: APITimeoutError("broken"),
    "a server in trouble": lambda: APIStatusError("broken", status_code=500),
    "a line closed by the server": lambda: APIStatusError("closed", status_code=1011),
    "an error of no kind": lambda: APIError("broken"),
    "a connection that may not be tried again": lambda: APIConnectionError("no", retryable=False),
    "a request that is refused": lambda: APIStatusError("no", status_code=400),
    "a fault in the client": lambda: RuntimeError("broken"),
    "a time limit of its own": lambda: TimeoutError("broken"),
    "an end too early": lambda: None,
    "an end that is asked for": lambda: APIStatusError("gone", status_code=499),
    "no end at all": lambda: 3600.0,
}


class Repeating(RawModel):
    """Gives its answer anew however often it is asked for the same, broken for the first few times."""

    def __init__(
        self, arrived: Sequence[Part], breaks: Callable[[], Part | None], times: int
    ) -> None:
        super().__init__()
        self._arrived, self._breaks, self._left = tuple(arrived), breaks, times
        self.attempts = 0
        self.calm = True
        """Whether it only says that it listens."""

    def next_reply(self, chat_ctx: ChatContext) -> tuple[Part, ...]:
        if self.calm:
            return (LISTENS,)
        if any(item.type == "function_call_output" for item in chat_ctx.items):
            return (AFTER,)
        if any(item.type == "message" and item.text_content == OPENING for item in chat_ctx.items):
            return (OPENS,)
        self.attempts += 1
        if not self._left:
            return (*self._arrived, *REST)
        self._left -= 1
        broken = self._breaks()
        return (*self._arrived, *(() if broken is None else (broken,)))


class Own(LLM[Any]):
    """An application's own model that wraps another."""

    def __init__(self, inner: LLM[Any], connect: APIConnectOptions | None = None) -> None:
        super().__init__()
        self.inner, self.connect = inner, connect

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
        return self.inner.chat(
            chat_ctx=chat_ctx, tools=tools, conn_options=self.connect or conn_options
        )


class Relaying(Own):
    """An application's own model, whose stream reads another's."""

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
        return _Relay(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Relay(LLMStream):
    async def _run(self) -> None:
        assert isinstance(self._llm, Relaying)
        async with self._llm.inner.chat(
            chat_ctx=self._chat_ctx, tools=self._tools, conn_options=self._conn_options
        ) as stream:
            async for chunk in stream:
                self._event_ch.send_nowait(chunk)


WAYS_IN: dict[str, Callable[[LLM[Any]], LLM[Any]]] = {
    "by itself": lambda model: model,
    "one that decides how often it asks": lambda model: Own(model, APIConnectOptions(max_retry=3)),
    "one that reads another's stream": Relaying,
    "a fallback adapter": lambda model: FallbackAdapter([model, model]),
    "a fallback adapter that asks each again": lambda model: FallbackAdapter(
        [model, model], max_retry_per_llm=2
    ),
    "a fallback adapter that would go on after words": lambda model: FallbackAdapter(
        [model, model], max_retry_per_llm=2, retry_on_chunk_sent=True
    ),
    "a fallback adapter in another": lambda model: FallbackAdapter(
        [FallbackAdapter([model, model], retry_on_chunk_sent=True), model]
    ),
}


class OwnSession(Conversation[Stay, None]):
    """A conversation in a session that the application made itself, with livekit's own ways of asking."""

    async def _start(self) -> None:
        session: AgentSession[Any] = AgentSession(
            userdata=self.call,
            llm=self.model,
            vad=None,
            turn_handling={"turn_detection": None},
            user_away_timeout=None,
        )
        self.call.attach(session)
        await session.start(self.call.first_agent(), session_host=False, record=False)


def closed(model: LLM[Any]) -> None:
    """Have a fallback adapter look no longer whether a model has recovered."""
    if isinstance(model, FallbackAdapter):
        for status in model._status:
            if status.recovering_task is not None:
                status.recovering_task.cancel()
        for one in model._llm_instances:
            closed(one)


async def held(
    arrived: str,
    breaks: str,
    times: int,
    way_in: str = "by itself",
    talks: type[Conversation[Stay, None]] = Conversation,
    **policy: Any,
) -> tuple[Turn, Repeating, Stay]:
    """Hold a call over a stream that breaks, and look at all that must be true of it."""
    where = (arrived, breaks, times, way_in)
    model = Repeating(ARRIVED[arrived], BREAKS[breaks], times)
    asked = WAYS_IN[way_in](model)
    async with talks(hotel(**policy), asked, patience_s=600.0) as talk:
        model.calm = False
        turn = await talk.user_says("A night, and a beer")
        state = talk.state
        model.calm = True
        if turn.ended is None:
            assert (await talk.user_says("Hello?")).said == [LISTENS], where
        closed(asked)
    said = " ".join(turn.said)
    assert said.strip(), where
    for words in ("It costs", "ten.", "A taxi", AFTER, LISTENS, TROUBLE, CANNED):
        assert said.count(words) <= 1, (where, said)
    done = [tool for tool in turn.tools if not tool.is_error]
    assert len({str(tool.arguments) for tool in turn.tools}) == len(turn.tools), (where, turn.tools)
    assert state.nights == sum(tool.arguments.get("nights", 0) for tool in done), where
    assert turn.commands == [
        *(tool.name for tool in done if tool.name != "end_call"),
        *(["hand_over"] if turn.handoffs else []),
    ], where
    assert len(turn.handoffs) + len(turn.refused) <= 1, where
    assert len(turn.your_turns) + (turn.ended is not None) == 1, where
    if turn.tools and turn.ended is None and not turn.handoffs:
        told = [tool.output for tool in turn.tools]
        assert sorted(model.outputs()) == sorted(told), where
    return turn, model, state


SOMETHING = [name for name in ARRIVED if name not in ("nothing", "usage")]
FINAL = ("an end too early", "an end that is asked for")
"""The breaks that livekit takes for an end."""
PASSING = [
    name for name in BREAKS if name not in FINAL and getattr(BREAKS[name](), "retryable", False)
]
"""The breaks after which it makes sense to ask again."""


@pytest.mark.parametrize("arrived", ARRIVED)
@pytest.mark.parametrize("breaks", BREAKS)
async def test_a_broken_stream_is_said_and_done_once(arrived: str, breaks: str) -> None:
    for times in (1, 9):
        turn, model, state = await held(arrived, breaks, times)

        nights = {'{"nights": 1}': 1, '{"nights": 2}': 2}
        if arrived in SOMETHING:
            assert model.attempts == 1
            assert state.nights == sum(
                nights.get(part[1] or "", 0) for part in ARRIVED[arrived] if isinstance(part, tuple)
            )
            assert state.guest is None
            if breaks not in FINAL:
                assert (turn.handoffs, turn.ended) == ([], None)
        elif breaks in PASSING and times == 1:
            assert turn.said == [" A taxi is five.", AFTER]
            assert state.guest == "Ada"
            assert model.attempts == 2
        else:
            assert turn.said == [TROUBLE]
            assert model.attempts == (2 if breaks in PASSING else 1)


@pytest.mark.parametrize("arrived", ARRIVED)
@pytest.mark.parametrize("way_in", WAYS_IN)
async def test_whichever_way_a_model_is_asked(way_in: str, arrived: str) -> None:
    for breaks in (
        "a connection that may be tried again",
        "a line closed by the server",
        "no end at all",
    ):
        for times in (1, 2, 9):
            await held(arrived, breaks, times, way_in)


@pytest.mark.parametrize("arrived", ARRIVED)
async def test_in_a_session_of_the_applications_own(arrived: str) -> None:
    """With livekit's own ways of asking: four times, and the session is closed at the fourth failure in a row."""
    for breaks in PASSING:
        for times in (1, 3, 9):
            turn, model, _ = await held(arrived, breaks, times, talks=OwnSession)

            assert model.attempts == (1 if arrived in SOMETHING else min(times + 1, 4))
            if arrived not in SOMETHING:
                assert turn.said == ([TROUBLE] if times == 9 else [" A taxi is five.", AFTER])


@pytest.mark.parametrize("arrived", ARRIVED)
async def test_words_that_were_held_back_to_be_judged_are_said_once(arrived: str) -> None:
    for breaks in ("a connection that may be tried again", "a fault in the client"):
        turn, model, _ = await held(
            arrived, breaks, 1, redact_output=redact_whole, safe_prefix=safe_length
        )

        assert model.attempts == (1 if arrived in SOMETHING or breaks not in PASSING else 2)
        if "It costs " in ARRIVED[arrived]:
            assert turn.said[0].startswith("It costs ten." if "ten." in ARRIVED[arrived] else "It")


@pytest.mark.parametrize("arrived", ["nothing", "words", "words and a call", "a transfer"])
async def test_words_at_any_moment_of_a_broken_stream_are_answered_once(
    arrived: str,
) -> None:
    for steps in range(0, 60, 3):
        model = Repeating(ARRIVED[arrived], BREAKS["a connection that may be tried again"], 1)
        async with Conversation(hotel(), model, patience_s=600.0) as talk:
            model.calm = False
            first = talk.user_says_nowait("A night, and a beer")
            for _ in range(steps):
                await asyncio.sleep(0)
            model.calm = True
            turn = await talk.user_says("Hello?")
            left = (
                len(talk.call.replies.pending_calls),
                talk.call.turns.queued,
                talk.call.turns.speeches,
            )
            nights = talk.state.nights

        assert turn.said.count(LISTENS) == 1, steps
        assert len(turn.your_turns) == 1, steps
        assert nights == len([tool for tool in (*first.tools, *turn.tools) if not tool.is_error])
        assert left == (0, [], ()), steps


async def test_words_before_a_model_is_asked_again_are_answered_at_once() -> None:
    model = Repeating((), BREAKS["a connection that may be tried again"], 9)
    async with Conversation(hotel(), model, patience_s=600.0) as talk:
        model.calm = False
        first = talk.user_says_nowait("A night")
        await until(lambda: model.attempts == 1)
        for _ in range(10):
            await asyncio.sleep(0)
        model.calm = True
        turn = await talk.user_says("And a beer")

    assert first.said == []
    assert turn.said == [LISTENS]
    assert model.attempts == 1


async def test_a_call_that_is_hung_up_while_a_model_is_about_to_be_asked_again_ends_at_once() -> (
    None
):
    model = Repeating((), BREAKS["a connection that may be tried again"], 9)
    async with Conversation(hotel(), model, patience_s=600.0) as talk:
        model.calm = False
        talk.user_says_nowait("A night")
        await until(lambda: model.attempts == 1)
        for _ in range(10):
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
        await stop(talk.call)
        took = asyncio.get_running_loop().time() - began

    assert model.attempts == 1
    assert took < 0.05


async def test_all_attempts_together_are_as_long_silent_as_one_may_be() -> None:
    """However often it is asked again: what counts is how long the guest hears nothing."""
    slow = Repeating((20.0,), BREAKS["a time that is over"], 9)
    async with Conversation(hotel(think_limit_s=30.0), slow, patience_s=600.0) as talk:
        slow.calm = False
        began = asyncio.get_running_loop().time()
        turn = await talk.user_says("A night")
        took = asyncio.get_running_loop().time() - began

    assert turn.said == [TROUBLE]
    assert slow.attempts == 2
    assert took == pytest.approx(30.0, abs=0.1)


async def test_a_model_may_be_silent_again_and_again_but_never_for_longer_than_it_may() -> None:
    slow = Repeating(
        (20.0, "Well, ", 20.0, "let me ", 20.0, "see. ", 20.0, NIGHT, 29.0), lambda: None, 1
    )
    async with Conversation(hotel(think_limit_s=30.0), slow, patience_s=600.0) as talk:
        slow.calm = False
        turn = await talk.user_says("A night")

    assert turn.said == ["Well, let me see. ", AFTER]
    assert talk.state.nights == 1


class Slow(Reception):
    """An application's own agent, which takes its time over each piece."""

    async def llm_node(
        self, chat_ctx: ChatContext, tools: list[Tool], model_settings: ModelSettings
    ) -> AsyncIterator[ChatChunk | str | FlushSentinel]:
        async for piece in super().llm_node(chat_ctx, tools, model_settings):
            await asyncio.sleep(40.0)
            yield piece


async def test_time_spent_on_a_chunk_does_not_count_as_silence_of_the_model() -> None:
    graph = Graph((Slow, Concierge, Bar), hotel_graph().handoffs, start="reception")
    model = RawModel(["Good evening."], ["It is ", 20.0, "five."])
    async with Conversation(
        hotel(graph=graph, think_limit_s=30.0), model, patience_s=600.0
    ) as talk:
        turn = await talk.user_says("A taxi?")

    assert turn.said == ["It is five."]
