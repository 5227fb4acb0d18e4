"""Opening hours, and the earliest time at which an order can be ready.

All times are aware; returned times are in the restaurant's time zone. Comparisons are made in UTC, because
Python compares two times of the same zone by local time, which is wrong when daylight saving time changes.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, get_args

from state.errors import NotPossible, NotValid
from state.menu.model import WEEKDAYS, Restaurant, Weekday
from state.menu.serving import interval, weekday
from state.menu.values import Span

Kind = Literal["pickup", "delivery"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Opening = tuple[datetime, datetime]
"""Start and end of a period in which the restaurant is open without a break."""

FURTHEST_AHEAD = timedelta(days=366)
"""How far ahead an order can be placed; a later time is a misunderstanding."""

_DAY = timedelta(days=1)
_SMALL_HOURS = 6
_WITHOUT_END = timedelta(days=60)
"""A longer period without a break means that the restaurant never closes."""


def opening_spans(restaurant: Restaurant, day: date) -> tuple[Opening, ...]:
    """Return the opening periods that start on a day; they may end on the next day."""
    if day in restaurant.closed_on:
        return ()
    zone = restaurant.zone
    openings = (interval(day, span, zone) for span in restaurant.hours[weekday(day)])
    return tuple(
        (begin.astimezone(zone), end.astimezone(zone)) for begin, end in openings if begin < end
    )


def is_open(restaurant: Restaurant, at: datetime) -> bool:
    """Whether the restaurant is open at a time; at closing time it is closed."""
    opening = _next_end(restaurant, at)
    return opening is not None and opening[0] <= at.astimezone(UTC)


def takes_calls(restaurant: Restaurant, at: datetime) -> bool:
    """Whether a caller can be put through to a person at a time: in the opening hours, if the menu says where."""
    return restaurant.transfer_to is not None and is_open(restaurant, at)


def next_opening(restaurant: Restaurant, after: datetime) -> datetime | None:
    """Return when the restaurant next opens, not before ``after``; ``None`` if it never does."""
    since = after.astimezone(UTC)
    for begin, _ in _openings(restaurant, after):
        if begin >= since:
            return begin.astimezone(restaurant.zone)
    return None


def closing(restaurant: Restaurant, at: datetime) -> datetime | None:
    """Return when an open restaurant closes next; ``None`` if it is closed now or never closes."""
    opening = _next_end(restaurant, at)
    if opening is None or opening[0] > at.astimezone(UTC) or _never_closes(opening):
        return None
    return opening[1].astimezone(restaurant.zone)


def lead_time(restaurant: Restaurant, kind: Kind) -> timedelta:
    """Return the lead time of an order of this kind.

    Raises:
        NotPossible: The restaurant does not offer this kind.
    """
    service = restaurant.pickup if kind == "pickup" else restaurant.delivery
    if service is None:
        other: Kind = "delivery" if kind == "pickup" else "pickup"
        raise NotPossible(
            f"{restaurant.name} does not offer {kind}, only {other}.",
            what=kind,
            why="not_offered",
            possible=[other],
        )
    return timedelta(minutes=service.lead_minutes)


def earliest(restaurant: Restaurant, kind: Kind, now: datetime) -> datetime:
    """Return the earliest time during opening hours at which an order placed now can be ready.

    Raises:
        NotPossible: The restaurant does not offer this kind, or never opens again.
    """
    lead = lead_time(restaurant, kind)
    since = now.astimezone(UTC)
    for begin, end in _openings(restaurant, now):
        ready = max(begin, since) + lead
        if ready <= end:
            return ready.astimezone(restaurant.zone)
    raise NotPossible(
        f"{restaurant.name} does not open again soon.", what=kind, why="closed", possible=[]
    )


def in_time(restaurant: Restaurant, kind: Kind, when: datetime, now: datetime) -> datetime:
    """Check that an order can be ready at a requested time; returns it in the restaurant's zone.

    Raises:
        NotValid: The time is past, or too far ahead.
        NotPossible: The restaurant is closed then, or it is too soon; the facts hold a possible time.
    """
    lead_time(restaurant, kind)
    at, present = when.astimezone(UTC), now.astimezone(UTC)
    local = when.astimezone(restaurant.zone)
    if at < present:
        raise NotValid(f"{_spoken(local)} is past.", field="when", why="past")
    if at - present > FURTHEST_AHEAD:
        raise NotValid(f"{_spoken(local)} is too far ahead.", field="when", why="too_far_ahead")
    soonest = earliest(restaurant, kind, now)
    if at < soonest.astimezone(UTC):
        raise NotPossible(
            f"{_spoken(local)} is too soon. The earliest is {_spoken(soonest)}.",
            what="when",
            why="too_soon",
            possible=[soonest.isoformat()],
        )
    opening = _next_end(restaurant, when, including_end=True)
    if opening is None or opening[0] > at:
        possible = next_opening(restaurant, when)
        hint = f" It opens on {_spoken(possible)}." if possible else ""
        raise NotPossible(
            f"{restaurant.name} is closed on {_spoken(local)}.{hint}",
            what="when",
            why="closed",
            possible=[possible.isoformat()] if possible else [],
        )
    return local


def hours_text(restaurant: Restaurant, now: datetime | None = None) -> str:
    """Render the opening hours in English, grouped by days, and whether the restaurant is open now.

    Exceptional closing days are included if they are within the next two months.
    """
    sentences: list[str] = []
    if now is not None:
        sentences.append(_standing(restaurant, now))
    sentences += [
        f"{_days(days)}: {_spans(restaurant.hours[days[0]])}." for days in _alike(restaurant)
    ]
    if now is not None:
        today = now.astimezone(restaurant.zone).date()
        ahead = [day for day in restaurant.closed_on if today <= day <= today + 60 * _DAY]
        if ahead:
            listed = ", ".join(f"{day:%B} {day.day}" for day in sorted(ahead))
            sentences.append(f"Closed on {listed}.")
    return " ".join(sentences)


def _openings(restaurant: Restaurant, since: datetime) -> Iterator[Opening]:
    """Yield the opening periods in UTC, from yesterday on; adjoining ones are merged."""
    first = since.astimezone(restaurant.zone).date() - _DAY
    present: Opening | None = None
    for number in range((FURTHEST_AHEAD + 2 * _DAY).days):
        for opens, closes in opening_spans(restaurant, first + number * _DAY):
            begin, end = opens.astimezone(UTC), closes.astimezone(UTC)
            if present is None:
                present = begin, end
            elif begin <= present[1]:
                present = present[0], max(present[1], end)
            else:
                yield present
                present = begin, end
            if _never_closes(present):
                yield present
                return
    if present is not None:
        yield present


def _never_closes(opening: Opening) -> bool:
    return opening[1] - opening[0] > _WITHOUT_END


def _next_end(
    restaurant: Restaurant, at: datetime, *, including_end: bool = False
) -> Opening | None:
    """Return the first opening period that has not ended at a time."""
    moment = at.astimezone(UTC)
    for begin, end in _openings(restaurant, at):
        if moment < end or (including_end and moment == end):
            return begin, end
    return None


def _alike(restaurant: Restaurant) -> list[list[Weekday]]:
    """Group consecutive weekdays with the same hours."""
    runs: list[list[Weekday]] = []
    for day in WEEKDAYS:
        hours = restaurant.hours[day]
        if runs and restaurant.hours[runs[-1][0]] == hours:
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs


def _days(days: list[Weekday]) -> str:
    first, last = days[0].capitalize(), days[-1].capitalize()
    if len(days) == 7:
        return "Every day"
    return first if len(days) == 1 else f"{first} {'and' if len(days) == 2 else 'to'} {last}"


def _spans(spans: tuple[Span, ...]) -> str:
    if not spans:
        return "closed"
    if any(span.start == span.end for span in spans):
        return "all day and night"
    return " and ".join(f"{_clock(span.start)} to {_clock(span.end)}" for span in spans)


def _standing(restaurant: Restaurant, now: datetime) -> str:
    local = now.astimezone(restaurant.zone)
    if is_open(restaurant, now):
        closes = closing(restaurant, now)
        return f"Open now, closes {_near(closes, local)}." if closes else "Open now, and always."
    opens = next_opening(restaurant, now)
    return f"Closed now, opens {_near(opens, local)}." if opens else "Closed."


def _near(at: datetime, now: datetime) -> str:
    """Render a future time; the day is included only if the time of day is ambiguous."""
    ahead = (at.date() - now.date()).days
    clock = f"at {_clock(at)}"
    if ahead == 0 or (ahead == 1 and at.hour < _SMALL_HOURS):
        return clock
    if ahead == 1:
        return f"tomorrow {clock}"
    return f"on {at:%A} {clock}" if ahead < 7 else f"on {_spoken(at)}"


def _spoken(at: datetime) -> str:
    return f"{at:%A}, {at:%B} {at.day}, at {_clock(at)}"


def _clock(at: datetime | time) -> str:
    """Render a time of day: "noon", "5:30 PM"."""
    if (at.hour, at.minute) in ((0, 0), (12, 0)):
        return "noon" if at.hour else "midnight"
    minutes = f":{at.minute:02}" if at.minute else ""
    return f"{at.hour % 12 or 12}{minutes} {'PM' if at.hour >= 12 else 'AM'}"
