"""How figures are taken: rounds that alternate, medians, quartiles, and a ratio with its spread."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Samples: TypeAlias = dict[str, list[float]]
"""Seconds by what was done; what the processor worked of them stands beside, under ``processor``."""


def processor(what: str) -> str:
    """Return the name under which the processor time of something is kept, all threads together."""
    return f"{what}: processor"


class Watch:
    """Times something: what passed on the clock, and what this process worked of it.

    The difference was spent waiting: for the disk, for another process, for a processor that was busy.

    Args:
        times: Where it is kept.
        what: What was done.
    """

    def __init__(self, times: Samples, what: str) -> None:
        self._times = times
        self._what = what
        self._begin = (0.0, 0.0)

    def __enter__(self) -> "Watch":
        self._begin = (time.process_time(), time.perf_counter())
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        passed = time.perf_counter() - self._begin[1]
        worked = time.process_time() - self._begin[0]
        if failed is None:
            self._times.setdefault(self._what, []).append(passed)
            self._times.setdefault(processor(self._what), []).append(worked)


@dataclass(frozen=True)
class Spread:
    """What many measurements of the same thing came to.

    Args:
        median: Half are below.
        low: A quarter are below.
        high: A quarter are above.
        p99: One in a hundred is above.
        most: The highest.
    """

    median: float
    low: float
    high: float
    p99: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Sum measurements up.

        >>> Spread.of([4.0, 1.0, 3.0, 2.0, 5.0]).median
        3.0
        """
        if len(values) < 2:
            return cls(*[values[0]] * 5)
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        p99 = statistics.quantiles(values, n=100, method="inclusive")[98]
        return cls(median, low, high, p99, max(values))


@dataclass(frozen=True)
class Ratio:
    """One side's time beside another's.

    Args:
        overall: The ratio of the two medians over all rounds.
        low: A quarter of the rounds came out lower, each by its own medians.
        high: A quarter came out higher.
    """

    overall: float
    low: float
    high: float


def ratio(rounds: Sequence[Mapping[str, Samples]], one: str, other: str, what: str) -> Ratio:
    """Compare two sides that were measured in the same rounds."""
    overall = _median_of(rounds, one, what) / _median_of(rounds, other, what)
    each = Spread.of(
        [statistics.median(a[one][what]) / statistics.median(a[other][what]) for a in rounds]
    )
    return Ratio(overall, each.low, each.high)


def all_of(rounds: Sequence[Mapping[str, Samples]], side: str, what: str) -> list[float]:
    """Every measurement of one thing on one side."""
    return [value for one in rounds for value in one[side][what]]


def _median_of(rounds: Sequence[Mapping[str, Samples]], side: str, what: str) -> float:
    return statistics.median(all_of(rounds, side, what))


async def alternate(
    rounds: int, sides: Mapping[str, Callable[[], Awaitable[Samples]]]
) -> list[dict[str, Samples]]:
    """Measure the sides in turn, each round in another order; one round before them counts for nothing.

    A machine that slows down for a while then slows all of them.
    """
    names = list(sides)
    for name in names:
        await sides[name]()
    results = []
    for number in range(rounds):
        shift = number % len(names)
        order = [*names[shift:], *names[:shift]]
        if number % 2:  # else each side would always come after the same one
            order.reverse()
        measured: dict[str, Samples] = {}
        for name in order:
            measured[name] = await sides[name]()
        results.append(measured)
    return results
