"""Words made comparable: without case, accents, punctuation and number."""

import re
import unicodedata
from functools import lru_cache

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Signs that are said as words; what follows an elision ("all'arrabbiata") is a word of its own.
_SIGNS = (("½", " half "), ("&", " and "), ("%", " percent "), ("+", " plus "), ("×", " x "))
_ELISION = re.compile(r"(?<=[^\W\d_])['\u2019\u02bc](?=[^\W\d_]{3,})")
_APOSTROPHE = re.compile(r"['\u2019\u02bc`]")
_JOINT = re.compile(r" (?:of|with|in) ")
_TOKEN = re.compile(r"[0-9]+|[^\W0-9_]+")

NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
            *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
            *("seventeen", "eighteen", "nineteen", "twenty"),
        )
    )
}
"""Numbers as they are said, and as digits."""


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Lower the case, drop accents and punctuation, and keep words and numbers apart by one space.

    >>> fold("  Crème-Brûlée, 0.5l ")
    'creme brulee 0 5 l'
    >>> fold("Penne all'Arrabbiata & chef's salad")
    'penne all arrabbiata and chefs salad'
    """
    for sign, word in _SIGNS:
        text = text.replace(sign, word)
    text = unicodedata.normalize("NFKD", text.casefold())
    text = "".join(mark for mark in text if not unicodedata.combining(mark)).translate(_LETTERS)
    text = _APOSTROPHE.sub("", _ELISION.sub(" ", text))
    return " ".join(_TOKEN.findall(text))


@lru_cache(maxsize=8192)
def stems(text: str) -> tuple[str, ...]:
    """Split a text into folded words of which singular and plural are the same.

    A stem need not be a word: it only has to be the same for both.

    >>> stems("Two Cherry Tomatoes") == stems("2 cherries tomato")
    True
    """
    return tuple(stem(word) for word in fold(text).split())


def stem(word: str) -> str:
    """Return what singular and plural of a folded word have in common.

    >>> [stem(word) for word in ("olives", "dishes", "cookies", "cookie", "glass", "peach", "gas")]
    ['olive', 'dish', 'cooky', 'cooky', 'glass', 'peach', 'gas']
    """
    if word in NUMBERS:
        return NUMBERS[word]
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ss"):
        return word
    if word.endswith("oes"):
        return word[:-2]
    if word.endswith("s"):
        word = word[:-1]
    if word.endswith("ie") and len(word) > 3:
        return word[:-2] + "y"
    if word.endswith(("che", "she", "se", "xe", "ze")):
        return word[:-1]
    return word


def plural(name: str) -> str:
    """Say several of something.

    >>> [plural(name) for name in ("espresso shot", "scoop of vanilla", "cherry", "peach", "fries")]
    ['espresso shots', 'scoops of vanilla', 'cherries', 'peaches', 'fries']
    """
    joint = _JOINT.search(name)
    head, rest = (name[: joint.start()], name[joint.start() :]) if joint else (name, "")
    lower = head.casefold()
    if lower.endswith("s") and not lower.endswith(("ss", "us")):
        several = head
    elif lower.endswith("y") and len(head) > 1 and lower[-2] not in "aeiou":
        several = head[:-1] + "ies"
    elif lower.endswith(("s", "x", "z", "ch", "sh")) or lower in ("tomato", "potato"):
        several = head + "es"
    else:
        several = head + "s"
    return several + rest
