"""Normalizes words for comparison: case, accents, punctuation, singular and plural."""

import re
import unicodedata
from functools import lru_cache

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Signs that are spoken as words; after an elision ("all'arrabbiata") a new word starts.
_SIGNS = (("½", " half "), ("&", " and "), ("%", " percent "), ("+", " plus "), ("×", " x "))
FRACTIONS = {"1/2": "half", "1/4": "quarter", "3/4": "three quarter"}
"""Fractions, and their words."""
_FRACTION = re.compile(r"(?<![\d/])(?:1/2|[13]/4)(?![\d/])")
_ELISION = re.compile(r"(?<=[^\W\d_])['\u2019\u02bc](?=[^\W\d_]{3,})")
_APOSTROPHE = re.compile(r"['\u2019\u02bc`]")
_JOINT = re.compile(r" (?:of|with|in) ")
_TOKEN = re.compile(r"[0-9]+|[^\W0-9_]+")

NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
"""Number words, and their digits."""


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Fold case, remove accents and punctuation, and separate words and numbers by one space.

    >>> fold("  Crème-Brûlée, 0.5l ")
    'creme brulee 0 5 l'
    >>> fold("Penne all'Arrabbiata & chef's salad")
    'penne all arrabbiata and chefs salad'
    >>> fold("1/2 lb")
    'half lb'
    """
    text = _FRACTION.sub(lambda found: f" {FRACTIONS[found[0]]} ", text)
    for sign, word in _SIGNS:
        text = text.replace(sign, word)
    text = unicodedata.normalize("NFKD", text.casefold())
    text = "".join(mark for mark in text if not unicodedata.combining(mark)).translate(_LETTERS)
    text = _APOSTROPHE.sub("", _ELISION.sub(" ", text))
    return " ".join(_TOKEN.findall(text))


@lru_cache(maxsize=8192)
def stems(text: str) -> tuple[str, ...]:
    """Split a text into folded words, with the same form for singular and plural.

    A stem need not be a word.

    >>> stems("Two Cherry Tomatoes") == stems("2 cherries tomato")
    True
    """
    return tuple(stem(word) for word in fold(text).split())


def same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words, in whatever case and number.

    >>> same_words("2 espresso shot", "2 Espresso shots"), same_words("no basil", "basil")
    (True, False)
    """
    return one == other or stems(one) == stems(other)


SPELT_IN_MANY_WAYS = frozenset(
    {"chili", "chilis", "chilies", "chilli", "chillis", "chillies", "chile"}
)
"""One word, however it is spelt; its plurals end like those of another one."""


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the common form of singular and plural of a folded word.

    >>> [stem(word) for word in ("olives", "dishes", "cookies", "cookie", "glass", "peach", "gas")]
    ['olive', 'dish', 'cooky', 'cooky', 'glass', 'peach', 'gas']
    >>> stem("chilies") == stem("chili") == stem("chillies")
    True
    >>> stem("loaves")
    'loaf'
    """
    if word in NUMBERS:
        return NUMBERS[word]
    if word in SPELT_IN_MANY_WAYS:
        return "chili"
    if word == "loaves":
        return "loaf"
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


UNCOUNTED = frozenset(
    """salmon tuna shrimp yellowtail tofu tempeh chicken beef pork lamb mutton turkey duck brisket bacon ham
    pastrami chorizo pepperoni salami prosciutto cheese cheddar mozzarella provolone parmesan feta paneer
    ricotta swiss halloumi boba tapioca rice quinoa corn kale spinach lettuce arugula cabbage kimchi basil
    cilantro coriander garlic ginger guacamole guac salsa hummus tahini butter cream milk honey ketchup
    mustard mayo mayonnaise ranch bbq sriracha teriyaki gravy nutella chocolate caramel vanilla matcha ube
    sesame coconut granola whey oatmeal bread toast popcorn fish seafood crab calamari sour raita slaw
    coleslaw soy wasabi""".split()
)
"""Foods of which a portion is counted by the name alone: "2 salmon"."""


def plural(name: str) -> str:
    """Return the plural of a name.

    >>> [plural(name) for name in ("espresso shot", "scoop of vanilla", "cherry", "peach", "fries")]
    ['espresso shots', 'scoops of vanilla', 'cherries', 'peaches', 'fries']
    >>> [plural(name) for name in ("salmon", "sweet and sour", "Butter chicken")]
    ['salmon', 'sweet and sour', 'Butter chicken']
    """
    joint = _JOINT.search(name)
    head, rest = (name[: joint.start()], name[joint.start() :]) if joint else (name, "")
    lower = head.casefold()
    if lower.split()[-1:] and lower.split()[-1] in UNCOUNTED:
        several = head
    elif lower.endswith("s") and not lower.endswith(("ss", "us")):
        several = head
    elif lower.endswith("y") and len(head) > 1 and lower[-2] not in "aeiou":
        several = head[:-1] + "ies"
    elif lower.endswith(("s", "x", "z", "ch", "sh")) or lower in ("tomato", "potato"):
        several = head + "es"
    else:
        several = head + "s"
    return several + rest
