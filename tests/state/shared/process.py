"""A process of its own that writes to a board, for the tests to overtake.

    python -m tests.state.shared.process MODE URL STATE_ID

``hold``: takes the board, then gives one point for each line it reads and prints what came of it.
``leave``: begins a board and ends without closing anything.
``wait-SECONDS``: begins a board of its own and gives points as ``hold`` does. While it waits for the write lock, the
first so many seconds pass at once; it prints when they are over.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

from state.shared import SharedState, SqlStore, StateError
from tests.state.shared.board import Board, Score
from tests.state.shared.patience import be_patient


async def hold(store: SqlStore, state_id: str, then: Callable[[], None] = lambda: None) -> None:
    shared = SharedState.restored(await store.take(state_id), Board, None)
    then()
    tell("held")
    while await asyncio.to_thread(sys.stdin.readline):
        try:
            applied = await shared.apply(Score(name="child"), actor="child")
        except StateError as error:
            tell(error.code)
        else:
            tell(str(applied.version))


async def leave(store: SqlStore, state_id: str) -> None:
    stored = await store.create(state_id, lambda ordinal: Board().model_dump_json())
    shared = SharedState.restored(stored, Board, None)
    await shared.apply(Score(name="ann"), actor="child")
    tell("left")


async def wait(store: SqlStore, state_id: str, at_once: float) -> None:
    from state.shared.sql import connection, dialects, thread

    slept = 0.0

    def sleep(seconds: float) -> None:
        nonlocal slept
        if slept >= at_once:
            time.sleep(seconds)
        else:
            slept += seconds
            if slept >= at_once:
                tell("waits")

    def patch() -> None:
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + slept, sleep=sleep)
        connection.time = thread.time = clock  # type: ignore[attr-defined, assignment]
        dialects.BUSY_S = thread.LOCK_S  # a patient store would wait a minute

    own = f"{state_id} {os.getpid()}"
    await store.create(own, lambda ordinal: Board().model_dump_json())
    await hold(store, own, patch)


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    mode, url, state_id = sys.argv[1:]
    be_patient()
    store = SqlStore(url, owner="club", schema=1)
    mode, _, seconds = mode.partition("-")
    if mode == "wait":
        asyncio.run(wait(store, state_id, float(seconds)))
    else:
        asyncio.run({"hold": hold, "leave": leave}[mode](store, state_id))


if __name__ == "__main__":
    main()
