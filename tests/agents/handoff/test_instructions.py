"""An agent's instructions may be a function of state, context and call, rendered per request."""

import asyncio
import json
import logging
from typing import Any, ClassVar

import pytest

from agents.handoff import Call, Graph, GraphError, Handoff
from agents.testing import (
    Conversation,
    Request,
    ScriptedLLM,
    SpokenConversation,
    calls,
    says,
)
from tests.agents.hotel import Bar, HotelAgent, Reception, Stay, hotel

TROUBLE = "I am sorry, I lost the thread for a moment. Could you say that again?"
CANNED = "Good evening, one moment please."


def by_name(stay: Stay, context: None, call: Call[Stay, None]) -> str:
    return f"You are the desk of {stay.guest or 'a stranger'}, turn {call.turn}."


class Desk(Reception):
    prompt = staticmethod(by_name)


class Polyglot(Bar):
    """A bar whose instructions are a static method."""

    language: ClassVar[str] = "English"

    @staticmethod
    def prompt(stay: Stay, context: None, call: Call[Stay, None]) -> str:
        return f"You are the bar. Speak {Polyglot.language} with {stay.guest}."


class Moody(Reception):
    """A desk whose instructions a test decides."""

    returns: ClassVar[Any] = "You are the desk."

    @staticmethod
    def prompt(stay: Stay, context: None, call: Call[Stay, None]) -> str:
        if isinstance(Moody.returns, BaseException):
            raise Moody.returns
        return Moody.returns  # type: ignore[no-any-return]


def graph(desk: type[HotelAgent] = Desk, bar: type[HotelAgent] = Polyglot) -> Graph[Stay]:
    return Graph(
        (desk, bar),
        (
            Handoff("reception", "bar", when="When thirsty."),
            Handoff("bar", "reception", when="When tired."),
        ),
        start="reception",
    )


def instructions(request: Request) -> str:
    """The first message; there is no other one like it."""
    role, text = request.texts[0]
    assert role == "system"
    assert len([one for _, one in request.texts if one.startswith("You are the")]) == 1
    return text


async def test_every_request_has_the_instructions_of_its_own_moment() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"})),
            says("Ada!"),
            says("Yes."),
        ]
    )

    async with Conversation(hotel(graph=graph()), model) as talk:
        await talk.user_says("I am Ada")
        await talk.user_says("Really?")

    assert [instructions(request) for request in model.requests] == [
        "You are the desk of a stranger, turn 0.",
        "You are the desk of a stranger, turn 1.",
        "You are the desk of Ada, turn 1.",
        "You are the desk of Ada, turn 2.",
    ]


async def test_the_next_agent_has_its_own_and_nothing_of_the_last_ones() -> None:
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("set_guest", {"name": "Ada"}), "transfer_to_bar"),
            says("A beer, Ada?"),
            calls("transfer_to_reception"),
            says("Here again."),
        ]
    )

    async with Conversation(hotel(graph=graph()), model) as talk:
        await talk.user_says("Ada, thirsty")
        await talk.user_says("Enough")

    assert instructions(model.requests[2]) == "You are the bar. Speak English with Ada."
    assert instructions(model.requests[4]) == "You are the desk of Ada, turn 2."


async def test_speech_and_short_memories_have_them_as_well() -> None:
    model = ScriptedLLM([says("Good evening."), *(says(f"Yes, {n}.") for n in range(5))])

    async with SpokenConversation(hotel(Stay(guest="Ada"), graph=graph(), remembers=2), model) as t:
        for number in range(5):
            await t.user_says(f"Question {number}")

    assert [instructions(request) for request in model.requests] == [
        f"You are the desk of Ada, turn {turn}." for turn in range(6)
    ]


async def test_no_request_keeps_instructions_in_the_history() -> None:
    model = ScriptedLLM([says("Good evening."), says("Yes.")])

    async with Conversation(hotel(Stay(guest="Ada"), graph=graph()), model) as talk:
        await talk.user_says("Hello?")
        histories = (talk.call.session.history, talk.call.session.current_agent.chat_ctx)

    for history in histories:
        assert "desk of Ada" not in json.dumps(history.to_dict())


async def test_half_an_emoji_in_them_reaches_no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Moody, "returns", "You are the \ud83d desk.")
    model = ScriptedLLM([says("Good evening.")])

    async with Conversation(hotel(graph=graph(Moody)), model):
        pass

    assert instructions(model.requests[0]) == "You are the \ufffd desk."


@pytest.mark.parametrize("returns", [RuntimeError("no date"), ValueError(), None, 3, "", " \n"])
@pytest.mark.parametrize("kind", [Conversation, SpokenConversation])
async def test_instructions_that_fail_cost_one_answer_and_are_named_in_the_log(
    kind: type[Conversation[Stay, None]],
    returns: object,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedLLM([says("Good evening."), says("Here I am.")])

    async with kind(hotel(graph=graph(Moody)), model) as talk:
        monkeypatch.setattr(Moody, "returns", returns)
        failed = await talk.user_says("Hello?")
        monkeypatch.undo()
        then = await talk.user_says("Hello?")

    assert failed.said == [TROUBLE]
    assert len(failed.your_turns) == 1
    assert then.said == ["Here I am."]
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert (record.getMessage(), vars(record)["agent"]) == ("agent prompt failed", "reception")
    assert record.exc_info is not None
    if isinstance(returns, BaseException):
        assert record.exc_info[1] is returns  # with its place


async def test_an_agent_that_opens_without_instructions_says_its_canned_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Moody, "returns", RuntimeError("no date"))
    bar_first = hotel(graph=graph(Moody), speaker="bar")
    model = ScriptedLLM([says("A beer?"), calls("transfer_to_reception")])

    async with Conversation(hotel(graph=graph(Moody)), ScriptedLLM([])) as talk:
        assert talk.greeting.said == [CANNED]
    async with Conversation(bar_first, model) as talk:
        turn = await talk.user_says("Enough")

    assert turn.handoffs == [("bar", "reception")]
    assert turn.said == [CANNED]


async def test_words_said_verbatim_need_no_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedLLM([says("Good evening.")])

    async with Conversation(hotel(graph=graph(Moody)), model) as talk:
        monkeypatch.setattr(Moody, "returns", RuntimeError("no date"))
        talk.call.speak("The kitchen closes soon.")
        await talk.answered()

    assert talk.greeting.said == ["Good evening.", "The kitchen closes soon."]


def faults(prompt: Any) -> tuple[str, ...]:
    desk = type("Desk", (Reception,), {"prompt": prompt})
    with pytest.raises(GraphError) as caught:
        graph(desk)
    return caught.value.faults


def test_a_prompt_that_could_never_be_rendered_is_a_fault() -> None:
    async def later(stay: Stay, context: None, call: Any) -> str:
        await asyncio.sleep(0)
        return ""

    def as_a_method(self: Any, stay: Stay, context: None, call: Any) -> str:
        return ""

    assert faults(later) == ("Desk: its prompt is an async function: it may not wait",)
    for wrong in (as_a_method, lambda stay: "", lambda: ""):
        assert faults(wrong) == ("Desk: its prompt has to take state, context and call",)
