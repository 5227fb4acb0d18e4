"""The context of a visit's rules: the clinic's facts, its calendar and its partners.

The demo partners replace real ones, so that the clinic runs without an account. Every request has an
idempotency key: a partner that gets the same key twice acts once.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, Field

from examples.clinic.calendar import Calendar
from examples.clinic.visit import Patient

logger = logging.getLogger(__name__)


class Insurer(Protocol):
    """Knows its members."""

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        """Return a member's plan, ``None`` if there is no such member; takes 10 to 30 seconds."""


class Messages(Protocol):
    """Sends text messages."""

    async def send(self, phone: str, text: str, *, key: str) -> None:
        """Send a message; any exception means that it was not accepted."""


@dataclass(frozen=True)
class DemoInsurer:
    """Knows a few members and answers after so many seconds."""

    members: Mapping[str, str]
    seconds: float

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        await asyncio.sleep(self.seconds)
        return self.members.get(member_id)


class DemoMessages:
    """Sends nothing; logs that it would have, without number and text."""

    async def send(self, phone: str, text: str, *, key: str) -> None:
        logger.info("text message sent", extra={"key": key})


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
    """Read the clinic's file; ``taken`` is the file of the calendar's table."""
    text = Path(__file__).with_name("clinic.yaml").read_text(encoding="utf-8")
    facts = ClinicFile.model_validate(yaml.safe_load(text))
    now = clock(zone := ZoneInfo(facts.timezone))
    insurer = DemoInsurer(facts.members, facts.insurer_s)
    return Clinic(facts, now, Calendar(taken, facts.hours, zone, now), insurer, DemoMessages())
