"""Recognizes telephone numbers among runs of digits, by the words around them or by their form."""

import re
from functools import cache

from state.privacy.digits import DigitRun

LONGEST = 12
"""A longer run is a telephone number only with a country code."""

_CARD_WORDS = re.compile(
    r"\b(?:card|charge|credit|debit|visa|master\s?card|amex|american express|maestro|discover|diners)\b",
    re.IGNORECASE,
)
_PAYS_BY_CARD = re.compile(
    r"\b(?:pay(?:s|ing)?|paid)\b[^,.;\d]{0,20}?\b(?:credit |debit )?card\b|\b(?:by|with) (?:credit |debit )?card\b"
    r"|\b(?:credit |debit )?card (?:at|on|when|upon|there|in person|to the driver)\b",
    re.IGNORECASE,
)
"""Words about a card that is shown at handover: no number of it is being told."""
CALL_WORDS = (
    r"\b(?:tele)?phones?\b|\b(?:cell|mobile|landline|tel|call|ring|reach|text|whatsapp|sms|contact"
    r"|area code)\b"
)
_CALLING = re.compile(CALL_WORDS, re.IGNORECASE)
_PHONE_WORDS = re.compile(CALL_WORDS + r"|\b(?:my number|number(?: is|'s))\b", re.IGNORECASE)
NEAR = 48
"""How many characters before and after a run are searched for words that name it."""
_CLAUSE = re.compile(r"[,.;:!?\n]|\band\b", re.IGNORECASE)
_NO_CARD_BEGINS = frozenset("01789")


def is_phone(run: DigitRun, text: str, region: str | None) -> bool:
    """Whether a run is named as a telephone number, or can only be one by its form."""
    if international(run, text):
        return True
    if cards_near(run, text):
        return _called_a_phone(run, text) and plausible_phone(run, region)
    around = _around(run, text)
    if _CALLING.search(around) and _of_some_country(run):
        return True
    if _PHONE_WORDS.search(around):
        return _possible_phone(run.digits, region) or _trunk(run.digits)
    return plausible_phone(run, region) or _after_something(run, region)


def cards_near(run: DigitRun, text: str) -> bool:
    """Whether words around a run are about the number of a card.

    A way to pay is not, beside digits that no card number is grouped like: "212 555 0142, paying by card".
    """
    around = _around(run, text)
    if in_threes(run) or _trunk(run.digits):
        around = _PAYS_BY_CARD.sub(" ", around)
    return _CARD_WORDS.search(around) is not None


def _called_a_phone(run: DigitRun, text: str) -> bool:
    """Whether the words of the clause before a run name a telephone and no card.

    Words about a card in the next clause do not count: "phone 215 555 0134, I pay by card".
    """
    own = _CLAUSE.split(text[max(0, run.start - NEAR) : run.start])[-1]
    after = _CLAUSE.split(text[run.end : run.end + NEAR])[0]
    return bool(_PHONE_WORDS.search(own)) and not _CARD_WORDS.search(f"{own} {after}")


def _around(run: DigitRun, text: str) -> str:
    before = text[max(0, run.start - NEAR) : run.start]
    return before + " " + text[run.end : run.end + NEAR]


def plausible_phone(run: DigitRun, region: str | None) -> bool:
    """Whether a run without words that name it has the form of a telephone number."""
    if in_threes(run):
        return _possible_phone(run.digits, region)
    if _trunk(run.digits):
        return True
    in_fours = run.groups[0] == 4 and run.groups.count(4) > 1 and len(run.digits) > 9
    if region is None or in_fours or _begins_with_zero(region):
        return False
    return _valid_phone(run.digits, region) or _is_example(run, region)


def begins_no_card(run: DigitRun, text: str) -> bool:
    """Whether a run is as long as a telephone number and has a prefix that no card number has."""
    if not _of_some_country(run) or cards_near(run, text):
        return False
    return run.digits[0] in _NO_CARD_BEGINS or run.groups == (3, 3, 3)


def _of_some_country(run: DigitRun) -> bool:
    """Whether a run is as long as a telephone number and not grouped like a card number."""
    return 9 <= len(run.digits) <= 11 and run.groups[:2] != (4, 4)


def in_threes(run: DigitRun) -> bool:
    """Whether a run is grouped like a North American telephone number."""
    return run.groups[-3:] == (3, 3, 4) and len(run.groups) <= 4


def _trunk(digits: str) -> bool:
    """Whether the digits begin with 0, like national numbers in most countries and no card number."""
    return digits.startswith("0") and 10 <= len(digits) <= 12


def _after_something(run: DigitRun, region: str | None) -> bool:
    """Whether a telephone number follows another short number, such as a postcode or house number."""
    if len(run.groups) < 2 or run.groups[0] > 5:
        return False
    first = run.groups[0]
    rest = DigitRun(run.digits[first:], run.start, run.end, run.groups[1:], False)
    return run.groups[1:] in ((3, 3, 4), (len(rest.digits),)) and plausible_phone(rest, region)


def international(run: DigitRun, text: str) -> bool:
    """Whether a run is a telephone number with its country code."""
    if not text[: run.start].rstrip(" (").endswith("+") and not run.digits.startswith("00"):
        return False
    return _valid_phone("+" + run.digits.removeprefix("00"), None, possible=True)


def _possible_phone(digits: str, region: str | None) -> bool:
    if len(digits) > LONGEST:
        return False
    return region is None or _valid_phone(digits, region, possible=True)


def _is_example(run: DigitRun, region: str) -> bool:
    """Whether a North American number has the area code 555: no telephone has it, but examples do.

    555 5 does not count: many card numbers begin with it.
    """
    if run.groups != (10,) or re.match(r"555[^5]", run.digits) is None:
        return False
    import phonenumbers

    return phonenumbers.country_code_for_region(region) == 1


@cache
def _begins_with_zero(region: str) -> bool:
    """Whether all national numbers of a country begin with 0."""
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    return metadata is not None and metadata.national_prefix == "0"


def _valid_phone(digits: str, region: str | None, *, possible: bool = False) -> bool:
    # Imported when first needed: loading the tables takes a while, and most calls have no long number.
    import phonenumbers

    try:
        number = phonenumbers.parse(digits, region)
    except phonenumbers.NumberParseException:
        return False
    check = phonenumbers.is_possible_number if possible else phonenumbers.is_valid_number
    return check(number)
