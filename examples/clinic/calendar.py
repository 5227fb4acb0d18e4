"""The clinic's calendar: which slots there are, and which visit has which."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from examples.clinic.visit import NoSuchSlot, SlotTaken, spoken
from state.shared import Refused

SLOT = timedelta(minutes=30)
DAYS_AHEAD = 7
"""Slots are offered for so many days, so that a weekday and a time name one of them."""
SHOWN = 6
"""So many free slots are named at a time."""
LOCKED_S = 2.0
"""How long another process may keep the table, in seconds."""


class CalendarDown(Refused):
    """The calendar cannot be read or written just now."""

    code = "calendar_down"
    retryable = True


class Calendar:
    """The slots of the next days, and one SQLite table that all processes of the clinic share.

    The table's primary key decides between two visits that want the same slot. A real clinic has this
    in its practice software.

    Args:
        file: Where the table is; made when it is missing.
        hours: By weekday, 0 for Monday: from when to when slots begin.
        zone: The clinic's time zone.
        now: The present time, aware.
    """

    def __init__(
        self,
        file: Path,
        hours: Mapping[int, tuple[time, time]],
        zone: ZoneInfo,
        now: Callable[[], datetime],
    ) -> None:
        self._file = file
        self._hours = hours
        self._zone = zone
        self._now = now
        self._taken: dict[datetime, str] = {}

    def slots(self) -> Sequence[datetime]:
        """Return every slot of the next days, free or taken."""
        now = self._now().astimezone(self._zone)
        found = []
        for day in range(DAYS_AHEAD):
            date = (now + timedelta(days=day)).date()
            if (hours := self._hours.get(date.weekday())) is None:
                continue
            slot, end = (datetime.combine(date, hour, self._zone) for hour in hours)
            while slot < end:
                if slot > now:
                    found.append(slot)
                slot += SLOT
        return found

    def named(self, words: str) -> datetime:
        """Return the slot that is called so: ``2026-11-24T09:30`` or ``tuesday 9:30``.

        Raises:
            NoSuchSlot: There is none.
        """
        wanted = words.strip().casefold()
        for slot in self.slots():
            day = f"{slot:%A}".casefold()
            names = (
                f"{slot:%Y-%m-%dt%H:%M}",
                f"{day} {slot.hour}:{slot:%M}",
                f"{day} {slot:%H:%M}",
            )
            if wanted in names:
                return slot
        raise NoSuchSlot("There is no such slot.", free=self.offer())

    def is_free(self, slot: datetime, visit_id: str) -> bool:
        """Whether nobody else had this slot when the table was last read."""
        return self._taken.get(slot, visit_id) == visit_id

    def offer(self) -> list[JsonValue]:
        """Name the first free slots."""
        free = [slot for slot in self.slots() if slot not in self._taken]
        return [f"{slot:%Y-%m-%dT%H:%M} ({spoken(slot)})" for slot in free[:SHOWN]]

    async def refresh(self) -> None:
        """Read the table."""
        await self._run(lambda table: None)

    async def take(self, slot: datetime, visit_id: str) -> None:
        """Hold a slot for a visit, beside the one it may have. Asking twice is harmless.

        Raises:
            SlotTaken: Another visit has it.
        """
        row = _text(slot), visit_id
        await self._run(
            lambda table: table.execute(
                "INSERT INTO taken VALUES (?, ?) ON CONFLICT DO NOTHING", row
            )
        )
        if not self.is_free(slot, visit_id):
            raise SlotTaken("That slot has just been taken. Offer another.", free=self.offer())

    async def keep_only(self, slot: datetime | None, visit_id: str) -> None:
        """Release every other slot of a visit."""
        row = visit_id, _text(slot) if slot is not None else ""
        await self._run(
            lambda table: table.execute("DELETE FROM taken WHERE visit = ? AND slot <> ?", row)
        )

    async def _run(self, work: Callable[[sqlite3.Connection], object]) -> None:
        try:
            rows = await asyncio.to_thread(self._in_transaction, work)
        except sqlite3.Error as error:
            raise CalendarDown("The calendar does not answer. Try again in a moment.") from error
        self._taken = {datetime.fromisoformat(slot): visit_id for slot, visit_id in rows}

    def _in_transaction(
        self, work: Callable[[sqlite3.Connection], object]
    ) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(self._file, timeout=LOCKED_S)) as table, table:
            table.execute("CREATE TABLE IF NOT EXISTS taken (slot TEXT PRIMARY KEY, visit TEXT)")
            work(table)
            return table.execute("SELECT slot, visit FROM taken").fetchall()


def _text(slot: datetime) -> str:
    return slot.astimezone(UTC).isoformat()
