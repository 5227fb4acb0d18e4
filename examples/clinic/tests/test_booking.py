"""Two visits never have one slot, whatever happens in between."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from examples.clinic import calendar
from examples.clinic.actions import book
from examples.clinic.commands import CheckIn, ChooseSlot
from examples.clinic.tests.kit import TUESDAY, WEDNESDAY, Front
from examples.clinic.visit import NotReady, SlotTaken, Unavailable
from state.shared import (
    Entry,
    NotStored,
    OutcomeUnknown,
    Refused,
    SharedState,
    Stale,
    StateError,
    TakenOver,
)


def held(front: Front) -> dict[str, str]:
    """Read the table: visits by slot."""
    with closing(sqlite3.connect(front.folder / "calendar.db")) as table:
        return dict(table.execute("SELECT slot, visit FROM taken"))


TUESDAY_KEY, WEDNESDAY_KEY = "2026-11-24T15:30:00+00:00", "2026-11-25T16:00:00+00:00"


async def test_a_booking_is_in_the_calendar_and_in_the_visit(front: Front) -> None:
    visit = front.shared(front.ready())

    await book(visit, TUESDAY, actor="page")

    assert visit.state.slot == TUESDAY
    assert held(front) == {TUESDAY_KEY: "visit-1"}


async def test_two_processes_book_one_slot_and_one_is_refused(front: Front) -> None:
    first = front.shared(front.ready("one"))
    second = SharedState(front.ready("two"), front.another_context())

    outcomes = await asyncio.gather(
        book(first, TUESDAY, actor="page"),
        book(second, TUESDAY, actor="page"),
        return_exceptions=True,
    )

    refused = [one for one in outcomes if isinstance(one, SlotTaken)]
    assert len(refused) == 1
    assert "Tuesday, November 24 at 9:30" not in str(refused[0].facts["free"])
    assert [first.state.slot, second.state.slot].count(TUESDAY) == 1
    assert [*held(front)] == [TUESDAY_KEY]


async def test_twenty_visits_book_one_slot_and_one_gets_it(front: Front) -> None:
    crowd = [front.shared(front.ready(f"visit-{number}")) for number in range(20)]

    outcomes = await asyncio.gather(
        *(book(visit, TUESDAY, actor="page") for visit in crowd), return_exceptions=True
    )

    assert sum(not isinstance(one, SlotTaken) for one in outcomes) == 1
    assert [visit.state.slot for visit in crowd].count(TUESDAY) == 1


async def test_another_slot_replaces_the_first(front: Front) -> None:
    visit = front.shared(front.ready())
    await book(visit, TUESDAY, actor="page")

    await book(visit, WEDNESDAY, actor="page")

    assert visit.state.slot == WEDNESDAY
    assert held(front) == {WEDNESDAY_KEY: "visit-1"}


@pytest.mark.parametrize("other", [TUESDAY, WEDNESDAY])
async def test_concurrent_bookings_of_one_visit_hold_the_booked_slot(
    front: Front, other: datetime
) -> None:
    visit = front.shared(front.ready())

    await asyncio.gather(
        *(book(visit, slot, actor="page") for slot in (TUESDAY, other, TUESDAY, other)),
        book(visit, TUESDAY, actor="page", seen=-1),
        return_exceptions=True,
    )

    assert visit.state.slot is not None
    assert held(front) == {visit.state.slot.astimezone(UTC).isoformat(): "visit-1"}


async def test_a_visit_keeps_its_slot_if_the_next_one_is_taken(front: Front) -> None:
    visit = front.shared(front.ready())
    await book(visit, TUESDAY, actor="page")
    await front.another_context().calendar.take(WEDNESDAY, "another visit")

    with pytest.raises(SlotTaken):
        await book(visit, WEDNESDAY, actor="page")

    assert visit.state.slot == TUESDAY
    assert held(front) == {TUESDAY_KEY: "visit-1", WEDNESDAY_KEY: "another visit"}


async def test_a_stale_booking_holds_no_slot(front: Front) -> None:
    visit = front.shared(front.ready())
    await visit.apply(ChooseSlot(slot="wednesday 10:00"), actor="scheduling")

    with pytest.raises(Stale):
        await book(visit, TUESDAY, actor="page", seen=0)

    assert visit.state.slot is None
    assert held(front) == {}


async def test_a_visit_that_is_not_ready_holds_no_slot(front: Front) -> None:
    visit = front.shared()

    with pytest.raises(NotReady):
        await book(visit, TUESDAY, actor="page")

    assert held(front) == {}


async def test_an_arrived_patient_books_no_other_slot(front: Front) -> None:
    visit = front.shared(front.ready())
    await book(visit, TUESDAY, actor="page")
    await visit.apply(CheckIn(), actor="staff")

    with pytest.raises(Refused, match="has arrived"):
        await book(visit, WEDNESDAY, actor="page")

    assert held(front) == {TUESDAY_KEY: "visit-1"}


async def test_the_same_key_books_once(front: Front) -> None:
    visit = front.shared(front.ready())
    first = await book(visit, TUESDAY, actor="page", key="click", seen=0)
    await book(visit, WEDNESDAY, actor="reception")

    again = await book(visit, TUESDAY, actor="page", key="click", seen=0)

    assert again == first
    assert visit.state.slot == WEDNESDAY
    assert held(front) == {WEDNESDAY_KEY: "visit-1"}


async def test_a_calendar_that_is_locked_is_told_and_changes_nothing(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calendar, "LOCKED_S", 0.0)
    visit = front.shared(front.ready())
    await front.context.calendar.refresh()

    with closing(sqlite3.connect(front.folder / "calendar.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable):
            await book(visit, TUESDAY, actor="page")

    assert visit.version == 0
    assert held(front) == {}


class BrokenJournal:
    """A journal that fails."""

    def __init__(self, error: StateError) -> None:
        self.error = error

    def append(self, entry: Entry) -> asyncio.Future[None]:
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed.set_exception(self.error)
        return failed

    async def after(self, version: int) -> tuple[Entry, ...]:
        return ()


@pytest.mark.parametrize(
    ("error", "stays"),
    [
        (NotStored("the disk is full"), {}),
        (OutcomeUnknown(), {TUESDAY_KEY: "visit-1"}),
        (TakenOver(), {TUESDAY_KEY: "visit-1"}),
    ],
)
async def test_a_slot_is_released_only_when_it_is_certain_that_it_was_not_booked(
    front: Front, error: StateError, stays: dict[str, str]
) -> None:
    visit = SharedState(front.ready(), front.context, journal=BrokenJournal(error))

    with pytest.raises(type(error)):
        await book(visit, TUESDAY, actor="page")

    assert visit.state.slot is None
    assert held(front) == stays
