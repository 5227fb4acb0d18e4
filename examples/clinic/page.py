"""What the patient's page sees of a visit, and its own method: booking without the agent."""

from pydantic import BaseModel, Field, JsonValue

from examples.clinic.actions import Visit, book
from examples.clinic.visit import ClinicState
from rpc.gateway import AnyMethod, Caller, Method, Request


def view(visit: ClinicState, version: int, agent: str | None) -> dict[str, JsonValue]:
    """Return a visit as clients see it: of the telephone number only the last digits."""
    patient, known = visit.patient, visit.model_dump(mode="json", exclude={"patient", "insurance"})
    return {
        **known,
        "version": version,
        "active_agent": agent,
        "stage": visit.stage,
        "patient": patient and {"name": patient.name, "phone": f"...{(patient.phone or '')[-4:]}"},
        "plan": visit.insurance and visit.insurance.plan,
    }


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
