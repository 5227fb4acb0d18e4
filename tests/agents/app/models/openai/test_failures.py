"""Whatever a provider does, the guest hears words, the order stays whole, and the next turn works."""

import logging

import pytest
from livekit.agents.llm import ChatContext
from livekit.plugins import openai
from pydantic import SecretStr

from agents.app.models.openai import OpenAIModel
from agents.greeter import Greeter
from agents.handoff import CallPolicy, Said
from agents.testing import Conversation
from agents.testing.providers import Answer, Providers, calls, refuses, says
from tests.agents.app.models.openai.talking import GREETING, KEY, model_at, talking, talking_on
from tests.agents.hotel import hotel

APOLOGY = "I am sorry, I lost the thread for a moment."

SHORT_S = 1.5
"""The patience where a test waits it out; else it is longer than any machine is slow."""


def patience(trouble: Answer) -> float:
    return SHORT_S if trouble.stalls else 20.0


TROUBLES = {
    "the key is wrong": (
        refuses(401, f"Incorrect API key provided: {KEY}."),
        "the key was not accepted (401)",
    ),
    "the account may not": (refuses(403), "the key may not do this (403)"),
    "there is no such model": (refuses(404), "there is no such model or address (404)"),
    "too many requests": (
        refuses(429, headers={"Retry-After": "1"}),
        "rate limit exceeded, or the account is out of credit (429)",
    ),
    "the account is empty": (
        refuses(429, code="insufficient_quota"),
        "the account is out of credit (429)",
    ),
    "a code of the server's own": (
        refuses(400, code=KEY),
        "it rejected the request (400)",
    ),
    "the schema is refused": (refuses(400), "it rejected the request (400)"),
    "the server is broken": (refuses(500), "server error (500)"),
    "a page instead of a stream": (
        Answer(body="<html><body>Bad gateway</body></html>", kind="text/html"),
        "its reply broke off",
    ),
    "a page with an error": (
        Answer(status=502, body="<html>Bad gateway</html>", kind="text/html"),
        "server error (502)",
    ),
    "nonsense": (
        Answer(body='data: {"choices": [{"delta"\n\n', kind="text/event-stream"),
        "connection failed or invalid response (JSONDecodeError)",
    ),
    "an error in the stream": (
        Answer(body='data: {"error": {"message": "overloaded"}}\n\n', kind="text/event-stream"),
        "connection failed or invalid response (APIError)",
    ),
    "an empty stream": (Answer(body="", kind="text/event-stream"), "its reply broke off"),
    "done at once": (
        Answer(body="data: [DONE]\n\n", kind="text/event-stream"),
        "its reply broke off",
    ),
    "silence": (Answer(stalls="headers"), "it did not answer in time"),
    "silence after the headers": (Answer(stalls="words"), "it did not answer in time"),
    "a line kept alive without a word": (
        Answer(stalls="words", pings=True),
        "it did not answer in time",
    ),
    "a filter": (
        Answer(finish="content_filter"),
        "its reply was withheld by a filter",
    ),
    "too long before a word": (
        Answer(finish="length"),
        "its reply was cut off at the longest it may be",
    ),
    "a call cut by the length": (
        calls(("set_customer", {"name": "Nobody"}), finish="length"),
        "its reply was cut off at the longest it may be",
    ),
    "a call that ends for no known reason": (
        calls(("set_customer", {"name": "Nobody"}), finish="odd"),
        "its reply broke off",
    ),
    "a call cut by silence": (
        calls(("set_customer", {"name": "Nobody"}), stalls="end"),
        "it did not answer in time",
    ),
    "a call cut by the connection": (
        calls(("set_customer", {"name": "Nobody"}), breaks="hard"),
        "connection failed or invalid response",
    ),
    "a call in a stream that only stops": (
        calls(("set_customer", {"name": "Nobody"}), breaks="soft"),
        "its reply broke off",
    ),
}


