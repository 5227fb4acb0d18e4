"""A second application of the framework: a hotel's reception, its concierge and its bar.

It shares nothing with the restaurant, so what it proves about handoffs is the framework's own.
"""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.handoff import (
    Action,
    Agent,
    Call,
    CallPolicy,
    EndCall,
    Graph,
    Handoff,
    Opening,
    Read,
    Tool,
)
from state.shared import WHOLE, Command, Journal, Refused, SharedState


class Stay(BaseModel):
    """What the hotel knows of a guest's stay."""

    model_config = ConfigDict(frozen=True)

    guest: str | None = None
    nights: int = 0
    tickets: tuple[str, ...] = ()


class SetGuest(Command[Stay, None]):
    """Write down the guest's name."""

    op: Literal["set_guest"] = "set_guest"
    name: str = Field(max_length=40)

    def apply(self, state: Stay, context: None) -> Stay:
        return state.model_copy(update={"guest": self.name})

    def touches(self, state: Stay) -> tuple[str, ...]:
        return ("guest",)


class AddNights(Command[Stay, None]):
    """Book more nights."""

    op: Literal["add_nights"] = "add_nights"
    nights: int = Field(ge=1, le=14, strict=True)

    def apply(self, state: Stay, context: None) -> Stay:
        if state.nights + self.nights > 14:
            raise Refused("Two weeks at most.", most=14)
        return state.model_copy(update={"nights": state.nights + self.nights})

    def touches(self, state: Stay) -> tuple[str, ...]:
        return ()


class BuyTicket(Command[Stay, None]):
    """Buy a ticket for tonight."""

    op: Literal["buy_ticket"] = "buy_ticket"
    show: str

    def apply(self, state: Stay, context: None) -> Stay:
        return state.model_copy(update={"tickets": (*state.tickets, self.show)})

    def touches(self, state: Stay) -> tuple[str, ...]:
        return (WHOLE,)


class AskRate(Read[Stay, None]):
    """What a night costs."""

    op: Literal["ask_rate"] = "ask_rate"

    def answer(self, state: Stay, context: None) -> str:
        return "A night is 120 euros."


class Telephone(Action):
    """Ask the theatre. It takes as long as the test wants."""

    op: Literal["telephone"] = "telephone"
    gate: ClassVar[asyncio.Event | None] = None
    fails: ClassVar[bool] = False

    async def run(self, call: Call[Any, Any]) -> str:
        if Telephone.gate is not None:
            await Telephone.gate.wait()
        if Telephone.fails:
            raise RuntimeError("the line is dead, and this text is secret")
        return "The theatre has seats."


class HotelAgent(Agent[Stay, None]):
    """What the hotel's agents share."""

    # Some of the tests' agents render it.
    prompt: str | Callable[[Stay, None, Call[Stay, None]], str] = "You work in a hotel."
    opening = Opening(
        first="Greet the guest.",
        handed_over="Take over.",
        come_back="Welcome the guest back.",
        canned="Good evening, one moment please.",
    )


class Reception(HotelAgent):
    name = "reception"
    offers: tuple[Tool, ...] = (SetGuest, AddNights, AskRate, EndCall)


class Concierge(HotelAgent):
    name = "concierge"
    offers = (SetGuest, BuyTicket, Telephone, EndCall)


class Bar(HotelAgent):
    name = "bar"
    offers = (SetGuest, EndCall)


def can_go_out(stay: Stay) -> Refused | None:
    """Tickets need a booked room."""
    return None if stay.nights else Refused("The guest has booked no night yet.", needs="nights")


def hotel_graph() -> Graph[Stay]:
    return Graph(
        (Reception, Concierge, Bar),
        (
            Handoff(
                "reception",
                "concierge",
                when="When the guest wants to go out.",
                condition=can_go_out,
                satisfied_by=(AddNights,),
            ),
            Handoff("reception", "bar", when="When the guest is thirsty."),
            Handoff("concierge", "reception", when="When the guest wants more nights."),
            Handoff("bar", "reception", when="When the guest wants a room."),
        ),
        start="reception",
    )


def hotel(
    stay: Stay | None = None,
    *,
    journal: Journal | None = None,
    version: int = 0,
    speaker: str | None = None,
    graph: Graph[Stay] | None = None,
    **policy: Any,
) -> Call[Stay, None]:
    """A fresh call of the hotel, or one that goes on."""
    shared = SharedState(stay or Stay(), None, version=version, speaker=speaker, journal=journal)
    policy.setdefault("digest", ("guest", "nights", "tickets"))
    return Call(shared, graph or hotel_graph(), CallPolicy(**policy))
