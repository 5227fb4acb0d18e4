"""Several of a kind that are announced and then named one by one: "three large pizzas, one with ham ..."."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.grammar.grammar import AND, COMMA, ON, OR, STOP
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.outcome import (
    Outcome,
)
from bella_vista.local.understanding.readings.said import Said


def without_kinds(
    reading: Sequence[Said], index: Index, kitchen: Kitchen, *, named: bool = False
) -> list[Said]:
    """Leave out kinds that are named first, and then what of them: "some dessert and coffee. Two tiramisus".

    Args:
        reading: The items.
        index: The menu's names.
        kitchen: What the menu makes of words.
        named: Whether only those are left out of which something is named.
    """
    pauses = (at for at, said in enumerate(reading) if at and said.joint in (COMMA, STOP))
    first = next(pauses, 0)
    kinds, later = reading[:first], [one for one in reading[first:] if one.head is not None]
    told = [one.mask for one in later if one.verb in ("", "add")]
    wide = [any(of & ~one.mask == 0 != one.mask & ~of for of in told) for one in kinds]
    counted = any(one.count is not None or one.definite or one.more for one in kinds)
    bare = all(one.verb in ("", "add") and one.head and not one.described for one in kinds)
    if counted or not bare or not any(wide):
        return [*reading]
    dishes = [kitchen.dish(name) for one in later for name in index.names(one.mask)]
    sections = {dish.section for dish in dishes if dish is not None}
    kept = [
        one
        for one, announces in zip(kinds, wide, strict=True)
        if not announces
        and (one.article or named)
        and not any(
            dish is not None and dish.section in sections
            for dish in map(kitchen.dish, index.names(one.mask))
        )
    ]
    return [*kept, *reading[first:]]


def announce(out: Outcome, item: Item, said: Said, following: Sequence[Said]) -> None:
    """Remember "three large pizzas" when what follows says which, and "a soup" before the soup that is meant."""
    first = following[0] if following else Said()
    beside = first.correct or first.more or first.besides or first.instead
    if beside or (first.head is not None and first.joint in (AND, ON, OR)):
        return
    same = first.head is not None and first.number in (None, said.number)
    if len(item.names) == 1 and same and not first.definite:
        return  # "a coffee, a latte" are two where coffee is a dish
    if said.size is not None and first.size not in (None, said.size):
        return
    if said.count in (None, 1):
        told = replace(said, size=None, verb="").described_besides or said.verb not in ("", "add")
        as_many = said.number is None or first.number in (None, 1)
        if not told and as_many and first.verb in ("", "add") and _narrower(out, said, first):
            out.announced = [item]
        return
    total = 0
    for one in following:
        # "Three pies, one cherry": there is a cherry tart, too.
        narrower = _narrower(out, said, one) or one.mask & said.mask not in (0, said.mask)
        described = one.head is None and one.described and (one.plain or len(item.names) > 1)
        if one.verb not in ("", "add") or one.correct or not (narrower or described):
            return
        if one.head is not None and one.number == said.count and (said.options or said.size):
            return  # "two tacos with beef, two tacos with chicken"
        total += one.number or 1
        if total == said.count:
            out.announced = [item]
            out.penalty -= 0.0 if one is first else 0.6
            return


def _narrower(out: Outcome, said: Said, one: Said) -> bool:
    """Whether a thing is one of what another may be: garlic naan is a naan, a margherita a pizza."""
    if one.head is None or one.mask == said.mask:
        return False
    return not one.mask & ~said.mask or _of_kind(out, said.words, one)


def _of_kind(out: Outcome, words: str, one: Said) -> bool:
    """Whether all that a thing may be is of the kind that some words name."""
    return bool(words) and all(
        out.kitchen.is_kind_of(name, words) for name in out.index.names(one.mask)
    )


def announced_before(out: Outcome, said: Said) -> bool:
    """Put what is named in the place of what was only announced."""
    base = out.announced[0] if out.announced else None
    if base is None or not (out.matcher.mask(base) & said.mask or _of_kind(out, base.words, said)):
        out.announced = []
        return False
    item = out.make(replace(said, mask=said.mask & out.matcher.mask(base) or said.mask))
    item.size = item.size or base.size
    item.changes[:0] = [one for one in base.changes if one not in item.changes]
    put_announced(out, base, item)
    return True


def put_announced(out: Outcome, base: Item, item: Item) -> None:
    """Put a thing in the place of one of those that were announced."""
    if base in out.items:
        out.items.remove(base)
    out.add(item)
    out.announced.append(item)
    if sum(one.quantity or 1 for one in out.announced[1:]) >= (base.quantity or 1):
        out.announced = []
