"""Combos: what was ordered beside one and belongs to it, and what changes in one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from bella_vista.local.understanding.grammar.grammar import ON
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.index import Index
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.outcome import NEW_THOUGH_THERE, NOT_THERE, Outcome
from bella_vista.local.understanding.readings.said import Said
from state.menu import Combo, ComboPart
from state.menu.words import fold, stems


def put_together(outcome: Outcome) -> None:
    """Let combos that are not complete take in what was ordered beside them, and give sizes to parts."""
    for item in outcome.settled:
        if (combo := outcome.kitchen.combo(item.name)) is not None:
            _hand_on_size(outcome, item, combo)  # "ten piece", of the wings of a box
            _fill_up(outcome, item, combo)
    if outcome.part_gives_way is not None:
        _retell(outcome, outcome.part_gives_way)
    for item in [*outcome.items, *outcome.touched]:
        combo = outcome.kitchen.combo(item.name)
        if combo is None or (item.line is None and item not in outcome.items):
            continue
        if item.line is None or item.line.name != item.name:  # "make the burger a combo"
            _take_in(outcome, item, combo)
            _take_in_each(outcome, item, combo)
            _hand_on_size(outcome, item, combo)
            _fill_up(outcome, item, combo)


def change_part(outcome: Outcome, said: Said, become: Said, made: Item | None = None) -> bool:
    """Change a part of a combo: "make the coke large", "a lemonade instead of the coke"."""
    things = [*outcome.waiting, *outcome.things]
    things = outcome.matcher.named(said.within, things) if said.within else things
    if said.lines_within:
        things = [one for one in things if one.line and one.line.id in said.lines_within]
    having = [one for one in reversed(things) if outcome.matcher.named(said.mask, one.parts)]
    named = [part for item in having for part in outcome.matcher.named(said.mask, item.parts)]
    of_all = said.count is None and made is None and _names_several(said, named)
    if said.both and len(named) < 2 and all(item.quantity == 1 for item in having):
        outcome.penalty += NOT_THERE + NEW_THOUGH_THERE  # "both burgers", and one is called so
    changed = [
        _change_part_of(outcome, item, said, become, made)
        for item in (reversed(having) if of_all else having[:1])
    ]
    return bool(changed) and all(changed)


def _names_several(said: Said, named: Sequence[Item]) -> bool:
    """Whether the parts of all combos are meant: "both pies", "the pies"; not "the fries" of one."""
    last = said.words.split()[-1:]
    single = not any(set(last) & set(fold(part.name or "").split()) for part in named)
    return said.ref == "all" or said.both or (said.plural and single)


def _change_part_of(
    outcome: Outcome, item: Item, said: Said, become: Said, made: Item | None
) -> bool:
    """Change the part of one combo that is named."""
    if item in outcome.there and len(outcome.matcher.named(said.mask, item.parts)) == 1:
        item = outcome.pieces(item, said.count)  # "one of the burgers", in two meals
    parts = outcome.matcher.named(said.mask, item.parts)
    part = parts[-1]
    turned = outcome.matcher.kin(part, become) if become.head is None and said.verb else None
    become = turned or become  # "change the crepe to salted caramel"
    alike = [one for one in parts if said.plural or one.names == part.names]
    every = said.plural or said.both or said.count == len(alike)
    some = said.count or (0 if every and not said.partial else 1)
    several = become.count or (len(alike) if become.plural else 1)
    if become.head and not (made or some or become.article) and several < len(alike):
        outcome.part_gives_way = said  # "make the drinks three colas and a water"
        outcome.add(outcome.make(become))
        return True
    count = some or len(alike)
    if become.head is not None and outcome.matcher.named(become.mask, alike) != alike:
        fresh = made if made is not None else outcome.make(become)
        if said.count is None and fresh.counted:
            count = fresh.quantity or 1
        for old in alike[-count:]:
            one = fresh.copy(1)
            _narrow(outcome, item, old, one)
            if not _fits_instead(outcome, item, old, one):
                return False
            outcome.writer.keep_choices(old, one)
            one.size = fresh.size
            outcome.writer.keep_told_size(old, one)
            item.parts[item.parts.index(old)] = one
    else:
        for one in alike[-count:]:
            outcome.give(one, become)
    (outcome.settle if item in outcome.waiting else outcome.touch)(item)
    return True


def with_told_parts(reading: Sequence[Said], index: Index, kitchen: Kitchen) -> Iterator[Said]:
    """Make a part of what only a choice of it tells: the soda of "a meal with slaw and a small cola"."""
    reading = [*reading]
    for before, said in pairwise(reading):
        _put_on_part(before, said, index, kitchen)
    for said in reading:
        about = said.become if said.become is not None and said.become.head else said
        combos = [one for one in map(kitchen.combo, index.names(about.mask)) if one is not None]
        if len(combos) != 1 or about.head is None:
            yield said
            continue
        able = sum({index.bit(name) for part in combos[0].parts for name in part.dishes})
        taken = [name for part in said.parts for name in index.names(part.mask & able)[:1]]
        told: list[Said] = []
        for one in (about, *said.parts):
            told += _apart(one, combos[0], index, kitchen, taken, sized=one is about)
        about, *parts = told
        if said.become is not None and said.become.head:
            yield replace(said, become=about, parts=parts)
        else:
            yield replace(about, parts=parts)


def _put_on_part(before: Said, said: Said, index: Index, kitchen: Kitchen) -> None:
    """Put on another part what was said behind the last one: "a pie, a roll and a cola, gravy on the pie"."""
    told = said.described or said.become or said.number or said.verb or said.more
    if said.joint != ON or told or not (before.parts and said.mask):
        return
    last, options = before.parts[-1], before.parts[-1].options
    always = [one for one in _always_in(before, index, kitchen) if one.mask & said.mask]
    fitting = [part for part in before.parts if part.mask & said.mask] or always
    if len(fitting) != 1 or fitting[0] is last:
        return
    names = index.names(last.mask)
    kept = [one for one in options[:-1] if any(kitchen.answers(name, one.words) for name in names)]
    if put := [option for option in options if option not in kept]:
        rest = always if fitting == always else []
        before.parts = [*rest, *before.parts[:-1], replace(last, options=kept)]
        said.on, said.become = True, Said(place=said.place, options=put)


def _always_in(said: Said, index: Index, kitchen: Kitchen) -> Iterator[Said]:
    """Yield what a combo has without being chosen: the toast of a breakfast."""
    for combo in map(kitchen.combo, index.names(said.mask)):
        for part in combo.parts if combo is not None else ():
            bit = index.bit(part.dishes[0]) if len(part.dishes) == 1 else 0
            if bit:
                yield Said(head=index.entity(bit.bit_length()), mask=bit, words=part.dishes[0])


def _apart(
    said: Said, combo: Combo, index: Index, kitchen: Kitchen, taken: list[str], *, sized: bool
) -> list[Said]:
    """Take apart a part of a combo, and those that are told by choices that it cannot have itself.

    Args:
        said: The part.
        combo: The combo.
        index: The menu's names.
        kitchen: What the menu makes of words.
        taken: The parts that are chosen; what is told here is added.
        sized: Whether only a choice with a size before it tells a part.
    """
    if not said.options:
        return [said]
    to = own = replace(said, options=[])
    found = [own]
    for option in said.options:
        words, size = option.entity.words, ""
        if own.size is not None and own.sized == option.place:
            size = own.size.words  # "a small cola"
        if any(kitchen.answers(name, option.words) for name in index.names(to.mask)):
            pass
        elif option.no or any(kitchen.answers(name, words) for name in index.names(own.mask)):
            to = own
        elif sized and not size:
            to = own
        elif (name := _told_by(combo, kitchen, taken, [words], size)) is not None:
            bit = index.bit(name)
            to = Said(head=index.entity(bit.bit_length()), mask=bit, words=name)
            taken.append(name)
            found.append(to)
            if size:
                own.size, to.size = own.resized, own.size
        to.options.append(option)
    return found


def _told_by(
    combo: Combo, kitchen: Kitchen, taken: Sequence[str], wanted: Sequence[str], size: str = ""
) -> str | None:
    """Return the only dish of a combo that is still to be chosen and can be as it is said."""
    able = {
        name
        for part in combo.parts
        for name in part.dishes
        if kitchen.room_for(combo, taken, name)
        and (not size or kitchen.size(name, size))
        and not any(set(stems(one)) <= set(stems(name)) for one in wanted)
        and all(kitchen.answers(name, one) for one in wanted)
    }
    return able.pop() if len(able) == 1 else None


def tell_part(outcome: Outcome, item: Item, said: Said) -> bool:
    """Give a combo the parts that only a size or a number and choices tell: "and a large root beer", "two colas"."""
    combo = outcome.kitchen.combo(item.name)
    wanted = [option.entity.words for option in said.options if not option.no]
    if combo is None or not (said.size or said.number) or not wanted or said.ref:
        return False
    answers, count = outcome.kitchen.answers, said.number or 1
    taken = [part.name or "" for part in item.parts]
    name = _told_by(combo, outcome.kitchen, taken, wanted, said.size.words if said.size else "")
    seen = {part.name for part in item.parts if any(answers(part.name, one) for one in wanted)}
    if name is None or seen - {name} or (seen and said.size):
        return False
    # "A cola and a lemonade" are two drinks, where a drink is one of them.
    apart = count == 1 < len(wanted) and outcome.kitchen.excludes(name, *wanted[:2])
    each = [[one] for one in said.options] if apart else [said.options] * count
    room = [outcome.kitchen.room_for(combo, [*taken, *[name] * n], name) for n in range(len(each))]
    if not all(room):
        return False
    for options in each:
        told = Item(words=name, names=(name,))
        outcome.give(told, replace(said, count=None, article=False, options=[*options]))
        item.parts.append(told)
    return True


def tell_each_part(outcome: Outcome, item: Item, said: Said) -> bool:
    """Give a combo that waits the parts that choices alone tell: "a coke and a sweet tea"."""
    combo = outcome.kitchen.combo(item.name)
    if combo is None or not said.options:
        return False
    answers, taken = outcome.kitchen.answers, [part.name or "" for part in item.parts]
    own, *told = _apart(
        replace(said, mask=0), combo, outcome.index, outcome.kitchen, taken, sized=False
    )
    bare = [part.name for part in item.parts if not part.changes]
    bare += [part.dishes[0] for part in combo.parts if len(part.dishes) == 1]
    if own.options or any(answers(name, one.words) for name in bare for one in said.options):
        return False  # it may be the choice of a part that is there already
    for one in told:
        part = Item(words=one.words, names=(one.words,))
        outcome.give(part, one)
        item.parts.append(part)
    return True


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
        outcome.writer.keep_told_size(item.parts[at[0]], fresh)
        item.parts[at[0]] = fresh
        new.append(fresh)
    outcome.touch(item)
    return True


def _narrow(outcome: Outcome, item: Item, part: Item, fresh: Item) -> None:
    """Take what may be several dishes for the one of them that can be in the place of a part."""
    able = [
        name
        for name in fresh.names
        if _fits_instead(outcome, item, part, Item(words=fresh.words, names=(name,)))
    ]
    fresh.names = (able[0],) if len(able) == 1 else fresh.names


def _fits_instead(outcome: Outcome, item: Item, part: Item, fresh: Item) -> bool:
    combo = outcome.kitchen.combo(item.name)
    if combo is None or not fresh.name:
        return False
    rest = [one.name or "" for one in item.parts if one is not part]
    return outcome.kitchen.room_for(combo, rest, fresh.name)


def _retell(outcome: Outcome, said: Said) -> None:
    """Put what follows in the place of all that was chosen of a part: "the drinks: three colas and a water"."""
    for item in reversed(outcome.there):
        old = outcome.matcher.named(said.mask, item.parts)
        combo = outcome.kitchen.combo(item.name)
        kinds = [one for one in combo.parts if _seated(old, one) == old] if combo and old else []
        after = [one for one in outcome.items if one.spoken > said.place and not one.splits]
        fresh = _seated(after, kinds[0]) if kinds else []
        if len(fresh) == 1 and not fresh[0].counted:
            fresh[0].quantity = len(old)
        if not fresh or sum(one.quantity or 1 for one in fresh) != len(old):
            continue
        at = item.parts.index(old[0])
        item.parts = [one for one in item.parts if one not in old]
        item.parts[at:at] = [one.copy(1) for one in fresh for _ in range(one.quantity or 1)]
        outcome.items[:] = [one for one in outcome.items if one not in fresh]
        outcome.questions[:] = [one for one in outcome.questions if not one.facts.get("combo")]
        outcome.touch(item)
        return


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
        many = other.quantity or 1
        # As many as there are combos is one for each, where not all of them go into one.
        for count in (many, 1) if many == item.quantity else (many,):
            names = [other.name or ""] * count
            room = outcome.kitchen.room_for
            fits = (room(combo, [*taken, *names[:n]], names[0]) for n in range(count))
            if other.name and not other.splits and all(fits):
                item.parts.extend(other.copy(1) for _ in names)
                outcome.items.remove(other)
                break


def _fill_up(outcome: Outcome, item: Item, combo: Combo) -> None:
    """Let what was said of all of a part be as many as are open: "mac and slaw, all biscuits"."""
    for part in combo.parts if (item.quantity or 1) == 1 else ():
        filling = {one.name: one for one in _seated(item.parts, part) if one.filling}
        names = [one.name or "" for one in item.parts]
        for name, one in filling.items() if len(filling) == 1 else ():
            while outcome.kitchen.room_for(combo, names, name or ""):
                item.parts.insert(item.parts.index(one), one.copy(1))
                names.append(name or "")


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
            outcome.writer.keep_told_size(part, other)
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
        names = [name for name in fixed if comes(name, item.size)]
        if not names and item in outcome.items:  # "a deal with a short stack"
            taken = [part.name or "" for part in item.parts]
            told = _told_by(combo, outcome.kitchen, taken, (), item.size)
            names = [told] if told else []
        able = [Item(words=name, names=(name,)) for name in names[:1]]
        item.parts += able
    for part in able:
        part.size = item.size
    if able:
        item.size = None
