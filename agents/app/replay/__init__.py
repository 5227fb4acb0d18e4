"""Conversation files: the user's turns, what must be true after each, and the command that runs them."""
