"""Reads questions that are easily mistaken for others: about codes, sizes, choices, and what costs least or most."""

from collections.abc import Sequence

from bella_vista.local.english.talking import pattern, patterns, words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Asked
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.messages.pieces import cut
from bella_vista.local.understanding.statements.subjects import Subjects
from bella_vista.local.understanding.words.tokens import Words, number_at
from state.menu import Menu
from state.menu.words import stem, stems


class Offers:
    """Reads what is asked about codes, sizes, choices and extremes.

    Args:
        menu: The menu.
        names: The menu's names.
        subjects: Finds what a question is about.
    """

    def __init__(self, menu: Menu, names: Names, subjects: Subjects) -> None:
        self._menu = menu
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
        pieces = cut(words, self._names)
        of = [self._menu.dish(name) for piece in pieces for name in piece.dishes]
        sections = {dish.section for dish in of if dish is not None}
        sections = sections or {name for piece in pieces for name in piece.sections}
        subject, _ = self._subjects.find(pieces, things if not sections else ())
        if subject is None:  # "what sizes do the pies come in?", of several
            section = sections.pop() if len(sections) == 1 else None
            return Asked("price", subject=section, aspect="sizes")
        return Asked("price", subject=subject)

    def choices(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read which choices there are: "what sauces do you have", "which sides come with the plate"."""
        ways = map(words.whole, patterns("asks choices"))
        found = next((way for way in ways if way is not None), None)
        if found is None:
            return None
        pieces = cut(words, self._names)
        named = next((piece.dishes for piece in pieces if len(piece.dishes) == 1), ())
        heading = stem(found["group"].split()[-1])
        meant = self._names.meaning(found["group"])
        if meant is not None and meant.dishes and not meant.groups:
            return None  # the pancakes, not their "pancake add-ins"
        other = [piece for piece in pieces if heading not in stems(piece.words)]
        sections = {section for piece in other for section in piece.sections}
        dishes = [d for d in self._menu.dishes if d.name in named or d.section in sections]
        if not dishes and any(piece.sections for piece in pieces):
            return None
        groups = [group for dish in dishes for group in self._menu.groups(dish)]
        all_groups = self._menu.options.values()
        of_it = [one.name for one in groups or all_groups if heading in stems(one.name)]
        any_choices = heading in map(stem, words_of("any choices"))
        if not of_it and any_choices:
            of_it = [group.name for group in groups if not group.least]
        if of_it and (groups or not named):
            dish = named[0] if named else None
            return Asked("menu", subject=found["group"], groups=tuple(of_it), dish=dish)
        known = any_choices or any(heading in stems(one.name) for one in all_groups)
        return Asked("contents", subject=named[0]) if known and named else None


_NEAR = 5
_ASKS_FOR_CODE = (
    *("do you", "is the", "is there", "are there", "have you", "any ", "is my", "what "),
    "does the",
)
