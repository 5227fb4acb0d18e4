"""What a guest in a room sees in the terminal: a plain transcript, or JSON lines for a program."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal, Protocol, TextIO

from pydantic import JsonValue

from agents.app.terminal.input import PROMPT
from agents.app.terminal.json_lines import json_line
from bella_vista.guest.receipt import rows, stage_of
from bella_vista.terminal.receipt import as_text
from state.privacy.text import clean

Reason = Literal["input_ended", "user_left", "agent_ended", "failed"]

_RECEIPT = 46
_NARROWEST = 24


@dataclass(frozen=True, slots=True)
class JoinedRoom:
    """The room and call that a guest has joined.

    Args:
        room: The room's name.
        identity: The guest's identity.
        hello: The agent's reply to hello.
    """

    room: str
    identity: str
    hello: Mapping[str, Any]

    @property
    def resume_code(self) -> str | None:
        """The code that resumes the order in another room."""
        code = self.hello.get("resume_code")
        return code if isinstance(code, str) else None


class Display(Protocol):
    """Shows a conversation in a room to the person or program at the terminal."""

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """The agent has answered."""

    def typing(self) -> None:
        """The guest is prompted for input."""

    def typed(self, line: str) -> None:
        """The guest has typed a line; called from another thread."""

    def heard(self, line: str) -> None:
        """The guest's words are being sent."""

    def said(self, agent: str | None, text: str) -> None:
        """An agent has said something."""

    def order(self, view: Mapping[str, Any]) -> None:
        """The order has changed."""

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """It is the guest's turn, or no longer."""

    def told(self, what: str) -> None:
        """There is a problem with the connection, the agent or the guest's message."""

    def closes(
        self, reason: Reason, place: JoinedRoom, view: Mapping[str, Any], to_go_on: str
    ) -> None:
        """The conversation is over."""


class PlainDisplay:
    """Writes what is said, and the order as it changes.

    Args:
        out: Receives the text.
        answers_here: Whether the guest types in this terminal, so that input is not repeated.
    """

    def __init__(self, out: TextIO, *, answers_here: bool) -> None:
        self._out = out
        self._answers_here = answers_here
        self._asking = False
        self._shown: tuple[str, str] | None = None

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """Write the room and the order's number."""
        self._write(f"Room {clean(place.room)}")
        self._write(f"Order {clean(str(view['order_number']))} ({clean(str(view['order_id']))})")
        if self._answers_here:
            self._write("Type what you would say. Ctrl-D leaves; the order is kept for you.")
        self._write("")
        self.order(view)

    def typing(self) -> None:
        """Remember that the prompt is shown, so that output goes above it."""
        self._asking = self._answers_here

    def typed(self, line: str) -> None:
        """Write nothing: the guest sees what they type."""

    def heard(self, line: str) -> None:
        """Write the guest's words, if they are not visible anyway."""
        self._asking = False
        if not self._answers_here:
            self._write(f"\nYou: {clean(line)}")

    def said(self, agent: str | None, text: str) -> None:
        """Write what an agent says."""
        name = _name(agent) if agent else "Bella Vista"
        lines = f"{name}: {clean(text, lines=True)}".split("\n")
        if self._answers_here:
            lines = [fill(line, self._columns()) for line in lines]
        self._write("\n".join(lines))

    def order(self, view: Mapping[str, Any]) -> None:
        """Write the order's summary and stage in one line when they have changed."""
        now = (clean(str(view["order_summary"])), stage_of(view))
        if now != self._shown:
            if self._shown is not None or view["order_items"]:
                self._write(f"[Order {clean(str(view['order_number']))}, {now[1]}: {now[0]}]")
            self._shown = now

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Write the turn notice, if the guest types in this terminal."""
        if notice.get("your_turn") is not True or not self._answers_here:
            return
        text = notice.get("text")
        if not isinstance(text, str) or not text.strip():
            text = f"Your turn: {_name(str(notice.get('active_agent') or 'the agent'))} listens"
        self._write(fill(f"[{clean(text)}]", self._columns()))

    def told(self, what: str) -> None:
        """Write the problem."""
        self._write(f"({what})")

    def closes(
        self, reason: Reason, place: JoinedRoom, view: Mapping[str, Any], to_go_on: str
    ) -> None:
        """Write the order, and how to continue it."""
        self._asking = False
        self._write(f"\n{as_text(rows(view), min(_RECEIPT, self._columns()))}\n")
        self._write(f"Order {clean(str(view['order_number']))} is {stage_of(view)}.")
        if to_go_on:
            self._write(f"Go on with: {to_go_on}")

    def _columns(self) -> int:
        return max(_NARROWEST, shutil.get_terminal_size().columns - 1)

    def _write(self, text: str) -> None:
        if self._asking:
            # The prompt is on this line: overwrite it, and print it again below.
            self._out.write(f"\r{' ' * len(PROMPT)}\r{text}\n{PROMPT}")
        else:
            self._out.write(text + "\n")
        self._out.flush()


class JsonDisplay:
    """Writes every event as one JSON line, immediately.

    Args:
        out: Receives the lines, and nothing else.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def opens(self, place: JoinedRoom, view: Mapping[str, Any]) -> None:
        """Write the ``ready`` event."""
        self._write(
            "ready", room=place.room, identity=place.identity, **dict(place.hello), state=dict(view)
        )

    def typing(self) -> None:
        """Write nothing."""

    def typed(self, line: str) -> None:
        """Write nothing."""

    def heard(self, line: str) -> None:
        """Write the guest's words."""
        self._write("heard", text=line)

    def said(self, agent: str | None, text: str) -> None:
        """Write what an agent says."""
        self._write("said", agent=agent, text=text)

    def order(self, view: Mapping[str, Any]) -> None:
        """Write the changed order."""
        self._write("state", version=view.get("version"), state=dict(view))

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Write the turn notice."""
        self._write("your_turn", **dict(notice))

    def told(self, what: str) -> None:
        """Write the problem."""
        self._write("told", text=what)

    def closes(
        self, reason: Reason, place: JoinedRoom, view: Mapping[str, Any], to_go_on: str
    ) -> None:
        """Write the ``end`` event."""
        self._write("end", reason=reason, resume_code=place.resume_code, order=dict(view))

    def _write(self, type_: str, **data: JsonValue) -> None:
        # An agent's payload may have a field of that name.
        data.pop("type", None)
        self._out.write(json_line({"type": type_, **data}) + "\n")
        self._out.flush()


def _name(agent: str) -> str:
    return clean(agent).replace("_", " ").capitalize()
