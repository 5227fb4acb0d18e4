"""Patterns and words of English for all that is not an order, read from ``state/language/en/talking.txt``."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a block: any of its alternatives, as whole words."""
    return _compiled(_regex(name))


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each line of a block, the surest first."""
    return tuple(_compiled(_expanded(line)) for line in blocks("talking")[name])


def expanded_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of one line, with the blocks written out that it names in braces."""
    return _compiled(_expanded(text))


def lines_of(name: str) -> Sequence[str]:
    """Return the lines of a block."""
    return blocks("talking")[name]


@cache
def words_of(name: str, file: str = "talking") -> frozenset[str]:
    """Return the words of a block."""
    return frozenset(word for line in blocks(file)[name] for word in line.split())


@cache
def phrases_of(name: str, file: str = "talking") -> frozenset[str]:
    """Return the phrases of a block, which bars divide."""
    return frozenset(one for line in blocks(file)[name] for one in line.split("|"))


@cache
def said_words() -> frozenset[str]:
    """Return every word that a pattern or a list of English has, but for names: it may be no name."""
    names = ("first names", "given names", "particles")
    lines = (
        line for name, block in blocks("talking").items() if name not in names for line in block
    )
    return frozenset(word for line in lines for word in re.findall(r"[a-z]{2,}", line))


@cache
def table(name: str) -> Mapping[str, frozenset[str]]:
    """Return the words behind each key of a block whose lines are "key: words"."""
    lines = (line.partition(":") for line in blocks("talking")[name])
    return {key: frozenset(words.split()) for key, _, words in lines}


def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{regex})(?!\S)")


def _regex(name: str) -> str:
    return _expanded("|".join(blocks("talking")[name]))


def _expanded(text: str) -> str:
    """Write out the blocks named in braces; a bare parenthesis is no group of its own.

    What follows anything at the start of an alternative begins a word: ".*live" is not in "olive".
    """
    plain = re.sub(r"(^|\|)\.\*(?=[\w({])", r"\1.*(?<!\\S)", text)
    plain = re.sub(r"\((?!\?)", "(?:", plain)
    return re.sub(r"\{([a-z ]+)\}", lambda named: f"(?:{_regex(named[1])})", plain)


@cache
def blocks(name: str, language: str = "en") -> Mapping[str, Sequence[str]]:
    """Return the lines of every block of a file of English.

    Raises:
        ValueError: Two blocks have one name.
    """
    text = files("state.language").joinpath(language, f"{name}.txt").read_text("utf-8")
    found: dict[str, list[str]] = {}
    block: list[str] = []
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]"):
            if line[1:-1] in found:
                raise ValueError(f"{name}.txt has two blocks [{line[1:-1]}]")
            block = found[line[1:-1]] = []
        elif line.strip() and not line.startswith("#"):
            block.append(line)
    return found
