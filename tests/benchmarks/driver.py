"""What the disk itself takes: SQLite's bare driver committing the rows that a journal has just written."""

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from itertools import count, cycle
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Samples, Watch

IN_LOOP, IN_THREAD = "bare commit", "bare commit in a thread"
HANDOFF = "hand_over"


class Driver:
    """Commits the same rows as a journal, into the same table, with the same settings, and does nothing else.

    Args:
        journal: The journal's file. Rows have to be in it when the first is committed here.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.file = journal.with_suffix(".bare.db")
        self._thread = ThreadPoolExecutor(1)
        self._numbers = count()

    def close(self) -> None:
        """Let go of the database."""
        self._thread.shutdown()
        self._database.close()

    def commit(self, kind: str = "tool", times: Samples | None = None) -> None:
        """Commit the next row in the event loop: that is what the disk takes, and SQLite.

        Args:
            kind: Whether it is the row of a tool or of a handoff.
            times: Where the time is kept.
        """
        statement, row = self._next(kind)
        with Watch({} if times is None else times, f"{kind}: {IN_LOOP}"):
            self._write(statement, row)

    async def commit_in_thread(self, kind: str, times: Samples) -> None:
        """Commit the next row in a thread and wait for it, as a program has to that serves others meanwhile."""
        statement, row = self._next(kind)
        loop = asyncio.get_running_loop()
        with Watch(times, f"{kind}: {IN_THREAD}"):
            await loop.run_in_executor(self._thread, self._write, statement, row)

    def _write(self, statement: str, row: tuple[Any, ...]) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(statement, row)
        self._database.execute("COMMIT")

    def _next(self, kind: str) -> tuple[str, tuple[Any, ...]]:
        columns, row = next(self._rows[kind])
        # The same row under another name: a journal takes none twice.
        values = {**dict(zip(columns, row, strict=True)), "state_id": f"bare-{next(self._numbers)}"}
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        return f"INSERT INTO entries ({names}) VALUES ({marks})", tuple(values.values())

    @cached_property
    def _database(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        with closing(sqlite3.connect(self._journal)) as journal:
            (made,) = journal.execute(
                "SELECT sql FROM sqlite_master WHERE name = 'entries'"
            ).fetchone()
        database.execute(made)
        return database

    @cached_property
    def _rows(self) -> dict[str, Iterator[tuple[list[str], tuple[Any, ...]]]]:
        with closing(sqlite3.connect(self._journal)) as journal:
            found = journal.execute("SELECT * FROM entries")
            columns = [name for name, *_ in found.description]
            rows = found.fetchall()
        handoffs = [row for row in rows if HANDOFF in row[columns.index("commands")]]
        tools = [row for row in rows if row not in handoffs]
        given = {"tool": tools, "handoff": handoffs or tools}
        return {kind: cycle([(columns, row) for row in those]) for kind, those in given.items()}
