"""Errors that list everything wrong with an input."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import ClassVar


class InputError(Exception):
    """Settings, a file or a database cannot be used; ``faults`` lists everything wrong with it."""

    names_places: ClassVar[bool] = True
    """Whether each fault says where it is, so that ``report_faults`` names no line of the program."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


_previous_hook = sys.excepthook


def report_faults(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Report a faulty declaration: ``sys.excepthook``, set by the framework's packages."""
    if not isinstance(getattr(error, "faults", None), tuple):
        _previous_hook(kind, error, trace)
        return
    from state.documents.program_faults import report_faults

    report_faults(kind, error, trace)


def place_of(trace: TracebackType | None) -> str:
    """Return the last line of application code in a traceback, and its function."""
    # Imported late: making a server must not import ``state``.
    from state.documents.program_faults import place_of

    return place_of(trace)


def file_and_line(file: str, line: int) -> str:
    """Format a line of a file as ``path:line``; the path is relative below the working directory."""
    return f"{short_path(Path(file))}:{line}"


def short_path(path: Path) -> Path:
    """Return a path, relative if it is below the working directory."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
