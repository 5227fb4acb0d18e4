"""Card numbers are taken out of every text before it is kept, logged or shown to a model.

A card number is thirteen to nineteen digits that pass Luhn's check, however they are written or said. So
is any part of one: eight digits or more in a row, unless they are a telephone number, a date, a time, a
price, a postcode or an id. A security code is three or four digits that are called one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Literal

from state.digits import Run, runs_in

CARD = "[card]"
"""What stands where a card number stood."""

_PART = 8
"""So many digits in a row are taken for part of a card."""
_SHORTEST, _LONGEST = 13, 19

# What is made of digits and is no card. The first that fits a place counts.
_HARMLESS = re.compile(
    r"""
    \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b              # a UUID
    | \b[a-z][a-z._+-]*\d{1,12}@[\w-]+\.[a-z]                                      # an e-mail address
    | \b(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])                    # a date, and a time
      (?:[T ](?:[01]\d|2[0-4])(?::?[0-5]\d){1,2}(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\d-])
    | \b20[2-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T\d{4,6}Z?)?(?![\d-])
    | (?<![\d./-])[0-3]?\d(?P<sep>[./-])[0-3]?\d(?P=sep)(?:(?:19|20)\d\d|\d\d)(?![\d./-])
    | (?<![\d./-])[0-3]?\d[ ][0-3]?\d[ ]20[2-4]\d(?![ ./-]?\d)
    | (?<![\d:])(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?![\d:])                   # a time
    | [$€£¥]\s?\d{1,3}(?:,?\d{3}){0,2}(?:\.\d\d)?(?![\d-])                         # a price
    | (?<![\d.,-])\d{1,3}(?:,\d{3}){0,2}\.\d\d(?![\d.-])
    | (?<![\d-])\d{5}-\d{4}(?![\d-])                                               # ZIP+4
    """,
    re.VERBOSE | re.IGNORECASE,
)

_CARD_WORDS = re.compile(
    r"\b(?:card|charge|credit|debit|visa|master\s?card|amex|american express|maestro|discover|diners)\b",
    re.IGNORECASE,
)
_CALL_WORDS = (
    r"\b(?:tele)?phones?\b|\b(?:cell|mobile|landline|tel|call|ring|reach|text|whatsapp|sms|contact"
    r"|area code)\b"
)
_PHONE_WORDS = re.compile(_CALL_WORDS + r"|\b(?:my number|number(?: is|'s))\b", re.IGNORECASE)
_ELSE_WORDS = re.compile(_CALL_WORDS, re.IGNORECASE)
_PLACE_WORDS = re.compile(
    r"\b(?:zip|post\s?code|postal|street|avenue|road|address|house|flat|apartment|apt|floor|room"
    r"|order(?: number)?|table)\b",
    re.IGNORECASE,
)
_CODE_WORDS = (
    r"\b(?:cvv2?|cvc2?|cvn|csc|security (?:code|number)|verification (?:code|value|number)|card code"
    r"|(?:code|digits?|numbers?) (?:on|at) the back|last three digits)\b"
)
_CODE_BEFORE = re.compile(_CODE_WORDS + r"[^\d.!?;]{0,30}$", re.IGNORECASE)
_CODE_AFTER = re.compile(
    r"^[\s,]*(?:is|as|are|for|that's|being)?[\s,]*(?:the|my|a)?[\s,]*" + _CODE_WORDS, re.IGNORECASE
)
_NEAR = 48
"""How many characters around digits can say what they are."""

_PIECE = 3
"""Fewer digits than this, told by themselves, are a count or an hour and no piece of a number."""
_MOST_STRANGERS = 2
_WORD = re.compile(r"[^\W\d_]+")
_TELLING = frozenset(
    """a after again all amex and are back be by card comes continue continuing credit debit digit digits
    done end ending expires expiry final finally first followed for get go goes got group hang have hear here
    hold i in is it its just last let ll m mastercard me moment more my next now number numbers of ok okay
    on oh please plus re ready rest right s second see so sorry start starts that the then there these
    they third this to uh um er visa wait well will with yeah yep yes you your
    one two three four five six eight ten sixteen""".split()
)
"""What people say around the pieces of a number; after any other word it is about something else."""
_TIME_BEFORE = re.compile(r"\b(?:at|around|about|until|till|before|from)\s*$", re.IGNORECASE)
_ISSUED = re.compile(
    r"3[47]\d{13}|3[0689]\d{12}|35\d{14}|2[2-7]\d{14}|4(?:\d{12}|\d{15}|\d{18})|5\d{15}|6\d{12,18}"
)
"""How the numbers of cards begin, and how long they are then."""


def redact(text: str, region: str | None = None) -> str:
    """Replace every card number, part of one and security code by ``[card]``.

    >>> redact("it is 4242 4242 4242 4242, thanks"), redact("call 212 555 0142 at 7:30")
    ('it is [card], thanks', 'call 212 555 0142 at 7:30')

    Args:
        text: What was said or written.
        region: The country whose telephone numbers are known without their country code.
    """
    return _without(text, (run for run in _runs(text) if _is_secret(run, text, region)))


def is_card(text: str) -> bool:
    """Whether a text that should be a telephone number holds a whole card number."""
    return any(_luhn_within(run.digits) and not _international(run, text) for run in runs_in(text))


class Redactor:
    """Redacts what one guest says, turn after turn, also a number told in several turns.

    Args:
        region: Tells the country whose telephone numbers are known without their country code; asked
            when the first long number is heard.
    """

    def __init__(self, region: Callable[[], str | None] = lambda: None) -> None:
        self._ask_region = region
        self._told: tuple[Run, ...] = ()
        self._in_card: Literal["", "part", "whole"] = ""

    def __call__(self, text: str) -> str:
        """Return what may be kept of a guest's words, and remember how they end."""
        runs = _runs(text)
        told = sum(len(run.digits) for run in (*self._told, *runs))
        region = self._ask_region() if told >= _PART else None
        secret = [run for run in runs if _is_secret(run, text, region)]
        pieces = [run for run in runs if len(run.digits) >= _PIECE and not _counts(run, text)]
        if pieces and not secret and not _says_more(text, runs):
            secret = list(self._continuing(pieces, text, region))
        self._remember(pieces, secret, text, runs)
        return _without(text, secret)

    def _continuing(self, pieces: Sequence[Run], text: str, region: str | None) -> Iterator[Run]:
        """Find the digits that carry on where the guest stopped the turn before."""
        if self._in_card:
            # After a whole one there may come its date and code, and then a telephone number.
            after = _PART if self._in_card == "whole" else _LONGEST + 1
            yield from (run for run in pieces if len(run.digits) < after and not _in_threes(run))
            return
        if not self._told:
            return
        first = pieces[0]
        told = _joined((*self._told, first))
        if _complete(self._told) or len(first.digits) >= _PART:
            # One of them was let in by itself, so it is a telephone number, unless both are one card.
            if _ISSUED.fullmatch(told.digits) and _luhn(told.digits):
                yield first
        elif _luhn_within(told.digits):
            yield first
        elif len(told.digits) >= _PART and not _with_postcode(told.groups):
            told_as = tuple(len(run.digits) for run in (*self._told, first))
            if told_as[:2] == (4, 6) or not _plausible_phone(told, region):
                yield first

    def _remember(
        self, pieces: Sequence[Run], secret: Sequence[Run], text: str, runs: Sequence[Run]
    ) -> None:
        """Keep the digits with which the guest stopped, as long as he may be telling a number."""
        if not pieces and not secret:
            if runs or _strangers(text):
                self._told, self._in_card = (), ""
            return
        last = pieces[-1] if pieces else secret[-1]
        goes_on = bool(_strangers(text[last.end :]))
        self._in_card = ""
        if secret and not goes_on:
            self._in_card = "whole" if any(_luhn_within(run.digits) for run in secret) else "part"
        if secret or goes_on:
            self._told = ()
        elif len(pieces) == 1 and not _says_more(text, runs) and not _complete(self._told):
            self._told = (*self._told, last)
        else:
            self._told = (last,)


