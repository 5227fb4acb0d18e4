"""The benchmarks run, and a figure that misses its budget is said to. No time is judged here."""

from pathlib import Path

import pytest

from tests.benchmarks import crowds, long_calls
from tests.benchmarks.__main__ import main
from tests.benchmarks.applications import TWELVE_TURNS
from tests.benchmarks.fresh import measured_code
from tests.benchmarks.measuring import ratio
from tests.benchmarks.report import Table, as_markdown, as_text, tally, write_page
from tests.benchmarks.rooms import measure as rooms
from tests.livekit import LiveKit


@pytest.mark.timeout(180)  # it starts a database server, and a busy machine takes its time
def test_a_quick_run_fills_its_tables_and_counts_the_budgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "tables.md"

    main(["turns", "prompts", "transactions", "commits", "--quick", "--markdown", str(page)])

    said = capsys.readouterr().out
    assert "A turn of the restaurant" in said
    assert "One change of a ten-line order" in said
    assert said.splitlines()[-1].startswith("budgets met: ")
    assert "| handoff, journal |" in page.read_text()


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
