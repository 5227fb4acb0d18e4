"""English numbers: counting words, and the words that say which of several."""

UNITS = {
    word: number
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
            *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
            *("seventeen", "eighteen", "nineteen"),
        )
    )
}
TENS = {
    word: 10 * number
    for number, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
COUNTS = {
    "a dozen": 12,
    "one dozen": 12,
    "half a dozen": 6,
    "half dozen": 6,
    "a half dozen": 6,
    "a couple": 2,
    "a couple of": 2,
    "couple of": 2,
    "a pair of": 2,
    "pair of": 2,
    "a hundred": 100,
    "a thousand": 1000,
    "dozen of": 12,
    "dozen": 12,
}
"""Numbers of several words that are not built like others."""

BEGINNINGS = frozenset((*UNITS, *TENS, *(words.split()[0] for words in COUNTS)))
"""The words that a number may begin with, unless it is written in digits."""

ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "fifth": 5,
    "5th": 5,
    "sixth": 6,
    "former": 1,
    "last": -1,
    "latter": -1,
    "latest": -1,
}
