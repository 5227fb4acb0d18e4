"""A command prepares its context right before it is applied, in its writer's turn."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import pytest

from state.shared import Command, NotStored, Refused, SharedState
from tests.state.shared.board import Board, Paper, Score

Prepare = Callable[[], Awaitable[None]]


class Weather:
    """A context that changes while calls run."""

    def __init__(self, read: Prepare | None = None) -> None:
        self.rain = False
        self.reads = 0
        self._read = read

    async def refresh(self) -> None:
        """Look out of the window."""
        self.reads += 1
        await asyncio.sleep(0)
        if self._read is not None:
            await self._read()


class PlayOutside(Command[Board, Weather]):
    """Score, unless it rains."""

    op: Literal["play_outside"] = "play_outside"
    name: str

    async def prepare(self, context: Weather) -> None:
        await context.refresh()

    def apply(self, state: Board, context: Weather) -> Board:
        if context.rain:
            raise Refused("It rains.")
        return state.model_copy(update={"scores": {**state.scores, self.name: len(state.scores)}})


def outside(weather: Weather, journal: Paper | None = None, **how: Any) -> SharedState[Board, Any]:
    return SharedState(Board(), weather, journal=journal, **how)


async def test_what_has_changed_a_moment_ago_counts() -> None:
    async def begins_to_rain() -> None:
        weather.rain = True

    paper, weather = Paper(), Weather(begins_to_rain)
    shared = outside(weather, paper)

    with pytest.raises(Refused):
        await shared.apply(PlayOutside(name="ann"), actor="judge")

    assert (shared.version, paper.entries) == (0, [])


async def test_writers_keep_their_order_whoever_prepares() -> None:
    shared = outside(Weather(), Paper(rounds=2))

    await asyncio.gather(
        shared.apply(PlayOutside(name="ann"), actor="a"),
        shared.apply(Score(name="bob"), actor="b"),
        shared.apply(PlayOutside(name="cleo"), actor="c"),
    )

    assert list(shared.state.scores) == ["ann", "bob", "cleo"]


async def test_other_commands_and_repeats_prepare_nothing() -> None:
    weather = Weather()
    shared = outside(weather, Paper())

    await shared.apply(Score(name="ann"), actor="judge")
    assert weather.reads == 0
    first = await shared.apply(PlayOutside(name="bob"), actor="judge", key="k")
    weather.rain = True
    again = await shared.apply(PlayOutside(name="bob"), actor="judge", key="k")

    assert (weather.reads, again) == (1, first)


async def test_a_preparation_that_fails_changes_nothing_and_blocks_no_other_writer() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    paper = Paper()
    shared = outside(Weather(fail), paper)

    with pytest.raises(ZeroDivisionError):
        await shared.apply(Score(name="ann"), PlayOutside(name="ann"), actor="judge")
    await shared.apply(Score(name="bob"), actor="judge")

    assert (shared.state.scores, len(paper.entries)) == ({"bob": 1}, 1)


async def test_a_preparation_that_hangs_ends_with_the_writers_time() -> None:
    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    paper = Paper()
    shared = outside(Weather(hang), paper, wait_s=0.01)

    with pytest.raises(NotStored):
        await shared.apply(PlayOutside(name="ann"), actor="judge")
    await shared.apply(Score(name="bob"), actor="judge")

    assert (shared.state.scores, len(paper.entries)) == ({"bob": 1}, 1)


async def test_a_writer_that_is_cancelled_while_it_prepares_has_changed_nothing() -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    paper = Paper()
    shared = outside(Weather(hang), paper)
    writing = asyncio.create_task(shared.apply(PlayOutside(name="ann"), actor="judge", key="k"))
    await begun.wait()
    writing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await writing
    await shared.apply(Score(name="bob"), actor="judge")

    assert (shared.state.scores, len(paper.entries)) == ({"bob": 1}, 1)
    assert not shared.knows("k")
