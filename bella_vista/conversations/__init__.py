"""Conversation files: the guest's turns, and what must be true after each."""

from bella_vista.conversations.form import Conversation, ScriptStep, conversation_schema
from bella_vista.conversations.reading import (
    ConversationFaults,
    ConversationFile,
    load_conversation,
    load_script,
)

__all__ = [
    "Conversation",
    "ConversationFaults",
    "ConversationFile",
    "ScriptStep",
    "conversation_schema",
    "load_conversation",
    "load_script",
]
