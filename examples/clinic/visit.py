"""A visit: the one state that the agents, the patient's page and the staff share."""

import re
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field

from state.shared import Refused


def _compact(value: object) -> object:
    return re.sub(r"[\s()-]", "", value).upper() if isinstance(value, str) else value


Phone = Annotated[str, BeforeValidator(_compact), Field(pattern=r"^\+?[0-9]{7,15}$")]
"""A telephone number, stored as its digits."""

MemberId = Annotated[str, BeforeValidator(_compact), Field(pattern=r"^[A-Z0-9]{4,16}$")]
"""The number on an insurance card."""

Reason = Literal["check_up", "cleaning", "toothache", "other"]
"""The reason for a visit."""

Stage = Literal["open", "booked", "arrived"]
"""The stage of a visit."""


class Patient(BaseModel, frozen=True, extra="forbid"):
    """A patient; ``returning`` if the clinic's records have them."""

    name: str
    birth_date: date
    phone: Phone | None = None
    returning: bool = False


class Insurance(BaseModel, frozen=True, extra="forbid"):
    """The insurer's answer; without a plan the patient is not covered."""

    member_id: MemberId
    plan: str | None = None


class ClinicState(BaseModel, frozen=True, extra="forbid"):
    """A visit; ``None`` means that it is not known yet."""

    visit_id: str  # the clinic's partners get it as part of their keys
    patient: Patient | None = None
    reason: Reason | None = None
    wanted: AwareDatetime | None = None  # chosen, not booked yet
    slot: AwareDatetime | None = None  # held by the calendar for this visit
    insurance: Insurance | None = None
    text_sent: AwareDatetime | None = None  # the slot that a text message was about
    rating: int | None = Field(default=None, ge=1, le=5)
    arrived: bool = False

    @property
    def stage(self) -> Stage:
        """Its stage; computed, so that it cannot contradict the fields."""
        if self.arrived:
            return "arrived"
        return "open" if self.slot is None else "booked"


class NotReady(Refused):
    """Other data is needed first."""

    code = "not_ready"

    def __init__(self, *missing: str) -> None:
        super().__init__(f"This is needed first: {', '.join(missing)}.", missing=[*missing])


class SlotTaken(Refused):
    """Another visit has the slot."""

    code = "slot_taken"


class Unavailable(Refused):
    """A partner or the calendar does not answer just now."""

    code = "unavailable"
    retryable = True


def patient_known(visit: ClinicState) -> Refused | None:
    """Whether the insurer can be asked."""
    return NotReady("name and birth date") if visit.patient is None else None


def ready_to_book(visit: ClinicState) -> Refused | None:
    """Whether enough is known to book a slot."""
    patient = visit.patient
    missing = ["name and birth date"] if patient is None else [] if patient.phone else ["phone"]
    if visit.reason is None:
        missing.append("reason")
    if visit.arrived:
        return Refused("The patient has arrived. Changes are made at the desk.")
    return NotReady(*missing) if missing else None


def is_booked(visit: ClinicState) -> Refused | None:
    """Whether there is a booking."""
    return NotReady("slot") if visit.slot is None else None


def spoken(slot: datetime) -> str:
    """Say a slot, as Tuesday, November 24 at 9:30."""
    return f"{slot:%A, %B} {slot.day} at {slot.hour}:{slot:%M}"
