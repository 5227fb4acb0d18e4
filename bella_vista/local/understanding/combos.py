"""Combos: what was ordered beside one and belongs to it, and what changes in one."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.outcome import Outcome
from bella_vista.local.understanding.reading import Said
from state.menu import Combo, ComboPart


def put_together(outcome: Outcome) -> None:
    """Let combos that are not complete take in what was ordered beside them, and give sizes to parts."""
    for item in [*outcome.items, *outcome.touched]:
        combo = outcome.kitchen.combo(item.name)
        if combo is None or (item.line is None and item not in outcome.items):
            continue
        if item.line is None or item.line.name != item.name:  # "make the burger a combo"
            _take_in(outcome, item, combo)
            _take_in_each(outcome, item, combo)
            _hand_on_size(outcome, item, combo)


def change_part(outcome: Outcome, said: Said, become: Said, made: Item | None = None) -> bool:
    """Change a part of a combo: "make the coke large", "a lemonade instead of the coke"."""
    things = [*outcome.waiting, *outcome.things]
    things = outcome.named(said.within, things) if said.within else things
    if said.lines_within:
        things = [one for one in things if one.line and one.line.id in said.lines_within]
    for item in reversed(things):
        parts = outcome.named(said.mask, item.parts)
        if not parts:
            continue
        part = parts[-1]
        if become.head is not None and not outcome.named(become.mask, [part]):
            fresh = made if made is not None else outcome.make(become)
            if not _fits_instead(outcome, item, part, fresh):
                return False
            size = fresh.size
            outcome.keep_choices(part, fresh)
            fresh.size = size  # a combo comes in its own sizes
            item.parts[item.parts.index(part)] = fresh
        else:
            alike = [one for one in parts if one.names == part.names]
            every = said.plural or said.both or said.count == len(alike)
            for one in alike if every and not said.partial else (part,):
                outcome.give(one, become)
        (outcome.settle if item in outcome.waiting else outcome.touch)(item)
        return True
    return False


def change_parts(outcome: Outcome, item: Item, said: Said) -> bool:
    """Replace parts of a combo on the order with the parts that are named now."""
    if item.line is None or outcome.kitchen.combo(item.name) is None:
        return False
    new: list[Item] = []
    for part in said.parts:
        fresh = Item(words=part.words, names=outcome.index.names(part.mask))
        outcome.give(fresh, part)
        at = [at for at, old in enumerate(item.parts) if _fits_instead(outcome, item, old, fresh)]
        if len(at) != 1 or item.parts[at[0]] in new:
            return False
        item.parts[at[0]] = fresh
        new.append(fresh)
    outcome.touch(item)
    return True


def _fits_instead(outcome: Outcome, item: Item, part: Item, fresh: Item) -> bool:
    combo = outcome.kitchen.combo(item.name)
    if combo is None or not fresh.name:
        return False
    rest = [one.name or "" for one in item.parts if one is not part]
    return outcome.kitchen.room_for(combo, rest, fresh.name)


def _take_in(outcome: Outcome, item: Item, combo: Combo) -> None:
    """Let a combo that is not complete take in what was ordered beside it, what follows it first."""
    at = outcome.items.index(item) if item in outcome.items else -1
    for other in [*outcome.items[at + 1 :], *reversed(outcome.items[: max(at, 0)])]:
        if item.copied and other in outcome.items[at + 1 :]:
            _put_in(outcome, item, other)
            continue
        taken = [part.name or "" for part in item.parts]
        fixed = any(part.dishes == (other.name,) for part in combo.parts)
        if outcome.kitchen.open_part(combo, taken) is None and not fixed:
            continue
        _in_pieces(outcome, other)
        count = other.quantity or 1
        if other.name and not other.splits:
            names = [other.name] * count
            if all(
                outcome.kitchen.room_for(combo, [*taken, *names[:n]], other.name)
                for n in range(count)
            ):
                item.parts.extend(other.copy(1) for _ in names)
                outcome.items.remove(other)


def _take_in_each(outcome: Outcome, item: Item, combo: Combo) -> None:
    """Let several combos take in what each has of its own: "one with fries, one with a burger and tots"."""
    number = item.quantity or 1
    if number < 2 or item not in outcome.items:
        return
    after = outcome.items[outcome.items.index(item) + 1 :]
    beside = [one for one in after if one.quantity in (None, 1) and not one.splits]
    own = [_seated(item.parts, part) for part in combo.parts]
    every = [_seated([*item.parts, *beside], part) for part in combo.parts]
    full = [number * part.choose for part in combo.parts]
    dealt = any(len(seated) == most for seated, most in zip(own, full, strict=True))
    whole = all(len(seated) == most for seated, most in zip(every, full, strict=True))
    fits = all(
        len(seated) in (part.choose, most)
        for seated, part, most in zip(every, combo.parts, full, strict=True)
    )
    taken = [one for one in beside if any(one in seated for seated in every)]
    if taken and (whole or (dealt and fits)):
        item.parts.extend(one.copy(1) for one in taken)
        outcome.items[:] = [one for one in outcome.items if one not in taken]


def _seated(things: Sequence[Item], part: ComboPart) -> list[Item]:
    return [one for one in things if one.name in part.dishes]


def _in_pieces(outcome: Outcome, other: Item) -> None:
    """Take "twelve wings" as one portion where twelve pieces are a size."""
    if other.size is None and other.quantity is not None:
        found = outcome.kitchen.in_pieces(other.name, other.quantity)
        if found is not None:
            other.size, other.quantity = found


def _put_in(outcome: Outcome, item: Item, other: Item) -> None:
    """Put a dish in the place of another part of a combo that was ordered again."""
    if other.quantity != 1:
        return
    for at, part in enumerate(item.parts):
        if _fits_instead(outcome, item, part, other):
            item.parts[at] = other.copy(1)
            outcome.items.remove(other)
            return


def _hand_on_size(outcome: Outcome, item: Item, combo: Combo) -> None:
    """Give a size that was said of a combo to the parts that come in it: "a large meal"."""
    if item.size is None:
        return
    comes = outcome.kitchen.size
    able = [one for one in item.parts if one.size is None and comes(one.name, item.size or "")]
    if not able:
        fixed = [part.dishes[0] for part in combo.parts if len(part.dishes) == 1]
        able = [Item(words=name, names=(name,)) for name in fixed if comes(name, item.size)][:1]
        item.parts += able
    for part in able:
        part.size = item.size
    if able:
        item.size = None
