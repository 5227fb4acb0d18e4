"""Speech without a key: what the conversations say can be said, and is written as the rules expect it."""

import re
from pathlib import Path

import pytest

from agents.app.app import Environment
from examples.clinic.app import APP
from examples.clinic.speech import sentences, written


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        (
            "hello i am mary shelley born august thirtieth nineteen ninety seven",
            "hello i am Mary Shelley born 1997-08-30",
        ),
        ("my name is ada lovelace and i was born on june twenty first two thousand five", None),
        ("it is three one two five five five oh one nine nine", "it is 3125550199"),
        ("monday nine", "monday 9:00"),
        ("wednesday at eleven forty five please", "wednesday at 11:45 please"),
        ("my number is m four four one one", "my number is M4411"),
        ("i am in pain", "i am in pain"),
        ("twenty three", "23"),
        ("it is five five five twenty three ten twenty oh", "it is 5552310200"),
    ],
)
def test_what_is_said_is_written_with_digits(said: str, typed: str | None) -> None:
    wanted = typed or "my name is Ada Lovelace and i was born on 2005-06-21"

    assert written(said) == wanted


def test_every_sentence_is_of_words_and_the_rules_find_theirs(tmp_path: Path) -> None:
    settings = APP.settings.read(calendar=tmp_path / "calendar.db")
    said = sentences(APP.make_context(Environment.of(settings)))["open"]
    typed = [written(one) for one in said]

    assert [one for one in said if not re.fullmatch(r"[a-z' ]*", one)] == []
    for pattern in (
        r"(?-i:[A-Z][a-z]+ [A-Z][a-z]+)\W.*?\d{4}-\d\d-\d\d",
        r"(monday|tuesday|wednesday|thursday|friday)\W+(?:at )?\d{1,2}:\d\d",
        r"\b[A-Z]\d{3,15}\b",
        r"\d{7}",
        r"^[1-5]$",
    ):
        assert sum(bool(re.search(pattern, one)) for one in typed) > 300, pattern
