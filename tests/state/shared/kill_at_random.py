"""Kill a process that writes, at hundreds of random moments, and count what was lost.

    python -m tests.state.shared.kill_at_random --times 300
    python -m tests.state.shared.kill_at_random --times 300 --database sqlite:///boards.db

Without ``--database`` a file and a PostgreSQL server of its own are tried, both as they are in service:
every commit is forced to the disk. Each child takes the boards over from the one before him, writes on all of
them at once, as fast as he can, so that their changes are committed together, tells each version that was
acknowledged, and is killed. Ends with 1 if anything was lost.

A child is forked, because importing everything anew would take longer than what is tried.
"""

import argparse
import asyncio
import os
import random
import select
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import state.shared.sql.database
import state.shared.sql.layout  # noqa: F401 - so that no child has to import them
from state.shared import SharedState, SqlStore, StoredState
from tests.postgres import server
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import by_hand

BOARDS: tuple[str, ...] = ("friday", "saturday", "sunday", "monday", "tuesday", "wednesday")
LONGEST_S = 0.15
AT_ONCE = 0.25
"""How many children are killed so soon after their birth; the others so soon after their first write."""


@dataclass
class Figures:
    """What came of it."""

    kills: int = 0
    before_the_first_write: int = 0
    acknowledged: int = 0
    stored: int = 0
    lost: int = 0
    damaged: int = 0
    together: int = 0
    """How many were committed with one before them."""

    def line(self, what: str) -> str:
        return (
            f"{what}: {self.kills} kills, {self.before_the_first_write} of them before the child's first"
            f" write; {self.acknowledged} changes acknowledged, {self.stored} stored, {self.lost} lost,"
            f" {self.damaged} damaged; {self.together} committed with others\n"
        )


def kill_at_random(address: str, times: int, seed: int) -> Figures:
    """Kill so many children, one after the other, on the same boards."""
    moments = random.Random(seed)
    figures = Figures()
    asyncio.run(_begin(address))
    with by_hand(address) as hand:
        last = dict.fromkeys(BOARDS, 0)
        for _ in range(times):
            told = _killed_child(address, moments.uniform(0, LONGEST_S), moments.random() < AT_ONCE)
            figures.kills += 1
            figures.acknowledged += len(told)
            figures.before_the_first_write += not told
            for board, version in told:
                last[board] = max(last[board], version)
            # What a server was doing for it may still be under way; the lock waits for it.
            hand("BEGIN IMMEDIATE" if address.startswith("sqlite") else "BEGIN")
            hand("UPDATE states SET fence = fence")
            rows = hand("SELECT state_id, version, at FROM entries")
            hand("ROLLBACK")
            figures.stored = len(rows)
            # One transaction has one time.
            figures.together = len(rows) - len({at for *_, at in rows})
            for board in BOARDS:
                versions = sorted(version for name, version, _ in rows if name == board)
                figures.lost += len(set(range(1, last[board] + 1)) - set(versions))
                figures.damaged += versions != list(range(1, len(versions) + 1))
                last[board] = max(last[board], len(versions))
    figures.damaged += not asyncio.run(_adds_up(address))
    return figures


def _killed_child(address: str, after_s: float, at_once: bool) -> list[tuple[str, int]]:
    """Let a child write for a while; returns the versions of each board that were acknowledged to it."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _write_for_ever(address, writes)
    os.close(writes)
    if not at_once:
        select.select([reads], [], [])
    select.select([], [], [], after_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reads) as told:
        lines = [line.split() for line in told.read().split("\n")[:-1]]
    return [(board, int(version)) for board, version in lines]


def _write_for_ever(address: str, tell: int) -> NoReturn:
    async def write() -> None:
        store = SqlStore(address, owner="club", schema=1)
        await asyncio.gather(*[on(board, await store.take(board)) for board in BOARDS])

    async def on(board: str, stored: StoredState) -> None:
        shared = SharedState.restored(stored, Board, None)
        while True:
            applied = await shared.apply(Score(name="ann"), actor="child")
            os.write(tell, f"{board} {applied.version}\n".encode())

    try:
        asyncio.run(write())
    finally:
        os._exit(1)  # nothing of the parent's is a child's to end


async def _begin(address: str) -> None:
    async with SqlStore(address, owner="club", schema=1) as store:
        for board in BOARDS:
            await store.create(board, lambda ordinal: Board().model_dump_json())


async def _adds_up(address: str) -> bool:
    async with SqlStore(address, owner="club", schema=1) as store:
        # Every row is compared with its checksum.
        boards = [await store.read(board) for board in BOARDS]
    return all(
        sum(Board.model_validate_json(stored.state).scores.values()) == stored.version
        for stored in boards
    )


@contextmanager
def _addresses(given: str | None) -> Iterator[list[tuple[str, str]]]:
    if given is not None:
        yield [(given.partition(":")[0], given)]
        return
    with tempfile.TemporaryDirectory() as folder, server(fsync=True) as running:
        yield [("sqlite", f"sqlite:///{folder}/b.db"), ("postgresql", running.new_database())]


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill a process that writes, at random moments.")
    parser.add_argument("--times", type=int, default=300, help="how many processes to kill")
    parser.add_argument("--database", help="an empty database; both kinds, when none is named")
    parser.add_argument("--seed", type=int, default=20261120)
    asked = parser.parse_args()
    bad = 0
    with _addresses(asked.database) as addresses:
        for what, address in addresses:
            figures = kill_at_random(address, asked.times, asked.seed)
            bad += figures.lost + figures.damaged
            sys.stdout.write(figures.line(what))
            sys.stdout.flush()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
