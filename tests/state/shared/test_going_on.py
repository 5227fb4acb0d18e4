"""What a shared state keeps to when it goes on with what was stored, or with what others wrote."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest

from state.shared import (
    Busy,
    Command,
    JournalFault,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    Stale,
)
from tests.state.shared.board import Board, Paper, Rename, Score, board, stored_from

RULES = object()


async def refused_to_wait(shared: SharedState[Board, Any]) -> float:
    """How long a writer reports to have waited for another, in seconds."""
    async with shared._lock:
        with pytest.raises(Busy) as refused:
            await shared.apply(Score(name="bob"), actor="judge")
    waited = refused.value.facts["waited_s"]
    assert isinstance(waited, float)
    return waited


async def test_one_that_goes_on_keeps_its_rules_and_its_patience() -> None:
    again = SharedState.restored(stored_from(Paper()), Board, RULES, wait_s=0.01)

    assert again.context is RULES
    assert await refused_to_wait(again) == 0.01


async def test_one_that_is_kept_keeps_its_rules_and_its_patience(tmp_path: Path) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1) as store:
        kept = await SharedState.open(store, "final", Board(), RULES, wait_s=0.01)

        assert kept.context is RULES
        assert await refused_to_wait(kept) == 0.01


@pytest.mark.parametrize("seen", [0, 7])
async def test_an_outdated_writer_is_told_the_present_version(seen: int) -> None:
    shared = board()
    await shared.apply(Rename(title="Final"), actor="judge")

    with pytest.raises(Stale) as refused:
        await shared.apply(Rename(title="Mine"), actor="page", seen=seen)

    assert refused.value.facts == {"seen": seen, "version": 1}


async def test_a_key_used_in_another_process_answers_the_request_here() -> None:
    paper = Paper()
    one, other = board(journal=paper), board(journal=paper)
    await one.apply(Score(name="ann"), actor="page", key="k1")
    await other.refresh()

    answer = await other.apply(Score(name="ann"), actor="page", key="k1")

    assert (answer.version, other.version, len(paper.entries)) == (1, 1, 1)


async def test_a_journal_is_read_again_once_after_it_did_not_answer() -> None:
    paper = Read()
    shared = board(journal=paper)
    paper.trouble = lambda entry: OutcomeUnknown()
    with pytest.raises(OutcomeUnknown):
        await shared.apply(Score(name="ann"), actor="page")
    paper.trouble = lambda entry: None

    for _ in range(3):
        await shared.apply(Score(name="ann"), actor="page")

    assert paper.times_read == 1


class Read(Paper):
    """A journal that counts how often it is read."""

    times_read = 0

    async def after(self, version: int) -> Any:
        self.times_read += 1
        return await super().after(version)


async def test_a_row_that_does_not_fit_is_named_and_nothing_of_it_is_told() -> None:
    paper = Paper()
    await board(journal=paper).apply(Rename(title="Final"), actor="judge")
    paper.entries[0] = replace(paper.entries[0], state='{"title": ["a secret"]}')

    with pytest.raises(JournalFault) as fault:
        await board(journal=paper).refresh()

    assert fault.value.message == (
        "Version 1 cannot be used: it does not fit this program (title: not valid). After a change of"
        " Board declare schema=2 with migrate={1: a function of the stored JSON object}."
    )


class Seat(Command[Board, None]):
    """Name the players by seat."""

    op: Literal["seat"] = "seat"
    places: dict[str, int]

    def apply(self, state: Board, context: None) -> Board:
        return state


async def test_a_request_is_the_same_in_whatever_order_its_fields_come() -> None:
    shared = board()
    first = await shared.apply(Seat(places={"ann": 1, "bob": 2}), actor="page", key="k1")

    assert await shared.apply(Seat(places={"bob": 2, "ann": 1}), actor="page", key="k1") == first
    assert shared.version == 1


@pytest.mark.parametrize(
    ("stored", "places"),
    [
        (
            '{"title": ["a secret"], "scores": {"ann": "a secret"}}',
            "scores.*: not valid, title: not valid",
        ),
        ('"a secret"', "the whole: not valid"),
        ("a secret", "the whole: not valid"),
    ],
)
async def test_a_state_that_does_not_fit_is_named_by_its_places(stored: str, places: str) -> None:
    paper = Paper()
    await board(journal=paper).apply(Rename(title="Final"), actor="judge")
    paper.entries[0] = replace(paper.entries[0], state=stored)

    with pytest.raises(JournalFault) as fault:
        SharedState.restored(stored_from(paper), Board, None)

    assert fault.value.facts == {
        "what": "Version 1 of friday",
        "why": f"it does not fit this program ({places})",
    }


class Until(Command[Board, None]):
    """Say until when it is played."""

    op: Literal["until"] = "until"
    day: date

    def apply(self, state: Board, context: None) -> Board:
        return state


async def test_a_command_is_written_down_as_plain_json() -> None:
    paper = Paper()

    await board(journal=paper).apply(Until(day=date(2026, 11, 20)), actor="judge")

    assert paper.entries[0].commands == ({"op": "until", "day": "2026-11-20"},)


class Write(Command[Board, None]):
    """Store points without any check."""

    op: Literal["write"] = "write"
    points: str

    def apply(self, state: Board, context: None) -> Board:
        return state.model_copy(update={"scores": {"ann": self.points}})


async def test_the_result_of_a_command_is_validated_by_its_model() -> None:
    shared = board()

    await shared.apply(Write(points="3"), actor="judge")

    assert shared.state.scores == {"ann": 3}


async def test_a_valid_result_of_a_command_is_used_unchanged() -> None:
    shared = board()
    made = shared.state.model_copy(update={"title": "Final"})

    class Take(Rename):
        def apply(self, state: Board, context: Any) -> Board:
            return made

    await shared.apply(Take(title="Final"), actor="judge")

    assert shared.state is made


async def test_changes_before_the_known_past_conflict_and_none_after_it() -> None:
    paper = Paper()
    shared = board(journal=paper)
    for points in range(1, 4):
        await shared.apply(Score(name="ann", by=points), actor="judge")

    def known_from_the_third() -> SharedState[Board, None]:
        return SharedState(shared.state, None, version=3, past=paper.entries[2:])

    with pytest.raises(Stale):
        await known_from_the_third().apply(Rename(title="Final"), actor="page", seen=1)
    await known_from_the_third().apply(Rename(title="Final"), actor="page", seen=2)


class Top(Command[Board, None]):
    """Give the leader's points to another player."""

    op: Literal["top"] = "top"

    def apply(self, state: Board, context: None) -> Board:
        return state.model_copy(update={"scores": {"bob": 1}})

    def touches(self, state: Board) -> tuple[str, ...]:
        return tuple(f"scores/{name}" for name in state.scores)


async def test_a_command_changes_what_it_touched_before_it_was_carried_out() -> None:
    paper = Paper()
    shared = board(journal=paper)
    await shared.apply(Score(name="ann"), actor="judge")

    await shared.apply(Top(), actor="judge")

    assert paper.entries[1].touched == ("scores/ann",)
