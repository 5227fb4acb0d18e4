"""What a turn late in a call costs beside plain livekit-agents, and the opening of a call.

The same call is held in the same rounds by hand, and on this framework in memory, with a journal in memory-backed
storage, and with a journal on the disk. By hand it is held twice more. Once as it is: that says how far two measurements
of the same thing lie apart here. And once with the bare driver, which commits the rows that the journals have written
between the turns: that is what the machine takes for them.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from state.shared import SqlStore
from tests.benchmarks.applications import APPLICATIONS, LONG_REPLY, Application
from tests.benchmarks.driver import IN_LOOP, IN_THREAD, Driver
from tests.benchmarks.measuring import Samples, Spread, all_of, alternate, processor, ratio
from tests.benchmarks.played import PIECE
from tests.benchmarks.report import Table, ms
from tests.benchmarks.sides import OPENING, Side, timed

KINDS = ("text", "long reply", "tool", "handoff", OPENING)
PLAIN, AGAIN, COMMITTING, IN_MEMORY, IN_SHM, ON_DISK = (
    "plain",
    "plain again",
    "plain beside commits",
    "in memory",
    "journal memory-backed",
    "journal on disk",
)
BUDGETS = {
    IN_MEMORY: {"text": 1.10, "long reply": 1.05, "tool": 0.90, "handoff": 0.95, OPENING: 1.5},
    IN_SHM: {"tool": 0.95, "handoff": 1.00},
    ON_DISK: {"text": 1.10, "long reply": 1.05, "tool": 1.20, "handoff": 1.20},
}
BEYOND_MS = 0.2
"""What a tool turn with its row on the disk may take beyond the turn in memory and the bare commit."""

MEMORY_BACKED = Path("/dev/shm")
"""Where Linux keeps files in memory; without it that side is left out."""

Results = list[dict[str, Samples]]


def measure(rounds: int) -> list[Table]:
    """Hold the same call on every side, in turn."""
    return [
        asyncio.run(_compare(application, max(1, round(rounds * application.share))))
        for application in APPLICATIONS
    ]


@dataclass(frozen=True)
class _Stored:
    """A journal's store and the bare driver beside its file."""

    store: SqlStore
    driver: Driver


async def _compare(application: Application, rounds: int) -> Table:
    with ExitStack() as files:
        async with AsyncExitStack() as stores:
            stored = {}
            for side, place in _places():
                folder = files.enter_context(tempfile.TemporaryDirectory(dir=place))
                file = Path(folder) / "journal.db"
                store = SqlStore(f"sqlite:///{file}", owner="bench", schema=1)
                driver = Driver(file)
                stores.callback(driver.close)
                stored[side] = _Stored(await stores.enter_async_context(store), driver)
            results = await alternate(rounds, _sides(application, stored))
    table = _table(application, results)
    table.subject = application.name
    return table


def _places() -> Iterator[tuple[str, Path | None]]:
    if MEMORY_BACKED.is_dir():
        yield IN_SHM, MEMORY_BACKED
    yield ON_DISK, None


def _sides(
    application: Application, stored: dict[str, _Stored]
) -> dict[str, Callable[[], Awaitable[Samples]]]:
    ids = count(1)

    async def plain() -> Side:
        return application.by_hand(application.script())

    async def in_memory() -> Side:
        return application.ours(application.script())

    async def journalled(store: SqlStore) -> Side:
        made = await store.create(f"call-{next(ids)}", lambda ordinal: "{}")
        return application.ours(application.script(), made.journal)

    commits = count()

    async def commit(kind: str, times: Samples) -> None:
        if kind not in ("tool", "handoff"):
            return
        in_thread = next(commits) % 2 == 1
        for side, one in stored.items():
            own: Samples = {}
            if in_thread:
                await one.driver.commit_in_thread(kind, own)
            else:
                one.driver.commit(kind, own)
            for what, taken in own.items():
                times.setdefault(f"{side}: {what}", []).extend(taken)

    opened = {PLAIN: plain, IN_MEMORY: in_memory}
    opened |= {side: partial(journalled, one.store) for side, one in stored.items()}
    sides = {side: partial(timed, make, application.turns) for side, make in opened.items()}
    sides[AGAIN] = partial(timed, plain, application.turns)
    return {**sides, COMMITTING: partial(timed, plain, application.turns, commit)}


