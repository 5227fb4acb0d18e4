"""The faults of a file, all at once, each with its line."""

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process

_ALIKE = 60.0
"""How similar a misspelled word must be to a known one to suggest it, from 0 to 100."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: the file, the line, and how to fix it.

    >>> str(Fault("menu.yaml", 12, "the price cannot be negative"))
    'menu.yaml:12: the price cannot be negative'
    >>> str(Fault("menu.yaml", 0, "there is no such file"))
    'menu.yaml: there is no such file'

    Args:
        line: The line, from 1; 0 if the fault is the file's.
        message: How to fix it.
    """

    source: str
    line: int
    message: str

    def __str__(self) -> str:
        return (
            f"{self.source}:{self.line}: {self.message}"
            if self.line
            else f"{self.source}: {self.message}"
        )


class DocumentFaults(Exception):
    """The file cannot be used: all its faults, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(sorted(dict.fromkeys(faults), key=lambda f: f.line))
        super().__init__("\n".join(str(fault) for fault in self.faults))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion for a misspelled word, to append to a message; empty if no word is similar.

    >>> did_you_mean("alergens", ["allergens", "aliases"])
    ' - did you mean "allergens"?'
    >>> did_you_mean("xyz", ["allergens"])
    ''
    """
    candidates = {name.casefold(): name for name in known}
    found = process.extractOne(
        word.casefold(), list(candidates), scorer=fuzz.ratio, score_cutoff=_ALIKE
    )
    return f' - did you mean "{candidates[found[0]]}"?' if found else ""
