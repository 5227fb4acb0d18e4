"""The user's input: typed with line editing, or piped."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable

from agents.app.terminal.lines import Lines, PipedLines

PROMPT = "You: "


def is_dumb() -> bool:
    """Whether the terminal supports nothing but plain output."""
    return os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")


def piped() -> Lines:
    """Read lines from stdin."""
    # Without a stdin its descriptor may belong to something else.
    return Lines(PipedLines(sys.stdin.fileno()) if sys.stdin is not None else lambda: None)


def typed(told: Callable[[str], None]) -> Lines:
    """Prompt for each line, with editing and history where Python supports it.

    Args:
        told: Called with each line as it was typed.
    """
    typed_so_far: Callable[[], str] = str
    # Importing readline makes input() edit lines. With bracketed paste off each pasted line is one
    # turn.
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
        typed_so_far = readline.get_line_buffer

    def hide() -> None:
        rows = len(PROMPT + typed_so_far()) // shutil.get_terminal_size().columns
        up = f"\x1b[{rows}A" if rows else ""
        sys.stdout.write("\n" if is_dumb() else f"\r{up}\x1b[J")

    def redraw() -> None:
        sys.stdout.write(PROMPT + typed_so_far())
        sys.stdout.flush()

    def read() -> str:
        line = input(PROMPT)
        told(line)
        return line

    return Lines(read, close=_terminal_as_found(), hide=hide, redraw=redraw)


def _terminal_as_found() -> Callable[[], None]:
    """Return a function that restores the terminal's mode: a thread inside ``input`` has changed it."""
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
