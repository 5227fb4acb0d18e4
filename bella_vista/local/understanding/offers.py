"""Reads questions that are easily mistaken for others: about codes, sizes, and what costs least or most."""

from collections.abc import Sequence

from bella_vista.local.english.talking import pattern
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Asked
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.pieces import cut
from bella_vista.local.understanding.subjects import Subjects
from bella_vista.local.understanding.tokens import Words, number_at


class Offers:
    """Reads what is asked about codes, sizes and extremes.

    Args:
        names: The menu's names.
        subjects: Finds what a question is about.
    """

    def __init__(self, names: Names, subjects: Subjects) -> None:
        self._names = names
        self._subjects = subjects

    def coupon(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read whether there is a code: "do you have the code SPRING", "any discounts?"."""
        found = words.find(pattern("asks code"))
        asks = words.said.startswith(_ASKS_FOR_CODE)
        if found is None or not asks or "gift" in words.said or "dress" in words.said:
            return None
        typed = words.typed(found.last, found.last + 3).split(" ")[0].strip(" .,:!?")
        named = len(typed) > 2 and (typed.isupper() or any(map(str.isdigit, typed)))
        return Asked("facts", subject="coupons", words=typed if named else None)

    def extreme(self, words: Words, section: str | None) -> Asked | None:
        """Read what costs least, most or less than so much, of all or of one section."""
        under = words.find(pattern("asks under"))
        most = number_at(words.tokens, under.last) if under is not None else None
        if most is not None:
            return Asked("price", subject=section, words=str(most[0]), aspect="under")
        found = words.find(pattern("asks extreme"))
        if found is None:
            return None
        which = "cheapest" if found.match["low"] else "dearest"
        return Asked("price", subject=section, words=which)

    def names_extreme(self, words: Words) -> bool:
        """Whether "the cheapest pizza" is wanted: they have to be told first which that is."""
        found = words.find(pattern("asks extreme"))
        if found is None or found.first > _NEAR:
            return False
        return not any(piece.dishes for piece in cut(words.part(0, found.first), self._names))

    def sizes(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read which sizes a dish comes in: they are told with their prices."""
        if words.find(pattern("asks sizes")) is None:
            return None
        subject, _ = self._subjects.find(cut(words, self._names), things)
        return Asked("price", subject=subject)


_NEAR = 5
_ASKS_FOR_CODE = (
    *("do you", "is the", "is there", "are there", "have you", "any ", "is my", "what "),
    "does the",
)
