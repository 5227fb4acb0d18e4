"""Telephone numbers and postcodes of restaurants in several countries."""

import pytest

from state.contact import phone_of, postcode_in, region_of
from state.menu import Restaurant
from tests.state.bistro import Bistro


def house_in(timezone: str, phone: str | None = None) -> Restaurant:
    return Bistro().menu.restaurant.model_copy(update={"timezone": timezone, "phone": phone})


@pytest.mark.parametrize(
    ("timezone", "phone", "region"),
    [
        ("America/New_York", None, "US"),
        ("Europe/London", None, "GB"),
        ("Europe/Berlin", None, "DE"),
        ("Europe/Berlin", "+44 20 7946 0958", "GB"),
        ("Europe/Berlin", "ask the waiter", "DE"),
        ("UTC", None, None),
    ],
)
def test_the_country_of_a_restaurant_follows_from_its_number_or_its_time_zone(
    timezone: str, phone: str | None, region: str | None
) -> None:
    assert region_of(house_in(timezone, phone)) == region


def test_a_number_without_a_country_code_is_of_the_restaurants_country() -> None:
    assert phone_of("020 7946 0958", house_in("Europe/London")) == "+442079460958"
    assert phone_of("212 212 1212", house_in("America/New_York")) == "+12122121212"
    assert phone_of("030 901820", house_in("Europe/Berlin")) == "+4930901820"


@pytest.mark.parametrize(
    ("address", "postcodes", "found"),
    [
        ("5 Bleecker St, New York 10012", ["10012"], ("10012", True)),
        ("5 Bleecker St, New York 10013", ["10012"], (None, True)),
        ("10012 Bleecker St", ["10012"], ("10012", True)),
        ("Torstraße 1, 10119 Berlin", ["10119", "10115"], ("10119", True)),
        ("5 Bleecker St", ["10012"], (None, False)),
        ("221b Baker Street, London NW1 6XE", ["NW1"], ("NW1", True)),
        ("221b Baker Street, London nw16xe", ["NW1"], ("NW1", True)),
        ("221b Baker Street, London NW1 6XE", ["NW1 6XE"], ("NW1 6XE", True)),
        ("10 Downing Street, SW1A 2AA", ["NW1"], (None, True)),
        ("3 Holloway Road, London N19 5AB", ["N1"], (None, True)),
        ("3 Holloway Road, London N195AB", ["N1"], (None, True)),
        ("Downing Street", ["NW1"], (None, False)),
        ("Damrak 1, 1012 LG Amsterdam", ["1012"], ("1012", True)),
        ("290 Bremner Blvd, Toronto M5V 3L9", ["M5V"], ("M5V", True)),
        ("145 West 12th Street one double oh one one", ["10011"], ("10011", True)),
        ("145 West 12th Street one double oh one two", ["10011"], (None, False)),
    ],
)
def test_a_postcode_is_found_in_an_address(
    address: str, postcodes: list[str], found: tuple[str | None, bool]
) -> None:
    assert postcode_in(address, postcodes) == found
