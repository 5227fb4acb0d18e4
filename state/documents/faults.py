"""All faults of a file at once, each with its place."""

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process

_ALIKE = 60.0
"""How alike a misspelt word must be to one that is known before it is proposed, of 100."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to put right: the file, the line, and what a person can do about it.

    >>> str(Fault("menu.yaml", 12, "the price cannot be negative"))
    'menu.yaml:12: the price cannot be negative'
    """

    source: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.message}"


class DocumentFaults(Exception):
    """The file cannot be used: every fault that was found, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(sorted(dict.fromkeys(faults), key=lambda f: f.line))
        super().__init__("\n".join(str(fault) for fault in self.faults))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Propose the known word that a misspelt one resembles, as the end of a message, or nothing.

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
