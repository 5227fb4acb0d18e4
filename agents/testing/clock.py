"""A clock and ids under a test's control."""

import uuid
from datetime import datetime, timedelta


class Clock:
    """A clock that only advances when told to; call it for the current time.

    >>> clock = Clock(datetime.fromisoformat("2026-11-20T19:00:00-05:00"))
    >>> clock.advance(minutes=20)
    >>> clock().isoformat()
    '2026-11-20T19:20:00-05:00'

    Raises:
        ValueError: The time is naive.
    """

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("start must be timezone-aware")
        self._now = start

    def __call__(self) -> datetime:
        """Return the current time."""
        return self._now

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        """Advance the clock."""
        self._now += timedelta(seconds=seconds, minutes=minutes, hours=hours)

    def set(self, now: datetime) -> None:
        """Set the clock to another time.

        Raises:
            ValueError: The time is naive.
        """
        if now.tzinfo is None:
            raise ValueError("now must be timezone-aware")
        self._now = now


class Ids:
    """UUIDs in a fixed order; call it for the next one.

    >>> ids = Ids()
    >>> ids() == Ids()(), ids() == Ids()()
    (True, False)
    """

    def __init__(self) -> None:
        self._made = 0

    def __call__(self) -> str:
        """Return the next id."""
        self._made += 1
        return str(uuid.UUID(int=self._made, version=4))
