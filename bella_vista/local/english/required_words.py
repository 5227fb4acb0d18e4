"""Finds the words that a text must contain for a pattern to match, so that most searches are not made."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

# Python's own parser of patterns; it has no stubs.
op: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

DIGIT = "0"
"""Stands for any word with a digit in it."""

_MOST = 100
"""How many spellings of one word are followed."""

_SMALL = frozenset("a an and at for i in is it my of on one or that the to with you".split())
"""Words that most lines contain, so that requiring one of them rules little out."""

_SPACE = ord(" ")
_EMPTY = (op.ASSERT, op.ASSERT_NOT, op.AT)
"""Parts of a pattern that match no characters."""

_Words = frozenset[str]


@cache
def required_words(regex: str) -> _Words | None:
    """Return words of which every text that a pattern is found in has at least one.

    Args:
        regex: A pattern that matches whole words with single spaces between them.

    Returns:
        The words, ``DIGIT`` among them for any word with a digit; ``None`` if the pattern requires none.
    """
    walk = _Walk(frozenset({""}))
    walk.over(parser.parse(regex))
    walk.end_word()
    return walk.required


def with_digit(words: Iterable[str]) -> _Words:
    """Return the words of a text to compare with what patterns require: ``DIGIT`` where one has a digit."""
    spoken = frozenset(words)
    return spoken | {DIGIT} if any(map(str.isdigit, "".join(spoken))) else spoken


def may_match(pattern: re.Pattern[str], spoken: _Words) -> bool:
    """Whether a text of some words, as ``with_digit`` returns them, may have what a pattern requires."""
    required = required_words(pattern.pattern)
    return required is None or not required.isdisjoint(spoken)


class RequiredWords:
    """What several patterns require, to find at once those that a text may have.

    Args:
        patterns: Patterns as ``required_words`` takes them.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._always: set[int] = set()
        self._by_word: dict[str, list[int]] = {}
        for at, one in enumerate(patterns):
            required = required_words(one.pattern)
            if required is None:
                self._always.add(at)
            for word in required or ():
                self._by_word.setdefault(word, []).append(at)

    def possible(self, spoken: frozenset[str]) -> set[int]:
        """Return the places of the patterns that a text of some words may have."""
        return self._always.union(*(self._by_word.get(word, ()) for word in spoken))


class _Walk:
    """A walk through a parsed pattern, which collects the words that it requires.

    Args:
        begun: The possible beginnings of the word at this point; ``None`` if they are unknown.
    """

    def __init__(self, begun: _Words | None) -> None:
        self.begun = begun
        self.required: _Words | None = None

    def over(self, nodes: Iterable[tuple[Any, Any]]) -> None:
        """Walk over a sequence of nodes."""
        run = ""
        for kind, value in nodes:
            if kind is op.LITERAL:
                run += chr(value)
                continue
            if run:
                self._add_run(run)
                run = ""
            if kind is op.SUBPATTERN:
                self.over(value[-1])
            elif kind is op.IN:
                self._add_class(value)
            elif kind is op.BRANCH:
                self._split([self._after(one) for one in value[1]])
            elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
                self._repeat(*value)
            elif kind not in _EMPTY:
                self.begun = None
        if run:
            self._add_run(run)

    def end_word(self) -> None:
        """Complete the word at this point."""
        if self.begun is not None and "" not in self.begun:
            self._require(self.begun)

    def _add_run(self, run: str) -> None:
        first, *rest = run.split(" ")
        self._add([first])
        for word in rest:
            self.end_word()
            self.begun = frozenset({word})

    def _add(self, several: Sequence[str]) -> None:
        if self.begun is not None:
            longer = frozenset(one + more for one in self.begun for more in several)
            self.begun = longer if len(longer) <= _MOST else None

    def _add_class(self, members: Sequence[tuple[Any, Any]]) -> None:
        if all(kind is op.LITERAL and value != _SPACE for kind, value in members):
            self._add([chr(value) for _, value in members])
            return
        digits = (op.CATEGORY, op.CATEGORY_DIGIT), (op.RANGE, (ord("0"), ord("9")))
        if len(members) == 1 and members[0] in digits:
            self._require(frozenset({DIGIT}))
        self.begun = None

    def _after(self, nodes: Iterable[tuple[Any, Any]]) -> "_Walk":
        walk = _Walk(self.begun)
        walk.over(nodes)
        return walk

    def _split(self, ways: Sequence["_Walk"]) -> None:
        """Continue after alternatives."""
        self.begun = _union([one.begun for one in ways])
        self._require(_union([one.required for one in ways]))

    def _repeat(self, least: int, most: Any, nodes: Sequence[tuple[Any, Any]]) -> None:
        before = self.begun
        once = self._after(nodes)
        ways = [once] if least else [once, _Walk(before)]
        self._split(ways)
        while most != 1 and self.begun is not None:
            again = self._after(nodes)
            both = _union([self.begun, again.begun])
            if both == self.begun:
                break
            self.begun = both

    def _require(self, words: _Words | None) -> None:
        """Require one of some words, if that rules out more lines than what is required so far."""
        if words is not None and (self.required is None or _weight(words) < _weight(self.required)):
            self.required = words


def _union(several: Sequence[_Words | None]) -> _Words | None:
    found: set[str] = set()
    for one in several:
        if one is None:
            return None
        found |= one
    return frozenset(found) if len(found) <= 10 * _MOST else None


def _weight(words: _Words) -> int:
    return len(words) + 1000 * len(words & _SMALL)
