"""Which digits in a row are a telephone number, by what is said around them or by their form."""

import re
from functools import cache

from state.privacy.digits import Run

LONGEST = 12
"""More digits than this are a telephone number only with the code of a country."""

_CARD_WORDS = re.compile(
    r"\b(?:card|charge|credit|debit|visa|master\s?card|amex|american express|maestro|discover|diners)\b",
    re.IGNORECASE,
)
CALL_WORDS = (
    r"\b(?:tele)?phones?\b|\b(?:cell|mobile|landline|tel|call|ring|reach|text|whatsapp|sms|contact"
    r"|area code)\b"
)
_CALLING = re.compile(CALL_WORDS, re.IGNORECASE)
_PHONE_WORDS = re.compile(CALL_WORDS + r"|\b(?:my number|number(?: is|'s))\b", re.IGNORECASE)
NEAR = 48
"""How many characters around digits can say what they are."""
_NO_CARD_BEGINS = frozenset("01789")


def is_phone(run: Run, text: str, region: str | None) -> bool:
    """Whether digits are given as a telephone number, or look like nothing else."""
    if international(run, text):
        return True
    if cards_near(run, text):
        return False
    around = _around(run, text)
    if _CALLING.search(around) and _of_some_country(run):
        return True
    if _PHONE_WORDS.search(around):
        return _possible_phone(run.digits, region) or _trunk(run.digits)
    return plausible_phone(run, region) or _after_something(run, region)


def cards_near(run: Run, text: str) -> bool:
    """Whether cards are spoken of around some digits."""
    return _CARD_WORDS.search(_around(run, text)) is not None


def _around(run: Run, text: str) -> str:
    before = text[max(0, run.start - NEAR) : run.start]
    return before + " " + text[run.end : run.end + NEAR]


def plausible_phone(run: Run, region: str | None) -> bool:
    """Whether digits without a word about them are a telephone number by their form."""
    if in_threes(run):
        return _possible_phone(run.digits, region)
    if _trunk(run.digits):
        return True
    in_fours = run.groups[0] == 4 and run.groups.count(4) > 1 and len(run.digits) > 9
    if region is None or in_fours or _begins_with_zero(region):
        return False
    return _valid_phone(run.digits, region)


def begins_no_card(run: Run, text: str) -> bool:
    """Whether it has the length of a telephone number of some country and no card begins like it."""
    if not _of_some_country(run) or cards_near(run, text):
        return False
    return run.digits[0] in _NO_CARD_BEGINS or run.groups == (3, 3, 3)


def _of_some_country(run: Run) -> bool:
    """Whether it has the length of a telephone number of some country, and is not grouped as on a card."""
    return 9 <= len(run.digits) <= 11 and run.groups[:2] != (4, 4)


def in_threes(run: Run) -> bool:
    """Whether it is told as a North American telephone number is, and no card."""
    return run.groups[-3:] == (3, 3, 4) and len(run.groups) <= 4


def _trunk(digits: str) -> bool:
    """Whether it begins as national numbers do in most countries, and as no card does."""
    return digits.startswith("0") and 10 <= len(digits) <= 12


def _after_something(run: Run, region: str | None) -> bool:
    """Whether a telephone number follows some other short number: a postcode, a house."""
    if len(run.groups) < 2 or run.groups[0] > 5:
        return False
    first = run.groups[0]
    rest = Run(run.digits[first:], run.start, run.end, run.groups[1:], False)
    return run.groups[1:] in ((3, 3, 4), (len(rest.digits),)) and plausible_phone(rest, region)


def international(run: Run, text: str) -> bool:
    """Whether it is a telephone number with the code of its country."""
    if not text[: run.start].rstrip(" (").endswith("+") and not run.digits.startswith("00"):
        return False
    return _valid_phone("+" + run.digits.removeprefix("00"), None, possible=True)


def _possible_phone(digits: str, region: str | None) -> bool:
    if len(digits) > LONGEST:
        return False
    return region is None or _valid_phone(digits, region, possible=True)


@cache
def _begins_with_zero(region: str) -> bool:
    """Whether a country's numbers are told with a 0 in front, so that others are none."""
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    return metadata is not None and metadata.national_prefix == "0"


def _valid_phone(digits: str, region: str | None, *, possible: bool = False) -> bool:
    # Imported when first needed: most calls hear no long number, and the tables take a while.
    import phonenumbers

    try:
        number = phonenumbers.parse(digits, region)
    except phonenumbers.NumberParseException:
        return False
    check = phonenumbers.is_possible_number if possible else phonenumbers.is_valid_number
    return check(number)
