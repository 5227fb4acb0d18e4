"""Many conversations at once in one process: none is refused because of the others."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from agents.testing import until
from state.shared import Moment, NotStored, SharedState, SqlStore
from state.shared.sql import dialects, thread
from state.shared.sql.database import Database
from state.shared.sql.store import _SqlJournal
from tests.state.shared.at_commit import before_commit
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand

EMPTY = Board().model_dump_json()
CROWD = 1000
Shared = SharedState[Board, None]


@pytest.fixture
async def store(address: str) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1) as store:
        yield store


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[None]]:
    """One for each commit of changes; a group ends by its size, however slow the machine is."""
    monkeypatch.setattr(thread, "GROUP_S", 60.0)
    done: list[None] = []
    with before_commit(lambda driver: done.append(None)):
        yield done


async def crowd(store: SqlStore, count: int = CROWD) -> list[Shared]:
    """Begin so many states in one transaction: how that is done is tried elsewhere."""
    await store.create("0", lambda ordinal: EMPTY)

    def begin(database: Database) -> None:
        from sqlalchemy import insert, select

        from state.shared.sql.tables import seal_of_state, states

        def work(connection: Any) -> None:
            first = dict(connection.execute(select(states)).mappings().one())
            rows = [
                first | {"state_id": str(number), "ordinal": number + 1}
                for number in range(1, count)
            ]
            connection.execute(
                insert(states), [row | {"checksum": seal_of_state(row)} for row in rows]
            )

        database.db.run(work, writes=True)

    await store._access._states.ask(begin)
    first = await store.read("0")
    return [
        SharedState.restored(
            replace(first, journal=_SqlJournal(store._access, str(number), None)),
            Board,
            None,
        )
        for number in range(count)
    ]


async def queued_together(store: SqlStore, changes: Sequence[Awaitable[Any]]) -> list[Any]:
    """Queue all changes before the thread takes the first, so that no slow machine makes small groups of them."""
    queue = store._access._states
    all_queued = threading.Event()
    held = queue.ask(lambda database: all_queued.wait(60))
    tasks = [asyncio.ensure_future(change) for change in changes]
    await until(lambda: queue._requests.qsize() >= len(tasks), what="all are queued")
    all_queued.set()
    assert await held
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_thousand_concurrent_writes_take_few_transactions(
    store: SqlStore, transactions: list[None]
) -> None:
    everybody = await crowd(store)
    transactions.clear()

    applied = await queued_together(
        store, [shared.apply(Score(name="ann"), actor="judge") for shared in everybody]
    )

    assert [one.version for one in applied] == [1] * CROWD
    # At half a second each that is less than ten seconds.
    assert len(transactions) <= CROWD // 64 + 1
    listed = await store.list(limit=2 * CROWD)
    assert [one.version for one in listed] == [1] * CROWD


async def test_transcripts_and_changes_of_many_states_share_transactions(
    store: SqlStore, transactions: list[None]
) -> None:
    everybody = await crowd(store, 200)
    transactions.clear()

    async def converse(number: int, shared: Shared) -> None:
        for turn in range(3):
            heard = store.record(str(number), Moment(turn, "heard", "guest", f"{turn}"))
            await shared.apply(Score(name="ann"), actor="judge", turn=turn)
            await store.record(str(number), Moment(turn, "said", "ann", f"{turn}"))
            await heard

    await asyncio.gather(*(converse(number, shared) for number, shared in enumerate(everybody)))

    assert [shared.version for shared in everybody] == [3] * 200
    # Eighteen hundred rows.
    assert len(transactions) < 120
    for number in (0, 99, 199):
        said = [(moment.turn, moment.kind) for moment in await store.said(str(number))]
        assert said == [(turn, kind) for turn in range(3) for kind in ("heard", "said")]


async def test_two_processes_worth_of_them_share_a_database(address: str, store: SqlStore) -> None:
    everybody = await crowd(store, 100)
    async with SqlStore(address, owner="club", schema=1) as other:
        staff = [
            SharedState.restored(await other.read(str(number)), Board, None)
            for number in range(100)
        ]

        async def both(one: Shared, other: Shared) -> None:
            await asyncio.gather(
                one.apply(Score(name="ann"), actor="judge"),
                other.apply(Score(name="bob"), actor="staff"),
            )

        await asyncio.gather(*map(both, everybody, staff))

        assert [one.version for one in await other.list(limit=200)] == [2] * 100


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_while_the_database_is_locked_all_are_refused_together(
    address: str, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody = await crowd(store, 256)
    await store.close()
    monkeypatch.setattr(dialects, "BUSY_S", 0.01)
    monkeypatch.setattr(thread, "LOCK_S", 0.01)
    async with SqlStore(address, owner="club", schema=1) as impatient:
        everybody = [
            SharedState.restored(await impatient.read(str(number)), Board, None)
            for number in range(256)
        ]
        tried: list[int] = []
        write = Database.write

        def counted(database: Database, wanted: Any, *, alone: bool = False) -> Any:
            tried.append(len(wanted))
            return write(database, wanted, alone=alone)

        monkeypatch.setattr(Database, "write", counted)
        with by_hand(address) as other:
            other("BEGIN IMMEDIATE")
            for _ in range(3):
                outcomes = await queued_together(
                    impatient,
                    [shared.apply(Score(name="ann"), actor="judge") for shared in everybody],
                )
                assert {type(one) for one in outcomes} == {NotStored}
                assert all("locked the database" in str(one) for one in outcomes)
            other("ROLLBACK")
        waited = len(tried)
        await asyncio.gather(
            *(shared.apply(Score(name="ann"), actor="judge") for shared in everybody)
        )

    # Four groups: two seconds each.
    assert waited <= 3 * 4
    assert [shared.version for shared in everybody] == [1] * 256


async def test_a_crowd_may_begin_at_once(store: SqlStore) -> None:
    held = await asyncio.gather(
        *(store.create(str(number), lambda ordinal: EMPTY) for number in range(300))
    )

    assert sorted(one.ordinal for one in held) == list(range(1, 301))
