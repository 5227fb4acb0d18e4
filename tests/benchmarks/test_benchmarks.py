"""The benchmarks run, and a figure that misses its budget is said to. No time is judged here."""

import re
import select
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bella_vista.local.spoken import KINDS
from examples.clinic.visit import ClinicState
from state.order import OrderState, Stage
from state.shared import Journal, SqlStore
from tests.agents.hotel import Stay
from tests.benchmarks import aloud, crowds, long_calls
from tests.benchmarks.__main__ import main
from tests.benchmarks.applications import APPLICATIONS, EACH, HOTEL, TWELVE_TURNS, WARM, Application
from tests.benchmarks.by_hand import clinic as clinic_by_hand
from tests.benchmarks.by_hand import hotel as hotel_by_hand
from tests.benchmarks.by_hand import restaurant as restaurant_by_hand
from tests.benchmarks.driver import HANDOFF, Driver
from tests.benchmarks.fresh import measured_code
from tests.benchmarks.hearing import measure as hearing
from tests.benchmarks.measuring import Samples, Watch, processor, ratio
from tests.benchmarks.report import LIMIT, Table, as_markdown, as_text, budgets, tally, write_page
from tests.benchmarks.rooms import measure as rooms
from tests.benchmarks.rooms import telephone
from tests.benchmarks.sides import OPENING, ByHand, Ours, Side, timed
from tests.clients.toolchain import chromium_program, node_program
from tests.livekit import LiveKit
from tests.sounds import speech_program

pytestmark = pytest.mark.processes


@pytest.mark.timeout(180)  # it starts a database server, and a busy machine takes its time
def test_a_quick_run_fills_its_tables_and_counts_the_budgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "tables.md"

    groups = ["turns", "prompts", "transactions", "commits", "understanding"]
    main([*groups, "--quick", "--markdown", str(page)])

    said = capsys.readouterr().out
    assert "A turn of the restaurant" in said
    assert "A turn of the clinic" in said
    assert "One change of a ten-line order" in said
    assert "a line on 500 dishes" in said
    assert said.splitlines()[-1].startswith("budgets met: ")
    assert "| handoff, journal on disk |" in page.read_text()


def test_without_a_livekit_server_the_rooms_are_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rooms, "find_program", lambda: None)

    main(["rooms", "--quick"])

    said = capsys.readouterr().out
    assert "Rooms were left out" in said
    assert said.splitlines()[-1] == "budgets met: 0 of 0"


@pytest.mark.timeout(300)  # workers are started, and a busy machine takes its time
def test_a_quick_run_in_rooms_fills_its_tables(
    livekit: LiveKit, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["rooms", "--quick"])

    said = capsys.readouterr().out
    assert "A call in a room, beside a bare handler" in said
    assert "From the guest's turn to its notice" in said
    assert "While one caller makes 300 calls at once" in said
    assert "From a killed process to the next agent's answer" in said
    assert "2 rooms of one machine's worker" in said
    assert said.splitlines()[-1].endswith(" of 13")


def test_a_quick_run_aloud_times_the_first_sound_of_each_kind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["aloud", "--quick"])

    said = capsys.readouterr().out
    for kind in aloud.KINDS:
        assert re.search(rf"^{kind}, p95 .* \d+\.\d", said, re.MULTILINE)
    assert said.splitlines()[-1].endswith(" of 7")


@pytest.mark.timeout(300)  # a worker is started, and a busy machine takes its time
def test_a_quick_run_of_spoken_calls_looks_for_gaps(
    livekit: LiveKit, capsys: pytest.CaptureFixture[str]
) -> None:
    speech_program("flite")
    main(["spoken-calls", "--quick"])

    said = capsys.readouterr().out
    assert "2 spoken calls at once" in said
    assert re.search(r"^the longest silence in an answer, ms .* \d+ ", said, re.MULTILINE)
    assert re.search(r"^processor of a call's process +0\.\d+", said, re.MULTILINE)
    assert re.search(r"^memory of a call's process \(PSS\), MiB +[1-9]", said, re.MULTILINE)


@pytest.mark.timeout(300)  # three workers are started, and a busy machine takes its time
def test_a_quick_run_on_the_telephone_times_the_greeting_of_each_side(
    livekit: LiveKit, capsys: pytest.CaptureFixture[str]
) -> None:
    speech_program("flite")
    main(["telephone", "--quick"])

    said = capsys.readouterr().out
    for side in (telephone.PLAIN, telephone.OURS, telephone.LOCAL):
        assert re.search(rf"^{side}  +\d+ +\d+ +\d+ +\d+ +\d+ +\d+\b", said, re.MULTILINE)
    assert said.splitlines()[-1].endswith(" of 2")


