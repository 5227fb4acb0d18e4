"""Errors that list everything wrong with an input, and the places where exceptions arise."""

import sys
from collections.abc import Iterable
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

_OURS = ("agents.app.", "agents.handoff.", "rpc.gateway.", "rpc.page.", "state.shared.")


class InputError(Exception):
    """Settings, a file or a database cannot be used; ``faults`` lists everything wrong with it."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def place_of(trace: TracebackType | None) -> str:
    """Return the last line of the application's own that an exception came through, and its function."""
    frames = [(frame.f_code, line, frame.f_globals) for frame, line in walk_tb(trace)]
    own = [one for one in frames if not _is_library(one[0].co_filename, one[2]["__name__"])]
    code, line, _ = (own or frames)[-1]
    return f"{file_and_line(code.co_filename, line)}, {code.co_name}"


def _is_library(file: str, module: str) -> bool:
    top = module.partition(".")[0]
    return (
        "site-packages" in file or module.startswith(_OURS) or top in sys.stdlib_module_names
    ) and top != "__main__"


def file_and_line(file: str, line: int) -> str:
    """Name a line of a file, by a relative path if it is below the working directory."""
    return f"{short_path(Path(file))}:{line}"


def short_path(path: Path) -> Path:
    """Return a path as people would write it here: relative if it is below the working directory."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
