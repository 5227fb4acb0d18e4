"""A process of its own that writes to a board, for the tests to overtake.

    python -m tests.state.shared.process MODE URL STATE_ID

``hold``: takes the board, then gives one point for each line it reads and prints what came of it.
``leave``: begins a board and ends without closing anything.
"""

import asyncio
import sys

from state.shared import SharedState, SqlStore, StateError
from tests.state.shared.board import Board, Score
from tests.state.shared.by_hand import be_patient


async def hold(store: SqlStore, state_id: str) -> None:
    shared = SharedState.restored(await store.take(state_id), Board, None)
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


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    mode, url, state_id = sys.argv[1:]
    be_patient()
    store = SqlStore(url, owner="club", schema=1)
    asyncio.run({"hold": hold, "leave": leave}[mode](store, state_id))


if __name__ == "__main__":
    main()
