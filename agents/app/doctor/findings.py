"""The findings of a check: ok, a warning, or a fault that would make a call fail."""

from dataclasses import dataclass
from enum import StrEnum

import aiohttp

ANSWER_TIMEOUT = aiohttp.ClientTimeout(total=5.0)
"""The timeout of a request to a checked server."""


class Severity(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Args:
        mark: The severity.
        about: The subject of the check.
        found: The finding, and how to fix it.
    """

    mark: Severity
    about: str
    found: str

    def __str__(self) -> str:
        return f"{self.mark.value:<8} {self.about}: {' '.join(self.found.split())}"


def ok(about: str, found: str) -> Finding:
    """Report that something is as it should be."""
    return Finding(Severity.OK, about, found)


def warning(about: str, found: str) -> Finding:
    """Report something that works now but may stop working."""
    return Finding(Severity.WARNING, about, found)


def fault(about: str, found: str) -> Finding:
    """Report something that would make a call fail."""
    return Finding(Severity.FAULT, about, found)
