"""A state, its commands and an agent of another application, for checking the types."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from agents.handoff import Action, Agent, Call, EndCall, Opening, Read
from state.shared import Command, Refused


class Stay(BaseModel, frozen=True):
    guest: str | None = None
    nights: int = 0


class Bill(BaseModel, frozen=True):
    """Another state."""

    amount: int = 0


@dataclass(frozen=True)
class House:
    most_nights: int = 14


class BookNights(Command[Stay, House]):
    """Book nights."""

    op: Literal["book_nights"] = "book_nights"
    nights: int

    def apply(self, state: Stay, context: House) -> Stay:
        return state.model_copy(update={"nights": min(self.nights, context.most_nights)})


class Charge(Command[Bill, None]):
    """Charge something: a command of the other state."""

    op: Literal["charge"] = "charge"
    amount: int

    def apply(self, state: Bill, context: None) -> Bill:
        return state.model_copy(update={"amount": self.amount})


class AskNights(Read[Stay, House]):
    """How many nights are booked."""

    op: Literal["ask_nights"] = "ask_nights"

    def answer(self, state: Stay, context: House) -> str:
        return str(state.nights)


class AskAmount(Read[Bill, None]):
    """What is charged: a read of the other state."""

    op: Literal["ask_amount"] = "ask_amount"

    def answer(self, state: Bill, context: None) -> str:
        return str(state.amount)


class Wake(Action):
    """Wake the guest."""

    op: Literal["wake"] = "wake"

    async def run(self, call: Call[Stay, House]) -> str:
        return f"Done, {call.state.guest}."


class Reception(Agent[Stay, House]):
    name = "reception"
    prompt = "You are the reception."
    offers = (BookNights, AskNights, Wake, EndCall)
    opening = Opening(first="", handed_over="", come_back="", canned="Good evening.")


class Cashier(Agent[Bill, None]):
    """An agent over the other state."""

    name = "cashier"
    prompt = "You are the cashier."
    offers = (Charge, AskAmount)
    opening = Reception.opening


def can_sleep(stay: Stay) -> Refused | None:
    return None if stay.nights else Refused("No night is booked.")


def can_pay(bill: Bill) -> Refused | None:
    """A condition of the other state."""
    return None if bill.amount else Refused("Nothing is charged.")
