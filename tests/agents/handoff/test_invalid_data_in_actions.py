"""A pydantic error within a tool is the application's fault, not that of the arguments."""

import logging
import traceback
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from agents.handoff import Action, Call, Graph, SlowAction
from agents.testing import Conversation, ScriptedLLM, calls, says
from state.shared import Command
from tests.agents.hotel import Reception, Stay, hotel

SECRET = "Zoe, 212 555 0199"


class Ticket(BaseModel):
    holder: str = Field(max_length=3)
    seat: int


def print_ticket() -> None:
    Ticket.model_validate({"holder": SECRET, "seat": "the best"})


class BuyTicket(Command[Stay, None]):
    """Buy a ticket."""

    op: Literal["buy_ticket"] = "buy_ticket"

    def apply(self, state: Stay, context: None) -> Stay:
        print_ticket()
        return state


class PrintTicket(Action):
    """Print a ticket."""

    op: Literal["print_ticket"] = "print_ticket"
    copies: int = 1

    async def run(self, call: Call[Any, Any]) -> str:
        print_ticket()
        return "Printed."


class OrderTicket(SlowAction):
    """Have a ticket printed elsewhere."""

    op: Literal["order_ticket"] = "order_ticket"
    wait: ClassVar[str] = "One moment."

    async def run(self, call: Call[Any, Any]) -> str:
        print_ticket()
        return "Ordered."


class Desk(Reception):
    offers = (*Reception.offers, PrintTicket, OrderTicket)


GRAPH: Graph[Stay] = Graph((Desk,), (), start="reception")


@pytest.mark.parametrize("tool", ["print_ticket", "order_ticket"])
async def test_the_model_is_not_told_that_its_arguments_were_wrong(
    tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedLLM([says("Good evening!"), calls(tool), says("That went wrong, sorry.")])

    with caplog.at_level(logging.ERROR):
        async with Conversation(hotel(graph=GRAPH), model) as talk:
            turn = await talk.user_says("A ticket, please")
            await talk.results_told()

    (used,) = turn.tools
    assert used.is_error
    assert "internal: Something went wrong inside." in used.output
    assert "not_valid" not in used.output
    (record,) = [one for one in caplog.records if "raised an exception" in one.message]
    assert record.exc_info is not None
    _, error, trace = record.exc_info
    assert "print_ticket" in [frame.name for frame in traceback.extract_tb(trace)]
    assert str(error) == "Ticket: holder (string_too_long), seat (int_parsing)"
    assert "Zoe" not in "".join(traceback.format_exception(error))


async def test_invalid_data_of_a_command_is_logged_without_its_values(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Box(Reception):
        offers = (*Reception.offers, BuyTicket)

    graph: Graph[Stay] = Graph((Box,), (), start="reception")
    model = ScriptedLLM([says("Good evening!"), calls("buy_ticket"), says("Sorry.")])

    async with Conversation(hotel(graph=graph), model) as talk:
        turn = await talk.user_says("A ticket, please")

    assert turn.tools[0].is_error
    assert talk.state == Stay()
    (record,) = [one for one in caplog.records if "buy_ticket" in one.message]
    assert record.message == "tool buy_ticket made invalid data"
    assert record.exc_info is not None
    _, error, trace = record.exc_info
    assert "print_ticket" in [frame.name for frame in traceback.extract_tb(trace)]
    assert "Zoe" not in "".join(traceback.format_exception(error))


async def test_wrong_arguments_are_still_the_models(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedLLM(
        [says("Good evening!"), calls(("print_ticket", {"copies": "many"})), says("How many?")]
    )

    async with Conversation(hotel(graph=GRAPH), model) as talk:
        turn = await talk.user_says("Tickets, please")

    assert "not_valid: copies:" in turn.tools[0].output
    assert "invalid data" not in caplog.text


def test_the_double_raises_what_an_application_would() -> None:
    with pytest.raises(ValidationError):
        print_ticket()
