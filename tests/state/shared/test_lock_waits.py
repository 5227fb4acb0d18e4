"""How long a write waits for SQLite's write lock, and who gets it."""

import asyncio
import math
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from types import SimpleNamespace

import pytest

from state.shared import JournalFault, Moment, NotStored, SharedState, SqlStore
from state.shared.sql import connection, thread
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand
from tests.state.shared.test_processes import line_of, process

PROCESSES = 3
EMPTY = Board().model_dump_json()
LOCKED = "another program has locked the database"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/boards.db"


@contextmanager
def writers(url: str, *, at_once: float) -> "Iterator[list[Popen[str]]]":
    """Processes that each hold a board; while they wait for the lock, the first so many seconds pass at once."""
    with ExitStack() as running:
        begun = [running.enter_context(process(f"wait-{at_once}", url)) for _ in range(PROCESSES)]
        for one in begun:
            assert line_of(one) == "held"
        yield begun


def write(child: "Popen[str]") -> None:
    assert child.stdin is not None
    child.stdin.write("again\n")
    child.stdin.flush()


def outcome(child: "Popen[str]") -> str:
    while (line := line_of(child)) == "waits":
        pass
    return line


@pytest.mark.processes
@pytest.mark.parametrize("seconds", [3, 5, 7])
def test_a_lock_that_is_held_for_seconds_is_waited_for_by_every_process(
    url: str, seconds: int
) -> None:
    with writers(url, at_once=seconds) as begun:
        with by_hand(url) as other:
            other("BEGIN IMMEDIATE")
            for one in begun:
                write(one)
            assert [line_of(one) for one in begun] == ["waits"] * PROCESSES
            other("ROLLBACK")

        assert [line_of(one) for one in begun] == ["1"] * PROCESSES


@pytest.mark.processes
def test_a_writer_that_waited_ten_seconds_is_refused_and_can_write_afterwards(url: str) -> None:
    with writers(url, at_once=11) as begun:
        with by_hand(url) as other:
            other("BEGIN IMMEDIATE")
            for one in begun:
                write(one)
            refused = [outcome(one) for one in begun]
            other("ROLLBACK")
        for one in begun:
            write(one)

        assert refused == [NotStored.code] * PROCESSES
        assert [outcome(one) for one in begun] == ["1"] * PROCESSES


class Clock:
    """Time that passes only while the journal's thread sleeps, and as far as a test lets it."""

    def __init__(self) -> None:
        self.now = self._end = 1000.0
        self.naps: list[float] = []
        self._goes_on = threading.Condition()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        with self._goes_on:
            self._goes_on.wait_for(lambda: self.now < self._end, timeout=30)
            self.now += seconds

    async def until(self, then: float) -> None:
        """Let the thread wait until this time, counted from the start, and no longer."""
        with self._goes_on:
            self._end = 1000 + then
            self._goes_on.notify_all()
        for _ in range(1_000_000):
            if self.now >= self._end:
                return
            await asyncio.sleep(0)
        raise AssertionError("it does not wait")

    def goes_on(self) -> None:
        with self._goes_on:
            self._end = math.inf
            self._goes_on.notify_all()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    passes = SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep)
    for module in (connection, thread):
        monkeypatch.setattr(module, "time", passes)
    return clock


async def begun(store: SqlStore, name: str) -> SharedState[Board, None]:
    return SharedState.restored(await store.create(name, lambda ordinal: EMPTY), Board, None)


async def test_the_longer_it_waits_the_more_often_it_asks(url: str, clock: Clock) -> None:
    async with SqlStore(url, owner="club", schema=1) as store:
        shared = await begun(store, "a")
        clock.naps.clear()
        with by_hand(url) as other:
            other("BEGIN IMMEDIATE")
            writing = asyncio.ensure_future(shared.apply(Score(name="bob"), actor="judge"))
            await clock.until(9)
            other("ROLLBACK")
            clock.goes_on()
            await writing

    first, last = clock.naps[:20], clock.naps[-20:]
    assert 0.002 < min(first) <= max(first) <= 0.012
    assert 0.001 <= min(last) <= max(last) < min(first)


async def test_everything_that_writes_waits_as_long_and_nothing_is_broken_off(
    url: str, clock: Clock
) -> None:
    async with SqlStore(url, owner="club", schema=1) as store:
        await store.create("a", lambda ordinal: EMPTY)
        with by_hand(url) as other:
            for ask in (
                lambda: store.create("b", lambda ordinal: EMPTY),
                lambda: store.take("a"),
                lambda: store.record("a", Moment(1, "heard", "guest", "Hello")),
                lambda: store.leases.take("table", "waiter", seconds=60),
            ):
                other("BEGIN IMMEDIATE")
                asked = asyncio.ensure_future(ask())
                await clock.until(clock.now - 1000 + 9.5)
                other("ROLLBACK")
                clock.goes_on()
                await asked

        assert len(await store.said("a")) == 1


async def test_each_of_a_group_has_its_own_ten_seconds(url: str, clock: Clock) -> None:
    async with SqlStore(url, owner="club", schema=1) as store:
        boards = [await begun(store, name) for name in "abc"]
        with by_hand(url) as other:
            other("BEGIN IMMEDIATE")
            first = asyncio.ensure_future(boards[0].apply(Score(name="bob"), actor="judge"))
            await clock.until(1)
            second = asyncio.ensure_future(boards[1].apply(Score(name="bob"), actor="judge"))
            await clock.until(8)
            third = asyncio.ensure_future(boards[2].apply(Score(name="bob"), actor="judge"))
            await clock.until(10.5)
            with pytest.raises(NotStored, match=LOCKED):
                await first
            await clock.until(13)
            with pytest.raises(NotStored, match=LOCKED):
                await second
            waited = not third.done()
            other("ROLLBACK")
            clock.goes_on()
            await third

    assert waited
    assert [one.version for one in boards] == [0, 0, 1]


async def test_a_request_that_waits_in_the_queue_gets_the_lock_as_its_reason(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread, "LOCK_S", 30.0)
    async with SqlStore(url, owner="club", schema=1) as store:
        shared = await begun(store, "a")
        monkeypatch.setattr(thread, "WAIT_S", 0.05)
        with by_hand(url) as other:
            other("BEGIN IMMEDIATE")
            writing = asyncio.ensure_future(shared.apply(Score(name="bob"), actor="judge"))
            await asyncio.sleep(0)
            with pytest.raises(JournalFault, match=LOCKED) as fault:
                await store.list()
            waited = not writing.done()
            monkeypatch.setattr(thread, "WAIT_S", 30.0)
            other("ROLLBACK")
        await writing

    assert fault.value.passing
    assert waited
