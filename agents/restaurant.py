"""What the restaurant's four voices have in common: their state, their prompts, what all of them offer."""

from importlib.resources import files

from agents.handoff import EndCall, Tool, Voice
from agents.questions import FindOnMenu, Tell
from state.commands import AddAllergy, AddNote, CallPerson, SetCustomer
from state.context import OrderContext
from state.order import OrderState

COMMON: tuple[Tool, ...] = (SetCustomer, AddAllergy, AddNote, CallPerson, FindOnMenu, Tell, EndCall)
"""Any voice notes who the guest is and what he must not eat, answers questions, fetches a person, says goodbye."""


class RestaurantVoice(Voice[OrderState, OrderContext]):
    """One of the restaurant's voices."""


def prompt(name: str) -> str:
    """Read a voice's instructions: its own page, then the house's."""
    pages = files("agents") / "prompts"
    own, house = (
        (pages / f"{page}.md").read_text(encoding="utf-8").strip() for page in (name, "house")
    )
    return f"{own}\n\n{house}"
