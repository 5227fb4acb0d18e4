"""The desk's side effects: it books in the calendar, asks the insurer, sends messages.

Each asks a partner first, under a key that is the same after a restart, and then records the outcome as
its last step. A process that is killed in between has done nothing that the same call again would double.
"""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from agents.handoff import Action, Call, Read, SlowAction
from examples.clinic.clinic import Clinic
from examples.clinic.commands import RecordBooking, RecordInsurance, RecordText
from examples.clinic.visit import (
    ClinicState,
    Insurance,
    MemberId,
    NotReady,
    Unavailable,
    ready_to_book,
    spoken,
)
from state.shared import Applied, NotStored, Refused, SharedState, Stale

Visit = SharedState[ClinicState, Clinic]


async def book(
    visit: Visit, slot: datetime, *, actor: str, key: str | None = None, seen: int | None = None
) -> Applied[ClinicState]:
    """Book a slot for a visit, instead of the one it may have.

    Raises:
        SlotTaken: Another visit has it; this one stays as it was.
        StateError: It could not be recorded.
    """
    calendar, visit_id = visit.context.calendar, visit.state.visit_id
    record = RecordBooking(slot=slot)
    async with calendar.booking:
        if key is None or not visit.knows(key):
            await calendar.take(slot, visit_id)
        try:
            applied = await visit.apply(
                record, actor=actor, key=key, seen=seen, provided=ready_to_book
            )
        except (Refused, Stale, NotStored):
            await calendar.keep_only(visit.state.slot, visit_id)
            raise  # after any other error it may have been booked: the slot stays held
        await calendar.keep_only(visit.state.slot, visit_id)
        return applied


class FindSlots(Action):
    """List the next free slots."""

    op: Literal["find_slots"] = "find_slots"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        calendar = call.shared.context.calendar
        await calendar.refresh()
        return "These are free: " + "; ".join(map(str, calendar.offer())) + "."


class BookVisit(Action):
    """Book the chosen slot, after the patient has said yes to its day and time."""

    op: Literal["book_visit"] = "book_visit"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        slot = call.state.wanted
        if slot is None:
            raise NotReady("slot")
        await book(call.shared, slot, actor=call.speaker)
        return f"Booked: {spoken(slot)}."


class CheckInsurance(SlowAction):
    """Ask the insurer whether the patient is covered."""

    op: Literal["check_insurance"] = "check_insurance"
    member_id: MemberId = Field(description="The number on the insurance card.")
    wait: ClassVar = "I am asking your insurer; this can take up to half a minute."

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        patient, insurer = call.state.patient, call.shared.context.insurer
        if patient is None:
            raise NotReady("name and birth date")
        key = self.idempotency_key
        try:
            plan = await insurer.plan(self.member_id, patient.birth_date, key=key)
        except Exception as error:
            raise Unavailable("The insurer cannot be reached just now.") from error
        record = RecordInsurance(insurance=Insurance(member_id=self.member_id, plan=plan))
        await call.shared.apply(record, actor=call.speaker, key=key)
        return f"Covered by {plan}." if plan else "The insurer knows no such member."


class SendText(Action):
    """Send the patient the appointment as a text message. It is sent once they have said yes."""

    op: Literal["send_text"] = "send_text"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        visit, clinic = call.state, call.shared.context
        if visit.slot is None or visit.patient is None or visit.patient.phone is None:
            raise NotReady("slot", "phone")
        if visit.text_sent == visit.slot:
            return "It has been sent already."
        text = f"{clinic.facts.name}: your appointment is on {spoken(visit.slot)}."
        key = f"{visit.visit_id}:{visit.slot.isoformat()}"
        try:
            await clinic.messages.send(visit.patient.phone, text, key=key)
        except Exception as error:
            raise Unavailable("The message could not be sent. Say so.") from error
        await call.shared.apply(RecordText(text_sent=visit.slot), actor=call.speaker)
        return "The text message is on its way."


class AskClinic(Read[ClinicState, Clinic]):
    """Where the clinic is, and what is known of this visit."""

    op: Literal["ask_clinic"] = "ask_clinic"

    def answer(self, state: ClinicState, context: Clinic) -> str:
        booked = f"Booked: {spoken(state.slot)}." if state.slot else "Nothing is booked yet."
        return f"{context.facts.name} is at {context.facts.address}. {booked}"
