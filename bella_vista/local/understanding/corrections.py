"""Corrections of more than one thing: the whole order said again, only one of it, and taking changes back."""

from collections.abc import Sequence
from typing import Any

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Draft, LineSeen, OrderSeen
from bella_vista.local.understanding.outcome import NO_EFFECT, Outcome
from bella_vista.local.understanding.parts import on_order
from bella_vista.local.understanding.said import Said

_TAKEN_BACK = 0.4
"""How much more likely a "leave it" takes something back, where there is something to take back."""


def says_whole_order(outcome: Outcome, reading: Sequence[Said]) -> bool:
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


def put_in_place(outcome: Outcome, lines: Sequence[Item]) -> None:
    """Make an order what was said again: lines that were named again stay lines, the others go.

    Args:
        outcome: What was said, all of it as new things.
        lines: The lines that the order had.
    """
    outcome.lines = lines
    for line in lines:
        again = [item for item in outcome.items if item.names == line.names]
        same = [item for item in again if item.size == line.size]
        item = next(iter([*same, *again]), None)
        if item is None:
            outcome.take_off(line, None)
            continue
        outcome.items.remove(item)
        item.size = item.size or line.size
        item.changes = item.changes or list(line.changes)
        item.parts = item.parts or line.parts
        outcome.become(line, item)
        line.quantity = item.quantity


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
