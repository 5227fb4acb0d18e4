"""Gives what was said to the things that wait for an answer."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.grammar.grammar import AND, BUT
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.order.combos import tell_each_part, tell_part
from bella_vista.local.understanding.order.matching import plainest
from bella_vista.local.understanding.order.outcome import WHICH, Outcome, Which
from bella_vista.local.understanding.order.targets import sized
from bella_vista.local.understanding.readings.said import Said
from state.menu import Combo
from state.menu.words import stems


def names_one(outcome: Outcome, said: Said) -> bool:
    """Take a dish as the answer to which one was meant, or to what a combo comes with."""
    for item in outcome.waiting:
        combo = outcome.kitchen.combo(item.name)
        if item in outcome.settled:
            if said.correct and item.changes:
                item.changes.pop()
            elif combo is None and not said.definite:
                continue  # "both large, and the club on rye": that one again
        lacking = [part for part in item.parts if outcome.kitchen.fills(part, said.words)]
        if combo is not None and lacking and said.number is None:  # it is asked before other parts
            lacking[0].changes += [said.words, *(option.words for option in said.options)]
            outcome.settle(item)
            return True
        if combo is not None and _becomes_part(outcome, item, combo, said):
            outcome.settle(item)
            outcome.waiting.insert(0, outcome.waiting.pop(outcome.waiting.index(item)))
            for other in outcome.waiting[1:] if said.both else ():
                of_other = outcome.kitchen.combo(other.name)
                if of_other is not None and _becomes_part(outcome, other, of_other, said):
                    outcome.settle(other)  # "a cola for both"
            return True
        if len(item.names) == 1:
            if outcome.kitchen.fills(item, said.words):
                every = [one for one in outcome.waiting if one not in outcome.settled]
                for one in every if said.both else [item]:
                    if outcome.kitchen.fills(one, said.words):
                        one.changes += [said.words, *(option.words for option in said.options)]
                        outcome.settle(one)
            elif _named_after_all(outcome, item, said):
                item.names, item.words = outcome.index.names(said.mask), said.words
                item.quantity = said.count if said.count is not None else item.quantity
                outcome.give(item, said)
            elif _named_again(outcome, item, said):
                _fill(outcome, item, said)
            else:
                continue
            outcome.settle(item)
            return True
        named = [name for name in item.names if outcome.index.bit(name) & said.mask]
        if len(named) == 1:
            item.names, item.words, item.near = (named[0],), said.words, ()
            if said.count is not None:
                item.quantity = said.count
            outcome.give(item, said)
            outcome.settle(item)
            return True
    return False


def meant_of_waiting(outcome: Outcome, said: Said) -> list[Item]:
    """Return those that wait and are meant together: "rice with both", "white for the other two"."""
    if said.head is not None or outcome.items:
        return []
    if said.ref == "all":
        return outcome.waiting
    left = [item for item in outcome.waiting if item not in outcome.settled]
    return left if said.ref == "rest" or (said.ref == "other" and len(left) == 1) else []


def _becomes_part(outcome: Outcome, item: Item, combo: Combo, said: Said) -> bool:
    named, fits = outcome.index.names(said.mask), outcome.kitchen.room_for
    kept = item.parts
    there = [part for part in kept if part.name in named and not (part.size or part.changes)]
    if not (there or _with_room(outcome, combo, kept, named)):
        kept = [part for part in kept if not _only_in_name(outcome, combo, part)]
    taken, room = [part.name or "" for part in kept], _with_room(outcome, combo, kept, named)
    if there and not room:  # the chicken of a chicken menu, said again with how it is to be
        outcome.give(there[0], said)
        return True
    if said.correct and item in outcome.settled and not room and (said.number or 1) == 1:
        return outcome.takes_part(item, outcome.make(said))  # "and a cola, no wait, a tea"
    if not room or (len(room) != len(named) and len(room) != 1):
        return False
    room = [*plainest(room)]
    pieces = outcome.kitchen.in_pieces(room[0], said.number or 1) if said.size is None else None
    several = [room[0]] * (pieces[1] if pieces else said.number or 1)
    if not all(fits(combo, [*taken, *several[:at]], name) for at, name in enumerate(several)):
        return False  # "and two colas", where one comes in it
    item.parts = [*kept]
    for _ in several:
        part = Item(words=said.words, names=tuple(room), size=pieces[0] if pieces else None)
        part.filling = said.filling
        outcome.give(part, said)
        item.parts.append(part)
    return True


def _with_room(
    outcome: Outcome, combo: Combo, parts: Sequence[Item], named: Sequence[str]
) -> list[str]:
    taken = [part.name or "" for part in parts]
    return [name for name in named if outcome.kitchen.room_for(combo, taken, name)]


def _only_in_name(outcome: Outcome, combo: Combo, part: Item) -> bool:
    """Whether a part is only what the combo is called by: the gyro of a gyro meal; another may be chosen."""
    dish = outcome.kitchen.dish(part.name)
    own = set(stems(" ".join((combo.name, *combo.aliases))))
    called = (dish.name, *dish.aliases) if dish is not None else ()
    return not (part.size or part.changes) and any(set(stems(one)) <= own for one in called)


def _named_after_all(outcome: Outcome, item: Item, said: Said) -> bool:
    """Whether a dish is named where only its kind was before: "a doner", "the chicken doner"."""
    dish = outcome.kitchen.dish(item.name)
    names = outcome.index.names(said.mask)
    if dish is None or len(names) != 1 or names[0] == item.name or said.joint == AND:
        return False
    kind, narrower = stems(dish.section), {*stems(names[0])}
    other = outcome.kitchen.dish(names[0])
    generic = any(
        stems(name) == kind or {*stems(name)} < narrower for name in (dish.name, *dish.aliases)
    )
    return generic and other is not None and other.section == dish.section


def _named_again(outcome: Outcome, item: Item, said: Said) -> bool:
    """Whether a thing that waits is named with what it waits for: "large fries"."""
    named = item.name in outcome.index.names(said.mask)
    named = named and (said.definite or item not in outcome.settled)
    return named and said.described and not said.more and outcome.matcher.able(item, said)


def fill(outcome: Outcome, said: Said) -> bool:
    """Give a number, a size or changes to a thing that waits for them."""
    for item in outcome.waiting:
        if item.quantity is None and said.count is not None:
            item.quantity = said.count
            outcome.give(item, said)
            outcome.settle(item)
            return True
    if not said.described:
        return of_asked(outcome, said)
    # A dish that lacks a size or a choice comes before one that could still be several.
    for item in _nth(outcome, said) or sorted(
        outcome.waiting, key=lambda one: (one in outcome.settled, len(one.names) > 1)
    ):
        told = tell_part(outcome, item, said) or tell_each_part(outcome, item, said)
        if not (told or outcome.matcher.able(item, said)):
            continue
        if not told:
            _fill(outcome, item, said)
        if len(item.names) > 1:
            item.names = outcome.index.names(outcome.narrowed(outcome.matcher.mask(item), said))
        outcome.settle(item)
        return True
    return False


def _nth(outcome: Outcome, said: Said) -> list[Item]:
    """Return the one of several alike that wait which an ordinal means: "both rare, no, the second well done"."""
    alike = [one for one in outcome.waiting if one.names == outcome.waiting[0].names]
    at = said.ordinal or 0
    return alike[at - (at > 0) :][:1] if 0 < abs(at) <= len(alike) > 1 else []


def of_asked(outcome: Outcome, said: Said) -> bool:
    """Give a number, or what it can have, to the thing that was asked about."""
    item = outcome.waiting[0]
    if said.described and not outcome.matcher.able(item, said):
        return False
    said = outcome.in_pieces(item, said)
    if said.count is not None:
        item.quantity = said.count
    outcome.give(item, said)
    outcome.settle(item)
    return True


def _fill(outcome: Outcome, item: Item, said: Said) -> None:
    said = outcome.in_pieces(item, said)
    several, again = (item.quantity or 1) > 1, item in outcome.settled
    number = 1 if said.count is None and said.ref == "one" and not said.definite else said.count
    if number is not None and several and number <= left(item):
        outcome.split(item, said, number)
    elif again and said.size and item.size and several and not item.splits:
        # "Small and large", of two.
        item.splits = [Split(1, size=item.size), Split(None, size=said.size.words)]
        item.size = None
    else:
        if (said.correct or said.joint == BUT) and again and item.changes:
            item.changes.pop()
        outcome.give(item, said)
        if said.count is not None:
            item.quantity = said.count


def left(item: Item) -> int:
    """Return how many of several are as they were ordered."""
    return (item.quantity or 1) - sum(split.count or 0 for split in item.splits)


def meant_line(outcome: Outcome, which: Which, said: Said) -> list[Item]:
    """Return the lines that answer which one was meant; none while it is not known."""
    ids = [item.line.id for item in which.lines if item.line]
    found = [item for item in outcome.lines if item.line is not None and item.line.id in ids]
    if said.ref in ("all", "whole", "them"):
        return found
    found = [one for one in found if one.line and one.line.id in said.lines] or found
    if said.head is not None:
        parted = [one for one in found if outcome.matcher.named(said.mask, one.parts)]
        found = outcome.matcher.named(said.mask, found) or parted
    if said.options:
        found = outcome.matcher.made_with(found, said.options)
    if said.size is not None:
        found = sized(outcome, found, said.size.words)
    if said.plain:
        found = [item for item in found if not item.changes]
    if said.ordinal is not None:
        at = said.ordinal - 1 if said.ordinal > 0 else len(found) + said.ordinal
        found = found[at : at + 1] if 0 <= at < len(found) else []
    return found if len(found) == 1 else []


def take_back_question(outcome: Outcome) -> bool:
    """Take back the question which line is meant, where this line of the guest's asked for it."""
    asked = [one for one in outcome.questions if one.code == "which_line"]
    if not asked:
        return False
    outcome.questions.remove(asked[-1])
    outcome.penalty -= WHICH
    return True


def without_verb(which: Which) -> Said:
    """Return what is to be done with the line that is meant."""
    return which.said.become or replace(which.said, head=None)