@pytest.mark.timeout(300)  # a worker, a web server and a browser are started
def test_a_quick_run_on_the_page_fills_its_table(
    livekit: LiveKit, capsys: pytest.CaptureFixture[str]
) -> None:
    node_program()
    chromium_program()
    main(["page", "--quick"])

    said = capsys.readouterr().out
    assert "The restaurant's page in Chromium" in said
    assert "3 lines: the longest frame" in said
    assert said.splitlines()[-1].endswith(" of 11")


def test_without_a_browser_the_page_is_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    main(["page", "--quick"])

    assert "The page was left out: there is no" in capsys.readouterr().out


def test_a_quick_run_of_spoken_lines_counts_what_was_heard(
    capsys: pytest.CaptureFixture[str],
) -> None:
    speech_program("flite")
    speech_program("espeak-ng")
    main(["speech", "--quick"])

    said = capsys.readouterr().out
    assert "Spoken lines, recognised without a key, %" in said
    assert "2 lines that are no orders" in said
    assert said.splitlines()[-1].endswith(" of 1")


def test_without_its_programs_spoken_lines_are_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    main(["speech", "--quick"])

    assert "there is no flite and no espeak-ng here" in capsys.readouterr().out


def test_there_are_enough_lines_that_were_not_made_up() -> None:
    orders, other_lines = hearing.read_lines()

    assert len(orders) >= 200
    assert len(other_lines) >= 20
    assert {line.expected for line in orders} <= {"open", *KINDS}
    assert len({line.guest for line in orders}) == 8


def test_a_group_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["turn"])

    assert "there is no group turn" in capsys.readouterr().err


@pytest.mark.parametrize("side", ["plain", "ours", "journal"])
async def test_a_crowd_is_held_to_the_end_of_its_calls(side: str) -> None:
    found = await crowds.hold(side, 2, TWELVE_TURNS)

    assert found["median"] > 0


@pytest.mark.parametrize("side", ["plain", "ours"])
async def test_a_long_call_is_looked_at_where_it_was_asked_for(side: str) -> None:
    early, late = await long_calls.hold(side, [2, 6])

    assert late["characters"] > early["characters"]


def test_a_fresh_process_tells_what_it_measured() -> None:
    assert measured_code("print(1 + 1)") == 2


def test_a_fresh_process_that_fails_is_no_figure() -> None:
    with pytest.raises(RuntimeError, match="not possible"):
        measured_code("raise ValueError('not possible')")


def test_a_missed_budget_is_said_to_be_missed() -> None:
    table = Table("Turns", ("ratio",))
    table.add("a slow one", "1.30", measured=1.30, budget=1.25)
    table.add("a quick one", "1.20", measured=1.20, budget=1.25)
    table.add("one without a budget", "9.00")

    assert "missed" in as_text(table)
    assert "| a slow one | 1.30 | 1.25 | missed |" in as_markdown(table)
    assert tally([table]) == "budgets met: 1 of 2"


def test_a_missed_budget_stands_beside_what_the_machine_allowed() -> None:
    table = Table("Writes, ms", ("",), subject="a write")
    table.add("slow disk", "9", measured=9.0, budget=3.0, limit=8.0, limit_is="the bare commit")
    table.add("slow program", "9", measured=9.0, budget=3.0, limit=1.0, limit_is="the bare commit")
    table.add("busy", "9", measured=9.0, budget=3.0, limit_is="plain beside itself: 2.00")
    table.add("quick", "2", measured=2.0, budget=3.0, limit=1.0, limit_is="the bare commit")
    table.add("no budget", "2")

    heading, *lines = budgets([table]).lines()

    assert heading == ("", "measured", "budget", "", LIMIT)
    assert lines == [
        ("a write: slow disk", "9", "3", "missed", "8 (the bare commit): no room"),
        ("a write: slow program", "9", "3", "missed", "1 (the bare commit): room"),
        ("a write: busy", "9", "3", "missed", "plain beside itself: 2.00"),
        ("a write: quick", "2", "3", "met", ""),
    ]


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda one: one.name)
async def test_both_sides_do_the_same_work(application: Application) -> None:
    said: dict[str, list[str]] = {}
    sides: dict[str, Side] = {}
    asked: dict[str, list[int]] = {}
    for name, make in (("ours", application.ours), ("plain", application.by_hand)):
        sides[name] = side = make(application.script())
        await side.open()
        asked[name] = [side.model.asked]
        for turn in application.turns:
            await side.hears(turn.words)
            asked[name].append(side.model.asked)
        said[name] = side.said()
        assert side.model.over()
        await side.close()

    assert asked["ours"] == asked["plain"]
    assert (
        said["ours"]
        == said["plain"]
        == [step.say.strip() for step in application.script() if step.say]
    )
    assert isinstance(sides["ours"], Ours)
    assert isinstance(sides["plain"], ByHand)
    assert kept(sides["ours"].call.state) == kept(sides["plain"].userdata)


