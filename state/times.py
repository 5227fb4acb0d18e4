"""Renders times for speech."""

from datetime import datetime


def said_time(at: datetime, now: datetime) -> str:
    """Render a time as a waiter says it, relative to now.

    >>> from datetime import timezone
    >>> now = datetime(2026, 11, 20, 19, 0, tzinfo=timezone.utc)
    >>> said_time(now.replace(hour=19, minute=40), now), said_time(now.replace(day=21, hour=12), now)
    ('at 7:40 pm', 'tomorrow at 12 noon')
    >>> said_time(now.replace(day=24, hour=0, minute=5), now), said_time(now.replace(day=30), now)
    ('on Tuesday at 12:05 am', 'on Monday, November 30 at 7 pm')

    Args:
        at: The time, aware.
        now: The present time, aware; the result is in its time zone.
    """
    at = at.astimezone(now.tzinfo)
    days = (at.date() - now.date()).days
    match days:
        case 0:
            day = ""
        case 1:
            day = "tomorrow "
        case _ if 1 < days < 7:
            day = f"on {at:%A} "
        case _:
            day = f"on {at:%A, %B} {at.day} "
    return f"{day}at {_clock(at)}"


def _clock(at: datetime) -> str:
    if (at.hour, at.minute) == (12, 0):
        return "12 noon"
    if (at.hour, at.minute) == (0, 0):
        return "midnight"
    minutes = f":{at.minute:02}" if at.minute else ""
    return f"{at.hour % 12 or 12}{minutes} {'am' if at.hour < 12 else 'pm'}"
