"""The words of a message, and the phrases of a language."""
