"""One thing in the place of another: "a caprese instead of the margherita"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.menu.index import Entity
from bella_vista.local.understanding.order.combos import change_part
from bella_vista.local.understanding.order.outcome import NEW_THOUGH_THERE, NOT_THERE, Outcome
from bella_vista.local.understanding.order.targets import targets
from bella_vista.local.understanding.readings.said import Option, Said


def moved_from(out: Outcome, said: Said) -> bool:
    """Take off a thing what was just put on another: "the cheese on the chicken, not the beef one"."""
    put = [one for one in out.put if not one.no]
    named = out.of_lines(said) if said.lines else targets(out, said) if said.head else []
    had = (
        [item for item in out.matcher.made_with(named, put) if item is not out.spoken]
        if put
        else []
    )
    for item in had:
        out.writer.give_way(item, put)
        out.touch(item)
    return bool(had)


def means_another(out: Outcome, said: Said, following: Sequence[Said]) -> bool:
    """Whether it is only said which line is not meant: "the tofu one, not the pork one"."""
    if not said.lines:
        return False
    after = following[0] if following else Said()
    meant = [*out.of_lines(after), *out.touched]
    return bool(meant) and not any(item in meant for item in out.of_lines(said))


def instead_of(out: Outcome, said: Said) -> None:
    """Note what is to go: "a caprese instead of the margherita"."""
    if said.count is not None and said.head is None and not said.ref and not said.described:
        return  # "two, not three"
    if said.ref == "one" and not (said.options or said.size):
        out.penalty += NOT_THERE  # "two, not one"
        return
    if said.head is None and not said.ref and said.options:
        item = out.last
        words = [one.entity.words for one in said.options]
        if item in out.items and not any(out.kitchen.answers(item.name, one) for one in words):
            had = [
                other for other in out.items if all(out.matcher.has(other, one) for one in words)
            ]
            item = had[-1] if had else item  # "a hot dog with slaw instead of relish"
        if item is not None:
            if item in out.items and not item.counted:
                same = out.matcher.made_with(
                    out.matcher.named(out.matcher.mask(item), out.there), said.options
                )
                if same:  # "kimbap beef, not tofu"
                    out.items.remove(item)
                    same[-1].size = item.size or same[-1].size
                    same[-1].changes += item.changes
                    item = same[-1]
            if not out.writer.give_way(item, said.options):  # "ranch instead of blue cheese"
                out.penalty += NOT_THERE
            out.touch(item)
            return
    if said.ref == "one" and said.head is None and said.options and _gone_from_a_piece(out, said):
        return
    spoken = out.spoken
    if said.ref == "one" and said.head is None and spoken in out.touched and spoken is not None:
        if said.options and out.matcher.made_with([spoken], said.options):
            out.writer.give_way(spoken, said.options)  # "gorgonzola on it, not the lemon one"
            return
    if said.within and _of_a_part(out, said):
        return
    if said.ref in ("other", "rest") and said.head is None and out.fewer is not None:
        return  # "only one cola, a tea instead of the other one": that one is gone already
    found = targets(out, said) if said.head is not None or said.ref else []
    found = [item for item in found if item.line is not None] or found
    if found:
        old, fresh = found[-1], [item for item in out.items if item is not found[-1]]
        if said.partial:
            old = out.pieces(old, said.count)  # "instead of one of the small lattes"
        several = said.plural or said.ref == "them" or (said.count or 1) > 1
        if fresh and fresh[-1].spoken < said.place:
            out.items.remove(fresh[-1])
            out.give_place(old, fresh[-1])
            if several and fresh[-1].counted:
                old.quantity = fresh[-1].quantity
        else:
            out.gives_way, out.several_give_way = old, several
        return
    if said.head is not None and out.items:
        if _of_a_part(out, said):
            return
        if not out.there:
            out.penalty += 1.0  # it was never ordered: nothing is to go
            return
    if said.head is not None and (out.gave_way(said.mask) or _in_place_of_a_choice(out, said)):
        return
    out.penalty += NOT_THERE
    if said.head is not None:
        out.not_found(said)


def _of_a_part(out: Outcome, said: Said) -> bool:
    """Put what was named last in the place of a part of a combo: "a sprite instead of the coke in it"."""
    new = out.items[-1] if said.head is not None and out.items else None
    if new is None:
        return False
    become = Said(head=said.head, mask=out.matcher.mask(new), words=new.words)
    if not change_part(out, said, become, new):
        return False
    out.items.remove(new)
    return True


def _gone_from_a_piece(out: Outcome, said: Said) -> bool:
    """Whether some of a line has it no more: "one of the meals with a veggie roll, not the pork one"."""
    pieces = ((item, item.source) for item in out.items if item.source is not None)
    return any(
        out.matcher.made_with([was, *was.parts], said.options)
        and not out.matcher.made_with([item, *item.parts], said.options)
        for item, was in pieces
    )


def _in_place_of_a_choice(out: Outcome, said: Said) -> bool:
    """Take both dishes for choices of one kind: "corn instead of the rice", which comes on a plate."""
    fresh = out.items[-1] if out.items else None
    if fresh is None or fresh.changes or fresh.size or fresh.counted:
        return False
    for item in reversed(out.there):
        old = out.kitchen.made(item.name, said.words) or ()
        new = out.kitchen.made(item.name, fresh.words)
        if new and any(
            one in item.changes and out.kitchen.same_group(item.name, one, fresh.words)
            for one in old
        ):
            out.items.remove(fresh)
            out.writer.give_way(item, [Option(Entity("option", said.words))], [fresh.words])
            out.give(item, Said(options=[Option(Entity("option", fresh.words))]))
            out.touch(item)
            return True
    return False


def in_place_of_another(out: Outcome, said: Said) -> None:
    """Put what is named in the place of what was said to give way, or of the last of its kind."""
    if out.part_gives_way is not None and change_part(out, out.part_gives_way, said):
        return
    item = out.make(said)
    old = out.gives_way or out.removed
    several = out.gives_way is not None and out.several_give_way
    out.gives_way = out.removed = None
    topic = out.asked_about()
    if old is None and said.instead and (out.fewer or topic and not out.kitchen.serves(topic)):
        # "Do you have the honey bread? Two baklavas instead", as it is sold out; "only two colas,
        # and a tea instead", where there were three.
        out.add(item)
        return
    if old is None and said.instead:
        same = [
            one for one in out.there if out.matcher.section(one) == out.matcher.section(item) != ""
        ]
        if not same and _in_place_of_a_part(out, item):
            return
        if not same and any(out.kitchen.made(one.name, said.words) for one in out.there):
            out.penalty += NEW_THOUGH_THERE  # "hash browns instead", of a breakfast with potatoes
        if not same and item.name and len(out.there) > 1 and out.spoken is None:
            if out.ask_which(replace(said, become=said, head=None), out.there):
                return
        old = next(iter((same or out.there or out.items)[-1:]), None)
    named = said.described and out.matcher.named(
        out.matcher.mask(item) or said.mask, [old] if old else []
    )
    if old is not None and 0 < old.gone < (old.quantity or 1) and not named:
        if said.number is None:
            item.quantity = old.gone
        out.add(item)  # "drop one of the teas and get me a cola instead": the others stay
    elif old is not None and named:
        out.change(old, said)  # "a shake with peanut butter instead"
    elif old is None or (old.line is None and old not in out.items):
        out.add(item)
    else:
        old.gone = 0
        out.give_place(old, item)
    if old is not None and several and item.counted:
        old.quantity = item.quantity  # "instead of the two colas a sprite"


def _in_place_of_a_part(out: Outcome, item: Item) -> bool:
    """Put what comes instead in the place of what is like it in a combo: "a latte instead"."""
    for combo in reversed(out.there):
        alike = [
            part for part in combo.parts if out.matcher.section(part) == out.matcher.section(item)
        ]
        if alike and out.takes_part(combo, item):
            return True
    return False