@pytest.mark.parametrize(("trouble", "why"), TROUBLES.values(), ids=TROUBLES)
async def test_trouble_ends_in_words_and_the_next_turn_works(
    trouble: Answer, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = (calls(("set_customer", {"name": "Ada"})), says("Hello Ada."))
    async with talking([GREETING, trouble, *good], attempt_s=patience(trouble), retries=0) as (
        talk,
        server,
    ):
        troubled = await talk.user_says("my name is Ada")
        after = await talk.user_says("Ada, I said")

    assert len(troubled.said) == 1
    assert troubled.said[0].startswith(APOLOGY)
    assert troubled.commands == []
    assert len(troubled.your_turns) == 1
    assert after.said == ["Hello Ada."]
    assert talk.state.customer_name == "Ada"
    told = [record for record in caplog.records if record.name.startswith("agents.")]
    (line,) = [record for record in told if record.levelno >= logging.WARNING]
    assert line.getMessage().startswith(f"model request failed: test-model: {why}")
    assert line.exc_info is None
    assert KEY not in line.getMessage()
    assert server.faults == []


@pytest.mark.parametrize(
    "trouble",
    [
        says("I have added", stalls="end"),
        says("I have added", breaks="hard"),
        says("I have added", breaks="soft"),
        says("I have added", finish="length"),
        calls(("set_customer", {"name": "Nobody"}), say="I have added", breaks="soft"),
    ],
    ids=["stall", "broken", "stopped", "length", "call"],
)
async def test_a_reply_that_breaks_off_is_followed_by_an_apology(trouble: Answer) -> None:
    async with talking(
        [GREETING, trouble, says("Hello.")], attempt_s=patience(trouble), retries=0
    ) as (talk, _):
        turn = await talk.user_says("hello")
        await talk.user_says("hello?")

    (said,) = turn.said
    assert said.startswith(f"I have added {APOLOGY}")
    assert turn.commands == []


async def test_a_tool_called_before_the_stream_broke_is_done_and_told() -> None:
    broken = calls(
        ("set_customer", {"name": "Ada"}),
        ("add_note", {"title": "x", "content": "y"}),
        whole_calls=1,
        breaks="soft",
    )
    async with talking([GREETING, broken, says("Hello Ada.")], retries=0) as (talk, _):
        turn = await talk.user_says("my name is Ada")

    assert turn.commands == ["set_customer"]
    assert turn.said == ["Hello Ada."]


async def test_a_greeting_that_fails_is_said_from_paper() -> None:
    async with talking([refuses(500), says("Hello.")], retries=0) as (talk, _):
        await talk.user_says("hello")

    (said,) = talk.greeting.said
    assert said == Greeter.opening.canned
    assert len(talk.greeting.your_turns) == 1


async def test_a_short_trouble_is_not_noticed() -> None:
    async with talking([GREETING, refuses(500), says("Hello.")], retries=2) as (talk, _):
        turn = await talk.user_says("hello")

    assert turn.said == ["Hello."]


async def test_a_refusal_that_will_not_change_is_not_asked_again() -> None:
    async with talking([GREETING, refuses(401)], retries=2) as (talk, server):
        await talk.user_says("hello")

    assert len(server.requests) == 2


async def test_failing_again_and_again_does_not_end_the_call() -> None:
    answers = [GREETING, *[refuses(500)] * 6, says("Here I am again.")]
    async with talking(answers, retries=0) as (talk, _):
        for _ in range(6):
            assert (await talk.user_says("hello?")).said[0].startswith(APOLOGY)
        turn = await talk.user_says("hello?")

    assert turn.said == ["Here I am again."]
    assert talk.call.ended in (None, "user_left")


async def test_an_unreachable_server_ends_in_an_apology() -> None:
    model = OpenAIModel(
        "m", base_url="http://127.0.0.1:9/v1", api_key=SecretStr(KEY), attempt_s=1.0, retries=0
    )

    async with talking_on(model) as talk:
        turn = await talk.user_says("hello")

    assert [type(event) for event in talk.greeting.events][0] is Said
    assert turn.said[0].startswith(APOLOGY)


async def test_a_failing_handoff_leaves_an_agent_that_speaks() -> None:
    answers = [GREETING, calls("transfer_to_order_taker"), refuses(500), says("Two of them.")]
    async with talking(answers, retries=0) as (talk, _):
        turn = await talk.user_says("I want to order")
        after = await talk.user_says("two Margheritas")

    assert turn.handoffs == [("greeter", "order_taker")]
    assert len(turn.said) == 1
    assert after.your_turns[0].agent == "order_taker"
    assert after.said == ["Two of them."]


async def test_the_guest_waits_no_longer_than_the_patience() -> None:
    """However often a model is asked again: the limit of the agent covers all of it."""
    slow = [GREETING, refuses(500), *[Answer(stalls="headers")] * 3]
    async with talking(slow, attempt_s=SHORT_S, retries=3) as (talk, server):
        turn = await talk.user_says("hello")

    assert turn.said[0].startswith(APOLOGY)
    assert len(server.requests) == 3


async def test_all_attempts_together_take_no_longer_than_the_patience() -> None:
    answers = [GREETING, refuses(500), Answer(stalls="headers"), says("Hello.")]
    async with Providers(answers).running() as server:
        model = model_at(server, attempt_s=60.0, retries=2)
        async with Conversation(hotel(think_limit_s=SHORT_S), model) as talk:
            turn = await talk.user_says("hello")
        await model.aclose()

    assert turn.said == [CallPolicy.trouble]
    assert len(server.requests) == 3


async def test_the_plugin_alone_drops_a_call_that_only_stops() -> None:
    """What is watched for here; when livekit notices it itself, the watching can go."""
    broken = calls(("set_customer", {"name": "Ada"}), say="I have added", breaks="soft")
    async with Providers([broken]).running() as server:
        plain = openai.LLM(model="test-model", api_key=KEY, base_url=server.openai_url)
        context = ChatContext.empty()
        context.add_message(role="user", content="hello")

        reply = await plain.chat(chat_ctx=context).collect()

        await plain.aclose()
    assert (reply.text, reply.tool_calls) == ("I have added", [])
