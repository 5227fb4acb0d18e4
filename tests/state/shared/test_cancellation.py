"""Whatever is cancelled, and whenever: journal, version and state agree."""

import asyncio
from pathlib import Path

import pytest

from state.shared import Applied, NotStored, SharedState, SqlStore, VersionTaken
from tests.state.shared.board import Board, Paper, Score, board, points

pytestmark = pytest.mark.usefixtures("no_complaints")


async def cancelled_after(rounds: int, work: "asyncio.Task[Applied[Board]]") -> bool:
    """Cancel a task after so many rounds of the loop; whether it did its work all the same."""
    for _ in range(rounds):
        await asyncio.sleep(0)
    work.cancel()
    outcome = (await asyncio.gather(work, return_exceptions=True))[0]
    return isinstance(outcome, Applied)


@pytest.mark.parametrize("rounds", range(12))
async def test_a_lone_writer_is_cancelled_at_any_moment(rounds: int) -> None:
    paper = Paper(rounds=6)
    shared = board(journal=paper)

    done = await cancelled_after(
        rounds, asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    )
    await shared.apply(Score(name="bob"), actor="judge")

    assert len(paper.entries) == shared.version == points(shared) == done + 1


async def test_a_change_that_has_begun_to_be_written_is_told_as_done() -> None:
    paper = Paper(rounds=6)
    shared = board(journal=paper)

    assert not await cancelled_after(
        0, asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    )
    assert await cancelled_after(
        3, asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    )
    assert shared.version == 1


@pytest.mark.parametrize("rounds", range(12))
async def test_a_writer_is_cancelled_again_and_again(rounds: int) -> None:
    paper = Paper(rounds=6)
    shared = board(journal=paper)
    work = asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    for _ in range(rounds):
        await asyncio.sleep(0)

    while not work.done():
        work.cancel()
        await asyncio.sleep(0)

    assert len(paper.entries) == shared.version == points(shared) == (not work.cancelled())


@pytest.mark.parametrize("rounds", range(30))
async def test_one_of_several_writers_is_cancelled(rounds: int) -> None:
    paper = Paper(rounds=4)
    shared = board(journal=paper)
    writers = [asyncio.create_task(shared.apply(Score(name="ann"), actor=str(n))) for n in range(4)]

    done = await cancelled_after(rounds, writers[1])
    others = await asyncio.gather(writers[0], writers[2], writers[3])

    assert len(paper.entries) == shared.version == points(shared) == len(others) + done


@pytest.mark.parametrize("rounds", range(12))
async def test_a_writer_whose_change_cannot_be_stored_is_cancelled(rounds: int) -> None:
    paper = Paper(rounds=6, trouble=lambda entry: NotStored("the disk is full"))
    shared = board(journal=paper)

    done = await cancelled_after(
        rounds, asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    )
    paper.trouble = lambda entry: None
    await shared.apply(Score(name="bob"), actor="judge")

    assert not done
    assert (shared.version, shared.state.scores) == (1, {"bob": 1})


@pytest.mark.parametrize("rounds", range(30))
async def test_a_writer_is_cancelled_while_it_takes_in_what_others_wrote(rounds: int) -> None:
    paper = Paper(rounds=6, trouble=lambda entry: VersionTaken() if entry.version == 1 else None)
    paper.somebody_wrote(Board(scores={"bob": 1}), touched=("scores/bob",))
    shared = board(journal=paper)

    done = await cancelled_after(
        rounds, asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
    )
    await shared.apply(Score(name="ann"), actor="judge")

    assert len(paper.entries) == shared.version == points(shared) == 2 + done


@pytest.mark.parametrize("rounds", range(12))
async def test_a_time_limit_that_runs_out_in_the_commit_does_not_unsay_it(rounds: int) -> None:
    paper = Paper(rounds=6)
    shared = board(journal=paper)
    loop = asyncio.get_running_loop()
    done: list[bool] = []

    async def within_limit() -> bool:
        try:
            async with asyncio.timeout(None) as limit:

                def run_out(left: int) -> None:
                    if left:
                        loop.call_soon(run_out, left - 1)
                    elif not done:
                        limit.reschedule(loop.time())

                loop.call_soon(run_out, rounds)
                await shared.apply(Score(name="ann"), actor="judge")
                done.append(True)
                return True
        except TimeoutError:
            return False

    told = await within_limit()

    assert len(paper.entries) == shared.version == points(shared) == told


async def test_on_a_real_disk_rows_version_and_state_stay_one(tmp_path: Path) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1) as store:
        stored = await store.create("friday", lambda ordinal: Board().model_dump_json())
        shared = SharedState.restored(stored, Board, None)
        done = 0
        for rounds in range(120):
            writers = [
                asyncio.create_task(shared.apply(Score(name="ann"), actor=str(n))) for n in range(3)
            ]
            done += await cancelled_after(rounds, writers[rounds % 3])
            done += len(await asyncio.gather(*(w for w in writers if w is not writers[rounds % 3])))

        rows = await store.read("friday")

    assert [entry.version for entry in rows.entries] == list(range(1, done + 1))
    assert rows.state == shared.state.model_dump_json()
    assert shared.version == points(shared) == done
    assert done > 240, "some of those that were cancelled had begun to be written"
