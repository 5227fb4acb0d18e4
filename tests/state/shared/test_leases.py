"""One agent at a place, and one place for a state: taken, renewed, lost, left, found again."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from state.shared import (
    JournalFault,
    Lease,
    LeaseHeld,
    LeaseLost,
    OtherOwner,
    SharedState,
    SqlStore,
    StoredState,
    TakenOver,
    UnknownState,
)
from tests.postgres import Server
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import WAITING, by_hand, lease_store
from tests.state.shared.wire import Wire

ROOT = Path(__file__).parents[3]
EMPTY = Board().model_dump_json()
SEVEN = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
LASTS = 2.0


class Clock:
    """Stands still until it is moved on."""

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


async def take(
    store: SqlStore,
    holder: str,
    place: str = "hall",
    *,
    supersedes: str | None = None,
    tries: int | None = None,
) -> Lease:
    return await store.leases.take(place, holder, seconds=LASTS, supersedes=supersedes, tries=tries)


async def at_work(store: SqlStore, holder: str = "ann", place: str = "hall") -> str:
    """A holder at work on a state whose id is the holder's name."""
    await take(store, holder, place)
    await store.create(holder, lambda ordinal: EMPTY)
    await store.leases.assign(place, holder, state_id=holder, user=f"guest of {holder}")
    return holder


