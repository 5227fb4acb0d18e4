"""Many conversations at once in one process: time a turn, memory each, and how long the event loop is late.

Run as a module it holds one crowd in a process of its own and writes down what it found as JSON.
"""

import asyncio
import contextlib
import json
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from state.shared import SqlStore
from tests.benchmarks.applications import RESTAURANT, TWELVE_TURNS
from tests.benchmarks.fresh import measured
from tests.benchmarks.measuring import Samples, Spread, Watch, processor
from tests.benchmarks.memory import KIB, resident
from tests.benchmarks.report import Table
from tests.benchmarks.sides import GuestTurn, Side

MOST_KIB = 400.0
MANY = 20
"""From how many on the memory of one can be told from the allocator's steps."""
TICK_S = 0.005
WHOLE = "the whole crowd"
SIDES = {"plain": "plain", "ours": "ours, in memory", "journal": "ours, journal"}


def measure(crowds: Sequence[int]) -> list[Table]:
    """Hold crowds of several sizes on every side, each in a fresh process."""
    table = Table(
        "Many conversations at once",
        (
            "ms a turn",
            "processor",
            "a turn's median, ms",
            "p99, ms",
            "loop late p99, ms",
            "most, ms",
            "KiB each, greeted",
            "KiB each, after twelve turns",
        ),
        note="The restaurant's twelve turns; users do not pause, so the process is as busy as it can be. A turn"
        " costs the time of the whole crowd by the number of its turns, and of the processor what all threads took"
        " of it. Memory is what the process has"
        " grown by while all of them are alive.",
    )
    for crowd in crowds:
        plain = 0.0
        for side, name in SIDES.items():
            found = measured(__name__, side, str(crowd))
            plain = found["held_kib"] if side == "plain" else plain
            budget = MOST_KIB if crowd == max(crowds) and side != "plain" else None
            memory = [f"{found[what]:.0f}" for what in ("greeted_kib", "held_kib")]
            table.add(
                f"{crowd}, {name}",
                *(f"{found[what]:.2f}" for what in ("cost", "processor", "median", "p99")),
                *(f"{found[what]:.1f}" for what in ("late_p99", "late_most")),
                *(memory if crowd >= MANY else ["", ""]),
                measured=round(found["held_kib"], 1) if budget else None,
                budget=budget,
                limit_is=f"plain takes {plain:.0f} KiB each",
            )
    return [table]


async def hold(side_name: str, count: int, turns: Sequence[GuestTurn]) -> dict[str, float]:
    """Hold so many conversations at once."""
    async with _opener(side_name) as new_side:
        first = await new_side("warm")
        await _talk(first, turns, [])
        await first.close()
        del first
        empty = resident()
        sides = [await new_side(str(number)) for number in range(count)]
        greeted = resident()
        taken: list[float] = []
        late: list[float] = []
        watch = asyncio.get_running_loop().create_task(_watch(late))
        crowd: Samples = {}
        with Watch(crowd, WHOLE):
            await asyncio.gather(*(_talk(side, turns, taken) for side in sides))
        watch.cancel()
        held = resident()
        for side in sides:
            await side.close()
    turn, lateness = Spread.of(taken), Spread.of(late or [0.0])
    return {
        "cost": crowd[WHOLE][0] * 1000 / (count * len(turns)),
        "processor": crowd[processor(WHOLE)][0] * 1000 / (count * len(turns)),
        "median": turn.median * 1000,
        "p99": turn.p99 * 1000,
        "late_p99": lateness.p99 * 1000,
        "late_most": lateness.most * 1000,
        "greeted_kib": (greeted - empty) / KIB / count,
        "held_kib": (held - empty) / KIB / count,
    }


@contextlib.asynccontextmanager
async def _opener(name: str) -> AsyncIterator[Callable[[str], Awaitable[Side]]]:
    """What opens conversations of one side, greeting included."""
    steps = RESTAURANT.script(TWELVE_TURNS)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'journal.db'}"
        async with SqlStore(url, owner="bench", schema=1) as store:

            async def opened(state_id: str) -> Side:
                side: Side
                if name == "plain":
                    side = RESTAURANT.by_hand(steps)
                elif name == "ours":
                    side = RESTAURANT.ours(steps)
                else:
                    stored = await store.create(state_id, lambda ordinal: "{}")
                    side = RESTAURANT.ours(steps, stored.journal)
                await side.open()
                return side

            yield opened


async def _talk(side: Side, turns: Sequence[GuestTurn], taken: list[float]) -> None:
    for turn in turns:
        start = time.perf_counter()
        await side.hears(turn.words)
        taken.append(time.perf_counter() - start)


async def _watch(late: list[float]) -> None:
    """Ask to be woken again and again, and note how late it comes."""
    while True:
        due = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        late.append(time.perf_counter() - due)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    found = asyncio.run(hold(sys.argv[1], int(sys.argv[2]), TWELVE_TURNS))
    sys.stdout.write(json.dumps(found))
