"""The clinic as a livekit developer writes it by hand: four agents, typed function tools, a dataclass.

The instructions and the tools are those of ``examples/clinic``. It checks what a careful developer checks:
that a slot exists, and that enough is known. It keeps no versions, undoes nothing and stores nothing.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import yaml
from livekit.agents import Agent, RunContext, ToolError, function_tool

from tests.benchmarks.by_hand.carrying import carried

SUNDAY = datetime.fromisoformat("2026-11-22T10:00:00-06:00")
_SLOT = timedelta(minutes=30)
_MANNERS = (
    "Ask for one thing at a time, in one or two short sentences. Give no medical advice. Today is Sunday,"
    " 2026-11-22."
)


@dataclass
class Visit:
    """What the agents share."""

    name: str | None = None
    birth_date: date | None = None
    phone: str | None = None
    reason: str | None = None
    wanted: datetime | None = None
    slot: datetime | None = None
    plan: str | None = None
    rating: int | None = None


@cache
def slots() -> dict[str, datetime]:
    """Read the clinic's hours: every slot of the next days, by weekday and time."""
    file = Path(__file__).parents[3] / "examples" / "clinic" / "clinic.yaml"
    facts = yaml.safe_load(file.read_text(encoding="utf-8"))
    found: dict[str, datetime] = {}
    for ahead in range(7):
        day = SUNDAY.date() + timedelta(days=ahead)
        first, last = facts["hours"].get(f"{day:%A}".lower(), ("00:00", "00:00"))
        zone = ZoneInfo(facts["timezone"])
        slot, end = (datetime.combine(day, time.fromisoformat(at), zone) for at in (first, last))
        while slot < end:
            found[f"{slot:%A} {slot.hour}:{slot:%M}".lower()] = slot
            slot += _SLOT
    return found


class ClinicAgent(Agent):
    """What all four do."""

    task: str
    opens_with = "Say what comes next."

    def __init__(self, **more: Any) -> None:
        super().__init__(instructions=f"{self.task} {_MANNERS}", **more)

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions=self.opens_with, tool_choice="none")

    @function_tool
    async def ask_clinic(self, ctx: RunContext[Visit]) -> str:
        """Where the clinic is, and what is known of this visit."""
        return "Maple Street Dental is at 12 Maple Street."

    @function_tool
    async def end_call(self, ctx: RunContext[Visit]) -> str:
        """End the call, when the patient says goodbye. Then say goodbye in one sentence."""
        return "Goodbye."


class WithReason(ClinicAgent):
    """What Reception and Scheduling do."""

    @function_tool
    async def set_reason(
        self,
        ctx: RunContext[Visit],
        reason: Literal["check_up", "cleaning", "toothache", "other"],
    ) -> str:
        """Store why the patient wants to come."""
        ctx.userdata.reason = reason
        return "Done."

    @function_tool
    async def transfer_to_insurance(self, ctx: RunContext[Visit]) -> Agent:
        """Hand over when the patient asks about insurance."""
        return InsuranceDesk(chat_ctx=carried(self))


class Reception(WithReason):
    """Finds out who is calling and why."""

    task = (
        "You are Reception at Maple Street Dental. Find out full name, birth date and reason; of new patients"
        " also the telephone number."
    )

    @function_tool
    async def identify(self, ctx: RunContext[Visit], name: str, birth_date: str) -> str:
        """Store who the patient is. Call it once you know full name and birth date."""
        ctx.userdata.name = name
        ctx.userdata.birth_date = date.fromisoformat(birth_date)
        return "Done."

    @function_tool
    async def set_phone(self, ctx: RunContext[Visit], phone: str) -> str:
        """Store the telephone number of the patient."""
        if ctx.userdata.name is None:
            raise ToolError("The name is needed first.")
        ctx.userdata.phone = phone.replace(" ", "")
        return "Done."

    @function_tool
    async def transfer_to_scheduling(
        self, ctx: RunContext[Visit], when: str | None = None
    ) -> Agent:
        """Hand over as soon as name, birth date, phone and reason are known."""
        visit = ctx.userdata
        if visit.name is None or visit.phone is None or visit.reason is None:
            raise ToolError("Name, phone and reason are needed first.")
        return Scheduling(chat_ctx=carried(self))


class Scheduling(WithReason):
    """Finds a slot and books it."""

    task = (
        "You are Scheduling at Maple Street Dental. Offer two or three free slots, repeat the chosen one with"
        " day and time, and book it when the patient says yes."
    )
    opens_with = "Offer free slots."

    @function_tool
    async def find_slots(self, ctx: RunContext[Visit]) -> str:
        """List the next free slots."""
        return f"These are free: {'; '.join([*slots()][:6])}."

    @function_tool
    async def choose_slot(self, ctx: RunContext[Visit], slot: str) -> str:
        """Choose a slot. It is not booked yet: say day and time, and ask whether to book it."""
        if (found := slots().get(slot.lower())) is None:
            raise ToolError("There is no such slot. Offer another.")
        ctx.userdata.wanted = found
        return "Done."

    @function_tool
    async def book_visit(self, ctx: RunContext[Visit]) -> str:
        """Book the chosen slot, after the patient has said yes to its day and time."""
        if ctx.userdata.wanted is None:
            raise ToolError("A slot is needed first.")
        ctx.userdata.slot, ctx.userdata.wanted = ctx.userdata.wanted, None
        return "Booked."

    @function_tool
    async def transfer_to_reception(self, ctx: RunContext[Visit]) -> Agent:
        """Hand over to correct name, birth date or phone."""
        return Reception(chat_ctx=carried(self))

    @function_tool
    async def transfer_to_survey(self, ctx: RunContext[Visit]) -> Agent:
        """Hand over when the visit is booked and the patient wants nothing else."""
        if ctx.userdata.slot is None:
            raise ToolError("Nothing is booked yet.")
        return Survey(chat_ctx=carried(self))


class InsuranceDesk(ClinicAgent):
    """Asks the insurer."""

    task = (
        "You are Insurance at Maple Street Dental. Ask for the member number, have it checked, and hand back"
        " when the patient has an answer or wants something else."
    )

    @function_tool
    async def check_insurance(self, ctx: RunContext[Visit], member_id: str) -> str:
        """Ask the insurer whether the patient is covered."""
        ctx.userdata.plan = "Dental Basic"
        return "Covered."

    @function_tool
    async def transfer_back(self, ctx: RunContext[Visit]) -> Agent:
        """Hand back when nothing about insurance is left to say."""
        return Scheduling(chat_ctx=carried(self))


class Survey(ClinicAgent):
    """Asks how the call was."""

    task = "You are Survey at Maple Street Dental. Ask for a rating from one to five, then say goodbye."

    @function_tool
    async def rate(self, ctx: RunContext[Visit], rating: int) -> str:
        """Store how the patient found this call."""
        ctx.userdata.rating = rating
        return "Done."
