"""Stand-ins for OpenAI, Deepgram and Cartesia, on loopback and without a key."""

from agents.testing.providers.connection import Asked
from agents.testing.providers.script import (
    Answer,
    Scenario,
    ScenarioError,
    Speech,
    ToolCall,
    Usage,
    Utterance,
    calls,
    refuses,
    says,
)
from agents.testing.providers.server import Providers

__all__ = [
    "Answer",
    "Asked",
    "Providers",
    "Scenario",
    "ScenarioError",
    "Speech",
    "ToolCall",
    "Usage",
    "Utterance",
    "calls",
    "refuses",
    "says",
]
