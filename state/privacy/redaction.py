"""Redacts card numbers and security codes in a text before it is stored, logged or shown to a model.

A card number is 13 to 19 digits that pass the Luhn check, written or spoken. Any run of eight digits or
more counts as part of one, unless it is a telephone number, a date, a time, a price, a postcode or an id.
A security code is three or four digits next to a name for it, such as "CVV".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from state.privacy.digits import (
    DIGIT_FILLERS,
    DIGIT_TIMES,
    NUMBER_WORDS,
    DigitRun,
    plain_digits,
    runs_in,
)
from state.privacy.telephones import (
    CALL_WORDS,
    NEAR,
    begins_no_card,
    cards_near,
    in_threes,
    international,
    is_phone,
    plausible_phone,
)

CARD = "[card]"
"""The replacement of a card number."""

_PART = 8
"""The length from which a run of digits counts as part of a card number."""
_PASSING = 4
"""An interim transcript with more digits than this is not shown."""
_SHORTEST, _LONGEST = 13, 19

# Digits that are not part of a card number. The first alternative that matches counts.
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
    | (?P<amount>(?<![\d.,-])\d{1,3}(?:,\d{3}){0,2}\.\d\d(?![\d.-]))
    | (?<![\d-])\d{5}-\d{4}(?![\d-])                                               # ZIP+4
    """,
    re.VERBOSE | re.IGNORECASE,
)

