"""The lease on a room: its holder keeps it across clock steps and database faults."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.app.rooms.room_lease import DATABASE_WAIT_S, LEASE_S, RENEW_EVERY_S, WATCH_S, RoomLease
from state.shared import JournalFault, LeaseHeld, SqlStore

PLACE = "bella-vista/hall"
SEVEN = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)


class Time:
    """A clock, and the loop's: both advance only when the code sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = SEVEN
        self.slept = 0.0
        self.meanwhile: list[RoomLease] = []
        """Agents that are alive: they renew their places as long as somebody sleeps."""
        loop = asyncio.get_running_loop()
        began, asleep = loop.time(), asyncio.sleep

        async def sleep(seconds: float) -> None:
            self.slept += seconds
            self.clock += timedelta(seconds=seconds)
            for lease in self.meanwhile:
                await lease.renew()
            await asleep(0)

        monkeypatch.setattr("agents.app.rooms.room_lease.asyncio.sleep", sleep)
        monkeypatch.setattr(loop, "time", lambda: began + self.slept)


@pytest.fixture
async def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.fixture
async def store(tmp_path: Path, time: Time) -> AsyncIterator[SqlStore]:
    address = f"sqlite:///{tmp_path}/orders.db"
    async with SqlStore(address, owner="house", schema=1, now=lambda: time.clock) as store:
        yield store


@pytest.fixture
async def leases(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., RoomLease]]:
    """Makes leases that renew themselves only when the test says so."""
    made: list[RoomLease] = []

    async def forever(lease: RoomLease) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(RoomLease, "_renew", forever)

    def lease(job: str, supersedes: str | None = None) -> RoomLease:
        made.append(
            RoomLease(
                store, PLACE, job, supersedes=supersedes, tries=None, lost=lambda: lost.append(job)
            )
        )
        return made[-1]

    yield lease
    for one in made:
        await one.release(done=True)


lost: list[str] = []


@pytest.fixture(autouse=True)
def nobody_has_lost() -> None:
    lost.clear()


async def test_a_free_place_is_had_at_once(leases: Callable[..., RoomLease], time: Time) -> None:
    assert await leases("AJ_1").acquire()

    assert time.slept == 0


@pytest.mark.parametrize("by", [timedelta(), timedelta(hours=2), -timedelta(hours=2)])
async def test_a_living_agent_keeps_its_place_however_the_clock_is_set(
    leases: Callable[..., RoomLease], time: Time, by: timedelta
) -> None:
    living = leases("AJ_1")
    assert await living.acquire()
    time.meanwhile.append(living)
    time.clock += by

    assert not await leases("AJ_2").acquire()

    assert await living.renew()
    assert lost == []
    assert time.slept <= WATCH_S


@pytest.mark.parametrize("by", [timedelta(), timedelta(hours=2), -timedelta(hours=2)])
async def test_the_place_of_a_dead_agent_is_had_in_some_seconds_however_the_clock_is_set(
    leases: Callable[..., RoomLease], store: SqlStore, time: Time, by: timedelta
) -> None:
    await leases("AJ_dead").acquire()
    await store.create("a", lambda ordinal: "{}")
    await store.leases.assign(PLACE, "AJ_dead", state_id="a", user="g")
    time.clock += by
    lease = leases("AJ_2")

    assert await lease.acquire()

    assert (lease.lease.state_id, lease.lease.user) == ("a", "g")
    assert time.slept <= WATCH_S + LEASE_S + RENEW_EVERY_S


async def test_a_replacement_that_names_the_dead_agent_does_not_wait(
    leases: Callable[..., RoomLease], time: Time
) -> None:
    await leases("AJ_dead").acquire()

    assert await leases("AJ_2", supersedes="AJ_dead").acquire()

    assert time.slept == 0


async def test_of_two_replacements_that_come_at_once_one_stays(
    leases: Callable[..., RoomLease], time: Time
) -> None:
    await leases("AJ_dead").acquire()
    first, second = leases("AJ_2", supersedes="AJ_dead"), leases("AJ_3", supersedes="AJ_dead")
    assert await first.acquire()
    time.meanwhile.append(first)

    assert not await second.acquire()

    assert await first.renew()


