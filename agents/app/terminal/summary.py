"""The summary of a state for a terminal: a title, rows and a status."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from pydantic import JsonValue

from state.privacy import clean

RECEIPT = 46
"""How many columns a summary's rows take, at most."""

_NARROWEST = 24

Kind = Literal["line", "detail", "sum", "total", "fact"]
"""The role of a row: it determines indentation, style and the empty rows around it."""

Phase = Literal["open", "settled", "ended"]
"""Whether the state is still worked on, is settled, or cannot be continued."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a text, and an optional amount on the right."""

    text: str
    amount: str = ""
    kind: Kind = "fact"


@dataclass(frozen=True, slots=True)
class Summary:
    """A state for a terminal.

    Args:
        title: Its name, such as "Order 101".
        rows: Its content.
        line: Its content in one line.
        status: The status, such as "confirmed, not placed yet", or an empty text.
        phase: Whether the state is still worked on.
        empty: Whether there is nothing to show yet.
    """

    title: str
    rows: tuple[Row, ...] = ()
    line: str = ""
    status: str = ""
    phase: Phase = "open"
    empty: bool = False

    def titled(self, state_id: str) -> str:
        """Return the title with the id, unless the title contains it.

        >>> Summary("Order 101").titled("abcd"), Summary("Visit abcd").titled("abcd")
        ('Order 101 (abcd)', 'Visit abcd')
        """
        return self.title if state_id in self.title else f"{self.title} ({state_id})"


def columns() -> int:
    """Return how many columns of the terminal a text may take."""
    return max(_NARROWEST, shutil.get_terminal_size().columns - 1)


def as_text(rows: Iterable[Row], width: int = RECEIPT) -> str:
    """Format rows as plain text, amounts on the right.

    >>> print(as_text([Row("2 x Margherita", "$18.00", "line"), Row("no basil", kind="detail")], 26))
    2 x Margherita      $18.00
        no basil
    """
    return "\n".join(line for row in rows for line in _format_row(row, width))


def summary_of_view(noun: str, view: Mapping[str, JsonValue]) -> Summary:
    """Summarize any view: each field that is set, one row each.

    >>> summary_of_view("visit", {"visit_id": "v1", "version": 2, "reason": "a check-up", "slot": None})
    Summary(title='Visit v1', rows=(Row(text='reason: a check-up', amount='', kind='fact'),), line='reason: a check-up', status='', phase='open', empty=False)
    """
    own = {f"{noun}_id", "version", "active_agent", "display"}
    facts = [
        f"{name.replace('_', ' ')}: {_plain(value)}"
        for name, value in view.items()
        if name not in own and value not in (None, [], {}, "")
    ]
    title = f"{noun.capitalize()} {clean(str(view.get(f'{noun}_id', '')))}".rstrip()
    return Summary(title, tuple(map(Row, facts)), line="; ".join(facts), empty=not facts)


def _plain(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name} {_plain(inner)}" for name, inner in value.items() if inner is not None
        )
    return clean("yes" if value is True else "no" if value is False else str(value))


def _format_row(row: Row, width: int) -> Sequence[str]:
    indent = "    " if row.kind in ("line", "detail") else ""
    first = indent if row.kind == "detail" else ""
    room = max(10, width - (len(row.amount) + 2 if row.amount else 0))
    lines = wrap(row.text, room, initial_indent=first, subsequent_indent=indent) or [""]
    if row.amount:
        lines[0] = f"{lines[0]:<{width - len(row.amount)}}{row.amount}"
    return lines
