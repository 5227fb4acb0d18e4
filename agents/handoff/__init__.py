"""Many agents over one typed state: handoffs that happen exactly once and are heard exactly once.

Knows no restaurant. A call is a ``Call`` over a ``SharedState``; its agents are subclasses of ``Agent``,
joined by ``Handoff`` edges in a ``Graph``.
"""

from agents.handoff import carry
from agents.handoff.actions import EndCall
from agents.handoff.agent import Agent, Opening
from agents.handoff.call import Call
from agents.handoff.events import (
    Ended,
    EndReason,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Listener,
    Said,
    Spent,
    StateChanged,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
)
from agents.handoff.failures import ModelFailure, why_model_failed
from agents.handoff.graph import Condition, Graph, GraphError, Handoff
from agents.handoff.picture import dot, mermaid, outline
from agents.handoff.policy import CallPolicy
from agents.handoff.request import DATA_MARK
from agents.handoff.speech import start_speech, turns_by
from agents.handoff.spending import Cost
from agents.handoff.terminal import talk
from agents.handoff.text import start_text, stop
from agents.handoff.tools import Action, Read, Tool, parameters_of, tool_name, tool_of

__all__ = [
    "DATA_MARK",
    "Action",
    "Call",
    "Condition",
    "Cost",
    "EndCall",
    "EndReason",
    "Ended",
    "Event",
    "Graph",
    "GraphError",
    "HandedOver",
    "Handoff",
    "HandoffRefused",
    "Heard",
    "Listener",
    "CallPolicy",
    "ModelFailure",
    "Opening",
    "Read",
    "Said",
    "Spent",
    "StateChanged",
    "Tool",
    "ToolUsed",
    "TurnWithdrawn",
    "Agent",
    "YourTurn",
    "carry",
    "dot",
    "mermaid",
    "outline",
    "parameters_of",
    "start_speech",
    "start_text",
    "stop",
    "talk",
    "tool_name",
    "tool_of",
    "turns_by",
    "why_model_failed",
]
