"""The patterns and words of English that are data: each is there, each compiles, and none is left over."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import bella_vista.local
from bella_vista.local.english.talking import pattern, patterns, table, words_of

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
