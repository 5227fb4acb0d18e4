"""Corrections of more than one thing: the whole order said again, only one of it, and taking changes back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Draft, LineSeen, OrderSeen
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.order.outcome import NO_EFFECT, Outcome
from bella_vista.local.understanding.order.parts import on_order
from bella_vista.local.understanding.order.settling import shared_out
from bella_vista.local.understanding.readings.said import Said
from state.menu.words import stems

_TAKEN_BACK = 0.4
"""How much more likely a "leave it" takes something back, where there is something to take back."""


def said_again(outcome: Outcome, reading: Sequence[Said]) -> tuple[list[Item], Sequence[Said]]:
    """Return the lines in whose place a correction comes, and what comes there.

    These are all lines, or those of one dish that is shared out: "no, three pizzas, one without olives".
    """
    if _says_whole_order(outcome, reading):
        return [*outcome.lines], reading
    again = _as_correction(reading)
    first = again[0] if again else Said()
    shared = 0
    for said in again[1:]:
        points = said.definite or said.ordinal or said.half or said.verb or said.become
        if said.head or points or said.more or not said.described:
            break
        shared += said.number or (1 if said.ref == "one" else 0)
    apart = first.verb or first.become or first.more or first.besides or first.instead
    if not (first.correct and first.head and first.count) or apart or not shared:
        return [], reading
    found = outcome.matcher.named(first.mask, outcome.there)
    before = outcome.situation.before
    had = {one.line.id: one.line for one in before or () if one.line is not None}
    fresh = [one for one in found if one.line is not None and had.get(one.line.id) != one.line]
    found = fresh or found
    unclear = len({item.names for item in found}) != 1 or bool(outcome.waiting)
    unclear = unclear or (len(found) == 1 and shared < first.count)  # the rest of it stays
    if unclear or (shared > first.count and not first.described):
        return [], reading
    told = replace(first, correct=False, firmly=False, meant=False)  # nothing of it is there now
    return found, [told, *again[1:]]


def _as_correction(reading: Sequence[Said]) -> Sequence[Said]:
    """Take "make that three pizzas" for "no, three pizzas"."""
    first, rest = (reading[0], reading[1:]) if reading else (Said(), ())
    if first.verb != "change" or first.described or first.more or first.partial:
        return reading
    points, become = first.ref == "it" and not first.head, first.become
    if points and become is None and rest and rest[0].head:
        return [replace(rest[0], correct=True), *rest[1:]]
    if points and become is not None and become.head:
        return [replace(become, correct=True), *rest]
    if first.head and first.definite and become is None:
        return [replace(first, verb="", definite=False, correct=True), *rest]
    return reading


def _says_whole_order(outcome: Outcome, reading: Sequence[Said]) -> bool:
    """Whether a correction is the whole order: it names at least as much as the order holds."""
    named = [said for said in reading if said.head is not None]
    if len(named) < 2 or not reading[0].correct or outcome.waiting or not outcome.there:
        return False
    if any(said.verb or said.become or said.more or said.instead for said in reading):
        return False
    if any(said.head is None and said.ref != "all" for said in reading):
        return False
    if any(said.besides for said in reading):
        return False
    made = [outcome.make(said) for said in named]
    if not all(item.name for item in made):
        return False  # it is not known yet what comes
    kinds = {outcome.matcher.section(item) for item in made}
    if any(outcome.matcher.section(item) not in kinds for item in outcome.there):
        return False  # something is left that nothing takes the place of
    held = sum(item.quantity or 1 for item in outcome.there)
    return sum(said.number or 1 for said in named) >= held


def put_in_place(outcome: Outcome, old: Sequence[Item]) -> None:
    """Put what was said again in the place of lines: those that were named again stay lines, the others go.

    Args:
        outcome: What was said, all of it as new things.
        old: The lines in whose place it comes.
    """
    kitchen = outcome.kitchen
    outcome.items = [one for item in outcome.items for one in shared_out(item, kitchen)]
    named = [item.names for item in outcome.items]
    whole = [item for item in outcome.items if named.count(item.names) == 1]
    left, had, sizes = [*old], [*old[0].changes], {line.size for line in old}
    for alike in (_is_the_same, _is_of_size, _is_of_dish):
        for line in [*left]:
            item = next((one for one in outcome.items if alike(one, line, kitchen)), None)
            if item is None:
                continue
            left.remove(line)
            outcome.items.remove(item)
            item.size = item.size or line.size
            if item in whole:
                item.changes = item.changes or list(line.changes)
            else:
                item.changes = [*_lacking(item, line.changes, kitchen), *item.changes]
            item.parts = item.parts or line.parts
            outcome.become(line, item)
            line.quantity = item.quantity
    for line in left:
        outcome.take_off(line, None)
    for item in outcome.items:
        if item not in whole and item.names == old[0].names and len(sizes) == 1:
            item.size = item.size or [*sizes][0]
            item.changes = [*_lacking(item, had, kitchen), *item.changes]


def _is_of_dish(item: Item, line: Item, kitchen: Kitchen) -> bool:
    return item.names == line.names


def _is_of_size(item: Item, line: Item, kitchen: Kitchen) -> bool:
    return item.names == line.names and item.size == line.size


def _is_the_same(item: Item, line: Item, kitchen: Kitchen) -> bool:
    told, had = (
        {
            stems(change)
            for change in one.changes
            if change.startswith("no ") or not kitchen.has(one.name, change)
        }
        for one in (item, line)
    )
    return item.names == line.names and item.size in (None, line.size) and told == had


def _lacking(item: Item, had: Sequence[str], kitchen: Kitchen) -> list[str]:
    """Return the choices that were had of which a thing has one as well, and that were not said of it."""
    kept = item.changes or kitchen.lacks(item.name, item.changes)  # "one plain" has the usual ones
    return [
        one
        for one in had
        if kept
        and kitchen.must_choose(item.name, one)
        and not any(kitchen.same_group(item.name, one, told) for told in item.changes)
    ]


def only(outcome: Outcome, said: Said, there: Sequence[Item]) -> bool:
    """Leave only what is named of the order: "just the ramen"."""
    others = [item for item in outcome.there if item not in there]
    if not (said.exact and said.definite and len(there) == 1 and (others or outcome.removed)):
        return False
    if said.count is not None or said.described or outcome.items:
        return False
    for item in others:
        outcome.take_off(item, None)
    outcome.touch(there[0])
    return True


def take_back(outcome: Outcome, before: Sequence[Item] | None, *, added: bool) -> None:
    """Take back what was changed last: in this line, or else by the guest's last message.

    Args:
        outcome: The order.
        before: The lines as they were before the last change; ``None`` when that is not known.
        added: Whether what was new goes, too.
    """
    if outcome.touched:
        last = outcome.touched.pop()
        if last.line is not None:
            outcome.become(last, on_order(last.line, outcome.kitchen))
            last.quantity, last.gone = last.line.quantity, 0
            outcome.touched.remove(last)
        outcome.removed = None
        outcome.penalty -= _TAKEN_BACK
        return
    changed = False
    ids = {line.line.id: line for line in outcome.lines if line.line is not None}
    for old in before or ():
        line = ids.pop(old.line.id, None) if old.line is not None else None
        if line is None:
            fresh = old.copy(old.quantity or 1)
            fresh.spoken = outcome.place
            outcome.add(fresh)
            changed = True
        elif _content(line) != _content(old):
            outcome.become(line, old.copy(old.quantity or 1))
            line.quantity = old.quantity
            changed = True
    for line in ids.values() if added and before is not None else ():
        outcome.take_off(line, None)
        changed = True
    outcome.penalty += -_TAKEN_BACK if changed else NO_EFFECT


def counts_newest(outcome: Outcome, said: Said) -> bool:
    """Set the number of the line that came since something waits for an answer: "actually three"."""
    counted = said.become or said
    waited = outcome.waiting and all(one.waited for one in outcome.waiting)
    if not (waited and counted.count and (said.become or said.correct)):
        return False
    if counted.head or counted.described or said.head or said.described or outcome.items:
        return False
    newest = outcome.changed_just_before(counted=True)
    if newest is None:
        return False
    outcome.count(newest, counted.count)
    outcome.touch(newest)
    return True


def bring_back(outcome: Outcome, said: Said, before: Sequence[Item] | None) -> bool:
    """Put a line back that was taken off: "put the cola back"."""
    there = {line.line.id for line in outcome.there if line.line is not None}
    gone = [old for old in before or () if old.line is not None and old.line.id not in there]
    found = outcome.matcher.named(said.mask, gone)
    if not found or said.described:
        return False
    fresh = found[-1].copy(said.count or found[-1].quantity or 1)
    fresh.spoken = said.place
    outcome.add(fresh)
    return True


def changed_line(order: OrderSeen) -> tuple[LineSeen, LineSeen | None] | None:
    """Return the one line that the guest's last message changed, if it did no more.

    Returns:
        The line as it was, and as it is; nothing in its place when it was taken off.
    """
    was = {line.id: line for line in order.before.items} if order.before is not None else {}
    now = {line.id: line for line in order.items}
    changed = [line for line in was.values() if now.get(line.id) != line]
    if len(changed) != 1 or not now.keys() <= was.keys():
        return None
    old, new = changed[0], now.get(changed[0].id)
    if new is None:
        return None if old.parts else (old, None)
    return (old, new) if (old.name, old.parts) == (new.name, new.parts) else None


def in_another_line(
    old: LineSeen, new: LineSeen | None, other: LineSeen, kitchen: Kitchen
) -> Sequence[Draft] | None:
    """Take a change back and make it in another line: "no, I meant the second one".

    Args:
        old: The line that was changed, as it was.
        new: The same as it is; ``None`` if it was taken off.
        other: The line that was meant.
        kitchen: Knows how dishes can be had.

    Returns:
        The commands; ``None`` if the other line cannot be changed like that.
    """
    if new is None:
        again = {"name": old.name, "quantity": old.quantity, "size": old.size}
        made = {"modifications": [*old.modifications]} if old.modifications else {}
        return (
            Draft("add_item", {key: one for key, one in (again | made).items() if one is not None}),
            Draft("remove_item", {"line_id": other.id}),
        )
    come = [one for one in new.modifications if one not in old.modifications]
    gone = [one for one in old.modifications if one not in new.modifications]
    if not all(kitchen.fits(other.name, one) for one in come):
        return None
    size = kitchen.size(other.name, new.size) if new.size != old.size and new.size else None
    if new.size != old.size and size is None:
        return None
    back: dict[str, Any] = {"line_id": new.id}
    there: dict[str, Any] = {"line_id": other.id}
    if new.size != old.size:
        back["size"], there["size"] = old.size, size
    if come or gone:
        kept = [
            one
            for one in other.modifications
            if one not in gone and not any(kitchen.excludes(other.name, one, way) for way in come)
        ]
        back["modifications"] = [*old.modifications]
        there["modifications"] = [*kept, *(one for one in come if one not in kept)]
    if new.quantity != old.quantity:
        fewer = new.quantity < old.quantity
        count = other.quantity + new.quantity - old.quantity if fewer else new.quantity
        if count < 1:
            return None
        back["quantity"], there["quantity"] = old.quantity, count
    return Draft("change_item", back), Draft("change_item", there)


def _content(item: Item) -> tuple[object, ...]:
    return item.names, item.quantity, item.size, item.changes, [_content(one) for one in item.parts]
