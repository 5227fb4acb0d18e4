"""Validates a guest's contact data: telephone numbers, e-mail addresses, and postcodes in an address."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from state.errors import NotValid
from state.menu import Restaurant
from state.privacy.digits import digits_said, runs_in
from state.privacy.redaction import CARD, is_card
from state.privacy.text import clean, empty_or_visible

_LONGEST = 254
_SAID = {" at ": "@", " dot ": ".", " underscore ": "_", " dash ": "-", " hyphen ": "-"}
_INWARD = re.compile(r"\d[A-Z]{2}")
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{2,8}")


def _contact(value: object) -> object:
    if not isinstance(value, str) or len(value) > 10 * _LONGEST:
        return value
    cleaned = clean(value)
    return CARD if is_card(cleaned) else empty_or_visible(value, cleaned)


ContactText = Annotated[str, Field(max_length=_LONGEST), BeforeValidator(_contact)]
"""A telephone number or an e-mail address as given; a card number is redacted."""


def phone_of(text: str, restaurant: Restaurant) -> str:
    """Return a telephone number in its international form (E.164).

    Numbers without a country are read as in the restaurant's country.

    Raises:
        NotValid: It is not a telephone number.
    """
    # Imported when first needed: loading the tables of all countries takes a while.
    import phonenumbers

    digits = text if any(letter.isdigit() for letter in text) else digits_said(text)
    try:
        number = phonenumbers.parse(digits, region_of(restaurant))
    except phonenumbers.NumberParseException:
        raise _no_phone("not_a_number") from None
    reason = phonenumbers.is_possible_number_with_reason(number)
    if reason == phonenumbers.ValidationResult.TOO_LONG:
        raise _no_phone("too_long")
    if reason != phonenumbers.ValidationResult.IS_POSSIBLE:
        raise _no_phone("too_short")
    if len(set(str(number.national_number))) < 2:
        raise _no_phone("not_a_number")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def email_of(text: str) -> str:
    """Return an e-mail address in its written form, also if it was spelled aloud.

    Raises:
        NotValid: It is not an e-mail address.
    """
    from email_validator import EmailNotValidError, validate_email

    written = text
    if "@" not in written:
        for said, sign in _SAID.items():
            written = written.replace(said, sign)
    try:
        return validate_email(written, check_deliverability=False).normalized
    except EmailNotValidError:
        raise NotValid(
            "This is not a complete e-mail address. Ask for it again, spelled out.",
            field="email",
            why="not_an_address",
        ) from None


@cache
def _region_of_zone(zone: str) -> str | None:
    from babel.core import get_global

    return get_global("zone_territories").get(zone)


def region_of(restaurant: Restaurant) -> str | None:
    """The country of a restaurant, by its telephone number or else by its time zone."""
    import phonenumbers

    if restaurant.phone:
        try:
            number = phonenumbers.parse(restaurant.phone)
        except phonenumbers.NumberParseException:
            number = None
        region = phonenumbers.region_code_for_number(number) if number is not None else None
        if region is not None:
            return str(region)
    return _region_of_zone(restaurant.timezone)


def with_written_postcode(address: str, postcodes: Sequence[str]) -> str:
    """Write a postcode in digits that was spelled in an address, if it is one of these.

    >>> with_written_postcode("145 West 12th Street one double oh one one", ["10011"])
    '145 West 12th Street 10011'
    """
    parts = address.split(",")  # "apartment two, one double oh one one"
    for at, part in enumerate(parts):
        for run in runs_in(part):
            if run.digits in postcodes and run.digits not in part:
                parts[at] = part[: run.start] + run.digits + part[run.end :]
                return ",".join(parts)
    return address


def postcode_in(address: str, postcodes: Sequence[str]) -> tuple[str | None, bool]:
    """Find one of these postcodes, or areas, in an address.

    Returns:
        The postcode or area that the address is in, if any; and whether the address has a postcode of that kind
            at all. Of several candidates the last one counts: an earlier one may be a house number.
    """
    words = re.findall(r"[A-Z0-9]+", with_written_postcode(address, postcodes).upper())
    wanted = {_plain(code): code for code in postcodes}
    lengths = {len(code) for code in wanted if code.isdecimal()}
    numbers = [word for word in words if word.isdecimal() and len(word) in lengths]
    if numbers:
        return wanted.get(numbers[-1]), True
    found: str | None = None
    for start in range(len(words)):
        for end in range(start + 1, min(start + 3, len(words)) + 1):
            found = wanted.get("".join(words[start:end])) or found
        for code, written in wanted.items():
            if words[start].startswith(code) and _INWARD.fullmatch(words[start][len(code) :]):
                found = written
    letters = any(not code.isdecimal() for code in wanted)
    return found, found is not None or (letters and any(map(_MIXED.fullmatch, words)))


def is_postcode(address: str, code: str) -> bool:
    """Whether an address is no more than a postcode, however it is written.

    >>> is_postcode("ls1 4hr", "LS1 4HR"), is_postcode("9 Park Row, LS1 4HR", "LS1 4HR")
    (True, False)
    """
    return _plain(address.upper()) == _plain(code.upper())


def _plain(code: str) -> str:
    return "".join(re.findall(r"[A-Z0-9]+", code.upper()))


def _no_phone(why: str) -> NotValid:
    return NotValid(
        "This is not a complete telephone number. Ask for it again, digit by digit.",
        field="phone",
        why=why,
    )
