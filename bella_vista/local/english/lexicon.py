"""English words, by what they do in an order. All are folded: lower case, no apostrophes."""

from bella_vista.local.english import fillers
from bella_vista.local.english.numbers import ORDINALS

# What a phrase does inside an order; the longest phrase wins.
NEG, WITH, PLUS, AND, OR, BUT = "neg", "with", "plus", "and", "or", "but"
AMOUNT, SIDE, HALF, OTHER_HALF, PLAIN = "amount", "side", "half", "other half", "plain"
REST, OTHER, THEM, ALL, EACH = "rest", "other", "them", "all", "each"
PRONOUN, ORDINAL, MORE, SAME, ONLY = "pronoun", "ordinal", "more", "same", "only"
ARTICLE, THE, FEW, OF, FOR, ON, TO = "article", "the", "few", "of", "for", "on", "to"
INSTEAD, SORRY, OFF, FILLER, SHOULD = "instead", "sorry", "off", "filler", "should"
TAKE, MAKE, SWAP, DROP = "take", "make", "swap", "drop"

_PHRASES: dict[str, tuple[str, ...]] = {
    NEG: (
        *("without", "no", "minus", "hold", "hold the", "skip", "skip the", "without any"),
        *(
            "without the",
            "with no",
            "but no",
            "sans",
            "senza",
            "ohne",
            "sin",
            "not with",
            "free of",
            "please no",
            "omit",
        ),
        *("there is no", "w o", "no more", "and no", "without no", "except", "except for"),
        *(
            "everything but",
            "all but",
            "everything except",
            "except the",
            "apart from",
            "excluding",
        ),
    ),
    WITH: (
        *(
            "with",
            "w",
            "topped with",
            "including",
            "that has",
            "that have",
            "which has",
            "along with",
        ),
        *("made with", "and with", "with the", "but with", "having", "containing", "with some"),
        *(
            "using",
            "with a bit of",
            "on top",
            "mit",
            "on a",
            "on an",
            "with a side of",
            "with my",
            "con",
            "avec",
        ),
    ),
    PLUS: ("plus",),
    AND: (
        *("and", "n", "as well as", "together with", "also", "then", "und", "followed by", "next"),
        *(
            "and also",
            "and then",
            "and maybe",
            "and finally",
            "finally",
            "and lastly",
        ),
    ),
    OR: ("or", "nor", "or maybe", "or else"),
    BUT: ("but", "only that"),
    AMOUNT: (
        *("extra", "double", "triple", "more", "lots of", "a lot of", "plenty of", "additional"),
        *(
            "loads of",
            "tons of",
            "heavy on",
            "heavy on the",
            "a lot more",
            "an extra",
            "extra extra",
        ),
        *("light", "lite", "less", "easy on", "easy on the", "go easy on", "go easy on the"),
        *("light on", "light on the", "just a little", "a little", "a bit of", "a little bit of"),
        *("not too much", "not much", "not so much", "not too many", "a touch of", "quadruple"),
        *("twice the", "an additional", "one extra"),
    ),
    SIDE: (
        "on the side",
        "on side",
        "at the side",
        "to the side",
        "separately",
        "in a separate cup",
    ),
    HALF: (
        *("half", "one half", "on half", "on one half", "on half of it", "half of it"),
        *("half and half", "half with", "on one side", "one side", "the first half", "first half"),
        *("on the first half", "on the one half", "left half", "on the left half", "on a half"),
        *("on one half of it", "half of the pizza", "on half of the pizza"),
    ),
    OTHER_HALF: (
        *("other half", "the other half", "on the other half", "other half with", "second half"),
        *("the other half with", "on the second half", "on the other side", "right half"),
        *(
            "on the right half",
            "the other side",
            "the second half",
            "on other half",
            "on the other",
        ),
    ),
    PLAIN: (
        *(
            "plain",
            "normal",
            "standard",
            "as is",
            "as it is",
            "as it comes",
            "just plain",
            "just normal",
        ),
        *(
            "with nothing on it",
            "with nothing",
            "as they are",
            "as they come",
            "no changes",
            "regular",
        ),
        *(
            "with everything",
            "with everything on it",
            "nothing extra",
            "nothing special",
            "the usual way",
        ),
        *("the normal way", "ordinary"),
    ),
    REST: (
        "the rest",
        "the others",
        "the remaining",
        "the other ones",
        "the remaining ones",
        "rest",
    ),
    OTHER: ("the other", "the other one", "other one", "other"),
    THEM: (
        *(
            "of them",
            "of those",
            "of these",
            "of which",
            "of the two",
            "of the three",
            "of the four",
        ),
        *("of em", "of the lot", "of it", "of that", "of mine", "of the five", "of the six"),
    ),
    ALL: (
        *("all", "both", "all of them", "all of those", "both of them", "everything", "all of it"),
        *("every one", "every one of them", "any of them", "either of them", "each of them"),
        *("all two", "all three", "all four", "all five", "them all", "the lot", "all of these"),
        *(
            "both of those",
            "both ones",
            "all the",
            "the whole thing",
            "neither",
            "neither of them",
            "either",
            "any of these",
        ),
    ),
    EACH: ("each", "apiece", "a piece", "each one"),
    PRONOUN: (
        *("it", "that", "this", "them", "those", "these", "one", "ones", "that one", "this one"),
        *(
            "the one",
            "those ones",
            "these ones",
            "that item",
            "item",
            "items",
            "the item",
            "em",
            "the thing",
        ),
    ),
    MORE: ("another", "another one", "one more", "again", "one more of", "another of"),
    SAME: (
        *(
            "same",
            "the same",
            "same again",
            "the same again",
            "same thing",
            "the same thing",
            "ditto",
        ),
        *(
            "the same thing again",
            "same as before",
            "the same as before",
            "the same one",
            "same one",
        ),
        *(
            "one more of the same",
            "another of the same",
            "the same order",
            "the same as that",
            "same thing again",
        ),
    ),
    ARTICLE: ("a", "an", "some", "any", "ein", "eine", "einen", "un", "una", "une"),
    THE: ("the", "my", "our", "his", "her", "their"),
    FEW: ("a few", "few", "several", "a bunch of", "many", "a number of"),
    OF: ("of", "out of"),
    FOR: ("for",),
    ON: ("on", "on top of", "onto", "into", "in", "from"),
    TO: ("to", "for a", "for an", "by"),
    INSTEAD: ("instead of", "in place of", "rather than", "in lieu of", "and not", "not"),
    ONLY: ("only", "just", "just the", "only the", "instead", "after all", "anymore", "any more"),
    OFF: ("off", "away", "out", "off it", "off that", "off the order", "off my order", "out of it"),
    SHOULD: (
        *("should be", "should have been", "ought to be", "has to be", "needs to be", "must be"),
        *("is supposed to be", "was supposed to be", "were supposed to be", "was meant to be"),
        *("was to be", "are supposed to be", "have to be", "need to be", "supposed to be"),
    ),
    SORRY: (
        *("sorry", "i mean", "i meant", "make that", "actually", "rather", "wait", "scratch that"),
        *(
            "correction",
            "or rather",
            "no wait",
            "no sorry",
            "no make that",
            "i meant to say",
        ),
        *(
            "my mistake",
            "no actually",
            "sorry i meant",
            "sorry i mean",
            "oops",
            "no no",
        ),
        *(
            "sorry make that",
            "hang on",
            "hold on",
            "on second thought",
            "on second thoughts",
            "my bad",
        ),
        *("no i mean", "no i meant", "strike that", "or actually", "actually make that", "oh wait"),
        *(
            "well actually",
            "wait make that",
            "no wait make that",
            "sorry actually",
            "actually sorry",
        ),
        *("no rather", "i changed my mind", "changed my mind", "i have changed my mind", "better"),
        *(
            "wait actually",
            "actually wait",
            "no sorry i meant",
            "no hang on",
            "i said",
            "i ordered",
            "i asked for",
            "i wanted",
        ),
    ),
    FILLER: fillers.PHRASES,
}


def _phrases() -> dict[str, str]:
    found: dict[str, str] = {}
    # What stands later gives way to what stands earlier: "also" is first of all a joint.
    for tag, phrases in _PHRASES.items():
        for phrase in phrases:
            found.setdefault(phrase, tag)
    for word in ORDINALS:
        found[word] = ORDINAL
        found[f"the {word}"] = ORDINAL
    return found


PHRASES: dict[str, str] = _phrases()
"""Each phrase and what it does."""

LONGEST_PHRASE = max(len(phrase.split()) for phrase in PHRASES)

_LIGHT = ("light", "lite", "less", "easy", "not", "little", "bit", "touch")


def amount(phrase: str) -> str:
    """Return the plain word for an amount.

    >>> [amount(phrase) for phrase in ("lots of", "go easy on the", "double")]
    ['extra', 'light', 'double']
    """
    words = phrase.split()
    if words[0] in ("double", "triple"):
        return words[0]
    light = any(word in _LIGHT for word in words) and "lot" not in words
    return "light" if light else "extra"
