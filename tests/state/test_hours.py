from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from state.errors import NotPossible, NotValid
from state.hours import (
    closing,
    earliest,
    hours_text,
    in_time,
    is_open,
    lead_time,
    next_opening,
    opening_spans,
)
from state.menu import Hours, Restaurant, load_menu, read_menu

MENUS = Path(__file__).parents[1] / "menus"
CORNER = load_menu(MENUS / "corner-table.yaml").restaurant
KEBAB = load_menu(MENUS / "kebab.yaml").restaurant
TACOS = load_menu(MENUS / "taqueria.yaml").restaurant


def restaurant(hours: str, zone: str = "America/New_York", rest: str = "") -> Restaurant:
    return read_menu(
        f"restaurant: {{id: r, name: R, currency: USD, timezone: {zone}, hours: {{{hours}}}{rest}}}\n"
        "sections: [{name: S, dishes: [{name: D, price: '1'}]}]\n",
        "here",
    ).restaurant


def at(text: str, restaurant: Restaurant = CORNER, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=restaurant.zone, fold=fold)


@pytest.mark.parametrize(
    ("time", "open_then"),
    [
        ("2026-11-20T11:29", False),  # a Friday
        ("2026-11-20T11:30", True),
        ("2026-11-20T14:29", True),
        ("2026-11-20T14:30", False),
        ("2026-11-20T17:29", False),
        ("2026-11-20T23:59", True),
        ("2026-11-21T00:59", True),  # past midnight, still Friday's hours
        ("2026-11-21T01:00", False),
        ("2026-11-21T12:00", False),
        ("2026-11-23T19:00", False),  # Monday
        ("2026-12-25T19:00", False),  # closed on
        ("2026-12-26T00:30", False),  # nor does Christmas go on after midnight
        ("2026-12-25T00:30", False),  # Thursday's hours end at ten
    ],
)
def test_when_the_restaurant_is_open(time: str, open_then: bool) -> None:
    assert is_open(CORNER, at(time)) is open_then


def test_any_zone_may_ask() -> None:
    assert is_open(CORNER, datetime(2026, 11, 21, 0, 30, tzinfo=UTC))
    assert not is_open(CORNER, datetime(2026, 11, 20, 12, 0, tzinfo=UTC))


def test_hours_that_began_before_a_closed_day_continue_into_it() -> None:
    bar = restaurant(
        "thursday: '18:00-02:00', friday: '18:00-02:00'", rest=", closed_on: [2026-11-20]"
    )

    assert is_open(bar, at("2026-11-20T01:30", bar))
    assert not is_open(bar, at("2026-11-20T19:00", bar))
    assert not is_open(bar, at("2026-11-21T01:30", bar))


def test_the_hours_of_a_day_are_those_that_begin_on_it() -> None:
    spans = opening_spans(CORNER, date(2026, 11, 20))

    assert [(opens.isoformat(), closes.isoformat()) for opens, closes in spans] == [
        ("2026-11-20T11:30:00-05:00", "2026-11-20T14:30:00-05:00"),
        ("2026-11-20T17:30:00-05:00", "2026-11-21T01:00:00-05:00"),
    ]
    assert opening_spans(CORNER, date(2026, 12, 25)) == ()
    assert opening_spans(CORNER, date(2026, 11, 23)) == ()


@pytest.mark.parametrize(
    ("after", "opens"),
    [
        ("2026-11-20T10:00", "2026-11-20T11:30:00-05:00"),
        ("2026-11-20T11:30", "2026-11-20T11:30:00-05:00"),
        ("2026-11-20T12:00", "2026-11-20T17:30:00-05:00"),
        ("2026-11-21T00:30", "2026-11-21T17:30:00-05:00"),
        ("2026-11-22T21:00", "2026-11-24T11:30:00-05:00"),
        ("2026-12-24T23:00", "2026-12-26T17:30:00-05:00"),
    ],
)
def test_when_it_opens_next(after: str, opens: str) -> None:
    found = next_opening(CORNER, at(after))

    assert found is not None
    assert found.isoformat() == opens


