"""One call that goes on with a stored state, or begins it."""

from pathlib import Path

import pytest

from state.shared import OtherOwner, SharedState, SqlStore, TakenOver
from tests.state.shared.board import Board, Score


def store(folder: Path, owner: str = "club") -> SqlStore:
    return SqlStore(f"sqlite:///{folder}/boards.db", owner=owner, schema=1)


async def test_a_state_is_begun_once_and_then_gone_on_with(tmp_path: Path) -> None:
    async with store(tmp_path) as first:
        board = await SharedState.open(first, "final", Board(title="Final"), None)
        await board.apply(Score(name="ann"), actor="judge")

    async with store(tmp_path) as second:
        again = await SharedState.open(second, "final", Board(title="another"), None)

    assert (again.version, again.state) == (1, board.state)
    assert again.state.title == "Final"


async def test_the_last_to_open_it_holds_it(tmp_path: Path) -> None:
    async with store(tmp_path) as first, store(tmp_path) as second:
        older = await SharedState.open(first, "final", Board(), None)
        newer = await SharedState.open(second, "final", Board(), None)
        await newer.apply(Score(name="bob"), actor="judge")

        with pytest.raises(TakenOver):
            await older.apply(Score(name="ann"), actor="judge")


async def test_the_state_of_another_owner_is_neither_taken_nor_begun(tmp_path: Path) -> None:
    async with store(tmp_path) as ours, store(tmp_path, owner="others") as theirs:
        await SharedState.open(ours, "final", Board(), None)

        with pytest.raises(OtherOwner):
            await SharedState.open(theirs, "final", Board(), None)