def _runs(text: str) -> list[Run]:
    """Return the runs of digits that are not plainly something else."""
    if not _may_hold_digits(text):
        return []
    harmless = [match.span() for match in _HARMLESS.finditer(text)]
    return list(runs_in(text, harmless))


_DIGIT_WORD = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)


def _may_hold_digits(text: str) -> bool:
    return _DIGIT_WORD.search(text) is not None


def _is_secret(run: Run, text: str, region: str | None) -> bool:
    if _luhn_within(run.digits):
        return not _international(run, text)
    if len(run.digits) >= _PART and not run.embedded:
        return not _is_phone(run, text, region)
    if len(run.digits) not in (3, 4) or run.embedded:
        return False
    before, after = text[max(0, run.start - _NEAR) : run.start], text[run.end : run.end + _NEAR]
    return bool(_CODE_BEFORE.search(before) or _CODE_AFTER.search(after))


def _luhn_within(digits: str) -> bool:
    """Whether thirteen to nineteen digits in a row pass the check that cards pass.

    A longer row holds the number together with its date and code; so only its beginnings count there.
    """
    if len(digits) < _SHORTEST:
        return False
    if len(digits) <= _LONGEST and _luhn(digits):
        return True
    return any(_luhn(digits[:length]) for length in (16, 15, 14, 13, 19) if length < len(digits))


