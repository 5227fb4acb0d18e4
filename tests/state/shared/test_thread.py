"""How long a request waits and may take beside others, on a clock that the test sets."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from state.shared import Entry, JournalFault, OutcomeUnknown
from state.shared.sql import thread
from state.shared.sql.rows import EntryRow, Row, RowResult
from state.shared.sql.thread import DatabaseThread

UNANSWERED = "the database does not answer"
CROWDED = "more to do than it can in time"


class Clock:
    """The time as the thread sees it, and the timers that wait for it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[tuple[float, Callable[[], None], SimpleNamespace]] = []
        self.set = 0

    def call_later(self, delay: float, callback: Callable[[], None]) -> SimpleNamespace:
        self.set += 1
        timer = (self.now + delay, callback, handle := SimpleNamespace())
        handle.cancel = lambda: self.timers.remove(timer)
        self.timers.append(timer)
        return handle

    def goes_to(self, then: float) -> None:
        """Let time pass, counted from the start; what is due on the way happens in its order."""
        while due := [timer for timer in self.timers if timer[0] <= 1000 + then]:
            first = min(due, key=lambda timer: timer[0])
            self.timers.remove(first)
            self.now = max(self.now, first[0])
            first[1]()
        self.now = 1000 + then


class Slow:
    """A database that answers when the test lets it."""

    def __init__(self) -> None:
        self.db: Any = self
        self.broken_off: list[float] = []
        self.written: list[list[str]] = []
        self.at_work = threading.Semaphore(0)
        self.goes_on = threading.Semaphore(0)
        self.closed = False
        self.lock_asked_at = 0.0
        self.waits_for_lock = False

    def interrupt(self) -> None:
        self.broken_off.append(self.clock.now - 1000)

    clock: Clock

    def write(self, wanted: Sequence[Row], *, alone: bool = False) -> list[RowResult]:
        self.work()
        self.written.append([row.state_id for row in wanted])
        return [None] * len(wanted)

    def work(self) -> None:
        self.at_work.release()
        self.goes_on.acquire()

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(thread, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
async def database(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", clock.call_later)
    database = Slow()
    database.clock = clock
    return database


@pytest.fixture
async def asks(database: Slow) -> AsyncIterator[DatabaseThread[Slow]]:
    asks = DatabaseThread(lambda: database)
    yield asks
    database.goes_on.release(1000)
    await asks.close()


def row(name: str) -> EntryRow:
    return EntryRow(name, 1, Entry(1, (), "{}", None, "judge"))


async def begins(database: Slow) -> None:
    """Wait until the thread is at work."""
    assert await asyncio.to_thread(database.at_work.acquire, timeout=30)


async def told(future: "asyncio.Future[Any]") -> Any:
    return (await asyncio.gather(future, return_exceptions=True))[0]


class TestWaiting:
    async def test_the_time_before_it_begins_is_not_its_own(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        before = asks.ask(Slow.work, timed=False)
        await begins(database)
        ours = asks.write(row("a"))
        clock.goes_to(9.0)
        database.goes_on.release()
        await before
        await begins(database)
        clock.goes_to(13.9)
        broken_off = list(database.broken_off)
        database.goes_on.release()

        assert await told(ours) is None
        assert broken_off == []

    async def test_a_request_that_waits_too_long_is_refused_and_never_executed(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        before = asks.ask(Slow.work, timed=False)
        await begins(database)
        clock.goes_to(1.0)
        rows = [asks.write(row("a")), asks.write(row("b"))]
        other = asks.ask(Slow.work)
        clock.goes_to(10.9)
        assert not any(one.done() for one in (*rows, other))
        clock.goes_to(11.0)
        outcomes = [await told(one) for one in (*rows, other)]
        database.goes_on.release()
        await before
        later = asks.write(row("c"))
        await begins(database)
        database.goes_on.release()
        await later

        assert [type(one) for one in outcomes] == [JournalFault] * 3
        assert all(UNANSWERED in str(one) and one.passing for one in outcomes)
        assert database.written == [["c"]]

    async def test_a_late_request_is_not_refused_with_the_others(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        before = asks.ask(Slow.work, timed=False)
        await begins(database)
        early = asks.write(row("a"))
        clock.goes_to(6.0)
        late = asks.write(row("b"))
        clock.goes_to(15.9)
        database.goes_on.release()
        await before
        await begins(database)
        database.goes_on.release()

        assert UNANSWERED in str(await told(early))
        assert await told(late) is None
        assert database.written == [["b"]]

    async def test_a_thousand_have_one_timer(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        before = asks.ask(Slow.work)
        await begins(database)
        rows = [asks.write(row(str(number))) for number in range(1000)]
        timers = clock.set
        for _ in range(1 + 16):
            database.goes_on.release()
        await asyncio.gather(before, *rows)

        assert timers == 1
        assert len(clock.timers) == 1
        clock.goes_to(60)
        assert clock.timers == []


class TestWorking:
    @pytest.mark.parametrize("cancelled", [False, True])
    async def test_work_that_takes_too_long_is_interrupted_and_then_given_up(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock, cancelled: bool
    ) -> None:
        work = asks.ask(Slow.work)
        if cancelled:
            work.cancel()
        await begins(database)
        clock.goes_to(4.9)
        assert database.broken_off == []
        clock.goes_to(8.9)
        assert (database.broken_off, work.done()) == ([5.0], cancelled)
        refused = asks.write(row("a"))
        clock.goes_to(9.0)
        if not cancelled:
            assert UNANSWERED in str(await told(work))
        assert database.broken_off == [5.0, 9.0]
        clock.goes_to(60)
        assert database.broken_off == [5.0, 9.0]
        still = asks.write(row("b"))
        database.goes_on.release()

        assert UNANSWERED in str(await told(refused))
        assert UNANSWERED in str(await told(still))
        for _ in range(1_000_000):
            if await told(asks.ask(lambda database: None)) is None:
                break
            await asyncio.sleep(0)
        else:
            raise AssertionError("it never answered again")

    async def test_one_that_is_stuck_is_not_waited_for_at_the_end(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        asks.ask(Slow.work, timed=True).add_done_callback(lambda one: one.exception())
        await begins(database)
        clock.goes_to(9.0)
        served = asks._thread
        assert served is not None

        await asks.close()
        stuck = served.is_alive()
        database.goes_on.release()
        await asyncio.to_thread(served.join)

        assert stuck

    async def test_an_abandoned_group_has_an_unknown_outcome(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        before = asks.ask(Slow.work)
        await begins(database)
        rows = [asks.write(row(name)) for name in "abc"]
        database.goes_on.release()
        await before
        await begins(database)
        clock.goes_to(1.0)
        waits = asks.write(row("d"))
        clock.goes_to(9.0)
        outcomes = [await told(one) for one in rows]
        waiting = not waits.done()
        database.goes_on.release()
        await begins(database)
        database.goes_on.release()

        assert [type(one) for one in outcomes] == [OutcomeUnknown] * 3
        assert waiting
        assert await told(waits) is None
        assert database.written == [["a", "b", "c"], ["d"]]

    async def test_work_without_a_limit_is_never_interrupted(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        work = asks.ask(Slow.work, timed=False)
        await begins(database)
        clock.goes_to(3600)
        waits = asks.ask(Slow.work)
        database.goes_on.release(2)

        assert await told(work) is None
        assert await told(waits) is None
        assert database.broken_off == []

    async def test_another_loop_interrupts_the_request_of_a_blocked_loop(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        stands_still = threading.Event()
        outcome: list[Any] = []

        async def another() -> None:
            work = asks.ask(Slow.work)
            stands_still.wait(30)
            outcome.append(await told(work))

        other = threading.Thread(target=lambda: asyncio.run(another()))
        other.start()
        await begins(database)
        ours = asks.write(row("a"))
        clock.goes_to(5.0)
        broken_off = list(database.broken_off)
        database.goes_on.release(2)
        await ours
        stands_still.set()
        await asyncio.to_thread(other.join)

        assert broken_off == [5.0]
        assert outcome == [None]


class TestACrowd:
    """Who cannot be served in time is told so at once."""

    async def filled(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock, takes_s: float
    ) -> "list[asyncio.Future[None]]":
        """Let groups take their time, and keep the thread busy with one more."""
        for _ in range(30):
            one = asks.write(row("a"))
            await begins(database)
            clock.now += takes_s
            database.goes_on.release()
            await one
        one = asks.write(row("a"))
        await begins(database)
        return [one]

    async def test_rows_are_taken_in_as_long_as_their_group_will_be_in_time(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        waiting = await self.filled(asks, database, clock, takes_s=1.0)

        outcomes = [asks.write(row(str(number))) for number in range(20 * thread.GROUP)]
        refused = [one for one in outcomes if one.done()]
        why = str(await told(refused[0]))
        database.goes_on.release(100)
        await asyncio.gather(*waiting, *(one for one in outcomes if one not in set(refused)))
        again = asks.write(row("later"))
        await again

        # Ten groups of a second each.
        assert len(outcomes) - len(refused) == pytest.approx(10 * thread.GROUP, abs=thread.GROUP)
        assert CROWDED in why
        assert {type(one.exception()) for one in refused} == {JournalFault}

    async def test_a_crowd_that_the_disk_can_serve_is_taken_in(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        waiting = await self.filled(asks, database, clock, takes_s=0.5)

        outcomes = [asks.write(row(str(number))) for number in range(1000)]
        database.goes_on.release(100)

        assert await asyncio.gather(*waiting, *outcomes) == [None] * 1001

    async def test_one_slow_request_refuses_no_other(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        one = asks.write(row("a"))
        await begins(database)
        clock.now += 4.0
        database.goes_on.release()
        await one
        before = asks.ask(Slow.work)
        await begins(database)

        outcomes = [asks.write(row(str(number))) for number in range(9 * thread.GROUP)]
        database.goes_on.release(100)

        assert await asyncio.gather(before, *outcomes) == [None] * (9 * thread.GROUP + 1)

    async def test_requests_that_waited_for_a_lock_refuse_no_other(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        for takes_s in (0.01, 2.0, 2.0, 2.0):
            one = asks.ask(Slow.work)
            await begins(database)
            clock.now += takes_s
            database.goes_on.release()
            await one

        outcomes = [asks.ask(Slow.work) for _ in range(300)]
        database.goes_on.release(300)

        assert await asyncio.gather(*outcomes) == [None] * 300

    async def test_work_without_a_limit_is_accepted_all_the_same(
        self, asks: DatabaseThread[Slow], database: Slow, clock: Clock
    ) -> None:
        waiting = await self.filled(asks, database, clock, takes_s=4.0)
        waiting += [asks.write(row(str(number))) for number in range(2 * thread.GROUP + 1)]

        untimed = asks.ask(Slow.work, timed=False)
        refused = asks.ask(Slow.work)
        closing = asyncio.create_task(asks.close())
        database.goes_on.release(100)
        await closing

        assert CROWDED in str(await told(refused))
        assert await told(untimed) is None
        assert await asyncio.gather(*waiting) == [None] * len(waiting)
        assert database.closed


async def test_nothing_is_taken_in_after_the_end(
    asks: DatabaseThread[Slow], database: Slow
) -> None:
    database.goes_on.release(10)
    first = asks.write(row("a"))
    closing = asyncio.create_task(asks.close())
    await asyncio.sleep(0)
    late = asks.write(row("b"))
    await closing

    assert await told(first) is None
    assert "it was closed" in str(await told(late))
    assert "it was closed" in str(await told(asks.ask(Slow.work)))
    await asks.close()


async def test_a_database_that_cannot_be_opened_is_told_to_each(clock: Clock) -> None:
    def no() -> Slow:
        raise JournalFault("The database", "no")

    asks: DatabaseThread[Slow] = DatabaseThread(no)
    outcomes = [await told(asks.write(row("a"))), await told(asks.ask(Slow.work))]
    await asks.close()

    assert [str(one) for one in outcomes] == ["The database cannot be used: no."] * 2


class TestStatesThatWriteOneRowAfterAnother:
    """Each state queues its next row when its last one is stored."""

    async def test_they_share_each_transaction_of_a_slow_disk(
        self,
        asks: DatabaseThread[Slow],
        database: Slow,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(thread, "GROUP", 3)
        monkeypatch.setattr(thread, "GROUP_S", 30.0)

        async def writes(name: str) -> None:
            while True:
                await asks.write(row(name))

        writers = [asyncio.create_task(writes("a"))]
        await begins(database)
        writers += [asyncio.create_task(writes(name)) for name in "bc"]
        for _ in range(4):
            await asyncio.sleep(0)
            clock.now += 0.5
            database.goes_on.release()
            await begins(database)
        for writer in writers:
            writer.cancel()

        assert [sorted(group) for group in database.written] == [["a"], *[["a", "b", "c"]] * 3]
