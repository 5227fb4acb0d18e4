"""English words by what they are: foods, common words, and words that only say how something is."""

from bella_vista.local.english import lexicon, numbers
from bella_vista.local.english.talking import phrases_of, words_of
from state.menu.words import stem

_IN = "words"
"""The file they stand in, with what each block is."""

FUNCTION_WORDS = words_of("function", _IN) | {
    word
    for phrase, does in lexicon.PHRASES.items()
    if does != lexicon.FILLER
    for word in phrase.split()
}
ADJECTIVES = words_of("adjectives", _IN)
VARIANTS = words_of("variants", _IN)
JOINTS = words_of("joints", _IN)
FOODS = words_of("foods", _IN)
EVERYDAY = words_of("everyday", _IN)
OFTEN_MISSPELT = sorted(words_of("misspelt", _IN))
COMPOUNDS = phrases_of("compounds", _IN)
VESSELS = words_of("vessels", _IN)
DRINKS = words_of("drinks", _IN)
SANDWICHES = phrases_of("sandwiches", _IN)
COMMON = (
    FOODS
    | words_of("common", _IN)
    | {word for phrase in lexicon.PHRASES for word in phrase.split()}
    | {*numbers.UNITS, *numbers.TENS, *numbers.ORDINALS}
)
"""Common words, which are never taken for misspellings."""

_COMMON_STEMS = frozenset(stem(word) for word in COMMON)
_FOOD_STEMS = frozenset(stem(word) for word in FOODS)
_ENDINGS = ("ing", "ed", "er", "est", "ly", "s", "es", "d", "r", "ers", "y", "less", "ness")


def is_common(word: str) -> bool:
    """Whether a word is common, also in its other forms.

    >>> is_common("speaking"), is_common("paying"), is_common("tirimasu")
    (True, True, False)
    """
    if word in COMMON or word in EVERYDAY or stem(word) in _COMMON_STEMS:
        return True
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        if root == word or root in FUNCTION_WORDS:
            continue  # "buter" is no form of "but"
        if len(root) < 3:
            continue
        roots = {root, f"{root}e"} | ({root[:-1]} if root[-1] == root[-2] else set())
        if any(one in COMMON or one in EVERYDAY for one in roots):
            return True
    return False


def is_food(word: str) -> bool:
    """Whether a word is a common food or drink, in singular or plural.

    >>> is_food("mushrooms"), is_food("spoon")
    (True, False)
    """
    return word in FOODS or stem(word) in _FOOD_STEMS
