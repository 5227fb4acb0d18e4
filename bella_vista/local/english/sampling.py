"""Makes up sentences from patterns: those of ``state/language/en/spoken.txt`` and of ``talking.txt``."""

import random
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from bella_vista.local.english.talking import blocks

_Node = tuple[str, Any]

Slot = Callable[[], str]
"""Returns words for a name in braces."""

_MAYBE = 0.3
"""How often an optional part is said."""


class Unsayable(Exception):
    """A pattern stands for words that it does not name."""


class Sampler:
    """Makes up sentences.

    Args:
        chance: The source of chance; the same one makes the same sentences.
        slots: The words for names in braces that are no blocks.
    """

    def __init__(self, chance: random.Random, slots: Mapping[str, Slot]) -> None:
        self._chance = chance
        self._slots = slots

    def block(self, name: str) -> str:
        """Make up a sentence of a block of ``spoken.txt``, or else of ``talking.txt``.

        Raises:
            Unsayable: A pattern of ``talking.txt`` does not name its words.
            KeyError: There is no such slot or block.
        """
        weighted = _weighted(name)
        if weighted is None:
            return self._one(_parsed("|".join(blocks("talking")[name])))
        weights, patterns = weighted
        return self._one(self._chance.choices(patterns, weights)[0])

    def _one(self, node: "_Node") -> str:
        kind, value = node
        if kind == "text":
            return str(value)
        if kind == "any of":
            return self._one(value[self._chance.randrange(len(value))])
        if kind == "all of":
            return "".join(map(self._one, value))
        if kind == "maybe":
            return self._one(value) if self._chance.random() < _MAYBE else ""
        if kind == "slot":
            slot = self._slots.get(value)
            return slot() if slot is not None else self.block(value)
        raise Unsayable(value)


@cache
def _weighted(name: str) -> tuple[list[float], list[_Node]] | None:
    lines = blocks("spoken").get(name)
    if lines is None:
        return None
    weights, patterns = [], []
    for line in lines:
        told = re.match(r"(\d+):( |$)", line)
        weights.append(float(told[1]) if told else 1.0)
        patterns.append(_parsed(line[told.end() :] if told else line))
    return weights, patterns


@cache
def _parsed(pattern: str) -> _Node:
    return _Parser(pattern).alternatives()


class _Parser:
    """Parses the part of regular expressions that the files use."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> _Node:
        found = [self._sequence()]
        while self._next("|"):
            found.append(self._sequence())
        return found[0] if len(found) == 1 else ("any of", found)

    def _sequence(self) -> _Node:
        found: list[_Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            found.append(self._repeated(self._atom()))
        return "all of", found

    def _repeated(self, node: _Node) -> _Node:
        while match := re.compile(r"[?*+]|\{(\d+),\d*\}").match(self._pattern, self._at):
            self._at = match.end()
            if match[0] in "?*" or match[1] == "0":
                node = "maybe", node
        return node

    def _atom(self) -> _Node:
        sign = self._pattern[self._at]
        self._at += 1
        if sign == "(":
            return self._group()
        if sign == "{":
            end = self._pattern.index("}", self._at)
            name, self._at = self._pattern[self._at : end], end + 1
            return "slot", name
        if sign == "[":
            end = self._pattern.index("]", self._at)
            letters, self._at = self._pattern[self._at : end], end + 1
            return ("text", letters) if len(letters) == 1 else ("unknown", letters)
        if sign == "\\":
            self._at += 1
            return "unknown", self._pattern[self._at - 1]
        if sign in "^$":
            return "text", ""
        return ("unknown", sign) if sign == "." else ("text", sign)

    def _group(self) -> _Node:
        looks = self._next("?=") or self._next("?!") or self._next("?<=") or self._next("?<!")
        if not looks and not self._next("?:") and self._next("?P<"):
            self._at = self._pattern.index(">", self._at) + 1
        inside = self.alternatives()
        self._at += 1
        return ("text", "") if looks else inside

    def _next(self, signs: str) -> bool:
        if not self._pattern.startswith(signs, self._at):
            return False
        self._at += len(signs)
        return True
