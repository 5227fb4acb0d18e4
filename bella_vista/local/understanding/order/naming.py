"""A dish is named: it is new, or one of those that are on the order, or what was said before is set right."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.understanding.grammar.grammar import (
    AFTER_VERB,
    AND,
    COMMA,
    NOTHING,
    ON,
    OR,
    STOP,
)
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.order.announcing import announce, announced_before
from bella_vista.local.understanding.order.changing import change, note_both
from bella_vista.local.understanding.order.combos import change_part, change_parts
from bella_vista.local.understanding.order.corrections import bring_back, only
from bella_vista.local.understanding.order.instead import in_place_of_another
from bella_vista.local.understanding.order.outcome import (
    NEW_THOUGH_THERE,
    NOT_THERE,
    Outcome,
)
from bella_vista.local.understanding.order.shares import some_of
from bella_vista.local.understanding.order.targets import sized
from bella_vista.local.understanding.order.waiting import left, names_one
from bella_vista.local.understanding.readings.said import Said
from state.menu.words import stems

_NEW_BY_THE = 0.5
"""The cost of "the burger" for one that is not on the order."""
_APART = frozenset((NOTHING, COMMA, STOP, AFTER_VERB))
_THESE = ("all", "them", "it")


def name_dish(out: Outcome, said: Said, following: Sequence[Said]) -> None:
    """Carry out what names a dish."""
    piece = any(
        one.source is not None for one in out.items
    )  # "make one of the colas a tea instead"
    if said.instead and out.waiting and not (out.settled or piece):
        out.waiting[0].quantity = 0  # it is given up for what is named now
        out.settle(out.waiting[0])
        said.instead = False
    if names_one(out, said) or _or_the_last(out, said):
        return
    if out.announced and announced_before(out, said):
        return
    if following and following[0].verb == "instead-of" and following[0].head is not None:
        said.instead = False  # what gives way is named
    there = out.of_lines(said) or out.matcher.named(said.mask, out.there)
    said.definite = said.definite or bool(there and said.ordinal)  # "first steak rare"
    if said.kept and there and not said.described and said.count is None:
        out.spoken = there[-1]
        return
    if said.ref == "all" and said.described:  # "both pizzas without onions"
        if found := out.matcher.named(said.mask, out.things):
            note_both(out, said, found)
            out.change_each(replace(said, head=None, count=None), found)
            return
        if change_part(out, replace(said, plural=True), replace(said, head=None, count=None)):
            return
        out.penalty += NOT_THERE
    definite = said.described and said.definite and said.count is None
    if definite and not out.matcher.named(said.mask, out.things):
        if change_part(out, said, replace(said, head=None)):
            return
    fresh = (
        out.matcher.named(said.mask, out.items) if definite and not (there or said.article) else []
    )
    if len(fresh) == 1 and said.joint in (ON, COMMA, STOP) and out.matcher.able(fresh[0], said):
        out.change(fresh[0], replace(said, head=None))  # "and for the pepperoni half mushrooms"
        return
    said.copies = said.copies or said.ref == "same"
    if (
        said.replaced
        and said.number is None
        and (old := out.matcher.made_with(there, said.replaced))
    ):
        if said.more or said.copies:
            out.repeat(old[-1], said)  # "another balti with paneer instead of vegetables"
        else:
            out.change(old[-1], said)  # "the kimbap with beef instead of tofu"
        return
    if said.back and (
        out.puts_back(said.words) or (not there and bring_back(out, said, out.situation.before))
    ):
        return
    if said.definite and said.parts and there and said.number is None and said.verb != "add":
        if change_parts(out, there[-1], said):  # "tots with the meal instead of the fries"
            return
    corrects = said.exact and (out.removed is not None or said.correct)
    alone = len(there) == 1 and (there[0].quantity or 1) == 1
    if corrects and said.article and said.size and alone and not (said.options or out.items):
        out.change(there[0], said)  # "take the fries off and just a small beer", of a large one
        return
    if said.recounts and len(there) == 1 and not said.described:
        out.change(there[0], said)
        return
    if said.recounts and _recount(out, said, there):
        return
    if said.within and _within(out, said):
        return
    if said.lines and (said.described or said.more) and _of_lines(out, said):
        return
    if only(out, said, there) or _speaks_of(out, said, following):
        return
    rest_stays = any(one.kept and one.ref for one in following[:2])
    if there and said.number and (rest_stays or _tells_both(said, there, following)):
        said.partial = True  # "one toast with egg, the other one stays the same"
        if some_of(out, said):
            return
    next_one = following[0] if following else Said()
    apart = next_one.ref in _THESE or (next_one.ref == "one" and next_one.article)
    told = said.described or (apart and next_one.described and not next_one.head)
    if there and (said.copies or (said.more and not told and not said.parts)):
        if len({item.names for item in there}) > 1 and not said.copies:
            out.add(out.make(_of_those(out, said, there)))  # which of them is asked
        else:
            out.repeat(there[-1], said)
    elif (
        (there and said.more)
        and not (said.parts or (said.size and not (said.partial or out.says_but(said))))
        and not out.matcher.named(said.mask, out.items)
    ):
        _another(out, said, there)
    elif there and not said.more and said.verb != "add" and _set_right(out, said, there):
        pass
    elif said.instead or out.gives_way is not None or _for_what_is_sold_out(out, said):
        in_place_of_another(out, said)
    elif said.correct and out.items:
        _correct_last(out, said)
    elif _one_of_last(out, said, following):
        pass
    elif said.correct and said.meant and out.there and not (there or _names_old(out, next_one)):
        dishes = [out.kitchen.dish(name) for name in out.index.names(said.mask)]
        kinds = {dish.section for dish in dishes if dish is not None}
        alike = [item for item in out.there if out.matcher.section(item) in kinds]
        out.replace((alike or out.there)[-1], said)
    elif out.situation.reviewed and said.correct and not there and _replaces(out, said):
        pass
    elif said.firmly and not there and _sets_name_right(out, said):
        pass
    else:
        like = out.last if said.copies and (out.items or said.ref != "same") else None
        out.penalty += NEW_THOUGH_THERE if said.more and out.there and not there else 0.0
        points = said.definite and not said.article and not said.besides
        if points and said.count is None and out.there:
            out.penalty += _NEW_BY_THE
        item = out.make(said)
        if like is not None:
            first = len(item.changes), item.size
            out.writer.keep_choices(like, item)  # "and a shrimp kebab made the same way"
            like = like if (len(item.changes), item.size) != first else None
        out.penalty += NOT_THERE if said.copies and like is None else 0.0
        out.add(item)
        announce(out, item, said, following)


def _tells_both(said: Said, there: Sequence[Item], following: Sequence[Said]) -> bool:
    """Whether it is said of some of a line how they are to be, and then of the others."""
    others = following and following[0].ref in ("other", "rest") and following[0].described
    begins = not (said.verb or said.more or said.besides) and said.described
    return bool(others and begins) and (said.number or 1) < (there[-1].quantity or 1)


def _recount(out: Outcome, said: Said, there: Sequence[Item]) -> bool:
    """Let so many of a dish be in all, where some of them are made otherwise: the usual ones change."""
    same = sized(out, there, said.size.words) if said.size is not None else there
    usual = [item for item in same if not item.changes]
    rest = sum(item.quantity or 1 for item in same if item.changes)
    if said.options or said.count is None or len(usual) != 1 or said.count <= rest:
        return False
    usual[0].quantity = said.count - rest
    out.touch(usual[0])
    return True


def _or_the_last(out: Outcome, said: Said) -> bool:
    """Leave it open which of two dishes is wanted: "a coke or a sprite"."""
    last, names = out.items[-1] if out.items else None, out.index.names(said.mask)
    if said.joint != OR or said.verb or last is None or last.line is not None or last.parts:
        return False
    if not last.names or {*names} & {*last.names}:
        return False
    last.words, last.names = f"{last.words} or {said.words}", (*last.names, *names)
    return True


def _within(out: Outcome, said: Said) -> bool:
    """Put a dish into a combo on the order: "i want the spicy one in my combo"."""
    combos = out.matcher.named(said.within, out.things)
    if not combos:
        out.penalty += NOT_THERE
    if not combos or change_part(out, said, replace(said, head=None)):
        return bool(combos)
    return any(out.takes_part(item, out.make(said)) for item in reversed(combos))


def _of_lines(out: Outcome, said: Said) -> bool:
    """Change what is described, or order more of it."""
    found = out.of_lines(said)
    if not found:
        return False
    if said.more or said.copies:
        out.repeat(found[-1], said)
        return True
    count = said.number if said.partial else None
    out.change_each(replace(said, head=None, count=None, lines=()), found, count)
    return True


def _speaks_of(out: Outcome, said: Said, following: Sequence[Said]) -> bool:
    """Take "of the three teas" for what is on the order, where it is said next how they are to be."""
    if not said.definite or said.article or said.more or said.correct:
        return False
    after = following[0] if following else said
    told = (after.become or after).head is None  # it is said next how it is to be
    named = (out.of_lines(said) if told else []) or out.matcher.named(said.mask, out.things)
    if said.described:
        tells = said.options and not (said.size or said.ordinal)
        made = out.matcher.made_with(named, said.options) if tells else []
        if len(made) == 1 < len(named) and following and not (said.verb or said.instead):
            out.spoken = made[0]  # "the coke without ice is mine, make it a large"
            return True
        return False
    found = [item for item in named if said.count in (None, item.quantity)]
    if said.count is None and not said.verb:
        if any(out.matcher.named(said.mask, item.parts) for item in out.items):
            return True  # "no ice in the sprite" of a combo
    waits = out.matcher.named(said.mask, out.waiting)
    if waits and said.count is None:
        out.spoken = waits[0]
        out.penalty += NEW_THOUGH_THERE
        return True
    if not found or said.instead or out.gives_way is not None:
        return False
    within = said.joint == ON and out.kitchen.combo(found[-1].name) is not None
    goes_on = bool(following) and following[0].head is not None
    if goes_on and said.joint == ON and said.count is None and found == out.touched:
        out.spoken = found[-1]
        return True  # "swap the ranch for balsamic and add chicken to my salad"
    if found[-1].line is not None and not (following and (within or not following[0].head)):
        return False
    out.spoken = found[-1]
    return True


def _another(out: Outcome, said: Said, there: Sequence[Item]) -> None:
    """Order one more of a dish, otherwise made: "another gyoza, steamed this time"."""
    if len({item.names for item in there}) == 1 and out.says_but(said):
        out.repeat(there[-1], said)
        return
    item = out.make(_of_those(out, said, there))
    sizes = {one.size for one in there if one.names == item.names}
    if item.size is None and len(sizes) == 1:
        item.size, item.copied = sizes.pop(), True  # "but a large one" may follow
    out.add(item)


def _of_those(out: Outcome, said: Said, there: Sequence[Item]) -> Said:
    """Take what may be of many dishes for one of those that are on the order."""
    mask = 0
    for item in there:
        mask |= out.matcher.mask(item)
    return replace(said, mask=said.mask & mask)


def _set_right(out: Outcome, said: Said, there: Sequence[Item]) -> bool:
    """Make a line what was meant: "the large one", "no, I wanted two tiramisus"."""
    definite = said.definite and said.count is None
    if definite and said.described and not said.article:
        change(out, said)
        return True
    if (old := _outdone(out, said, there)) is not None:
        out.change(old, said)
        return True
    if said.compared and said.size is not None and said.number in (None, 1):
        smaller = [item for item in there if item not in sized(out, there, said.size.words)]
        if len(smaller) == 1:  # "a bigger lemonade"
            fresh = replace(said, head=None, count=None, article=False)
            out.change_each(fresh, smaller, said.number)
            return True
    so_made = (
        out.matcher.made_with(there, said.options) if len(there) > 1 and said.options else there
    )
    plain = out.matcher.plain_beside(there)
    if said.plain and not said.options and len(plain) == 1:
        so_made, said = plain, replace(said, plain=False)  # "only one plain crepe, then"
    fewer = (
        said.exact
        and said.count is not None
        and said.count
        < sum(item.quantity or 1 for item in out.matcher.made_with(so_made, said.options))
    )
    taken_back = said.correct or said.after_all or fewer
    resized = said.after_all and said.size is not None
    right = said.meant or said.definite or said.count is not None or resized
    if taken_back and right and len(so_made) == 1:
        out.change(so_made[0], said)
        return True
    held = sum(item.quantity or 1 for item in there)
    in_all = taken_back or (said.outdone is not None and said.outdone.value == held)
    if in_all and not (said.described or out.items) and _recount(out, said, so_made):
        return True
    if fewer and not (said.described or out.items):
        return out.ask_which(replace(said, head=None), there)
    if definite and not said.correct:
        out.penalty += NEW_THOUGH_THERE
    if _told_of_one(out, said, there):
        change(out, said)
        return True
    return False


def _told_of_one(out: Outcome, said: Said, there: Sequence[Item]) -> bool:
    """Whether a bare name with choices means the only thing so called: "naan extra crispy".

    Where choices were made of it, what is said has to be another one, and too little for a new thing.
    """
    begins = said.number is None and not (said.article or said.verb or said.besides or said.size)
    told = said.described and not (said.parts or said.correct or said.instead or said.plural)
    single = len(there) == 1 and there[0].quantity == 1 and not out.items
    if not (begins and told and single and out.matcher.able(there[0], said)):
        return False
    words = [one.words for one in said.options]
    another = not said.named[0] and out.writer.clash(there[0], said)  # "also a steak, rare" is new
    return not there[0].changes or (another and out.kitchen.lacks(there[0].name, words))


def _outdone(out: Outcome, said: Said, there: Sequence[Item]) -> Item | None:
    """Return the thing that is as it is not to be: "three colas instead of two"."""
    if said.outdone is None:
        return None
    if said.outdone.does == "size":
        found = sized(out, there, said.outdone.entity.words)
    else:
        value = said.outdone.value
        found = [
            item
            for item in there
            if item.quantity == value or stems(item.size or "")[:1] == (str(value),)
        ]
    return found[0] if len(found) == 1 else None


def _replaces(out: Outcome, said: Said) -> bool:
    """Take what is named when the order is read back for what another of its kind should be."""
    if said.besides or said.verb or said.more:
        return False
    kind = out.matcher.section(out.make(said))
    same = [item for item in out.there if kind and out.matcher.section(item) == kind]
    if len(same) == 1:
        out.replace(same[0], said)
        return True
    return len(same) > 1 and out.ask_which(replace(said, become=said, head=None), same)


def _sets_name_right(out: Outcome, said: Said) -> bool:
    """Take "no, the half rack" for what the line of its section that is called most alike should be."""
    points = said.definite and said.number is None
    if not points or said.besides or said.verb or said.more or out.waiting or out.touched:
        return False
    item = out.make(said)
    alike = [
        (len(out.matcher.words_of(item) & out.matcher.words_of(one)), one)
        for one in out.there
        if item.name and out.matcher.section(one) == out.matcher.section(item)
    ]
    most = max((shared for shared, _ in alike), default=0)
    found = [one for shared, one in alike if shared == most]
    if not found:  # "no, the brisket one", of a pork sandwich
        kin = [(one, out.matcher.kindred(one, said.words)) for one in out.there]
        found = [one for one, names in kin if len(names) == 1]
        names = next((names for _, names in kin if len(names) == 1), [])
        said = replace(said, mask=out.index.bit(names[0])) if len(found) == 1 else said
    just = out.changed_just_before(counted=True)
    if len(found) == 1 and just is not None and just is not found[0]:
        # It may be meant instead of what was ordered just now, which is of another kind.
        return out.ask_which(replace(said, become=said, head=None), [just, found[0]])
    if len(found) == 1:
        out.replace(found[0], said)
    return len(found) == 1


def _for_what_is_sold_out(out: Outcome, said: Said) -> bool:
    """Whether it is for a dish of its kind that is sold out, as the guest has just been told."""
    topic = out.situation.topic
    if said.more or topic not in out.situation.sold_out:
        return False
    gone = [item for item in out.there if item.name == topic]
    if not gone or out.matcher.section(gone[-1]) != out.matcher.section(out.make(said)):
        return False
    out.gives_way = gone[-1]
    return True


def _one_of_last(out: Outcome, said: Said, following: Sequence[Said]) -> bool:
    """Take "two trays, one tray without raita" for one of the two."""
    last = out.items[-1] if out.items else None
    if last is None or not out.matcher.mask(last) & said.mask or said.more:
        return False
    if said.plain and not said.options and last.changes:
        return False  # "two hot dogs with ketchup, one hot dog plain"
    bare = not (last.counted or last.changes or last.size)
    same = last.names == out.index.names(said.mask) and last.quantity == 1
    one_of = "of" in out.told(range(said.place, said.named[0])).split()
    if same and one_of and said.count == 1 and not (last.changes or last.size):
        return True  # "a pizza, one of the build your own ones"
    if bare and same and said.count is not None:
        out.items.pop()  # "lemonades: we need four lemonades"
        return False
    if said.joint not in _APART or (last.quantity or 1) < 2 or not said.described or said.parts:
        return False
    if said.number is None or said.number > left(last) or (said.size and last.size):
        return False
    as_many = said.number == last.quantity and (said.joint == AND or last.size)
    if not last.splits and (last.changes or as_many):
        return False  # "two lattes with oat milk and one latte with soy milk"
    if out.writer.clash(last, said):
        return False  # "ten beef tacos, ten chicken tacos"
    if said.size and not said.options and not last.splits:
        alike = [one for one in (said, *following) if one.head and one.mask == said.mask]
        if sum(one.number or 1 for one in alike) != last.quantity:
            return False  # "two cheeseburgers, one double cheeseburger"
    out.split(last, said, said.number)
    return True


def _names_old(out: Outcome, following: Said) -> bool:
    """Whether it is said next what was wrong: "I meant the Greek, not the Caesar"."""
    named = following.verb == "instead-of" and following.head is not None
    return named and bool(out.matcher.named(following.mask, out.there))


def _correct_last(out: Outcome, said: Said) -> None:
    """Take back what was said last in this line: "a cola, sorry, a cappuccino"."""
    last = out.items[-1]
    item = out.make(said)
    earlier = [one for one in out.items[:-1] if one.names == item.names]
    if said.count is not None and len(earlier) == 1 and last.names != item.names:
        out.change(earlier[0], replace(said, head=None))  # "two rolls, a bun, sorry, one roll"
        return
    if said.count is None and not said.article:
        item.quantity = last.quantity
        if item.size is None and last.size and out.kitchen.size(item.name, last.size):
            item.size = last.size
    only = said.exact and said.article and last.quantity == item.quantity  # "no, just a margherita"
    told = said.options or said.notes or said.plain or said.bare or said.unknown
    if said.copies and item.names != last.names:
        out.give_place(last, item)  # "a salmon with salad, no wait, the shrimp the same way"
        return
    if not told and out.counts_kind(last, said):
        out.change(last, replace(said, head=None))
        return
    if item.names == last.names and not (told or only) and (said.count or not said.size):
        last.quantity = item.quantity
        last.size = item.size or last.size  # "three large teas, no, two large teas"
        out.spoken = last
    else:
        out.items.pop()
        out.add(item)
