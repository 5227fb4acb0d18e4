"""What was acknowledged survives a kill; of two holders of a state only the later one writes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from state.shared import SharedState, SqlStore
from tests.state.shared.board import Board, Score

ROOT = Path(__file__).parents[3]
FRIDAY = "friday"


@contextmanager
def process(mode: str, url: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.state.shared.process", mode, url, FRIDAY],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def line_of(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def answer(child: "subprocess.Popen[str]") -> str:
    """Have a holding process write once more."""
    assert child.stdin is not None
    child.stdin.write("again\n")
    child.stdin.flush()
    return line_of(child)


@pytest.fixture
def url(address: str) -> str:
    return address


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(url, owner="club", schema=1) as store:
        await store.create(FRIDAY, lambda ordinal: Board().model_dump_json(), speaker="ann")
        yield store


@pytest.mark.processes
def test_nothing_that_was_acknowledged_is_lost_when_the_process_is_killed(url: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.state.shared.kill_at_random"),
            *("--times", "12", "--database", url),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stderr, done.returncode) == ("", 0)
    assert "12 kills" in done.stdout
    assert "0 lost, 0 damaged" in done.stdout
    assert " 0 changes acknowledged" not in done.stdout
    assert " 0 committed with others" not in done.stdout


@pytest.mark.processes
async def test_of_two_processes_only_the_later_one_writes(store: SqlStore, url: str) -> None:
    with process("hold", url) as older:
        assert line_of(older) == "held"
        assert answer(older) == "1"

        newer = SharedState.restored(await store.take(FRIDAY), Board, None)
        assert answer(older) == "taken_over"
        await newer.apply(Score(name="newer"), actor="newer")
        assert answer(older) == "taken_over"
        assert answer(older) == "taken_over"
        await newer.apply(Score(name="newer"), actor="newer")

    stored = await store.read(FRIDAY)
    assert [entry.actor for entry in stored.entries] == ["child", "newer", "newer"]
    assert Board.model_validate_json(stored.state).scores == {"child": 1, "newer": 2}


@pytest.mark.processes
async def test_staff_write_beside_a_process_that_holds_the_state(store: SqlStore, url: str) -> None:
    with process("hold", url) as holder:
        assert line_of(holder) == "held"

        staff = SharedState.restored(await store.read(FRIDAY), Board, None)
        await staff.apply(Score(name="staff"), actor="staff")
        assert answer(holder) == "2"
        await staff.apply(Score(name="staff"), actor="staff")
        assert answer(holder) == "4"

    stored = await store.read(FRIDAY)
    assert [entry.actor for entry in stored.entries] == ["staff", "child", "staff", "child"]
    assert Board.model_validate_json(stored.state).scores == {"child": 2, "staff": 2}


@pytest.mark.processes
def test_a_process_that_closes_nothing_ends_all_the_same(url: str) -> None:
    with process("leave", url) as child:
        said, trouble = child.communicate()

    assert (said, trouble, child.returncode) == ("left\n", "", 0)

    async def stored_version() -> int:
        async with SqlStore(url, owner="club", schema=1) as store:
            return (await store.read(FRIDAY)).version

    assert asyncio.run(stored_version()) == 1


@pytest.mark.processes
def test_sqlalchemy_is_not_imported_before_it_is_needed() -> None:
    asked = "import sys, state.shared; sys.exit('sqlalchemy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0
