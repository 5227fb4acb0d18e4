"""Some of several that are to be different: "two lattes, one of them decaf", "the large one with chicken"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.grammar import AND, COMMA, ON
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.order.outcome import NO_EFFECT, Outcome
from bella_vista.local.understanding.order.targets import sized, targets
from bella_vista.local.understanding.order.waiting import left
from bella_vista.local.understanding.readings.said import Said
from state.menu.words import stems


def some_of(out: Outcome, said: Said) -> bool:
    """Carry out "one of them without basil" on what is there."""
    if not said.described:
        there = (
            out.matcher.named(said.mask, out.things) if said.head is not None and said.count else []
        )
        sized = there and out.kitchen.size(there[0].name, str(said.count))  # "ten of the wings"
        several = said.plural or (said.count or 0) > 1
        none = several and said.head and not (said.ref or there)
        if none or there and not sized and sum(i.quantity or 1 for i in there) < (said.count or 0):
            said.partial = said.definite = False
            return False  # "two of those cookies", of which there is one, or none
        fewer = said.exact and not (said.verb or out.items or sized) and len(there) == 1
        if fewer and (said.count or 0) < (there[0].quantity or 1):
            out.count(there[0], said.count or 1)  # "just two of the shots then", of three
            out.touch(there[0])
            return True
        last = out.items[-1] if out.items else None
        plain = last is not None and not (last.counted or last.changes)
        topic = out.asked_about() if said.count and not out.items else None
        if topic is not None:
            out.order(said, topic, (topic,))  # "two of those", which were asked about
        elif said.ref == "of-them" and said.count and last is not None and plain:
            last.quantity, last.counted = said.count, True  # "garlic knots, six of them"
        elif not _another_kind_of(out, said):
            out.penalty += NO_EFFECT
        return True
    many = [item for item in out.things if (item.quantity or 1) > 1]
    fresh = said.ref == "of-them" and not said.verb and (said.besides or not many)
    if fresh and (topic := out.asked_about()):
        out.order(said, topic, (topic,))  # "I'll have one of those too, small"
        return True
    if said.half:
        if not many:
            return False
        said.count = (many[-1].quantity or 2) // 2
    if said.head is None and of_split(out, said):
        return True
    if said.head is not None:
        found = targets(out, said)
    else:
        found = [i for i in out.items if (i.quantity or 1) > 1 or i.splits]
        rest = out.items[-1].source if out.items and said.joint in (AND, COMMA) else None
        if rest is not None and rest.line and (rest.quantity or 1) > (said.count or 1):
            found = [rest]  # "two of those without onions and one of them with bacon"
        found = found or targets(out, said)
    new = [item for item in found if item in out.items]
    if new:
        if not of_pieces(out, new[-1], said):
            out.split(new[-1], said, said.count)
        return True
    fitting = [item for item in found if (item.quantity or 1) >= (said.count or 1)]
    if not found or (len(found) > 1 and said.head is not None and not fitting):
        return False
    change = replace(said, head=None, count=None)
    which = found if said.ref == "of-them" else fitting
    if (said.ref == "of-them" or said.head is not None) and len(which) > 1:
        if out.ask_which(change, which):
            return True
    out.change_each(change, (fitting or found)[-1:], said.count or 1)
    return True


def tell_apart(out: Outcome, said: Said) -> None:
    """Tell by what follows which lines are meant: "bacon on one of the two without cheddar"."""
    put = said.become
    about = put or said
    if not said.partial or said.lines or out.items or (put and (said.options or not said.on)):
        return
    first = max(said.pointed, said.named[0])
    behind = [one for one in about.options if one.place > first]
    there = out.matcher.named(said.mask, out.there) if said.head is not None else out.there
    for count in range(len(behind), 0, -1):
        told, rest = behind[:count], [one for one in about.options if one not in behind[:count]]
        between = out.told(range(told[-1].place + 1, rest[-1].place)) if rest else ""
        if not rest or (put is None and words_of("takes").isdisjoint(between.split())):
            continue
        found = out.matcher.described(there, told)
        if found and len(found) < len(there):
            said.lines = tuple(item.line.id for item in found if item.line is not None)
            about.options = rest
            return


def one_of_counted(out: Outcome, said: Said) -> bool:
    """Make some of a line different that was counted just now: "make it two, the second one without ice"."""
    item = out.touched[-1] if out.touched and not out.items else None
    counted = item is not None and item.line is not None and item.quantity != item.line.quantity
    turns = said.become is not None and not (said.become.head or said.described)
    about = said.become if said.become and (turns or said.on or said.joint == ON) else said
    points = said.ordinal is not None or said.ref in ("one", "of-them", "them")
    if item is None or not counted or said.head is not None or not (points and about.described):
        return False
    number = said.count or 1
    once = said.ordinal is None or abs(said.ordinal) <= (item.quantity or 1)
    if said.verb not in ("", "change") or not once or not number < (item.quantity or 1):
        return False
    if not out.matcher.able(item, about) or (
        said.ref == "one" and out.matcher.made_with(out.there, about.options)
    ):
        return False  # "four in all, still just the one gluten free"
    told = replace(about, head=None, ref="", ordinal=None, count=None, article=False)
    out.change_each(replace(told, partial=False, definite=False), [item], number)
    return True


def counts_lines(out: Outcome, reading: Sequence[Said]) -> bool:
    """Change the quantities of several lines: "it must be one chicken and two lamb"."""
    first = reading[0] if reading else Said()
    turns = first.verb == "change" and first.ref in ("it", "them") and first.become is not None
    if len(reading) < 2 or not (turns or first.correct) or out.waiting:
        return False
    meant: list[tuple[Item, int]] = []
    for said in reading:
        about = said.become if said.become is not None and not said.described else said
        number = about.number or said.number or (1 if said.ref == "one" else None)
        apart = said.more or said.instead or said.kept or said.besides or about.parts or about.lines
        if (
            apart
            or not number
            or not about.options
            or about.size
            or any(o.no for o in about.options)
        ):
            return False
        if said is not first and (said.joint not in (AND, COMMA) or said.ref not in ("", "one")):
            return False
        there = out.matcher.named(about.mask, out.there) if about.head is not None else out.there
        found = out.matcher.made_with(there, about.options)
        if len(found) != 1 or any(found[0] is item for item, _ in meant):
            return False
        meant.append((found[0], number))
    same = sum(item.quantity or 1 for item, _ in meant) == sum(number for _, number in meant)
    if len({item.names for item, _ in meant}) > 1 or not (turns or same):
        return False
    for item, number in meant:
        item.quantity = number
        out.touch(item)
    return True


def of_pieces(out: Outcome, item: Item, said: Said) -> bool:
    """Give one thing what some of its pieces are to have: "20 wings, 10 of them buffalo"."""
    pieces = max((int(one) for one in stems(item.name or "") if one.isdigit()), default=0)
    if item.quantity != 1 or said.size or not 1 < (said.count or 0) < pieces:
        return False
    if not said.options or not out.matcher.able(item, said):
        return False
    out.give(item, said)
    return True


def _another_kind_of(out: Outcome, said: Said) -> bool:
    """Let some of what was ordered last be another dish of its kind: "3 naans, one of them garlic"."""
    last = out.items[-1] if out.items else None
    if said.head is None or out.matcher.named(said.mask, out.things):
        return False
    fresh = out.make(said)
    fresh.quantity = said.count or 1
    if last is None:
        kin = [
            item for item in out.there if out.matcher.section(item) == out.matcher.section(fresh)
        ]
        kin = [item for item in kin if (item.quantity or 1) > (fresh.quantity or 1)]
        if len(kin) == 1:
            out.change_each(replace(said, ref="", partial=False, count=None), kin, said.count)
        return len(kin) == 1
    if out.matcher.section(fresh) != out.matcher.section(last) or fresh.quantity >= (
        last.quantity or 1
    ):
        return False
    last.quantity = (last.quantity or 1) - fresh.quantity
    out.add(fresh)
    return True


def of_split(out: Outcome, said: Said) -> bool:
    """Give something to one of several that are told apart by their size or a choice already.

    To so many of them where that is said: "two mild, two hot, one of the hot ones with cheese".
    """
    last = out.items[-1] if out.items else None
    if last is None or not (said.definite or said.partial):
        return False
    if said.size is not None:  # "one small one large, the large one with chicken"
        size = out.kitchen.size(last.name, said.size.words)
        sized = [one for one in last.splits if one.size]
        made = [one for one in sized if size == out.kitchen.size(last.name, one.size or "")][:1]
        rest = replace(said, size=None)
    elif said.ref == "of-them" and last.splits and not left(last):
        made, rest = last.splits[-1:], said  # "two mild and two hot, one of them with cheese"
    else:  # "one with rice, one with fries, the rice one hot"
        words = said.options[0].entity.words if said.options else ""
        made = [
            split
            for split in last.splits
            if words and any(out.matcher.is_called(last, one, words) for one in split.changes)
        ]
        rest = replace(said, options=said.options[1:])
        if not rest.options:
            return False
    if len(made) != 1:
        return False
    split, count = made[0], said.count if said.partial else None
    if count is not None and split.count is not None and count < split.count:
        split.count -= count
        split = replace(split, count=count, changes=[*split.changes], notes=[*split.notes])
        last.splits.append(split)
    probe = Item(words=last.words, names=last.names)
    out.give(probe, rest)
    split.changes += probe.changes
    return True


def the_one(out: Outcome, said: Said) -> bool:
    """Carry out "the hot one large with feta": what comes first says which, the rest is to be."""
    if not said.definite or said.article or not said.options:
        return False
    if not said.count and of_split(out, said):
        return True
    found, rest = told_first(out, said, out.things)
    if len(found) != 1 or not rest.described or said.count not in (None, found[0].quantity):
        return False  # "the two plain ones with corn" are all that are plain
    rest.count = None
    told = [one for one in said.options if one not in rest.options]
    parts = out.matcher.made_with(found[0].parts, told) if told else []
    if len(parts) == 1 and out.matcher.able(parts[0], rest):
        out.give(parts[0], rest)  # "make the coke large", which is the soda of a combo
        out.touch(found[0])
    else:
        out.change_each(rest, found)
    return True


def told_first(out: Outcome, said: Said, things: Sequence[Item]) -> tuple[list[Item], Said]:
    """Tell by what comes first, a size or a choice, which of some things is meant; the rest it is to be."""
    if said.plain and said.ref == "one" and any(one.changes for one in things):
        able = [one for one in things if not one.changes and out.matcher.able(one, said)]
        return able, replace(said, ref="", plain=False)  # "the plain one gets olives"
    by_size = sized(out, things, said.size.words) if said.size is not None else []
    first, last = said.options[0], said.options[-1]
    at = -1 if first.no and not last.no else 0  # "no celery with the honey garlic ones"
    by_choice = out.matcher.described(things, [said.options[at]])
    if by_size and (not by_choice or said.size_first and len(by_size) == 1):
        return by_size, replace(said, ref="", size=None)  # "the small one on gluten free crust"
    rest = [one for one in said.options if one is not said.options[at]]
    return by_choice, replace(said, ref="", options=rest)


def _this_one(out: Outcome, said: Said) -> bool:
    """Carry out "the second one with ham"."""
    found = targets(out, said)
    if not found:
        return False
    if all(out.matcher.able(item, said) for item in found):
        out.change_each(
            replace(said, ref="", count=None), found, said.count if said.partial else None
        )
        return True
    return out.ask_which(said, out.there)
