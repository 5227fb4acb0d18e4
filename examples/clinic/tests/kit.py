"""Doubles of the clinic's partners, and a clinic at a fixed time."""

import asyncio
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from agents.handoff import Call
from agents.testing import Clock
from examples.clinic.app import APP
from examples.clinic.clinic import Clinic, load_clinic
from examples.clinic.commands import Identify, SetPhone, SetReason
from examples.clinic.visit import ClinicState
from state.shared import Command, SharedState

ADA: dict[str, Any] = {"name": "Ada Lovelace", "birth_date": "1990-12-10"}
"""A patient whom the clinic's records have."""
MARY: dict[str, Any] = {"name": "Mary Shelley", "birth_date": "1997-08-30"}
"""One whom they do not have."""
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


class Front:
    """One clinic for a test: its partners, its clock, and visits that share its calendar."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock(SUNDAY)
        self.insurer = Insurer()
        self.messages = Messages()
        self.clinic = self.another_process()

    def another_process(self) -> Clinic:
        """Return the clinic as another process sees it: with a calendar of its own over the table."""
        clinic = load_clinic(self.folder / "calendar.db", lambda zone: self.clock)
        return replace(clinic, insurer=self.insurer, messages=self.messages)

    def visit(
        self, state: ClinicState | None = None, *, agent: str | None = None, name: str = "visit-1"
    ) -> SharedState[ClinicState, Clinic]:
        return SharedState(state or ClinicState(visit_id=name), self.clinic, speaker=agent)

    def after(self, *commands: Command[ClinicState, Clinic], name: str = "visit-1") -> ClinicState:
        """Return a visit after some commands."""
        state = ClinicState(visit_id=name)
        for command in commands:
            state = command.apply(state, self.clinic)
        return state

    def ready(self, name: str = "visit-1") -> ClinicState:
        """Return a visit that can be booked."""
        phone = SetPhone(phone="312 555 0199")
        return self.after(Identify(**MARY), phone, SetReason(reason="cleaning"), name=name)

    def call(
        self, state: ClinicState | None = None, *, agent: str | None = None
    ) -> Call[ClinicState, Clinic]:
        return APP.call(self.visit(state, agent=agent))
