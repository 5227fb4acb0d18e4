"""What a client says is stored first and heard then; what is not stored in time is never heard, and that is told."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from agents.app.rooms.state_of_call import PriorCall, read_prior_call
from agents.app.transcript import CallRecord
from agents.handoff import Call, Event, Heard
from agents.testing import until
from rpc.gateway import Caller
from rpc.page import CallOver, Session, Spoken, SpokenLine
from rpc.page.session import SAY_S
from rpc.restaurant import GUEST, ORDER_PAGE
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from state.shared import (
    JournalFault,
    KeyReused,
    Moment,
    NotStored,
    OutcomeUnknown,
    SharedState,
    SqlStore,
    TakenOver,
)
from tests.agents.restaurant import restaurant
from tests.bella_vista.small_restaurant import MENU
from tests.stored_orders import open_store
from tests.virtual_time import in_virtual_time, played

ADA = Caller("ada", GUEST)
Writing = asyncio.Future[None]


class Disk:
    """A store that writes when it is told to."""

    def __init__(self) -> None:
        self.rows: list[Moment] = []
        self.asked: list[tuple[tuple[Moment, ...], Writing]] = []
        self.silent = False

    def record(self, order_id: str, *moments: Moment) -> Writing:
        """Take in what is to be written."""
        writing: Writing = asyncio.get_running_loop().create_future()
        self.asked.append((moments, writing))
        return writing

    async def said(self, order_id: str) -> list[Moment]:
        """Read what was written."""
        if self.silent:
            raise JournalFault("The database", "it does not answer")
        return self.rows

    def begins(self) -> list[Moment]:
        """Begin with what was asked for last; returns what is not withdrawn."""
        moments, _ = self.asked[-1]
        return [one for one in moments if one.gate is None or one.gate.begin()]

    def writes(self) -> None:
        """Write what was asked for last."""
        self.rows += self.begins()
        self.asked[-1][1].set_result(None)

    def fails(self, fault: Exception) -> None:
        """Answer that the last request was not written, or that its outcome is unknown."""
        self.asked[-1][1].set_exception(fault)

    @property
    def words(self) -> list[str]:
        """What of the guest's is written."""
        return [one.text for one in self.rows if one.kind == "heard"]


@dataclass
class Desk:
    """A call without an agent, its record and the methods clients call."""

    disk: Disk = field(default_factory=Disk)
    call: Call[OrderState, OrderContext] = field(default_factory=restaurant)
    heard: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def __post_init__(self) -> None:
        self.call.subscribe(self._listen)
        self.record = CallRecord(self.call, cast(SqlStore, self.disk), channel="web_text")
        self.order_session = Session(
            ORDER_PAGE,
            self.call.shared,
            self.call,
            state_id="o-1",
            agent="a",
            store=self.record.say,
        )

    def _listen(self, event: Event) -> None:
        if isinstance(event, Heard):
            self.heard.append((event.turn, event.text))

    def say(self, text: str, key: str | None = None) -> "asyncio.Task[int]":
        """Say something, as a client does."""
        return asyncio.get_running_loop().create_task(self.order_session.say(text, ADA, key))

    async def asked(self, times: int) -> None:
        """Wait until the disk was asked so often."""
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(self.disk.asked) == times


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    """A desk; what its record has not written when the test is over goes well."""
    it = Desk()
    yield it
    it.call.end("user_left")
    closing = asyncio.get_running_loop().create_task(it.record.aclose())
    for _ in range(20):
        await asyncio.sleep(0)
        if it.disk.asked and not it.disk.asked[-1][1].done():
            it.disk.writes()
    await closing
    it.order_session.close()


def story(
    told: Callable[[], Coroutine[Any, Any, None]],
) -> Callable[[], None]:
    """Play a test in virtual time."""

    def play() -> None:
        played(told())

    play.__name__ = told.__name__
    return play


def now() -> float:
    return asyncio.get_running_loop().time()


@story
async def test_it_is_stored_first_and_heard_then() -> None:
    async with desk() as it:
        saying = it.say("a cola", "k")
        await it.asked(1)
        assert it.heard == []

        it.disk.writes()
        assert await saying == 1
        assert it.heard == [(1, "a cola")]
        assert it.disk.words == ["a cola"]


@story
async def test_concurrent_messages_are_stored_and_heard_in_order_of_arrival() -> None:
    async with desk() as it:
        first = it.say("one", "k1")
        await it.asked(1)
        rest = [it.say("two"), it.say("three", "k3"), it.say("four")]
        await it.asked(1)  # one writing after the other
        it.disk.writes()
        await it.asked(2)
        it.disk.writes()

        assert [await one for one in (first, *rest)] == [1, 2, 3, 4]
        assert it.heard == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]
        assert it.disk.words == ["one", "two", "three", "four"]