def test_when_it_closes() -> None:
    closes = closing(CORNER, at("2026-11-20T18:00"))

    assert closes == at("2026-11-21T01:00")
    assert closing(CORNER, at("2026-11-20T16:00")) is None


@pytest.mark.parametrize(
    ("now", "ready"),
    [
        ("2026-11-20T19:00", "2026-11-20T19:20:00-05:00"),
        ("2026-11-20T14:10", "2026-11-20T14:30:00-05:00"),
        ("2026-11-20T14:11", "2026-11-20T17:50:00-05:00"),
        ("2026-11-20T16:00", "2026-11-20T17:50:00-05:00"),
        ("2026-11-21T00:50", "2026-11-21T17:50:00-05:00"),
        ("2026-11-21T04:00", "2026-11-21T17:50:00-05:00"),
        ("2026-12-25T19:00", "2026-12-26T17:50:00-05:00"),
    ],
)
def test_the_earliest_time_is_before_closing_or_after_the_next_opening(
    now: str, ready: str
) -> None:
    assert earliest(CORNER, "pickup", at(now)).isoformat() == ready


def test_delivery_takes_longer() -> None:
    assert earliest(CORNER, "delivery", at("2026-11-20T19:00")) == at("2026-11-20T19:45")


def test_an_opening_too_short_for_the_kitchen_is_passed_over() -> None:
    kiosk = restaurant(
        "monday: ['10:00-10:10', '15:00-16:00']", rest=", service: {pickup: {lead_minutes: 30}}"
    )

    assert earliest(kiosk, "pickup", at("2026-11-23T09:00", kiosk)) == at("2026-11-23T15:30", kiosk)


def test_a_kind_that_is_not_offered_says_what_is() -> None:
    with pytest.raises(NotPossible) as caught:
        lead_time(TACOS, "delivery")

    assert caught.value.facts["possible"] == ["pickup"]


def test_hours_that_adjoin_are_one() -> None:
    bar = restaurant("friday: '18:00-24:00', saturday: '00:00-04:00'")

    assert closing(bar, at("2026-11-20T20:00", bar)) == at("2026-11-21T04:00", bar)
    assert earliest(bar, "pickup", at("2026-11-20T23:50", bar)) == at("2026-11-21T00:10", bar)


def test_a_restaurant_that_never_closes() -> None:
    now = at("2026-11-20T04:00", TACOS)

    assert is_open(TACOS, now)
    assert closing(TACOS, now) is None
    assert next_opening(TACOS, now) is None
    assert earliest(TACOS, "pickup", now) - now == timedelta(minutes=20)
    assert in_time(TACOS, "pickup", now + timedelta(days=300), now)
    assert hours_text(TACOS, now) == "Open now, and always. Every day: all day and night."


def test_a_restaurant_that_never_opens_takes_no_order() -> None:
    shut = CORNER.model_copy(update={"hours": Hours()})

    assert not is_open(shut, at("2026-11-20T19:00"))
    assert next_opening(shut, at("2026-11-20T19:00")) is None
    with pytest.raises(NotPossible):
        earliest(shut, "pickup", at("2026-11-20T19:00"))
    assert hours_text(shut, at("2026-11-20T19:00")).startswith("Closed. Every day: closed.")


# New York's clocks: 2026-03-08 has no 02:00 to 03:00, 2026-11-01 has 01:00 to 02:00 twice.


def test_hours_through_the_night_without_an_hour_are_an_hour_shorter() -> None:
    bar = restaurant("saturday: '20:00-04:00'")
    ((opens, closes),) = opening_spans(bar, date(2026, 3, 7))

    assert closes.astimezone(UTC) - opens.astimezone(UTC) == timedelta(hours=7)
    assert is_open(bar, at("2026-03-08T03:59", bar))
    assert not is_open(bar, at("2026-03-08T04:00", bar))


