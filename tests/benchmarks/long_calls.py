"""What a turn costs late in a long call: time, memory, and what the model is shown.

Run as a module it holds one call in a process of its own and writes down what it found as JSON.
"""

import asyncio
import json
import logging
import statistics
import sys
from collections.abc import Iterator, Sequence

from livekit.agents.llm import ChatContext, Tool

from agents.testing import Step
from tests.benchmarks.applications import RESTAURANT, handoff, text
from tests.benchmarks.fresh import measured
from tests.benchmarks.measuring import Samples, Watch, processor
from tests.benchmarks.memory import KIB, resident
from tests.benchmarks.played import characters
from tests.benchmarks.report import Table
from tests.benchmarks.sides import GuestTurn

TURN = "turn"
AROUND = 10
"""How many turns before a mark are measured."""


def measure(marks: tuple[int, ...]) -> list[Table]:
    """Hold one long call on each side."""
    table = Table(
        "A turn late in one call of the restaurant",
        (
            "plain, ms",
            "processor",
            "ours, ms",
            "processor",
            "ratio",
            "plain, characters",
            "ours",
            "plain, KiB a turn",
            "ours",
        ),
        note="Every other turn calls a tool; one agent all the time. Time is the median of the turns before"
        " that one; characters are those of its last request; memory is what each turn since the mark"
        " before has added.",
    )
    given = [str(mark) for mark in marks]
    plain, ours = (measured(__name__, side, *given) for side in ("plain", "ours"))
    for mark, one, other in zip(marks, plain, ours, strict=True):
        table.add(
            f"turn {mark:,}",
            f"{one['ms']:.2f}",
            f"{one['processor']:.2f}",
            f"{other['ms']:.2f}",
            f"{other['processor']:.2f}",
            f"{other['ms'] / one['ms']:.2f}",
            f"{one['characters']:,}",
            f"{other['characters']:,}",
            f"{one['kib']:.1f}",
            f"{other['kib']:.1f}",
        )
    return [table]


async def hold(side_name: str, marks: list[int]) -> list[dict[str, float]]:
    """Hold one call up to the last mark."""
    opening = handoff("I would like to order", "order_taker", "What may it be?")
    steps = _steps(opening)
    side = RESTAURANT.ours(steps) if side_name == "ours" else RESTAURANT.by_hand(steps)
    asked = [0]

    def watch(context: ChatContext, tools: Sequence[Tool]) -> None:
        asked[0] = characters(context)

    await side.open()
    await side.hears(opening.words)
    found: list[dict[str, float]] = []
    times: Samples = {}
    before, since = resident(), 0
    for number in range(1, marks[-1] + 1):
        side.model.watch = watch if number in marks else None
        with Watch(times, TURN):
            await side.hears(_turn(number).words)
        if number in marks:
            now = resident()
            found.append(
                {
                    "ms": statistics.median(times[TURN][-AROUND:]) * 1000,
                    "processor": statistics.median(times[processor(TURN)][-AROUND:]) * 1000,
                    "characters": asked[0],
                    "kib": (now - before) / KIB / (number - since),
                }
            )
            before, since = now, number
    await side.close()
    return found


def _steps(opening: GuestTurn) -> Iterator[Step]:
    yield RESTAURANT.greeting
    yield from opening.steps
    number = 0
    while True:
        number += 1
        yield from _turn(number).steps


def _turn(number: int) -> GuestTurn:
    if number % 2:
        return text("Is the Diavola hot?", "It has hot peppers, yes.")
    return RESTAURANT.endless(number)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.stdout.write(json.dumps(asyncio.run(hold(sys.argv[1], [*map(int, sys.argv[2:])]))))
