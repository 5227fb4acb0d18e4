"""A conversation on a screen, with the state beside it.

Each turn is printed once and never redrawn, so that the output can be scrolled, copied and resized.
"""

import os
from collections.abc import Sequence
from typing import Any

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.status import Status
from rich.table import Table
from rich.text import Text

from agents.app.app import AnyApp
from agents.app.background import Timer
from agents.app.console.wording import (
    Lost,
    closing_lines,
    cost_line,
    heard_notice,
    speaker_name,
    summary_of_call,
    whose_turn,
)
from agents.app.terminal.summary import Kind, Summary
from agents.handoff import (
    Call,
    EndReason,
    Event,
    HandedOver,
    Heard,
    Said,
    YourTurn,
)
from state.privacy.text import clean

_WIDE = 76
"""The least width at which the state is shown beside the conversation instead of below it, in columns."""

_NOTICED_S = 0.3
"""How long an agent may take before the screen shows that it is thinking, in seconds."""

_WIDEST = 120
_PANEL_WIDTH = 40
_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "red")
_GAPS = {
    (above, below)
    for above, below in (
        *(("line", "sum"), ("detail", "sum"), ("line", "total"), ("detail", "total")),
        *(("total", "fact"), ("sum", "fact")),
    )
}
"""The pairs of row kinds that are separated by an empty row."""

_STYLES: dict[Kind, str] = {
    "line": "bold",
    "detail": "dim",
    "sum": "",
    "total": "bold",
    "fact": "dim",
}


def terminal() -> Console:
    """Return the terminal as a rich console, without styles if ``NO_COLOR`` is set."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        highlight=False, markup=False, emoji=False, color_system=None if plain else "auto"
    )


class Screen:
    """Shows a call on a terminal.

    Args:
        resume_command: The command that continues this state.
    """

    def __init__(
        self, app: AnyApp, call: Call[Any, Any], console: Console, *, resume_command: str
    ) -> None:
        self._app = app
        self._call = call
        self._console = console
        self._resume_command = resume_command
        self._said: list[tuple[str, str]] = []
        self._shown: Summary | None = None
        self._thinking: Status | None = None
        self._soon = Timer(self._show_thinking)
        self._colours = {
            name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(call.graph.agents)
        }
        self._typed: str | None = None

    def opens(self) -> None:
        """Show the application's title and the state's."""
        shared = self._call.shared
        title = clean(self._app.title_of(shared.context))
        self._console.print()
        self._console.print(Text(title, style="bold"))
        self._console.print(
            Text(summary_of_call(self._app, self._call).titled(shared.state_id), style="dim"),
            soft_wrap=True,
        )
        kept = f"Type what you would say. Ctrl-D leaves; the {self._app.noun} is kept."
        self._console.print(Text(kept, style="dim"))
        self._think()

    def typed(self, line: str) -> None:
        """Remember the user's input as typed."""
        self._typed = line

    def tell(self, event: Event) -> None:
        """Process an event; a turn is shown when it is complete."""
        match event:
            case Heard():
                if (differs := heard_notice(self._typed, event.text)) is not None:
                    self._console.print(Text(differs, style="dim"))
                self._think()
            case Said():
                self._said.append((event.agent, clean(event.text, lines=True)))
            case HandedOver():
                self._think()
            case YourTurn():
                self._show()
                self._your_turn(event)

    def closes(self, reason: EndReason, lost: Lost | None = None) -> None:
        """Show the state, unless it was erased, and how to continue it."""
        self._show()
        self._console.print()
        summary = summary_of_call(self._app, self._call)
        if not summary.empty and reason != "agent_ended" and lost != "erased":
            panel = self._panel(summary)
            self._console.print(panel, width=min(self._width(), _PANEL_WIDTH + 6))
        for line in closing_lines(summary, reason, self._resume_command, lost):
            self._console.print(Text(line), soft_wrap=True)
        if (cost := cost_line(self._call.spending.total)) is not None:
            self._console.print(Text(cost, style="dim"), soft_wrap=True)

    # -- one turn -----------------------------------------------------------------------------------

    def _show(self) -> None:
        self._stop_thinking()
        said, self._said = self._said, []
        if not said:
            return
        summary, before = summary_of_call(self._app, self._call), self._shown
        self._shown = summary
        changed = before is None or (summary.rows, summary.status) != (before.rows, before.status)
        width = self._width()
        talk = self._talk(said, narrow=width < _WIDE)
        self._console.print()
        if not changed:
            self._console.print(Padding(talk, (0, max(0, width - 80), 0, 0)), width=width)
        elif width < _WIDE:
            self._console.print(talk, width=width)
            self._console.print(self._panel(summary), width=width)
        else:
            beside = Table.grid(expand=True, padding=(0, 2, 0, 0))
            beside.add_column(ratio=1)
            beside.add_column(width=_PANEL_WIDTH)
            beside.add_row(talk, self._panel(summary))
            self._console.print(beside, width=width)

    def _talk(self, said: Sequence[tuple[str, str]], *, narrow: bool) -> RenderableType:
        if narrow:
            return Group(*(part for name, text in said for part in (self._name(name), Text(text))))
        talk = Table.grid(padding=(0, 2, 0, 0))
        talk.add_column(no_wrap=True)
        talk.add_column(ratio=1)
        for agent, text in said:
            talk.add_row(self._name(agent), Text(text))
        return talk

    def _panel(self, summary: Summary) -> Panel:
        table = Table.grid(expand=True, padding=(0, 1, 0, 0))
        table.add_column(ratio=1)
        table.add_column(justify="right", no_wrap=True)
        before: Kind | None = None
        for row in summary.rows:
            if (before, row.kind) in _GAPS:
                table.add_row()
            before = row.kind
            style = _STYLES[row.kind]
            indent = 2 if row.kind == "detail" else 0
            text = Padding(Text(row.text, style=style), (0, 0, 0, indent))
            table.add_row(text, Text(row.amount, style=style))
        return Panel(
            table,
            title=Text(summary.title),
            title_align="left",
            subtitle=Text(summary.status.split(",")[0]) if summary.status else None,
            subtitle_align="right",
            border_style="dim" if summary.phase == "open" else "green",
            box=ROUNDED,
        )

    def _your_turn(self, event: YourTurn) -> None:
        self._console.print()
        self._console.print(Text(whose_turn(event), style="dim"))

    def _name(self, agent: str) -> Text:
        return Text(speaker_name(agent), style=f"bold {self._colours.get(agent, 'cyan')}")

    def _width(self) -> int:
        return min(self._console.width, _WIDEST)

    # -- the indicator while an agent is thinking --------------------------------------------------------

    def _think(self) -> None:
        self._stop_thinking()
        if self._console.color_system is not None:  # plain output should not be animated
            self._soon.start(_NOTICED_S)

    def _show_thinking(self) -> None:
        name = speaker_name(self._call.speaker)
        self._thinking = self._console.status(Text(f"{name} is thinking", style="dim"))
        self._thinking.start()

    def _stop_thinking(self) -> None:
        self._soon.stop()
        if self._thinking is not None:
            self._thinking.stop()
            self._thinking = None