def test_hours_through_the_night_with_an_hour_twice_are_an_hour_longer() -> None:
    bar = restaurant("saturday: '20:00-04:00'")
    ((opens, closes),) = opening_spans(bar, date(2026, 10, 31))

    assert closes.astimezone(UTC) - opens.astimezone(UTC) == timedelta(hours=9)


def test_an_opening_in_the_missing_hour_is_an_hour_later_on_the_clock() -> None:
    bakery = restaurant("sunday: '02:30-10:00'")

    assert next_opening(bakery, at("2026-03-08T00:00", bakery)) == at("2026-03-08T03:30", bakery)


def test_a_closing_in_the_hour_that_comes_twice_is_the_first_one() -> None:
    bar = restaurant("saturday: '20:00-01:30'")

    assert is_open(bar, at("2026-11-01T01:29", bar, fold=0))
    assert not is_open(bar, at("2026-11-01T01:31", bar, fold=0))
    assert not is_open(bar, at("2026-11-01T01:15", bar, fold=1))


def test_lead_time_is_real_time_when_the_clocks_change() -> None:
    bar = restaurant("saturday: '20:00-04:00'", rest=", service: {pickup: {lead_minutes: 30}}")
    now = at("2026-11-01T01:45", bar, fold=0)

    ready = earliest(bar, "pickup", now)

    assert ready.astimezone(UTC) - now.astimezone(UTC) == timedelta(minutes=30)
    assert (ready.hour, ready.minute, ready.fold) == (1, 15, 1)


@pytest.mark.parametrize(
    "when", ["2026-11-20T19:20", "2026-11-20T22:00", "2026-11-21T01:00", "2026-11-24T11:30"]
)
def test_a_time_the_kitchen_can_keep(when: str) -> None:
    asked = at(when).astimezone(UTC)

    found = in_time(CORNER, "pickup", asked, at("2026-11-20T19:00"))

    assert found == asked
    assert found.tzinfo == CORNER.zone


@pytest.mark.parametrize(
    ("when", "why", "possible"),
    [
        ("2026-11-20T19:19", "too_soon", "2026-11-20T19:20:00-05:00"),
        ("2026-11-20T19:00", "too_soon", "2026-11-20T19:20:00-05:00"),
        ("2026-11-21T01:01", "closed", "2026-11-21T17:30:00-05:00"),
        ("2026-11-23T19:00", "closed", "2026-11-24T11:30:00-05:00"),
        ("2026-12-25T19:00", "closed", "2026-12-26T17:30:00-05:00"),
    ],
)
def test_a_time_the_kitchen_cannot_keep_says_which_it_can(
    when: str, why: str, possible: str
) -> None:
    with pytest.raises(NotPossible) as caught:
        in_time(CORNER, "pickup", at(when), at("2026-11-20T19:00"))

    assert caught.value.facts["why"] == why
    assert caught.value.facts["possible"] == [possible]


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("2026-11-20T18:59", "past"),
        ("1999-01-01T12:00", "past"),
        ("2028-11-24T19:00", "too_far_ahead"),
    ],
)
def test_an_implausible_time(when: str, why: str) -> None:
    with pytest.raises(NotValid) as caught:
        in_time(CORNER, "pickup", at(when), at("2026-11-20T19:00"))

    assert caught.value.facts == {"field": "when", "why": why}


def test_a_closed_restaurant_takes_an_order_for_its_next_opening() -> None:
    now = at("2026-11-20T16:00")

    assert in_time(CORNER, "pickup", at("2026-11-20T17:50"), now)
    with pytest.raises(NotPossible):
        in_time(CORNER, "pickup", at("2026-11-20T17:40"), now)


