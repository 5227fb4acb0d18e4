"""A second model, and the local one behind it, answer when the first does not."""

import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit.agents.llm import LLM

from agents.app.models.choice import reply_limit_of
from agents.app.models.openai import OpenAIModel, OpenAIModels, openai_model
from agents.app.settings import SettingsFaults
from agents.testing import Conversation, until
from agents.testing.providers import Answer, Providers, calls, refuses, says
from bella_vista.app import APP
from bella_vista.local.model import LocalLLM
from bella_vista.settings import Settings
from state.context import OrderContext
from state.order import OrderState
from tests.agents.app.models.openai.talking import GREETING, KEY, talking_on
from tests.agents.restaurant import FRIDAY_AT_SEVEN, bella_vista, restaurant

pytestmark = pytest.mark.usefixtures("clean_folder")

ROOT = Path(__file__).parents[5]
LONG = "60"


@asynccontextmanager
async def two(
    first: Sequence[Answer],
    second: Sequence[Answer],
    monkeypatch: pytest.MonkeyPatch,
    **settings: str,
) -> AsyncIterator[
    tuple[Conversation[OrderState, OrderContext], Providers, Providers, OpenAIModels]
]:
    """A conversation on two models, each at a server of its own."""
    async with Providers(first).running() as one, Providers(second).running() as other:
        given = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": one.openai_url,
            "BELLA_VISTA_OPENAI_MODEL": "first",
            "BELLA_VISTA_OPENAI_FALLBACK_MODEL": "second",
            "BELLA_VISTA_OPENAI_FALLBACK_BASE_URL": other.openai_url,
            "BELLA_VISTA_OPENAI_PATIENCE": LONG,
            **settings,
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        model = openai_model(Settings.read(model="openai"), None)
        assert isinstance(model, OpenAIModels)
        async with talking_on(model) as talk:
            yield talk, one, other, model


async def test_the_second_model_answers_in_the_same_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [GREETING, calls(("set_customer", {"name": "Ada"})), says("Hello Ada.")]
    async with two([refuses(500)] * 9, answers, monkeypatch) as (talk, one, other, _):
        turn = await talk.user_says("Ada here")

    assert talk.greeting.said == [GREETING.say]
    assert turn.said == ["Hello Ada."]
    assert talk.state.customer_name == "Ada"
    assert {request["model"] for request in one.requests} == {"first"}
    assert {request["model"] for request in other.requests} == {"second"}


async def test_a_first_model_that_is_silent_leaves_time_for_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = [Answer(stalls="headers")] * 9
    async with two(silent, [GREETING], monkeypatch, BELLA_VISTA_OPENAI_PATIENCE="6") as (talk, *_):
        pass

    assert talk.greeting.said == [GREETING.say]


async def test_a_first_model_that_has_recovered_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = [refuses(500), says("Nobody hears this."), says("Back again.")]
    async with two(first, [GREETING], monkeypatch) as (talk, one, _, model):
        await until(lambda: model.model == "first")
        turn = await talk.user_says("hello")

    assert turn.said == ["Back again."]
    assert len(one.requests) == 3


async def test_a_first_model_that_breaks_off_is_apologised_for_and_not_talked_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has been said cannot be unsaid: the second model answers from the next turn on."""
    first = [GREETING, says("I have", breaks="hard"), *[refuses(500)] * 5]
    async with two(first, [says("Hello.")], monkeypatch) as (talk, *_):
        broken = await talk.user_says("hello")
        after = await talk.user_says("hello?")

    assert broken.said[0].startswith("I have I am sorry")
    assert after.said == ["Hello."]


async def test_when_all_fail_the_log_says_why_each_of_them_did(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with two([refuses(401, KEY)] * 9, [refuses(404)] * 9, monkeypatch) as (talk, *_):
        turn = await talk.user_says("hello")

    assert turn.said[0].startswith("I am sorry")
    told = [
        record.getMessage() for record in caplog.records if not record.name.startswith("livekit")
    ]
    assert any("first" in line and "the key was not accepted (401)" in line for line in told)
    assert any("second" in line and "no such model or address (404)" in line for line in told)
    assert not any(KEY in line for line in told)


async def test_the_first_servers_key_is_never_sent_to_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with two([refuses(500)] * 9, [GREETING], monkeypatch) as (_, one, other, _):
        pass

    assert {asked.key for asked in one.asked} == {KEY}
    assert other.asked
    assert not any(KEY in asked.key for asked in other.asked)


async def test_a_second_model_at_the_same_server_uses_the_same_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Providers([refuses(500), GREETING]).running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("BELLA_VISTA_OPENAI_FALLBACK_MODEL", "second")
        async with talking_on(openai_model(Settings.read(model="openai"), None)):
            pass

        assert [one.key for one in server.asked[:2]] == [KEY] * 2
        assert "second" in [request["model"] for request in server.requests]


async def test_the_local_model_takes_the_order_when_no_other_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of a call that a provider began, too."""
    begun = [
        GREETING,
        calls(("set_customer", {"name": "Ada"}), "transfer_to_order_taker"),
        says("And what may it be, Ada?"),
    ]
    async with Providers([*begun, *[refuses(503)] * 40]).running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        local = LocalLLM(bella_vista(), now=lambda: FRIDAY_AT_SEVEN)
        model: Any = openai_model(Settings.read(model="openai"), local)
        async with talking_on(model) as talk:
            for words in (
                "Hi, I am Ada",
                "a large Margherita",
                "that is all",
                "pickup",
                "yes",
                "cash",
                "no tip",
                "yes please",
            ):
                turn = await talk.user_says(words)
                assert len(turn.your_turns) == 1

    assert talk.state.customer_name == "Ada"
    assert [line.name for line in talk.state.order_items] == ["Margherita"]
    assert talk.state.stage == "placed"


def test_one_model_may_take_all_of_the_patience_and_several_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    one = openai_model(Settings.read(model="openai"), None)
    monkeypatch.setenv("BELLA_VISTA_OPENAI_FALLBACK_MODEL", "second")
    several = openai_model(Settings.read(model="openai"), None)

    assert isinstance(one, OpenAIModel)
    assert isinstance(several, OpenAIModels)
    assert reply_limit_of(one) == reply_limit_of(several) == 6.0
    assert restaurant_call_with(one) == restaurant_call_with(several) == 6.0


def restaurant_call_with(model: LLM[Any]) -> float:
    """How long an agent of the restaurant waits for a word of this model."""
    shared = restaurant().shared
    return APP.call(shared, think_limit_s=reply_limit_of(model)).policy.think_limit_s


@pytest.mark.processes
def test_without_a_provider_no_client_is_imported() -> None:
    code = (
        "import sys, agents.app.console.command, agents.app.replay.running, agents.app.models.choice\n"
        "sys.exit('livekit.plugins.openai' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_second_server_that_wants_a_key_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("BELLA_VISTA_OPENAI_FALLBACK_BASE_URL", "https://api.openai.com/v1")

    with pytest.raises(SettingsFaults, match="^BELLA_VISTA_OPENAI_FALLBACK_API_KEY: is not set"):
        openai_model(Settings.read(model="openai"), None)
