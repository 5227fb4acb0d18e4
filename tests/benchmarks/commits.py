"""What writing one change down costs, in both databases, beside the bare driver doing the same work."""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg
import pytest

from state.commands import ChangeItem
from state.shared import Entry, Journal, SqlStore
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.transactions import ten_line_order
from tests.postgres import server

PACES = {"back to back": 0.0, "every 3 ms": 0.003, "every 20 ms": 0.02}
BLOCKS = 4
"""Ours and the bare driver take turns in so many blocks."""

_TABLE = (
    "CREATE TABLE bare (state_id TEXT, version INTEGER, commands TEXT, touched TEXT, state TEXT,"
    " speaker TEXT, actor TEXT, fence INTEGER, at TEXT, PRIMARY KEY (state_id, version))"
)
_LATEST = "SELECT max(fence), max(version) FROM bare WHERE state_id = 'bare'"
_SQLITE_ROW = f"INSERT INTO bare VALUES ({', '.join('?' * 9)})"
_POSTGRESQL_ROW = "INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"

Commit = Callable[[Entry], Awaitable[None]]


def measure(times: int) -> list[Table]:
    """Write again and again, at several paces."""
    table = Table(
        "Writing one change of a ten-line order down, ms",
        ("ours", "quartiles", "p99", "bare driver", "quartiles", "p99"),
        note="Ours goes through the journal's thread, checks who holds the order and seals the row. The bare"
        " driver looks the last version up and inserts the same row in one transaction, in the event"
        " loop, which stands still meanwhile. Both wait for the disk.",
    )
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_sqlite(table, Path(folder), times))
    try:
        with server(fsync=True) as running:
            asyncio.run(_postgresql(table, running.new_database(), times))
    except pytest.skip.Exception:
        table.add("PostgreSQL: there is no server here", *[""] * 6)
    return [table]


async def _sqlite(table: Table, folder: Path, times: int) -> None:
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
        await _paces(table, f"SQLite {sqlite3.sqlite_version}", url, bare, times)


async def _postgresql(table: Table, url: str, times: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(_TABLE)
        connection.commit()

        async def bare(entry: Entry) -> None:
            connection.execute(_LATEST).fetchone()
            connection.execute(_POSTGRESQL_ROW, _row(entry))
            connection.commit()

        version = connection.info.server_version // 10_000
        await _paces(table, f"PostgreSQL {version}", url, bare, times)


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
            table.add(f"{name}, {pace}", *cells)


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