async def test_failed_renewals_do_not_lose_a_lease_that_is_not_taken(
    leases: Callable[..., RoomLease],
    time: Time,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    store: SqlStore,
) -> None:
    lease = leases("AJ_1")
    await lease.acquire()

    async def fails(*_: object, **__: object) -> None:
        raise JournalFault("The leases", "the disk is full")

    with monkeypatch.context() as broken, caplog.at_level(logging.WARNING):
        broken.setattr(store.leases, "renew", fails)
        for _ in range(20):
            time.clock += timedelta(seconds=RENEW_EVERY_S)
            assert await lease.renew()
    assert await lease.renew()

    assert lost == []
    assert len(caplog.messages) == 1


async def test_no_other_agent_gets_the_room_between_two_calls(
    leases: Callable[..., RoomLease],
    store: SqlStore,
    time: Time,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lease = leases("AJ_1")
    await lease.acquire()
    await store.create("a", lambda ordinal: "{}")
    await lease.record_state("a", "g")
    refused = 0
    address = f"sqlite:///{tmp_path}/orders.db"
    async with SqlStore(address, owner="house", schema=1, now=lambda: time.clock) as elsewhere:

        async def another_asks(access: Callable[[Any], Awaitable[Any]], work: Any) -> Any:
            nonlocal refused
            done = await access(work)
            with pytest.raises(LeaseHeld):
                await elsewhere.leases.take(PLACE, "AJ_2", seconds=LEASE_S)
            refused += 1
            return done

        with monkeypatch.context() as interleaved:
            for access in ("in_places", "in_leases"):
                steps = partial(another_asks, getattr(store._access, access))
                interleaved.setattr(store._access, access, steps)
            await lease.reset()

        found = await elsewhere.leases.at(PLACE)
    assert found is not None
    assert (found.holder, found.open) == ("AJ_1", False)
    assert refused > 0
    assert lost == []


@pytest.mark.parametrize("succeed", range(6))
async def test_a_room_whose_database_fails_between_two_calls_stays_ours(
    leases: Callable[..., RoomLease],
    store: SqlStore,
    monkeypatch: pytest.MonkeyPatch,
    time: Time,
    succeed: int,
) -> None:
    lease = leases("AJ_1")
    await lease.acquire()
    await store.create("a", lambda ordinal: "{}")
    await lease.record_state("a", "g")
    asked = 0

    async def fails(access: Callable[[Any], Awaitable[Any]], work: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > succeed:
            raise JournalFault("The database", "the disk is full")
        return await access(work)

    with monkeypatch.context() as broken:
        for access in ("in_places", "in_leases"):
            steps = partial(fails, getattr(store._access, access))
            broken.setattr(store._access, access, steps)
        await lease.reset()

    assert await lease.renew()
    assert lost == []
    assert time.slept == 0


async def test_a_room_that_another_agent_has_taken_between_two_calls_is_lost(
    leases: Callable[..., RoomLease],
) -> None:
    first, second = leases("AJ_1"), leases("AJ_2", supersedes="AJ_1")
    await first.acquire()
    await second.acquire()

    await first.reset()

    assert lost == ["AJ_1"]


async def test_a_place_whose_database_is_locked_is_waited_for_but_not_for_ever(
    leases: Callable[..., RoomLease], time: Time, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sqlite3
    from contextlib import closing

    from state.shared.sql import dialects, thread

    monkeypatch.setattr(dialects, "BUSY_S", 0.0)
    monkeypatch.setattr(thread, "LOCK_S", 0.0)
    file = tmp_path / "orders.db"
    assert await leases("AJ_0").acquire()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalFault, match="locked"):
            await leases("AJ_1", supersedes="AJ_0").acquire()
        assert time.slept == DATABASE_WAIT_S + RENEW_EVERY_S

    assert await leases("AJ_2", supersedes="AJ_0").acquire()
