"""Finds runs of digits, written or spoken: "4242", "forty-two", "double four", "oh"."""

import re
import unicodedata
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

_UNITS = {
    word: str(digit)
    for digit, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    )
} | {"oh": "0", "o": "0", "nought": "0", "naught": "0", "nil": "0"}
_ELSEWHERE = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "zéro un deux trois quatre cinq six sept huit neuf",
    "null eins zwei drei vier fünf sechs sieben acht neun",
    "zero uno due tre quattro cinque sei sette otto nove",
    "zero um dois três quatro cinco seis sete oito nove",
)
"""Users of other languages say a number digit by digit too."""
_UNITS |= {word: str(digit) for digits in _ELSEWHERE for digit, word in enumerate(digits.split())}
_TEENS = {
    word: str(number)
    for number, word in enumerate(
        (
            *("ten", "eleven", "twelve", "thirteen", "fourteen"),
            *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        ),
        start=10,
    )
}
_TENS = {
    word: str(tens)
    for tens, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
} | {"fourty": "4"}
_IN_ONE = {
    tens + unit: _TENS[tens] + digit
    for tens in _TENS
    for unit, digit in _UNITS.items()
    if digit != "0"
}
"""Written as one word: "fortytwo"."""
NUMBER_WORDS = frozenset((*_UNITS, *_TEENS, *_TENS, *_IN_ONE)) - {"o", "oh"}
"""The number words of every supported language."""
_ZEROS = {"hundred": "00", "thousand": "000"}
_TIMES = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}
DIGIT_TIMES = frozenset(_TIMES)
"""Words that repeat a digit, such as "double"."""
DIGIT_FILLERS = frozenset(
    ("and", "then", "uh", "um", "er", "erm", "dash", "hyphen", "space", "comma", "dot", "slash")
)
"""The words that people say between the groups of a number."""

_OF_CHINA = "〇一二三四五六七八九零"
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_GAP = re.compile(r"[^\w$€£¥%#@=+]{0,8}|\s+|_{1,3}")
_MOST_FILLERS = 2


@dataclass(frozen=True, slots=True)
class DigitRun:
    """A run of digits, with only punctuation and fillers between them.

    Args:
        start: Where it begins in the text.
        end: Where it ends.
        groups: How many digits each piece had.
        embedded: Whether letters are right beside them, as in an id.
    """

    digits: str
    start: int
    end: int
    groups: tuple[int, ...]
    embedded: bool


@dataclass(slots=True)
class _Open:
    """A run that is still growing."""

    start: int = -1
    end: int = -1
    pieces: list[str] = field(default_factory=list)
    tens: bool = False
    round: bool = False
    times: int = 1
    fillers: int = 0


def runs_in(text: str, breaks: Sequence[tuple[int, int]] = ()) -> Iterator[DigitRun]:
    """Find the runs of digits in order, each as long as possible.

    Args:
        text: The text, spoken or written.
        breaks: Spans whose digits mean something else, in order; they end a run.
    """
    text = plain_digits(text)
    run = _Open()
    last_end = at = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        while at < len(breaks) and breaks[at][1] <= start:
            at += 1
        if at < len(breaks) and breaks[at][0] < end:
            yield from _closed(run)
            run, last_end = _Open(), end
            continue
        gap = text[last_end:start]
        if run.start >= 0 and not _GAP.fullmatch(gap):
            yield from _closed(run)
            run = _Open()
        token = match.group()
        if token[0].isdecimal():
            if _beside_letters(text, start, end):
                yield from _closed(run)
                run = _Open()
                yield DigitRun(token, start, end, (len(token),), True)
            else:
                _grow(run, token, start, end)
        else:
            run = yield from _word(run, token.casefold(), start, end)
        last_end = end
    yield from _closed(run)


def digits_said(text: str) -> str:
    """Return all digits of a text, spoken or written, as one string.

    >>> digits_said("two one two, double five five, oh one forty-two")
    '2125550142'
    """
    return "".join(run.digits for run in runs_in(text))


def _word(run: _Open, word: str, start: int, end: int) -> Generator[DigitRun, None, _Open]:
    """Process a word: yield the run that it ends, return the run that continues."""
    if word in _TIMES:
        if run.start < 0:
            run.start = start
        run.times, run.tens = _TIMES[word], False
    elif word in _TENS:
        _grow(run, _TENS[word] + "0", start, end)
        run.tens = True
    elif word in _UNITS and run.tens and _UNITS[word] != "0":
        run.pieces[-1] = run.pieces[-1][:-1] + _UNITS[word]
        run.end, run.tens = end, False
    elif word in _UNITS and (word != "o" or run.pieces):
        _grow(run, _UNITS[word], start, end)
    elif word in _TEENS:
        _grow(run, _TEENS[word], start, end)
    elif word in _IN_ONE:
        _grow(run, _IN_ONE[word], start, end)
    elif word in _ZEROS and run.pieces:
        run.pieces[-1] += _ZEROS[word]
        run.end, run.tens, run.fillers, run.round = end, False, 0, True
    elif word in DIGIT_FILLERS and run.pieces and run.fillers < _MOST_FILLERS:
        run.fillers += 1
        run.tens = False
    else:
        yield from _closed(run)
        return _Open()
    return run


def _grow(run: _Open, digits: str, start: int, end: int) -> None:
    if run.start < 0:
        run.start = start
    if run.round and len(digits) == 2:
        run.pieces[-1] = run.pieces[-1][:-2] + digits  # "forty-two hundred and forty-two"
    else:
        run.pieces.append(digits * run.times)
    run.end = end
    run.times, run.tens, run.fillers, run.round = 1, False, 0, False


def _closed(run: _Open) -> Iterator[DigitRun]:
    if run.pieces:
        groups = tuple(len(piece) for piece in run.pieces)
        yield DigitRun("".join(run.pieces), run.start, run.end, groups, False)


def _beside_letters(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return before.isalpha() or after.isalpha()


def plain_digits(text: str) -> str:
    """Replace every Unicode digit, also raised or circled, by its ASCII digit; positions stay the same."""
    if text.isascii():
        return text
    return "".join(_plain_digit(character) for character in text)


def _plain_digit(character: str) -> str:
    if character.isascii():
        return character
    if character in _OF_CHINA:
        return str(_OF_CHINA.index(character) % 10)
    digit = unicodedata.digit(character, None)
    return character if digit is None else str(digit)
