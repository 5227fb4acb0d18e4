"""No write is lost: a decision on an old version is refused where it matters, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.shared import WHOLE, HandOver, Stale, overlap
from tests.state.shared.board import Rename, Score, Wipe, board


async def test_the_present_version_may_always_write() -> None:
    shared = board()
    for seen in range(3):
        await shared.apply(Wipe(), actor="judge", seen=seen)

    assert shared.version == 3


async def test_two_writers_of_the_same_part_and_version_do_not_both_win() -> None:
    shared = board()
    await shared.apply(Score(name="ann"), actor="one", seen=0)

    with pytest.raises(Stale) as refusal:
        await shared.apply(Score(name="ann"), actor="other", seen=0)

    assert refusal.value.facts == {"seen": 0, "version": 1}
    assert shared.state.scores == {"ann": 1}


async def test_two_writers_of_different_parts_both_win() -> None:
    shared = board()

    await shared.apply(Score(name="ann"), actor="one", seen=0)
    await shared.apply(Score(name="bob"), actor="other", seen=0)

    assert shared.state.scores == {"ann": 1, "bob": 1}


async def test_the_whole_conflicts_with_every_part() -> None:
    shared = board()
    await shared.apply(Rename(title="Final"), actor="one")

    with pytest.raises(Stale):
        await shared.apply(Wipe(), actor="other", seen=0)
    await shared.apply(Wipe(), actor="other", seen=1)
    with pytest.raises(Stale):
        await shared.apply(Rename(title="Mine"), actor="one", seen=1)

    assert shared.version == 2


async def test_one_stale_command_refuses_all_that_came_with_it() -> None:
    shared = board()
    await shared.apply(Score(name="ann"), actor="one")

    with pytest.raises(Stale):
        await shared.apply(Rename(title="Mine"), Score(name="ann"), actor="other", seen=0)

    assert shared.state.title == "Friday"


async def test_a_handover_conflicts_with_no_change() -> None:
    shared = board()
    await shared.apply(Wipe(), actor="one")
    await shared.apply(HandOver(target="bob"), actor="ann", seen=0)
    await shared.apply(Wipe(), actor="one", seen=1)

    assert shared.version == 3


async def test_without_a_seen_version_there_is_no_conflict() -> None:
    shared = board()
    await shared.apply(Rename(title="Final"), actor="one")
    await shared.apply(Rename(title="Last"), actor="other")

    assert shared.state.title == "Last"


async def test_a_version_that_never_was_is_refused() -> None:
    with pytest.raises(Stale):
        await board().apply(Rename(title="Mine"), actor="one", seen=7)


PATH = st.lists(st.sampled_from(["lines", "L1", "L10", "tip"]), min_size=1, max_size=3).map(
    "/".join
)


@given(PATH, PATH)
def test_parts_overlap_when_one_lies_within_the_other(one: str, other: str) -> None:
    steps, others = one.split("/"), other.split("/")
    shorter = min(len(steps), len(others))

    assert overlap(one, other) == (steps[:shorter] == others[:shorter])
    assert overlap(one, other) == overlap(other, one)
    assert overlap(one, WHOLE)
    assert overlap(WHOLE, one)
