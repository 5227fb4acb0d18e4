"""Formats stored states as text, for a terminal or a file."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue
from rich.table import Table

from agents.app.app import AnyApp
from agents.app.states import ListedState
from agents.app.terminal.summary import as_text
from agents.app.terminal.tables import rendered, width


def listing(app: AnyApp, listed: Sequence[ListedState[Any]]) -> str:
    """Format states as a table, as the application says or one line each."""
    unread = [f"{one.id} cannot be read: {one.fault}" for one in listed if one.state is None]
    if app.listing is not None:
        return "\n".join([app.listing(listed), *unread])
    table = Table("No.", app.noun.capitalize(), "Agent", "What", box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    for one in listed:
        what = "cannot be read"
        if one.state is not None:
            summary = app.summary_of(app.view_of(one.state, one.version, one.agent))
            what = "; ".join(filter(None, (summary.status, summary.line)))
        table.add_row(one.number, one.id, one.agent or "", what)
    return "\n".join([rendered(table), *unread])


def page(app: AnyApp, state: Any, view: Mapping[str, JsonValue]) -> str:
    """Format one state, as the application says or as its summary."""
    if app.text is not None:
        return app.text(state)
    summary = app.summary_of(view)
    title = ": ".join(filter(None, (summary.title, summary.status)))
    return f"{title}\n\n{as_text(summary.rows, width())}"
