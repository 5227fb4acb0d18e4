"""The clinic's calendar: which slots there are, and which visit has which."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from examples.clinic.visit import SlotTaken, Unavailable, spoken
from state.shared import Refused

SLOT = timedelta(minutes=30)
DAYS = 7  # offered ahead, so that a weekday and a time name one slot
OFFERED = 6  # free slots named at a time
LOCKED_S = 2.0  # how long another process may keep the table, in seconds


class NoSuchSlot(Refused):
    """The clinic offers no such slot."""

    code = "no_such_slot"


class Calendar:
    """The slots of the next days, and one SQLite table that all processes of the clinic share.

    Its primary key decides between two visits that want one slot. A real clinic has this in its
    practice software.

    Args:
        file: The table's file.
        hours: By weekday: when the first slot begins, and when the last one ends.
        zone: The clinic's time zone.
        now: The present time, aware.
    """

    def __init__(
        self,
        file: Path,
        hours: Mapping[str, tuple[time, time]],
        zone: ZoneInfo,
        now: Callable[[], datetime],
    ) -> None:
        self._file, self._hours, self._zone, self._now = file, hours, zone, now
        self._taken: dict[datetime, str] = {}
        self._today: date | None = None
        self._names: dict[datetime, tuple[str, ...]] = {}  # of all slots from today on
        self.booking = asyncio.Lock()  # what one attempt releases, another may have just taken

    def slots(self) -> Iterator[datetime]:
        """Return every slot of the next days, free or taken."""
        now = self._now().astimezone(self._zone)
        if self._today != now.date():
            self._today = now.date()
            self._names = {slot: _names(slot) for slot in self._slots_from(self._today)}
        return (slot for slot in self._names if slot > now)

    def named(self, words: str) -> datetime:
        """Return the slot that is called so: as offered, ``tuesday 9:30`` or ``2026-11-24T09:30``.

        Raises:
            NoSuchSlot: There is none.
        """
        words = words.strip().lower()
        for slot in self.slots():
            if words in self._names[slot]:
                return slot
        raise NoSuchSlot("There is no such slot. Offer another.", free=self.offer())

    def is_free(self, slot: datetime, visit_id: str) -> bool:
        """Whether no other visit had this slot when the table was last read."""
        return self._taken.get(slot, visit_id) == visit_id

    def offer(self) -> list[JsonValue]:
        """Name the first slots that were free when the table was last read."""
        free = [spoken(slot) for slot in self.slots() if slot not in self._taken]
        return [*free[:OFFERED]]

    async def refresh(self) -> None:
        """Read the table."""
        await self._run("SELECT 1")

    async def take(self, slot: datetime, visit_id: str) -> None:
        """Hold a slot for a visit, beside the one it may have. Asking twice is harmless.

        Raises:
            SlotTaken: Another visit has it.
        """
        statement = "INSERT INTO taken VALUES (?, ?) ON CONFLICT DO NOTHING"
        await self._run(statement, _text(slot), visit_id)
        if not self.is_free(slot, visit_id):
            raise SlotTaken("That slot has just been taken. Offer another.", free=self.offer())

    async def keep_only(self, slot: datetime | None, visit_id: str) -> None:
        """Release every other slot of a visit."""
        kept = _text(slot) if slot is not None else None
        await self._run("DELETE FROM taken WHERE slot IS NOT ? AND visit = ?", kept, visit_id)

    def _slots_from(self, today: date) -> Iterator[datetime]:
        for day in (today + timedelta(days=ahead) for ahead in range(DAYS)):
            hours = self._hours.get(f"{day:%A}".lower(), (time(), time()))
            slot, end = (datetime.combine(day, hour, self._zone) for hour in hours)
            while slot < end:
                yield slot
                slot += SLOT

    async def _run(self, statement: str, *values: str | None) -> None:
        try:
            rows = await asyncio.to_thread(self._in_transaction, statement, values)
        except sqlite3.Error as error:
            raise Unavailable("The calendar does not answer. Try again in a moment.") from error
        self._taken = {datetime.fromisoformat(slot): visit_id for slot, visit_id in rows}

    def _in_transaction(
        self, statement: str, values: tuple[str | None, ...]
    ) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(self._file, timeout=LOCKED_S)) as table, table:
            table.execute("CREATE TABLE IF NOT EXISTS taken (slot TEXT PRIMARY KEY, visit TEXT)")
            table.execute(statement, values)
            return table.execute("SELECT slot, visit FROM taken").fetchall()


def _names(slot: datetime) -> tuple[str, ...]:
    short = f"{slot:%A} {slot.hour}:{slot:%M}", f"{slot:%A %H:%M}", f"{slot:%Y-%m-%dT%H:%M}"
    return tuple(name.lower() for name in (spoken(slot), *short))


def _text(slot: datetime) -> str:
    return slot.astimezone(UTC).isoformat()
