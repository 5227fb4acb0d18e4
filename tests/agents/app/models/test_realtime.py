"""The realtime model without a room: what it is sent, how it fails, and which sound stays with the provider."""

import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from livekit.agents import APIError, APIStatusError, utils
from livekit.agents.llm import ChatContext, ChatMessage, FunctionCall, function_tool
from pydantic import SecretStr

from agents.app.doctor.models import check_speech
from agents.app.models.openai import openai_model
from agents.app.models.realtime import RealtimeLLM, aligned
from agents.app.models.speech_settings import REALTIME_NOTE, stt_provider
from agents.app.settings import settings_of
from agents.handoff import why_model_failed
from agents.testing.providers import Answer, Providers, calls, says

SCHEMA: dict[str, Any] = {
    "name": "add_item",
    "description": "Add something.",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    "strict": True,
}


@pytest.fixture(autouse=True)
async def _http() -> AsyncIterator[None]:
    async with utils.http_context.open():
        yield
    gc.collect()


@function_tool(raw_schema=SCHEMA)
async def add_item(raw_arguments: dict[str, object]) -> None:
    """Never run here."""


def history(*texts: str) -> ChatContext:
    context = ChatContext.empty()
    context.add_message(role="system", content="Take orders.")
    for text in texts:
        context.add_message(role="user", content=text)
    return context


async def asked(
    server: Providers, context: ChatContext, model: RealtimeLLM
) -> tuple[str, list[str]]:
    said, made = "", []
    async with model.chat(chat_ctx=context, tools=[add_item]) as stream:
        async for chunk in stream:
            if chunk.delta is not None:
                said += chunk.delta.content or ""
                made += [call.name for call in chunk.delta.tool_calls]
    return said, made


def model_of(server: Providers, *, limit_s: float = 20.0) -> RealtimeLLM:
    return RealtimeLLM(
        "gpt-realtime",
        transcription="gpt-4o-mini-transcribe",
        language="en",
        base_url=server.openai_url,
        api_key=SecretStr("test-key"),
        attempt_s=limit_s,
        retries=0,
    )


async def test_words_and_tool_calls_come_and_the_history_is_the_requests_own() -> None:
    replies = [calls("add_item", say="One moment."), says("Done.")]
    async with Providers(replies, key="test-key").running() as server:
        model = model_of(server)
        assert await asked(server, history("a pizza"), model) == ("One moment.", ["add_item"])
        assert await asked(server, history("another"), model) == ("Done.", [])
        await model.aclose()

    assert server.faults == []
    assert server.requests[0]["response"]["instructions"] == "Take orders."
    items = [item["content"][0]["text"] for item in server.requests[1]["items"]]
    assert items == ["another"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says("Half", breaks="soft"), "its connection was lost"),
        (says("Half", breaks="hard"), "its connection was lost"),
        (says("Half", breaks="error"), "it failed"),
        (Answer(status=429), "it failed"),
        (Answer(status=402), "the account is out of credit"),
        (says("Half", finish="length"), "its reply was cut off at the longest it may be"),
        (says("Late", stalls="headers"), "it did not answer in time"),
        (says("Late", stalls="words"), "it did not answer in time"),
    ],
)
async def test_each_fault_has_its_reason_and_the_next_request_works(
    answer: Answer, why: str
) -> None:
    async with Providers([answer, says("Here.")], key="test-key").running() as server:
        model = model_of(server, limit_s=1.0)
        with pytest.raises(APIError) as failed:
            await asked(server, history("a pizza"), model)
        assert why_model_failed(failed.value) == why
        model.reply_limit_s = 20.0
        assert await asked(server, history("a pizza"), model) == ("Here.", [])
        await model.aclose()
    assert server.faults == []


async def test_a_wrong_key_is_not_tried_again() -> None:
    async with Providers([], key="another").running() as server:
        model = model_of(server)
        with pytest.raises(APIStatusError) as refused:
            await asked(server, history("a pizza"), model)
        await model.aclose()

    assert why_model_failed(refused.value) == "the key was not accepted (401)"
    assert not refused.value.retryable


def test_doctor_says_that_card_numbers_reach_the_provider() -> None:
    form = settings_of("bella-vista")
    given: dict[str, Any] = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "tts": "openai"}
    heard = form(model="openai-realtime", **given)
    read = form(model="openai-realtime", stt="openai", **given)

    assert [one.found for one in check_speech(heard) if one.about == "privacy"] == [REALTIME_NOTE]
    assert not [one for one in check_speech(read) if one.about == "privacy"]
    assert stt_provider(form(model="openai", **given)) is None


def test_sound_stays_where_its_transcript_is_in_the_history_and_goes_where_it_is_not() -> None:
    heard = ChatMessage(id="a1", role="user", content=["two"])
    more = ChatMessage(id="a2", role="user", content=["Margheritas "])
    card = ChatMessage(id="a3", role="user", content=["4111 1111 1111 1111"])
    call = FunctionCall(id="f1", call_id="c1", name="add_item", arguments="{}")
    own_call = FunctionCall(id="ours/fnc_0", call_id="c1", name="add_item", arguments="{}")
    ours = ChatMessage(role="user", content=["two Margheritas"])
    redacted = ChatMessage(role="user", content=["[card number]"])

    made = aligned(ChatContext([ours, own_call, redacted]), ChatContext([heard, more, call, card]))

    assert [item.id for item in made.items] == ["a1", "a2", "f1", redacted.id]


async def test_the_fallback_model_answers_where_the_realtime_model_fails() -> None:
    def reply(asked: dict[str, Any]) -> Answer:  # the failed model is tried again in the background
        return Answer(status=429) if "items" in asked else says("By text.")

    async with Providers(reply, key="test-key").running() as server:
        given: dict[str, Any] = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "test-key"}
        settings = settings_of("bella-vista")(
            model="openai-realtime", openai_fallback_model="gpt-4.1", openai_patience=60, **given
        )
        model = openai_model(settings, None, hears=True)
        said = ""
        async with model.chat(chat_ctx=history("a pizza"), tools=[]) as stream:
            async for chunk in stream:
                said += (chunk.delta.content or "") if chunk.delta is not None else ""
        await model.aclose()

    assert said == "By text."
    assert [one.path for one in server.asked if one.path.endswith("completions")]
