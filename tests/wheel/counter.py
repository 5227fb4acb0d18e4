"""A small application, to run over the wheel: one agent who counts parcels."""

from typing import Any, Literal

from livekit.agents.llm import LLM
from pydantic import BaseModel

from agents.app.app import App
from agents.app.settings import AppSettings
from agents.handoff import Agent, EndCall, Graph, Opening
from state.shared import Command


class Parcels(BaseModel, frozen=True):
    """What is counted."""

    parcels_id: str
    count: int = 0


class AddParcels(Command[Parcels, None]):
    """Count parcels."""

    op: Literal["add_parcels"] = "add_parcels"
    count: int

    def apply(self, state: Parcels, context: None) -> Parcels:
        """Add them."""
        return state.model_copy(update={"count": state.count + self.count})


class Clerk(Agent[Parcels, None]):
    """The only agent."""

    name = "clerk"
    prompt = "Count parcels."
    offers = (AddParcels, EndCall)
    opening = Opening(first="Ask.", handed_over="Ask.", come_back="Ask.", canned="How many?")


def _model(context: None, settings: AppSettings) -> LLM[Any]:
    from agents.testing import ScriptedLLM, calls, says

    return ScriptedLLM(
        [says("How many parcels?"), calls(("add_parcels", {"count": 3})), says("Three, noted.")]
    )


APP: App[Parcels, None] = App(
    name="counter",
    noun="count",
    plural="counts",
    prefix="counter",
    state=Parcels,
    context=lambda environment: None,
    new=lambda context, new: Parcels(parcels_id=new.id),
    graph=Graph(start="clerk", agents=(Clerk,), handoffs=()),
    model=_model,
)

if __name__ == "__main__":
    APP.cli()
