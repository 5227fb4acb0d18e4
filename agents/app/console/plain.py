"""A conversation as a plain transcript: for pipes, files, and simple terminals."""

from textwrap import fill
from typing import Any, TextIO

from agents.app.app import AnyApp
from agents.app.console.wording import (
    Lost,
    closing_lines,
    cost_line,
    heard_notice,
    speaker_name,
    summary_of_call,
    whose_turn,
)
from agents.app.terminal.summary import RECEIPT, Row, as_text, columns
from agents.handoff import Call, EndReason, Event, Heard, Said, YourTurn
from state.privacy.text import clean


class PlainConsole:
    """Writes the conversation, and the state at the end.

    Args:
        resume_command: The command that continues this state.
        answers_here: Whether the user types in this terminal: input is not repeated then, and turns
            are announced.
    """

    def __init__(
        self,
        app: AnyApp,
        call: Call[Any, Any],
        out: TextIO,
        *,
        resume_command: str,
        answers_here: bool = False,
    ) -> None:
        self._app = app
        self._call = call
        self._out = out
        self._resume_command = resume_command
        self._answers_here = answers_here
        self._shown = summary_of_call(self._app, self._call)
        self._typed: str | None = None

    def opens(self) -> None:
        """Write the application's title and the state's."""
        shared = self._call.shared
        title = self._app.title_of(shared.context)
        self._write(f"{title}, {_lower(self._shown.titled(shared.state_id))}\n")
        if not self._shown.empty:
            self._write(self._receipt(self._shown.rows) + "\n")

    def typed(self, line: str) -> None:
        """Remember the user's input as typed."""
        self._typed = line

    def tell(self, event: Event) -> None:
        """Write the words that an event holds."""
        match event:
            case Heard() if not self._answers_here:
                self._write(f"You: {clean(event.text)}")
            case Heard():
                if (differs := heard_notice(self._typed, event.text)) is not None:
                    self._write(differs)
            case Said():
                self._write(self._said(event))
            case YourTurn() if self._answers_here:
                self._show_state()
                self._write(fill(f"[{whose_turn(event)}]", columns()))
            case YourTurn():
                self._write("")

    def closes(self, reason: EndReason, lost: Lost | None = None) -> None:
        """Write the state, unless it was erased, and how to continue it."""
        summary = summary_of_call(self._app, self._call)
        if lost != "erased":
            self._write(f"\n{self._receipt(summary.rows)}\n")
        self._write("\n".join(closing_lines(summary, reason, self._resume_command, lost)))
        if (cost := cost_line(self._call.spending.total)) is not None:
            self._write(cost)

    def _said(self, event: Said) -> str:
        text = f"{speaker_name(event.agent)}: {clean(event.text, lines=True)}"
        if not self._answers_here:
            return text
        return "\n".join(fill(line, columns()) for line in text.split("\n"))

    def _receipt(self, rows: tuple[Row, ...]) -> str:
        return as_text(rows, min(RECEIPT, columns()) if self._answers_here else RECEIPT)

    def _show_state(self) -> None:
        summary, before = summary_of_call(self._app, self._call), self._shown
        self._shown = summary
        if summary.rows != before.rows:
            self._write(f"\n{self._receipt(summary.rows)}\n")
        if summary.status != before.status:
            self._write(f"{summary.title} is {summary.status}.")

    def _write(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]
