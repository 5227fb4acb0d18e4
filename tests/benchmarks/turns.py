"""What a turn costs beside plain livekit-agents: text, a tool, a handoff; in memory and with the journal."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path

from state.shared import SqlStore
from tests.benchmarks.applications import APPLICATIONS, LONG_REPLY, Application
from tests.benchmarks.measuring import Samples, Spread, all_of, alternate, ratio
from tests.benchmarks.played import PIECE
from tests.benchmarks.report import Table, ms
from tests.benchmarks.sides import timed

KINDS = ("text", "long reply", "tool", "handoff")
BUDGETS = {
    "in memory": {"text": 1.10, "tool": 0.90, "handoff": 0.95},
    "journal": {"text": 1.10, "tool": 1.20, "handoff": 1.25},
}


def measure(rounds: int) -> list[Table]:
    """Hold the same call on both sides, in turn."""
    return [asyncio.run(_compare(application, rounds)) for application in APPLICATIONS]


async def _compare(application: Application, rounds: int) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        async with SqlStore(
            f"sqlite:///{Path(folder) / 'journal.db'}", owner="bench", schema=1
        ) as store:
            sides: dict[str, Callable[[], Awaitable[Samples]]] = {
                "plain": partial(_plain, application),
                "in memory": partial(_ours, application),
                "journal": partial(_journalled, application, store, count(1)),
            }
            results = await alternate(rounds, sides)
    table = Table(
        f"A turn of the {application.name}, ms",
        ("plain", "quartiles", "ours", "quartiles", "ratio", "of rounds"),
        note=f"The long reply has {len(LONG_REPLY)} characters, which come in pieces of {PIECE}; it has no"
        " budget of its own.",
    )
    for kind in KINDS:
        plain = Spread.of(all_of(results, "plain", kind))
        for side, budgets in BUDGETS.items():
            ours = Spread.of(all_of(results, side, kind))
            beside = ratio(results, side, "plain", kind)
            table.add(
                f"{kind}, {side}",
                ms(plain.median),
                f"{ms(plain.low)}-{ms(plain.high)}",
                ms(ours.median),
                f"{ms(ours.low)}-{ms(ours.high)}",
                f"{beside.overall:.2f}",
                f"{beside.low:.2f}-{beside.high:.2f}",
                measured=round(beside.overall, 2),
                budget=budgets.get(kind),
            )
    return table


async def _plain(application: Application) -> Samples:
    return await timed(application.by_hand(application.script()), application.turns)


async def _ours(application: Application) -> Samples:
    return await timed(application.ours(application.script()), application.turns)


async def _journalled(application: Application, store: SqlStore, ids: "count[int]") -> Samples:
    stored = await store.create(f"call-{next(ids)}", lambda ordinal: "{}")
    return await timed(application.ours(application.script(), stored.journal), application.turns)