def test_the_hours_as_they_are_said() -> None:
    assert hours_text(CORNER, at("2026-12-20T14:00")) == (
        "Open now, closes at 9 PM. Monday: closed. Tuesday to Thursday: 11:30 AM to 2:30 PM and"
        " 5:30 PM to 10 PM. Friday: 11:30 AM to 2:30 PM and 5:30 PM to 1 AM."
        " Saturday: 5:30 PM to 1 AM. Sunday: noon to 9 PM. Closed on December 25."
    )


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        ("2026-11-20T18:00", "Open now, closes at 1 AM."),
        ("2026-11-20T16:00", "Closed now, opens at 5:30 PM."),
        ("2026-11-23T16:00", "Closed now, opens tomorrow at 11:30 AM."),
        ("2026-11-22T22:00", "Closed now, opens on Tuesday at 11:30 AM."),
    ],
)
def test_whether_it_is_open_now_comes_first(now: str, begins: str) -> None:
    assert hours_text(CORNER, at(now)).startswith(begins)


def test_hours_are_told_without_a_clock_too() -> None:
    assert hours_text(KEBAB).startswith(
        "Monday to Wednesday: 11 AM to 2 AM. Thursday: 11 AM to 3 AM."
    )


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        ("2026-11-20T00:30", "Open now, closes at 1:15 AM."),
        ("2026-11-20T23:00", "Open now, closes at 1:15 AM."),
        ("2026-11-20T01:15", "Closed now, opens at noon."),
        ("2026-11-19T13:00", "Closed now, opens at midnight."),
        ("2026-11-15T13:00", "Closed now, opens on Friday at midnight."),
        ("2026-11-14T06:00", "Closed now, opens on Friday at midnight."),
        ("2026-11-13T06:00", "Closed now, opens on Friday, November 20, at midnight."),
    ],
)
def test_a_time_is_said_as_near_as_it_is(now: str, begins: str) -> None:
    # Closed on one Friday, so that the next opening may be a week ahead.
    night = restaurant(
        "friday: ['00:00-01:15', '12:00-12:30', '22:00-01:15']",
        rest=", closed_on: ['2026-11-13']",
    )

    assert hours_text(night, at(now)).startswith(begins)


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        ("00:00", "midnight"),
        ("00:01", "12:01 AM"),
        ("11:59", "11:59 AM"),
        ("12:00", "noon"),
        ("12:30", "12:30 PM"),
        ("13:05", "1:05 PM"),
    ],
)
def test_a_time_of_day_is_said_by_the_twelve_hour_clock(clock: str, said: str) -> None:
    assert f"Monday: {said} to " in hours_text(restaurant(f"monday: ['{clock}-23:00']"))


def test_opening_early_tomorrow_is_said_to_be_tomorrow_from_six_on() -> None:
    early = restaurant("monday: ['05:59-12:00'], wednesday: ['06:00-12:00']")

    assert "opens at 5:59 AM." in hours_text(early, at("2026-11-22T20:00"))
    assert "opens tomorrow at 6 AM." in hours_text(early, at("2026-11-24T20:00"))


def test_days_with_the_same_hours_are_said_together_and_closed_days_while_they_lie_ahead() -> None:
    days = restaurant(
        "monday: ['10:00-12:00'], tuesday: ['10:00-12:00'], wednesday: ['11:00-12:00']",
        rest=", closed_on: ['2027-01-19', '2026-11-20', '2026-12-25', '2027-01-20', '2026-11-19']",
    )

    said = hours_text(days, at("2026-11-20T23:30"))  # in UTC it is the next day

    assert said == (
        "Closed now, opens on Monday at 10 AM."
        " Monday and Tuesday: 10 AM to noon. Wednesday: 11 AM to noon."
        " Thursday to Sunday: closed."
        " Closed on November 20, December 25, January 19."
    )


def test_at_the_minute_it_opens_it_is_open_until_it_closes() -> None:
    assert closing(CORNER, at("2026-11-20T17:30")) == at("2026-11-21T01:00")
