"""What was said in the calls about one order, as a person reads it."""

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from rich.table import Table

from bella_vista.orders_pages import rendered
from bella_vista.terminal.words import speaker_name, spent
from bella_vista.transcript import KeptCall, Kind
from state.shared import Moment

NOTHING_KEPT = "Nothing of what was said is kept: it was switched off, grew too old, or the guest was forgotten."


def talk_page(calls: Sequence[KeptCall], zone: tzinfo | None) -> str:
    """Lay out what was said about an order, and what it cost.

    Args:
        calls: What was kept.
        zone: The restaurant's: when it was said is told in its time.
    """
    pages = [page for call in calls if (page := "\n".join(_call(call, zone)))]
    if not any(call.words for call in calls):
        pages.insert(0, NOTHING_KEPT)
    return "\n\n".join(pages)


def _call(call: KeptCall, zone: tzinfo | None) -> Iterator[str]:
    if call.words:
        first = _time(call.words[0], zone)
        yield f"Said on {first:%Y-%m-%d}:\n" if first is not None else "Said:\n"
        rows = Table.grid("", "", "", padding=(0, 2))
        rows.columns[0].no_wrap = rows.columns[1].no_wrap = True
        for moment in call.words:
            at = _time(moment, zone)
            broken_off = " ..." if moment.kind == Kind.CUT_SHORT else ""
            rows.add_row(
                f"{at:%H:%M:%S}" if at is not None else "",
                speaker_name(moment.who),
                moment.text + broken_off,
            )
        yield rendered(rows)
    if (cost := spent(call.cost)) is not None:
        yield cost


def _time(moment: Moment, zone: tzinfo | None) -> datetime | None:
    return moment.at.astimezone(zone) if moment.at is not None else None
