"""The summary of a state for a terminal: a title, rows and a status."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Summarize any view: a row for each field that is set, and for each object in a list.

    >>> summary_of_view("visit", {"visit_id": "v1", "version": 2, "reason": "a check-up", "slot": None})
    Summary(title='Visit v1', rows=(Row(text='reason: a check-up', amount='', kind='fact'),), line='reason: a check-up', status='', phase='open', empty=False)
    >>> parts = [{"name": "clutch", "in_stock": False}, {"name": "battery", "in_stock": True}]
    >>> print(as_text(summary_of_view("repair", {"car": {"plate": "X-1"}, "parts": parts}).rows))
    car: plate X-1
    parts:
        name clutch, in stock no
        name battery, in stock yes
    """
    own = {f"{noun}_id", "version", "active_agent", "display"}
    facts = {_title(name): value for name, value in view.items() if name not in own}
    facts = {name: value for name, value in facts.items() if _is_set(value)}
    rows = [row for name, value in facts.items() for row in _rows(name, value)]
    title = f"{noun.capitalize()} {clean(str(view.get(f'{noun}_id', '')))}".rstrip()
    line = "; ".join(f"{name}: {_plain(value)}" for name, value in facts.items())
    return Summary(title, tuple(rows), line=line, empty=not facts)


def _rows(name: str, value: JsonValue) -> Iterator[Row]:
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        yield Row(f"{name}:")
        yield from (Row(_plain(one), kind="detail") for one in value)
    else:
        yield Row(f"{name}: {_plain(value)}")


def _title(name: str) -> str:
    return name.replace("_", " ")


def _is_set(value: JsonValue) -> bool:
    return value not in (None, [], {}, "")


def _plain(value: JsonValue, *, inner: bool = False) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(one, inner=inner) for one in value)
    if isinstance(value, Mapping):
        fields = ", ".join(
            f"{_title(name)} {_plain(one, inner=True)}"
            for name, one in value.items()
            if _is_set(one)
        )
        return f"({fields})" if inner else fields
    return clean("yes" if value is True else "no" if value is False else str(value))


def _format_row(row: Row, width: int) -> Sequence[str]:
    indent = "    " if row.kind in ("line", "detail") else ""
    first = indent if row.kind == "detail" else ""
    room = max(10, width - (len(row.amount) + 2 if row.amount else 0))
    lines = wrap(row.text, room, initial_indent=first, subsequent_indent=indent) or [""]
    if row.amount:
        lines[0] = f"{lines[0]:<{width - len(row.amount)}}{row.amount}"
    return lines
