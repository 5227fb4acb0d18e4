"""The commands of a visit. Agents, pages and staff use the same ones."""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field, PastDate

from examples.clinic.clinic import Clinic
from examples.clinic.visit import (
    ClinicState,
    Insurance,
    NotReady,
    Patient,
    Phone,
    Reason,
    SlotTaken,
    is_booked,
)
from state.shared import Command


class VisitCommand(Command[ClinicState, Clinic]):
    """Sets those fields of the visit that it has itself, unless ``parts`` names others."""

    parts: ClassVar[tuple[str, ...]] = ()

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        return state.model_copy(update={name: getattr(self, name) for name in self.touches(state)})

    def touches(self, state: ClinicState) -> tuple[str, ...]:
        return self.parts or tuple(name for name in type(self).model_fields if name != "op")


class Identify(VisitCommand):
    """Store who the patient is. Call it once you know full name and birth date."""

    op: Literal["identify"] = "identify"
    name: str = Field(description="Full name, as the patient says it.", min_length=2, max_length=80)
    birth_date: PastDate = Field(description="Year, month and day: 1990-12-10.")
    parts = ("patient",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        patient = context.known(self.name, self.birth_date)
        if patient is None:
            phone = state.patient.phone if state.patient and not state.patient.returning else None
            patient = Patient(name=self.name, birth_date=self.birth_date, phone=phone)
        return state.model_copy(update={"patient": patient})


class SetPhone(VisitCommand):
    """Store the telephone number of the patient."""

    op: Literal["set_phone"] = "set_phone"
    phone: Phone = Field(description="Digits, with the country's code if the patient says it.")
    parts = ("patient",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        if state.patient is None:
            raise NotReady("name and birth date")
        patient = state.patient.model_copy(update={"phone": self.phone})
        return state.model_copy(update={"patient": patient})


class SetReason(VisitCommand):
    """Store why the patient wants to come."""

    op: Literal["set_reason"] = "set_reason"
    reason: Reason


class ChooseSlot(VisitCommand):
    """Choose a slot. It is not booked yet: say day and time, and ask whether to book it."""

    op: Literal["choose_slot"] = "choose_slot"
    slot: str = Field(description="As find_slots lists it, or weekday and time: 'tuesday 9:30'.")
    parts = ("wanted",)

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        slot = context.calendar.named(self.slot)
        if not context.calendar.is_free(slot, state.visit_id):
            raise SlotTaken("That slot is taken. Offer another.", free=context.calendar.offer())
        return state.model_copy(update={"wanted": slot})


class RecordBooking(VisitCommand):
    """The calendar holds this slot for the visit. Written by ``actions.book``, never by a model."""

    op: Literal["record_booking"] = "record_booking"
    slot: AwareDatetime
    parts = ("slot", "wanted")

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        return state.model_copy(update={"slot": self.slot, "wanted": None})


class RecordInsurance(VisitCommand):
    """The insurer's answer. Written by ``check_insurance``, never by a model."""

    op: Literal["record_insurance"] = "record_insurance"
    insurance: Insurance


class RecordText(VisitCommand):
    """A message about this slot has been sent. Written by ``send_text``, never by a model."""

    op: Literal["record_text"] = "record_text"
    text_sent: AwareDatetime


class Rate(VisitCommand):
    """Store how the patient found this call."""

    op: Literal["rate"] = "rate"
    rating: int = Field(ge=1, le=5)


class CheckIn(VisitCommand):
    """The patient has come. For the clinic's staff."""

    op: Literal["check_in"] = "check_in"
    arrived: Literal[True] = True

    def apply(self, state: ClinicState, context: Clinic) -> ClinicState:
        if (missing := is_booked(state)) is not None:
            raise missing
        return super().apply(state, context)