@story
async def test_one_key_is_stored_once_also_while_it_is_on_its_way() -> None:
    async with desk() as it:
        sayings = [it.say("a cola", "k") for _ in range(3)]
        await it.asked(1)
        with pytest.raises(KeyReused):
            await it.say("two colas", "k")
        it.disk.writes()

        assert [await one for one in sayings] == [1, 1, 1]
        assert await it.say("a cola", "k") == 1
        assert it.heard == [(1, "a cola")]


@pytest.mark.parametrize("key", ["k", None])
@in_virtual_time
async def test_a_write_that_does_not_begin_in_time_is_withdrawn_and_never_heard(
    key: str | None,
) -> None:
    async with desk() as it:
        began, saying = now(), it.say("a cola", key)
        with pytest.raises(NotStored):
            await saying
        assert now() - began == SAY_S

        it.disk.writes()  # the rest of it
        again = it.say("a cola", key)
        await it.asked(2)
        it.disk.writes()
        assert await again == 1
        assert it.heard == [(1, "a cola")]
        assert it.disk.words == ["a cola"]


@story
async def test_a_write_that_waits_for_another_one_is_withdrawn_as_well() -> None:
    async with desk() as it:
        it.call.user_said("hello")
        await it.asked(1)
        it.disk.begins()
        saying = it.say("a cola", "k")
        with pytest.raises(NotStored):
            await saying
        behind = it.say("a tiramisu")
        it.disk.writes()
        await it.asked(2)
        it.disk.writes()

        assert await behind == 2
        assert it.heard == [(1, "hello"), (2, "a tiramisu")]
        assert it.disk.words == ["hello", "a tiramisu"]


@story
async def test_one_of_several_that_is_withdrawn_leaves_the_others_their_turns() -> None:
    async with desk() as it:
        first = it.say("one")
        await asyncio.sleep(SAY_S / 2)
        it.disk.writes()
        assert await first == 1
        it.call.user_said("hello")
        await it.asked(2)
        late = it.say("two")
        await asyncio.sleep(SAY_S / 2)
        others = [it.say("three"), it.say("four")]
        it.disk.writes()
        await it.asked(3)
        with pytest.raises(NotStored):
            await late
        it.disk.writes()

        # A number is passed over: what was stored keeps its own.
        assert [await one for one in others] == [4, 5]
        assert it.heard == [(1, "one"), (2, "hello"), (4, "three"), (5, "four")]


@pytest.mark.parametrize("key", ["k", None])
@in_virtual_time
async def test_a_begun_write_without_an_answer_is_heard_once_it_is_stored(
    key: str | None,
) -> None:
    async with desk() as it:
        began, saying = now(), it.say("a cola", key)
        await it.asked(1)
        it.disk.begins()
        with pytest.raises(OutcomeUnknown):
            await saying
        assert now() - began == SAY_S
        assert it.heard == []
        if key is not None:  # asked again meanwhile, it is still the same
            with pytest.raises(OutcomeUnknown):
                await it.say("a cola", key)

        it.disk.writes()
        await it.asked(1)
        assert it.heard == [(1, "a cola")]
        if key is not None:
            assert await it.say("a cola", key) == 1
        assert it.heard == [(1, "a cola")]
        assert it.disk.words == ["a cola"]


@pytest.mark.parametrize("silent_s", [0.0, 3.0, 60.0])
@pytest.mark.parametrize("stored", [True, False])
@in_virtual_time
async def test_an_unknown_outcome_is_looked_up_when_the_database_answers_again(
    stored: bool, silent_s: float
) -> None:
    async with desk() as it:
        saying = it.say("a cola", "k")
        await it.asked(1)
        begun = it.disk.begins()
        it.disk.rows += begun if stored else []
        it.disk.silent = silent_s > 0
        it.disk.fails(OutcomeUnknown())
        if silent_s > SAY_S:
            with pytest.raises(OutcomeUnknown):
                await saying
        await asyncio.sleep(silent_s)
        it.disk.silent = False
        await asyncio.sleep(1.0)

        if stored:
            assert await it.say("a cola", "k") == 1
            assert len(it.disk.asked) == 1
        else:
            if silent_s == 0:
                with pytest.raises(NotStored):
                    await saying
            assert it.heard == []
            again = it.say("a cola", "k")
            await it.asked(2)
            it.disk.writes()
            assert await again == 1
        assert it.heard == [(1, "a cola")]
        assert it.disk.words == ["a cola"]


@pytest.mark.parametrize("fault", [JournalFault("The database", "the disk is full"), TakenOver()])
@in_virtual_time
async def test_a_message_that_cannot_be_stored_is_refused_at_once_and_never_heard(
    fault: Exception,
) -> None:
    async with desk() as it:
        began, saying = now(), it.say("a cola", "k")
        await it.asked(1)
        it.disk.fails(fault)
        with pytest.raises(type(fault)):
            await saying
        assert now() == began
        assert it.heard == []


