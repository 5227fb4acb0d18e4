"""The English words that guests use around the names on a menu: amounts, halves, counts, fillers.

Every key is normalized by ``stems``, so number, accents and case do not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from state.language.lists import listed
from state.menu.model import EXTRA, LIGHT, NO, ON_THE_SIDE, Portion
from state.menu.words import stem, stems

MarkKind = Literal["amount", "portion", "count", "add", "filler", "off", "take", "free"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The meaning of a word or phrase next to a name.

    Args:
        kind: ``add`` asks for it, ``filler`` has no meaning; ``take`` needs ``off``: "leave the olives off";
            ``free`` follows the name.
        amount: ``no``, ``light``, ``extra`` or ``on the side``.
        times: The factor of words like "double".
        exact: The group's own name for the amount.
    """

    kind: MarkKind
    amount: str | None = None
    portion: Portion | None = None
    times: int = 1
    exact: str = ""


def _phrases(mark: Mark, phrases: str) -> dict[tuple[str, ...], Mark]:
    return {stems(phrase): mark for phrase in listed(phrases)}


MARKS: Mapping[tuple[str, ...], Mark] = {
    **_phrases(
        Mark("add"),
        """
        with, add, added, adding, plus, also, put, throw, include, keep, including, have, having,
        has, get, give, want, like, would like, take, choose, use, sub, substitute, switch to,
        change to, swap in, go with, make it, instead, please add, throw in, put in, put on
        """,
    ),
    **_phrases(
        Mark("filler"),
        """
        a, an, the, some, any, of, it, its, my, our, this, that, and, make, made, used, on, in,
        on top, on it, in it, as, well, too, just, but, for, i, id, we, wed, you, me, us, him, her,
        them, would, can, could, will, should, please, thanks, then, so, be, is, are, to, going, do,
        style, s, version, um, uh, maybe, actually, really, there, were, comes, come, side of,
        a side of, portion, serving, side order, pump, slice, piece, scoop, drizzle, all over,
        on the whole thing
        """,
    ),
    **_phrases(
        Mark("amount", amount=NO),
        """
        no, without, w/o, hold, skip, minus, remove, omit, sans, drop, lose, except, excluding, not,
        zero, none of, no more, no added, leave off, leave out, leaving off, leaving out, take off,
        take out, cut out, get rid of, rid of, hold back on, hold off on, nix, ditch, don't want,
        do not want, don't put, do not put, don't add, do not add, don't like, don't need,
        doesn't want, don't include, can't have, cannot have, instead of, rather than, in place of,
        any more, without any, no extra, not any, but not, but no, allergic to, delete
        """,
    ),
    **_phrases(
        Mark("amount", amount=LIGHT),
        """
        light, lightly, light on, go light on, easy, easy on, go easy on, go easy, less, fewer,
        little, a little, just a little, a little bit, a bit, a bit of, a little bit of,
        only a little, a touch, a touch of, a hint of, a dash of, a splash of, a pinch of,
        a tiny bit of, small amount, not much, not too much, not so much, not many, not too many,
        not a lot, not a lot of, only a bit of, just a bit of, just a touch of, reduced, half the,
        half the amount of, half as much, lighter, lighter on, thin on
        """,
    ),
    **_phrases(
        Mark("amount", amount=EXTRA),
        """
        extra, more, additional, heavy, heavy on, go heavy on, plenty of, lots of, a lot of,
        loads of, tons of, much, a lot more, some more, an extra, extra portion of, more of,
        bit more, a bit more, lot more, a little more, a little extra, a bit extra, generous,
        load up on, extra extra, heaps of, an additional, another
        """,
    ),
    **_phrases(Mark("amount", amount=EXTRA, times=2), "double, twice, twice the, double the"),
    **_phrases(Mark("amount", amount=EXTRA, times=3), "triple, triple the"),
    **_phrases(Mark("amount", amount=EXTRA, times=4), "quadruple, quad"),
    **_phrases(
        Mark("amount", amount=ON_THE_SIDE),
        """
        on the side, on side, to the side, at the side, by the side, on a side, separate,
        separately, apart, in a cup, in a separate cup, in a separate container, not mixed in
        """,
    ),
    **_phrases(
        Mark("portion", portion="half"),
        """
        half, one half, a half, on half, on half of it, on one half, half of it, on the one half,
        on one half of it, first half, the first half, half with, left half, left side, on the left,
        left, one side, on one side, on the left side, on the left half, on the first half,
        half of the, half on, half and, on a half, for half, for one half
        """,
    ),
    **_phrases(
        Mark("portion", portion="other half"),
        """
        other half, the other half, on the other half, second half, right half, on the second half,
        right side, on the right, right, other side, on the other side, on the right half,
        on the right side, for the other half, on other half, half other, on the other
        """,
    ),
    **_phrases(Mark("count", times=2), "couple, couple of, pair, pair of"),
    **_phrases(Mark("count", times=1), "single, solo"),
    **_phrases(Mark("count", times=6), "half a dozen, half dozen"),
    **_phrases(Mark("count", times=12), "dozen, a dozen"),
    **_phrases(Mark("off"), "off, out, off of it, off it, removed, left off, left out"),
    **_phrases(Mark("take"), "leave, leaving"),
    **_phrases(Mark("free"), "free"),
}
"""The words and phrases next to names, by their stems."""

