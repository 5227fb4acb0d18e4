"""Sentences from patterns: every alternative is said, and a pattern without words says so."""

import random

import pytest

from bella_vista.local.english import sampling
from bella_vista.local.english.sampling import Sampler, Unsayable


def said(monkeypatch: pytest.MonkeyPatch, *lines: str, often: int = 200) -> set[str]:
    monkeypatch.setattr(sampling, "blocks", lambda name: {"test": lines, "word": ["really"]})
    sampling._weighted.cache_clear()
    sampler = Sampler(random.Random(1), {"dish": lambda: "Margherita"})
    made = {sampler.block("test") for _ in range(often)}
    sampling._weighted.cache_clear()
    return made


@pytest.mark.parametrize(
    ("pattern", "sentences"),
    [
        ("yes|no", {"yes", "no"}),
        ("(one|two) {dish}s?", {f"{n} Margherita{s}" for n in ("one", "two") for s in ("", "s")}),
        ("a( {word})* one+", {"a one", "a really one"}),
        ("(?P<number>one) ?(?=two)(?!three)(?:four)", {"one four", "onefour"}),
        ("x{0,4}y{2,3}", {"xy", "y"}),
        (r"(\w+ )?maybe( .*)?", {"maybe"}),
    ],
)
def test_a_pattern_is_said_in_all_its_ways(
    monkeypatch: pytest.MonkeyPatch, pattern: str, sentences: set[str]
) -> None:
    if "\\w" in pattern:
        monkeypatch.setattr(sampling, "_MAYBE", 0.0)

    assert said(monkeypatch, pattern) == sentences


def test_a_line_with_a_greater_weight_is_said_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, "999999: yes", "no", often=50) == {"yes"}
    assert said(monkeypatch, "9:", "no") == {"", "no"}


def test_a_pattern_that_does_not_name_its_words_cannot_be_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(Unsayable):
        said(monkeypatch, r"some \w+")


def test_a_name_that_is_nowhere_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError, match="drink"):
        said(monkeypatch, "a {drink}")
