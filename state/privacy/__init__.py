"""Redaction of card and telephone numbers, and text without invisible characters.

A framework package: it knows no application, and ``agents.handoff`` applies it to everything that
is heard, said or given to a tool.
"""

from state.privacy.redaction import Redactor, in_passing, redact, redact_whole, settled
from state.privacy.text import clean

__all__ = ["Redactor", "clean", "in_passing", "redact", "redact_whole", "settled"]
