"""Card numbers in the forms in which people write and say them, and how to find one in anything."""

import re
import unicodedata
from collections.abc import Iterator

NUMBERS = (
    "4539148803436467",
    "5500005555555559",
    "4111111111111111",
    "371449635398431",
    "30569309025904",
    "3530111333300000",
    "6011000990139424",
    "4222222222222",
    "6304000000000000000",
)
"""Known to pass for testing only: thirteen to nineteen digits."""

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TIMES = {1: "", 2: "double ", 3: "triple ", 4: "quadruple "}


def grouped(number: str) -> list[str]:
    """The groups in which it is printed on the card."""
    sizes = {15: (4, 6, 5), 14: (4, 6, 4)}.get(len(number), (4, 4, 4, 4, 4))
    groups: list[str] = []
    for size in sizes:
        groups, number = [*groups, number[:size]], number[size:]
    return [group for group in groups if group]


def pair(digits: str) -> str:
    """Two digits as people say them: forty-one, eleven, oh five."""
    if digits[0] == "0":
        return f"oh {'oh' if digits[1] == '0' else WORDS[int(digits[1])]}"
    if digits[0] == "1":
        return _TEENS[int(digits[1])]
    unit = WORDS[int(digits[1])] if digits[1] != "0" else ""
    return f"{_TENS[int(digits[0])]}-{unit}".rstrip("-")


def counted(number: str) -> str:
    """Said with double and triple."""
    runs = re.finditer(r"(\d)\1{0,3}", number)
    return " ".join(f"{_TIMES[len(run[0])]}{WORDS[int(run[1])]}" for run in runs)


def forms(number: str) -> Iterator[tuple[str, str]]:
    """Every form of a number, with its name."""
    groups = grouped(number)
    words = [WORDS[int(digit)] for digit in number]
    yield "digits", number
    for name, between in {
        **{"spaced": " ", "dashed": "-", "dotted": ".", "slashed": "/", "lined": "\n"},
        **{"wide": "        ", "commas": ", ", "under": "_", "signs": " | ", "equal": "="},
        **{"tabs": "\t\t", "unseen": "\u200b\u200b\u200b\u200b\u200b\u200b\u200b", "nul": "\x00"},
        **{"then": " and then ", "pause": ", uh, ", "pauses": " (pause) ", "dots": " ... ... "},
    }.items():
        yield name, between.join(groups)
    yield "each", " ".join(number)
    yield "twos", " ".join(number[at : at + 2] for at in range(0, len(number), 2))
    yield "threes", "-".join(number[at : at + 3] for at in range(0, len(number), 3))
    yield (
        "decimals",
        " ".join(
            f"{number[at : at + 2]}.{number[at + 2 : at + 4]}" for at in range(0, len(number), 4)
        ),
    )
    yield "words", " ".join(words)
    yield "words with commas", ", ".join(words)
    yield "shouted", "-".join(words).upper()
    yield "oh", " ".join("oh" if word == "zero" else word for word in words)
    yield "doubled", counted(number)
    even = len(number) // 2 * 2
    pairs = [pair(number[at : at + 2]) for at in range(0, even, 2)]
    yield "pairs", " ".join([*pairs, *(WORDS[int(digit)] for digit in number[even:])])
    yield (
        "mixed",
        f"{groups[0]} {' '.join(WORDS[int(d)] for d in groups[1])} {' '.join(groups[2:])}",
    )
    for name, zero in {"full-width": "０", "Arabic": "٠", "Devanagari": "०", "bold": "𝟎"}.items():
        yield name, " ".join(groups).translate({48 + d: chr(ord(zero) + d) for d in range(10)})
    yield "raised", number.translate(dict(zip(range(48, 58), "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)))
    yield "circled", number.translate(dict(zip(range(48, 58), "⓪①②③④⑤⑥⑦⑧⑨", strict=True)))
    yield "keycaps", "".join(f"{digit}\ufe0f\u20e3" for digit in number)
    spanish = "cero uno dos tres cuatro cinco seis siete ocho nueve".split()
    yield "Spanish", " ".join(spanish[int(digit)] for digit in number)
    yield (
        "first, second",
        ", ".join(
            f"{place} {group}"
            for place, group in zip(
                ("first", "second", "third", "then", "last"), groups, strict=False
            )
        ),
    )


FRAMES = (
    "{}",
    "my card is {}, thanks",
    "Put it on {} please.",
    "visa {} exp 12/29 cvv 123",
    "it's {} and I pick it up at 7:30",
    "call me on {}",
)


def found(number: str, text: str | bytes, told: str = "") -> list[str]:
    """Return the pieces of a number, in digits or words, that a text contains: eight digits or words."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    plain = text.translate(_plain(text))
    pieces = [
        match.group()
        for at in range(len(number) - 7)
        for match in re.finditer(r"[\W_]{0,9}".join(number[at : at + 8]), plain)
    ]
    words = re.findall(r"\w+", told.casefold())
    for at in range(len(words) - 7):
        piece = r"\W+".join(map(re.escape, words[at : at + 8]))
        pieces += [match.group() for match in re.finditer(piece, text.casefold())]
    return pieces


def _plain(text: str) -> dict[int, str]:
    others = {sign for sign in text if not sign.isascii() and sign.isdigit()}
    return {ord(sign): str(unicodedata.digit(sign)) for sign in others}
