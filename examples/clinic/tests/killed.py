"""A process of the clinic that is killed: ``python -m examples.clinic.tests.killed FOLDER MOMENT``.

It talks about ``visit-1``: asks the insurer, or books Tuesday at 9:30 and sends a message. At the moment
named it writes a line to standard output and kills itself, as a lost machine would.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from agents.testing import ScriptedLLM, calls, says
from examples.clinic.calendar import Calendar
from examples.clinic.tests.kit import MARY, Front
from state.shared import SharedState


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


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
