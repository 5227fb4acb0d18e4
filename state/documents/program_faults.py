"""Faults of a declaration that nothing catches: a program lists them with their place, and ends."""

import sys
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

_OURS = ("agents.app.", "agents.handoff.", "rpc.gateway.", "rpc.page.", "state.shared.")

_previous_hook = sys.excepthook


def report_faults(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """End a program whose declaration is faulty with a line for each fault, and exit code 2.

    The framework's packages set it as ``sys.excepthook``: a declaration is made while a module is imported. Errors
    whose ``faults`` is no tuple are left to the hook that was there before.

    Args:
        kind: The class of the error.
        error: The error. Its ``faults`` are listed, after the place unless its ``names_places`` is true.
        trace: Its traceback.

    Raises:
        SystemExit: The error has faults.
    """
    faults = getattr(error, "faults", None)
    if not isinstance(faults, tuple):
        _previous_hook(kind, error, trace)
        return
    place = "" if getattr(error, "names_places", False) else f"{place_of(trace)}: "
    with suppress(OSError, AttributeError):  # stderr may be closed, or missing
        for fault in faults:
            sys.stderr.write(f"{_printable(f'{place}{fault}')}\n")
    raise SystemExit(2)


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


def _printable(text: str) -> str:
    """Replace what a terminal would execute."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
