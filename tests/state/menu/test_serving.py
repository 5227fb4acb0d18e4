"""Serving hours, to the minute and in the restaurant's time zone."""

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from state.menu.model import Served
from state.menu.serving import within
from state.menu.values import Span

NEW_YORK = ZoneInfo("America/New_York")
LATE = (
    Served(days=("saturday",), spans=(Span(start=time(10), end=time(11)),)),
    Served(
        days=("friday",),
        spans=(
            Span(start=time(12), end=time(14)),
            Span(start=time(22), end=time(2)),
        ),
    ),
)


@pytest.mark.parametrize(
    ("at", "served"),
    [
        ("2026-11-20T11:59", False),  # a Friday
        ("2026-11-20T12:00", True),
        ("2026-11-20T13:59", True),
        ("2026-11-20T14:00", False),
        ("2026-11-20T23:00", True),  # in UTC it is Saturday
        ("2026-11-21T01:59", True),
        ("2026-11-21T02:00", False),
        ("2026-11-21T10:30", True),
        ("2026-11-21T23:00", False),
    ],
)
def test_it_is_served_from_the_first_minute_to_the_last(at: str, served: bool) -> None:
    moment = datetime.fromisoformat(at).replace(tzinfo=NEW_YORK)

    assert within(LATE, moment, NEW_YORK) is served
    assert within(LATE, moment.astimezone(UTC), NEW_YORK) is served
