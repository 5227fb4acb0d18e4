"""What is kept of a call, as it reaches the store."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.handoff import Ended, EndReason, Event, Heard, YourTurn
from agents.testing import until
from bella_vista.transcript import CallRecord
from state.shared import Moment, SqlStore


class Written:
    """A store that keeps nothing but what it was given at a time."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def record(self, order_id: str, *moments: Moment) -> "asyncio.Future[None]":
        """Take note of one writing, which is done at once."""
        for one in moments:
            assert one.gate is None or one.gate.begin()
        self.batches.append([one.kind for one in moments])
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


class Talking:
    """As much of a call as its record looks at."""

    turn = 0
    state = SimpleNamespace(order_id="o-1", channel="web_text")
    shared = SimpleNamespace(version=3)
    manners = SimpleNamespace(let_in=str, let_out=str)
    listening = True

    def listen(self, listener: Any) -> Any:
        """Keep who listens."""
        self.listener = listener
        return lambda: None

    def take_in(self, text: str, number: int) -> int:
        """Take in what was stored."""
        self.tell(Heard(number, text))
        return number

    def tell(self, event: Event) -> None:
        """Tell them something."""
        self.listener(event)


async def test_words_and_the_key_they_came_with_are_kept_both_or_neither() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store))

    await record.say("one cola", "client:1", "digest").turn

    assert store.batches == [["began", "answered", "spoke", "heard", "keyed"]]
    assert record.idle


async def test_what_is_heard_at_once_is_kept_as_well() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store))

    call.tell(Heard(1, "one cola"))
    await record.aclose()

    assert store.batches == [["began", "answered", "spoke", "heard"]]


async def test_what_is_answered_is_kept_once_when_it_is_the_guests_turn() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store))

    for turn in (0, 1, 1):
        call.tell(YourTurn(turn, "greeter", 3, "open"))
        await until(lambda: record.idle)
    await record.aclose()

    assert store.batches == [["began", "answered"], ["answered"]]


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("agent_ended", ["began", "answered", "ended"]), ("user_left", ["began", "ended"])],
)
async def test_a_goodbye_answers_what_it_was_said_to(reason: EndReason, kept: list[str]) -> None:
    call, store = Talking(), Written()
    call.turn = 4
    record = CallRecord(cast(Any, call), cast(SqlStore, store))

    call.tell(Ended(reason))
    await record.aclose()

    assert store.batches == [kept]
