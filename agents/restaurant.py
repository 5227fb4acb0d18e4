"""What the restaurant's four agents have in common: their state, their prompts, what all of them offer."""

from collections.abc import Sequence
from importlib.resources import files

from agents.handoff import Agent, EndCall, Tool
from agents.questions import FindOnMenu, Tell
from state.commands import AddAllergy, AddNote, CallPerson, GiveFeedback, SetCustomer
from state.context import OrderContext
from state.order import OrderState
from state.stages import can_give_feedback

COMMON: tuple[Tool, ...] = (
    *(SetCustomer, AddAllergy, AddNote, GiveFeedback),
    *(CallPerson, FindOnMenu, Tell, EndCall),
)
"""What every agent can do: note the guest's name and allergies, answer questions, call a person, say goodbye,
and take a rating, because the guest may have placed the order on the page."""


class RestaurantAgent(Agent[OrderState, OrderContext]):
    """One of the restaurant's agents."""

    def offers_now(self, state: OrderState) -> Sequence[Tool]:
        """Leave out the rating while there is nothing to rate."""
        if can_give_feedback(state) is None:
            return self.offers
        return [tool for tool in self.offers if tool is not GiveFeedback]


def prompt(name: str) -> str:
    """Read an agent's instructions: its own page, then the restaurant's."""
    pages = files("agents") / "prompts"
    own, house = (
        (pages / f"{page}.md").read_text(encoding="utf-8").strip() for page in (name, "house")
    )
    return f"{own}\n\n{house}"
