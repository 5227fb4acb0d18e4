"""Doubles of the clinic's partners, and a clinic at a fixed time."""

import asyncio
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from agents.app.testing import AppUnderTest
from examples.clinic.app import APP
from examples.clinic.clinic import Clinic
from examples.clinic.commands import Identify, SetPhone, SetReason
from examples.clinic.visit import ClinicState
from state.shared import Command

ADA: dict[str, Any] = {"name": "Ada Lovelace", "birth_date": "1990-12-10"}
"""A patient in the clinic's records."""
MARY: dict[str, Any] = {"name": "Mary Shelley", "birth_date": "1997-08-30"}
"""A new patient."""
SUNDAY = datetime.fromisoformat("2026-11-22T10:00:00-06:00")
TUESDAY = datetime.fromisoformat("2026-11-24T09:30:00-06:00")
WEDNESDAY = datetime.fromisoformat("2026-11-25T10:00:00-06:00")


class Insurer:
    """An insurer that answers when the test says so, or fails."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.answers = asyncio.Event()
        self.answer: str | None = "Dental Basic"
        self.fault: Exception | None = None

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        self.keys.append(key)
        await self.answers.wait()
        if self.fault is not None:
            raise self.fault
        return self.answer


class Messages:
    """A message service that sends once per key, or fails."""

    def __init__(self) -> None:
        self.sent: dict[str, tuple[str, str]] = {}
        self.asked = 0
        self.fault: Exception | None = None

    async def send(self, phone: str, text: str, *, key: str) -> None:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        self.sent.setdefault(key, (phone, text))


class Front(AppUnderTest[ClinicState, Clinic]):
    """The clinic under test, with doubles of its partners; ``settings`` are others of its own."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.insurer = Insurer()
        self.messages = Messages()
        super().__init__(
            APP,
            folder,
            at=SUNDAY,
            context=self._with_doubles,
            calendar=folder / "calendar.db",
            **settings,
        )

    def _with_doubles(self, clinic: Clinic) -> Clinic:
        return replace(clinic, insurer=self.insurer, messages=self.messages)

    def after(self, *commands: Command[ClinicState, Clinic], name: str = "visit-1") -> ClinicState:
        """Return a visit after some commands."""
        state = ClinicState(visit_id=name)
        for command in commands:
            state = command.apply(state, self.context)
        return state

    def ready(self, name: str = "visit-1") -> ClinicState:
        """Return a visit that can be booked."""
        phone = SetPhone(phone="312 555 0199")
        return self.after(Identify(**MARY), phone, SetReason(reason="cleaning"), name=name)