def kept(data: object) -> object:
    """What a call knows in the end, on either side."""
    match data:
        case Stay() | hotel_by_hand.Stay():
            return data.guest, data.nights, tuple(data.tickets)
        case OrderState():
            return (
                data.customer_name,
                [
                    (one.name, one.size, one.quantity, *one.modifications)
                    for one in data.order_items
                ],
                data.fulfilment and data.fulfilment.kind,
                [*data.allergies],
                data.stage is Stage.CONFIRMED,
            )
        case ClinicState():
            patient = data.patient
            assert patient is not None
            return patient.name, patient.birth_date, patient.phone, data.reason, data.wanted
        case clinic_by_hand.Visit():
            return data.name, data.birth_date, data.phone, data.reason, data.wanted
        case restaurant_by_hand.Order():
            return (
                data.customer_name,
                [(one.name, one.size, one.quantity, *one.modifications) for one in data.lines],
                data.fulfilment,
                data.allergies,
                data.confirmed,
            )
    raise TypeError(type(data))


async def test_opening_and_every_turn_are_timed_and_what_comes_between_them_is_not() -> None:
    between: list[str] = []

    async def opened() -> Side:
        return HOTEL.by_hand(HOTEL.script())

    async def after(kind: str, times: Samples) -> None:
        between.append(kind)

    times = await timed(opened, HOTEL.turns, after)

    assert between == [turn.kind for turn in HOTEL.turns]
    counted = {kind: between.count(kind) for kind in {*between}} | {OPENING: 1}
    assert {kind: len(taken) for kind, taken in times.items()} == {
        name: count for kind, count in counted.items() for name in (kind, processor(kind))
    }
    assert min(counted[kind] for kind in ("text", "long reply", "tool", "handoff")) == EACH


def test_the_first_operation_of_a_call_is_not_measured() -> None:
    for application in APPLICATIONS:
        kinds = [turn.kind for turn in application.turns]

        assert kinds[:4] == [WARM] * 4


async def test_the_bare_driver_commits_the_rows_that_a_journal_wrote(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with SqlStore(f"sqlite:///{file}", owner="bench", schema=1) as store:
        made = await store.create("call", lambda ordinal: "{}")
        await timed(partial(_opened, HOTEL, made.journal), HOTEL.turns)
    driver, times = Driver(file), Samples()

    driver.commit("tool", times)
    driver.commit("handoff", times)
    await driver.commit_in_thread("tool", times)
    driver.close()

    with closing(sqlite3.connect(file)) as ours, closing(sqlite3.connect(driver.file)) as bare:
        columns = "commands, state, speaker, at, checksum"
        written = set(ours.execute(f"SELECT {columns} FROM entries"))
        copied = list(bare.execute(f"SELECT {columns} FROM entries ORDER BY state_id"))
    assert set(copied) <= written
    assert [HANDOFF in row[0] for row in copied] == [False, True, False]
    assert {*times} == {
        name
        for what in ("tool: bare commit", "handoff: bare commit", "tool: bare commit in a thread")
        for name in (what, processor(what))
    }


async def _opened(application: Application, journal: Journal) -> Side:
    return application.ours(application.script(), journal)


def test_waiting_is_no_work() -> None:
    times = Samples()
    with Watch(times, "waiting"):
        select.select([], [], [], 0.02)

    assert times["waiting"][0] > times[processor("waiting")][0]


def test_a_page_gets_new_figures_and_keeps_its_words(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- figures -->\nold\n<!-- /figures -->\n\nAfter.\n")

    write_page(page, [Table("Turns", ("ratio",))])

    written = page.read_text()
    assert written.startswith("Before.")
    assert written.endswith("After.\n")
    assert "### Turns" in written
    assert "old" not in written


def test_a_ratio_is_that_of_the_medians_over_all_rounds() -> None:
    rounds = [
        {"ours": {"text": [1.0]}, "plain": {"text": [2.0]}},
        {"ours": {"text": [3.0]}, "plain": {"text": [2.0]}},
    ]

    assert ratio(rounds, "ours", "plain", "text").overall == 1.0
