"""Formats stored states and their transcripts as text, for a terminal or a file."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from io import StringIO
from typing import Any

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from agents.app.app import AnyApp
from agents.app.console.wording import cost_line, speaker_name
from agents.app.declaration import of_kind
from agents.app.parts import ListedState
from agents.app.terminal.summary import as_text
from agents.app.transcript import MomentKind, StoredCall, author_of
from state.shared import Moment

TABLE_WIDTH = 100
"""The width of a table that is not shown on a terminal, in columns."""

NO_TRANSCRIPT = "No transcript is stored: it was switched off, has expired, or the user was erased."

_GAP = 2
"""The number of columns between two cells."""


def listing(app: AnyApp, listed: Sequence[ListedState[Any]]) -> str:
    """Format a list of states, by the application's function or as a table with a line for each."""
    unread = [f"{one.id} cannot be read: {one.fault}" for one in listed if one.state is None]
    if app.terminal.listing is not None:
        return "\n".join([of_kind("terminal.listing", app.terminal.listing(listed), str), *unread])
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    keys = [("No.", app.noun.capitalize(), "Agent")]
    keys += [(one.number, one.id, one.agent or "") for one in listed]
    widths = [max(map(len, cells)) for cells in zip(*keys, strict=True)]
    # Only this column is shortened, without rich, which would shorten the ids too.
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
    """Format one state, by the application's function or as its summary."""
    if app.terminal.text is not None:
        return of_kind("terminal.text", app.terminal.text(state), str)
    summary = app.summary_of(view)
    title = ": ".join(filter(None, (summary.title, summary.status)))
    return f"{title}\n\n{as_text(summary.rows, width())}"


def transcript_page(calls: Sequence[StoredCall], zone: tzinfo | None, user: str) -> str:
    """Format the transcripts of a state, and their cost.

    Args:
        calls: The transcripts.
        zone: The time zone they are shown in.
        user: The role of the user.
    """
    pages = [page for call in calls if (page := "\n".join(_call(call, zone, user)))]
    if not any(call.words for call in calls):
        pages.insert(0, NO_TRANSCRIPT)
    return "\n\n".join(pages)


def _call(call: StoredCall, zone: tzinfo | None, user: str) -> Iterator[str]:
    if call.words:
        first = _time(call.words[0], zone)
        yield f"Said on {first:%Y-%m-%d}:\n" if first is not None else "Said:\n"
        rows = Table.grid("", "", "", padding=(0, 2))
        rows.columns[0].no_wrap = rows.columns[1].no_wrap = True
        for moment in call.words:
            at = _time(moment, zone)
            interrupted = " ..." if moment.kind == MomentKind.INTERRUPTED else ""
            rows.add_row(
                f"{at:%H:%M:%S}" if at is not None else "",
                speaker_name(author_of(moment, user)),
                moment.text + interrupted,
            )
        yield rendered(rows)
    if (cost := cost_line(call.cost)) is not None:
        yield cost


def _time(moment: Moment, zone: tzinfo | None) -> datetime | None:
    return moment.at.astimezone(zone) if moment.at is not None else None


def rendered(table: object) -> str:
    """Format a table as text, as wide as the terminal or ``TABLE_WIDTH``."""
    # Without markup, so that a user's text is not interpreted.
    console = Console(
        file=StringIO(), width=width(), markup=False, emoji=False, highlight=False, no_color=True
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))


def width() -> int:
    """Return how many columns a table may take."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else TABLE_WIDTH
