"""A conversation as a plain transcript: for pipes, files, and simple terminals."""

import shutil
from textwrap import fill
from typing import TextIO

from agents.handoff import Call, EndReason, Event, Heard, Said, YourTurn
from bella_vista.terminal.receipt import STAGES, Row, as_text, receipt
from bella_vista.terminal.words import (
    closing_lines,
    cost_line,
    heard_notice,
    speaker_name,
    whose_turn,
)
from state.context import OrderContext
from state.order import OrderState
from state.privacy.text import clean

_RECEIPT = 46
_NARROWEST = 24


class Transcript:
    """Writes what is said, and the order at the end.

    Args:
        call: The call.
        out: Receives the text.
        to_go_on: The command that continues this order.
        answers_here: Whether the guest types in this terminal, so that input is not repeated and
            turns are announced.
    """

    def __init__(
        self,
        call: Call[OrderState, OrderContext],
        out: TextIO,
        *,
        to_go_on: str,
        answers_here: bool = False,
    ) -> None:
        self._call = call
        self._out = out
        self._to_go_on = to_go_on
        self._answers_here = answers_here
        self._shown = receipt(call.state)
        self._stage = call.state.stage
        self._typed: str | None = None

    def opens(self) -> None:
        """Write the restaurant and the order's number."""
        order = self._call.state
        name = self._call.shared.context.menu.restaurant.name
        self._write(f"{name}, order {order.order_number} ({order.order_id})\n")
        if order.order_items:
            self._write(self._receipt(self._shown) + "\n")

    def typed(self, line: str) -> None:
        """Remember the guest's input as typed."""
        self._typed = line

    def tell(self, event: Event) -> None:
        """Write what is said."""
        match event:
            case Heard() if not self._answers_here:
                self._write(f"You: {clean(event.text)}")
            case Heard():
                self._taken_in(event.text)
            case Said():
                self._write(self._said(event))
            case YourTurn() if self._answers_here:
                self._show_order()
                self._write(fill(f"[{whose_turn(event)}]", self._columns()))
            case YourTurn():
                self._write("")
            case _:
                pass

    def closes(self, reason: EndReason) -> None:
        """Write the order, and how to continue it."""
        self._write(f"\n{self._receipt(receipt(self._call.state))}\n")
        self._write("\n".join(closing_lines(self._call, reason, self._to_go_on)))
        if (cost := cost_line(self._call.spending.total)) is not None:
            self._write(cost)

    def _said(self, event: Said) -> str:
        text = f"{speaker_name(event.agent)}: {clean(event.text, lines=True)}"
        if not self._answers_here:
            return text
        return "\n".join(fill(line, self._columns()) for line in text.split("\n"))

    def _columns(self) -> int:
        return max(_NARROWEST, shutil.get_terminal_size().columns - 1)

    def _receipt(self, rows: tuple[Row, ...]) -> str:
        return as_text(rows, min(_RECEIPT, self._columns()) if self._answers_here else _RECEIPT)

    def _taken_in(self, text: str) -> None:
        if (differs := heard_notice(self._typed, text)) is not None:
            self._write(differs)

    def _show_order(self) -> None:
        order = self._call.state
        rows, before = receipt(order), self._shown
        if rows != before:
            self._shown = rows
            self._write(f"\n{self._receipt(rows)}\n")
        if order.stage is not self._stage:
            self._stage = order.stage
            self._write(f"Order {order.order_number} is {STAGES[order.stage]}.")

    def _write(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()
