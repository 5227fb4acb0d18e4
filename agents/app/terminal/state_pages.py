"""Formats stored states as text, for a terminal or a file."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue
from rich.table import Table

from agents.app.app import AnyApp
from agents.app.parts import ListedState
from agents.app.terminal.summary import as_text
from agents.app.terminal.tables import rendered, width

_GAP = 2
"""The number of columns between two cells."""


def listing(app: AnyApp, listed: Sequence[ListedState[Any]]) -> str:
    """Format states as a table, as the application says or one line each."""
    unread = [f"{one.id} cannot be read: {one.fault}" for one in listed if one.state is None]
    if app.terminal.listing is not None:
        return "\n".join([app.terminal.listing(listed), *unread])
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    keys = [("No.", app.noun.capitalize(), "Agent")]
    keys += [(one.number, one.id, one.agent or "") for one in listed]
    widths = [max(map(len, cells)) for cells in zip(*keys, strict=True)]
    # Only this column is cut, by hand, since rich would cut all: half an id finds no state.
    room = max(width() - sum(widths) - _GAP * len(widths), len("What"))
    for head, wide in zip((*keys[0], "What"), (*widths, room), strict=True):
        table.add_column(head, no_wrap=True, width=wide)
    for key, one in zip(keys[1:], listed, strict=True):
        what = "cannot be read"
        if one.state is not None:
            summary = app.summary_of(app.view_of(one.state, one.version, one.agent, one.id))
            what = "; ".join(filter(None, (summary.status, summary.line)))
        table.add_row(*key, what if len(what) <= room else f"{what[: room - 1]}…")
    return "\n".join([rendered(table), *unread])


def page(app: AnyApp, state: Any, view: Mapping[str, JsonValue]) -> str:
    """Format one state, as the application says or as its summary."""
    if app.terminal.text is not None:
        return app.terminal.text(state)
    summary = app.summary_of(view)
    title = ": ".join(filter(None, (summary.title, summary.status)))
    return f"{title}\n\n{as_text(summary.rows, width())}"
