"""The ``replay`` command: what it prints, writes and returns, on a small application."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from livekit.agents.llm import LLM

from agents.app.app import App
from agents.app.cli import main
from agents.app.replay.report import FileResult, Table, sums
from agents.app.replay.running import Failure, Run
from agents.testing import ScriptedLLM, says
from tests.agents.app.test_declaration import LIBRARY, Loan, declared
from tests.bella_vista.small_restaurant import MENU

ROOT = Path(__file__).parents[4]
HOLDS = "turns: [{user: Emma, said: yours, agent: clerk}]\n"
FAILS = "turns:\n- user: Emma\n  said: mine\n  state: {title: Emma, pages: 0}\n"

pytestmark = pytest.mark.usefixtures("logs_as_before")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, app: App[Loan, str] = LIBRARY) -> int:
    with pytest.raises(SystemExit) as stop:
        main(app, ["replay", *arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


def table(out: str) -> list[list[str]]:
    """The rows of the table without their seconds."""
    rows = [line.split() for line in out.partition("\n\n")[0].splitlines()]
    return [[cell for place, cell in enumerate(row) if place != 2] for row in rows]


def test_the_table_tells_what_passed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "holds.yaml").write_text(HOLDS)
    (folder / "fails.yaml").write_text(FAILS)

    assert run("holds.yaml") == 0
    out = capsys.readouterr().out
    assert table(out) == [["conversation", "turns", "result"], ["holds.yaml", "1", "passed"]]
    assert "\n\n1 of 1 conversation passed, " in out

    assert run("holds.yaml", "fails.yaml") == 1
    out = capsys.readouterr().out
    assert table(out)[1:] == [["holds.yaml", "1", "passed"], ["fails.yaml", "1", "FAILED"]]
    assert "\x1b" not in out
    assert out.split("\n\n")[1].splitlines() == [
        'fails.yaml:2: turn 1 of 1 ("Emma")',
        '  said: expected "mine", no agent said it',
        "  title: expected Emma, got null",
        "  what happened:",
        "    clerk: It is yours.",
    ]
    assert out.split("\n\n")[2].startswith("1 of 2 conversations passed, ")


def test_folders_and_patterns_name_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a/2.yaml", "a/1.yml", "a/menus/no.yaml", "b/3.yaml", "b/notes.txt", "a/.4.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(HOLDS if name[2].isdigit() else "no conversation")

    assert run("b/*.yaml", "a", "a/2.yaml") == 0

    names = [row[0] for row in table(capsys.readouterr().out)[1:]]
    assert names == ["b/3.yaml", "a/1.yml", "a/2.yaml"]


def test_every_fault_of_every_file_is_told_and_nothing_is_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "holds.yaml").write_text(HOLDS)
    (folder / "one.yaml").write_text("turn: []\nend: 3\n")
    (folder / "two.yaml").write_text(HOLDS + "model: oracle\n")
    (folder / "three.yaml").write_text(HOLDS + "model: script:none.yaml\n")
    (folder / "four.yaml").write_text(HOLDS + "loan: {pages: many}\n")

    assert run("holds.yaml", "one.yaml", "two.yaml", "three.yaml", "four.yaml") == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert [line.split(": ")[0] for line in told.err.splitlines()] == [
        *("one.yaml:1", "one.yaml:1", "one.yaml:2", "two.yaml:2", "none.yaml", "four.yaml:2"),
    ]


@pytest.mark.parametrize("argument", ["none.yaml", "empty", "*.yaml", "holds.yaml --junit no/x"])
def test_an_unusable_argument_is_a_fault(
    argument: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    (folder / "holds.yml").write_text(HOLDS)

    assert run(*argument.replace("holds.yaml", "holds.yml").split()) == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1


def every_second_time() -> App[Loan, str]:
    """A library whose clerk gives every second user another book."""
    times = count()

    def model(context: str, settings: Any) -> LLM[Any]:
        mine = next(times) % 2
        return ScriptedLLM([says("Which book?"), says("It is mine." if mine else "It is yours.")])

    return declared(model=model)


def test_a_file_passes_if_all_its_runs_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "holds.yaml").write_text("turns: [{user: Emma, said: it is}]\n")
    (folder / "sometimes.yaml").write_text(HOLDS)

    assert run("holds.yaml", "sometimes.yaml", "--repeat", "4", app=every_second_time()) == 1

    out = capsys.readouterr().out
    assert table(out) == [
        ["conversation", "turns", "passed", "result"],
        ["holds.yaml", "1", "4/4", "passed"],
        ["sometimes.yaml", "1", "2/4", "FAILED"],
    ]
    assert "\n\nruns 2, 4 of 4:\nsometimes.yaml:1: turn 1 of 1" in out
    assert "1 of 2 conversations passed all 4 runs (pass^4 50%), 6 of 8 runs passed, " in out
    assert run("holds.yaml", "--repeat", "0") == 2


def test_the_junit_report_has_the_failures_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "holds.yaml").write_text(HOLDS)
    (folder / "fails.yaml").write_text(FAILS.replace("said: mine", 'said: "\\a<&\\uFFFE"'))
    (folder / "report.xml").write_text("of the run before")

    assert run("holds.yaml", "fails.yaml", "--junit", "report.xml") == 1

    (suite,) = ElementTree.parse(folder / "report.xml").getroot()
    assert {name: suite.attrib[name] for name in ("name", "tests", "failures", "errors")} == {
        "name": "city-library",
        "tests": "2",
        "failures": "1",
        "errors": "0",
    }
    assert [case.attrib["name"] for case in suite] == ["holds", "fails"]
    assert list(suite[0]) == []
    (failure,) = suite[1]
    assert failure.attrib["message"].startswith('turn 1 of 1 ("Emma"): said: expected ')
    printed = capsys.readouterr().out.split("\n\n")[1]
    assert failure.text is not None
    assert failure.text.replace("\ufffd<&\ufffd", "") == printed.replace("<&\ufffe", "")
    assert [path.name for path in folder.iterdir() if path.suffix == ".tmp"] == []


def test_an_application_that_breaks_costs_only_its_own_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = count()

    def model(context: str, settings: Any) -> LLM[Any]:
        if next(times) == 0:
            raise KeyError("no shelf")
        return ScriptedLLM([says("Which book?"), says("It is yours.")])

    for name in ("one.yaml", "two.yaml"):
        (folder / name).write_text(HOLDS)

    assert run("one.yaml", "two.yaml", app=declared(model=model)) == 1

    out = capsys.readouterr().out
    assert [row[-1] for row in table(out)[1:]] == ["FAILED", "passed"]
    assert "one.yaml:1: the run\n  it broke off: model: KeyError: 'no shelf' (" in out


@pytest.fixture
def hanging(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    (folder / "one.yaml").write_text("script: [{say: a}, {say: b}]\nturns: [{user: hello}]\n")
    hangs = "script: [{say: a, delay: 60}, {say: b}]\nturns: [{user: hello}]\n"
    (folder / "two.yaml").write_text(hangs)
    (folder / "three.yaml").write_text(hangs)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bella_vista", "replay", "one.yaml", "two.yaml", "three.yaml"),
            *("--menu", str(MENU), "--junit", "report.xml"),
        ],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.processes
def test_ctrl_c_shows_what_has_been_done(hanging: "subprocess.Popen[str]", folder: Path) -> None:
    assert hanging.stdout is not None
    head, row = hanging.stdout.readline(), hanging.stdout.readline()

    hanging.send_signal(signal.SIGINT)
    out, err = hanging.communicate()

    assert head.split() == ["conversation", "turns", "seconds", "result"]
    assert (row.split()[0], row.split()[-1]) == ("one.yaml", "passed")
    assert out.startswith("\n1 of 3 conversations passed, 2 not run to the end, ")
    assert (hanging.returncode, err) == (130, "")
    (suite,) = ElementTree.parse(folder / "report.xml").getroot()
    assert [[inner.tag for inner in case] for case in suite] == [[], ["skipped"], ["skipped"]]


def result(name: str, *runs: Run, wanted: int = 1) -> FileResult:
    return FileResult(Path(name), 3, wanted, [*runs])


WRONG = Failure("c.yaml", 1, "turn 1", ("total: expected 1, got 2",))


def test_a_terminal_of_80_columns_holds_the_table_and_the_failures() -> None:
    results = [
        result(f"conversations/{'a-long-name-' * 6}.yaml", Run((), 12.345, 17), wanted=3),
        result("short.yaml", Run((WRONG,), 0.1), wanted=3),
    ]
    shown = Table(results, calls=True, columns=80, colour=False)

    lines = [shown.head(), *map(shown.row, results)]
    assert all(len(line) < 80 for line in lines)
    assert lines[1].startswith("…")
    assert "a-long-name-.yaml" in lines[1]
    assert lines[1].split()[1:] == ["3", "17", "12.35", "1/3", "interrupted"]
    assert lines[2].split()[1:] == ["3", "0", "0.10", "0/3", "FAILED"]

    wrapped = list(shown.failure(f"c.yaml:1: turn 1\n  what happened:\n    {'words ' * 30}"))
    assert all(len(line) < 80 for line in wrapped)
    assert [len(line) - len(line.lstrip()) for line in wrapped] == [0, 2, 4, 8, 8]


def test_names_that_are_too_long_are_shown_without_their_folder() -> None:
    folder = "tests/conversations/of-a-long-evening"
    results = [result(f"{folder}/{name}.yaml", Run((), 1.0)) for name in ("the-first-one", "last")]

    names = [
        [
            Table(results, calls=False, columns=columns, colour=False).row(one).split()[0]
            for one in results
        ]
        for columns in (120, 80, None)
    ]

    whole = [f"{folder}/the-first-one.yaml", f"{folder}/last.yaml"]
    assert names == [whole, ["the-first-one.yaml", "last.yaml"], whole]


def test_a_terminal_shows_results_in_colour() -> None:
    results = [
        result("c.yaml", Run((), 1.0)),
        result("c\x1b[2J.yaml", Run((WRONG,), 1.0)),
    ]
    shown = Table(results, calls=False, columns=80, colour=True)

    assert shown.row(results[0]).endswith("\x1b[32mpassed\x1b[0m")
    assert shown.row(results[1]).count("\x1b") == 2


def test_an_interrupted_conversation_counts_neither_as_passed_nor_as_failed() -> None:
    results = [
        result("a.yaml", Run((), 1.0), Run((), 1.0), wanted=2),
        result("b.yaml", Run((), 1.0), wanted=2),
        result("c.yaml", wanted=2),
    ]

    assert sums(results) == (
        "1 of 3 conversations passed all 2 runs (pass^2 100%), 3 of 3 runs passed,"
        " 2 not run to the end, 3.0 s"
    )
