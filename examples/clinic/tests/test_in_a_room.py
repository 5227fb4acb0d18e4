"""The clinic in a room of a LiveKit server, served by the test's own process."""

import pytest

from agents.testing import calls, says
from examples.clinic.tests.kit import MARY, TUESDAY, Front
from examples.clinic.visit import ClinicState

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


async def test_a_visit_is_booked_by_talk_and_page(front: Front) -> None:
    script = (
        says("Your name?"),
        calls(("identify", MARY), ("set_reason", {"reason": "cleaning"})),
        calls(("set_phone", {"phone": "312 555 0199"}), "transfer_to_scheduling"),
        says("On which day?"),
    )

    async with front.room(*script) as room:
        await room.agent_says("Your name?")
        await room.user_says("Mary Shelley, 30 August 1997, a cleaning, 312 555 0199")
        await room.agent_says("On which day?")
        version = (await room.call("get_visit_state"))["version"]
        booked = await room.call("visit.book", slot="tuesday 9:30", version=version)
    async with front.store() as store:
        stored = await store.read(room.hello["visit_id"])

    assert room.said == ["Your name?", "On which day?"]
    assert booked["slot"] == TUESDAY.isoformat()
    assert stored.read(ClinicState).slot == TUESDAY


async def test_the_model_without_a_key_talks_in_a_room(front: Front) -> None:
    async with front.room() as room:
        await room.agent_says("automatic assistant")
        await room.user_says("I am Ada Lovelace, born 1990-12-10")
        view = (await room.call("get_visit_state"))["visit"]

    assert view["patient"] == {"name": "Ada Lovelace", "phone": "...0142"}
