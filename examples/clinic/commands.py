"""What may happen to a visit. Agents, pages and staff use the same commands."""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field, PastDate

from examples.clinic.clinic import Clinic
from examples.clinic.visit import (
    Arrived,
    ClinicState,
    Insurance,
    MemberId,
    NotReady,
    Patient,
    Phone,
    Reason,
    SlotTaken,
    can_rate,
)
from state.shared import Command


class VisitCommand(Command[ClinicState, Clinic]):
    """A command whose parts are fields of the visit."""

    parts: ClassVar[tuple[str, ...]]

    def touches(self, state: ClinicState) -> tuple[str, ...]:
        """Return the fields it sets or relies on."""
        return self.parts


class Identify(VisitCommand):
    """Store who the patient is. Call it once you know full name and birth date."""

    op: Literal["identify"] = "identify"
    name: str = Field(description="Full name, as the patient says it.", min_length=2, max_length=80)
    birth_date: PastDate = Field(description="Year, month and day: 1990-12-10.")
    parts: ClassVar = ("patient",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Take what the clinic's records have of a returning patient."""
        known = context.known(self.name, self.birth_date)
        if known is not None:
            return state.model_copy(
                update={"patient": known.model_copy(update={"returning": True})}
            )
        phone = state.patient.phone if state.patient and not state.patient.returning else None
        new = Patient(name=self.name, birth_date=self.birth_date, phone=phone)
        return state.model_copy(update={"patient": new})


class SetPhone(VisitCommand):
    """Store the telephone number of the patient."""

    op: Literal["set_phone"] = "set_phone"
    phone: Phone = Field(description="Digits, with the country's code if the patient says it.")
    parts: ClassVar = ("patient",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Change the number; the person has to be known."""
        if state.patient is None:
            raise NotReady("Ask for name and birth date first.", missing=["name and birth date"])
        patient = state.patient.model_copy(update={"phone": self.phone})
        return state.model_copy(update={"patient": patient})


class SetReason(VisitCommand):
    """Store why the patient wants to come."""

    op: Literal["set_reason"] = "set_reason"
    reason: Reason
    parts: ClassVar = ("reason",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Set it."""
        return state.model_copy(update={"reason": self.reason})


class ChooseSlot(VisitCommand):
    """Choose a slot. It is not booked yet: say day and time, and ask whether to book it."""

    op: Literal["choose_slot"] = "choose_slot"
    slot: str = Field(description="As find_slots lists it, or weekday and time: 'tuesday 9:30'.")
    parts: ClassVar = ("wanted",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Refuse slots that there are not, or that another visit has."""
        if state.arrived:
            raise Arrived("The patient has arrived. Changes are made at the desk.")
        slot = context.calendar.named(self.slot)
        if not context.calendar.is_free(slot, state.visit_id):
            raise SlotTaken("That slot is taken. Offer another.", free=context.calendar.offer())
        return state.model_copy(update={"wanted": slot})


class RecordBooking(VisitCommand):
    """The calendar holds this slot for the visit. Written by ``actions.book``, never by a model."""

    op: Literal["record_booking"] = "record_booking"
    slot: AwareDatetime
    parts: ClassVar = ("slot", "wanted", "patient", "reason")

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Set it; nothing else is wanted now."""
        return state.model_copy(update={"slot": self.slot, "wanted": None})

    def changes(self, before: ClinicState, after: ClinicState) -> tuple[str, ...]:
        """It relies on the patient and the reason, and changes neither."""
        return ("slot", "wanted")


class RecordInsurance(VisitCommand):
    """The insurer's answer. Written by ``check_insurance``, never by a model."""

    op: Literal["record_insurance"] = "record_insurance"
    member_id: MemberId
    plan: str | None
    parts: ClassVar = ("insurance",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Set it."""
        answer = Insurance(member_id=self.member_id, covered=self.plan is not None, plan=self.plan)
        return state.model_copy(update={"insurance": answer})


class AllowText(VisitCommand):
    """Store whether the patient agrees to a text message. Only call it when they have said so."""

    op: Literal["allow_text"] = "allow_text"
    allowed: bool
    parts: ClassVar = ("text_consent",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Set it."""
        return state.model_copy(update={"text_consent": self.allowed})


class RecordText(VisitCommand):
    """A message about this slot has been sent. Written by ``send_text``, never by a model."""

    op: Literal["record_text"] = "record_text"
    slot: AwareDatetime
    parts: ClassVar = ("text_sent",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Set it."""
        return state.model_copy(update={"text_sent": self.slot})


class Rate(VisitCommand):
    """Store how the patient found this call."""

    op: Literal["rate"] = "rate"
    rating: int = Field(ge=1, le=5)
    parts: ClassVar = ("rating",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Refuse it before anything has been booked."""
        if (missing := can_rate(state)) is not None:
            raise missing
        return state.model_copy(update={"rating": self.rating})


class CheckIn(VisitCommand):
    """The patient has come. For the clinic's staff."""

    op: Literal["check_in"] = "check_in"
    parts: ClassVar = ("slot", "arrived")

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        """Refuse it without a booking."""
        if state.slot is None:
            raise NotReady("There is no booking.", missing=["slot"])
        return state.model_copy(update={"arrived": True})

    def changes(self, before: ClinicState, after: ClinicState) -> tuple[str, ...]:
        """The slot stays."""
        return ("arrived",)
