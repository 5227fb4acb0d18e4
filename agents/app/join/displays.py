"""The terminal output of a user in a room: a plain transcript, or JSON lines for a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, TextIO

from pydantic import JsonValue

from agents.app.app import AnyApp
from agents.app.terminal.input import PROMPT
from agents.app.terminal.stdio import json_line
from agents.app.terminal.summary import RECEIPT, as_text, columns
from state.privacy.text import clean

if TYPE_CHECKING:
    from agents.handoff import EndReason


@dataclass(frozen=True, slots=True)
class JoinedRoom:
    """The room and call that a user has joined.

    Args:
        hello: The agent's reply to hello.
    """

    room: str
    identity: str
    hello: Mapping[str, Any]

    @property
    def resume_code(self) -> str | None:
        """The code that resumes the state in another room."""
        code = self.hello.get("resume_code")
        return code if isinstance(code, str) else None


class RoomDisplay:
    """Shows a conversation in a room to the person or program at the terminal.

    An event whose method a display does not define is not shown.
    """

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """The agent has answered."""

    def typing(self) -> None:
        """The user is prompted for input."""

    def typed(self, line: str) -> None:
        """The user has typed a line; called from another thread."""

    def heard(self, line: str) -> None:
        """The user's words are being sent."""

    def said(self, agent: str | None, text: str) -> None:
        """An agent has said something."""

    def state(self, view: Mapping[str, Any]) -> None:
        """The state has changed."""

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """It is the user's turn, or no longer."""

    def problem(self, text: str) -> None:
        """There is a problem with the connection, the agent or the user's message."""

    def closes(
        self, reason: "EndReason", place: JoinedRoom, view: Mapping[str, Any], resume_command: str
    ) -> None:
        """The conversation is over."""


class PlainDisplay(RoomDisplay):
    """Writes the conversation, and the state as it changes.

    Args:
        answers_here: Whether the user types in this terminal, so that input is not repeated.
    """

    def __init__(self, app: AnyApp, out: TextIO, *, answers_here: bool) -> None:
        self._app = app
        self._out = out
        self._answers_here = answers_here
        self._prompting = False
        self._shown: tuple[str, str] | None = None

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """Write the room and the state's title."""
        noun = self._app.noun
        self._write(f"Room {clean(place.room)}")
        state_id = clean(str(place.hello.get(f"{noun}_id", "")))
        self._write(self._app.summary_of(view).titled(state_id))
        if self._answers_here:
            self._write(f"Type what you would say. Ctrl-D leaves; the {noun} is kept for you.")
        self._write("")
        self.state(view)

    def typing(self) -> None:
        """Remember that the prompt is shown, so that output goes above it."""
        self._prompting = self._answers_here

    def heard(self, line: str) -> None:
        """Write the user's words, if they are not visible anyway."""
        self._prompting = False
        if not self._answers_here:
            self._write(f"\nYou: {clean(line)}")

    def said(self, agent: str | None, text: str) -> None:
        """Write an agent's words."""
        name = _name(agent or self._app.name.replace("-", " ").title())
        lines = f"{name}: {clean(text, lines=True)}".split("\n")
        if self._answers_here:
            lines = [fill(line, columns()) for line in lines]
        self._write("\n".join(lines))

    def state(self, view: Mapping[str, Any]) -> None:
        """Write the state in one line when that has changed."""
        summary = self._app.summary_of(view)
        now = (summary.line, summary.status)
        if now != self._shown:
            if self._shown is not None or not summary.empty:
                title = ", ".join(filter(None, (summary.title, summary.status)))
                self._write(f"[{title}: {summary.line}]")
            self._shown = now

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Write how long the answer took and, if the user types here, the expected kind of answer.

        An open turn has only the prompt.
        """
        if took := _format_latency(notice.get("latency_ms")):
            self._write(f"[{took}]")
        if notice.get("your_turn") is not True or not self._answers_here:
            return
        if notice.get("expects") == "open":
            return
        text = notice.get("text")
        if not isinstance(text, str) or not text.strip():
            text = f"Your turn: {_name(str(notice.get('active_agent') or 'the agent'))} listens"
        self._write(fill(f"[{clean(text)}]", columns()))

    def problem(self, text: str) -> None:
        """Write the problem."""
        self._write(f"({text})")

    def closes(
        self, reason: "EndReason", place: JoinedRoom, view: Mapping[str, Any], resume_command: str
    ) -> None:
        """Write the state, and how to continue it."""
        self._prompting = False
        summary = self._app.summary_of(view)
        self._write(f"\n{as_text(summary.rows, min(RECEIPT, columns()))}\n")
        if summary.status:
            self._write(f"{summary.title} is {summary.status}.")
        if resume_command:
            self._write(f"Go on with: {resume_command}")

    def _write(self, text: str) -> None:
        if self._prompting:
            # The prompt is on this line: overwrite it, and print it again below.
            self._out.write(f"\r{' ' * len(PROMPT)}\r{text}\n{PROMPT}")
        else:
            self._out.write(text + "\n")
        self._out.flush()


class JsonDisplay(RoomDisplay):
    """Writes every event as one JSON line, immediately.

    Args:
        out: Receives the lines, and nothing else.
    """

    def __init__(self, app: AnyApp, out: TextIO) -> None:
        self._app = app
        self._out = out

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """Write the ``ready`` event."""
        self._write(
            "ready", room=place.room, identity=place.identity, **dict(place.hello), state=dict(view)
        )

    def heard(self, line: str) -> None:
        """Write the user's words."""
        self._write("heard", text=line)

    def said(self, agent: str | None, text: str) -> None:
        """Write an agent's words."""
        self._write("said", agent=agent, text=text)

    def state(self, view: Mapping[str, Any]) -> None:
        """Write the changed state."""
        self._write("state", version=view.get("version"), state=dict(view))

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Write the turn notice."""
        self._write("your_turn", **dict(notice))

    def problem(self, text: str) -> None:
        """Write the problem."""
        self._write("told", text=text)

    def closes(
        self, reason: "EndReason", place: JoinedRoom, view: Mapping[str, Any], resume_command: str
    ) -> None:
        """Write the ``end`` event."""
        end = {"reason": reason, "resume_code": place.resume_code, self._app.noun: dict(view)}
        self._write("end", **end)

    def _write(self, type_: str, **data: JsonValue) -> None:
        # An agent's payload may have a field of that name.
        data.pop("type", None)
        self._out.write(json_line({"type": type_, **data}) + "\n")
        self._out.flush()


def _name(agent: str) -> str:
    return clean(agent).replace("_", " ").capitalize()


def _format_latency(latency: object) -> str:
    """Describe where the time of an answer went; empty if it is not known.

    >>> _format_latency({"transcript": 310, "endpointing": 50, "llm": 40, "tts": 100, "total": 500})
    'heard 0.50 s after the last word: transcript 0.31, endpointing 0.05, llm 0.04, tts 0.10'
    """
    if not isinstance(latency, Mapping):
        return ""
    parts = {name: ms / 1000 for name, ms in latency.items() if isinstance(ms, int)}
    if (total := parts.pop("total", None)) is None:
        return ""
    each = ", ".join(f"{clean(str(name))} {seconds:.2f}" for name, seconds in parts.items())
    return f"heard {total:.2f} s after the last word: {each}"
