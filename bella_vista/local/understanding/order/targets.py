"""Finds the things on an order that are meant: by their name, by how they are, or by pointing at them."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.order.matching import USUAL
from bella_vista.local.understanding.order.outcome import NOT_THERE, OTHER, Outcome
from bella_vista.local.understanding.readings.said import Said

_EVERY = ("all", "whole", "neither")
_TAKING = ("remove", "instead-of")


def targets(outcome: Outcome, said: Said) -> list[Item]:
    """Return the things that are meant; none when there are none."""
    things = outcome.things
    tells = said.become is not None or said.verb in _TAKING
    if said.lines:
        items = outcome.of_lines(said)
    elif said.head is not None:
        items = outcome.matcher.named(said.mask, things)
        items = _described(outcome, said, items) if items and tells and said.verb else items
        tells_size = said.definite or said.denied or said.verb in _TAKING
        if len(items) > 1 and tells_size and said.size is not None:
            items = sized(outcome, items, said.size.words) or items
    elif said.ref:
        items = _pointed_at(outcome, said, things, tells)
    else:
        last = [outcome.last] if outcome.last is not None else []
        if said.size is not None and said.verb in _TAKING:
            last = sized(outcome, things, said.size.words)  # "forget the footlong"
        items = outcome.matcher.made_with(things, said.options) if said.options else last
        if not items and said.verb == "change":
            able = [item for item in things if outcome.matcher.able(item, said)]
            items = last if last and last[0] in able else able[-1:] or last
        source = last[0].source if last else None
        # "one with ham, one with egg, the third ..."
        if source is not None and said.ordinal is not None:
            items = [*(item for item in things if item.source is source), source]
    about = said.become if said.become is not None else said
    if about.replaced and said.head is None and not said.lines:
        having = outcome.matcher.made_with(things, about.replaced)  # "make his hot instead of mild"
        if having and not any(item in having for item in items):
            items = having[-1:]
    if said.ordinal == 1 and len(items) == 1 and items[0] is not things[0]:
        return []  # "the first sandwich" may be one that the menu calls otherwise
    return counted_off(said, items) if said.ordinal is not None else items


def several(said: Said, items: Sequence[Item]) -> bool:
    """Whether only one of several is meant, and it was not said which."""
    if len(items) < 2 or said.ref in ("all", "whole", "them", "rest", "having"):
        return False
    return not said.plural or said.count is not None


def sized(outcome: Outcome, items: Sequence[Item], size: str) -> list[Item]:
    """Return the things of some size."""
    return [one for one in items if one.size and outcome.kitchen.size(one.name, size) == one.size]


def _described(outcome: Outcome, said: Said, items: list[Item]) -> list[Item]:
    """Keep the things that are as it is said, where any are."""
    made = outcome.matcher.described(items, said.options) if said.options else []
    if made and (len(made) < len(items) or outcome.matcher.made_with(items, said.options)):
        items = made
        said.options = []
    if said.size is not None:
        so_large = sized(outcome, items, said.size.words)
        outcome.penalty += 0.0 if so_large else NOT_THERE / 2
        items = so_large or items
    return ([item for item in items if not item.changes] or items) if said.plain else items


def _pointed_at(outcome: Outcome, said: Said, things: list[Item], tells: bool) -> list[Item]:
    items = things
    every = said.ref in _EVERY and said.verb == "remove"
    if said.ref == "having" or (every and said.options):
        found = outcome.matcher.having(things, said.options)
        said.options = [] if found else said.options
        return found
    if tells and said.options and said.ref != "it":
        items = outcome.matcher.described(things, said.options)
        if said.ref == "one" and said.definite and not items:
            items = _other_one(outcome)
        if items:
            said.options = []
        elif said.ref == "one":
            return []
        items = items or things
    if tells and said.size is not None:
        so_large = sized(outcome, items, said.size.words)
        usual = said.size.words in USUAL and not any(i.size == said.size.words for i in so_large)
        said.plain, so_large = said.plain or usual, [] if usual else so_large
        outcome.penalty += 0.0 if said.plain or so_large else NOT_THERE / 2
        items = so_large or items
    called = outcome.matcher.called(items, said.usual) if tells and said.plain else []
    if len(called) == 1:
        items = called
    elif tells and said.plain:
        plain = [item for item in items if not item.changes]
        items = outcome.matcher.plain_beside(items) or plain or items
    if said.ref in _EVERY:
        new = [item for item in outcome.items if item in things]
        divided = [item.source for item in new if item.source is not None]  # "one large, no, both"
        return [*new, *(item for item in divided if item in things)] or items
    left = outcome.removed
    if said.ref == "other" and left in items and left is not None:
        return [left]  # "drop one of them and make the other one large"
    just = None
    if said.ref == "other" and outcome.spoken is None:
        just = outcome.changed_just_before(counted=False)
        if just is None and (plain := _untold(outcome, items)):
            return plain
    if just in items and just is not None:  # of two that the last message told apart
        others = [item for item in items if item is not just]
        same = [item for item in others if item.names == just.names]
        return (
            same
            or [i for i in others if outcome.matcher.section(i) == outcome.matcher.section(just)]
            or others
        )
    if said.ref in ("rest", "other"):
        source = outcome.spoken.source if outcome.spoken is not None else None
        if source is not None and source in items:
            return [source]  # "ham on one of the pizzas and olives on the other"
        return [item for item in items if item is not outcome.spoken]
    many = [item for item in items if (item.quantity or 1) > 1]
    if said.ref in ("of-them", "them"):
        changed = [item for item in outcome.touched if item in items and item.line is not None]
        if changed and not outcome.items:
            return changed  # "twelve wings instead, and make them buffalo"
        if said.partial or said.count is not None:
            about = said.become if said.become is not None else said
            able = [item for item in outcome.there if outcome.matcher.able(item, about)]
            if said.ref == "of-them" and not many and not outcome.items and about.described:
                if len(able) > 1:
                    return able  # it was not said which of them
            return many[-1:] or items[-1:]
        return many[-1:] if many and many[-1] is items[-1] else items
    become = said.become.mask if said.become is not None and said.become.head is not None else 0
    if outcome.matcher.named(become, outcome.there):
        return []  # "take off the thighs and make it six legs", of which there are some
    if said.ref == "it" and outcome.removed is not None and said.verb == "change":
        outcome.removed.gone = 0
        return [outcome.removed]
    if said.ordinal is not None or (items is not things and items):
        return items
    if said.ref == "one" and said.count is not None:
        return many[-1:] or items[-1:]
    asked = [item for item in items if item.name == outcome.situation.topic]
    if said.ref == "it" and outcome.spoken is None and asked:
        return asked[-1:]  # "how hot is the madras? Swap it for a korma"
    last = [outcome.last] if outcome.last in items and outcome.last else items[-1:]
    if said.ref == "it" and outcome.spoken is None and become and said.become is not None:
        kind = outcome.matcher.section(outcome.make(said.become))
        same = [item for item in items if outcome.matcher.section(item) == kind != ""]
        if same and not any(item in same for item in last):
            return same  # "swap it for a korma": the curry, not the bread
    about = said.become if said.become is not None else said
    if said.ref == "it" and outcome.spoken is None and about.head is None and about.described:
        able = [item for item in items if outcome.matcher.able(item, about)]
        return last if last and last[0] in able else able[-1:] or last
    return last


def _untold(outcome: Outcome, items: Sequence[Item]) -> list[Item]:
    """Return the plain one of two that the last message ordered: "two burgers, the first without onions"."""
    old = {one.line.id for one in outcome.situation.before or () if one.line}
    fresh = [one for one in items if one.line is not None and one.line.id not in old]
    plain = [one for one in fresh if not one.changes]
    alike = outcome.situation.before is not None and len({one.names for one in fresh}) == 1
    return plain if alike and len(fresh) == 2 and len(plain) == 1 else []


def _other_one(outcome: Outcome) -> list[Item]:
    """Return the other of two: "the iced latte ... and the hot one"."""
    one = outcome.spoken
    if one is None or one not in outcome.touched:
        return []
    others = [item for item in outcome.there if item is not one and item.names == one.names]
    outcome.penalty += OTHER
    return others if len(others) == 1 else []


def counted_off(said: Said, items: list[Item]) -> list[Item]:
    """Return the second of several, or one piece of the only one there is so many of."""
    at = said.ordinal or 0
    new = len(items) == 1 and items[0].line is None
    if len(items) == 1 and (at > 0 or new) and (items[0].quantity or 1) >= max(at, 2):
        said.partial, said.count = True, 1
        return items
    at = at - 1 if at > 0 else len(items) + at
    return items[at : at + 1] if 0 <= at < len(items) else []
