"""Text that is let in: visible, on as many lines as it may have, and of a length."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.privacy.text import clean


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  two\n\tlines ", "two lines"),
        ("a\x00b\x1b[31mc", "ab[31mc"),
        ("abc\u202edef", "abcdef"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("half \ud800 pair", "half pair"),
        ("one\u2028two\u0085three", "one two three"),
        ("no\u00a0break", "no break"),
        ("Zoe\u0308", "Zoë"),
        ("日本語", "日本語"),
        ("👩\u200d🍳 cooks", "👩\u200d🍳 cooks"),
        ("👩🏽\u200d🍳", "👩🏽\u200d🍳"),
        ("a\u200db\u200d", "ab"),
        ("🏳️\u200d🌈\u200d", "🏳️\u200d🌈"),
        ("", ""),
    ],
)
def test_invisible_characters_are_removed(text: str, kept: str) -> None:
    assert clean(text) == kept


def test_lines_are_kept_where_they_may_be() -> None:
    assert clean(" one \r\n  two\x0b\nthree  ", lines=True) == "one\n\ntwo\n\nthree"
    assert clean("one\ntwo", lines=True) == "one\ntwo"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.booleans())
def test_clean_text_is_clean(text: str, lines: bool) -> None:
    once = clean(text, lines=lines)

    assert clean(once, lines=lines) == once
    assert once == once.strip()
    assert not {unicodedata.category(character) for character in once.replace("\n", "")} & {
        "Cc",
        "Cs",
    }
    once.encode()