LONGEST_MARK = max(len(phrase) for phrase in MARKS)

JOINTS = frozenset({"and", "with", "plus", "but", "or", "nor", "also", "then"})
"""Words between two modifications in one phrase."""

TIMES = frozenset({"x", "time"})
"""Words that mark a number as a count: "3x", "three times"."""

_SAME = (
    ("eggplant", "aubergine"),
    ("zucchini", "courgette"),
    ("arugula", "rocket", "rucola", "rughetta"),
    ("shrimp", "prawn"),
    ("cilantro", "coriander"),
    ("pickle", "gherkin"),
    ("mayonnaise", "mayo"),
    ("ketchup", "catsup"),
    ("scallion", "spring onion", "green onion"),
    ("bell pepper", "capsicum"),
    ("chickpea", "garbanzo"),
    ("parmesan", "parmigiano", "parmigiano reggiano"),
    ("chili", "chilli", "chile"),
    ("yogurt", "yoghurt"),
    ("doughnut", "donut"),
    ("hamburger", "burger"),
    ("soda", "pop"),
    ("fries", "french fries"),
    ("gluten free", "glutenfree", "gf"),
    ("barbecue", "bbq", "barbeque"),
    ("decaf", "decaffeinated"),
    ("whiskey", "whisky"),
    ("sparkling", "fizzy", "carbonated", "gas"),
)

SAME: Mapping[tuple[str, ...], tuple[str, ...]] = {
    stems(word): stems(words[0]) for words in _SAME for word in words[1:]
}
"""Synonyms for the same food, each with its canonical word."""

KINDS: Mapping[str, frozenset[str]] = {
    stem("cheese"): frozenset(
        stem(cheese)
        for cheese in listed("""
            mozzarella, parmesan, parmigiano, cheddar, provolone, gorgonzola, ricotta, pecorino,
            feta, halloumi, gouda, gruyere, brie, swiss, burrata, fontina, asiago, mascarpone,
            emmental, taleggio, scamorza, paneer, queso, manchego, edam, camembert, stracchino,
            grana
            """)
    ),
}
"""General words, and the specific ones they may mean on a dish: "extra cheese"."""

DISH_WORDS = frozenset(
    stem(word)
    for word in listed("""
        bread, cake, cream, pie, salad, sandwich, sauce, soup, roll, rolls, wrap, burger, juice,
        tea, coffee, water, beer, wine, rings, wings, tart, mousse, toast, rice, noodles, stew,
        curry, platter, plate, bowl, skewer, sticks, bites, fries, chips, cookie, muffin, shake,
        smoothie, sorbet, pudding, lemonade, soda, dip, balls, fingers
        """)
)
"""Last words of dish names that say what the dish is; the words before only say of which kind."""

EMPTY = frozenset(
    stem(word)
    for word in listed("""
        a, an, the, of, some, and, with, please, our, your, my, any, al, alla, allo, alle, ai, all,
        di, del, della, dell, d, l, la, le, il, con, e, de, du, des, en, mit, und, n, in, for,
        style, on, that, this, those, these, el, los, las, y, et, au, aux
        """)
)
"""Words without meaning for finding a dish."""

ASKING = frozenset(
    stem(word)
    for word in listed("""
        what, which, something, anything, do, does, you, have, got, is, are, there, can, could, get,
        i, me, us, we, want, like, would, dish, show, tell, about, it, them, option, options, kind,
        kinds, sort, sorts, any, serve, menu, eat, to, other, one, ones, food, contains, containing,
        contain, made, from, be, s, at, all, recommend, thing
        """)
)
"""Words of a question without meaning for a search."""

USUAL_SIZE = frozenset({"regular", "normal", "standard", "usual", "ordinary", "default"})
"""Words for the size that every dish has."""

SIZE_WORDS: Mapping[str, tuple[str, ...]] = {
    "large": ("big", "bigger", "larger", "grande", "lg", "l"),
    "small": ("little", "smaller", "sm", "s"),
    "medium": ("mid", "middle", "med", "m", "regular", "normal"),
}
"""Synonyms for the usual sizes, unless the menu defines them."""


def same(words: tuple[str, ...]) -> tuple[str, ...]:
    """Replace synonyms for a food by its canonical word.

    >>> same(stems("rocket and aubergine"))
    ('arugula', 'and', 'eggplant')
    """
    result: list[str] = []
    at = 0
    while at < len(words):
        for length in (2, 1):
            known = SAME.get(words[at : at + length])
            if known is not None:
                result.extend(known)
                at += length
                break
        else:
            result.append(words[at])
            at += 1
    return tuple(result)
