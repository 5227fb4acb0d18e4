"""The patterns and words of English that are data: each is there, each compiles, and none is left over."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import bella_vista.local
from bella_vista.local.english.required_words import DIGIT, required_words
from bella_vista.local.english.talking import pattern, patterns, table, words_of
from bella_vista.local.understanding.words.tokens import Words

READERS = {"pattern": pattern, "patterns": patterns, "words_of": words_of, "table": table}
CODE = "\n".join(
    path.read_text(encoding="utf-8") for path in Path(bella_vista.local.__path__[0]).rglob("*.py")
)
DATA = (files("state.language") / "en" / "talking.txt").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^\[([a-z ]+)\]$", DATA, re.MULTILINE)
USED = re.findall(r"\b(pattern|patterns|words_of|table)\(\s*\"([a-z ]+)\"\s*\)", CODE)


@pytest.mark.parametrize(("reader", "name"), sorted(set(USED)))
def test_a_block_that_code_reads_is_there(reader: str, name: str) -> None:
    assert READERS[reader](name)


def test_no_block_is_there_twice() -> None:
    assert sorted(set(BLOCKS)) == sorted(BLOCKS)


def test_every_block_is_read() -> None:
    quoted = set(re.findall(r"\"([a-z ]+)\"", CODE)) | set(re.findall(r"\{([a-z ]+)\}", DATA))
    made = re.compile(
        "|".join(
            re.sub(r"\{[^}]+\}", ".+", one) for one in re.findall(r"f\"([a-z ]+\{[^\"]+)\"", CODE)
        )
    )
    assert [name for name in BLOCKS if name not in quoted and not made.fullmatch(name)] == []


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("i like (?:the )?soup", {"like"}),
        ("(?:hot|cold) soups?", {"hot", "cold"}),
        ("(?:so |then )*burgers?", {"burger", "burgers"}),
        ("gr[ae]y cat(?:s are)?", {"gray", "grey"}),
        (r"at \d{1,2}(?: pm)?", {DIGIT}),
        ("(?:no )?tip|gratuity", {"tip", "gratuity"}),
        ("(?:no )?tip|(?:gratuity)?", None),
        (r"(?:un)*known \S+", None),
        (r"(?:tea|\S+ coffee)", {"tea", "coffee"}),
        (r"x\d+", {DIGIT}),
        ("[a-z]+ fries", {"fries"}),
        ("(?=tea).{3} cup", {"cup"}),
    ],
)
def test_a_pattern_requires_words(regex: str, words: set[str] | None) -> None:
    assert required_words(rf"(?<!\S)(?:{regex})(?!\S)") == words


def test_what_a_pattern_is_found_in_has_a_word_that_it_requires() -> None:
    everything = {pattern(name) for reader, name in USED if reader == "pattern"}
    everything |= {one for reader, name in USED if reader == "patterns" for one in patterns(name)}
    found = 0
    for line in _lines():
        words = Words.read(line)
        for one in everything:
            if one.search(words.said) is not None:
                assert words.find(one) is not None, (line, one.pattern)
                found += required_words(one.pattern) is not None
    assert found > 5_000


def _lines() -> list[str]:
    """The guests' lines of every conversation."""
    conversations = (Path(__file__).parents[2] / "conversations").glob("*.yaml")
    texts = (path.read_text(encoding="utf-8") for path in sorted(conversations))
    return [say for text in texts for say in re.findall(r"^ *- (?:say|user): (.+)$", text, re.M)]
