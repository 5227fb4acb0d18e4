"""When the answer to a commit is lost, the outcome is looked up and never made up."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from state.shared import (
    JournalFault,
    Moment,
    NotStored,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    StoredState,
    TakenOver,
)
from tests.postgres import Server
from tests.state.shared.at_commit import before_commit
from tests.state.shared.board import Board, Paper, Rename, Score, board
from tests.state.shared.by_hand import WAITING, by_hand
from tests.state.shared.wire import Wire

EMPTY = Board().model_dump_json()


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


class TestAJournalThatDoesNotSay:
    """What a shared state does about it, whatever its journal is."""

    @pytest.fixture(params=[True, False], ids=["it was stored", "it was not"])
    def stored(self, request: pytest.FixtureRequest) -> bool:
        return bool(request.param)

    @pytest.fixture
    def paper(self, stored: bool) -> Paper:
        """A journal that falls silent over the second entry it is given."""
        paper = Paper(rounds=2)
        given = 0

        def silent_over_the_second(entry: object) -> Exception | None:
            nonlocal given
            given += 1
            if given != 2:
                return None
            if stored:
                paper.entries.append(entry)  # type: ignore[arg-type]  # an entry it is
            return OutcomeUnknown()

        paper.trouble = silent_over_the_second
        return paper

    async def test_the_state_stays_as_it_was(self, paper: Paper) -> None:
        shared = board(journal=paper)
        await shared.apply(Score(name="ann"), actor="judge")
        told: list[int] = []
        shared.subscribe(lambda applied: told.append(applied.version))

        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge", key="k")

        assert (shared.version, shared.state.scores, told) == (1, {"ann": 1}, [])
        assert not shared.taken_over

    async def test_the_same_key_never_acts_twice(self, paper: Paper) -> None:
        shared = board(journal=paper)
        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge", key="k")

        again = await shared.apply(Score(name="ann"), actor="judge", key="k")

        assert (again.version, again.state.scores) == (2, {"ann": 2})
        assert (shared.version, shared.state.scores) == (2, {"ann": 2})
        assert len(paper.entries) == 2

    async def test_the_next_write_first_takes_in_what_the_journal_has(
        self, paper: Paper, stored: bool
    ) -> None:
        shared = board(journal=paper)
        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Rename(title="Perhaps"), actor="judge")
        told: list[int] = []
        shared.subscribe(lambda applied: told.append(applied.version))

        await shared.apply(Score(name="bob"), actor="judge")

        assert shared.state == Board(
            title="Perhaps" if stored else "Friday", scores={"ann": 1, "bob": 1}
        )
        assert [entry.version for entry in paper.entries] == list(range(1, shared.version + 1))
        assert told == ([2, 3] if stored else [2])

    async def test_a_write_decided_before_it_is_checked_for_conflicts(
        self, paper: Paper, stored: bool
    ) -> None:
        shared = board(journal=paper)
        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Rename(title="Perhaps"), actor="judge")

        (outcome,) = await asyncio.gather(
            shared.apply(Rename(title="Decided before"), actor="judge", seen=1),
            return_exceptions=True,
        )

        assert getattr(outcome, "code", None) == ("version_conflict" if stored else None)

    async def test_looking_takes_it_in_as_well(self, paper: Paper, stored: bool) -> None:
        shared = board(journal=paper)
        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Rename(title="Perhaps"), actor="judge")

        assert await shared.refresh() == (2 if stored else 1)

    async def test_nothing_is_written_while_the_outcome_cannot_be_looked_up(
        self, stored: bool
    ) -> None:
        class Blind(Paper):
            blind = True

            async def after(self, version: int) -> "list[object]":  # type: ignore[override]
                if self.blind:
                    raise JournalFault("The paper", "it does not answer")
                return list(await super().after(version))

        paper = Blind()

        def silent(entry: object) -> Exception:
            if stored:
                paper.entries.append(entry)  # type: ignore[arg-type]
            return OutcomeUnknown()

        paper.trouble = silent
        shared = board(journal=paper)
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge")
        paper.trouble = lambda entry: None

        for _ in range(2):
            with pytest.raises(NotStored, match="it does not answer"):
                await shared.apply(Score(name="bob"), actor="judge")
        paper.blind = False
        await shared.apply(Score(name="bob"), actor="judge")

        assert shared.state.scores == ({"ann": 1, "bob": 1} if stored else {"bob": 1})


@pytest.fixture
async def wire(postgresql: Server) -> AsyncIterator[Wire]:
    with postgresql.empty_database() as lent:
        async with Wire(lent) as wire:
            yield wire


@pytest.fixture
async def store(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlStore]:
    from state.shared.sql import dialects

    monkeypatch.setattr(dialects, "BUSY_S", 0.3)
    async with SqlStore(wire.address, owner="club", schema=1) as store:
        yield store


@pytest.fixture
async def shared(store: SqlStore) -> SharedState[Board, None]:
    shared = going_on(await store.create("a", lambda ordinal: EMPTY))
    await shared.apply(Score(name="ann"), actor="judge")
    return shared


class TestAWireThatBreaks:
    """A PostgreSQL server behind a wire that breaks while a change is committed."""

    async def test_a_commit_that_was_carried_out_counts(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.lose_the_next_answer()

        applied = await shared.apply(Score(name="ann"), actor="judge", key="k")
        again = await shared.apply(Score(name="ann"), actor="judge", key="k")
        await shared.apply(Score(name="bob"), actor="judge")

        assert applied == again
        assert shared.state.scores == {"ann": 2, "bob": 1}
        assert (shared.version, (await store.read("a")).version) == (3, 3)

    async def test_a_transcript_row_is_not_written_twice(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.lose_the_next_answer()
        await store.record("a", Moment(1, "heard", "guest", "one"), Moment(1, "said", "ann", "two"))
        wire.lose_the_next_commit()
        with pytest.raises(JournalFault):
            await store.record("a", Moment(2, "heard", "guest", "three"))
        await store.record("a", Moment(2, "heard", "guest", "three"))

        assert [moment.text for moment in await store.said("a")] == ["one", "two", "three"]

    async def test_a_commit_that_never_arrived_does_not(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.lose_the_next_commit()

        with pytest.raises(NotStored):
            await shared.apply(Score(name="ann"), actor="judge", key="k")
        version_then = (await store.read("a")).version
        await shared.apply(Score(name="ann"), actor="judge", key="k")

        assert version_then == 1
        assert shared.state.scores == {"ann": 2}
        assert (shared.version, (await store.read("a")).version) == (2, 2)

    async def test_an_unreachable_server_leaves_the_outcome_unknown(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.lose_the_next_answer(and_then_refuse=True)

        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge", key="k")
        with pytest.raises(NotStored):
            await shared.apply(Score(name="bob"), actor="judge")
        seen_then = shared.version
        wire.refuses = False
        again = await shared.apply(Score(name="ann"), actor="judge", key="k")

        assert seen_then == 1
        assert (again.version, again.state.scores) == (2, {"ann": 2})
        assert (shared.version, (await store.read("a")).version) == (2, 2)

    async def test_a_commit_that_comes_late_was_never_said_to_have_failed(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.delay_the_next_commit()

        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge", key="k")
        await wire.deliver()
        again = await shared.apply(Score(name="ann"), actor="judge", key="k")

        assert (again.version, again.state.scores) == (2, {"ann": 2})
        assert (shared.version, (await store.read("a")).version) == (2, 2)

    async def test_a_commit_that_comes_a_little_late_is_waited_for(
        self, wire: Wire, store: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects

        monkeypatch.setattr(dialects, "BUSY_S", 20.0)
        shared = going_on(await store.create("a", lambda ordinal: EMPTY))
        wire.delay_the_next_commit()

        writing = asyncio.create_task(shared.apply(Score(name="ann"), actor="judge"))
        await wire.holds.wait()
        with by_hand(wire.server) as hand:
            await hand.until(WAITING)
        await wire.deliver()
        await writing

        assert (shared.version, (await store.read("a")).version) == (1, 1)

    async def test_a_superseded_holder_is_told_with_its_next_write(
        self, wire: Wire, store: SqlStore, shared: SharedState[Board, None]
    ) -> None:
        wire.lose_the_next_answer(and_then_refuse=True)
        with pytest.raises(OutcomeUnknown):
            await shared.apply(Score(name="ann"), actor="judge", key="k")
        wire.refuses = False
        newer = going_on(await store.take("a"))

        again = await shared.apply(Score(name="ann"), actor="judge", key="k")
        with pytest.raises(TakenOver):
            await shared.apply(Score(name="bob"), actor="judge")

        assert (again.version, newer.version, newer.state.scores) == (2, 2, {"ann": 2})


@contextmanager
def a_slow_disk(begun: threading.Event | None = None) -> "Iterator[threading.Event]":
    """Keep every commit of a change waiting until the event is set; the other one is set when one has begun."""
    goes_on = threading.Event()

    def wait(driver: object) -> None:
        if begun is not None:
            begun.set()
        goes_on.wait(20)

    with before_commit(wait):
        try:
            yield goes_on
        finally:
            goes_on.set()


async def answers_again(store: SqlStore) -> None:
    """Ask until what was stuck is through."""
    for _ in range(1_000_000):
        with suppress(JournalFault):
            await store.list()
            return
        await asyncio.sleep(0)
    raise AssertionError("it never answered again")


async def test_a_disk_that_stands_still_is_not_waited_for(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from state.shared.sql import thread

    async with SqlStore(address, owner="club", schema=1) as store:
        shared = going_on(await store.create("a", lambda ordinal: EMPTY))
        with a_slow_disk() as goes_on:
            with monkeypatch.context() as short:
                short.setattr(thread, "ANSWER_S", 0.1)
                short.setattr(thread, "GIVE_UP_S", 0.1)
                with pytest.raises(OutcomeUnknown):
                    await shared.apply(Score(name="ann"), actor="judge", key="k")
                seen_then = shared.version
                with pytest.raises(NotStored, match="the database does not answer"):
                    await shared.apply(Score(name="bob"), actor="judge")
                with pytest.raises(JournalFault, match="the database does not answer"):
                    await store.read("a")
                with pytest.raises(JournalFault, match="the database does not answer"):
                    await store.record("a", Moment(1, "heard", "guest", "Hello"))
            goes_on.set()
            await answers_again(store)
        again = await shared.apply(Score(name="ann"), actor="judge", key="k")
        await shared.apply(Score(name="bob"), actor="judge")
        stored = await store.read("a")

    assert seen_then == 0
    assert (again.version, again.state.scores) == (1, {"ann": 1})
    assert (shared.version, stored.version) == (2, 2)
    assert Board.model_validate_json(stored.state).scores == {"ann": 1, "bob": 1}


async def test_a_request_that_waited_too_long_is_never_carried_out(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from state.shared.sql import thread

    begun, may_go_on = threading.Event(), threading.Event()

    def make(ordinal: int) -> str:
        begun.set()
        may_go_on.wait(20)
        return EMPTY

    async with SqlStore(address, owner="club", schema=1) as store:
        shared = going_on(await store.create("a", lambda ordinal: EMPTY))
        before = asyncio.create_task(store.create("b", make))
        await asyncio.to_thread(begun.wait, 20)
        with monkeypatch.context() as short:
            short.setattr(thread, "WAIT_S", 0.1)
            with pytest.raises(NotStored, match="the database does not answer"):
                await shared.apply(Score(name="ann"), actor="judge")
        may_go_on.set()
        await before
        await shared.apply(Score(name="bob"), actor="judge")
        stored = await store.read("a")

    assert Board.model_validate_json(stored.state).scores == {"bob": 1}
    assert (shared.version, stored.version) == (1, 1)


class TestOneStep:
    """A change of a held state is one statement of SQLite, which takes the lock, writes and commits."""

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[SqlStore]:
        async with SqlStore(f"sqlite:///{tmp_path}/boards.db", owner="club", schema=1) as store:
            yield store

    @pytest.fixture
    async def shared(self, store: SqlStore) -> SharedState[Board, None]:
        return going_on(await store.create("a", lambda ordinal: EMPTY))

    async def test_nothing_else_happens_while_it_has_the_lock(
        self, shared: SharedState[Board, None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects

        executed: list[str] = []
        execute = dialects.execute_at_once

        def listed(driver: sqlite3.Connection, statement: str, *values: Any) -> int:
            executed.append(statement.partition(" ")[0])
            return execute(driver, statement, *values)

        monkeypatch.setattr(dialects, "execute_at_once", listed)
        await shared.apply(Score(name="ann"), actor="judge")
        await shared.apply(Score(name="ann"), actor="judge")

        assert executed == ["INSERT", "INSERT"]

    @pytest.mark.parametrize("stored", [True, False])
    async def test_a_fault_of_the_disk_is_looked_into(
        self,
        store: SqlStore,
        shared: SharedState[Board, None],
        stored: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        from state.shared.sql import dialects

        execute = dialects.execute_at_once

        def breaks(driver: sqlite3.Connection, statement: str, *values: Any) -> int:
            if stored:
                execute(driver, statement, *values)
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(dialects, "execute_at_once", breaks)
            if stored:
                await shared.apply(Score(name="ann"), actor="judge")
            else:
                with pytest.raises(NotStored, match="the disk does not answer"):
                    await shared.apply(Score(name="ann"), actor="judge")
        await shared.apply(Score(name="ann"), actor="judge")

        assert shared.state.scores == {"ann": 1 + stored}
        assert [one.version for one in (await store.read("a")).entries] == [1, 2][: 1 + stored]
