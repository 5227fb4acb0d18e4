"""English: the words that are understood, the patterns they form, and the questions asked back."""

from bella_vista.local.english.sentences import ask

__all__ = ["ask"]
