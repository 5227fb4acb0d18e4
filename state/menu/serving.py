"""Hours on the clock as moments in time, over midnight and through the change of clocks."""

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
    """Return when a clock in this zone shows that time, in UTC.

    A time that the change of clocks leaves out is the moment it would have been, shown an hour later; one
    that comes twice is the first.
    """
    return datetime.combine(day, clock, tzinfo=zone).astimezone(UTC)


def interval(day: date, span: Span, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return begin and end of hours that begin on this day, in UTC."""
    over_midnight = span.end <= span.start
    begin = moment(day, span.start, zone)
    return begin, moment(day + _DAY if over_midnight else day, span.end, zone)


def within(served: Sequence[Served], at: datetime, zone: ZoneInfo) -> bool:
    """Whether something is served at a moment; no hours at all mean always."""
    if not served:
        return True
    today = at.astimezone(zone).date()
    now = at.astimezone(UTC)
    # What began yesterday may go on after midnight.
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
