"""Runs whole conversations without an API key: scripted models, and a user who says lines."""

from agents.testing.clock import Clock, Ids
from agents.testing.conversation import Conversation, Turn
from agents.testing.loudspeaker import Loudspeaker, Microphone
from agents.testing.rules import Rule, RuleCall, Rules, RulesError, RulesLLM, load_rules
from agents.testing.scripted import (
    ModelError,
    PlayedLLM,
    Request,
    ScriptedLLM,
    ScriptError,
    Step,
    calls,
    says,
)
from agents.testing.scripted_stt import ScriptedSTT
from agents.testing.spoken import SpokenConversation, quick_turns
from agents.testing.tone_tts import ToneTTS
from agents.testing.tone_vad import ToneVAD
from agents.testing.tones import is_loud, line, silence, tone
from agents.testing.waiting import ConversationError, until

__all__ = [
    "Clock",
    "Conversation",
    "ConversationError",
    "Ids",
    "Loudspeaker",
    "Microphone",
    "ModelError",
    "PlayedLLM",
    "Request",
    "Rule",
    "RuleCall",
    "Rules",
    "RulesError",
    "RulesLLM",
    "ScriptError",
    "ScriptedSTT",
    "ScriptedLLM",
    "SpokenConversation",
    "Step",
    "ToneVAD",
    "ToneTTS",
    "Turn",
    "calls",
    "is_loud",
    "line",
    "load_rules",
    "quick_turns",
    "says",
    "silence",
    "tone",
    "until",
]
