"""What a guest in a room sees in his terminal: a plain talk, or JSON lines for a program."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal, Protocol, TextIO

from pydantic import JsonValue

from bella_vista.guest.receipt import rows, stage_of
from bella_vista.terminal.guest import PROMPT
from bella_vista.terminal.json_lines import json_line
from bella_vista.terminal.receipt import as_text
from state.text import clean

Reason = Literal["input_ended", "user_left", "agent_ended", "failed"]

_RECEIPT = 46
_NARROWEST = 24


@dataclass(frozen=True, slots=True)
class Place:
    """Where a guest has come to.

    Args:
        room: The room's name.
        identity: Who he is there.
        hello: What the agent answered to his hello.
    """

    room: str
    identity: str
    hello: Mapping[str, Any]

    @property
    def resume_code(self) -> str | None:
        """With what he can go on in another room."""
        code = self.hello.get("resume_code")
        return code if isinstance(code, str) else None


class Front(Protocol):
    """What a visit looks like to whoever sits in front of it."""

    def opens(self, place: Place, view: Mapping[str, Any]) -> None:
        """The agent has answered."""

    def typing(self) -> None:
        """The guest is asked for his words."""

    def typed(self, line: str) -> None:
        """The guest sees his own words as he has typed them; from another thread."""

    def heard(self, line: str) -> None:
        """The guest's words go out."""

    def said(self, agent: str | None, text: str) -> None:
        """An agent has said something."""

    def order(self, view: Mapping[str, Any]) -> None:
        """The order has changed."""

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """It is the guest's turn, or no longer."""

    def told(self, what: str) -> None:
        """Something is the matter with the connection, the agent or the guest's words."""

    def closes(self, reason: Reason, place: Place, view: Mapping[str, Any], to_go_on: str) -> None:
        """The visit is over."""


class PlainFront:
    """Writes who says what, and the order as it changes.

    Args:
        out: Where to.
        answers_here: Whether the guest types right here, so that his words need no repeating.
    """

    def __init__(self, out: TextIO, *, answers_here: bool) -> None:
        self._out = out
        self._answers_here = answers_here
        self._asking = False
        self._shown: tuple[str, str] | None = None

    def opens(self, place: Place, view: Mapping[str, Any]) -> None:
        """Say where he is, and whose order it is."""
        self._write(f"Room {clean(place.room)}")
        self._write(f"Order {clean(str(view['order_number']))} ({clean(str(view['order_id']))})")
        if self._answers_here:
            self._write("Type what you would say. Ctrl-D leaves; the order is kept for you.")
        self._write("")
        self.order(view)

    def typing(self) -> None:
        """Remember that what is written now comes between the guest's words."""
        self._asking = self._answers_here

    def typed(self, line: str) -> None:
        """Nobody needs to repeat what he sees."""

    def heard(self, line: str) -> None:
        """Write down what he says, where he does not see it himself."""
        self._asking = False
        if not self._answers_here:
            self._write(f"\nYou: {clean(line)}")

    def said(self, agent: str | None, text: str) -> None:
        """Write down what an agent says."""
        name = _name(agent) if agent else "Bella Vista"
        lines = f"{name}: {clean(text, lines=True)}".split("\n")
        if self._answers_here:
            lines = [fill(line, self._columns()) for line in lines]
        self._write("\n".join(lines))

    def order(self, view: Mapping[str, Any]) -> None:
        """Write down in one line what is on the order, when that or its stage has changed."""
        now = (clean(str(view["order_summary"])), stage_of(view))
        if now != self._shown:
            if self._shown is not None or view["order_items"]:
                self._write(f"[Order {clean(str(view['order_number']))}, {now[1]}: {now[0]}]")
            self._shown = now

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Say whose turn it is, to who types."""
        if notice.get("your_turn") is not True or not self._answers_here:
            return
        text = notice.get("text")
        if not isinstance(text, str) or not text.strip():
            text = f"Your turn: {_name(str(notice.get('active_agent') or 'the house'))} listens"
        self._write(fill(f"[{clean(text)}]", self._columns()))

    def told(self, what: str) -> None:
        """Write down what is the matter."""
        self._write(f"({what})")

    def closes(self, reason: Reason, place: Place, view: Mapping[str, Any], to_go_on: str) -> None:
        """Show how the order stands, and how it can go on."""
        self._asking = False
        self._write(f"\n{as_text(rows(view), min(_RECEIPT, self._columns()))}\n")
        self._write(f"Order {clean(str(view['order_number']))} is {stage_of(view)}.")
        if to_go_on:
            self._write(f"Go on with: {to_go_on}")

    def _columns(self) -> int:
        return max(_NARROWEST, shutil.get_terminal_size().columns - 1)

    def _write(self, text: str) -> None:
        if self._asking:
            # The prompt stands there: it is written over, and comes again below.
            self._out.write(f"\r{' ' * len(PROMPT)}\r{text}\n{PROMPT}")
        else:
            self._out.write(text + "\n")
        self._out.flush()


class JsonFront:
    """Writes everything that happens as one JSON line each, at once.

    Args:
        out: Where the lines go, and nothing else.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def opens(self, place: Place, view: Mapping[str, Any]) -> None:
        """Say where he is, who he is, and what the agent answered."""
        self._write(
            "ready", room=place.room, identity=place.identity, **dict(place.hello), state=dict(view)
        )

    def typing(self) -> None:
        """Nobody types here."""

    def typed(self, line: str) -> None:
        """Nobody types here."""

    def heard(self, line: str) -> None:
        """Write down what he says."""
        self._write("heard", text=line)

    def said(self, agent: str | None, text: str) -> None:
        """Write down what an agent says."""
        self._write("said", agent=agent, text=text)

    def order(self, view: Mapping[str, Any]) -> None:
        """Write down how the order is now."""
        self._write("state", version=view.get("version"), state=dict(view))

    def your_turn(self, notice: Mapping[str, Any]) -> None:
        """Write down the notice."""
        self._write("your_turn", **dict(notice))

    def told(self, what: str) -> None:
        """Write down what is the matter."""
        self._write("told", text=what)

    def closes(self, reason: Reason, place: Place, view: Mapping[str, Any], to_go_on: str) -> None:
        """Say why it ended, how the order stands, and how it can go on."""
        self._write("end", reason=reason, resume_code=place.resume_code, order=dict(view))

    def _write(self, type_: str, **data: JsonValue) -> None:
        # What an agent sends may have a field of that name.
        data.pop("type", None)
        self._out.write(json_line({"type": type_, **data}) + "\n")
        self._out.flush()


def _name(agent: str) -> str:
    return clean(agent).replace("_", " ").capitalize()
