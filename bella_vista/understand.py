"""The ``understand`` command: how the local model understands lines, one JSON object each."""

import sys
from zoneinfo import ZoneInfo

from agents.app.clock import running_clock
from agents.app.terminal.json_lines import json_line
from agents.app.terminal.lines import LONGEST, PipedLines
from agents.app.terminal.streams import say
from bella_vista.local.understanding.understander import Understander, as_json
from bella_vista.menus import menu_file, read_menu
from bella_vista.settings import Settings
from state.contact import region_of
from state.privacy.redaction import Redactor


def understand_lines(settings: Settings) -> None:
    """Read lines from stdin to its end, and write how each would change a fresh order.

    Args:
        settings: The menu, and the time that "at seven" is relative to.
    """
    menu = read_menu(menu_file(settings.menu))
    now = running_clock(ZoneInfo(menu.restaurant.timezone), settings.at)
    understander = Understander(menu)
    if sys.stdin is None:
        return
    for line in iter(PipedLines(sys.stdin.fileno()), None):
        redact = Redactor(lambda: region_of(menu.restaurant))
        if words := redact(line.strip()[:LONGEST]):
            say(json_line(as_json(understander.understand(words, now=now()))))
