"""Times as guests say them, read against the clock and the opening hours."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from bella_vista.local.english.talking import pattern, patterns, table
from bella_vista.local.understanding.words.tokens import Found, Words, number_at, tokenize
from state.hours import is_open
from state.menu import Restaurant

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_FURTHEST_DAYS = 60


@dataclass(frozen=True, slots=True)
class Told:
    """A time that was said.

    Args:
        first: The token it begins with.
        last: The token after it.
        at: The time, aware; ``None`` for as soon as possible, and when only a day was said.
        soon: Whether it is as soon as possible.
        day: The day, when only a day was said.
    """

    first: int
    last: int
    at: datetime | None = None
    soon: bool = False
    day: date | None = None


@dataclass(frozen=True, slots=True)
class _Day:
    on: date | None = None
    evening: bool = False
    morning: bool = False
    first: int = -1
    last: int = -1


class Clock:
    """Reads times for one house."""

    def __init__(self, house: Restaurant) -> None:
        self._house = house

    def find(self, words: Words, now: datetime, *, bare: bool = False) -> Told | None:
        """Find when something is wanted.

        Args:
            words: What was said.
            now: The present time.
            bare: Whether a number alone may be an hour, because a time was asked for.
        """
        now = now.astimezone(self._house.zone)
        found = words.find(pattern("soon"))
        if found is not None:
            return Told(found.first, found.last, soon=True)
        found = words.find(pattern("in a while"))
        if found is not None:
            minutes = _minutes(found.match)
            if minutes is not None:
                begun = timedelta(minutes=1 if now.second or now.microsecond else 0)
                at = (now + timedelta(minutes=minutes) + begun).replace(second=0, microsecond=0)
                return Told(found.first, found.last, at=at)
        day = self._day(words, now)
        hour = self._hour(words, bare=bare)
        if hour is None:
            if day.on is not None and day.on != now.date():
                return Told(day.first, day.last, day=day.on)
            return None
        place, hours, minute, half = hour
        moment = self._moment(now, day, hours, minute, half)
        if moment is None:
            return None
        first, last = place.first, place.last
        if day.first >= 0 and (day.last == first or last == day.first):
            first, last = min(first, day.first), max(last, day.last)
        return Told(first, last, at=moment)

    def day_span(self, words: Words, now: datetime) -> tuple[int, int] | None:
        """Return where a day is said, so that it can be passed over."""
        day = self._day(words, now.astimezone(self._house.zone))
        return (day.first, day.last) if day.first >= 0 else None

    def _day(self, words: Words, now: datetime) -> _Day:
        found = words.find(pattern("day"))
        if found is None:
            return _Day()
        said = found.match.group()
        evening = any(word in said for word in ("tonight", "evening", "night", "afternoon"))
        morning = "morning" in said
        on = now.date() if "today" in said or "tonight" in said or "this " in said else None
        if "tomorrow" in said:
            on = now.date() + timedelta(days=2 if "day after" in said else 1)
        weekday = found.match.group("weekday")
        if weekday is not None:
            index = next(at for at, name in enumerate(_DAYS) if name.startswith(weekday[:3]))
            ahead = (index - now.weekday()) % 7
            if ahead == 0 and "next" in said:
                ahead = 7
            on = now.date() + timedelta(days=ahead)
        on = _dated(found.match, now) or on
        return _Day(on or now.date(), evening, morning, found.first, found.last)

    def _hour(self, words: Words, *, bare: bool) -> tuple[Found, int, int, str] | None:
        """Return where an hour is said, the hour, the minute, and which half of the day if it was said."""
        for way in (
            *patterns("later hours"),
            *patterns("hours"),
            *(patterns("bare hours") if bare else ()),
        ):
            for found in words.find_all(way):
                read = _read_hour(found.match)
                if read is not None:
                    return found, *read
        return None

    def _moment(
        self, now: datetime, day: _Day, hour: int, minute: int, half: str
    ) -> datetime | None:
        if day.morning and not half:
            half = "am"
        if day.evening and not half and hour < 12:
            half = "pm"
        hours = _hours_meant(hour, half)
        candidates: list[datetime] = []
        days = [day.on] if day.on is not None else [now.date(), now.date() + timedelta(days=1)]
        for on in days:
            for one in hours:
                candidates.append(self._at(on, one, minute))
        later = sorted(at for at in candidates if at > now)
        if not later:
            # The hour has passed on the day that was said; the order will say that it cannot be.
            return max(candidates, default=None)
        if len(hours) == 1:
            return later[0]
        opened = [at for at in later if is_open(self._house, at)]
        afternoon = [at for at in later if at.hour >= 11]
        return (opened or afternoon or later)[0]

    def _at(self, on: date, hour: int, minute: int) -> datetime:
        extra, hour = divmod(hour, 24)
        return datetime.combine(
            on + timedelta(days=extra), time(hour, minute), tzinfo=self._house.zone
        )


def _hours_meant(hour: int, half: str) -> tuple[int, ...]:
    if half == "am":
        return (hour % 12,)
    if half == "pm":
        return (hour % 12 + 12,)
    if half == "noon" or hour > 12 or hour == 0:
        return (hour,)
    return (hour, hour % 12 + 12) if hour != 12 else (12, 24)


def _read_hour(match: re.Match[str]) -> tuple[int, int, str] | None:
    given = match.groupdict()
    noon = given.get("named")
    if noon is not None:
        return (24, 0, "noon") if noon == "midnight" else (12, 0, "noon")
    hour, minute = _number(given.get("hour")), 0
    if given.get("digits"):
        digits = re.sub(r"\D", "", given["digits"])
        hour, minute = int(digits[:-2]), int(digits[-2:])
    if hour is None:
        return None
    if given.get("shift") and "relative" not in given:  # "half six"
        minute = 30
    if given.get("minute"):
        minute = _number(given["minute"]) or 0
    relative = given.get("relative")
    if relative is not None:
        named = {"half": 30, "quarter": 15, "a quarter": 15}.get(given["shift"])
        shift = named if named is not None else _number(given["shift"].replace(" minutes", ""))
        if shift is None:
            return None
        if relative in ("past", "after"):
            minute = shift
        else:
            hour, minute = (hour - 1) % 24 or 12, 60 - shift
    if not (0 <= hour <= 24 and 0 <= minute < 60):
        return None
    half = given.get("half") or ""
    part = given.get("part") or ""
    if not half and pattern("parts").fullmatch(part):
        half = "am" if "morning" in part else "pm"
    if hour > 12 and half:
        half = ""
    return hour, minute, half


def _number(words: str | None) -> int | None:
    if not words:
        return None
    read = number_at(tokenize(words), 0)
    return read[0] if read else None


def _minutes(match: re.Match[str]) -> int | None:
    given = match.groupdict()
    if given["fraction"]:
        return {"half an hour": 30, "a half hour": 30, "half hour": 30}.get(
            given["fraction"], 45 if "three" in given["fraction"] else 15
        )
    if given["hours"]:
        hours = 1 if given["hours"] in ("a", "an") else _number(given["hours"])
        if hours is None or hours > 24 * _FURTHEST_DAYS:
            return None
        more = given["more"] or ""
        extra = 30 if "half" in more else 15 if "quarter" in more else _number(more) or 0
        return 60 * hours + extra
    minutes = _number(given["minutes"] or given["bare"])
    return minutes if minutes is not None and minutes <= 60 * 24 * _FURTHEST_DAYS else None


def _dated(match: re.Match[str], now: datetime) -> date | None:
    """Read "December 24th", "the 24th of December" and "Thursday the 24th"."""
    said = {name: one for name, one in match.groupdict().items() if one}
    month = next((one for name, one in said.items() if name.startswith("month")), None)
    day = next((one for name, one in said.items() if name.startswith("date")), None)
    if not day:
        return None
    number = int(re.sub(r"\D", "", day))
    months = [now.month, now.month % 12 + 1]
    if month:
        months = [
            next(i for i, name in enumerate(table("months"), 1) if name.startswith(month[:3]))
        ]
    for year in (now.year, now.year + 1):
        for one in months:
            try:
                found = date(year, one, number)
            except ValueError:
                continue
            if found >= now.date():
                return found
    return None
