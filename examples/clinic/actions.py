"""What the desk does beside the visit: it books in the calendar, asks the insurer, sends messages.

Each asks a partner first, under a key that is the same after a restart, and then records the outcome as
its last step. A process that is killed in between has done nothing that the same call again would double.
"""

import logging
from datetime import datetime
from typing import Literal

from pydantic import Field

from agents.handoff import Action, Call, Read
from examples.clinic.clinic import Clinic
from examples.clinic.commands import RecordBooking, RecordInsurance, RecordText
from examples.clinic.visit import (
    ClinicState,
    MemberId,
    NoConsent,
    NotReady,
    can_book,
    can_check_insurance,
    spoken,
)
from state.shared import Applied, NotStored, Refused, SharedState, Stale

logger = logging.getLogger(__name__)

Visit = SharedState[ClinicState, Clinic]


class PartnerDown(Refused):
    """A partner of the clinic cannot be reached."""

    code = "partner_down"
    retryable = True


async def book(
    visit: Visit, slot: datetime, *, actor: str, key: str | None = None, seen: int | None = None
) -> Applied[ClinicState]:
    """Book a slot for a visit, instead of the one it may have.

    Args:
        visit: The visit.
        slot: One of the calendar's slots.
        actor: Who books.
        key: The idempotency key.
        seen: The version the writer has seen.

    Raises:
        SlotTaken: Another visit has it; this one is as it was.
        StateError: It could not be recorded.
    """
    calendar, visit_id = visit.context.calendar, visit.state.visit_id
    if key is None or not visit.knows(key):
        await calendar.take(slot, visit_id)
    try:
        record = RecordBooking(slot=slot)
        applied = await visit.apply(record, actor=actor, key=key, seen=seen, provided=can_book)
    except (
        Refused,
        Stale,
        NotStored,
    ):  # after any other error it may be booked: the slot stays held
        await calendar.keep_only(visit.state.slot, visit_id)
        raise
    await calendar.keep_only(visit.state.slot, visit_id)
    return applied


class FindSlots(Action):
    """List the next free slots."""

    op: Literal["find_slots"] = "find_slots"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        """Read the calendar."""
        calendar = call.shared.context.calendar
        await calendar.refresh()
        return "Free: " + ", ".join(map(str, calendar.offer()))


class BookVisit(Action):
    """Book the chosen slot, after the patient has said yes to its day and time."""

    op: Literal["book_visit"] = "book_visit"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        """Book it."""
        slot = call.state.wanted
        if slot is None:
            raise NotReady("Have the patient choose a slot first.", missing=["slot"])
        await book(call.shared, slot, actor=call.speaker)
        return f"Booked: {spoken(slot)}."


class CheckInsurance(Action):
    """Ask the insurer whether the patient is covered."""

    op: Literal["check_insurance"] = "check_insurance"
    member_id: MemberId = Field(description="The number on the insurance card.")

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        """Have the insurer asked in the background: it takes longer than a tool may."""
        if (missing := can_check_insurance(call.state)) is not None:
            raise missing
        call.spawn(self._ask(call))
        return "The insurer takes up to half a minute. Say so; the answer will be announced."

    async def _ask(self, call: Call[ClinicState, Clinic]) -> None:
        patient, insurer = call.state.patient, call.shared.context.insurer
        assert patient is not None  # noqa: S101
        key = f"{call.state.visit_id}:{self.member_id}"
        try:
            cover = await insurer.check(self.member_id, patient.birth_date, key=key)
        except Exception:
            logger.exception("insurer failed")
            call.speak("I am sorry, I cannot reach your insurer just now.")
            return
        record = RecordInsurance(member_id=self.member_id, plan=cover.plan)
        await call.shared.apply(record, actor="insurer", key=f"insurer:{key}")
        if cover.plan is None:
            call.speak("Your insurer does not know that member number.")
        else:
            call.speak(f"Your insurer covers this visit, under the plan {cover.plan}.")


class SendText(Action):
    """Send the patient the appointment as a text message, once they have agreed to it."""

    op: Literal["send_text"] = "send_text"

    async def run(self, call: Call[ClinicState, Clinic]) -> str:
        """Send it, then record that it was sent."""
        visit, clinic = call.state, call.shared.context
        if not visit.text_consent:
            raise NoConsent("The patient has not agreed to a text message. Ask first.")
        if visit.slot is None or visit.patient is None or visit.patient.phone is None:
            raise NotReady("There is no booking to send.", missing=["slot"])
        if visit.text_sent == visit.slot:
            return "It has been sent already."
        text = f"{clinic.name}: your appointment is on {spoken(visit.slot)}."
        key = f"{visit.visit_id}:{visit.slot.isoformat()}"
        try:
            await clinic.messages.send(visit.patient.phone, text, key=key)
        except Exception as error:
            raise PartnerDown("The message could not be sent. Say so.") from error
        await call.shared.apply(RecordText(slot=visit.slot), actor=call.speaker)
        return "The text message is on its way."


class AskClinic(Read[ClinicState, Clinic]):
    """Where the clinic is, and what is known of this visit."""

    op: Literal["ask_clinic"] = "ask_clinic"

    def answer(self, state: ClinicState, context: Clinic) -> str:
        """Return address and booking."""
        booked = f"Booked: {spoken(state.slot)}." if state.slot else "Nothing is booked yet."
        return f"{context.name} is at {context.address}. {booked}"
