"""The four agents of the front desk and the handoffs between them."""

import json
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from agents.handoff import BACK, Agent, CallPolicy, EndCall, Graph, Handoff, Opening
from examples.clinic.actions import AskClinic, BookVisit, CheckInsurance, FindSlots, SendText
from examples.clinic.clinic import Clinic
from examples.clinic.commands import ChooseSlot, Identify, Rate, SetPhone, SetReason
from examples.clinic.visit import ClinicState, is_booked, patient_known, ready_to_book
from state.privacy import Redactor
from state.shared import Refused


def instructions(task: str) -> "staticmethod[[ClinicState, Clinic, Any], str]":
    """Return an agent's instructions: its task, and what holds for all.

    The date is last and has no time, so that a provider's prompt cache stays valid for a day.
    """
    style = "Ask for one thing at a time, in one or two short sentences. Give no medical advice."
    return staticmethod(
        lambda visit, clinic, call: f"{task} {style} Today is {clinic.now():%A, %Y-%m-%d}."
    )


class Reception(Agent[ClinicState, Clinic]):
    """Finds out who is calling and why."""

    name = "reception"
    prompt = instructions(
        "You are Reception at Maple Street Dental. Find out full name, birth date and"
        " reason; of new patients also the telephone number."
    )
    offers = (Identify, SetPhone, SetReason, AskClinic, EndCall)
    opening = Opening(
        first="Greet the caller, say that you are the clinic's automatic assistant, and ask for full"
        " name and date of birth.",
        handed_over="Answer what the patient has just said.",
        come_back="Welcome the patient back and ask how you can help.",
        canned="Hello, this is the clinic's automatic assistant. Your name and date of birth, please?",
    )


class Scheduling(Agent[ClinicState, Clinic]):
    """Finds a slot and books it."""

    name = "scheduling"
    prompt = instructions(
        "You are Scheduling at Maple Street Dental. Offer two or three free slots, repeat"
        " the chosen one with day and time, and book it when the patient says yes."
    )
    offers = (FindSlots, ChooseSlot, BookVisit, SetReason, AskClinic, EndCall)
    opening = Opening(
        first="Ask on which day the patient would like to come.",
        handed_over="Offer free slots.",
        come_back="Ask which slot the patient would like, or what else they need.",
        canned="On which day would you like to come?",
    )
    needs_answer: ClassVar = {"book_visit": ("choose_slot",)}


class InsuranceDesk(Agent[ClinicState, Clinic]):
    """Asks the insurer."""

    name = "insurance"
    prompt = instructions(
        "You are Insurance at Maple Street Dental. Ask for the member number, have it"
        " checked, and hand back when the patient has an answer or wants something else."
    )
    offers = (CheckInsurance, AskClinic, EndCall)
    opening = Opening(
        first="Ask for the member number on the insurance card.",
        handed_over="Ask for the member number on the insurance card, unless the insurance is known.",
        come_back="Ask what else about the insurance you can help with.",
        canned="What is the member number on your insurance card?",
    )


class Survey(Agent[ClinicState, Clinic]):
    """Offers a text message and asks how the call was."""

    name = "survey"
    prompt = instructions(
        "You are Survey at Maple Street Dental. Call send_text, and again when the patient"
        " has agreed to it; then ask for a rating from one to five, then say goodbye."
    )
    offers = (SendText, Rate, AskClinic, EndCall)
    opening = Opening(
        first="Ask how you can help.",
        handed_over="Call send_text, which asks the patient first.",
        come_back="Ask how the patient found this call, from one to five.",
        canned="May I send you a text message with your appointment?",
    )
    needs_answer: ClassVar = {"send_text": ("send_text",)}


class Wish(BaseModel):
    """What Reception tells Scheduling."""

    when: str | None = Field(default=None, max_length=80, description="Days or times they want.")


DESK = Graph(
    (Reception, Scheduling, InsuranceDesk, Survey),
    (
        Handoff(
            "reception",
            "scheduling",
            when="Hand over as soon as name, birth date, phone and reason are known.",
            arguments=Wish,
            condition=ready_to_book,
            satisfied_by=(Identify, SetPhone, SetReason),
        ),
        Handoff(
            "reception",
            "insurance",
            when="Hand over when the patient asks about insurance.",
            condition=patient_known,
            satisfied_by=(Identify,),
        ),
        Handoff("scheduling", "insurance", when="Hand over when the patient asks about insurance."),
        Handoff(
            "scheduling",
            "survey",
            when="Hand over when the visit is booked and the patient wants nothing else.",
            condition=is_booked,
            satisfied_by=(BookVisit,),
        ),
        Handoff("scheduling", "reception", when="Hand over to correct name, birth date or phone."),
        Handoff("insurance", BACK, when="Hand back when nothing about insurance is left to say."),
        Handoff("survey", "scheduling", when="Hand over when the patient wants another slot."),
    ),
    start="reception",
)


def digest(visit: ClinicState, version: int) -> str:
    """Show models what they need, and neither name nor birth date nor any number of the patient's."""
    patient = visit.patient
    known = {
        "stage": visit.stage,
        "patient": patient and ("returning" if patient.returning else "new"),
        "phone_known": patient and patient.phone is not None,
        **visit.model_dump(
            mode="json", include={"reason", "wanted", "slot", "text_sent", "rating"}
        ),
        "plan": visit.insurance and (visit.insurance.plan or "not covered"),
    }
    return json.dumps({name: value for name, value in known.items() if value is not None})


def expects(visit: ClinicState, agent: str, refusal: Refused | None) -> str:
    """Say what kind of answer an agent waits for, for pages that show the fitting buttons."""
    if visit.patient is None:
        return "name"
    if agent == "survey":
        return "yes_no" if visit.text_sent is None else "rating"
    return "yes_no" if visit.wanted is not None else "open"


def policy(clinic: Clinic) -> CallPolicy[ClinicState, Clinic]:
    """Make the policy of one call: the digest, the redaction, the answers that agents wait for."""
    return CallPolicy(
        digest=digest,
        expects=expects,
        redact_input=Redactor(lambda: "US"),
    )
