"""The base of the restaurant's four agents: their state, their prompts, and their common tools."""

from collections.abc import Sequence
from importlib.resources import files

from agents.handoff import Agent, EndCall, PutThrough, Tool
from agents.questions import FindOnMenu, Tell
from state.commands import (
    AddAllergy,
    AddNote,
    CallPerson,
    GiveFeedback,
    RemoveAllergy,
    SetCustomer,
)
from state.context import OrderContext
from state.order import OrderState
from state.stages import is_placed

COMMON: tuple[Tool, ...] = (
    *(SetCustomer, AddAllergy, RemoveAllergy, AddNote, GiveFeedback),
    *(CallPerson, PutThrough, FindOnMenu, Tell, EndCall),
)
"""The tools of every agent: note the guest's name and allergies, answer questions, call a person or put
the guest through to one, say goodbye, and take a rating, because the guest may have placed the order on the page."""


class RestaurantAgent(Agent[OrderState, OrderContext]):
    """One of the restaurant's agents."""

    def offers_now(self, state: OrderState) -> Sequence[Tool]:
        """Leave out the rating until the order is placed."""
        if is_placed(state):
            return self.offers
        return [tool for tool in self.offers if tool is not GiveFeedback]


def prompt(name: str) -> str:
    """Read an agent's instructions: its own file, then the one for all agents."""
    pages = files("agents") / "prompts"
    own, shared = (
        (pages / f"{page}.md").read_text(encoding="utf-8").strip() for page in (name, "restaurant")
    )
    return f"{own}\n\n{shared}"
