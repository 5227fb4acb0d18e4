"""The rules of a visit."""

from datetime import date

import pytest
from pydantic import ValidationError

from examples.clinic.calendar import NoSuchSlot
from examples.clinic.commands import (
    CheckIn,
    ChooseSlot,
    Identify,
    RecordBooking,
    SetPhone,
    SetReason,
)
from examples.clinic.tests.kit import ADA, MARY, TUESDAY, Front
from examples.clinic.visit import (
    ClinicState,
    NotReady,
    SlotTaken,
    ready_to_book,
)


def test_a_returning_patient_is_known_by_name_and_birth_date(front: Front) -> None:
    patient = front.after(Identify(**{**ADA, "name": "ada lovelace"})).patient

    assert patient is not None
    assert (patient.name, patient.phone, patient.returning) == (
        "Ada Lovelace",
        "+13125550142",
        True,
    )


def test_the_name_alone_makes_no_returning_patient(front: Front) -> None:
    patient = front.after(Identify(name="Ada Lovelace", birth_date=date(1991, 12, 10))).patient

    assert patient is not None
    assert (patient.phone, patient.returning) == (None, False)


def test_a_new_patient_keeps_their_own_phone_number_and_no_other(front: Front) -> None:
    given = front.after(Identify(**MARY), SetPhone(phone="312-555-0199"), Identify(**MARY)).patient
    of_another = front.after(Identify(**ADA), Identify(**MARY)).patient

    assert given is not None
    assert given.phone == "3125550199"
    assert of_another is not None
    assert of_another.phone is None


def test_a_birth_date_in_the_future_is_refused() -> None:
    with pytest.raises(ValidationError):
        Identify(name="Ada Lovelace", birth_date=date(2990, 12, 10))


def test_a_phone_number_needs_a_patient(front: Front) -> None:
    with pytest.raises(NotReady):
        front.after(SetPhone(phone="+1 312 555 0199"))


def test_scheduling_needs_patient_phone_and_reason(front: Front) -> None:
    missing = [
        refusal.facts["missing"]
        for state in (
            front.after(),
            front.after(Identify(**MARY)),
            front.after(Identify(**ADA)),
        )
        if (refusal := ready_to_book(state)) is not None
    ]

    assert missing == [["name and birth date", "reason"], ["phone", "reason"], ["reason"]]
    assert ready_to_book(front.after(Identify(**ADA), SetReason(reason="check_up"))) is None


@pytest.mark.parametrize(
    "words", ["tuesday 9:30", "Tuesday 09:30", "2026-11-24T09:30", "Tuesday, November 24 at 9:30"]
)
def test_a_slot_is_named_by_weekday_or_date(front: Front, words: str) -> None:
    assert front.after(ChooseSlot(slot=words)).wanted == TUESDAY


@pytest.mark.parametrize("words", ["sunday 9:30", "tuesday 9:10", "2026-12-24T09:30", "whenever"])
def test_an_unknown_slot_is_refused_with_free_ones(front: Front, words: str) -> None:
    with pytest.raises(NoSuchSlot) as refused:
        front.after(ChooseSlot(slot=words))

    offered = refused.value.facts["free"]
    assert isinstance(offered, list)
    assert offered[0] == "Monday, November 23 at 9:00"


def test_a_past_slot_is_not_offered(front: Front) -> None:
    front.clock.advance(hours=24)

    with pytest.raises(NoSuchSlot):
        front.after(ChooseSlot(slot="2026-11-23T09:30"))


def test_slots_follow_the_clock_to_the_next_day_and_back_again(front: Front) -> None:
    calendar = front.context.calendar
    first = {}
    for hours in (0, 36, -10, -26):
        front.clock.advance(hours=hours)
        first[hours] = f"{next(calendar.slots()):%A %H:%M}"
        assert calendar.named(first[hours]) == next(calendar.slots())

    assert [*first.values()] == ["Monday 09:00", "Tuesday 09:00", "Monday 12:30", "Monday 09:00"]


async def test_a_slot_of_another_visit_cannot_be_chosen(front: Front) -> None:
    await front.context.calendar.take(TUESDAY, "another visit")

    with pytest.raises(SlotTaken):
        front.after(ChooseSlot(slot="tuesday 9:30"))


def test_the_stage_follows_from_the_rest(front: Front) -> None:
    booked = front.after(RecordBooking(slot=TUESDAY))

    assert front.after().stage == "open"
    assert booked.stage == "booked"
    assert CheckIn().apply(booked, front.context).stage == "arrived"


def test_check_in_needs_a_booking(front: Front) -> None:
    with pytest.raises(NotReady):
        front.after(CheckIn())


def test_a_visit_reads_back_from_its_json(front: Front) -> None:
    visit = front.ready().model_copy(update={"slot": front.context.calendar.named("tuesday 9:30")})

    assert ClinicState.model_validate_json(visit.model_dump_json()) == visit
