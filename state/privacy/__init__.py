"""Redaction of card numbers and their security codes, and text without invisible characters.

Telephone numbers are kept: users give theirs so that it is stored.

A framework package: it knows no application, and ``agents.handoff`` applies it to everything that
is heard, said or given to a tool.
"""

from state.privacy.redaction import Redactor, redact, redact_partial, redact_whole, safe_length
from state.privacy.text import clean

__all__ = ["Redactor", "clean", "redact_partial", "redact", "redact_whole", "safe_length"]
