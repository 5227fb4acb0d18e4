"""A process of its own that does to boards what it is told, line by line, for the tests of fencing.

    python -m tests.state.shared.actor NAME URL

``take ID`` holds a board, ``write`` gives a point; each is answered by the version reached, or by the code
of what stood against it. ``stand still`` has it stop in the middle of its next commit, without an answer.
"""

import asyncio
import signal
import sys
import threading

from state.shared import SharedState, SqlStore, StateError
from state.shared.sql import dialects
from tests.state.shared.at_commit import functions_with
from tests.state.shared.board import Board, Score

STATEMENT_S = 0.5


async def obey(name: str, store: SqlStore) -> None:
    shared: SharedState[Board, None] | None = None
    stands_still = False

    def stand_still(driver: object) -> None:
        nonlocal stands_still
        if stands_still:
            stands_still = False
            # This very thread, so that it does not get any further.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    for function, replaced in functions_with(stand_still).items():
        setattr(dialects, function, replaced)
    while told := (await asyncio.to_thread(sys.stdin.readline)).split():
        try:
            if told[0] == "take":
                shared = SharedState.restored(await store.take(told[1]), Board, None)
                answer = str(shared.version)
            elif told[0] == "write" and shared is not None:
                answer = str((await shared.apply(Score(name=name), actor=name)).version)
            else:
                stands_still = told[0] == "stand"
                continue
        except StateError as error:
            answer = error.code
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def main() -> None:
    name, url = sys.argv[1:]
    # A server frees the row of one who stands still only after this.
    dialects.STATEMENT_S = STATEMENT_S
    asyncio.run(obey(name, SqlStore(url, owner="club", schema=1)))


if __name__ == "__main__":
    main()