@story
async def test_words_heard_meanwhile_do_not_wait_and_no_turn_is_lost() -> None:
    async with desk() as it:
        saying = it.say("a cola", "k")
        await it.asked(1)
        it.disk.begins()
        it.call.user_said("hello")  # aloud, or in the room's chat
        assert it.heard == [(1, "hello")]
        it.disk.writes()
        await it.asked(2)
        assert it.heard == [(1, "hello"), (2, "a cola")]
        assert not saying.done()  # its turn is another one than that which is stored

        it.disk.writes()
        assert await saying == 2
        assert await it.say("a cola", "k") == 2


@story
async def test_after_the_end_words_are_refused() -> None:
    async with desk() as it:
        saying = it.say("a cola")
        await it.asked(1)
        it.call.end("agent_ended")
        it.disk.writes()
        with pytest.raises(CallOver):
            await saying
        with pytest.raises(CallOver):
            await it.say("hello?")
        assert it.heard == []


@pytest.mark.parametrize("ends", ["user_left", "failed", None])
async def test_a_message_stored_after_an_agent_has_left_is_answered_by_the_next(
    ends: Literal["user_left", "failed"] | None,
) -> None:
    async with desk() as it:
        saying = it.say("a cola", "k")
        await it.asked(1)
        it.call.hang_up()
        if ends is not None:
            it.call.end(ends)
        it.disk.writes()
        with pytest.raises(OutcomeUnknown):
            await saying
        assert (it.heard, it.disk.words) == ([], ["a cola"])
    assert [one.turn for one in it.disk.rows if one.kind == "answered"] == [0]


# -- with a database --------------------------------------------------------------------------------


@dataclass
class Place:
    """A desk over a real database, and another program that can lock it."""

    store: SqlStore
    it: Desk
    file: Path

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Lock the database, as another program does."""
        with sqlite3.connect(self.file, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        other.close()

    async def before(self) -> PriorCall:
        """What another process would find."""
        return await read_prior_call(self.store, self.it.call.state.order_id)


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    file = tmp_path / "orders.db"
    call = restaurant()
    async with open_store(f"sqlite:///{file}", load_menu(MENU).restaurant.id) as store:
        await SharedState.open(store, call.state.order_id, call.state, call.shared.context)
        it = Desk(cast(Disk, store), call)
        await until(lambda: it.record.idle)
        monkeypatch.setattr("rpc.page.session.SAY_S", 0.05)
        yield Place(store, it, file)
        call.end("user_left")
        await it.record.aclose()
        it.order_session.close()


async def test_waiting_for_a_locked_database_is_no_beginning(place: Place) -> None:
    async with place.locked():
        with pytest.raises(NotStored):
            await place.it.say("a cola", "k")
        place.it.call.user_said("hello")
    await until(lambda: place.it.record.idle)

    assert place.it.heard == [(1, "hello")]
    lines = (SpokenLine(1, None, "hello"),)
    assert await place.before() == PriorCall(turn=1, unanswered=("hello",), lines=lines)


async def test_acknowledged_messages_are_found_by_the_next_process(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rpc.page.session.SAY_S", 20.0)
    assert [await place.it.say("a cola", "k"), await place.it.say("a tiramisu")] == [1, 2]

    before = await place.before()

    assert before.unanswered == ("a cola", "a tiramisu")
    assert [(one.turn, type(one)) for one in before.spoken] == [(1, Spoken)]
    # The same key gets the same turn there.
    next_one = restaurant()
    desk = Session(
        ORDER_PAGE,
        next_one.shared,
        next_one,
        state_id="o-1",
        agent="a",
        spoken=before.spoken,
    )
    assert await desk.say("a cola", ADA, "k") == 1
    desk.close()


async def test_two_messages_with_one_number_are_both_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rpc.page.session.SAY_S", 20.0)
    saying = place.it.say("a cola", "k")
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # it is on its way
    place.it.call.user_said("hello")
    assert await saying == 2
    await until(lambda: place.it.record.idle)

    before = await place.before()

    assert (before.turn, before.unanswered) == (2, ("hello", "a cola"))
    assert before.spoken[-1].turn == 2


async def test_a_message_stored_before_another_ones_answer_is_not_answered_by_it(
    place: Place,
) -> None:
    order_id = place.it.call.state.order_id
    await place.store.record(
        order_id,
        Moment(1, "spoke", "guest", "x"),
        Moment(1, "heard", "guest", "what do you have"),
        Moment(2, "spoke", "guest", "y"),
        Moment(2, "heard", "guest", "a cola"),
        Moment(1, "answered", "house", ""),
    )

    assert (await place.before()).unanswered == ("a cola",)
