"""What the patient's page sees of a visit, and its own method: booking without the agent."""

from pydantic import BaseModel, Field, JsonValue

from examples.clinic.actions import Visit, book
from examples.clinic.visit import ClinicState, spoken
from rpc.gateway import AnyMethod, Caller, Method, Request


def view(visit: ClinicState, version: int, agent: str | None) -> dict[str, JsonValue]:
    """Return a visit as clients see it; the telephone number only in part."""
    patient = visit.patient
    return {
        "visit_id": visit.visit_id,
        "version": version,
        "active_agent": agent,
        "stage": visit.stage,
        "patient": {"name": patient.name, "phone": masked(patient.phone)} if patient else None,
        "reason": visit.reason,
        "wanted": visit.wanted.isoformat() if visit.wanted else None,
        "slot": visit.slot.isoformat() if visit.slot else None,
        "plan": visit.insurance.plan if visit.insurance else None,
        "text_sent": visit.text_sent is not None,
        "rating": visit.rating,
        "display": {"slot": spoken(visit.slot)} if visit.slot else {},
    }


def masked(phone: str | None) -> str | None:
    """Leave the last four digits of a telephone number.

    >>> masked("+13125550142")
    '...0142'
    """
    return phone and f"...{phone[-4:]}"


class BookRequest(Request):
    """The payload of ``visit.book``."""

    slot: str = Field(max_length=40)
    version: int = Field(ge=0, le=2**53)
    key: str | None = Field(default=None, min_length=1, max_length=100)


class BookReply(BaseModel):
    """The booked slot, and the version of the visit that has it."""

    version: int
    slot: str


def methods(visit: Visit) -> tuple[AnyMethod, ...]:
    """Return the clinic's own methods."""

    async def answer(request: BookRequest, caller: Caller) -> BookReply:
        slot = visit.context.calendar.named(request.slot)
        key = request.key and f"{caller.role}:{request.key}"
        applied = await book(visit, slot, actor="page", key=key, seen=request.version)
        return BookReply(version=applied.version, slot=slot.isoformat())

    return (Method("visit.book", BookRequest, answer),)
