"""Conversation files: their form; how they are read, written and saved."""