def _luhn(digits: str) -> bool:
    if digits.startswith("0"):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_phone(run: Run, text: str, region: str | None) -> bool:
    """Whether digits are given as a telephone number, or look like nothing else."""
    if _international(run, text):
        return True
    before = text[max(0, run.start - _NEAR) : run.start]
    around = before + " " + text[run.end : run.end + _NEAR]
    if _CARD_WORDS.search(around):
        return False
    if _PHONE_WORDS.search(around):
        return _possible_phone(run.digits, region) or _trunk(run.digits)
    return _plausible_phone(run, region) or _after_something(run, region)


def _plausible_phone(run: Run, region: str | None) -> bool:
    """Whether digits without a word about them are a telephone number by their form."""
    if _in_threes(run):
        return _possible_phone(run.digits, region)
    if _trunk(run.digits):
        return True
    in_fours = run.groups[0] == 4 and run.groups.count(4) > 1 and len(run.digits) > 9
    if region is None or in_fours or _begins_with_zero(region):
        return False
    return _valid_phone(run.digits, region)


def _in_threes(run: Run) -> bool:
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
    return run.groups[1:] in ((3, 3, 4), (len(rest.digits),)) and _plausible_phone(rest, region)


def _international(run: Run, text: str) -> bool:
    if not text[: run.start].rstrip(" (").endswith("+") and not run.digits.startswith("00"):
        return False
    return _valid_phone("+" + run.digits.removeprefix("00"), None, possible=True)


def _possible_phone(digits: str, region: str | None) -> bool:
    if len(digits) >= _SHORTEST:
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


def _says_more(text: str, runs: Sequence[Run]) -> bool:
    """Whether a turn is about more than the digits in it, or about digits that are something else."""
    if _PLACE_WORDS.search(text) or _ELSE_WORDS.search(text):
        return True
    return len(_strangers(_without(text, runs).replace(CARD, ""))) > _MOST_STRANGERS


def _strangers(text: str) -> list[str]:
    """Return the words that people do not use around the pieces of a number they tell."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _TELLING]


def _counts(run: Run, text: str) -> bool:
    """Whether digits say how many, how much or when: "18 percent", "10 waters", "at 19 30"."""
    after = re.match(r"\s*(?:%|[$€£¥]|-?([^\W\d_]+))", text[run.end :])
    if after is not None and (after[1] is None or after[1].casefold() not in _TELLING):
        return True
    return _TIME_BEFORE.search(text[: run.start]) is not None


def _joined(runs: Sequence[Run]) -> Run:
    groups = tuple(length for run in runs for length in run.groups)
    digits = "".join(run.digits for run in runs)
    return Run(digits, runs[-1].start, runs[-1].end, groups, False)


def _complete(told: Sequence[Run]) -> bool:
    """Whether what was told and let in is a telephone number as it stands."""
    return sum(len(run.digits) for run in told) >= _PART


def _with_postcode(groups: Sequence[int]) -> bool:
    """Whether two answers in a row look like a postcode and the number of a house or a flat."""
    return len(groups) == 2 and 5 in groups and sum(groups) < _PART + 2


def _without(text: str, runs: Iterable[Run]) -> str:
    cut: list[str] = []
    end = 0
    for run in runs:
        cut += (text[end : run.start], CARD)
        end = run.end
    cut.append(text[end:])
    return "".join(cut)
