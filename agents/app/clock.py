"""A clock that may start at another time than the present; it runs on from there."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """Return a time in a zone; without a zone it is read as local time there.

    >>> from zoneinfo import ZoneInfo
    >>> in_zone(datetime.fromisoformat("2026-11-20T19:00"), ZoneInfo("America/New_York")).isoformat()
    '2026-11-20T19:00:00-05:00'
    >>> in_zone(datetime.fromisoformat("2026-11-20T19:00Z"), ZoneInfo("America/New_York")).isoformat()
    '2026-11-20T14:00:00-05:00'

    A time that the change to summer time skips is moved by the skipped hour:

    >>> in_zone(datetime.fromisoformat("2026-03-08T02:30"), ZoneInfo("America/New_York")).isoformat()
    '2026-03-08T03:30:00-04:00'
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC).astimezone(zone)


def running_clock(zone: tzinfo, at: datetime | None = None) -> Callable[[], datetime]:
    """Make a clock that shows the present time, or starts at another one.

    Args:
        zone: Its time zone.
        at: The initial time; the present when ``None``.
    """
    if at is None:
        return lambda: datetime.now(tz=zone)
    start = in_zone(at, zone).astimezone(UTC)
    began = time.monotonic()
    return lambda: (start + timedelta(seconds=time.monotonic() - began)).astimezone(zone)
