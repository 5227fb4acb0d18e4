"""A writer whose changes can be withdrawn gives up: what is not being written by then never is, and what is counts once it is stored."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from agents.testing import until
from state.shared import (
    Applied,
    Gate,
    Moment,
    NotStored,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    journal,
    withdrawable_changes,
)
from state.shared.sql import dialects, thread
from tests.state.shared.board import Board, Paper, Score, board, points
from tests.state.shared.by_hand import WAITING, Hand, by_hand
from tests.state.shared.test_lost_answers import a_slow_disk

pytestmark = pytest.mark.usefixtures("no_complaints")

EMPTY = Board().model_dump_json()
Writing = asyncio.Task[Applied[Board]]


@pytest.fixture
async def store(address: str, patient: None) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


async def held(store: SqlStore, name: str = "a") -> SharedState[Board, None]:
    stored = await store.create(name, lambda ordinal: EMPTY)
    return SharedState.restored(stored, Board, None)


def writing(shared: SharedState[Board, None], name: str = "ann", key: str | None = "k") -> Writing:
    async def change() -> Applied[Board]:
        with withdrawable_changes():
            return await shared.apply(Score(name=name), actor="judge", key=key)

    return asyncio.create_task(change())


async def until_locked(looking: Hand, address: str, refused: "list[str]") -> None:
    """Wait until the store waits for a lock that is held elsewhere."""
    if address.startswith("sqlite"):
        await until(lambda: refused)
    else:
        await looking.until(WAITING)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> "list[str]":
    """The statements that SQLite has refused because of a lock."""
    seen: list[str] = []
    at_once = dialects.execute_at_once

    def noted(driver: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> int:
        try:
            return at_once(driver, statement, values)
        except sqlite3.OperationalError:
            seen.append(statement)
            raise

    monkeypatch.setattr(dialects, "execute_at_once", noted)
    return seen


@pytest.mark.parametrize("beside", [0, 2])
async def test_a_change_that_waits_for_a_lock_is_withdrawn_at_once(
    address: str, store: SqlStore, refused: "list[str]", beside: int
) -> None:
    shared = await held(store)
    with ExitStack() as entered:
        other, looking = (entered.enter_context(by_hand(address)) for _ in range(2))
        if address.startswith("sqlite"):
            other("BEGIN IMMEDIATE")
        else:
            other("BEGIN")
            other("UPDATE states SET fence = fence WHERE state_id = 'a'")
        work = writing(shared)
        await asyncio.sleep(0)
        said = [store.record("a", Moment(1, "heard", "guest", "Hello")) for _ in range(beside)]
        await until_locked(looking, address, refused)

        work.cancel()
        with pytest.raises(NotStored):
            await work
        assert not shared.in_doubt("k")
        other("ROLLBACK")
    await asyncio.gather(*said)

    again = await writing(shared)
    assert (again.version, shared.version, points(shared)) == (1, 1, 1)
    assert len((await store.read("a")).entries) == 1
    assert len(await store.said("a")) == beside


async def test_a_change_that_waits_behind_others_is_withdrawn_at_once(
    store: SqlStore,
) -> None:
    shared, other = await held(store, "a"), await held(store, "b")
    begun = threading.Event()
    with a_slow_disk(begun) as goes_on:
        first = writing(other)
        await until(begun.is_set)
        behind = writing(shared)
        await asyncio.sleep(0)
        behind.cancel()
        with pytest.raises(NotStored):
            await behind
        waited = not first.done()
        goes_on.set()
        await first

    assert waited
    assert (await writing(shared, "bob")).state.scores == {"bob": 1}
    assert len((await store.read("a")).entries) == 1


async def test_a_change_that_is_withdrawn_while_the_lock_is_asked_for_is_not_stored(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1) as store:
        shared = await held(store)
        gate, asked = Gate(), list[bool]()

        def busy(driver: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> int:
            asked.append(gate.withdraw())
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorname = "SQLITE_BUSY"
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(dialects, "execute_at_once", busy)
            patch.setattr(journal, "Gate", lambda: gate)
            with pytest.raises(NotStored, match="its writer has given up"):
                await writing(shared)

        assert asked == [False]
        assert (await store.read("a")).entries == ()


async def test_a_change_that_is_being_written_counts_once_it_is_stored(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LAST_MOMENT_S", 0.01)
    shared = await held(store)
    begun = threading.Event()
    with a_slow_disk(begun) as goes_on:
        for _ in range(2):  # a repeat is told the same
            work = writing(shared)
            await asyncio.sleep(0)
            await until(begun.is_set)
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
            assert isinstance(outcome, OutcomeUnknown)
            assert shared.in_doubt("k")
        seen_then = shared.version
        goes_on.set()
        await until(lambda: shared.version == 1)

    again = await writing(shared)
    assert (seen_then, again.version, points(shared)) == (0, 1, 1)
    assert not shared.in_doubt("k")
    assert len((await store.read("a")).entries) == 1


async def test_a_change_that_is_stored_in_the_last_moment_is_told_as_done(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LAST_MOMENT_S", 60.0)
    shared = await held(store)
    begun = threading.Event()
    with a_slow_disk(begun) as goes_on:
        work = writing(shared)
        await until(begun.is_set)
        work.cancel()
        goes_on.set()
        assert (await work).version == 1


async def test_a_repeat_of_an_unknown_change_is_never_told_that_nothing_was_stored(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = await held(store)
    begun = threading.Event()
    with a_slow_disk(begun) as goes_on, monkeypatch.context() as short:
        short.setattr(thread, "ANSWER_S", 0.1)
        short.setattr(thread, "GIVE_UP_S", 0.1)
        with pytest.raises(OutcomeUnknown):
            await writing(shared)
        with pytest.raises(OutcomeUnknown):
            await writing(shared)
        with pytest.raises(NotStored):
            await writing(shared, "bob", "another")
        goes_on.set()


@pytest.mark.parametrize("last_moment_s", [0.0, 60.0])
@pytest.mark.parametrize("rounds", range(12))
async def test_whenever_a_writer_gives_up_journal_and_state_agree(
    rounds: int, last_moment_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LAST_MOMENT_S", last_moment_s)
    paper = Paper(rounds=6)
    shared = board(journal=paper)
    work = writing(shared)
    for _ in range(rounds):
        await asyncio.sleep(0)
    work.cancel()
    (outcome,) = await asyncio.gather(work, return_exceptions=True)

    await shared.apply(Score(name="bob"), actor="judge")

    if not isinstance(outcome, OutcomeUnknown):
        assert shared.state.scores.get("ann", 0) == isinstance(outcome, Applied)
    assert len(paper.entries) == shared.version == points(shared)
    again = await writing(shared)
    assert len(paper.entries) == 2
    assert again.state.scores["ann"] == 1
