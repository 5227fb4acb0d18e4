"""What writing changes down costs, in both databases: one beside the bare driver, and many at once."""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import count
from pathlib import Path

import psycopg
import pytest

from state.commands import ChangeItem
from state.shared import Entry, Journal, SqlStore
from state.shared.sql import thread
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.transactions import ten_line_order
from tests.postgres import server

PACES = {"back to back": 0.0, "every 3 ms": 0.003, "every 20 ms": 0.02}
BLOCKS = 4
"""Ours and the bare driver take turns in so many blocks."""
OVER_DRIVER_MS = 0.2
STATES: dict[int, float | None] = {1: None, 8: 0.33, 32: 0.2}
"""How many states one process writes at once, and the most of the time that one by one takes."""

_TABLE = (
    "CREATE TABLE bare (state_id TEXT, version INTEGER, commands TEXT, touched TEXT, state TEXT,"
    " speaker TEXT, actor TEXT, fence INTEGER, at TEXT, PRIMARY KEY (state_id, version))"
)
_LATEST = "SELECT max(fence), max(version) FROM bare WHERE state_id = 'bare'"
_SQLITE_ROW = f"INSERT INTO bare VALUES ({', '.join('?' * 9)})"
_POSTGRESQL_ROW = "INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"

Commit = Callable[[Entry], Awaitable[None]]


def measure(times: int) -> list[Table]:
    """Write again and again: one at a time at several paces, and many at once."""
    alone = Table(
        "Writing one change of a ten-line order down, ms",
        ("ours", "quartiles", "p99", "bare driver", "quartiles", "p99", "more than it"),
        note="Ours goes through the journal's thread, checks who holds the order and seals the row. The bare"
        " driver looks the last version up and inserts the same row in one transaction, in the event"
        " loop, which stands still meanwhile. Both wait for the disk. The budget is for the median of"
        " ours beyond that of the driver.",
    )
    many = Table(
        "Several orders of one process written at once, changes a second",
        ("together", "quartiles", "one by one", "quartiles", "time of one"),
        note="Each order waits for its change before it makes the next. Together: what waits goes in one"
        " transaction, as in service. One by one: the same with a transaction for each. The last figure is"
        " the share of the time that a change takes together.",
    )
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_sqlite(alone, many, Path(folder), times))
    try:
        with server(fsync=True) as running:
            asyncio.run(_postgresql(alone, many, running.new_database(), times))
    except pytest.skip.Exception:
        for table in (alone, many):
            table.add("PostgreSQL: there is no server here", *[""] * len(table.columns))
    return [alone, many]


async def _sqlite(alone: Table, many: Table, folder: Path, times: int) -> None:
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(_TABLE)

        async def bare(entry: Entry) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_LATEST).fetchone()
            connection.execute(_SQLITE_ROW, _row(entry))
            connection.execute("COMMIT")

        url = f"sqlite:///{folder / 'ours.db'}"
        name = f"SQLite {sqlite3.sqlite_version}"
        await _paces(alone, name, url, bare, times)
        await _at_once(many, name, url, times, _BareGroups(connection))


