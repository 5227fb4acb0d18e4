"""The wall clock steps back or forward: the order of a talk stays what it was, and nothing said is lost.

A clock that has stepped back is one by which all that happened before happens later than now, so here the times
of what happened are moved instead of the clock.
"""

import asyncio
from typing import Any

import pytest
from livekit.agents.llm import ChatItem, FunctionCall, FunctionCallOutput

from agents.handoff import DATA_MARK, Call, Graph, Handoff, carry
from agents.handoff.livekit_workarounds import History
from agents.testing import Conversation, Request, ScriptedLLM, calls, says, until
from state.shared import SharedState
from tests.agents.hotel import Bar, Reception, Stay, hotel

STEPS = [-7200.0, -20.0, 0.0, 20.0, 7200.0]


def clock_steps(call: Call[Any, Any], seconds: float) -> None:
    """Set the clock forward, or back."""
    session = call.session
    items: dict[int, ChatItem] = {
        id(item): item for item in (*session.current_agent.chat_ctx.items, *session.history.items)
    }
    for item in items.values():
        item.created_at -= seconds


def talk_in(request: Request) -> list[tuple[str, str]]:
    """What was said, as a request shows it: no instructions, data and tools."""
    return [
        (role, text)
        for role, text in request.texts
        if role in ("user", "assistant") and not text.startswith(DATA_MARK)
    ]


@pytest.mark.parametrize("step", STEPS)
async def test_the_newest_words_are_the_last_that_a_model_is_shown(step: float) -> None:
    model = ScriptedLLM([says("Good evening."), says("It is 120."), says("Until ten.")])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("What is a night?")
        clock_steps(talk.call, step)
        await talk.user_says("When is breakfast?")

    assert talk_in(model.requests[2]) == [
        ("assistant", "Good evening."),
        ("user", "What is a night?"),
        ("assistant", "It is 120."),
        ("user", "When is breakfast?"),
    ]


@pytest.mark.parametrize("step", STEPS)
async def test_a_tool_answers_after_it_was_called_and_before_what_is_said_then(
    step: float,
) -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"})),
            says("Ada!"),
            calls(("add_nights", {"nights": 2})),
            says("Two nights."),
            says("Yes."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("I am Ada")
        clock_steps(talk.call, step)
        await talk.user_says("Two nights")
        clock_steps(talk.call, step)
        await talk.user_says("Really?")
        history = talk.call.session.current_agent.chat_ctx.items
        whole = talk.call.session.history.items

    wanted = [
        "Good evening.",
        *("I am Ada", "set_guest", "set_guest:", "Ada!"),
        *("Two nights", "add_nights", "add_nights:", "Two nights."),
        *("Really?", "Yes."),
    ]
    assert told(history) == wanted
    assert told(whole) == wanted


@pytest.mark.parametrize("step", STEPS)
async def test_words_that_travel_keep_their_order(step: float) -> None:
    graph = Graph(
        (Reception, Bar),
        (
            Handoff("reception", "bar", when="When thirsty.", carry=carry.last(10)),
            Handoff("bar", "reception", when="When tired.", carry=carry.full()),
        ),
        start="reception",
    )
    call = Call(SharedState(Stay(), None), graph)
    model = ScriptedLLM(
        [
            *(says("Good evening."), says("It is 120."), calls("transfer_to_bar")),
            *(says("A beer?"), says("Cheers."), calls("transfer_to_reception"), says("Here.")),
        ]
    )

    async with Conversation(call, model) as talk:
        await talk.user_says("What is a night?")
        clock_steps(talk.call, step)
        await talk.user_says("I am thirsty")
        clock_steps(talk.call, step)
        await talk.user_says("Yes")
        clock_steps(talk.call, -step)
        await talk.user_says("A room")

    assert talk_in(model.requests[3]) == [
        ("assistant", "Good evening."),
        ("user", "What is a night?"),
        ("assistant", "It is 120."),
        ("user", "I am thirsty"),
    ]
    assert talk_in(model.requests[6]) == [
        *talk_in(model.requests[3]),
        ("assistant", "A beer?"),
        ("user", "Yes"),
        ("assistant", "Cheers."),
        ("user", "A room"),
    ]


@pytest.mark.parametrize("step", STEPS)
async def test_the_next_agent_is_given_the_last_words(step: float) -> None:
    model = ScriptedLLM(
        [says("Good evening."), says("Rain."), calls("transfer_to_bar"), says("A beer.")]
    )

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("How is the weather?")
        clock_steps(talk.call, step)
        await talk.user_says("Then a beer please")

    assert talk_in(model.requests[3]) == [("user", "Then a beer please")]


@pytest.mark.parametrize("step", STEPS)
async def test_the_clock_steps_while_a_reply_is_under_way(step: float) -> None:
    gate, asked = asyncio.Event(), asyncio.Event()
    model = ScriptedLLM(
        [
            says("Good evening."),
            says("Never heard.", until=gate),
            calls(("set_guest", {"name": "Ada"})),
            says("Ada, until ten.", until=asked),
            says("Yes."),
        ]
    )

    async with Conversation(hotel(), model) as talk:
        talk.user_says_nowait("When is breakfast?")
        await until(lambda: len(model.requests) == 2)
        clock_steps(talk.call, step)
        talk.user_says_nowait("And I am Ada")
        await until(lambda: len(model.requests) == 4)
        clock_steps(talk.call, step)
        asked.set()
        await talk.answered()
        await talk.user_says("Really?")

    assert talk_in(model.requests[4]) == [
        ("assistant", "Good evening."),
        ("user", "When is breakfast?"),
        ("user", "And I am Ada"),
        ("assistant", "Ada, until ten."),
        ("user", "Really?"),
    ]


async def test_a_history_stays_one_when_an_application_sets_it_anew() -> None:
    model = ScriptedLLM([says("Good evening."), says("It is 120."), says("Until ten.")])

    async with Conversation(hotel(), model) as talk:
        await talk.user_says("What is a night?")
        agent = talk.call.session.current_agent
        await agent.update_chat_ctx(agent.chat_ctx.copy())
        await agent.update_tools(agent.tools)
        clock_steps(talk.call, -20.0)
        await talk.user_says("When is breakfast?")

    assert talk_in(model.requests[2])[-1] == ("user", "When is breakfast?")


def test_what_another_history_has_besides_is_added_where_it_stands_there() -> None:
    whole = History()
    words = whole.add_message(role="user", content="a", created_at=9.0)
    between = whole.add_message(role="assistant", content="one moment", created_at=5.0)
    call = FunctionCall(call_id="c", name="t", arguments="{}", created_at=3.0)
    output = FunctionCallOutput(call_id="c", name="t", output="x", is_error=False, created_at=1.0)
    whole.insert([call, output])
    last = whole.add_message(role="user", content="b", created_at=0.0)

    part = History([words, call, output]).merge(whole)

    assert part.items == whole.items == [words, between, call, output, last]
    assert isinstance(part.copy(), History)


def told(items: list[ChatItem]) -> list[str]:
    """What a history says, with its tools' calls and answers."""
    words = []
    for item in items:
        if item.type == "message" and item.role != "system":
            words.append(item.text_content or "")
        elif item.type == "function_call":
            words.append(item.name)
        elif item.type == "function_call_output":
            words.append(f"{item.name}:")
    return words
