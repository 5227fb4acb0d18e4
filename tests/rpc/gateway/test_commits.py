"""A write through the gateway is whole or absent, also if its caller stops waiting."""

import asyncio
from collections.abc import Sequence

import pytest
from livekit import rtc
from pydantic import BaseModel

from agents.testing import until
from rpc.gateway import AnyMethod, Caller, Limits, Method, Request
from state.shared import Entry, SharedState
from tests.rpc.gateway.shop import shop
from tests.state.shared.board import Board, Score
from tests.virtual_time import in_virtual_time


class Written:
    """A journal whose entries are being written until the test lets them arrive."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.on_the_way = asyncio.Event()
        self._arrived: asyncio.Future[None] | None = None

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        assert entry.gate is not None
        assert entry.gate.begin()
        self.entries.append(entry)
        self._arrived = asyncio.get_running_loop().create_future()
        self.on_the_way.set()
        return self._arrived

    async def after(self, version: int) -> Sequence[Entry]:
        return self.entries[version:]

    def arrive(self) -> None:
        assert self._arrived is not None
        self._arrived.set_result(None)


class Asked(Request):
    name: str


class Done(BaseModel):
    version: int


def scoring(shared: SharedState[Board, None]) -> AnyMethod:
    async def score(request: Asked, caller: Caller) -> Done:
        applied = await shared.apply(Score(name=request.name), actor=caller.identity)
        return Done(version=applied.version)

    return Method("score", Asked, score)


async def test_a_caller_who_gives_up_during_the_commit_finds_it_done() -> None:
    journal = Written()
    shared = SharedState(Board(), None, journal=journal)

    async with shop(scoring(shared)) as place:
        call = asyncio.create_task(
            place.call("ada", "score", {"name": "Ada"}, response_timeout=0.02)
        )
        await journal.on_the_way.wait()
        loop = asyncio.get_running_loop()
        loop.call_later(0.05, journal.arrive)
        refused = await call

    assert refused.code == 1502
    assert (shared.version, shared.state.scores) == (1, {"Ada": 1})
    assert len(journal.entries) == 1


async def test_what_is_stored_just_after_our_own_deadline_is_told_as_done() -> None:
    journal = Written()
    shared = SharedState(Board(), None, journal=journal)

    async with shop(scoring(shared), limits=Limits(answer_s=0.02)) as place:
        call = asyncio.create_task(place.call("ada", "score", {"name": "Ada"}))
        await journal.on_the_way.wait()
        asyncio.get_running_loop().call_later(0.05, journal.arrive)

        assert await call == {"version": 1}


async def test_what_is_stored_long_after_our_own_deadline_is_told_as_unknown() -> None:
    journal = Written()
    shared = SharedState(Board(), None, journal=journal)

    async with shop(scoring(shared), limits=Limits(answer_s=0.02)) as place:
        refused = await place.call("ada", "score", {"name": "Ada"})
        journal.arrive()
        await until(lambda: shared.version == 1)

    assert refused.code == 5004


@in_virtual_time
async def test_a_caller_who_gives_up_before_the_commit_has_changed_nothing() -> None:
    journal = Written()
    shared = SharedState(Board(), None, journal=journal)

    async with shop(scoring(shared)) as place:
        first = asyncio.create_task(place.call("ada", "score", {"name": "Ada"}))
        await journal.on_the_way.wait()
        waiting = await place.call("sam", "score", {"name": "Sam"}, response_timeout=1.0)
        journal.arrive()

        assert waiting.code == 5003
        assert await first == {"version": 1}
    assert shared.state.scores == {"Ada": 1}


@pytest.mark.parametrize("rounds", range(12))
async def test_wherever_it_is_cancelled_the_state_is_wholly_old_or_wholly_new(rounds: int) -> None:
    journal = Written()
    shared = SharedState(Board(), None, journal=journal)

    async with shop(scoring(shared)) as place:
        task = asyncio.create_task(place.gateway.handle("score", "ada", '{"name":"Ada"}', 5.0))
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        if journal.entries:
            journal.arrive()
        try:
            reply = await task
        except (asyncio.CancelledError, rtc.RpcError):
            reply = ""

    assert len(journal.entries) == shared.version
    assert shared.state.scores == ({"Ada": 1} if shared.version else {})
    assert reply in ("", '{"version":1}')
