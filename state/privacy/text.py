"""Text as it is let into a state: one line or several, nothing invisible, no card number.

Cleaned before it is measured and before anything is written down, so that what a command carries is what
the journal keeps.
"""

import unicodedata
from typing import Annotated

from pydantic import BeforeValidator, Field

from state.privacy.redaction import redact

_JOINER = "\u200d"
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and pictures that show nothing, beside combining marks without a letter."""

_BREAKS = frozenset("\n\r\x0b\x0c\x85\u2028\u2029")
_FAR_TOO_LONG = 20_000
NAME, ASKED, NOTE, COMMENT = 80, 120, 280, 1000
"""The most characters a name, a question, a note and a comment may have."""


def clean(text: str, *, lines: bool = False) -> str:
    """Take out what cannot be seen or said, and fold white space.

    Control characters, directional marks, zero-width characters and halves of surrogate pairs go; the
    joiner within an emoji stays.

    Args:
        text: As it came.
        lines: Whether line breaks are kept.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept: list[str] = []
    for character in unicodedata.normalize("NFC", text):
        if character in _BREAKS:
            kept.append("\n" if lines else " ")
        elif character.isspace():
            kept.append(" ")
        elif character == _JOINER:
            if kept and _is_picture(kept[-1]):
                kept.append(character)
        elif unicodedata.category(character) not in ("Cc", "Cf", "Cs"):
            kept.append(character)
    folded = (" ".join(line.split()) for line in "".join(kept).rstrip(_JOINER).split("\n"))
    return "\n".join(folded).strip()


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk") or character == "\ufe0f"


def _one_line(value: object) -> object:
    if not isinstance(value, str) or len(value) > _FAR_TOO_LONG:
        return value
    return redact(clean(value))


def empty_or_visible(value: str, cleaned: str) -> str:
    """Return a cleaned text; an empty one says that there is nothing to say, and an invisible one says nothing.

    Args:
        value: As it came.
        cleaned: The same, cleaned.

    Raises:
        ValueError: It was not empty, and nothing of it can be seen.
    """
    seen = any(
        character not in _BLANKS and not unicodedata.category(character).startswith(("M", "Z"))
        for character in cleaned
    )
    if value.strip() and not seen:
        raise ValueError("it holds nothing that can be seen")
    return cleaned


def _shown(value: object) -> object:
    cleaned = _one_line(value)
    if isinstance(value, str) and isinstance(cleaned, str):
        return empty_or_visible(value, cleaned)
    return cleaned


def _several_lines(value: object) -> object:
    if not isinstance(value, str) or len(value) > _FAR_TOO_LONG:
        return value
    return redact(clean(value, lines=True))


def _comment(value: object) -> object:
    cleaned = _several_lines(value)
    return cleaned[:COMMENT] if isinstance(cleaned, str) else cleaned


Words = Annotated[str, BeforeValidator(_one_line), Field(min_length=1, max_length=NAME)]
"""A name of something, never empty."""

Name = Annotated[str, BeforeValidator(_shown), Field(max_length=NAME)]
"""A name that may be empty: the user would rather not say."""

Asked = Annotated[str, BeforeValidator(_one_line), Field(max_length=ASKED)]
"""What somebody looks for."""

Line = Annotated[str, BeforeValidator(_shown), Field(max_length=NOTE)]
"""A remark on one line; empty takes it away."""

Paragraph = Annotated[str, BeforeValidator(_several_lines), Field(min_length=1, max_length=NOTE)]
"""A note, line breaks kept."""

Comment = Annotated[str, BeforeValidator(_comment), Field(min_length=1, max_length=COMMENT)]
"""What a user says about their evening; what is too long is cut rather than asked for again."""
