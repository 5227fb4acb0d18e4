"""Changes that wait behind one another: written in one transaction, each answered for itself, none out of order."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from state.shared import (
    Entry,
    JournalFault,
    Moment,
    NotStored,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    StoredState,
    TakenOver,
    UnknownState,
    VersionTaken,
)
from state.shared.journal import Gate
from state.shared.sql import dialects, driver_statements, thread
from state.shared.sql.database import Database
from state.shared.sql.rows import Row, RowResult
from tests.postgres import Server
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import WAITING, by_hand
from tests.state.shared.wire import Wire

EMPTY = Board().model_dump_json()
HELLO = Moment(1, "heard", "guest", "Hello")


def entry(version: int, *, key: str | None = None, actor: str = "judge") -> Entry:
    return Entry(version, ({"op": "wipe"},), EMPTY, None, actor, key=key, body="b" if key else None)


@pytest.fixture
async def store(address: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many were written in each transaction that was tried."""
    tried: list[int] = []
    write = Database.write

    def counted(
        database: Database, wanted: Sequence[Row], *, alone: bool = False
    ) -> list[RowResult]:
        tried.append(len(wanted))
        return write(database, wanted, alone=alone)

    monkeypatch.setattr(Database, "write", counted)
    return tried


async def begun(store: SqlStore, names: str) -> dict[str, StoredState]:
    return {name: await store.create(name, lambda ordinal: EMPTY) for name in names}


@contextmanager
def busy(store: SqlStore) -> Iterator[None]:
    """Keep the thread from whatever is asked for meanwhile, so that all of it waits."""
    goes_on = threading.Event()

    def wait(ordinal: int) -> str:
        goes_on.wait(30)
        return EMPTY

    before = asyncio.ensure_future(store.create("before", wait))
    before.add_done_callback(lambda one: one.cancelled() or one.exception())
    try:
        yield
    finally:
        goes_on.set()


async def together(store: SqlStore, ask: Callable[[], list[Awaitable[Any]]]) -> list[Any]:
    """Ask for several things while the thread is busy; returns what came of each."""
    with busy(store):
        await asyncio.sleep(0)
        asked = ask()
    return await asyncio.gather(*asked, return_exceptions=True)


async def versions(store: SqlStore, name: str) -> list[int]:
    return [entry.version for entry in (await store.read(name)).entries]