class TestTaking:
    async def test_the_first_one_begins_anew(self, store: SqlStore) -> None:
        lease = await take(store, "ann")

        assert lease == Lease(
            place="hall",
            owner="club",
            holder="ann",
            since=SEVEN,
            until=SEVEN + timedelta(seconds=LASTS),
        )
        assert not lease.open
        assert await store.leases.at("hall") == lease
        assert await store.leases.at("kitchen") is None

    async def test_a_held_lease_is_refused_and_unchanged(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        lease = await take(store, "ann")
        clock.goes_on(LASTS - 0.001)

        with pytest.raises(LeaseHeld):
            await take(other, "bob")
        with pytest.raises(LeaseHeld):
            await take(other, "bob", supersedes="carl")

        assert await store.leases.at("hall") == lease

    async def test_an_expired_lease_is_taken_by_the_next_holder(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        state_id = await at_work(store)
        clock.goes_on(LASTS)

        lease = await take(other, "bob")

        assert (lease.holder, lease.since, lease.tries) == ("bob", clock.time, 1)
        assert (lease.open, lease.state_id, lease.user) == (True, state_id, "guest of ann")
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        with pytest.raises(LeaseLost):
            await store.leases.assign("hall", "ann", state_id=state_id, user=None)
        assert await store.leases.at("hall") == lease

    async def test_superseding_the_dead_holder_takes_the_lease_at_once(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        state_id = await at_work(store)

        lease = await take(other, "bob", supersedes="ann")

        assert (lease.holder, lease.state_id, lease.tries) == ("bob", state_id, 1)
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        # Another replacement of the same dead one comes too late.
        with pytest.raises(LeaseHeld):
            await take(store, "carl", supersedes="ann")

    async def test_taking_a_lease_again_renews_it(self, store: SqlStore, clock: Clock) -> None:
        state_id = await at_work(store)
        clock.goes_on(1)

        lease = await take(store, "ann")

        assert (lease.since, lease.until) == (SEVEN, clock.time + timedelta(seconds=LASTS))
        assert (lease.state_id, lease.user, lease.tries) == (state_id, "guest of ann", 0)

    async def test_losses_in_a_row_are_counted(self, store: SqlStore, clock: Clock) -> None:
        tries = []
        for holder in "abcd":
            tries.append((await take(store, holder)).tries)
            assert (await take(store, holder)).tries == tries[-1]
            clock.goes_on(LASTS)
        for _ in range(2 * 60):
            await store.leases.renew("hall", "d", seconds=LASTS)
            clock.goes_on(0.5)
        clock.goes_on(LASTS)
        tries += [(await take(store, "e")).tries, (await take(store, "f", supersedes="e")).tries]

        assert tries == [0, 1, 2, 3, 1, 2]

    async def test_superseding_a_living_holder_is_not_counted(
        self, store: SqlStore, clock: Clock
    ) -> None:
        await take(store, "a")
        clock.goes_on(LASTS)
        await take(store, "b")
        for holder, following in pairwise("bcdef"):
            await store.leases.release("hall", holder, done=False)
            assert (await take(store, following)).tries == 1

        handed_over = await take(store, "g", supersedes="f", tries=1)
        clock.goes_on(LASTS)

        assert handed_over.tries == 1
        assert (await take(store, "h")).tries == 2

    async def test_two_owners_may_call_their_places_the_same(
        self, store: SqlStore, address: str, clock: Clock
    ) -> None:
        async with SqlStore(address, owner="pub", schema=1, now=clock) as pub:
            await at_work(store)
            theirs = await take(pub, "bob")
            with pytest.raises(OtherOwner):
                await pub.leases.assign("hall", "bob", state_id="ann", user=None)
            await pub.leases.release("hall", "ann", done=True)
            with pytest.raises(LeaseLost):
                await pub.leases.renew("hall", "ann", seconds=LASTS)
            clock.goes_on(LASTS)

            assert (theirs.owner, theirs.open) == ("pub", False)
            assert [lease.holder for lease in await pub.leases.lost()] == ["bob"]
            assert [lease.holder for lease in await store.leases.lost()] == ["ann"]
            assert await pub.leases.of("ann") is None
            async with SqlStore(address, owner=None, schema=1, now=clock) as everybodys:
                lost = await everybodys.leases.lost()
                assert {(lease.owner, lease.place) for lease in lost} == {
                    ("club", "hall"),
                    ("pub", "hall"),
                }
                assert await everybodys.leases.of("ann") == await store.leases.of("ann")
                with pytest.raises(ValueError, match="needs an owner"):
                    await everybodys.leases.take("hall", "carl", seconds=LASTS)

    @pytest.mark.usefixtures("patient")
    @pytest.mark.parametrize("begins", ["anew", "after a dead one"])
    async def test_of_many_concurrent_takes_one_succeeds(
        self,
        address: str,
        store: SqlStore,
        clock: Clock,
        begins: str,
        closing: AsyncExitStack,
    ) -> None:
        places = [f"place {number}" for number in range(20)]
        if begins != "anew":
            for place in places:
                await take(store, "dead", place)
            clock.goes_on(LASTS)
        more = (SqlStore(address, owner="club", schema=1, now=clock) for _ in range(5))
        stores = [await closing.enter_async_context(one) for one in more]

        for place in places:
            came = await asyncio.gather(
                *(take(one, f"holder {number}", place) for number, one in enumerate(stores)),
                return_exceptions=True,
            )

            (lease,) = (one for one in came if not isinstance(one, BaseException))
            assert [type(one) for one in came].count(LeaseHeld) == len(stores) - 1
            assert await store.leases.at(place) == lease

    @pytest.mark.processes
    def test_of_many_processes_one_gets_each_lease(self, address: str) -> None:
        holders = [
            subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "tests.state.shared.racer", address, name],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in ("ann", "bob", "carl")
        ]
        won: list[list[str]] = []
        for one in holders:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in holders:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        for one in holders:
            out, _ = one.communicate()
            won.append(out.split())

        assert [one.returncode for one in holders] == [0, 0, 0]
        everything = [number for numbers in won for number in numbers]
        assert sorted(everything, key=int) == [str(number) for number in range(100)]


class TestSettling:
    async def test_the_next_one_is_told_what_was_worked_on_and_for_whom(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        state_id = await at_work(store)

        lease = await other.leases.of(state_id)

        assert lease is not None
        assert lease == await other.leases.at("hall")
        assert (lease.place, lease.state_id, lease.user) == ("hall", state_id, "guest of ann")

    async def test_a_state_that_is_worked_on_elsewhere_leaves_the_place_it_was_at(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        state_id = await at_work(store)
        await at_work(store, "carl", "kitchen")
        await take(other, "bob", "garden")

        await other.leases.assign("garden", "bob", state_id=state_id, user="ann's")

        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        await store.leases.release("hall", "ann", done=False)
        assert await store.leases.at("hall") is None
        moved = await store.leases.of(state_id)
        assert moved is not None
        assert (moved.place, moved.holder, moved.user) == ("garden", "bob", "ann's")
        await store.leases.renew("kitchen", "carl", seconds=LASTS)
        # The next holder of the hall is not affected.
        assert not (await take(store, "dora")).open

    async def test_it_may_be_said_again_and_otherwise(self, store: SqlStore) -> None:
        await at_work(store)
        await store.create("b", lambda ordinal: EMPTY)

        await store.leases.assign("hall", "ann", state_id="ann", user="guest of ann")
        await store.leases.assign("hall", "ann", state_id="b", user=None)

        lease = await store.leases.at("hall")
        assert lease is not None
        assert (lease.state_id, lease.user) == ("b", None)
        assert await store.leases.of("ann") is None

    async def test_a_lost_lease_cannot_record_a_state(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await at_work(store)
        await take(other, "bob", "garden")
        await take(store, "carl", "garden", supersedes="bob")

        with pytest.raises(LeaseLost):
            await other.leases.assign("garden", "bob", state_id="ann", user=None)

        await store.leases.renew("hall", "ann", seconds=LASTS)
        assert (await store.leases.of("ann")) == await store.leases.at("hall")

    async def test_a_state_that_is_not_there_is_unknown(self, store: SqlStore) -> None:
        await take(store, "ann")

        with pytest.raises(UnknownState):
            await store.leases.assign("hall", "ann", state_id="nobody", user=None)

        assert not (await take(store, "ann")).open

    async def test_of_two_holders_of_one_state_the_later_one_stays(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        await take(store, "ann", "hall")
        await take(other, "bob", "garden")
        first = going_on(await store.take("a"))
        second = going_on(await other.take("a"))

        await other.leases.assign("garden", "bob", state_id="a", user="g")
        with pytest.raises(TakenOver):
            await store.leases.assign("hall", "ann", state_id="a", user="g")

        await other.leases.renew("garden", "bob", seconds=LASTS)
        await second.apply(Score(name="bob"), actor="bob")
        with pytest.raises(TakenOver):
            await first.apply(Score(name="ann"), actor="ann")

    @pytest.mark.usefixtures("patient")
    async def test_however_many_settle_at_once_a_state_is_at_one_place(
        self, address: str, store: SqlStore, clock: Clock, closing: AsyncExitStack
    ) -> None:
        await store.create("a", lambda ordinal: EMPTY)
        more = (SqlStore(address, owner="club", schema=1, now=clock) for _ in range(5))
        stores = [await closing.enter_async_context(one) for one in more]
        for number, one in enumerate(stores):
            await take(one, str(number), str(number))

        for _ in range(10):
            came = await asyncio.gather(
                *(
                    one.leases.assign(str(number), str(number), state_id="a", user=None)
                    for number, one in enumerate(stores)
                ),
                return_exceptions=True,
            )
            # The previous holder is gone once another has come.
            assert {type(one) for one in came} <= {type(None), LeaseLost}
            assert came.count(None) >= 1
            at = [await store.leases.at(str(number)) for number in range(len(stores))]
            assert len([lease for lease in at if lease is not None and lease.open]) == 1
            for number, one in enumerate(stores):
                await take(one, str(number), str(number))


class TestRenewing:
    async def test_a_lease_lasts_as_long_as_it_is_renewed(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        await take(store, "ann")
        for _ in range(10):
            clock.goes_on(LASTS - 0.5)
            await store.leases.renew("hall", "ann", seconds=LASTS)
            with pytest.raises(LeaseHeld):
                await take(other, "bob")

    async def test_a_late_renewal_counts_if_the_lease_was_not_taken(
        self, store: SqlStore, other: SqlStore, clock: Clock
    ) -> None:
        await at_work(store)
        clock.goes_on(60)

        await store.leases.renew("hall", "ann", seconds=LASTS)

        with pytest.raises(LeaseHeld):
            await take(other, "bob")
        assert await store.leases.lost() == []

    async def test_a_lease_that_was_never_taken_cannot_be_renewed(self, store: SqlStore) -> None:
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)


class TestLeaving:
    async def test_after_finished_work_the_next_holder_starts_a_new_one(
        self, store: SqlStore, other: SqlStore, address: str
    ) -> None:
        await at_work(store)

        await store.leases.release("hall", "ann", done=True)

        assert await store.leases.at("hall") is await store.leases.of("ann") is None
        with by_hand(address) as hand, by_hand(lease_store(address)) as beside:
            assert hand("SELECT * FROM places") == beside("SELECT * FROM leases") == []
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        lease = await take(other, "bob")
        assert (lease.open, lease.user, lease.tries) == (False, None, 0)

    async def test_unfinished_work_waits_for_the_next_holder(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await at_work(store)

        await store.leases.release("hall", "ann", done=False)

        (lost,) = await store.leases.lost()
        assert (lost.holder, lost.until, lost.state_id) == (None, SEVEN, "ann")
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        lease = await take(other, "bob")
        assert (lease.state_id, lease.user, lease.tries) == ("ann", "guest of ann", 0)

    async def test_a_holder_that_has_finished_keeps_the_lease_for_its_next_work(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await at_work(store)
        for _ in range(2):
            await store.leases.finish("hall", "ann")

        lease = await other.leases.at("hall")
        assert lease is not None
        assert (lease.holder, lease.open, lease.user) == ("ann", False, None)
        assert await store.leases.of("ann") is None
        with pytest.raises(LeaseHeld):
            await take(other, "bob")
        await store.leases.renew("hall", "ann", seconds=LASTS)
        await store.leases.assign("hall", "ann", state_id="ann", user=None)
        assert (await take(other, "bob", supersedes="ann")).state_id == "ann"

    async def test_finishing_with_a_lost_lease_changes_nothing(
        self, store: SqlStore, other: SqlStore
    ) -> None:
        await at_work(store)
        lease = await take(other, "bob", supersedes="ann")

        for place in ("hall", "nowhere"):
            with pytest.raises(LeaseLost):
                await store.leases.finish(place, "ann")

        assert await store.leases.at("hall") == lease
        assert await store.leases.at("nowhere") is None

    @pytest.mark.parametrize("done", [True, False])
    async def test_releasing_a_lost_lease_changes_nothing(
        self, store: SqlStore, other: SqlStore, done: bool
    ) -> None:
        await at_work(store)
        lease = await take(other, "bob", supersedes="ann")

        await store.leases.release("hall", "ann", done=done)
        await store.leases.release("nowhere", "ann", done=done)

        assert await store.leases.at("hall") == lease
        assert await store.leases.at("nowhere") is None

    async def test_lost_leases_are_listed_until_resumed_or_ended(
        self, store: SqlStore, clock: Clock
    ) -> None:
        for holder in ("ann", "bob", "carl"):
            await at_work(store, holder, f"{holder}'s")
            clock.goes_on(0.1)
        assert await store.leases.lost() == []
        clock.goes_on(LASTS)

        lost = [lease.place for lease in await store.leases.lost()]
        await take(store, "dora", "ann's")
        await take(store, "sweeper", "bob's")
        await store.leases.release("bob's", "sweeper", done=True)

        assert lost == ["ann's", "bob's", "carl's"]
        assert [lease.place for lease in await store.leases.lost()] == ["carl's"]
        clock.goes_on(LASTS)
        assert [lease.place for lease in await store.leases.lost()] == ["carl's", "ann's"]


class TestForgetting:
    async def test_an_erased_state_has_no_lease(self, store: SqlStore, address: str) -> None:
        await at_work(store)
        await at_work(store, "bob", "garden")

        await store.eraser.rewrite("ann", lambda state, commands: (state, commands))

        assert await store.leases.of("ann") is await store.leases.at("hall") is None
        with pytest.raises(LeaseLost):
            await store.leases.renew("hall", "ann", seconds=LASTS)
        await store.leases.renew("garden", "bob", seconds=LASTS)
        await store.eraser.wipe()
        if address.startswith("sqlite"):
            file = Path(address.removeprefix("sqlite:///"))
            left = b"".join(one.read_bytes() for one in sorted(file.parent.glob(f"{file.name}*")))
            assert b"guest of bob" in left
            assert b"guest of ann" not in left

    @pytest.mark.parametrize("text", ["hall of fame", "guest of ann", "ann the job"])
    async def test_the_text_of_a_lease_is_found(self, store: SqlStore, text: str) -> None:
        await at_work(store, "bob", "garden")
        await store.create("a", lambda ordinal: EMPTY)
        await take(store, "ann the job", "hall of fame")
        assert await store.eraser.search(lambda stored: text in stored) == []
        await store.leases.assign("hall of fame", "ann the job", state_id="a", user="guest of ann")

        assert await store.eraser.search(lambda stored: text in stored) == ["a"]

    async def test_where_no_state_is_named_yet_a_place_is_given_up_by_its_name(
        self, store: SqlStore, address: str, clock: Clock
    ) -> None:
        await at_work(store, "ann", "call 555")
        await take(store, "bob", "call 555 again")
        await take(store, "carl", "garden")
        async with SqlStore(address, owner="pub", schema=1, now=clock) as pub:
            await take(pub, "dora", "call 555")

            assert await store.eraser.drop_leases(lambda text: "555" in text) == 1
            assert await store.eraser.drop_leases(lambda text: "555" in text) == 0

            assert await store.leases.at("call 555 again") is None
            assert await store.leases.at("garden") is not None
            assert await store.leases.of("ann") is not None
            assert await pub.leases.at("call 555") is not None

    async def test_leases_that_expired_long_ago_are_deleted_with_the_transcripts_of_that_time(
        self, store: SqlStore, address: str, clock: Clock
    ) -> None:
        await at_work(store)
        async with SqlStore(address, owner="pub", schema=1, now=clock) as pub:
            await take(pub, "dora")
            clock.goes_on(LASTS)
            await take(store, "bob", "garden")

            assert await store.eraser.drop_said(clock.time + timedelta(seconds=1)) == 0

            assert await store.leases.at("hall") is None
            assert await store.leases.at("garden") is not None
            assert await pub.leases.at("hall") is not None


class TestTrouble:
    async def test_a_database_that_was_gone_for_a_while(
        self, postgresql: Server, clock: Clock
    ) -> None:
        with postgresql.empty_database() as url:
            async with SqlStore(url, owner="club", schema=1, now=clock) as store:
                await at_work(store)
                postgresql.stop()
                try:
                    for _ in range(2):
                        with pytest.raises(JournalFault):
                            await store.leases.renew("hall", "ann", seconds=LASTS)
                    with pytest.raises(JournalFault):
                        await take(store, "bob")
                finally:
                    postgresql.start()
                clock.goes_on(30)

                await store.leases.renew("hall", "ann", seconds=LASTS)

                assert (await take(store, "bob", supersedes="ann")).state_id == "ann"

    async def test_a_connection_that_was_cut_meanwhile_costs_nothing(
        self, postgresql: Server, clock: Clock
    ) -> None:
        with postgresql.empty_database() as url, by_hand(url) as hand:
            async with SqlStore(url, owner="club", schema=1, now=clock) as store:
                await take(store, "ann")
                hand.cut()

                await store.leases.renew("hall", "ann", seconds=LASTS)

    async def test_a_taking_whose_answer_was_lost_is_asked_again(
        self, postgresql: Server, clock: Clock
    ) -> None:
        with postgresql.empty_database() as url:
            async with Wire(url) as wire:
                async with SqlStore(wire.address, owner="club", schema=1, now=clock) as store:
                    await store.list()
                    wire.lose_the_next_answer()
                    with pytest.raises(JournalFault):
                        await take(store, "ann")

                    lease = await take(store, "ann")

                    assert (lease.holder, lease.tries) == ("ann", 0)

    @pytest.mark.usefixtures("patient")
    async def test_a_take_that_waited_for_a_lock_sees_the_committed_row(
        self, postgresql: Server, clock: Clock
    ) -> None:
        with postgresql.empty_database() as url, by_hand(url) as one, by_hand(url) as looking:
            async with SqlStore(url, owner="club", schema=1, now=clock) as store:
                await at_work(store)
                clock.goes_on(LASTS)
                one("BEGIN")
                one("UPDATE leases SET holder = 'bob', until = '2026-11-20T19:09:00+00:00'")
                coming = asyncio.create_task(take(store, "carl"))
                await looking.until(WAITING)
                one("COMMIT")
                with pytest.raises(LeaseHeld):
                    await coming

                clock.goes_on(3600)
                one("BEGIN")
                one("DELETE FROM leases")
                coming = asyncio.create_task(take(store, "carl"))
                await looking.until(WAITING)
                one("COMMIT")
                assert (await coming).tries == 0

    async def test_a_database_file_that_is_gone_says_so(self, tmp_path: Path) -> None:
        file = tmp_path / "boards.db"
        async with SqlStore(f"sqlite:///{file}", owner="club", schema=1) as store:
            await take(store, "ann")
            file.rename(tmp_path / "elsewhere")
            with pytest.raises(JournalFault, match="the database file is gone"):
                await take(store, "bob", "garden")
            await store.leases.renew("hall", "ann", seconds=LASTS)
            (tmp_path / "elsewhere").rename(file)

            await take(store, "bob", "garden")

    async def test_a_cancelled_assignment_is_done_wholly_or_not_at_all(
        self, store: SqlStore, clock: Clock
    ) -> None:
        await at_work(store)
        await take(store, "bob", "garden")
        settling = asyncio.create_task(
            store.leases.assign("garden", "bob", state_id="ann", user="guest of ann")
        )
        await asyncio.sleep(0)
        settling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await settling

        at = [await store.leases.at(place) for place in ("hall", "garden")]

        assert len([lease for lease in at if lease is not None and lease.open]) == 1


def going_on(stored: StoredState) -> SharedState[Board, None]:
    return SharedState.restored(stored, Board, None)


async def test_the_last_state_of_a_user_is_known_after_its_work_has_finished(
    store: SqlStore, clock: Clock
) -> None:
    for state_id in ("first", "second", "other"):
        await store.create(state_id, lambda ordinal: EMPTY)
    none_yet = await store.leases.last("Ann")
    for place, state_id, user in (
        ("hall", "first", "Ann"),
        ("room", "second", "Ann"),
        ("yard", "other", "Bob"),
    ):
        await store.leases.take(place, f"job-{place}", seconds=60)
        await store.leases.assign(place, f"job-{place}", state_id=state_id, user=user)
        await store.leases.release(place, f"job-{place}", done=True)

    assert none_yet is None
    assert await store.leases.last("Ann") == "second"
    assert await store.leases.last("Bob") == "other"
    assert await store.eraser.search(lambda text: text == "Bob") == ["other"]

    await store.eraser.rewrite("other", lambda state, commands: (state, commands))

    assert await store.leases.last("Bob") is None
    assert await store.eraser.search(lambda text: text == "Bob") == []

    await store.eraser.drop_said(clock() + timedelta(days=1))

    assert await store.leases.last("Ann") is None


async def test_settings_belong_to_an_owner_and_are_there_for_every_process(
    store: SqlStore, address: str
) -> None:
    before = await store.settings()
    await store.set_settings({"house": {"paused": True}, "table": 7})
    await store.set_settings({"table": None})
    async with (
        SqlStore(address, owner="club", schema=1) as same,
        SqlStore(address, owner="bar", schema=1) as another,
    ):
        theirs, others = await same.settings(), await another.settings()

    assert before == {}
    assert theirs == {"house": {"paused": True}, "table": None}
    assert others == {}


async def test_a_setting_is_replaced_only_by_a_writer_who_has_seen_it(
    store: SqlStore, address: str
) -> None:
    async with SqlStore(address, owner="club", schema=1) as same:
        first = await store.replace_setting("house", None, {"sold_out": ["tea"]})
        late = await same.replace_setting("house", None, {"sold_out": ["rum"]})
        second = await same.replace_setting("house", {"sold_out": ["tea"]}, {"sold_out": []})
        later = await store.replace_setting("house", {"sold_out": ["tea"]}, {"sold_out": ["ale"]})
        kept = await store.settings()

    assert (first, late, second, later) == (True, False, True, False)
    assert kept == {"house": {"sold_out": []}}


async def test_of_many_writers_of_a_setting_each_counts_once(store: SqlStore, address: str) -> None:
    async def add(to: SqlStore, name: str) -> None:
        while True:
            seen = (await to.settings()).get("sold_out")
            value = [*(seen if isinstance(seen, list) else []), name]
            if await to.replace_setting("sold_out", seen, value):
                return

    async with SqlStore(address, owner="club", schema=1) as same:
        await asyncio.gather(
            *(add(one, f"{at}{n}") for at, one in enumerate((store, same)) for n in range(5))
        )
        kept = (await store.settings())["sold_out"]

    assert isinstance(kept, list)
    assert sorted(map(str, kept)) == [f"{at}{n}" for at in range(2) for n in range(5)]
