"""Converts local hours to times in UTC, across midnight and changes of daylight saving time."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from state.menu.model import WEEKDAYS, Served, Weekday
from state.menu.values import Span

_DAY = timedelta(days=1)


def weekday(day: date) -> Weekday:
    """Return the name of the weekday."""
    return WEEKDAYS[day.weekday()]


def moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Convert a local time to UTC.

    A time skipped by the change to daylight saving time is read as an hour later; of a time that
    occurs twice the first is meant.
    """
    return datetime.combine(day, clock, tzinfo=zone).astimezone(UTC)


def interval(day: date, span: Span, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return start and end of hours that start on this day, in UTC."""
    over_midnight = span.end <= span.start
    begin = moment(day, span.start, zone)
    return begin, moment(day + _DAY if over_midnight else day, span.end, zone)


def within(served: Sequence[Served], at: datetime, zone: ZoneInfo) -> bool:
    """Whether serving hours include a time; no hours at all mean always."""
    if not served:
        return True
    today = at.astimezone(zone).date()
    now = at.astimezone(UTC)
    # Yesterday's hours may end after midnight.
    for day in (today, today - _DAY):
        name = weekday(day)
        for when in served:
            if name not in when.days:
                continue
            for span in when.spans:
                begin, end = interval(day, span, zone)
                if begin <= now < end:
                    return True
    return False
