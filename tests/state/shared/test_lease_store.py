"""Leases beside the states: neither store waits for the other, and a lost lease harms no state."""

import asyncio
import logging
import os
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from state.shared import (
    JournalFault,
    LeaseHeld,
    LeaseLost,
    Moment,
    SharedState,
    SqlStore,
    TakenOver,
)
from tests.postgres import Server
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand, lease_store

EMPTY = Board().model_dump_json()
SEVEN = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
LASTS = 2.0
HOURS = timedelta(hours=2)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.time = SEVEN

    def __call__(self) -> datetime:
        return self.time

    def goes_on(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(address: str, clock: Clock) -> AsyncIterator[SqlStore]:
    async with SqlStore(address, owner="club", schema=1, now=clock) as store:
        yield store


@pytest.fixture
async def other(address: str, clock: Clock) -> AsyncIterator[SqlStore]:
    """The same club's, in another process."""
    async with SqlStore(address, owner="club", schema=1, now=clock) as store:
        yield store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a database."""
    return tmp_path / "boards.db"


@pytest.fixture
async def on_file(file: Path, clock: Clock) -> AsyncIterator[SqlStore]:
    async with SqlStore(f"sqlite:///{file}", owner="club", schema=1, now=clock) as store:
        yield store


def beside(file: Path) -> Path:
    return Path(f"{file}.leases")


async def take(store: SqlStore, holder: str, place: str = "hall", **more: Any) -> Any:
    return await store.leases.take(place, holder, seconds=LASTS, **more)


async def renew(store: SqlStore, holder: str, place: str = "hall") -> None:
    await store.leases.renew(place, holder, seconds=LASTS)


async def at_work(
    store: SqlStore, holder: str = "ann", place: str = "hall"
) -> SharedState[Board, None]:
    """Somebody at work on a state, whose id is the holder's name."""
    await take(store, holder, place)
    stored = await store.create(holder, lambda ordinal: EMPTY)
    await store.leases.assign(place, holder, state_id=holder, user=f"guest of {holder}")
    return SharedState.restored(stored, Board, None)


class TestBesideTheStates:
    async def test_no_renewal_waits_for_changes_of_states(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        shared = await at_work(store)
        stuck, go_on = threading.Event(), threading.Event()

        def slow(ordinal: int) -> str:
            stuck.set()
            assert go_on.wait(30)
            return EMPTY

        creating = asyncio.create_task(store.create("slow", slow))
        await asyncio.sleep(0)  # it is the first in the thread
        writing = [
            asyncio.ensure_future(store.record("ann", Moment(1, "heard", "guest", str(number))))
            for number in range(100)
        ]
        await asyncio.to_thread(stuck.wait, 30)

        for _ in range(20):  # ten seconds, all within one commit
            clock.goes_on(0.5)
            await renew(store, "ann")
        assert not creating.done()
        assert not any(one.done() for one in writing)

        go_on.set()
        await creating
        await asyncio.gather(*writing)
        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(LeaseHeld):
            await take(other, "bob")

    async def test_no_renewal_fails_while_another_program_has_locked_the_database_for_a_minute(
        self,
        store: SqlStore,
        other: SqlStore,
        address: str,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        from state.shared.sql import dialects

        monkeypatch.setattr(dialects, "BUSY_S", 0.05)
        shared = await at_work(store)
        with by_hand(address) as hand:
            hand("BEGIN IMMEDIATE" if address.startswith("sqlite") else "BEGIN")
            hand("UPDATE states SET fence = fence")
            for _ in range(120):
                clock.goes_on(0.5)
                await renew(store, "ann")
            assert await other.leases.lost() == []
            hand("ROLLBACK")

        await shared.apply(Score(name="ann"), actor="judge")
        with pytest.raises(LeaseHeld):
            await take(other, "bob")

    async def test_nothing_keeps_the_store_locked_from_one_statement_to_the_next(
        self, on_file: SqlStore, file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a busy machine a thread that holds a lock may wait for seconds until it is its turn."""
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        free: list[str] = []

        def look(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            with by_hand(f"sqlite:///{beside(file)}") as hand:
                hand("PRAGMA busy_timeout = 0")
                hand("BEGIN EXCLUSIVE")
                hand("ROLLBACK")
            free.append(statement.split()[0])

        await at_work(on_file)
        event.listen(Engine, "before_cursor_execute", look)
        try:
            await renew(on_file, "ann")
            clock.goes_on(LASTS)
            await take(on_file, "bob")
            await on_file.leases.assign("hall", "bob", state_id="ann", user=None)
            await take(on_file, "carl", "garden")
            await on_file.leases.assign("garden", "carl", state_id="ann", user=None)
            clock.time -= HOURS
            await on_file.leases.lost()
            await on_file.leases.release("garden", "carl", done=False)
        finally:
            event.remove(Engine, "before_cursor_execute", look)

        assert {"SELECT", "INSERT", "UPDATE", "DELETE"} <= {*free}

    async def test_no_renewal_waits_for_a_disk(
        self, address: str, store: SqlStore, clock: Clock
    ) -> None:
        await at_work(store)
        waits = {"sqlite": "PRAGMA synchronous", "postgresql": "SHOW synchronous_commit"}
        ask = waits[address.partition(":")[0]]

        def asked(of: Any) -> Any:
            return of.db.run(
                lambda connection: connection.exec_driver_sql(ask).scalar_one(), writes=False
            )

        assert await store._access._leases.ask(asked) in (0, "off")
        assert await store._access._states.ask(asked) in (2, "on")

    async def test_the_file_is_this_users_alone_and_is_named(
        self, on_file: SqlStore, file: Path
    ) -> None:
        await at_work(on_file)

        mode = beside(file).stat().st_mode

        assert stat.S_IMODE(mode) == 0o600
        assert beside(file) in await on_file.eraser.files()

    async def test_nothing_that_ended_is_left_in_the_file(
        self, on_file: SqlStore, file: Path
    ) -> None:
        for number in range(50):
            await take(on_file, f"job {number}", f"call 212 555 {number:04}")
        assert b"212 555" in beside(file).read_bytes()

        assert await on_file.eraser.drop_leases(lambda text: "212 555" in text) == 50
        await on_file.eraser.wipe()

        left = b"".join(path.read_bytes() for path in await on_file.eraser.files())
        assert b"212 555" not in left
        with pytest.raises(LeaseLost):
            await renew(on_file, "job 7", "call 212 555 0007")

    async def test_where_the_states_are_in_memory_so_are_the_leases(self, clock: Clock) -> None:
        before = set(Path.cwd().iterdir())
        async with SqlStore("sqlite://", owner="club", schema=1, now=clock) as store:
            await at_work(store)
            with pytest.raises(LeaseHeld):
                await take(store, "bob")
            clock.goes_on(LASTS)
            assert (await take(store, "bob")).state_id == "ann"
            assert await store.eraser.files() == []
        assert set(Path.cwd().iterdir()) == before

    async def test_trying_to_write_changes_nothing(self, store: SqlStore, address: str) -> None:
        await at_work(store)
        lease = await store.leases.at("hall")

        await store.try_writing()

        assert await store.leases.at("hall") == lease
        with by_hand(lease_store(address)) as hand:
            assert hand("SELECT * FROM withdrawn") == []


def delete(file: Path) -> None:
    file.unlink()


def overwrite(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(os.urandom(3000))


def overwrite_its_end(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(os.urandom(file.stat().st_size - 4096))


def truncate(file: Path) -> None:
    os.truncate(file, 5000)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def replace_by_another_programs(file: Path) -> None:
    new = file.with_name("new")
    with by_hand(f"sqlite:///{new}") as hand:
        hand("CREATE TABLE leases (name TEXT)")
    new.replace(file)


def drop_a_table(file: Path) -> None:
    with by_hand(f"sqlite:///{file}") as hand:
        hand("DROP TABLE withdrawn")
        hand("DROP TABLE leases")


def damage_the_times(file: Path) -> None:
    with by_hand(f"sqlite:///{file}") as hand:
        hand("UPDATE leases SET until = 'soon'")


FAULTS = [
    delete,
    overwrite,
    overwrite_its_end,
    truncate,
    empty,
    replace_by_another_programs,
    drop_a_table,
    damage_the_times,
]


class TestALeaseStoreThatFails:
    @pytest.mark.parametrize("fault", FAULTS)
    async def test_holders_keep_their_leases(
        self, on_file: SqlStore, file: Path, clock: Clock, fault: Callable[[Path], None]
    ) -> None:
        shared = await at_work(on_file)
        async with SqlStore(f"sqlite:///{file}", owner="club", schema=1, now=clock) as other:
            await at_work(other, "bob", "garden")
            clock.goes_on(0.5)
            fault(beside(file))

            await renew(on_file, "ann")
            await renew(other, "bob", "garden")

            for store, place in ((other, "hall"), (on_file, "garden")):
                with pytest.raises(LeaseHeld):
                    await take(store, "carl", place)
            clock.goes_on(LASTS - 0.5)
            assert await other.leases.lost() == []
            lease = await other.leases.at("hall")
            assert lease is not None
            assert (lease.holder, lease.state_id, lease.user) == ("ann", "ann", "guest of ann")
            await shared.apply(Score(name="ann"), actor="judge")
            await on_file.leases.release("hall", "ann", done=True)
            assert await other.leases.at("hall") is None

    @pytest.mark.parametrize("fault", FAULTS)
    async def test_a_new_call_is_taken_all_the_same(
        self, on_file: SqlStore, file: Path, fault: Callable[[Path], None]
    ) -> None:
        await at_work(on_file)
        fault(beside(file))

        assert not (await take(on_file, "bob", "garden")).open
        with pytest.raises(LeaseHeld):
            await take(on_file, "carl", "garden")

    @pytest.mark.parametrize("what", ["place", "holder"])
    async def test_a_name_that_cannot_be_stored_costs_nobody_a_lease(
        self, store: SqlStore, what: str
    ) -> None:
        await at_work(store)
        names = {"place": "garden", "holder": "bob", what: "lone \ud800"}
        refusal = "^A text cannot be used: it holds characters that the database cannot store"

        with pytest.raises(JournalFault, match=refusal):
            await take(store, **names)

        with pytest.raises(LeaseHeld):
            await take(store, "carl")
        await renew(store, "ann")

    async def test_it_is_told_once(
        self, on_file: SqlStore, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        await at_work(on_file)
        overwrite(beside(file))
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                await renew(on_file, "ann")

        (line,) = caplog.messages
        assert line.startswith("recreated the lease store")
        assert "guest" not in line

    async def test_one_that_can_only_be_read_is_replaced(
        self, on_file: SqlStore, file: Path
    ) -> None:
        await at_work(on_file)
        inode = beside(file).stat().st_ino
        beside(file).chmod(0o400)
        await pragma(on_file, "query_only=ON")  # the superuser writes whatever the mode says

        await renew(on_file, "ann")

        assert beside(file).stat().st_ino != inode or beside(file).stat().st_mode & stat.S_IWUSR
        with pytest.raises(LeaseHeld):
            await take(on_file, "bob")

    async def test_on_a_full_disk_it_stays_as_it_is_and_the_caller_is_told(
        self, on_file: SqlStore, file: Path, clock: Clock
    ) -> None:
        await at_work(on_file)
        inode = beside(file).stat().st_ino
        await pragma(on_file, "max_page_count=1")

        taken = await asyncio.gather(
            *(take(on_file, "bob", f"place {number}") for number in range(100)),
            return_exceptions=True,
        )
        faults = [one for one in taken if isinstance(one, JournalFault)]
        assert {fault.why for fault in faults} == {"the disk is full"}
        clock.goes_on(60)
        await renew(on_file, "ann")

        assert beside(file).stat().st_ino == inode

    async def test_a_file_that_cannot_be_replaced_is_an_error(
        self, on_file: SqlStore, file: Path
    ) -> None:
        await at_work(on_file)
        beside(file).unlink()
        beside(file).mkdir()

        with pytest.raises(JournalFault, match=r"boards\.db\.leases cannot be used"):
            await renew(on_file, "ann")
        beside(file).rmdir()
        await renew(on_file, "ann")

    async def test_a_locked_lease_file_is_reported_and_no_lease_is_lost(
        self, on_file: SqlStore, file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from state.shared.sql import dialects

        monkeypatch.setattr(dialects, "BUSY_S", 0.05)
        await at_work(on_file)
        with by_hand(f"sqlite:///{beside(file)}") as hand:
            hand("BEGIN IMMEDIATE")
            for holder, ask, place in (("ann", renew, "hall"), ("bob", take, "garden")):
                with pytest.raises(JournalFault, match="locked") as fault:
                    await ask(on_file, holder, place)
                assert fault.value.passing
            clock.goes_on(60)
            hand("ROLLBACK")

        await renew(on_file, "ann")
        with pytest.raises(LeaseHeld):
            await take(on_file, "bob")

    async def test_many_processes_that_find_it_spoilt_agree_in_the_end(
        self, file: Path, clock: Clock, closing: AsyncExitStack
    ) -> None:
        url = f"sqlite:///{file}"
        more = (SqlStore(url, owner="club", schema=1, now=clock) for _ in range(6))
        stores = [await closing.enter_async_context(one) for one in more]
        for number, one in enumerate(stores):
            await at_work(one, str(number), str(number))
        for fault in FAULTS:
            clock.goes_on(0.5)
            fault(beside(file))
            await asyncio.gather(
                *(renew(one, str(number), str(number)) for number, one in enumerate(stores))
            )
            # What one of them made may have been deleted by another: the next renewals are in one file.
            await asyncio.gather(
                *(renew(one, str(number), str(number)) for number, one in enumerate(stores))
            )
            assert await stores[0].leases.lost() == []
            for number in range(len(stores)):
                with pytest.raises(LeaseHeld):
                    await take(stores[0], "late", str(number))


class TestAfterAPowerCut:
    async def test_the_next_holder_resumes_the_same_state(self, address: str, clock: Clock) -> None:
        async with SqlStore(address, owner="club", schema=1, now=clock) as before:
            shared = await at_work(before)
            await shared.apply(Score(name="ann"), actor="judge")
        lose_the_leases(address)
        clock.goes_on(1)

        async with SqlStore(address, owner="club", schema=1, now=clock) as after:
            (lost,) = await after.leases.lost()
            lease = await take(after, "bob")
            going_on = SharedState.restored(await after.take(lease.state_id or ""), Board, None)

        assert (lost.place, lost.holder, lost.state_id) == ("hall", "ann", "ann")
        assert lost.until <= clock.time
        assert (lease.state_id, lease.user) == ("ann", "guest of ann")
        assert going_on.state.scores == {"ann": 1}

    async def test_a_released_lease_is_not_recreated(self, address: str, clock: Clock) -> None:
        async with SqlStore(address, owner="club", schema=1, now=clock) as before:
            await at_work(before)
            await before.leases.release("hall", "ann", done=True)
        lose_the_leases(address)

        async with SqlStore(address, owner="club", schema=1, now=clock) as after:
            assert await after.leases.lost() == []
            assert not (await take(after, "bob")).open

    async def test_a_server_that_forgets_its_last_commits_costs_no_call(
        self, store: SqlStore, other: SqlStore, address: str
    ) -> None:
        shared = await at_work(store)
        lose_the_leases(address)

        await renew(store, "ann")

        with pytest.raises(LeaseHeld):
            await take(other, "bob")
        await shared.apply(Score(name="ann"), actor="judge")

    async def test_the_first_to_take_the_lease_afterwards_keeps_it(
        self, store: SqlStore, other: SqlStore, address: str
    ) -> None:
        shared = await at_work(store)
        lose_the_leases(address)

        lease = await take(other, "bob")
        going_on = SharedState.restored(await other.take(lease.state_id or ""), Board, None)

        with pytest.raises(LeaseLost):
            await renew(store, "ann")
        with pytest.raises(TakenOver):
            await shared.apply(Score(name="ann"), actor="judge")
        await going_on.apply(Score(name="bob"), actor="judge")
        assert going_on.state.scores == {"bob": 1}


def lose_the_leases(address: str) -> None:
    """Remove what was written without waiting for the disk."""
    if address.startswith("sqlite"):
        Path(lease_store(address).removeprefix("sqlite:///")).unlink()
        return
    with by_hand(address) as hand:
        hand("TRUNCATE leases, withdrawn")


async def pragma(store: SqlStore, setting: str) -> None:
    await store._access._leases.ask(
        lambda leases: leases.db.run(
            lambda connection: connection.exec_driver_sql(f"PRAGMA {setting}").close(),
            writes=False,
        )
    )


class TestTheClock:
    @pytest.mark.parametrize("back", [timedelta(seconds=5), HOURS])
    async def test_a_dead_holders_lease_expires_when_the_clock_is_set_back(
        self, store: SqlStore, other: SqlStore, clock: Clock, back: timedelta
    ) -> None:
        await at_work(store)
        clock.time -= back

        with pytest.raises(LeaseHeld):
            await take(other, "bob")
        clock.goes_on(LASTS)

        assert [lease.holder for lease in await other.leases.lost()] == ["ann"]
        assert (await take(other, "bob")).state_id == "ann"

    async def test_a_released_lease_is_listed_when_the_clock_is_set_back(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        await at_work(store)
        await store.leases.release("hall", "ann", done=False)
        clock.time -= HOURS

        (lost,) = await other.leases.lost()

        assert (lost.holder, lost.until, lost.state_id) == (None, clock.time, "ann")
        clock.goes_on(6)
        (lost,) = await other.leases.lost()
        assert clock.time - lost.until == timedelta(seconds=6)

    @pytest.mark.parametrize("by", [-HOURS, -timedelta(seconds=1), timedelta(seconds=1), HOURS])
    async def test_a_living_holder_keeps_the_place_however_it_is_set(
        self, store: SqlStore, other: SqlStore, clock: Clock, by: timedelta
    ) -> None:
        await at_work(store)
        for _ in range(5):
            clock.time += by
            clock.goes_on(0.5)
            await renew(store, "ann")
            with pytest.raises(LeaseHeld):
                await take(other, "bob")
            assert await other.leases.lost() == []

    @pytest.mark.parametrize("by", [-HOURS, HOURS])
    async def test_the_time_held_does_not_depend_on_the_clock(
        self, store: SqlStore, clock: Clock, by: timedelta
    ) -> None:
        await take(store, "dead")
        clock.goes_on(LASTS)
        assert (await take(store, "ann")).tries == 1
        clock.time += by
        for _ in range(20):
            clock.goes_on(0.5)
            await renew(store, "ann")
        lease = await store.leases.at("hall")
        assert lease is not None
        assert lease.until - lease.since < timedelta(seconds=15)
        clock.goes_on(LASTS)
        assert (
            await take(store, "bob")
        ).tries == 2  # ann died after ten seconds, whatever the clock said

        for _ in range(121):
            clock.goes_on(0.5)
            await renew(store, "bob")
        clock.time += by
        await renew(store, "bob")
        clock.goes_on(LASTS)
        assert (await take(store, "carl")).tries == 1  # bob had it for a minute


Step = Callable[[], Awaitable[Any]]


def meanwhile(store: SqlStore, monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    """Have something happen between the moment at which a store sees its lease and what it does next."""
    check = store._access.in_leases
    left = [step]

    async def checked(work: Any, **more: Any) -> Any:
        result = await check(work, **more)
        if left:
            await left.pop()()
        return result

    monkeypatch.setattr(store._access, "in_leases", checked)


class TestBetweenTheTwoStores:
    async def test_a_place_that_is_lost_while_it_is_settled_is_the_others(
        self, store: SqlStore, other: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await take(store, "ann")
        await store.create("a", lambda ordinal: EMPTY)

        async def bob_comes() -> None:
            await take(other, "bob", supersedes="ann")
            await other.create("b", lambda ordinal: EMPTY)
            await other.leases.assign("hall", "bob", state_id="b", user="g")

        meanwhile(store, monkeypatch, bob_comes)
        with pytest.raises(LeaseLost):
            await store.leases.assign("hall", "ann", state_id="a", user="guest of ann")

        lease = await other.leases.at("hall")
        assert lease is not None
        assert (lease.holder, lease.state_id, lease.user) == ("bob", "b", "g")
        assert await other.leases.of("a") is None

    async def test_one_that_is_settled_too_late_is_settled_by_its_holder_then(
        self, store: SqlStore, other: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await take(store, "ann")
        await store.create("a", lambda ordinal: EMPTY)
        await store.create("b", lambda ordinal: EMPTY)

        async def bob_comes() -> None:
            assert not (await take(other, "bob", supersedes="ann")).open

        meanwhile(store, monkeypatch, bob_comes)
        await store.leases.assign("hall", "ann", state_id="a", user="guest of ann")
        await other.leases.assign("hall", "bob", state_id="b", user="g")

        with pytest.raises(LeaseLost):
            await renew(store, "ann")
        lease = await other.leases.at("hall")
        assert lease is not None
        assert (lease.holder, lease.state_id) == ("bob", "b")

    async def test_a_late_release_does_not_affect_the_next_holder(
        self, store: SqlStore, other: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await at_work(store)

        async def bob_comes() -> None:
            assert (await take(other, "bob", supersedes="ann")).state_id == "ann"
            await other.leases.assign("hall", "bob", state_id="ann", user="g")

        meanwhile(store, monkeypatch, bob_comes)
        await store.leases.release("hall", "ann", done=True)

        await renew(other, "bob")
        lease = await other.leases.at("hall")
        assert lease is not None
        assert (lease.holder, lease.state_id) == ("bob", "ann")

    async def test_a_crash_between_the_two_stores_has_moved_the_state(
        self, store: SqlStore, other: SqlStore, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shared = await at_work(store)
        await take(other, "bob", "garden")
        going_on = SharedState.restored(await other.take("ann"), Board, None)
        monkeypatch.setattr("state.shared.sql.leases.Leases.end", lambda *_: None)

        await other.leases.assign("garden", "bob", state_id="ann", user="g")

        moved = await store.leases.of("ann")
        assert moved is not None
        assert moved.place == "garden"
        # Ann was not told, and still nothing is written twice.
        await renew(store, "ann")
        with pytest.raises(TakenOver):
            await shared.apply(Score(name="ann"), actor="judge")
        await going_on.apply(Score(name="bob"), actor="judge")
        left = await store.leases.at("hall")
        assert left is not None
        assert not left.open

    async def test_a_cancellation_between_the_two_stores_moves_everything(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        for cancelled_after in range(60):
            state_id = f"s{cancelled_after}"
            await take(store, "ann")
            await store.create(state_id, lambda ordinal: EMPTY)
            await store.leases.assign("hall", "ann", state_id=state_id, user=None)
            await take(other, "bob", "garden")
            settling = asyncio.create_task(
                other.leases.assign("garden", "bob", state_id=state_id, user=None)
            )
            for _ in range(cancelled_after):
                await asyncio.sleep(0)
            settling.cancel()
            await asyncio.wait((settling,))
            await other.leases.lost()  # after whatever it had begun

            at = await store.leases.of(state_id)
            assert at is not None
            if at.place == "garden":
                with pytest.raises(LeaseLost):
                    await renew(store, "ann")
            else:
                await renew(store, "ann")
            await other.leases.release("garden", "bob", done=True)
            await store.leases.release("hall", "ann", done=True)

    async def test_a_frozen_holder_does_not_begin_anew_what_another_has_ended(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await at_work(store)
        await take(other, "bob", supersedes="ann")
        await other.leases.release("hall", "bob", done=True)

        with pytest.raises(LeaseLost):
            await renew(store, "ann")

        assert await other.leases.at("hall") is None

    async def test_a_returning_holder_has_the_lease_again(
        self, store: SqlStore, other: SqlStore, address: str, clock: Clock
    ) -> None:
        await at_work(store)
        await take(other, "bob", supersedes="ann")
        await take(store, "ann", supersedes="bob")
        lose_the_leases(address)

        await renew(store, "ann")


class TestOnAServer:
    async def test_of_two_concurrent_holders_the_later_one_records_its_state(
        self, postgresql: Server, clock: Clock
    ) -> None:
        with postgresql.empty_database() as url:
            async with (
                SqlStore(url, owner="club", schema=1, now=clock) as store,
                SqlStore(url, owner="club", schema=1, now=clock) as other,
            ):
                for name in ("a", "b"):
                    await store.create(name, lambda ordinal: EMPTY)
                await take(store, "ann")
                ended = await asyncio.gather(
                    store.leases.assign("hall", "ann", state_id="a", user=None),
                    take(other, "bob", supersedes="ann"),
                    return_exceptions=True,
                )
                await other.leases.assign("hall", "bob", state_id="b", user=None)

                assert ended[0] is None or isinstance(ended[0], LeaseLost)
                lease = await other.leases.at("hall")
                assert lease is not None
                assert (lease.holder, lease.state_id) == ("bob", "b")
