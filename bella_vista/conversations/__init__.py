"""Conversation files: the guest's turns, and what must be true after each."""

from bella_vista.conversations.form import Conversation, conversation_schema
from bella_vista.conversations.reading import (
    ConversationFaults,
    ConversationFile,
    load_conversation,
)

__all__ = [
    "Conversation",
    "ConversationFaults",
    "ConversationFile",
    "conversation_schema",
    "load_conversation",
]
