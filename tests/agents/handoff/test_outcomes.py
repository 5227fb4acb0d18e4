"""What a model is told of what it did, and what it has to wait for."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from agents.handoff import Graph, Tool
from agents.testing import Conversation, ScriptedLLM, calls, says
from state.shared import Applied, Command
from tests.agents.hotel import AddNights, HotelAgent, SetGuest, Stay, hotel


async def test_a_change_is_told_from_what_it_made_and_what_was_asked() -> None:
    def told(applied: Applied[Stay], command: Command[Stay, None]) -> str:
        return f"{command.op}: {applied.before.nights} -> {applied.state.nights}"

    model = ScriptedLLM([says("Good evening."), calls(("add_nights", {"nights": 2})), says("Two.")])

    async with Conversation(hotel(describe_result=told), model) as talk:
        turn = await talk.user_says("Two nights")

    assert turn.tools[0].output == "add_nights: 0 -> 2"


async def test_a_change_that_cannot_be_told_is_done_and_the_fault_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def told(*_: Any) -> str:
        raise RuntimeError("no words")

    model = ScriptedLLM([says("Good evening."), calls(("add_nights", {"nights": 2})), says("Two.")])

    with caplog.at_level(logging.ERROR):
        async with Conversation(hotel(describe_result=told), model) as talk:
            turn = await talk.user_says("Two nights")

    assert (turn.tools[0].output, talk.state.nights) == ("Done.", 2)
    (record,) = [one for one in caplog.records if one.name == "agents.handoff.tool_use"]
    assert (record.message, vars(record)["op"]) == ("policy.describe_result failed", "add_nights")


class Asking(HotelAgent):
    """Says how many nights there are; the name is the guest's answer to that."""

    name = "asking"
    offers: tuple[Tool, ...] = (SetGuest, AddNights)
    needs_answer: ClassVar[Mapping[str, tuple[str, ...]]] = {"set_guest": ("add_nights",)}


async def test_a_yes_counts_if_the_guest_has_spoken_since_the_question() -> None:
    nights, name = ("add_nights", {"nights": 2}), ("set_guest", {"name": "Ada"})
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(name),
            calls(nights),
            calls(name),
            calls(nights),
            says("Two more; in whose name?"),
            calls(name),
            says("Thank you, Ada."),
        ]
    )
    graph = Graph((Asking,), (), start="asking")

    async with Conversation(hotel(graph=graph), model) as talk:
        first = await talk.user_says("Ada, two nights, and two more")
        second = await talk.user_says("In the name of Ada")

    assert [(tool.name, tool.is_error) for tool in first.tools] == [
        ("set_guest", False),
        ("add_nights", False),
        ("set_guest", True),
        ("add_nights", False),
    ]
    assert "The user has not answered the result of add_nights yet." in first.tools[2].output
    assert [tool.is_error for tool in second.tools] == [False]
