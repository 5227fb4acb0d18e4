"""The clinic in rooms of a real LiveKit server, as ``python -m examples.clinic start`` serves them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from livekit import rtc

from examples.clinic.visit import ClinicState
from state.shared import SqlStore
from tests.livekit import Client, LiveKit, until

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[3]
LONG_S = 90.0
NOTICES = ("your_turn_to_speak", "visit_state_changed", "call_ended")


class Worker:
    """A worker of the clinic, its environment, and what it has logged."""

    def __init__(self, livekit: LiveKit, folder: Path) -> None:
        self.livekit, self.folder = livekit, folder
        self.agent = f"clinic-{token_hex(4)}"
        self.log = folder / "log"
        self.environment = {
            name: text for name, text in os.environ.items() if "LIVEKIT_" not in name
        } | {
            **livekit.environment,
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "CLINIC_AGENT_NAME": self.agent,
            "CLINIC_AT": "2026-11-22T10:00",
            "CLINIC_CALENDAR": str(folder / "calendar.db"),
            "CLINIC_DATABASE": f"sqlite:///{folder}/visits.db",
            "CLINIC_HEALTH_PORT": "0",
            "CLINIC_IDLE": "1",
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "examples.clinic", "start"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def what_happened(self) -> str:
        return self.log.read_text()

    def logged(self, message: str) -> list[dict[str, Any]]:
        lines = (json.loads(line) for line in self.log.read_text().splitlines())
        return [line for line in lines if line["message"].startswith(message)]

    async def tells(self, message: str, times: int = 1) -> dict[str, Any]:
        await until(
            lambda: len(self.logged(message)) >= times or self.process.poll() is not None,
            LONG_S,
            f"{message!r} in the log",
        )
        return self.logged(message)[times - 1]

    async def visit(self, visit_id: str) -> ClinicState:
        url = f"sqlite:///{self.folder}/visits.db"
        async with SqlStore(url, owner="clinic", schema=1) as store:
            return ClinicState.model_validate_json((await store.read(visit_id)).state)

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
async def worker(livekit: LiveKit, tmp_path: Path) -> AsyncIterator[Worker]:
    worker = Worker(livekit, tmp_path)
    try:
        await worker.tells("worker registered")
        yield worker
    finally:
        worker.close()


async def says(client: Client, text: str, turn: int) -> None:
    """Say something and wait until it is the user's turn again."""
    assert await client.call("say", {"text": text}) == {"turn": turn}
    await is_turn(client, turn)


async def is_turn(client: Client, turn: int) -> None:
    await until(
        lambda: any(one["turn"] == turn and one["your_turn"] for one in client.turns),
        LONG_S,
        f"turn {turn}",
    )


async def test_a_visit_in_a_room_goes_on_after_kills(
    worker: Worker, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name, offers=NOTICES) as ada:
        await livekit.dispatch(room_name, agent=worker.agent)
        hello = await ada.hello()
        await is_turn(ada, 0)
        await says(ada, "Hello, I am Ada Lovelace, born 1990-12-10", 1)
        await says(ada, "I have a toothache", 2)
        await says(ada, "Tuesday at 9:30", 3)

        def asked_for_the_day() -> int:
            return sum(text.startswith("On which day") for text in ada.said)

        asked = asked_for_the_day()
        os.kill((await worker.tells("job started"))["pid"], signal.SIGKILL)
        await worker.tells("job started", times=2)
        await until(lambda: ada.agents() and asked_for_the_day() > asked, LONG_S)
        again = await ada.hello()
        await says(ada, "yes", 4)
        await until(lambda: ada.said[-1].startswith("Booked: Tuesday, November 24 at 9:30."))
        await says(ada, "does my insurance pay?", 5)
        await says(ada, "M4411", 6)

        os.kill((await worker.tells("job started", times=2))["pid"], signal.SIGKILL)
        await worker.tells("job started", times=3)
        await until(lambda: "Dental Basic" in ada.said[-1], LONG_S, "the insurer")
        visit = await worker.visit(hello["visit_id"])

    assert again["visit_id"] == hello["visit_id"]
    assert (again["turn"], again["active_agent"]) == (3, "scheduling")
    assert visit.insurance is not None
    assert sum("Dental Basic" in text for text in ada.said) == 1
    assert visit.slot is not None
    assert visit.patient is not None
    assert visit.patient.returning


