"""Whole conversations without a key: a model that plays a script, and a guest who speaks lines."""

from agents.testing.clock import Clock, Ids
from agents.testing.conversation import Conversation, ConversationError, Turn, until
from agents.testing.detector import ToneDetector
from agents.testing.ear import ScriptedEar
from agents.testing.loudspeaker import Loudspeaker, Microphone
from agents.testing.scripted import ModelError, Request, ScriptedLLM, ScriptError, Step, calls, says
from agents.testing.spoken import SpokenConversation, quick_turns
from agents.testing.tones import is_loud, line, silence, tone
from agents.testing.voice import ToneVoice

__all__ = [
    "Clock",
    "Conversation",
    "ConversationError",
    "Ids",
    "Loudspeaker",
    "Microphone",
    "ModelError",
    "Request",
    "ScriptError",
    "ScriptedEar",
    "ScriptedLLM",
    "SpokenConversation",
    "Step",
    "ToneDetector",
    "ToneVoice",
    "Turn",
    "calls",
    "is_loud",
    "line",
    "quick_turns",
    "says",
    "silence",
    "tone",
    "until",
]