def _table(application: Application, results: Results) -> Table:
    table = Table(
        f"A turn of the {application.name}, ms",
        (
            "plain",
            "processor",
            "quartiles",
            "ours",
            "processor",
            "quartiles",
            "ratio",
            "of rounds",
            "processor's",
        ),
        note="Turns late in a call: those in which something is done for the first time count for nothing. What is"
        " not the processor's is waiting. An opening ends when the greeting has been said. The long reply has"
        f" {len(LONG_REPLY)} characters, which come in pieces of {PIECE}.",
    )
    for kind in KINDS:
        for side, budgets in BUDGETS.items():
            if side in results[0] and (side != IN_SHM or kind in budgets):
                _add(table, results, kind, side, budgets.get(kind))
        _add(table, results, kind, AGAIN, None)
    for side in (IN_SHM, ON_DISK):
        if side in results[0]:
            _add_beyond(table, results, side)
    return table


def _add(table: Table, results: Results, kind: str, side: str, budget: float | None) -> None:
    cells = []
    for one in (PLAIN, side):
        spread = Spread.of(all_of(results, one, kind))
        worked = Spread.of(all_of(results, one, processor(kind)))
        cells += [ms(spread.median), ms(worked.median), f"{ms(spread.low)}-{ms(spread.high)}"]
    beside = ratio(results, side, PLAIN, kind)
    worked_beside = ratio(results, side, PLAIN, processor(kind))
    limit, limit_is = _limit(results, kind, side)
    table.add(
        f"{kind}, {side}",
        *cells,
        f"{beside.overall:.2f}",
        f"{beside.low:.2f}-{beside.high:.2f}",
        f"{worked_beside.overall:.2f}",
        measured=round(beside.overall, 2),
        budget=budget,
        limit=limit,
        limit_is=f"{limit_is}; the processor's ratio: {worked_beside.overall:.2f}",
    )


def _limit(results: Results, kind: str, side: str) -> tuple[float | None, str]:
    """Say what a turn with a journal comes to when of the journal only the disk and one thread are counted.

    The thread belongs to it: an event loop that waits for a disk serves no other call.

    In memory the machine sets no limit; how far it is to be trusted is what plain comes to beside itself.
    """
    if side in (IN_SHM, ON_DISK) and kind in ("tool", "handoff"):
        plain = _median(results, PLAIN, kind)
        commit = _median(results, COMMITTING, f"{side}: {kind}: {IN_THREAD}")
        whole = (_median(results, IN_MEMORY, kind) + commit) / plain
        return round(whole, 2), "in memory and the bare commit in a thread"
    beside = ratio(results, AGAIN, PLAIN, kind)
    return (
        None,
        f"plain beside itself: {beside.overall:.2f}, rounds {beside.low:.2f}-{beside.high:.2f}",
    )


def _add_beyond(table: Table, results: Results, side: str) -> None:
    """Add what a tool turn with a journal takes beyond the turn in memory and the bare commit of its row."""
    commit = _median(results, COMMITTING, f"{side}: tool: {IN_LOOP}")
    beyond = _median(results, side, "tool") - _median(results, IN_MEMORY, "tool") - commit
    hand_over = _median(results, COMMITTING, f"{side}: tool: {IN_THREAD}") - commit
    for what in (IN_LOOP, IN_THREAD):
        name = f"tool: {what}"
        spread = Spread.of(all_of(results, COMMITTING, f"{side}: {name}"))
        worked = Spread.of(all_of(results, COMMITTING, processor(f"{side}: {name}")))
        quartiles = f"{ms(spread.low)}-{ms(spread.high)}"
        cells = [ms(spread.median), ms(worked.median), quartiles]
        table.add(f"its row, {what}, {side}", *cells, *[""] * 6)
    table.add(
        f"tool, {side}: ms beyond memory and commit",
        *["", "", "", ms(beyond), "", "", "", "", ""],
        measured=round(beyond * 1000, 2) if side == ON_DISK else None,
        budget=BEYOND_MS if side == ON_DISK else None,
        limit=round(hand_over * 1000, 2),
        limit_is="the bare commit in a thread",
    )


def _median(results: Results, side: str, what: str) -> float:
    return Spread.of(all_of(results, side, what)).median
