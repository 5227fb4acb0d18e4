"""The clinic: what the rules of a visit may look at beside the visit itself."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, Field

from examples.clinic.calendar import Calendar
from examples.clinic.partners import DemoInsurer, DemoMessages, Insurer, Messages
from examples.clinic.visit import Patient

CLINIC = Path(__file__).with_name("clinic.yaml")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Clinic:
    """The context of every command.

    Args:
        name: The clinic's name.
        address: Where it is.
        zone: Its time zone.
        now: The present time, aware.
        calendar: Its slots.
        patients: Its records.
        insurer: Says who is insured.
        messages: Sends text messages.
    """

    name: str
    address: str
    zone: ZoneInfo
    now: Callable[[], datetime]
    calendar: Calendar
    patients: tuple[Patient, ...]
    insurer: Insurer
    messages: Messages

    def today(self) -> str:
        """Return today's date as people say it."""
        now = self.now().astimezone(self.zone)
        return f"{now:%A, %B} {now.day}, {now.year}"

    def known(self, name: str, birth_date: date) -> Patient | None:
        """Look a patient up."""
        for patient in self.patients:
            if (patient.name.casefold(), patient.birth_date) == (name.casefold(), birth_date):
                return patient
        return None


class _Insurer(BaseModel, extra="forbid"):
    seconds: float = Field(ge=0, le=60)
    members: dict[str, str]


class _File(BaseModel, extra="forbid"):
    name: str
    address: str
    timezone: str
    hours: dict[str, tuple[time, time]]
    patients: tuple[Patient, ...]
    insurer: _Insurer


def load_clinic(
    taken: Path,
    file: Path = CLINIC,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    insurer: Insurer | None = None,
    messages: Messages | None = None,
) -> Clinic:
    """Read a clinic.

    Args:
        taken: The calendar's table.
        file: The clinic's file.
        now: The present time, aware.
        insurer: Stands in for the one in the file.
        messages: Stands in for the one that only logs.

    Raises:
        ValidationError: The file is faulty.
    """
    read = _File.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    zone = ZoneInfo(read.timezone)
    hours = {WEEKDAYS.index(day): between for day, between in read.hours.items()}
    return Clinic(
        name=read.name,
        address=read.address,
        zone=zone,
        now=now,
        calendar=Calendar(taken, hours, zone, now),
        patients=read.patients,
        insurer=insurer or DemoInsurer(read.insurer.members, read.insurer.seconds),
        messages=messages or DemoMessages(),
    )
