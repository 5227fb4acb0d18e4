"""Opening a call's order while another program has the database: it is waited for, and it is the same order."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from agents.app.job_metadata import JobMetadata
from agents.app.rooms.room_lease import DATABASE_WAIT_S, RoomLease
from agents.app.rooms.state_of_call import Opened, open_for
from bella_vista.app import APP
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from state.shared import Lease, SqlStore
from tests.bella_vista.small_restaurant import MENU
from tests.stored_orders import StateFaults, new_order, open_store

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
FREE = Lease("bella-vista/hall", "house", "AJ_1", NOON, NOON + timedelta(seconds=2))


@pytest.fixture
def context() -> OrderContext:
    return OrderContext(menu=load_menu(MENU), now=lambda: NOON, new_id=lambda: str(uuid4()))


@pytest.fixture
async def store(
    tmp_path: Path, context: OrderContext, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SqlStore]:
    monkeypatch.setattr("state.shared.sql.dialects.BUSY_S", 0.0)
    monkeypatch.setattr("state.shared.sql.thread.LOCK_S", 0.0)
    async with open_store(f"sqlite:///{tmp_path}/orders.db", context.menu.restaurant.id) as store:
        await store.list(1)
        yield store


@pytest.fixture
def locked(tmp_path: Path, store: SqlStore) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "orders.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def lets_go_after(
    sleeps: int, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """Have the other program end its transaction when it has been waited for so often."""
    slept: list[float] = []
    loop, asleep = asyncio.get_running_loop(), asyncio.sleep
    real = loop.time

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == sleeps:
            other.execute("ROLLBACK")
        await asleep(0)

    monkeypatch.setattr("agents.app.rooms.room_lease.asyncio.sleep", sleep)
    monkeypatch.setattr(loop, "time", lambda: real() + sum(slept))
    return slept


async def opened(
    store: SqlStore, context: OrderContext, lease: Lease = FREE, **metadata: str
) -> Opened[OrderState, OrderContext]:
    return await open_for(
        APP,
        store,
        context,
        JobMetadata(**metadata),  # type: ignore[arg-type]  # texts all
        lease,
        user="ada",
        channel="web_text",
        secret="a-secret-of-the-tests-that-is-long-enough",
    )


async def test_a_new_order_is_begun_once_when_the_database_is_free(
    store: SqlStore,
    context: OrderContext,
    locked: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    lets_go_after(3, locked, monkeypatch)
    with caplog.at_level(logging.WARNING):
        begun = await opened(store, context)

    assert [one.state_id for one in await store.list()] == [begun.shared.state.order_id]
    assert ["state not opened yet" in line for line in caplog.messages] == [True] * 3


async def test_an_order_that_goes_on_is_not_given_up_for_a_new_one(
    store: SqlStore,
    context: OrderContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = (await new_order(store, context, "web_text")).state.order_id
    at = Lease("bella-vista/hall", "house", "AJ_1", NOON, NOON, order, "ada")
    with closing(sqlite3.connect(tmp_path / "orders.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        lets_go_after(2, other, monkeypatch)

        resumed = await opened(store, context, at)

    assert resumed.resumed
    assert resumed.shared.state.order_id == order
    assert len(await store.list()) == 1


async def test_an_order_that_cannot_be_read_is_left_as_it_is_and_said_so(
    store: SqlStore, context: OrderContext, caplog: pytest.LogCaptureFixture
) -> None:
    order = (await new_order(store, context, "web_text")).state
    text = order.model_copy(update={"order_id": "strange"}).model_dump_json()
    text = text.replace('"person_wanted"', '"wants_person"')
    await store.create("strange", lambda ordinal: text)
    at = Lease("bella-vista/hall", "house", "AJ_1", NOON, NOON, "strange", "ada")

    with caplog.at_level(logging.ERROR):
        begun = await opened(store, context, at)

    assert begun.preamble == APP.rooms.words.unreadable
    assert begun.shared.state.order_id not in (order.order_id, "strange")
    assert ["(wants_person: unknown)" in line for line in caplog.messages] == [True]
    kept = await store.read("strange")
    assert (kept.state, kept.entries) == (text, ())


async def test_it_is_not_waited_for_for_ever(
    store: SqlStore,
    context: OrderContext,
    locked: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept = lets_go_after(10_000, locked, monkeypatch)

    with pytest.raises(StateFaults, match="locked"):
        await opened(store, context)

    assert DATABASE_WAIT_S - 1 < sum(slept) < DATABASE_WAIT_S + 1


async def test_a_permanent_fault_is_reported_at_once(
    store: SqlStore, context: OrderContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = lets_go_after(10_000, sqlite3.connect(":memory:"), monkeypatch)
    for file in await store.eraser.files():
        file.write_bytes(b"this is no database" * 1000)

    with pytest.raises(StateFaults, match="no database"):
        await opened(store, context)

    assert slept == []


async def test_the_room_is_settled_when_the_database_is_free(
    store: SqlStore,
    context: OrderContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(seat: RoomLease) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(RoomLease, "_renew", never)
    order = (await new_order(store, context, "web_text")).state.order_id
    seat = RoomLease(
        store, FREE.place, "AJ_1", supersedes=None, tries=None, lost=lambda: pytest.fail("lost")
    )
    assert await seat.acquire()
    with closing(sqlite3.connect(tmp_path / "orders.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with monkeypatch.context() as waiting:
            lets_go_after(2, other, waiting)
            await seat.record_state(order, "ada")

    lease = await store.leases.of(order)
    await seat.release(done=True)
    assert lease is not None
    assert (lease.place, lease.user) == (FREE.place, "ada")
