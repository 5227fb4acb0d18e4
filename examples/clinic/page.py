"""The patient's page: the view of a visit, the clients' commands, and the booking method."""

from pydantic import BaseModel, Field, JsonValue

from agents.app.parts import Changes, Comment
from examples.clinic.actions import book
from examples.clinic.clinic import Clinic
from examples.clinic.commands import CheckIn, ChooseSlot, SetPhone, SetReason
from examples.clinic.visit import ClinicState, Reason, Stage, spoken
from rpc.gateway import Caller, Request
from rpc.page import PageMethod, Session

PATIENT, STAFF = "patient", "staff"  # the patient is the user; staff have a token that says so
ROLES = {PATIENT: (SetPhone, SetReason, ChooseSlot), STAFF: (CheckIn,)}


class PatientView(BaseModel, extra="forbid"):
    """A patient: of the telephone number only the last digits."""

    name: str
    phone: str | None


class VisitView(BaseModel, extra="forbid"):
    """A visit as clients see it. Times are ISO 8601 with offset."""

    visit_id: str
    version: int
    active_agent: str | None
    stage: Stage
    patient: PatientView | None
    reason: Reason | None
    wanted: str | None
    slot: str | None
    plan: str | None
    text_sent: str | None
    rating: int | None
    arrived: bool


def view(visit: ClinicState, version: int, agent: str | None) -> dict[str, JsonValue]:
    """Return a visit as clients see it: of the telephone number only the last digits."""
    patient, known = visit.patient, visit.model_dump(mode="json", exclude={"patient", "insurance"})
    return {
        **known,
        "version": version,
        "active_agent": agent,
        "stage": visit.stage,
        "patient": patient
        and {"name": patient.name, "phone": patient.phone and f"...{patient.phone[-4:]}"},
        "plan": visit.insurance and visit.insurance.plan,
    }


def comment(changes: Changes[ClinicState, Clinic]) -> Comment | None:
    """Word the comment on changes that the patient made on their page."""
    before, visit = changes.stretches[0][0], changes.state
    if visit.slot is not None and visit.slot != before.slot:
        return Comment("booking", f"I see you have booked {spoken(visit.slot)}.")
    if visit.wanted is not None and visit.wanted != before.wanted:
        return Comment("slot", f"I see you chose {spoken(visit.wanted)}. Shall I book it?")
    return None


class BookRequest(Request):
    """The payload of ``visit.book``."""

    slot: str = Field(max_length=40)
    version: int = Field(ge=0, le=2**53)
    key: str | None = Field(default=None, min_length=1, max_length=100)


class BookReply(BaseModel):
    """The booked slot, and the version of the visit that has it."""

    version: int
    slot: str


async def _book(
    session: Session[ClinicState, Clinic], request: BookRequest, caller: Caller
) -> BookReply:
    visit = session.shared
    slot = visit.context.calendar.named(request.slot)
    key = session.own_key(caller, request.key) if request.key else None
    applied = await book(visit, slot, actor=PATIENT, key=key, seen=request.version)
    return BookReply(version=applied.version, slot=slot.isoformat())


BOOK = PageMethod[ClinicState, Clinic](
    name="visit.book",
    request=BookRequest,
    replies=(BookReply,),
    answer=_book,
    roles=(PATIENT,),
    errors=(4009, 4010, 4022),
)
