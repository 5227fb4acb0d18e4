"""Formats the stored transcripts of a state."""

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from rich.table import Table

from agents.app.terminal.tables import rendered
from agents.app.terminal.words import cost_line, speaker_name
from agents.app.transcript import MomentKind, StoredCall, author_of
from state.shared import Moment

NOTHING_STORED = (
    "No transcript is stored: it was switched off, has expired, or the user was erased."
)


def transcript_page(calls: Sequence[StoredCall], zone: tzinfo | None, user: str) -> str:
    """Format what was said about a state, and what it cost.

    Args:
        calls: The transcripts.
        zone: The time zone they are shown in.
        user: The role of the user.
    """
    pages = [page for call in calls if (page := "\n".join(_call(call, zone, user)))]
    if not any(call.words for call in calls):
        pages.insert(0, NOTHING_STORED)
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
