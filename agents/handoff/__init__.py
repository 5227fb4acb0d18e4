"""Multi-agent handoffs over one typed state, on livekit-agents.

A call is a ``Call`` over a ``SharedState``. Its agents are subclasses of ``Agent``, connected by
the ``Handoff`` edges of a ``Graph``. A handoff happens exactly once and the user hears it exactly
once.
"""

from agents.handoff import carry
from agents.handoff.agent_base import Opening
from agents.handoff.call import Agent, Call
from agents.handoff.events import (
    Ended,
    EndReason,
    Event,
    HandedOver,
    HandoffRefused,
    Heard,
    Latency,
    Listener,
    Said,
    Spent,
    StateChanged,
    ToolUsed,
    TurnWithdrawn,
    YourTurn,
)
from agents.handoff.failures import ModelFailure, why_model_failed
from agents.handoff.graph import BACK, Condition, Graph, GraphError, Handoff, dot, mermaid, outline
from agents.handoff.model_requests import DATA_MARK
from agents.handoff.policy import CallPolicy, PolicyError
from agents.handoff.replies import Cost
from agents.handoff.sessions import start_speech, start_text, stop, talk, turns_by
from agents.handoff.speech.push_to_talk import MicrophoneMode, NoTurn, PushToTalk
from agents.handoff.speech.redacting_stt import UNCLEAR
from agents.handoff.speech.waiting_tone import TONE_AFTER_S
from agents.handoff.tool_use import STILL_RUNNING
from agents.handoff.tools import (
    Action,
    EndCall,
    PutThrough,
    Read,
    SlowAction,
    TelephoneLine,
    Tool,
    parameters_of,
    tool_name,
    tool_of,
)

__all__ = [
    "TONE_AFTER_S",
    "BACK",
    "DATA_MARK",
    "STILL_RUNNING",
    "UNCLEAR",
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
    "Latency",
    "Listener",
    "CallPolicy",
    "MicrophoneMode",
    "ModelFailure",
    "NoTurn",
    "Opening",
    "PolicyError",
    "PushToTalk",
    "PutThrough",
    "Read",
    "Said",
    "SlowAction",
    "Spent",
    "StateChanged",
    "TelephoneLine",
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
