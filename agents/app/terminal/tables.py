"""Formats tables as text, as wide as the terminal or a file allows."""

import shutil
import sys
from io import StringIO

from rich.console import Console

WIDE = 100
"""The width of a table that is not shown on a terminal, in columns."""


def rendered(table: object) -> str:
    """Format a table as text, as wide as the screen or ``WIDE``."""
    # No markup: a user's text must not be interpreted.
    console = Console(
        file=StringIO(), width=width(), markup=False, emoji=False, highlight=False, no_color=True
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))


def width() -> int:
    """Return how many columns a table may take."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
