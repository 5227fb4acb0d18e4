"""The restaurant's command line, called in this process."""

from collections.abc import Sequence
from typing import NoReturn

from agents.app.cli import main as run_command
from bella_vista.app import APP


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command of the restaurant."""
    run_command(APP, arguments)
