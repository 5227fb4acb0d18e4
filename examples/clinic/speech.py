"""Sentences of patients for speech without a key, and how they are written for the rules."""

import random
import re
from collections.abc import Mapping, Sequence
from itertools import product

from examples.clinic.clinic import Clinic

_DIGITS = "zero one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = {
    **{word: number for number, word in enumerate((*_DIGITS, *_TEENS))},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    "oh": 0,
}
_WHOLE_TENS = frozenset(range(20, 100, 10))
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
_DAYS = {
    **{word: number for number, word in enumerate(_ORDINALS, start=1)},
    **{f"twenty {word}": 20 + number for number, word in enumerate(_ORDINALS[:9], start=1)},
    **{"thirtieth": 30, "thirty first": 31},
}
_MONTHS: Sequence[str] = (
    "january february march april may june july august september october november december".split()
)
_WEEKDAYS = "monday tuesday wednesday thursday friday".split()
_FIRST = "mary john anna peter susan david laura paul emma robert julia thomas".split()
_LAST = "shelley smith miller brown jones davis wilson taylor moore martin clark".split()
_HOURS = "nine ten eleven twelve one two three four five".split()
_MINUTES = ("", "thirty", "fifteen", "forty five", "o'clock")
_YEARS = [f"{age} {year}" for age in ("nineteen",) for year in (*_TENS[1:], *_TEENS)]
_YEARS += [f"nineteen {tens} {unit}" for tens, unit in product(_TENS[1:], _DIGITS[1:])]
_YEARS += ["two thousand", *(f"two thousand {unit}" for unit in _DIGITS[1:])]

_REST = """
my tooth hurts|i have a toothache|i have pain|it hurts|i need a check up|a check up please|a cleaning
a cleaning please|i would like a cleaning|i want to book an appointment|an appointment please
can i come in|does my insurance pay|it is about my insurance|what about insurance|where are you
what is your address|yes|yes please|please do|book it|yes book it|no|no thank you|that is all
nothing else|bye|goodbye|thank you|thanks bye|never mind thanks|when are you open|which slots are free
is there a free slot|when can i come|send it|please send it|do not send it
""".replace("\n", "|").split("|")


def sentences(clinic: Clinic) -> Mapping[str, Sequence[str]]:
    """Make up what patients may say; the same clinic gives the same sentences."""
    chance = random.Random(1)
    pick = chance.choice
    names = [one.name.casefold() for one in clinic.facts.patients]
    said = [line for line in _REST if line] * 30
    for _ in range(3_000):
        name = pick(names) if chance.random() < 0.3 else f"{pick(_FIRST)} {pick(_LAST)}"
        birth = f"{pick(_MONTHS)} {pick([*_DAYS])} {pick(_YEARS)}"
        number = " ".join(pick(_DIGITS) for _ in range(pick((7, 10, 10, 10))))
        member = " ".join(pick(_DIGITS) for _ in range(4))
        time = f"{pick(_WEEKDAYS)} {pick(('at ', ''))}{pick(_HOURS)} {pick(_MINUTES)}"
        said += [
            f"{pick(('', 'hello '))}{pick(('i am', 'my name is', 'this is'))} {name}"
            f" {pick(('', 'and i was ', 'i was '))}born {pick(('', 'on '))}{birth}",
            pick((f"it is {number}", f"my number is {number}", number)),
            pick((f"{time} please", time, f"on {time}", time)),
            pick((f"it is m {member}", f"m {member}", f"my number is m {member}")),
            pick(("one", "two", "three", "four", "five", "five stars", "a four")),
        ]
    return {"open": said}


def written(text: str) -> str:
    """Write what was said with digits and capitals, as the rules expect it.

    >>> written("i am ada lovelace born december tenth nineteen ninety")
    'i am Ada Lovelace born 1990-12-10'
    >>> written("tuesday at nine thirty"), written("m four four one one"), written("five")
    ('tuesday at 9:30', 'M4411', '5')
    """
    text = text.replace(",", "")
    days, months = "|".join(sorted(_DAYS, key=len, reverse=True)), "|".join(_MONTHS)
    number = "|".join(sorted(_NUMBERS, key=len, reverse=True))
    text = re.sub(rf"\b({months}) ({days})((?: (?:{number}|thousand))+)", _date, text)
    text = re.sub(
        rf"\b({'|'.join(_WEEKDAYS)})( at)? ({number})((?: (?:{number}|o'clock))*)", _time, text
    )
    text = re.sub(
        r"\b(am|is) (?!m\b)([a-z]+) ([a-z]+)(?=.* born)",
        lambda name: f"{name[1]} {name[2].title()} {name[3].title()}",
        text,
    )
    text = re.sub(rf"\bm((?: (?:{number}))+)", lambda one: f"M{_digits(one[1])}", text)
    return re.sub(rf"\b(?:{number})(?: (?:{number}))*\b", lambda one: _digits(one[0]), text)


def _digits(words: str) -> str:
    """Write numbers one after another; a unit after tens belongs to them: "twenty three" is 23."""
    numbers: list[int] = []
    for word in words.split():
        number = _NUMBERS[word]
        if numbers and 0 < number < 10 and numbers[-1] in _WHOLE_TENS:
            numbers[-1] += number
        else:
            numbers.append(number)
    return "".join(map(str, numbers))


def _date(found: re.Match[str]) -> str:
    words = [word for word in found[3].split() if word != "thousand"]
    first, *rest = (_NUMBERS[word] for word in words)
    year = (1000 if "thousand" in found[3] else 100) * first + sum(rest)
    return f"{year}-{_month(found[1]):02}-{_DAYS[found[2]]:02}"


def _time(found: re.Match[str]) -> str:
    minutes = sum(_NUMBERS.get(word, 0) for word in found[4].split())
    return f"{found[1]}{found[2] or ''} {_NUMBERS[found[3]]}:{minutes:02}"


def _month(word: str) -> int:
    numbers: dict[str, int] = {month: number for number, month in enumerate(_MONTHS, start=1)}
    return numbers[word]
