"""Each agent may have a language model and settings of its own; the others use the call's."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from agents.handoff import Call, CallPolicy, Graph, talk
from agents.testing import (
    Conversation,
    ScriptedLLM,
    SpokenConversation,
    Step,
    calls,
    says,
)
from state.shared import SharedState
from tests.agents.hotel import Bar, Concierge, Reception, Stay, hotel, hotel_graph

HELLO, TO_BAR, TO_DESK = (
    says("Good evening."),
    calls("transfer_to_bar"),
    calls("transfer_to_reception"),
)


class CoolBar(Bar):
    model_settings: ClassVar[Mapping[str, Any]] = {"temperature": 0.2}


def graph() -> Graph[Stay]:
    return Graph((Reception, Concierge, CoolBar), hotel_graph().handoffs, start="reception")


class Maker:
    """Makes a model, and counts how often."""

    def __init__(self, *steps: Step) -> None:
        self.made: list[ScriptedLLM] = []
        self.steps = steps

    def __call__(self) -> ScriptedLLM:
        self.made.append(ScriptedLLM(self.steps))
        return self.made[-1]


@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_an_agent_asks_its_own_model_and_the_others_the_calls(kind: Any) -> None:
    desk = ScriptedLLM([HELLO, TO_BAR, says("A room?")])
    bar = ScriptedLLM([says("A beer?"), says("With ice."), TO_DESK])

    async with kind(hotel(graph=graph()), desk, llm_by_agent={"bar": bar}) as it:
        said = [(await it.user_says("Go on")).said for _ in range(3)]

    assert said == [["A beer?"], ["With ice."], ["A room?"]]
    assert (len(desk.requests), len(bar.requests)) == (3, 3)
    assert [request.settings for request in desk.requests] == [{}, {}, {}]
    assert all(request.settings == {"temperature": 0.2} for request in bar.requests)


async def test_settings_need_no_model_of_its_own() -> None:
    model = ScriptedLLM([HELLO, TO_BAR, says("A beer?")])

    async with Conversation(hotel(graph=graph()), model) as it:
        await it.user_says("A drink")

    assert [request.settings for request in model.requests] == [{}, {}, {"temperature": 0.2}]


async def test_a_model_is_made_once_and_not_before_its_agent_takes_over() -> None:
    desk = ScriptedLLM([HELLO, TO_BAR, says("A room?"), TO_BAR])
    make = Maker(says("A beer?"), TO_DESK, says("Again?"))

    async with Conversation(hotel(), desk, llm_by_agent={"bar": make}) as it:
        before = len(make.made)
        for _ in range(3):
            await it.user_says("Go on")

    assert (before, len(make.made)) == (0, 1)
    make.made[0].finished()


async def test_a_call_that_goes_on_with_an_agent_uses_its_model() -> None:
    shared = SharedState(Stay(), None, version=1, speaker="bar")
    bar = ScriptedLLM([says("Welcome back.")])
    call = Call(shared, hotel_graph(), CallPolicy())

    async with Conversation(call, ScriptedLLM([]), llm_by_agent={"bar": bar}) as it:
        assert it.greeting.said == ["Welcome back."]


def no_key() -> ScriptedLLM:
    raise RuntimeError("there is no key")


@pytest.mark.parametrize("make", [no_key, lambda: None, lambda: "gpt-4.1"])
async def test_one_that_cannot_be_made_is_logged_and_the_calls_model_speaks(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedLLM([HELLO, TO_BAR, says("A beer?"), says("Yes.")])

    async with Conversation(hotel(), model, llm_by_agent={"bar": make}) as it:
        turn = await it.user_says("A drink")
        await it.user_says("Sure?")

    assert (turn.handoffs, turn.said) == ([("reception", "bar")], ["A beer?"])
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert record.getMessage() == "model of agent bar not made, using the call's"
    assert record.exc_info is not None


async def test_one_that_fails_costs_a_true_sentence_and_no_handoff() -> None:
    desk = ScriptedLLM([HELLO, TO_BAR])
    bar = ScriptedLLM([says("A b", error="gone"), says("A beer?")])

    async with Conversation(hotel(), desk, llm_by_agent={"bar": bar}) as it:
        failed = await it.user_says("A drink")
        then = await it.user_says("Hello?")

    assert failed.said[0].endswith("Good evening, one moment please.")
    assert (it.call.speaker, then.said) == ("bar", ["A beer?"])


async def test_the_cost_of_its_requests_is_counted() -> None:
    desk = ScriptedLLM([HELLO, TO_BAR])
    bar = ScriptedLLM([says("A beer?", cost=(900, 20, 800))])

    async with Conversation(hotel(), desk, llm_by_agent={"bar": bar}) as it:
        await it.user_says("A drink")

    assert it.call.spending.total.prompt_tokens == 900


async def test_models_for_agents_that_do_not_exist_are_refused() -> None:
    models: dict[str, Any] = {"bar": ScriptedLLM([]), "sauna": no_key, "Bar": no_key}

    with pytest.raises(ValueError, match="agents that do not exist: sauna, Bar$"):
        await talk(hotel(), ScriptedLLM([]), llm_by_agent=models, lines=())
