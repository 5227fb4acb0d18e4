"""What was found in one respect: fine, fine for now, or what would fail in a call."""

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How something stands."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one respect.

    Args:
        mark: How it stands.
        about: In which respect.
        found: What was found, and what to do about it.
    """

    mark: Mark
    about: str
    found: str

    def __str__(self) -> str:
        return f"{self.mark.value:<8} {self.about}: {' '.join(self.found.split())}"


def ok(about: str, found: str) -> Finding:
    """Something is as it should be."""
    return Finding(Mark.OK, about, found)


def warning(about: str, found: str) -> Finding:
    """Something works, and may not for long."""
    return Finding(Mark.WARNING, about, found)


def fault(about: str, found: str) -> Finding:
    """Something would fail in a call."""
    return Finding(Mark.FAULT, about, found)
