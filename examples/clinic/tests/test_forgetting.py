"""Erasing a patient removes their data from every file and keeps the clinic's statistics."""

import asyncio
from pathlib import Path

import pytest

from agents.app.cli import main
from agents.testing import ScriptedLLM, calls, says
from examples.clinic.app import APP
from examples.clinic.clinic import Clinic
from examples.clinic.tests.kit import MARY, TUESDAY, Front
from examples.clinic.visit import ClinicState
from state.shared import Moment, SharedState, SqlStore, TakenOver

NUMBER = "3125550199"
HERS = ("shelley", "1997-08-30", "555 0199", NUMBER, "m4411", "basic", "dentist hurt me")


def left_of_her(folder: Path) -> list[str]:
    """The pieces of her in the bytes of the database's files, also its log and its leases."""
    files = [file for file in folder.iterdir() if file.name.startswith("visits.db")]
    assert {"visits.db", "visits.db.leases"} <= {file.name for file in files}
    seen = b"".join(file.read_bytes().lower() for file in files)
    return [piece for piece in HERS if piece.encode() in seen]


async def visited(front: Front, store: SqlStore) -> SharedState[ClinicState, Clinic]:
    """A visit that was booked in a room named after the patient's number."""
    visit = await SharedState.open(store, "visit-1", front.after(), front.context)
    room, job = f"call-{NUMBER}", "job-1"
    await store.leases.take(room, job, seconds=60)
    await store.leases.assign(room, job, state_id="visit-1", user=f"sip_{NUMBER}")
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(("identify", MARY), ("set_reason", {"reason": "cleaning"})),
            calls(("set_phone", {"phone": "312 555 0199"}), "transfer_to_insurance"),
            says("Your number?"),
            calls(("check_insurance", {"member_id": "M4411"})),
            says("You are covered."),
            calls("transfer_back"),
            says("And when?"),
            calls(("transfer_to_scheduling", {"when": "not with him, the dentist hurt me"})),
            calls(("choose_slot", {"slot": "tuesday 9:30"})),
            says("Tuesday at 9:30?"),
            calls("book_visit"),
            says("Booked."),
        ]
    )
    async with front.conversation(state=visit, model=model) as talk:
        await talk.user_says("Mary Shelley, 30 August 1997, a cleaning, 312 555 0199")
        await talk.user_says("M4411")
        front.insurer.answers.set()
        await talk.results_told()
        await talk.user_says("Thank you")
        await talk.user_says("Tuesday, and the last dentist hurt me")
        await talk.user_says("Yes")
    await store.record("visit-1", Moment(1, "heard", "user", "I am Mary Shelley, 312 555 0199"))
    return visit


def test_nothing_of_the_patient_is_left_in_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    front = Front(tmp_path)
    monkeypatch.setenv("CLINIC_DATABASE", f"sqlite:///{tmp_path}/visits.db")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "logs"))

    async def visit() -> None:
        async with front.store() as store:
            await visited(front, store)

    asyncio.run(visit())
    assert left_of_her(tmp_path) == list(HERS)

    with pytest.raises(SystemExit) as ended:
        main(APP, ["visits", "forget", "visit-1"])

    said = capsys.readouterr()
    assert (ended.value.code, said.err) == (0, "")
    assert said.out.startswith("Visit visit-1: its user was erased.\n")
    assert "visits.db.leases: nothing left" in said.out
    assert not any(piece in said.out.lower() for piece in HERS)
    assert left_of_her(tmp_path) == []


async def test_the_booking_stays_and_an_agent_in_the_room_writes_no_more(front: Front) -> None:
    from agents.app.forgetting import forget_state

    async with front.store() as store, front.store() as office:
        visit = await visited(front, store)
        report = await forget_state(APP, office, APP.settings.read(), "visit-1", [])
        left = (await office.read("visit-1")).read(ClinicState)

        with pytest.raises(TakenOver):
            await store.record("visit-1", Moment(9, "heard", "user", "It is Mary"))

    assert (report.erased, report.left) == (["visit-1"], [])
    assert left == ClinicState(visit_id="visit-1", reason="cleaning", slot=TUESDAY)
    assert visit.state.patient is not None  # the agent's own copy goes with its process
