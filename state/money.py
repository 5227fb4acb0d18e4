"""Amounts of money: whole minor units of one currency, never a float."""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, lru_cache
from typing import NewType

Cents = NewType("Cents", int)
"""Whole minor units of the restaurant's currency: cents, pence, or yen, which has no smaller unit."""

_ENGLISH = "en_US"
_SMALL_COINS = {
    "USD": "cent",
    "EUR": "cent",
    "CAD": "cent",
    "AUD": "cent",
    "NZD": "cent",
    "GBP": "p",
}
_WRITTEN = re.compile(r"(?P<sign>-?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<part>\d+))?")


# babel is imported when an amount is first shown: importing it would delay the start of every process.
@cache
def exponent(currency: str) -> int:
    """The number of decimals a currency has.

    >>> exponent("USD"), exponent("JPY"), exponent("KWD")
    (2, 0, 3)
    """
    from babel.numbers import get_currency_precision

    return get_currency_precision(currency)


@lru_cache(maxsize=8192)
def shown(amount: int, currency: str) -> str:
    """Format an amount for display.

    >>> shown(2847, "USD"), shown(500, "JPY"), shown(2500, "KWD")
    ('$28.47', '¥500', 'KWD2.500')
    """
    from babel.numbers import format_currency

    units = Decimal(amount).scaleb(-exponent(currency))
    return format_currency(units, currency, locale=_ENGLISH).replace("\xa0", " ")


@lru_cache(maxsize=1024)
def spoken(amount: int, currency: str) -> str:
    """Say an amount the way a waiter would.

    >>> spoken(2847, "USD"), spoken(1200, "USD"), spoken(500, "JPY"), spoken(250, "EUR")
    ('28 dollars 47', '12 dollars', '500 yen', '2 euros 50')
    >>> spoken(100, "USD"), spoken(90, "USD"), spoken(1, "EUR"), spoken(905, "GBP")
    ('1 dollar', '90 cents', '1 cent', '9 pounds 05')
    """
    from babel.numbers import get_currency_name

    decimals = exponent(currency)
    whole, part = divmod(abs(amount), 10**decimals)
    minus = "minus " if amount < 0 else ""
    coin = _SMALL_COINS.get(currency)
    if whole == 0 and part and coin is not None:
        if coin == "p":
            return f"{minus}{part} {'penny' if part == 1 else 'pence'}"
        return f"{minus}{part} {coin}{'' if part == 1 else 's'}"
    # "US dollars", "Japanese yen": the country is left out.
    unit = get_currency_name(currency, count=whole, locale=_ENGLISH).split()[-1]
    return f"{minus}{whole} {unit}" + (f" {part:0{decimals}d}" if part else "")


def parse(text: str, currency: str) -> Cents:
    """Read an amount as people write it in English: ``9``, ``9.50``, ``1,200.00``.

    >>> parse("9.5", "USD"), parse("1,200", "JPY")
    (950, 1200)

    Raises:
        ValueError: It is not an amount, or has more decimals than the currency.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an amount of money such as 9.50")
    part = (match["part"] or "").rstrip("0")
    decimals = exponent(currency)
    if len(part) > decimals:
        raise ValueError(f"{text!r} has more than the {decimals} decimals of {currency}")
    whole = int(match["whole"].replace(",", ""))
    amount = whole * 10**decimals + int(part.ljust(decimals, "0") or "0")
    return Cents(-amount if match["sign"] else amount)


def rounded(amount: Decimal) -> Cents:
    """Round to whole minor units, half up.

    >>> rounded(Decimal("2.5")), rounded(Decimal("2.49"))
    (3, 2)
    """
    return Cents(int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def percent_of(percent: Decimal, amount: int) -> Cents:
    """Compute a percentage of an amount, rounded half up.

    >>> percent_of(Decimal("8.875"), 2600)
    231
    """
    return rounded(percent * amount / 100)


def plain_number(value: Decimal) -> int | float:
    """Return a number as JSON has it: whole if it is whole.

    >>> plain_number(Decimal("15.00")), plain_number(Decimal("12.5"))
    (15, 12.5)
    """
    return int(value) if value == value.to_integral_value() else float(value)


def split(amount: int, weights: Sequence[int]) -> list[Cents]:
    """Split an amount in proportion to weights; the shares add up to it exactly.

    Units left over by rounding down go to the largest remainders, the first one in a tie. If all weights are 0,
    the first share is the whole amount.

    >>> split(100, [1, 1, 1])
    [34, 33, 33]
    """
    if not weights:
        return []
    whole = sum(weights)
    if whole <= 0:
        return [Cents(amount), *(Cents(0) for _ in weights[1:])]
    shares = [amount * weight // whole for weight in weights]
    by_remainder = sorted(
        range(len(weights)), key=lambda place: (-(amount * weights[place] % whole), place)
    )
    for place in by_remainder[: amount - sum(shares)]:
        shares[place] += 1
    return [Cents(share) for share in shares]
