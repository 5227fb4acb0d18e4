"""What is kept of a call, as it reaches the store."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.app.transcript import CallRecord, author_of
from agents.handoff import Ended, EndReason, Event, Heard, YourTurn
from agents.testing import Ids, until
from state.context import OrderContext
from state.menu import load_menu
from state.shared import Moment, Refused, SqlStore
from tests.bella_vista.small_restaurant import MENU
from tests.stored_orders import new_order, open_store


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
    shared = SimpleNamespace(version=3, state_id="o-1")
    policy = SimpleNamespace(redact_input=str, redact_output=str)
    listening = True
    redact_input = str

    def subscribe(self, listener: Any) -> Any:
        """Record the listener."""
        self.listener = listener
        return lambda: None

    def accept_user_input(self, text: str, number: int) -> int:
        """Take in what was stored."""
        self.tell(Heard(number, text))
        return number

    def tell(self, event: Event) -> None:
        """Tell them something."""
        self.listener(event)


@pytest.mark.parametrize("stored", ["user", "guest"], ids=["this release's", "an earlier one's"])
def test_the_users_words_have_the_applications_name_for_them(stored: str) -> None:
    assert author_of(Moment(1, "heard", stored, "hello"), "driver") == "driver"
    assert author_of(Moment(1, "said", "desk", "hello"), "driver") == "desk"


async def test_words_and_the_key_they_came_with_are_kept_both_or_neither() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store), channel="web_text")

    await record.say("one cola", "client:1", "digest").turn

    assert store.batches == [["began", "answered", "spoke", "heard", "keyed"]]
    assert record.idle


async def test_a_message_that_cannot_be_redacted_is_refused_and_nothing_of_it_is_stored() -> None:
    def redact_input(text: str) -> str:
        raise Refused("It could not be checked.", reason="not_redacted")

    call, store = Talking(), Written()
    call.redact_input = redact_input  # type: ignore[assignment]
    record = CallRecord(cast(Any, call), cast(SqlStore, store), channel="web_text")

    with pytest.raises(Refused, match="could not be checked"):
        await record.say("4111 1111 1111 1111", "client:1", "digest").turn

    assert store.batches == []
    assert record.idle


async def test_unstored_messages_are_stored_afterwards_as_well() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store), channel="web_text")

    call.tell(Heard(1, "one cola"))
    await record.aclose()

    assert store.batches == [["began", "answered", "spoke", "heard"]]


async def test_answers_are_stored_once_it_is_the_guests_turn() -> None:
    call, store = Talking(), Written()
    record = CallRecord(cast(Any, call), cast(SqlStore, store), channel="web_text")

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
    record = CallRecord(cast(Any, call), cast(SqlStore, store), channel="web_text")

    call.tell(Ended(reason))
    await record.aclose()

    assert store.batches == [kept]


class Days:
    """A restaurant with a call now and then; each says the day it began on, by the machine's clock then.

    Args:
        store: Keeps the talk.
    """

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.ids: list[str] = []
        menu = load_menu(MENU)
        self.context = OrderContext(menu=menu, now=lambda: datetime.now(UTC), new_id=Ids())

    async def call(self, day: float) -> None:
        """Have a call on a day."""
        order = await new_order(self.store, self.context, "web_text")
        self.ids.append(order.state.order_id)
        call = Talking()
        call.shared = SimpleNamespace(version=3, state_id=self.ids[-1])
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
        record = CallRecord(cast(Any, call), self.store, channel="web_text", now=lambda: at)
        record.drop_older_than(30)
        call.tell(Heard(1, f"{day:g}"))
        await record.aclose()

    async def kept(self) -> list[float]:
        """Which days' talk is kept."""
        said = [one for state_id in self.ids for one in await self.store.said(state_id)]
        return [float(one.text) for one in said if one.kind == "heard"]


@pytest.fixture
async def days(tmp_path: Path) -> AsyncIterator[Days]:
    async with open_store(f"sqlite:///{tmp_path}/orders.db", load_menu(MENU).restaurant.id) as it:
        yield Days(it)


@pytest.mark.parametrize("jump", [31.0, 45.0, 365.0, 3650.0])
async def test_a_clock_that_has_jumped_forward_makes_no_fresh_talk_old(
    days: Days, jump: float
) -> None:
    fresh = [0.0, 10.0, 20.0, 20.1]
    wrong = [20.2 + jump, 20.21 + jump, 21.1 + jump]
    right = [20.9, 22.0]
    for day in (*fresh, *wrong, *right):
        await days.call(day)

    assert await days.kept() == [float(f"{day:g}") for day in (*fresh, *wrong, *right)]


async def test_talk_is_kept_for_as_long_as_it_says_and_two_days_at_most(days: Days) -> None:
    for day in range(40):
        await days.call(day)

    assert await days.kept() == list(range(39 - 32, 40))


async def test_after_a_long_time_without_calls_what_is_old_goes_a_day_later(days: Days) -> None:
    for day in (0.0, 2.0, 50.0):
        await days.call(day)
    assert await days.kept() == [0.0, 2.0, 50.0]

    await days.call(51.5)
    assert await days.kept() == [50.0, 51.5]


async def test_a_clock_that_goes_back_deletes_nothing(days: Days) -> None:
    for day in (100.0, 100.1, -50.0, 101.0):
        await days.call(day)

    assert await days.kept() == [100.0, 100.1, -50.0, 101.0]
