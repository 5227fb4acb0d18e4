"""Amounts, as they are written, said and shared out."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.money import exponent, parse, percent_of, rounded, shown, split, spoken


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (0, "USD", "$0.00"),
        (123456, "USD", "$1,234.56"),
        (-250, "EUR", "-€2.50"),
        (1000, "GBP", "£10.00"),
        (1234, "KWD", "KWD 1.234"),
        (1234, "CHF", "CHF 12.34"),
    ],
)
def test_an_amount_is_written_in_its_currency(amount: int, currency: str, text: str) -> None:
    assert shown(amount, currency).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (2847, "USD", "28 dollars 47"),
        (0, "USD", "0 dollars"),
        (5, "USD", "5 cents"),
        (1, "USD", "1 cent"),
        (1, "GBP", "1 penny"),
        (40, "GBP", "40 pence"),
        (150, "GBP", "1 pound 50"),
        (1, "JPY", "1 yen"),
        (2500, "KWD", "2 dinars 500"),
        (50, "CHF", "0 francs 50"),
        (-300, "EUR", "minus 3 euros"),
    ],
)
def test_an_amount_is_said_as_a_waiter_would(amount: int, currency: str, text: str) -> None:
    assert spoken(amount, currency) == text


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("9", "USD", 900),
        ("9.50", "USD", 950),
        ("-1.5", "EUR", -150),
        ("1,000", "JPY", 1000),
        ("0.125", "KWD", 125),
        ("500.00", "JPY", 500),
    ],
)
def test_an_amount_is_read_as_people_write_it(text: str, currency: str, amount: int) -> None:
    assert parse(text, currency) == amount


@pytest.mark.parametrize("text", ["", "nine", "1.234", "1,00", "1e3", "NaN", "9.", "$"])
def test_an_invalid_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="amount|decimals"):
        parse(text, "USD")


def test_halves_are_rounded_up() -> None:
    assert [rounded(Decimal(text)) for text in ("0.5", "1.5", "2.4999")] == [1, 2, 2]
    assert percent_of(Decimal("12.5"), 100) == 13


@given(st.integers(0, 10**7), st.sampled_from(["USD", "JPY", "KWD"]))
def test_a_formatted_amount_parses_again(amount: int, currency: str) -> None:
    written = f"{Decimal(amount).scaleb(-exponent(currency)):f}"

    assert parse(written, currency) == amount


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**4), min_size=1, max_size=8))
def test_shares_add_up_and_follow_their_weights(amount: int, weights: list[int]) -> None:
    shares = split(amount, weights)

    assert sum(shares) == amount
    whole = sum(weights)
    if whole:
        for share, weight in zip(shares, weights, strict=True):
            assert abs(share - Decimal(amount) * weight / whole) < 1


def test_an_amount_without_shares_is_not_split() -> None:
    assert split(5, []) == []
    assert split(5, [0, 0]) == [5, 0]


def test_one_cent_goes_to_whom_most_of_it_falls() -> None:
    assert split(1, [1]) == [1]
    assert split(5, [0, 1]) == [0, 5]
    assert split(5, [0, 0]) == [5, 0]
