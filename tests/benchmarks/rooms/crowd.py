"""Many rooms at once, each served by a process of one machine's worker, in text."""

import asyncio
import time
from contextlib import AsyncExitStack, suppress

from tests.agents.app.serving.processes import descendants
from tests.benchmarks.measuring import Spread
from tests.benchmarks.memory import KIB, proportional
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms.deployment import Deployment, Place

AT_A_TIME = 2
"""How many guests come at the same time."""

WORDS = "Two large Margheritas without basil please"


async def measure(deployment: Deployment, rooms: int) -> Table:
    """Have a guest in so many rooms, and let each say something."""
    table = Table(
        f"{rooms} rooms of one machine's worker, text only, ms",
        ("median", "p99", "most"),
        note="A guest orders two pizzas, with all the other calls open: each after the other, then all in the same"
        " moment. Joined is from the dispatch of an agent to its whole greeting.",
    )
    empty = _memory(deployment)
    async with AsyncExitStack() as stack:
        places: list[Place] = []
        joined: list[float] = []
        gate = asyncio.Semaphore(AT_A_TIME)

        async def join() -> None:
            async with gate:
                start = time.monotonic()
                with suppress(TimeoutError):  # counted below
                    places.append(await stack.enter_async_context(deployment.place()))
                    joined.append(time.monotonic() - start)

        await asyncio.gather(*(join() for _ in range(rooms)))
        one_by_one = [await _answer(place) for place in places]
        start = time.monotonic()
        together = await asyncio.gather(*map(_answer, places))
        whole = time.monotonic() - start
        held = _memory(deployment)
    for name, taken in (
        (f"joined, {AT_A_TIME} at a time", joined),
        ("answered, one after the other", one_by_one),
        ("answered, all at once", together),
    ):
        spread = Spread.of([one for one in taken if one is not None] or [0.0])
        table.add(name, *(ms(at, 0) for at in (spread.median, spread.p99, spread.most)))
    answered = [one for one in zip(one_by_one, together, strict=True) if None not in one]
    silent = rooms - len(answered)
    table.add("rooms without an answer", str(silent), "", "", measured=silent, budget=0)
    table.note += f" All at once took {whole:.2f} s."
    if empty and places:
        each = (held - empty) / len(places) / KIB**2
        table.note += (
            f" A call took {each:.1f} MiB of memory (PSS): what the worker has grown by, of which the"
            " processes that waited for the first calls are taken off."
        )
    return table


async def _answer(place: Place) -> float | None:
    """Have a guest say something; returns how long all of the answer took, or nothing when there was none."""
    with suppress(TimeoutError):
        return await place.guest.asks(WORDS)
    return None


def _memory(deployment: Deployment) -> int:
    """What the worker and its processes take, in bytes: what they share is counted once. Linux only."""
    return sum(map(proportional, {deployment.worker.pid, *descendants(deployment.worker.pid)}))
