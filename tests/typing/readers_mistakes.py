"""Mistakes that a type checker has to find. Checked, never run.

Each is silenced by its code. An error that is no longer found makes its comment unused, which both
checkers report.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import Literal

from agents.handoff import Action, Agent, Call, CallPolicy, Graph, Handoff, Read
from agents.testing import Conversation, ScriptedLLM, says
from state.shared import Command, SharedState
from tests.typing.hotel_stay import (
    AskAmount,
    Bill,
    BookNights,
    Cashier,
    Charge,
    House,
    Reception,
    Stay,
    can_pay,
    can_sleep,
)


async def changing_the_state(shared: SharedState[Stay, House]) -> None:
    await shared.apply(Charge(amount=3), actor="page")  # type: ignore[arg-type]
    await shared.apply(BookNights(days=3), actor="page")  # type: ignore[call-arg]
    await shared.apply(BookNights(nights=3))  # type: ignore[call-arg]
    shared.state.nights = 3  # type: ignore[misc]
    shared.state = Stay(nights=3)  # type: ignore[misc]
    BookNights(nights=3).apply(Bill(), House())  # type: ignore[arg-type]
    BookNights(nights=3).apply(Stay(), None)  # type: ignore[arg-type]


class ReturnsNothing(Command[Stay, House]):
    """A change has to return the state after it."""

    op: Literal["returns_nothing"] = "returns_nothing"

    def apply(self, state: Stay, context: House) -> None:  # type: ignore[override]
        return None


class AnswersWithTheState(Read[Stay, House]):
    """A model is told a text and nothing else."""

    op: Literal["answers_with_the_state"] = "answers_with_the_state"

    def answer(self, state: Stay, context: House) -> Stay:  # type: ignore[override]
        return state


class RunsAtOnce(Action):
    """An action is awaited."""

    op: Literal["runs_at_once"] = "runs_at_once"

    def run(self, call: Call[Stay, House]) -> str:  # type: ignore[override]
        return "Done."


class OffersAnothersCommand(Agent[Stay, House]):
    offers = (BookNights, Charge)  # type: ignore[assignment]


class OffersAnothersRead(Agent[Stay, House]):
    offers = (AskAmount,)  # type: ignore[assignment]


class InstructedByAnothersState(Agent[Stay, House]):
    @staticmethod
    def prompt(bill: Bill, house: House, call: Call[Stay, House]) -> str:  # type: ignore[override]
        return f"They owe {bill.amount}."


class InstructedByANumber(Agent[Stay, House]):
    prompt = 3  # type: ignore[assignment]


class OffersAFunction(Agent[Stay, House]):
    offers = (can_sleep,)  # type: ignore[assignment]


def joining_agents(shared: SharedState[Stay, House], bill: SharedState[Bill, None]) -> None:
    graph = Graph[Stay](
        (Reception,),
        (
            Handoff("reception", "reception", when="At once.", condition=can_sleep),
            Handoff("reception", "reception", when="At once.", condition=can_pay),  # type: ignore[arg-type]
        ),
        start="reception",
    )
    Graph[Stay]((Stay,), (), start="reception")  # type: ignore[arg-type]
    Graph[Stay]((Reception, Cashier), (), start="reception")  # type: ignore[arg-type]
    Call[Stay, House](bill, graph)  # type: ignore[arg-type]
    Call[Stay, House](shared, graph, CallPolicy[Stay, None]())  # type: ignore[arg-type]
    CallPolicy[Stay, House](describe_result=lambda applied, command: applied.state)  # type: ignore[arg-type, return-value]


async def testing(call: Call[Stay, House]) -> None:
    Conversation(call, "gpt")  # type: ignore[arg-type]
    ScriptedLLM(["Good evening!"])  # type: ignore[list-item]
    says(3)  # type: ignore[arg-type]
    async with Conversation(call, ScriptedLLM([])) as talk:
        talk.state.nights = 3  # type: ignore[misc]
