"""Changing what is on the order: "make the latte large", "swap the ham for mushrooms"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.order.combos import change_part
from bella_vista.local.understanding.order.fragments import fragment
from bella_vista.local.understanding.order.outcome import (
    LOOSE,
    NEW_THOUGH_THERE,
    NO_EFFECT,
    NOT_THERE,
    Outcome,
)
from bella_vista.local.understanding.order.removing import leave_off
from bella_vista.local.understanding.order.shares import of_split, the_one
from bella_vista.local.understanding.order.targets import several, sized, targets
from bella_vista.local.understanding.order.waiting import fill, meant_of_waiting, of_asked
from bella_vista.local.understanding.readings.said import Option, Said
from state.menu.words import stems

_WHOLE = 3
"""So many words may point at the whole of a thing."""


def change(out: Outcome, said: Said, following: Sequence[Said] = ()) -> None:
    """Change what is meant."""
    become = said.become if said.become is not None else said
    if become is not said and become.empty:
        out.penalty += NO_EFFECT
        return
    become.more = become.more or said.more  # "one more shot in it"
    turns = become.head is not None or (said.ref == "other" and become is not said)
    if said.ref in ("one", "other") and out.fewer is not None and turns:
        fresh = out.fewer.copy(1) if become.head is None else out.make(become)
        if become.head is None:  # "only one small tea, the other one should be a large"
            out.give(fresh, become)
        out.add(fresh)  # that one is on the order no more
        out.fewer = None
        return
    shared = said.verb == "swap" and said.partial and said.head is None
    if become is said and (said.inside or shared):
        out.penalty += NO_EFFECT  # "swap the ham in the panino", "two of the rolls": and for what?
    within = said.verb == "swap" and said.options and said.head is None
    if out.waiting and said.ref == "it" and become is not said and not out.items:
        named = become.head is None or out.matcher.named(become.mask, out.waiting[:1])
        if named and of_asked(out, replace(become, head=None)):
            return  # "make it two", of what was asked about
    puts_on = said.on and become.head is None and len(out.waiting) > 1
    together = meant_of_waiting(out, said) if puts_on else []
    if together and all(out.matcher.able(item, become) for item in together):
        for item in together:
            out.give(item, become)  # "rice with both of them"
            out.settle(item)
        return
    if said.ref == "it" and become.lines and become.count and not become.described:
        for item in out.of_lines(become)[:1]:
            out.count(item, become.count)  # "make it three of the chocolate": that line
            out.touch(item)
        return
    if become is not said and become.lines and not within:
        out.penalty += NOT_THERE  # nothing becomes what is there already
    if become is not said and said.parts:
        become = replace(become, parts=said.parts)  # "make it a combo with fries"
    if said.within and become is not said and change_part(out, said, become):
        return  # "make the cola in the meal large"
    swaps = said.verb == "swap" and become is not said and (become.options or become.head)
    if swaps and said.options and (said.head is None or said.inside):
        _swap_option(out, said, become)
        return
    new = out.items[-1] if out.items else None
    if said.on and said.ref in ("rest", "other") and new is not None and new.splits:
        out.split(new, become, None)  # "two wraps, one with ham and olives on the other"
        return
    if said.on and said.head is None and not said.ref:
        if _on_the_described(out, said, become):
            return
        if all(option.no for option in become.options):
            leave_off(out, become)
        else:
            fragment(out, become)
        return
    if become is said and said.ref == "one" and said.definite and said.ordinal is None:
        if not the_one(out, said):
            out.penalty += NO_EFFECT  # "make the large one": and how?
        return
    if become is not said and said.ref == "one" and become.head is None:
        both = replace(become, ref="one", definite=said.definite, size=said.size, count=said.count)
        both.options, both.partial = [*said.options, *become.options], said.partial
        if become.size is None and of_split(out, both):
            return  # "one small, one large, make the large one gluten free"
    if said.verb == "swap" and become is not said and become.head is None:
        become.instead = True  # "change the wings to honey barbecue"
    if said.on and said.ref == "it" and said.size is not None and become.size is None:
        become.size, said.size = said.size, None  # "large, and no banana in it"
    points = become.head is not None and said.ref == "it" and become is not said
    there = (
        out.matcher.named(become.mask, out.things) if points else []
    )  # "make it three tiramisus"
    found = targets(out, said)
    if said.ref == "it" and become is not said and become.count and not become.size:
        made = out.matcher.made_with(there or out.there, become.options) if become.options else []
        gone = out.removed if out.removed is not None and made else None
        if len(made) == 1 and (out.spoken is None if gone is None else made[0].names == gone.names):
            there = found = made  # "and make it 3 chicken"
            become = replace(become, options=[])
            if gone is not None:
                gone.gone = gone.quantity or 1
    if points:
        found = found if not there or any(item in there for item in found) else there[-1:]
        if following and following[0].verb == "instead-of" and following[0].head is not None:
            yields = out.matcher.named(following[0].mask, out.things)[-1:]
            if not yields and change_part(out, following[0], become):
                return  # "make it a sprite instead of the coke", which is in a combo
            found = yields or found
    some = said.partial and said.verb == "change" and not said.exact  # "make one of the colas"
    some = some and sum(item.quantity or 1 for item in found) > (said.count or 0)
    if become is said and not said.described and (said.count is None or some) and not said.twice:
        out.penalty += NO_EFFECT
        return
    if not found:
        bare = said.head is None or (become is said and not said.described)
        if bare or not change_part(out, said, become):
            _nothing_to_change(out, said, become)
        return
    if said.twice and len(found) == 1:
        found[0].quantity = 2 * (found[0].quantity or 1)
        out.touch(found[0])
        return
    telling = said.options and not (said.head or said.ref or become.head) and become is not said
    if telling and out.matcher.made_with(found, said.options) == found:
        said.options, become.instead = [], True  # "the strawberry should be banana"
    if become is not said and said.options:  # nothing is as it was described: that is wanted, too
        out.penalty += NOT_THERE
        become = replace(become, options=[*said.options, *become.options])
    if said.on and said.count is None and said.article:
        out.penalty += 0.3
    if said.on and said.count is not None and not said.partial:
        _counted(out, said, become, found)
    turns = become is not said and become.head is not None and become.number is None
    if turns and out.matcher.named(become.mask, out.there):
        out.penalty += NEW_THOUGH_THERE  # "make the fries large and the shake chocolate"
    note_both(out, said, found)
    found = _on_all_of_it(out, said, become, found)
    if become is said and several(said, found):
        for told in range(len(said.options) - 1, 0, -1):  # "the mango one be matcha instead"
            made = out.matcher.described(found, said.options[:told])
            if len(made) == 1:
                found, become = made, replace(said, head=None, options=said.options[told:])
                break
    _change_these(out, said, become, found)


def _on_the_described(out: Outcome, said: Said, become: Said) -> bool:
    """Put something on the one thing of a size, or with a choice: "bacon on the small"."""
    if not (said.size or said.options) or become.size is not None or not said.definite:
        return False
    found = sized(out, out.things, said.size.words) if said.size is not None else out.things
    if said.options:
        found = out.matcher.described(found, said.options)
        out.penalty += 0.0 if found else NOT_THERE
        if not found:
            out.not_found(said)
            return True
        said.options = []
    found = [item for item in found if out.matcher.able(item, become)] or found
    if len(found) > 1:
        return out.ask_which(said, found)
    out.change_each(become, found)
    return bool(found)


def _on_all_of_it(out: Outcome, said: Said, become: Said, found: list[Item]) -> list[Item]:
    """Keep what has something on one half, where that is to be on the whole of it."""
    ends = said.named[1] if said.head is not None else said.pointed + _WHOLE
    words = out.told(range(said.place, min(ends, out.length))).split()
    if not said.on or words_of("all of one thing").isdisjoint(words) or "order" in words:
        return found
    half = [
        item
        for item in found
        if any(out.writer.half_with(item, one.entity.words) for one in become.options)
    ]
    return half or found


def _counted(out: Outcome, said: Said, become: Said, found: Sequence[Item]) -> None:
    """Take "two sugars in the coffee" for two sugars, not for two coffees."""
    option = become.options[0] if become.options else None
    mask = out.matcher.mask(found[0])
    if option is not None and option.count == 1 and option.entity.tallied & mask:
        option.count, said.count = said.count or 1, None
        become.instead = become.instead or said.instead


def note_both(out: Outcome, said: Said, found: Sequence[Item]) -> None:
    """Note that "both" was said where there is only one."""
    if said.both and said.head is not None and sum(item.quantity or 1 for item in found) < 2:
        out.penalty += NOT_THERE + NEW_THOUGH_THERE


def of_waiting(out: Outcome, said: Said, become: Said) -> bool:
    """Give something to one of the things that wait, where it is named: "tahini in the falafel"."""
    found = out.matcher.named(said.mask, out.waiting) if said.head is not None else []
    if said.lines:  # "no cherry on the vanilla", of two shakes
        found = [one for one in found if one.line is not None and one.line.id in said.lines]
    if len(found) != 1 or become.head is not None or not out.matcher.able(found[0], become):
        return False
    out.give(found[0], become)
    out.settle(found[0])
    return True


def _change_these(out: Outcome, said: Said, become: Said, found: list[Item]) -> None:
    """Change what was meant: all of it, or so many pieces."""
    count = said.count if become is not said or said.partial else None
    if become is said and said.verb == "change" and said.count and said.described:
        if all((item.quantity or 1) > said.count for item in found):
            count, become = said.count, replace(said, count=None, head=None)
    if become is not said and said.partial and become.count is not None:
        out.penalty += LOOSE  # "make two of them with ham and two with egg"
    if not said.definite and said.ordinal is None:
        one = said.ref == "one" and said.count is None
        several_named = said.plural or said.ref == "all"  # "an egg on both burgers"
        if one or (become is not said and said.article and not several_named):
            count = 1
    if said.ref in ("all", "whole", "having") and said.head is None:
        able = [item for item in found if out.matcher.able(item, become)]
        able = able or [item for item in out.things if out.matcher.able(item, become)]
        if not able and all(one.no for one in become.options) and become.options:
            out.not_found(replace(become, words=become.options[0].entity.words))
            return  # "no olives on anything", and there are none
        found = able or found
    if become.head is not None and said.ref in ("all", "whole") and become.count:
        for item in found[1:]:  # "replace everything with two lasagnas"
            out.take_off(item, None)
        found = found[:1]
    if become.head is not None and said.head is None and len(found) > 1:
        kinds = {out.matcher.section(item) for item in found}
        if out.matcher.section(out.make(become)) not in kinds:
            out.penalty += NEW_THOUGH_THERE  # "make both oat": no two dishes become an oatmeal
    if said.instead and said.on and become.options:
        out.leaves_other(become.options, found)  # "put the egg on the melt instead"
    if said.ref == "them" and said.head is None:
        found = [
            item for item in found if out.matcher.able(item, become)
        ] or found  # the wings, not the pizza
    wanted = [option.entity.words for option in become.options]
    if wanted and (said.instead or (said.verb == "change" and not said.on)):
        become.instead = become.instead or all(
            out.kitchen.must_choose(item.name, words) for item in found for words in wanted
        )  # "make the wings hot": with another sauce than before
    apart = become is not said or said.partial
    some = said.head is not None and said.count is not None and apart
    if some:  # "ham on one of the pizzas"
        able = [item for item in found if (item.quantity or 1) >= (count or 1)]
        found = [item for item in able if not _is_so(item, become)] or found
    which = count is None or said.ref == "of-them" or some
    if several(said, found) and which and out.ask_which(said, found):
        return
    if count is not None and len(found) > 1:
        found = [i for i in found if (i.quantity or 1) >= count][-1:] or found[-1:]
    out.change_each(become, found, count)


def _is_so(item: Item, become: Said) -> bool:
    """Whether a thing has the size that it is to have."""
    only_size = become.size is not None and not become.options and become.head is None
    return only_size and stems(item.size or "") == stems(become.size.words if become.size else "")


def _nothing_to_change(out: Outcome, said: Said, become: Said) -> None:
    """Take a change of what is not there for an order, or say that it is not there."""
    if said.on and said.definite and said.mask & (said.mask - 1):
        able = [item for item in out.things if out.matcher.able(item, become)]
        if len(able) == 1 and become.options:
            out.penalty += NEW_THOUGH_THERE / 2
            out.change(able[0], become)  # "ketchup on the sandwich": it is called otherwise
            return
    if said.head is not None and (said.on or (said.verb == "change" and not said.definite)):
        # "Make one latte decaf", where there is none: it is ordered.
        out.penalty += 1.0 if not said.on else NEW_THOUGH_THERE if out.things else 0.0
        out.penalty += NOT_THERE if said.ref == "all" and out.there else 0.0  # "both pizzas"
        words = set(stems(said.words))
        if said.definite and any(words <= set(stems(one.name or "")) for one in out.things):
            out.penalty += NEW_THOUGH_THERE  # the one that is there is meant
        item = out.add(out.make(replace(said, become=None, on=False)))
        if become is not said:
            out.give(item, become)
    elif become.head is not None and not out.things:
        out.penalty += NEW_THOUGH_THERE
        out.add(out.make(become))
    elif become.head is not None or not out.waiting or not fill(out, become):
        out.penalty += NOT_THERE
        out.not_found(said)


def _swap_option(out: Outcome, said: Said, become: Said) -> None:
    """Put one thing on a dish in the place of another: "swap the ham for mushrooms"."""
    old = said.options[0].entity
    things = [*reversed(out.items), *reversed(out.there)]
    told = become.options[0].entity.words if become.options and old.kind != "group" else ""
    straight = any(
        out.matcher.has(i, old.words) and not out.matcher.has(i, told) for i in things if told
    )
    for item in things if told and not straight else ():
        if out.matcher.has(item, told) and not out.matcher.has(item, old.words):
            said, become = become, said  # "sub ranch for the mayo"
            old = said.options[0].entity
            break
    if told and not any(out.matcher.has(item, old.words) for item in things):
        before = out.told(range(max(0, said.place - 2), said.place)).split()
        single = (out.kitchen.made(i.name, w) for i in things for w in (old.words, told))
        if all(len(made or ()) == 1 for made in single) and not words_of("substitutes").isdisjoint(
            before
        ):  # "sub oat milk for the whole milk"
            become = replace(become, options=[*said.options, *become.options[1:]])
    if become.head is not None:  # "change the bun to brioche on the cheeseburger"
        things = [one for one in things if out.matcher.named(become.mask, (one, *one.parts))]
        become = replace(become, head=None)
    elif said.head is not None:  # "change the pork in the ramen to tofu"
        things = [one for one in things if out.matcher.named(said.mask, (one, *one.parts))]
    if said.size is not None:
        things = sized(out, things, said.size.words) or things
    having = [i for i in things if old.kind != "group" and out.matcher.has(i, old.words)]
    having = [i for i in having if out.matcher.able(i, become)] or having
    having = having or [i for i in things if out.matcher.able(i, become)]
    if not having or not become.options:
        out.penalty += NOT_THERE
        out.not_found(said)
        return
    item = having[0]
    if len(become.options) == 1 and out.writer.share(
        item, old.words, become.options[0], said.count if said.partial else None
    ):
        out.touch(item)
        return
    if old.kind == "group":
        out.writer.of_same_group(item, become.options)  # "change the side to rice"
    for option in become.options:
        option.half = option.half or out.writer.half_with(item, old.words)
    out.writer.give_way(item, [Option(old)], [option.words for option in become.options])
    out.give(item, become)
    out.touch(item)