async def _postgresql(alone: Table, many: Table, url: str, times: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(_TABLE)
        connection.commit()

        async def bare(entry: Entry) -> None:
            connection.execute(_LATEST).fetchone()
            connection.execute(_POSTGRESQL_ROW, _row(entry))
            connection.commit()

        version = connection.info.server_version // 10_000
        name = f"PostgreSQL {version}"
        await _paces(alone, name, url, bare, times)
    await _at_once(many, name, url, times)


async def _paces(table: Table, name: str, url: str, bare: Commit, times: int) -> None:
    async with SqlStore(url, owner="bench", schema=1) as store:
        stored = await store.create("order", lambda ordinal: "{}")
        sides = {"ours": _through(stored.journal), "bare": bare}
        versions = {side: count(1) for side in sides}
        for pace, pause in PACES.items():
            taken: dict[str, list[float]] = {side: [] for side in sides}
            for block in range(BLOCKS):
                for side in sides if block % 2 == 0 else reversed(sides):
                    commit = sides[side]
                    for _ in range(times // BLOCKS):
                        if pause:
                            await asyncio.sleep(pause)
                        entry = _entry(next(versions[side]))
                        start = time.perf_counter()
                        await commit(entry)
                        taken[side].append(time.perf_counter() - start)
            spreads = [Spread.of(taken[side]) for side in ("ours", "bare")]
            cells = [
                cell
                for one in spreads
                for cell in (ms(one.median), f"{ms(one.low)}-{ms(one.high)}", ms(one.p99))
            ]
            over = (spreads[0].median - spreads[1].median) * 1000
            table.add(
                f"{name}, {pace}",
                *cells,
                f"{over:.2f}",
                measured=round(over, 3),
                budget=OVER_DRIVER_MS,
            )


class _BareGroups:
    """SQLite's bare driver, which inserts the rows of several states in one transaction, or each in its own.

    Args:
        connection: The connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers = count(1_000_000)

    def seconds(self, rows: Sequence[tuple[object, ...]], group: int) -> float:
        """Insert rows, so many in one transaction; return how long that took."""
        start = time.perf_counter()
        for at in range(0, len(rows), group):
            self._connection.execute("BEGIN IMMEDIATE")
            for row in rows[at : at + group]:
                self._connection.execute(_SQLITE_ROW, (f"bare-{next(self._numbers)}", *row[1:]))
            self._connection.execute("COMMIT")
        return time.perf_counter() - start


async def _at_once(
    table: Table, name: str, url: str, times: int, bare: _BareGroups | None = None
) -> None:
    async with SqlStore(url, owner="bench", schema=1) as store:
        ids = [f"order-{number}" for number in range(max(STATES))]
        orders = [(await store.create(one, lambda ordinal: "{}")).journal for one in ids]
        versions = [count(1) for _ in orders]
        for states, budget in STATES.items():
            each = max(1, times // states)
            sides: dict[str, list[float]] = {"together": [], "one by one": []}
            limits: list[float] = []
            rows = [_row(_entry(version)) for version in range(states * each)]
            await _burst(orders, versions, states, each)
            for block in range(BLOCKS):
                for side in sides if block % 2 == 0 else reversed(sides):
                    with _one_by_one() if side == "one by one" else nullcontext():
                        seconds = await _burst(orders, versions, states, each)
                    sides[side].append(states * each / seconds)
                if bare is not None:
                    limits.append(bare.seconds(rows, states) / bare.seconds(rows, 1))
            together, one_by_one = (Spread.of(rates) for rates in sides.values())
            share = one_by_one.median / together.median
            table.add(
                f"{name}, {states} at once",
                *(
                    cell
                    for one in (together, one_by_one)
                    for cell in (f"{one.median:,.0f}", f"{one.low:,.0f}-{one.high:,.0f}")
                ),
                f"{share:.2f}",
                measured=round(share, 3),
                budget=budget,
                limit=round(Spread.of(limits).median, 3) if limits else None,
                limit_is="the bare driver's share for the same rows, in one thread",
            )


async def _burst(
    orders: Sequence[Journal], versions: Sequence["count[int]"], states: int, each: int
) -> float:
    """Write so many changes of each of so many orders; returns how long that took, in seconds.

    The changes are made before: only writing them is measured.
    """
    entries = [[_entry(next(versions[at])) for _ in range(each)] for at in range(states)]

    async def write(at: int) -> None:
        for entry in entries[at]:
            await orders[at].append(entry)

    start = time.perf_counter()
    await asyncio.gather(*map(write, range(states)))
    return time.perf_counter() - start


@contextmanager
def _one_by_one() -> Iterator[None]:
    """Give every change a transaction of its own."""
    group, thread.GROUP = thread.GROUP, 1
    try:
        yield
    finally:
        thread.GROUP = group


def _through(journal: Journal) -> Commit:
    async def commit(entry: Entry) -> None:
        await journal.append(entry)

    return commit


def _entry(version: int) -> Entry:
    command = ChangeItem(line_id="L7", quantity=1 + version % 5)
    return Entry(
        version=version,
        commands=(command.written(),),
        state=ten_line_order().model_dump_json(),
        speaker="order_taker",
        actor="order_taker",
        touched=("lines/L7",),
    )


def _row(entry: Entry) -> tuple[object, ...]:
    return (
        "bare",
        entry.version,
        str(entry.commands),
        str(entry.touched),
        entry.state,
        entry.speaker,
        entry.actor,
        1,
        "2026-11-20T19:00:00-05:00",
    )
