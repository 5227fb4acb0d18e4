"""A process of the clinic that is killed: ``python -m examples.clinic.tests.killed FOLDER MOMENT``.

It talks about ``visit-1``: asks the insurer, or books Tuesday at 9:30 and sends a message. At the moment
named it writes a line to standard output and kills itself, as a lost machine would. ``words`` is the moment
after what a client says is acknowledged, in a call as rooms have it; the line is the visit's id then.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from agents.app.job_metadata import JobMetadata
from agents.app.rooms.state_of_call import Opened, open_for
from agents.app.transcript import CallRecord
from agents.handoff import start_text
from agents.testing import ScriptedLLM, calls, says
from examples.clinic.app import APP
from examples.clinic.calendar import Calendar
from examples.clinic.clinic import Clinic
from examples.clinic.page import PATIENT
from examples.clinic.tests.kit import MARY, SUNDAY, Front
from examples.clinic.visit import ClinicState
from rpc.gateway import Caller
from rpc.page import Session
from state.shared import Lease, SharedState, SqlStore


def die(moment: str) -> None:
    """Say which moment it is, and end at once."""
    sys.stdout.write(f"{moment}\n")
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


class DyingCalendar(Calendar):
    """Holds a slot, and never comes to say so."""

    async def take(self, slot: datetime, visit_id: str) -> None:
        await super().take(slot, visit_id)
        die("the calendar holds the slot")


class DyingPartners:
    """An insurer and a message service that act, and never come to say so. The key is in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    async def plan(self, member_id: str, birth_date: date, *, key: str) -> str | None:
        self.file.write_text(key)
        die("the insurer is asked")
        return None

    async def send(self, phone: str, text: str, *, key: str) -> None:
        self.file.write_text(key)
        die("the message is sent")


async def main(folder: Path, moment: str) -> None:
    front = Front(folder)
    if moment == "calendar":
        front.context.calendar.__class__ = DyingCalendar
    partners = DyingPartners(folder / "key")
    front.context = replace(front.context, insurer=partners, messages=partners)
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(("identify", MARY), ("set_reason", {"reason": "cleaning"})),
            calls(
                ("set_phone", {"phone": "312 555 0199"}),
                "transfer_to_insurance" if moment == "insurer" else "transfer_to_scheduling",
            ),
            says("And then?"),
            calls(
                ("check_insurance", {"member_id": "M4411"})
                if moment == "insurer"
                else ("choose_slot", {"slot": "tuesday 9:30"})
            ),
            says("Shall I book it?"),
            calls("book_visit"),
            calls("transfer_to_survey"),
            calls("send_text"),
            says("May I?"),
            calls("send_text"),
            says("Sent."),
        ]
    )
    async with front.store() as store:
        visit = await SharedState.open(store, "visit-1", front.state(), front.context)
        async with front.conversation(state=visit, model=model) as talk:
            await talk.user_says("Mary Shelley, 30 August 1997, a cleaning, 312 555 0199")
            await talk.user_says("M4411, Tuesday at 9:30")
            if moment == "between":
                die("the slot is chosen")
            await talk.user_says("Yes. That is all.")
            await talk.user_says("Yes")


class RoomCall:
    """A call as a room has it: what a client says is stored before it is acknowledged."""

    def __init__(self, opened: Opened[ClinicState, Clinic], store: SqlStore) -> None:
        self.call = APP.call(
            opened.shared,
            resumed=opened.resumed,
            turn=opened.prior.turn,
            preamble=opened.preamble,
        )
        self.call.answer(opened.prior.unanswered)
        self.record = CallRecord(self.call, store, channel="web_text")
        self.session = Session(
            APP.page_spec,
            self.call.shared,
            self.call,
            state_id=opened.shared.state_id,
            agent=APP.name,
            spoken=opened.prior.spoken,
            store=self.record.say,
        )

    @classmethod
    async def opened(cls, store: SqlStore, clinic: Clinic, visit: str | None) -> "RoomCall":
        metadata = JobMetadata(state_id=visit)
        free = Lease("room", "clinic", None, SUNDAY, SUNDAY)
        opened = await open_for(
            APP, store, clinic, metadata, free, user="mary", channel="web_text", secret="s" * 32
        )
        return cls(opened, store)

    async def say(self, words: str, key: str) -> int:
        return await self.session.say(words, Caller(identity="mary", role=PATIENT), key)


async def killed_after_words(folder: Path) -> None:
    never = asyncio.Event()
    model = ScriptedLLM([says("Your name?"), says("Thank you.", until=never)])
    front = Front(folder)
    async with front.store() as store:
        talk = await RoomCall.opened(store, front.context, None)
        await start_text(talk.call, model)
        await talk.call.answered()
        await talk.say(NAME, "k")
        die(talk.call.shared.state_id)


NAME = "I am Mary Shelley, born 1997-08-30"

if __name__ == "__main__":
    at, moment = Path(sys.argv[1]), sys.argv[2]
    asyncio.run(killed_after_words(at) if moment == "words" else main(at, moment))
