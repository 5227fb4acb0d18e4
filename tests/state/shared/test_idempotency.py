"""A key makes it safe to ask twice."""

import asyncio

import pytest

from state.shared import KeyReused, Refused, SharedState, TakenOver, VersionTaken
from tests.state.shared.board import Board, Paper, Rename, Score, Wipe, board, stored_from


async def test_the_second_time_nothing_happens_and_the_answer_is_the_first() -> None:
    paper = Paper()
    shared = board(journal=paper)
    first = await shared.apply(Score(name="ann"), actor="page", key="k1")
    await shared.apply(Rename(title="Final"), actor="judge")

    second = await shared.apply(Score(name="ann"), actor="page", key="k1")

    assert second == first
    assert (shared.version, shared.state.scores, len(paper.entries)) == (2, {"ann": 1}, 2)


async def test_the_version_a_repeated_request_has_seen_does_not_matter() -> None:
    shared = board()
    first = await shared.apply(Wipe(), actor="page", key="k1", seen=0)
    await shared.apply(Wipe(), actor="judge")

    assert await shared.apply(Wipe(), actor="page", key="k1", seen=0) == first


async def test_the_same_key_for_something_else_is_refused() -> None:
    shared = board()
    await shared.apply(Score(name="ann"), actor="page", key="k1")

    with pytest.raises(KeyReused):
        await shared.apply(Score(name="ann", by=2), actor="page", key="k1")
    with pytest.raises(KeyReused):
        await shared.apply(Score(name="ann"), Score(name="ann"), actor="page", key="k1")

    assert shared.state.scores == {"ann": 1}


async def test_the_same_request_twice_at_once_acts_once() -> None:
    shared = board(journal=Paper(rounds=3))

    answers = await asyncio.gather(
        *(shared.apply(Score(name="ann"), actor="page", key="k1") for _ in range(5))
    )

    assert {answer.version for answer in answers} == {1}
    assert shared.state.scores == {"ann": 1}


async def test_what_was_refused_may_be_asked_again_under_its_key() -> None:
    shared = board()

    with pytest.raises(Refused):
        await shared.apply(Score(name="ann", by=101), actor="page", key="k1")
    await shared.apply(Score(name="ann", by=1), actor="page", key="k1")

    assert shared.version == 1


async def test_a_key_is_known_after_a_restart() -> None:
    paper = Paper()
    shared = board(journal=paper)
    first = await shared.apply(Score(name="ann"), actor="page", key="k1")
    await shared.apply(Rename(title="Final"), actor="judge")
    again = SharedState.restored(stored_from(paper), Board, None)

    second = await again.apply(Score(name="ann"), actor="page", key="k1")
    with pytest.raises(KeyReused):
        await again.apply(Score(name="bob"), actor="page", key="k1")

    assert (second.version, second.state, second.ops) == (1, first.state, ("score",))
    assert second.before == second.state
    assert again.version == 2


async def test_a_key_used_concurrently_elsewhere_acts_once() -> None:
    paper = Paper(trouble=lambda entry: VersionTaken() if entry.version == 1 else None)
    paper.somebody_wrote(Board(title="Final"), touched=("title",), key="k1")
    shared = board(journal=paper)

    with pytest.raises(KeyReused):
        await shared.apply(Score(name="ann"), actor="page", key="k1")

    assert (shared.version, shared.state.scores) == (1, {})


async def test_what_was_answered_before_the_state_was_lost_is_answered_again() -> None:
    paper = Paper()
    shared = board(journal=paper)
    first = await shared.apply(Score(name="ann"), actor="page", key="k1")
    paper.trouble = lambda entry: TakenOver()
    with pytest.raises(TakenOver):
        await shared.apply(Score(name="ann"), actor="page")

    assert await shared.apply(Score(name="ann"), actor="page", key="k1") == first


async def test_after_a_restart_a_key_answers_as_often_as_it_is_asked() -> None:
    paper = Paper()
    await board(journal=paper).apply(Score(name="ann"), actor="page", key="k1")
    again = SharedState.restored(stored_from(paper), Board, None)

    answers = [await again.apply(Score(name="ann"), actor="page", key="k1") for _ in range(3)]

    assert [answer.version for answer in answers] == [1, 1, 1]
    assert again.version == 1
