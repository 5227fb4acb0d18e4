"""Types for texts in a state: cleaned, without invisible characters and card numbers.

Texts are cleaned before their length is checked, so a command carries exactly the text that is journaled.
"""

import unicodedata
from typing import Annotated

from pydantic import BeforeValidator, Field

from state.privacy.redaction import redact

_JOINER = "\u200d"
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that are invisible although Unicode does not classify them so."""

_BREAKS = frozenset("\n\r\x0b\x0c\x85\u2028\u2029")
_FAR_TOO_LONG = 20_000
NAME, ASKED, NOTE, COMMENT = 80, 120, 280, 1000
"""The maximum lengths of a name, a question, a note and a comment, in characters."""


def clean(text: str, *, lines: bool = False) -> str:
    """Remove invisible characters, and fold white space.

    Control characters, directional marks, zero-width characters and lone surrogates are removed; the
    joiner within an emoji is kept.

    Args:
        text: The text.
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
    """Return a cleaned text, and refuse one that is only invisible. An empty text is a valid answer.

    Args:
        value: The text before cleaning.
        cleaned: The cleaned text.

    Raises:
        ValueError: The text was not empty, and has no visible character.
    """
    seen = any(
        character not in _BLANKS and not unicodedata.category(character).startswith(("M", "Z"))
        for character in cleaned
    )
    if value.strip() and not seen:
        raise ValueError("it has no visible character")
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


# The length is the text's own, within the validator: it is then told in characters.
Words = Annotated[str, Field(min_length=1, max_length=NAME), BeforeValidator(_one_line)]
"""A name of something, never empty."""

Name = Annotated[str, Field(max_length=NAME), BeforeValidator(_shown)]
"""A name that may be empty: the user would rather not say."""

Asked = Annotated[str, Field(max_length=ASKED), BeforeValidator(_one_line)]
"""A search text."""

Line = Annotated[str, Field(max_length=NOTE), BeforeValidator(_shown)]
"""A single-line note; an empty text removes it."""

Paragraph = Annotated[str, Field(min_length=1, max_length=NOTE), BeforeValidator(_several_lines)]
"""A note, with line breaks."""

Comment = Annotated[str, Field(min_length=1, max_length=COMMENT), BeforeValidator(_comment)]
"""A user's comment; a longer one is cut instead of refused."""