_ELSE_WORDS = re.compile(CALL_WORDS, re.IGNORECASE)
_PLACE_WORDS = re.compile(
    r"\b(?:zip|post\s?code|postal|street|avenue|road|address|house|flat|apartment|apt|floor|room"
    r"|order(?: number)?|table)\b",
    re.IGNORECASE,
)
_FLAT_BEFORE = re.compile(
    r"\b(?:flat|apartment|apt|unit|suite|ste|floor|room)[\s.#]*$", re.IGNORECASE
)
_PLACE_BEFORE = re.compile(_PLACE_WORDS.pattern + r"[^.!?]{0,40},\s*$", re.IGNORECASE)
_NUMBERED_BEFORE = re.compile(
    r"\b(?:order|reservation|booking|ticket|invoice|reference|voucher)(?: number| no\.?| id)?[\s:#]*$",
    re.IGNORECASE,
)
_PLACE_AFTER = re.compile(
    r"^[\s,]*(?:[^\W\d_]+\s+){0,2}(?:street|st|avenue|ave|road|rd|lane|drive|boulevard|blvd)\b",
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

_PIECE = 3
"""A shorter run by itself is a count or an hour, not a piece of a number."""
_MOST_STRANGERS = 2
_CLAUSE = re.compile(r"[,.;!?\n]|\b(?:and|but|then|so)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_SAID = re.compile(r"\d+|[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_LONGEST_TOLD = 400
"""The most characters that one number can take, however it is spoken."""
_TELLING = frozenset(
    """a after again all amex and are back be by card comes continue continuing credit debit digit digits
    done end ending expires expiry final finally first followed for get go goes got group hang have hear here
    hold i in is it its just last let ll m mastercard me moment more my next now number numbers of ok okay
    on oh pause please plus re ready rest right s second see so sorry start starts that the then there these
    they third this to uh um er visa wait well will with yeah yep yes you your
    one two three four five six eight ten sixteen""".split()
)
"""Words that people use between the pieces of a number. Any other word ends the number."""
_OF_A_CODE = frozenset(
    ("cvv", "cvc", "cvn", "csc", "code", "value", "digit", "digits", "number", "numbers")
)
"""Every name of a security code contains one of these."""
_MORE_DIGITS = DIGIT_TIMES | {"hundred", "thousand"}
_BESIDE_DIGITS = _OF_A_CODE | _MORE_DIGITS
"""Words that make a short run a security code, or stand for several digits."""
_DIGITS_SAID = NUMBER_WORDS | {"o", "oh"}
_BETWEEN_DIGITS = _TELLING | DIGIT_FILLERS | _OF_A_CODE | {"o", "security", "verification"}
"""Words after which a number or its name may continue."""
_BLANKED = {place: chr(place).lower() if chr(place).isalpha() else " " for place in range(128)}
"""A translation table: letters in lower case, a space for every other ASCII character."""
_NEAR_THE_END = 48
"""A tail of this many characters nearly always contains a word that ends a number."""
_TIME_BEFORE = re.compile(r"\b(?:at|around|about|until|till|before|from)\s*$", re.IGNORECASE)
_CORRECTS = re.compile(r"\b(?:sorry|no|not|wait|oops|mean|meant|actually)\b", re.IGNORECASE)
_ISSUED = re.compile(
    r"3[47]\d{13}|3[0689]\d{12}|35\d{14}|2[2-7]\d{14}|4(?:\d{12}|\d{15}|\d{18})|5\d{15}|6\d{12,18}"
)
"""The prefixes and lengths of issued card numbers."""
_BEGINS = re.compile(r"[3-6]|2(?:[2-7]|$)")


def redact(text: str, region: str | None = None) -> str:
    """Replace every card number, part of one and security code by ``[card]``.

    >>> redact("it is 4242 4242 4242 4242, thanks"), redact("call 212 555 0142 at 7:30")
    ('it is [card], thanks', 'call 212 555 0142 at 7:30')

    Args:
        text: The text.
        region: The country of telephone numbers without a country code.
    """
    if len(text) < _PIECE:  # too short for a security code, such as an id
        return text
    return _without(text, _secrets(_runs(text), text, region))


def redact_whole(text: str) -> str:
    """Replace whole card numbers and security codes only: for model output and tool arguments.

    The model has never seen a part of a card number, and a user's telephone number must not be redacted.

    >>> redact_whole("4242 4242 4242 4242, call 4242 4242"), redact_whole("15551234567")
    ('[card], call 4242 4242', '15551234567')
    >>> redact_whole("We deliver to 60607, 60608, 60612")
    'We deliver to 60607, 60608, 60612'
    """
    if _harmless(text):
        return text
    runs = [run for run in _runs(text) if not _is_a_list_of_postcodes(run, text)]
    return _without(text, _secrets(runs, text, None, least=_SHORTEST))


def redact_partial(text: str) -> str:
    """Redact an interim transcript: hide it while it may contain the beginning of a card number.

    >>> redact_partial("two large Margheritas"), redact_partial("it is 4242 42"), redact_partial("nine two five one three")
    ('two large Margheritas', '...', '...')
    """
    return "..." if sum(len(run.digits) for run in runs_in(text)) > _PASSING else text


def safe_length(text: str) -> int:
    """Return how much of an unfinished text can be judged: the rest may become a card number.

    >>> safe_length("That is fine. Four two"), safe_length("Four two, and a cola "), safe_length("Noted: o")
    (14, 21, 7)
    """
    text, near = plain_digits(text), _NEAR_THE_END
    while (found := _safe_length(text, max(0, len(text) - near))) is None:
        near *= 4
    return found


def _safe_length(text: str, start: int) -> int | None:
    """Judge only the text from an index; ``None`` if the result depends on the text before it."""
    words = list(_SAID.finditer(text, start))
    whole = len(text) if not words or words[-1].end() < len(text) else words[-1].start()
    at = whole
    for word in reversed(words):
        if 0 < start == word.start():  # the index may be in the middle of a word
            return None
        if word.end() > whole:
            continue
        said = word[0].casefold()
        if said[0].isdigit() or said in NUMBER_WORDS or said in _MORE_DIGITS:
            at = word.start()
        elif said not in _BETWEEN_DIGITS:
            break
    else:
        if start > 0:
            return None
    return at if whole - at < _LONGEST_TOLD else whole


def is_card(text: str) -> bool:
    """Whether a text given as a telephone number contains a whole card number."""
    return any(_luhn_within(run.digits) and not international(run, text) for run in runs_in(text))


class Redactor:
    """Redacts the turns of one user, also a number that is spread over several turns.

    Args:
        region: Returns the country of telephone numbers without a country code; called at the first long
            number.
    """

    def __init__(self, region: Callable[[], str | None] = lambda: None) -> None:
        self._ask_region = region
        self._told: tuple[DigitRun, ...] = ()
        self._in_card: Literal["", "part", "whole"] = ""
        self._small = ""

    def __call__(self, text: str) -> str:
        """Redact a user's turn, and remember the digits at its end."""
        runs = _runs(text)
        known = sum(len(run.digits) for run in (*self._told, *runs))
        region = self._ask_region() if known >= _PART else None
        telling = bool(self._told or self._in_card or self._small)
        secret = _secrets(runs, text, region, telling=telling)
        pieces = [run for run in runs if len(run.digits) >= _PIECE and not _counts(run, text)]
        if pieces and _another_postcode(self._told, pieces[0], text):
            self._told = ()
        beside = bool(pieces) and not secret and _says_more(text, runs)
        if beside:  # the number may continue beside a telephone or house number
            apart = [part for run in runs for part in _apart(run, text)]
            pieces = [
                part
                for part in apart
                if len(part.digits) >= _PIECE
                and not _counts(part, text)
                and _stands_alone(part, apart, text)
            ]
        if pieces and not secret:
            secret = list(self._continuing(pieces, text, region))
            told = "".join(run.digits for run in (*self._told, *secret[:1]))
            if beside and not self._in_card and not _BEGINS.match(told):
                secret = []
        if not beside:
            self._remember(pieces, secret, text, runs)
        elif secret:
            self._told, self._in_card = (), "part"
        elif pieces:
            self._told = (*self._told, pieces[0]) if len(pieces) == 1 else (pieces[-1],)
        if self._in_small_pieces(runs, text):
            secret = runs
        return _without(text, secret)

    def _in_small_pieces(self, runs: Sequence[DigitRun], text: str) -> bool:
        """Whether the user is reading out a card number in pieces of one or two digits.

        The first seven digits may be counts and hours, so they are not redacted.
        """
        alone = runs and not _strangers(_without(text, runs).replace(CARD, ""))
        if not alone or any(len(run.digits) >= _PIECE or _counts(run, text) for run in runs):
            self._small = ""
            return False
        self._small += "".join(run.digits for run in runs)
        begins = _BEGINS.search(self._small)
        self._small = self._small[begins.start() :] if begins is not None else ""
        if len(self._small) < _PART:
            return False
        if _ISSUED.fullmatch(self._small) and _luhn(self._small):
            self._small, self._in_card = "", "whole"
        return True

    def _continuing(
        self, pieces: Sequence[DigitRun], text: str, region: str | None
    ) -> Iterator[DigitRun]:
        """Find the digits that continue a number from the turn before."""
        if self._in_card:
            # A whole card number may be followed by its date and code, then by a telephone number.
            after = _PART if self._in_card == "whole" else _LONGEST + 1
            yield from (run for run in pieces if len(run.digits) < after and not in_threes(run))
            return
        if not self._told:
            return
        first = pieces[0]
        told = _joined((*self._told, first))
        if _complete(self._told) or len(first.digits) >= _PART:
            # One of them was accepted by itself as a telephone number, unless both make one card number.
            if _ISSUED.fullmatch(told.digits) and _luhn(told.digits):
                yield first
        elif _luhn_within(told.digits):
            yield first
        elif len(told.digits) >= _PART and not _with_postcode(told.groups):
            told_as = tuple(len(run.digits) for run in (*self._told, first))
            # Telephone numbers are spoken in groups of three, or with a leading 0.
            in_fours = told_as[0] in (4, 5) and not told.digits.startswith("0")
            if in_fours or not plausible_phone(told, region):
                yield first

    def _remember(
        self,
        pieces: Sequence[DigitRun],
        secret: Sequence[DigitRun],
        text: str,
        runs: Sequence[DigitRun],
    ) -> None:
        """Keep the digits at the end of the turn while the user may continue the number."""
        if not pieces and not secret:
            # A whole card number may be followed by its date, in short pieces.
            if (runs and self._in_card != "whole") or _strangers(_without(text, runs)):
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


def _harmless(text: str) -> bool:
    """Quick check that a text has too few digits for a card number and names no security code.

    Agents' words are checked while they stream, and nearly all of them pass this check.
    """
    text = plain_digits(text)
    if text.isascii():  # the common case, and faster
        words = text.translate(_BLANKED).split()
        if _BESIDE_DIGITS.isdisjoint(words):
            said = sum(map(_DIGITS_SAID.__contains__, words))
            if len(_DIGIT.findall(text)) + 2 * said < _SHORTEST:
                return True
    digits = 0
    for word in _SAID.findall(text.casefold()):
        if word[0].isdigit():
            digits += len(word)
        elif word in _BESIDE_DIGITS:
            return False
        elif word in _DIGITS_SAID:
            digits += 2
        elif word not in _BETWEEN_DIGITS:  # this word ends a number
            digits = 0
        if digits >= _SHORTEST:
            return False
    return True


def _runs(text: str) -> list[DigitRun]:
    """Return the runs of digits that are not plainly something else."""
    text = plain_digits(text)
    if not _may_hold_digits(text):
        return []
    found = list(_HARMLESS.finditer(text))
    runs = list(runs_in(text, [match.span() for match in found]))
    if sum(match["amount"] is not None for match in found) > 2:
        # "42.42 42.42 42.42 42.42": together these are a card number, so they are not amounts.
        others = [match.span() for match in found if match["amount"] is None]
        together = list(runs_in(text, others))
        if any(_luhn_within(run.digits) for run in together):
            return together
    return runs


def _may_hold_digits(text: str) -> bool:
    if _DIGIT.search(text) is not None:
        return True
    return not NUMBER_WORDS.isdisjoint(_WORD.findall(text.casefold()))


def _secrets(
    runs: Sequence[DigitRun],
    text: str,
    region: str | None,
    *,
    telling: bool = False,
    least: int = _PART,
) -> list[DigitRun]:
    """Return the runs that must be redacted.

    Args:
        runs: All runs of the text.
        text: The text.
        region: The country of telephone numbers without a country code.
        telling: Whether the turn before may have ended in the middle of a number.
        least: The length from which a run counts as part of a card number.
    """
    telling = telling or sum(len(run.digits) >= _PIECE for run in runs) > 1
    scattered = _scattered(runs, text, region)
    return [
        run
        for run in runs
        if run in scattered or _is_secret(run, text, region, telling=telling, least=least)
    ]


def _scattered(runs: Sequence[DigitRun], text: str, region: str | None) -> Sequence[DigitRun]:
    """Return the pieces of a whole card number with only words of ``_TELLING`` between them."""
    if sum(len(run.digits) for run in runs) < _SHORTEST:
        return ()
    chain: list[DigitRun] = []
    for run in runs:
        if run.embedded or (len(run.digits) >= _PART and is_phone(run, text, region)):
            chain = []
            continue
        if chain and _strangers(text[chain[-1].end : run.start]):
            chain = []
        chain.append(run)
        if len(chain) > 1 and _luhn_in_pieces(chain):
            return chain
    return ()


def _luhn_in_pieces(chain: Sequence[DigitRun]) -> bool:
    said = [group for run in chain for group in _groups_of(run)]
    # "the first four 4242, the second four 4242": "four" counts digits and is not one of them.
    return any(
        _luhn_within("".join(groups))
        for groups in (said, [group for group in said if len(group) >= _PIECE])
    )


def _groups_of(run: DigitRun) -> Iterator[str]:
    start = 0
    for length in run.groups:
        yield run.digits[start : start + length]
        start += length


def _is_secret(run: DigitRun, text: str, region: str | None, *, telling: bool, least: int) -> bool:
    if _luhn_within(run.digits):
        return not international(run, text)
    if len(run.digits) >= least and not run.embedded:
        if is_phone(run, text, region) or _is_flat_and_postcode(run, text):
            return False
        return telling or not (begins_no_card(run, text) or _is_called_else(run, text))
    if len(run.digits) not in (3, 4) or run.embedded:
        return False
    before, after = text[max(0, run.start - NEAR) : run.start], text[run.end : run.end + NEAR]
    return bool(_CODE_BEFORE.search(before) or _CODE_AFTER.search(after))


def _luhn_within(digits: str) -> bool:
    """Whether 13 to 19 digits of a run pass the Luhn check.

    A longer run holds the number followed by its date and code, so only prefixes are checked.
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


def _is_called_else(run: DigitRun, text: str) -> bool:
    """Whether one or two groups of digits are named as a house number, an order number or the like."""
    if len(run.digits) >= _SHORTEST - 1 or len(run.groups) > 2 or cards_near(run, text):
        return False
    before, after = text[max(0, run.start - NEAR) : run.start], text[run.end : run.end + NEAR]
    return bool(_NUMBERED_BEFORE.search(before) or _PLACE_AFTER.search(after))


def _is_flat_and_postcode(run: DigitRun, text: str) -> bool:
    """Whether two groups of digits end an address: "533 Serrano Avenue, apartment 204, 90020"."""
    if len(run.groups) != 2 or run.groups[0] > 4 or run.groups[1] != 5 or cards_near(run, text):
        return False
    return _FLAT_BEFORE.search(text[: run.start]) is not None


def _says_more(text: str, runs: Sequence[DigitRun]) -> bool:
    """Whether a turn has other content than digits, or names its digits as something else."""
    if _PLACE_WORDS.search(text) or _ELSE_WORDS.search(text):
        return True
    return len(_strangers(_without(text, runs).replace(CARD, ""))) > _MOST_STRANGERS


def _apart(run: DigitRun, text: str) -> list[DigitRun]:
    """Split a run at clause boundaries: "house 12, 4242" has two numbers."""
    cuts = [match.span() for match in _CLAUSE.finditer(text, run.start, run.end)]
    starts, ends = (run.start, *(end for _, end in cuts)), (*(at for at, _ in cuts), run.end)
    parts = [
        replace(part, start=start + part.start, end=start + part.end, embedded=run.embedded)
        for start, end in zip(starts, ends, strict=True)
        for part in runs_in(text[start:end])
    ]
    return parts if "".join(part.digits for part in parts) == run.digits else [run]


def _stands_alone(run: DigitRun, runs: Sequence[DigitRun], text: str) -> bool:
    """Whether no word describes these digits, although words describe others in the same turn.

    Words between two numbers describe the second: "4242, my phone is 212 555 0142".
    """
    if run.embedded or len(run.digits) >= _PART:
        return False
    before = max((one.end for one in runs if one.end <= run.start), default=0)
    later = any(one.start >= run.end for one in runs)
    own = text[before : run.start], "" if later else text[run.end :]
    if run.groups == (5,) and _PLACE_BEFORE.search(text[: run.start]):
        return False  # "221 Mott Street, apt 4B, 10012"
    return not any(
        _PLACE_WORDS.search(said) or _ELSE_WORDS.search(said) or _strangers(said)
        for said in (_CLAUSE.split(own[0])[-1], _CLAUSE.split(own[1])[0])
    )


def _strangers(text: str) -> list[str]:
    """Return the words that people do not use between the pieces of a number."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _TELLING]


def _counts(run: DigitRun, text: str) -> bool:
    """Whether digits are a count, an amount or a time: "18 percent", "10 waters", "at 19 30"."""
    after = re.match(r"\s*(?:%|[$€£¥]|-?([^\W\d_]+))", text[run.end :])
    if after is not None and (after[1] is None or after[1].casefold() not in _TELLING):
        return True
    return _TIME_BEFORE.search(text[: run.start]) is not None


def _joined(runs: Sequence[DigitRun]) -> DigitRun:
    groups = tuple(length for run in runs for length in run.groups)
    digits = "".join(run.digits for run in runs)
    return DigitRun(digits, runs[-1].start, runs[-1].end, groups, False)


def _complete(told: Sequence[DigitRun]) -> bool:
    """Whether the whole text is a telephone number."""
    return sum(len(run.digits) for run in told) >= _PART


def _with_postcode(groups: Sequence[int]) -> bool:
    """Whether two consecutive answers look like a postcode and a house or flat number."""
    return len(groups) == 2 and 5 in groups and sum(groups) < _PART + 2


def _another_postcode(told: Sequence[DigitRun], run: DigitRun, text: str) -> bool:
    """Whether five digits correct the five of the turn before: "10013", then "10014, sorry"."""
    fives = [one.groups for one in (*told, run)] == [(5,), (5,)]
    return fives and _CORRECTS.search(text) is not None


def _is_a_list_of_postcodes(run: DigitRun, text: str) -> bool:
    """Whether it is a list of postcodes: card numbers are not written in comma-separated fives."""
    listed = text[run.start : run.end].count(",") == len(run.groups) - 1
    return listed and len(run.groups) > 1 and set(run.groups) == {5}


def _without(text: str, runs: Iterable[DigitRun]) -> str:
    cut: list[str] = []
    end = 0
    for run in runs:
        cut += (text[end : run.start], CARD)
        end = run.end
    cut.append(text[end:])
    return "".join(cut)
