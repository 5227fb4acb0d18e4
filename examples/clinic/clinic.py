"""The clinic: what the rules of a visit may look at beside the visit itself."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, Field

from examples.clinic.calendar import Calendar
from examples.clinic.partners import DemoInsurer, DemoMessages, Insurer, Messages
from examples.clinic.visit import Patient

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class ClinicFile(BaseModel, frozen=True, extra="forbid"):
    """What ``clinic.yaml`` holds; ``insurer_s`` is how long the insurer takes, in seconds."""

    name: str
    address: str
    timezone: str
    hours: dict[str, tuple[time, time]]
    patients: tuple[Patient, ...]
    members: dict[str, str]
    insurer_s: float = Field(ge=0, le=60)


@dataclass(frozen=True)
class Clinic:
    """The context of every command; ``now`` is the time at the clinic."""

    facts: ClinicFile
    now: Callable[[], datetime]
    calendar: Calendar
    insurer: Insurer
    messages: Messages

    def known(self, name: str, birth_date: date) -> Patient | None:
        """Look a returning patient up."""
        for patient in self.facts.patients:
            if (patient.name.casefold(), patient.birth_date) == (name.casefold(), birth_date):
                return patient.model_copy(update={"returning": True})
        return None


def load_clinic(taken: Path, clock: Callable[[tzinfo], Callable[[], datetime]]) -> Clinic:
    """Read the clinic's file.

    Args:
        taken: The file of the calendar's table.
        clock: Returns a clock of a time zone.

    Raises:
        ValidationError: The clinic's file is faulty.
    """
    text = Path(__file__).with_name("clinic.yaml").read_text(encoding="utf-8")
    facts = ClinicFile.model_validate(yaml.safe_load(text))
    zone = ZoneInfo(facts.timezone)
    now = clock(zone)
    hours = {WEEKDAYS.index(day): between for day, between in facts.hours.items()}
    calendar = Calendar(taken, hours, zone, now)
    insurer = DemoInsurer(facts.members, facts.insurer_s)
    return Clinic(facts, now, calendar, insurer, DemoMessages())
