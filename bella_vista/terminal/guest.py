"""Where the guest's lines come from: the keyboard with line editing, or anything that can be piped."""

import contextlib
import os
import sys
from collections.abc import Callable

from bella_vista.terminal.lines import Lines, PipedLines

PROMPT = "You: "


def is_dumb() -> bool:
    """Whether the terminal can do no more than show one character after the other."""
    return os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")


def piped() -> Lines:
    """Take the guest's lines from stdin as they come."""
    # Without a stdin its descriptor may be anybody's by now.
    return Lines(PipedLines(sys.stdin.fileno()) if sys.stdin is not None else lambda: None)


def typed(told: Callable[[str], None]) -> Lines:
    """Ask the guest for each line, with editing and history where Python has them.

    Args:
        told: Gets each line as he sees it.
    """
    # Only importing readline makes input() edit lines. A pasted text with several lines is several turns.
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")

    def read() -> str:
        line = input(PROMPT)
        told(line)
        return line

    return Lines(read, close=_terminal_as_found())


def _terminal_as_found() -> Callable[[], None]:
    """Return what leaves the terminal as it is now: a thread in the middle of a line has changed its mode."""
    try:
        import termios

        descriptor = sys.stdin.fileno()
        found = termios.tcgetattr(descriptor)
    except (ImportError, AttributeError, OSError, ValueError):
        return lambda: None

    def restore() -> None:
        with contextlib.suppress(termios.error, OSError, ValueError):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, found)

    return restore
