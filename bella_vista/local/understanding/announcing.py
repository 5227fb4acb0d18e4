"""Several of a kind that are announced and then named one by one: "three large pizzas, one with ham ..."."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.outcome import (
    Outcome,
)
from bella_vista.local.understanding.reading import Said
from state.menu.words import stems


def announce(out: Outcome, item: Item, said: Said, following: Sequence[Said]) -> None:
    """Remember "three large pizzas" when what follows says which."""
    total = 0
    for one in following:
        narrower = one.head is not None and one.mask & said.mask and not one.mask & ~said.mask
        called = one.head is not None and _called_like(out, said, one)
        narrower = narrower or called
        described = one.head is None and one.described and (one.plain or len(item.names) > 1)
        if one.verb not in ("", "add") or one.correct or not (narrower or described):
            return
        total += one.number or 1
        if total == said.count:
            out.announced = [item]
            out.penalty -= 0.6
            return


def _called_like(out: Outcome, said: Said, one: Said) -> bool:
    """Whether a thing has the name of another in its own: garlic naan is a naan."""
    words = set(stems(said.words))
    return bool(words) and all(words < set(stems(name)) for name in out.index.names(one.mask))


def announced_before(out: Outcome, said: Said) -> bool:
    """Put what is named in the place of what was only announced."""
    base = out.announced[0] if out.announced else None
    named = Said(words=base.words) if base is not None else said
    called = base is not None and _called_like(out, named, said)
    if base is None or not (called or out.mask(base) & said.mask):
        out.announced = []
        return False
    item = out.make(said)
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
