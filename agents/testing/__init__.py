"""Whole conversations without a key: a model that plays a script, and a guest who speaks lines."""

from agents.testing.clock import Clock, Ids
from agents.testing.conversation import Conversation, ConversationError, Turn, until
from agents.testing.scripted import ModelError, Request, ScriptedLLM, ScriptError, Step, calls, says

__all__ = [
    "Clock",
    "Conversation",
    "ConversationError",
    "Ids",
    "ModelError",
    "Request",
    "ScriptError",
    "ScriptedLLM",
    "Step",
    "Turn",
    "calls",
    "says",
    "until",
]