async def test_a_page_books_beside_the_talk_and_staff_check_the_patient_in(
    worker: Worker, livekit: LiveKit, room_name: str
) -> None:
    staff = {"clinic.role": "staff"}
    async with (
        livekit.joined(room_name, offers=NOTICES) as mary,
        livekit.joined(room_name, attributes=staff, offers=NOTICES) as desk,
    ):
        await livekit.dispatch(room_name, {"user": mary.identity}, agent=worker.agent)
        hello = await mary.hello()
        await is_turn(mary, 0)
        await mary.call("visit.subscribe")
        await says(mary, "I am Mary Shelley, born 1997-08-30", 1)
        await says(mary, "a cleaning, please", 2)
        await says(mary, "312 555 0199", 3)
        version = (await mary.call("get_visit_state"))["version"]
        booked = await mary.call("visit.book", {"slot": "wednesday 10:00", "version": version})
        await until(lambda: mary.called("visit_state_changed")[-1]["version"] >= booked["version"])
        told = "I see you have booked Wednesday, November 25 at 10:00."
        await until(lambda: told in mary.said, LONG_S, f"the comment in {mary.said}")
        await says(mary, "friday 9:00", 4)
        await desk.hello()
        with pytest.raises(rtc.RpcError) as refused:
            await mary.call("visit.apply", {"command": {"op": "check_in"}})
        done = await desk.call("visit.apply", {"command": {"op": "check_in"}})
        agent = mary.agents()[-1]
        await until(lambda: agent.attributes.get("clinic.stage") == "arrived", LONG_S, "the stage")
        visit = await worker.visit(hello["visit_id"])

    assert refused.value.code == 4003
    assert done["visit"]["stage"] == "arrived"
    assert agent.attributes["clinic.active_agent"] == "scheduling"
    assert booked["slot"] == "2026-11-25T10:00:00-06:00"
    assert (visit.arrived, visit.slot is not None) == (True, True)
    assert mary.said.count(told) == 1
    assert "3125550199" not in worker.log.read_text()


async def test_after_the_end_a_page_reads_and_books_no_more(
    worker: Worker, livekit: LiveKit, room_name: str
) -> None:
    async with livekit.joined(room_name, offers=NOTICES) as mary:
        await livekit.dispatch(room_name, agent=worker.agent)
        await mary.hello()
        await is_turn(mary, 0)
        await says(mary, "I am Mary Shelley, born 1997-08-30", 1)
        await says(mary, "a cleaning, please", 2)
        await says(mary, "312 555 0199", 3)
        version = (await mary.call("get_visit_state"))["version"]
        early = {"slot": "tuesday 9:30", "version": version, "key": "early"}
        booked = await mary.call("visit.book", early)
        await mary.call("say", {"text": "that is all"})
        await is_turn(mary, 4)
        await mary.call("say", {"text": "bye"})
        await until(lambda: mary.called("call_ended"), LONG_S, "the end of the call")
        left = await mary.call("get_visit_state")

        late = {"slot": "wednesday 10:00", "version": left["version"]}
        with pytest.raises(rtc.RpcError) as refused:
            await mary.call("visit.book", late)
        command = {"op": "set_reason", "reason": "toothache"}
        with pytest.raises(rtc.RpcError) as changed:
            await mary.call("visit.apply", {"command": command})
        again = await mary.call("visit.book", early)

        for error in (refused.value, changed.value):
            assert (error.code, json.loads(error.data or "")["reason"]) == (4022, "call_over")
        assert again == booked
        assert await mary.call("get_visit_state") == left