class TestOneTransaction:
    async def test_waiting_rows_are_written_together(
        self, store: SqlStore, sizes: list[int]
    ) -> None:
        held = await begun(store, "abc")

        outcomes = await together(
            store,
            lambda: [
                held["a"].journal.append(entry(1)),
                store.record("b", HELLO),
                held["b"].journal.append(entry(1)),
                store.record("a", HELLO, HELLO),
                held["c"].journal.append(entry(1)),
            ],
        )

        assert outcomes == [None] * 5
        assert sizes == [5]
        assert [await versions(store, name) for name in "abc"] == [[1], [1], [1]]
        assert len(await store.said("a")) == 2

    async def test_one_alone_waits_for_no_other(self, store: SqlStore, sizes: list[int]) -> None:
        held = await begun(store, "a")

        await held["a"].journal.append(entry(1))
        await held["a"].journal.append(entry(2))

        assert sizes == [1, 1]

    async def test_several_rows_of_one_state_follow_one_another(
        self, store: SqlStore, sizes: list[int]
    ) -> None:
        held = await begun(store, "ab")

        outcomes = await together(
            store,
            lambda: [
                *(held["a"].journal.append(entry(version)) for version in (1, 2, 3)),
                held["b"].journal.append(entry(1)),
                *(store.record("a", Moment(1, "said", "ann", word)) for word in "xyz"),
            ],
        )

        assert outcomes == [None] * 7
        assert sizes == [7]
        assert await versions(store, "a") == [1, 2, 3]
        assert [moment.text for moment in await store.said("a")] == ["x", "y", "z"]

    async def test_withdrawn_rows_are_left_out(self, store: SqlStore, sizes: list[int]) -> None:
        held = await begun(store, "ab")
        gates = [Gate(), Gate()]
        said = [
            Moment(1, "heard", "guest", word, gate=gate)
            for word, gate in zip("xy", gates, strict=True)
        ]

        def ask() -> list[Awaitable[Any]]:
            asked: list[Awaitable[Any]] = [
                store.record("a", said[0]),
                store.record("b", *said, HELLO),
                held["a"].journal.append(entry(1)),
            ]
            assert gates[0].withdraw()
            return asked

        outcomes = await together(store, ask)

        assert outcomes == [None] * 3
        assert sizes == [3]
        assert not gates[1].withdraw()
        assert await store.said("a") == []
        assert [moment.text for moment in await store.said("b")] == ["y", "Hello"]

    async def test_it_has_so_many_rows_at_most(self, store: SqlStore, sizes: list[int]) -> None:
        held = await begun(store, "a")
        many = thread.GROUP

        outcomes = await together(
            store,
            lambda: [
                *(held["a"].journal.append(entry(1 + number)) for number in range(many + 1)),
                store.record("a", *[HELLO] * (many - 2)),
                store.record("a", HELLO, HELLO),
                store.record("a", *[HELLO] * (3 * many)),
            ],
        )

        assert outcomes == [None] * (many + 4)
        assert sizes == [many, 2, 1, 1]
        assert await versions(store, "a") == list(range(1, many + 2))
        assert len(await store.said("a")) == 4 * many

    async def test_rows_are_gathered_for_so_long_at_most(
        self, store: SqlStore, sizes: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held = await begun(store, "abc")
        monkeypatch.setattr(thread, "GROUP_S", 0.0)

        outcomes = await together(
            store, lambda: [held[name].journal.append(entry(1)) for name in "abc"]
        )

        assert outcomes == [None] * 3
        assert sizes == [1, 1, 1]


class TestOrder:
    async def test_another_request_ends_a_group_and_sees_what_was_asked_before_it(
        self, store: SqlStore, sizes: list[int]
    ) -> None:
        held = await begun(store, "ab")

        outcomes = await together(
            store,
            lambda: [
                held["a"].journal.append(entry(1)),
                held["b"].journal.append(entry(1)),
                asyncio.ensure_future(store.read("b")),
                held["a"].journal.append(entry(2)),
                store.record("b", HELLO),
                asyncio.ensure_future(store.said("b")),
                held["b"].journal.append(entry(2)),
            ],
        )

        # What a coroutine asks for, it asks for with the loop's next round.
        assert sizes in ([2, 2, 1], [5])
        assert (outcomes[0], outcomes[-1]) == (None, None)
        assert [await versions(store, name) for name in "ab"] == [[1, 2], [1, 2]]

    async def test_order_is_kept_whatever_the_requests_are(
        self, store: SqlStore, sizes: list[int]
    ) -> None:
        held = await begun(store, "ab")
        journal, ask = held["a"].journal, store._access._states.ask

        outcomes = await together(
            store,
            lambda: [
                journal.append(entry(1)),
                held["b"].journal.append(entry(1)),
                ask(lambda database: len(database.read("a")[1])),
                journal.append(entry(2)),
                ask(lambda database: len(database.read("a")[1])),
                ask(lambda database: len(database.said("b"))),
                store.record("b", HELLO),
                journal.append(entry(3)),
                ask(lambda database: (len(database.said("b")), len(database.read("a")[1]))),
            ],
        )

        assert outcomes == [None, None, 1, None, 2, 0, None, None, (1, 3)]
        assert sizes == [2, 1, 2]


REFUSED: dict[str, tuple[Callable[[dict[str, StoredState]], Any], type[Exception]]] = {
    "version": (lambda held: held["b"].journal.append(entry(1)), VersionTaken),
    "version ahead": (lambda held: held["b"].journal.append(entry(7)), NotStored),
    "key": (lambda held: held["b"].journal.append(entry(2, key="k")), VersionTaken),
    "characters": (lambda held: held["b"].journal.append(entry(2, actor="\ud800")), NotStored),
}


class TestOneIsRefused:
    """One of a group that cannot be stored leaves the others alone, those of its own state after it too."""

    async def among(self, store: SqlStore, held: dict[str, StoredState], bad: Any) -> list[Any]:
        return await together(
            store,
            lambda: [
                held["a"].journal.append(entry(1)),
                store.record("c", HELLO),
                bad(),
                held["c"].journal.append(entry(1)),
                store.record("a", HELLO),
            ],
        )

    @pytest.mark.parametrize("why", REFUSED)
    async def test_a_change_that_does_not_fit(self, store: SqlStore, why: str) -> None:
        held = await begun(store, "abc")
        await held["b"].journal.append(entry(1, key="k"))
        bad, raised = REFUSED[why]

        outcomes = await self.among(store, held, lambda: bad(held))

        assert isinstance(outcomes.pop(2), raised)
        assert outcomes == [None] * 4
        assert [await versions(store, name) for name in "abc"] == [[1], [1], [1]]
        assert [len(await store.said(name)) for name in "abc"] == [1, 0, 1]

    @pytest.mark.parametrize("kind", ["change", "said"])
    async def test_a_state_that_was_taken_over(
        self, store: SqlStore, address: str, kind: str
    ) -> None:
        held = await begun(store, "abc")
        async with SqlStore(address, owner="club", schema=1) as other:
            await other.take("b")

            outcomes = await self.among(
                store,
                held,
                lambda: (
                    held["b"].journal.append(entry(1))
                    if kind == "change"
                    else store.record("b", HELLO)
                ),
            )

        assert isinstance(outcomes.pop(2), TakenOver)
        assert outcomes == [None] * 4
        assert [await versions(store, name) for name in "abc"] == [[1], [], [1]]

    async def test_a_state_that_is_not_there(self, store: SqlStore, address: str) -> None:
        held = await begun(store, "abc")
        with by_hand(address) as hand:
            hand("DELETE FROM states WHERE state_id = 'b'")

        outcomes = await self.among(store, held, lambda: held["b"].journal.append(entry(1)))
        said = await self.among_more(store, held)

        assert isinstance(outcomes.pop(2), NotStored)
        assert isinstance(said.pop(1), UnknownState)
        assert outcomes + said == [None] * 6
        assert [await versions(store, name) for name in "ac"] == [[1, 2], [1]]

    async def among_more(self, store: SqlStore, held: dict[str, StoredState]) -> list[Any]:
        return await together(
            store,
            lambda: [
                held["a"].journal.append(entry(2)),
                store.record("b", HELLO),
                store.record("c", HELLO),
            ],
        )

    async def test_two_writers_of_the_same_version(self, store: SqlStore, sizes: list[int]) -> None:
        held = await begun(store, "ab")
        staff = (await store.read("a")).journal

        outcomes = await together(
            store,
            lambda: [
                held["b"].journal.append(entry(1)),
                held["a"].journal.append(entry(1, actor="holder")),
                staff.append(entry(1, actor="staff")),
                held["b"].journal.append(entry(2)),
            ],
        )

        assert isinstance(outcomes.pop(2), VersionTaken)
        assert outcomes == [None] * 3
        assert [one.actor for one in (await store.read("a")).entries] == ["holder"]
        assert sizes == [4]

    async def test_two_with_the_same_key(self, store: SqlStore) -> None:
        held = await begun(store, "ab")

        outcomes = await together(
            store,
            lambda: [
                held["b"].journal.append(entry(1, key="k")),
                held["a"].journal.append(entry(1, key="k")),
                held["a"].journal.append(entry(2, key="k")),
                held["b"].journal.append(entry(2)),
            ],
        )

        assert isinstance(outcomes.pop(2), VersionTaken)
        assert outcomes == [None] * 3
        assert [await versions(store, name) for name in "ab"] == [[1], [1, 2]]

    async def test_one_that_the_database_itself_refuses(
        self, store: SqlStore, address: str, sizes: list[int]
    ) -> None:
        held = await begun(store, "abc")
        refuse = {
            "sqlite": [
                "CREATE TRIGGER no BEFORE INSERT ON entries WHEN NEW.state_id = 'b'"
                " BEGIN SELECT RAISE(ABORT, 'no'); END"
            ],
            "postgresql": [
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                " IF NEW.state_id = 'b' THEN RAISE EXCEPTION 'no' USING ERRCODE = '23514'; END IF;"
                " RETURN NEW; END $$",
                "CREATE TRIGGER no BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no()",
            ],
        }
        with by_hand(address) as hand:
            for statement in refuse[address.partition(":")[0]]:
                hand(statement)

        outcomes = await self.among(store, held, lambda: held["b"].journal.append(entry(1)))

        assert isinstance(outcomes.pop(2), NotStored)
        assert outcomes == [None] * 4
        assert sizes == [5, 1, 1, 1, 1, 1]
        assert [await versions(store, name) for name in "abc"] == [[1], [], [1]]


class TestTheWholeGroupFails:
    async def test_a_disk_that_is_full_in_the_middle_takes_what_fits(
        self, tmp_path: Path, sizes: list[int]
    ) -> None:
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        def small(connection: sqlite3.Connection, record: Any) -> None:
            connection.execute("PRAGMA max_page_count = 40").close()

        big = Entry(1, (), EMPTY, None, "x" * 200_000)
        event.listen(Engine, "connect", small)
        try:
            async with SqlStore(f"sqlite:///{tmp_path}/b.db", owner="club", schema=1) as store:
                held = await begun(store, "abc")
                outcomes = await together(
                    store,
                    lambda: [
                        held["a"].journal.append(entry(1)),
                        held["b"].journal.append(big),
                        held["c"].journal.append(entry(1)),
                    ],
                )
                found = [await versions(store, name) for name in "abc"]
        finally:
            event.remove(Engine, "connect", small)

        assert "the disk is full" in str(outcomes.pop(1))
        assert outcomes == [None, None]
        assert found == [[1], [], [1]]
        assert sizes == [3, 1, 1, 1]

    @pytest.mark.parametrize("at", ["begin", "commit"])
    async def test_a_lock_is_waited_for_once_and_not_by_each(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int], at: str
    ) -> None:
        monkeypatch.setattr(dialects, "BUSY_S", 0.05)
        monkeypatch.setattr(thread, "LOCK_S", 0.05)
        address = f"sqlite:///{tmp_path}/b.db"
        async with SqlStore(address, owner="club", schema=1) as store:
            held = await begun(store, "abc")
            if at == "commit":
                monkeypatch.setattr(dialects, "commit", locked)
            with by_hand(address) as other:
                if at == "begin":
                    other("BEGIN IMMEDIATE")
                outcomes = await together(
                    store, lambda: [held[name].journal.append(entry(1)) for name in "abc"]
                )
                if at == "begin":
                    other("ROLLBACK")
            monkeypatch.setattr(dialects, "commit", lambda driver: driver.commit())
            again = [held[name].journal.append(entry(1)) for name in "abc"]

            assert [str(type(one).__name__) for one in outcomes] == ["NotStored"] * 3
            assert all("another program has locked the database" in str(one) for one in outcomes)
            assert sizes[0] == 3
            assert await asyncio.gather(*again) == [None] * 3

    async def test_one_that_is_broken_off_is_answered_for_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        address = f"sqlite:///{tmp_path}/b.db"
        async with SqlStore(address, owner="club", schema=1) as store:
            held = await begun(store, "abc")
            with by_hand(address) as hand, monkeypatch.context() as short:
                hand(
                    "CREATE TRIGGER slow BEFORE INSERT ON entries BEGIN SELECT count(*) FROM (WITH"
                    " RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                    " SELECT i FROM n LIMIT 100000000000); END"
                )
                outcomes = together(
                    store, lambda: [held[name].journal.append(entry(1)) for name in "abc"]
                )
                short.setattr(thread, "ANSWER_S", 0.3)
                told = await outcomes
                hand("DROP TRIGGER slow")
            again = [held[name].journal.append(entry(1)) for name in "abc"]

            assert all("the database took too long" in str(one) for one in told)
            assert await asyncio.gather(*again) == [None] * 3

    async def test_an_unexpected_error_is_raised_for_its_entry_alone(
        self, store: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held = await begun(store, "abc")
        odd = Entry(1, ({"op": "wipe"},), EMPTY, None, "judge", touched=None)  # type: ignore[arg-type]
        change = Database._entry_rows

        def stumble(database: Database, one: Any, *rest: Any) -> Any:
            if one.entry is odd:
                raise ZeroDivisionError
            return change(database, one, *rest)

        monkeypatch.setattr(Database, "_entry_rows", stumble)

        outcomes = await together(
            store,
            lambda: [held[name].journal.append(odd if name == "b" else entry(1)) for name in "abc"],
        )

        assert isinstance(outcomes.pop(1), ZeroDivisionError)
        assert outcomes == [None, None]


def locked(driver: sqlite3.Connection) -> None:
    driver.rollback()
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorname = "SQLITE_BUSY"
    raise error


class TestAServer:
    @pytest.fixture
    def url(self, postgresql: Server) -> Iterator[str]:
        with postgresql.empty_database() as lent:
            yield lent

    async def test_a_state_that_is_locked_elsewhere_goes_alone_after_the_others(
        self, url: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dialects, "BUSY_S", 20.0)
        async with SqlStore(url, owner="club", schema=1) as store:
            held = await begun(store, "abc")
            with by_hand(url) as other, by_hand(url) as looking:
                other("BEGIN")
                other("UPDATE states SET fence = fence WHERE state_id = 'b'")
                with busy(store):
                    await asyncio.sleep(0)
                    asked = {name: held[name].journal.append(entry(1)) for name in "abc"}
                    after = held["b"].journal.append(entry(2))
                await asyncio.gather(asked["a"], asked["c"])
                await looking.until(WAITING)
                waited = not asked["b"].done() and not after.done()
                other("ROLLBACK")
                await asyncio.gather(asked["b"], after)
            found = await versions(store, "b")

        assert waited
        assert found == [1, 2]
        assert sizes == [4, 1, 1]

    async def test_one_that_stays_locked_is_told_so_alone(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dialects, "BUSY_S", 0.05)
        async with SqlStore(url, owner="club", schema=1) as store:
            held = await begun(store, "abc")
            with by_hand(url) as other:
                other("BEGIN")
                other("UPDATE states SET fence = fence WHERE state_id = 'b'")
                outcomes = await together(
                    store, lambda: [held[name].journal.append(entry(1)) for name in "abc"]
                )
                other("ROLLBACK")

        assert "another program has locked the database" in str(outcomes.pop(1))
        assert outcomes == [None, None]

    async def test_after_a_deadlock_each_is_tried_alone(self, url: str, sizes: list[int]) -> None:
        async with SqlStore(url, owner="club", schema=1) as store:
            held = await begun(store, "abc")
            with by_hand(url) as hand:
                # The first insert meets a deadlock, once.
                hand("CREATE SEQUENCE times")
                hand(
                    "CREATE FUNCTION dead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    " IF nextval('times') = 1 THEN RAISE EXCEPTION 'no' USING ERRCODE = '40P01';"
                    " END IF; RETURN NEW; END $$"
                )
                hand(
                    "CREATE TRIGGER dead BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION dead()"
                )

            outcomes = await together(
                store, lambda: [held[name].journal.append(entry(1)) for name in "abc"]
            )

        assert outcomes == [None] * 3
        assert sizes == [3, 1, 1, 1]

    async def test_two_processes_that_write_the_same_states_at_once_wait_for_nothing(
        self, url: str
    ) -> None:
        async with (
            SqlStore(url, owner="club", schema=1) as one,
            SqlStore(url, owner="club", schema=1) as other,
        ):
            names = "abcdefgh"
            await begun(one, names)
            both = [
                SharedState.restored(await store.read(name), Board, None, wait_s=60)
                for store, order in ((one, names), (other, names[::-1]))
                for name in order
            ]

            for _ in range(10):
                await asyncio.gather(
                    *(shared.apply(Score(name="ann"), actor="staff") for shared in both)
                )

            for name in names:
                stored = await one.read(name)
                assert Board.model_validate_json(stored.state).scores == {"ann": 20}


class TestALostAnswer:
    """The answer to a group's commit does not arrive: each is looked up."""

    @pytest.fixture
    async def wire(self, postgresql: Server) -> AsyncIterator[Wire]:
        with postgresql.empty_database() as lent:
            async with Wire(lent) as wire:
                yield wire

    @pytest.fixture
    async def store(self, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlStore]:
        monkeypatch.setattr(dialects, "BUSY_S", 0.3)
        async with SqlStore(wire.address, owner="club", schema=1) as store:
            yield store

    async def asked(
        self, store: SqlStore, held: dict[str, StoredState], trouble: Callable[[], None]
    ) -> list[Any]:
        """Five in one group, the third of them refused, and trouble with its commit."""
        await held["b"].journal.append(entry(1))
        goes_on = threading.Event()
        # A request that commits nothing, for the trouble is with the next commit.
        before = store._access._states.ask(lambda database: goes_on.wait(30))
        trouble()
        asked = [
            held["a"].journal.append(entry(1)),
            store.record("c", HELLO, HELLO),
            held["b"].journal.append(entry(1)),
            held["c"].journal.append(entry(1)),
            store.record("a", HELLO),
        ]
        goes_on.set()
        await before
        return await asyncio.gather(*asked, return_exceptions=True)

    async def test_rows_that_are_found_count_as_stored(
        self, wire: Wire, store: SqlStore, sizes: list[int]
    ) -> None:
        held = await begun(store, "abc")

        outcomes = await self.asked(store, held, wire.lose_the_next_answer)

        assert isinstance(outcomes.pop(2), VersionTaken)
        assert outcomes == [None] * 4
        assert sizes == [1, 5]
        assert [await versions(store, name) for name in "abc"] == [[1], [1], [1]]
        assert [len(await store.said(name)) for name in "abc"] == [1, 0, 2]

    async def test_rows_that_are_not_found_were_not_stored(
        self, wire: Wire, store: SqlStore
    ) -> None:
        held = await begun(store, "abc")

        outcomes = await self.asked(store, held, wire.lose_the_next_commit)

        kinds = [type(one) for one in outcomes]
        assert kinds == [NotStored, JournalFault, VersionTaken, NotStored, JournalFault]
        assert [await versions(store, name) for name in "abc"] == [[], [1], []]
        assert [len(await store.said(name)) for name in "abc"] == [0, 0, 0]
        await held["a"].journal.append(entry(1))

    async def test_rows_that_cannot_be_looked_up_are_unknown(
        self, wire: Wire, store: SqlStore
    ) -> None:
        held = await begun(store, "abc")

        outcomes = await self.asked(
            store, held, lambda: wire.lose_the_next_answer(and_then_refuse=True)
        )
        wire.refuses = False

        assert isinstance(outcomes.pop(2), VersionTaken)
        assert [type(one) for one in outcomes] == [OutcomeUnknown] * 4
        assert [await versions(store, name) for name in "abc"] == [[1], [1], [1]]


async def test_in_a_file_a_lost_answer_is_looked_up_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stored_and_lost(driver: sqlite3.Connection) -> None:
        monkeypatch.setattr(dialects, "commit", commit)
        driver.commit()
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR"
        raise error

    commit = dialects.commit
    async with SqlStore(f"sqlite:///{tmp_path}/b.db", owner="club", schema=1) as store:
        held = await begun(store, "abc")
        monkeypatch.setattr(dialects, "commit", stored_and_lost)
        outcomes = await together(
            store,
            lambda: [
                held["a"].journal.append(entry(1)),
                held["b"].journal.append(entry(7)),
                store.record("c", HELLO, HELLO),
            ],
        )

        assert isinstance(outcomes.pop(1), NotStored)
        assert outcomes == [None, None]
        assert (await versions(store, "a"), len(await store.said("c"))) == ([1], 2)


async def test_a_cancelled_writers_entry_is_written(store: SqlStore, sizes: list[int]) -> None:
    held = await begun(store, "abc")
    shared = {name: SharedState.restored(held[name], Board, None) for name in "abc"}
    with busy(store):
        await asyncio.sleep(0)
        writing = {
            name: asyncio.create_task(shared[name].apply(Score(name="ann"), actor="judge"))
            for name in "abc"
        }
        for _ in range(3):
            await asyncio.sleep(0)
        writing["b"].cancel()
        await asyncio.sleep(0)

    applied = await asyncio.gather(*writing.values())

    assert [one.version for one in applied] == [1, 1, 1]
    assert [await versions(store, name) for name in "abc"] == [[1], [1], [1]]
    assert sizes == [3]


async def test_several_event_loops_may_ask(store: SqlStore, sizes: list[int]) -> None:
    held = await begun(store, "ab")
    theirs: list[object] = []
    asked = threading.Event()

    async def another() -> None:
        answer = held["b"].journal.append(entry(1))
        asked.set()
        await answer
        theirs.append("written")

    with busy(store):
        await asyncio.sleep(0)
        ours = held["a"].journal.append(entry(1))
        other = threading.Thread(target=lambda: asyncio.run(another()))
        other.start()
        asked.wait(30)
    await ours
    await asyncio.to_thread(other.join)

    assert theirs == ["written"]
    assert sizes == [2]
    assert [await versions(store, name) for name in "ab"] == [[1], [1]]


async def test_one_loop_hears_of_a_group_at_once(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await begun(store, "abc")
    loop = asyncio.get_running_loop()
    woken: list[object] = []
    call = loop.call_soon_threadsafe

    def counted(callback: Any, *arguments: Any, **more: Any) -> Any:
        woken.append(callback)
        return call(callback, *arguments, **more)

    with busy(store):
        await asyncio.sleep(0)
        asked = [held[name].journal.append(entry(1)) for name in "abc"]
        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
    await asyncio.gather(*asked)

    assert len(woken) == 2  # what kept the thread busy, and the group


async def test_a_group_is_looked_up_and_inserted_by_one_statement_each(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await begun(store, "abcdefgh")
    asked: list[int] = []
    present, insert = driver_statements.lock_heads, driver_statements.insert

    def looked_up(driver: Any, state_ids: Sequence[str], **more: Any) -> Any:
        asked.append(len(state_ids))
        return present(driver, state_ids, **more)

    def inserted(driver: Any, table: Any, rows: Sequence[Any]) -> bool:
        asked.append(len(rows))
        return insert(driver, table, rows)

    monkeypatch.setattr(driver_statements, "lock_heads", looked_up)
    monkeypatch.setattr(driver_statements, "insert", inserted)

    await together(store, lambda: [held[name].journal.append(entry(1)) for name in "abcdefgh"])

    assert asked == [8, 8]
