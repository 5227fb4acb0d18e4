"""Items without a dish: sizes, numbers and choices that belong to something, and words that point."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.grammar.grammar import AND, BUT, COMMA, ON, OR, STOP
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.meaning import Question, not_left_off
from bella_vista.local.understanding.order.announcing import put_announced
from bella_vista.local.understanding.order.combos import tell_part
from bella_vista.local.understanding.order.outcome import (
    LOOSE,
    NEW_THOUGH_THERE,
    NO_EFFECT,
    Outcome,
)
from bella_vista.local.understanding.order.shares import _this_one, of_pieces, the_one
from bella_vista.local.understanding.order.targets import counted_off, several, sized, targets
from bella_vista.local.understanding.order.waiting import fill, left, meant_of_waiting
from bella_vista.local.understanding.readings.said import Said
from state.language.en.allergens import WITHOUT

_FEW = 8
"""Of so many dishes at most one may be meant by how it is to be made."""
_NEAR = 6
"""Words of one name are not further apart."""
_STOPS = (COMMA, STOP)


def pointed(out: Outcome, said: Said) -> None:
    """Carry out what points at something and has no verb: "the second one with ham"."""
    last = out.items[-1] if out.items else None
    source = last.source if last is not None else None
    counts = said.ref == "them" and said.count and not (said.described or out.items)
    of_topic = (said.ref == "it" and said.size) or counts or _takes(out, said)
    topic = out.asked_about() if of_topic and not out.waiting else None
    new = [item for item in out.items if item not in out.excepted]
    made = (
        out.matcher.made_with(out.there, said.options) if said.exact and said.ref == "one" else []
    )
    plain = out.matcher.plain_beside(out.there)
    if said.ref in ("same", "again") or (said.more and said.ordinal is not None):
        again(out, said)  # "the same as the second one, but with chicken"
    elif said.exact and said.ref == "one" and said.plain and not said.options and len(plain) == 1:
        out.count(plain[0], said.count or 1)  # "only one plain one"
        out.touch(plain[0])
    elif made and sum(item.quantity or 1 for item in made) == (said.count or 1):
        out.spoken = made[-1]  # "four in all, still just the one gluten free"
    elif topic is not None:
        out.order(
            replace(said, ref=""), topic, (topic,)
        )  # "is the soup vegan? A bowl of it", "six of those"
    elif said.ref == "one" and said.joint == ON and said.definite and len(said.options) == 1:
        out.penalty += LOOSE  # "no ketchup on the bacon one"
    elif said.ref == "one" and last is not None and _tells_size(out, said, last):
        out.change(last, replace(said, ref="", count=None, article=False))
    elif said.ref == "one" and last is not None and _plain_beside(out, said, last):
        pass
    elif said.ref == "one":
        pointed = said.described and not out.waiting
        if not pointed or not (_this_one(out, said) if said.ordinal else the_one(out, said)):
            fragment(out, said)
    elif said.ref in ("rest", "other") and source is not None and said.described:
        if said.exact:  # "the others just without onions"
            source.changes, source.yielding = [], 0
        out.change_each(replace(said, head=None), [source])
    elif said.ref in ("rest", "other") and last is not None and last.splits:
        out.penalty += 0.0 if left(last) or said.correct else NO_EFFECT  # all of them are told
        out.split(last, said, None)
    elif said.ref == "other" and last is not None and said.described:
        if last.quantity == 1 and last.counted:
            other = out.order(replace(said, ref=""), last.words, last.names)
            other.size = other.size or last.size  # "one pizza plain, the other with ham"
        else:
            out.split(last, said, None)
    elif said.ref == "all" and said.described and new:
        divided = [item.source for item in new if item.source is not None]
        for item in [item for item in new if out.matcher.able(item, said)] or new:
            parts = [part for part in item.parts if out.matcher.able(part, said)]
            if len(parts) > 1:
                for part in parts:
                    out.give(part, said)  # "a thali with dal and saag, both mild"
            else:
                out.change(item, said)
        for item in divided:
            out.change(item, said)  # "one of them large, no, both large"
        _join_again(out, new)
    elif said.described and (together := meant_of_waiting(out, said)):
        for item in together:
            out.give(item, said)
            out.settle(item)
    elif not said.described and said.count is None and said.ref != "rest":
        repeats = said.joint == ON and last is not None and last.changes and not said.more
        loose = LOOSE if said.more or not out.things else 0.8
        out.penalty += 0.1 if repeats else loose  # "the salmon, no capers on that one"
    elif not (out.waiting and fill(out, said)):
        _change_pointed(out, said)


def _join_again(out: Outcome, items: Sequence[Item]) -> None:
    """Put pieces back to those they were divided from, where nothing tells them apart any more."""
    for item in items:
        whole = item.source
        made = (item.names, item.size, sorted(item.changes), item.notes)
        if whole is not None and made == (
            whole.names,
            whole.size,
            sorted(whole.changes),
            whole.notes,
        ):
            whole.quantity = (whole.quantity or 1) + (item.quantity or 1)
            out.items.remove(item)


def _plain_beside(out: Outcome, said: Said, last: Item) -> bool:
    """Order one that is plain beside what was just ordered: "two lattes with oat milk and a plain one"."""
    said = replace(said, options=[*said.options])
    out.matcher.make_plain(last, said)
    apart = said.definite or said.ordinal or said.correct or said.partial
    if not said.plain or said.options or apart:
        return False
    other = out.matcher.plain_kin(last)
    if out.announced or (other is None and (said.joint != AND or not last.changes)):
        return False
    names = last.names if other is None else (other,)
    item = out.order(replace(said, ref="", plain=False), said.words or last.words, names)
    if item.size is None and last.size and out.kitchen.size(item.name, last.size):
        item.size = last.size
    return True


def _tells_size(out: Outcome, said: Said, last: Item) -> bool:
    """Whether the size of what was ordered just before is told: "a house salad, the large one"."""
    if said.size is None or said.more or said.besides or said.count not in (None, 1):
        return False
    sized = bool(out.matcher.mask(last) & said.size.mask)
    untold = last.size is None or last.copied
    return sized and untold and last.quantity in (None, 1) and said.joint != AND


def _change_pointed(out: Outcome, said: Said) -> None:
    found = targets(out, said)
    if not found:
        out.penalty += LOOSE
        return
    if said.ref == "other" and several(said, found) and _differs(out, said, found):
        if out.ask_which(said, found):
            return
    if said.ref in ("it", "them", "all", "whole") and said.count is None:
        found = [item for item in found if out.matcher.able(item, said)] or found
    out.change_each(replace(said, head=None), found, said.count if said.partial else None)


def _differs(out: Outcome, said: Said, found: Sequence[Item]) -> bool:
    """Whether some of what is found is not as it is said already."""
    told = [one.words for one in said.options]
    made = out.kitchen.canonical
    return said.size is not None or any(
        made(item.name or "", item.size, [*item.changes, *told])
        != made(item.name or "", item.size, item.changes)
        for item in found
    )


def again(out: Outcome, said: Said) -> None:
    """Order some more of what was ordered last."""
    recounted = [one for one in out.touched if one.line and one.quantity != one.line.quantity]
    if said.ref == "same" and not said.more and not said.described and recounted:
        return  # "make that two, my husband wants the same"
    if said.both and out.there and not out.items:
        for item in out.there:
            out.repeat(item, said)  # "another of each"
        return
    if said.ref in ("same", "again") and _same_share(out, said):
        return
    last = out.spoken if out.spoken in out.settled else out.last
    source = last.source if last is not None and last in out.items else None
    if source is not None and source.line is not None and said.more and said.described:
        # "One of the wraps as a bowl and another one without beans": one of those that are there.
        out.change_each(replace(said, head=None, more=False), [source], said.count or 1)
        return
    able = [item for item in out.things if out.matcher.able(item, said)]
    if said.ordinal is not None and said.more and (counted := counted_off(said, out.there)):
        last = counted[0]  # "same as the first one but large"
        said = replace(said, ordinal=None)
    if last is not None and able and last not in able and said.ref == "it":
        last = able[-1]  # "one more like that, but with tofu"
    if last is not None:
        all_of_them = said.ref == "same" and not said.more
        count = said.count or (last.quantity if all_of_them else None)
        out.repeat(last, replace(said, count=count))
    elif (topic := out.situation.topic) is not None:
        out.order(said, topic, (topic,))
    else:
        out.penalty += LOOSE


def same_for_another(out: Outcome, said: Said) -> bool:
    """Order all that somebody gets once more: "a cake and a juice for my son, my daughter the same"."""
    people = [at for at in range(out.length) if pattern("one of us").match(out.told([at]))]
    here = range(said.pointed - _NEAR // 2, said.pointed + _NEAR)
    near = [at for at in people if at in here and not _paused(out, at, said.pointed)]
    earlier = [out.told(range(at)) for at in people if near and at < near[0]]
    shares = [[item for item in out.items if item.words not in told] for told in earlier]
    share = next((one for one in reversed(shares) if one), [*out.items])
    if not any(shares[-1:]) and share and _paused(out, share[0].spoken, share[-1].spoken):
        return False  # "a pizza, and a wrap for me, and the same for my wife": the wrap
    named = said.head is not None
    if named and "but" not in out.told(range(said.pointed, said.named[0])).split():
        return False  # "the same burger"
    able = [item for item in share if out.matcher.able(item, said)] if said.described else share
    if not near or len(share) < 2 or any(item.splits for item in share) or not (named or able):
        return False
    for item in share:
        bare = Said(place=said.place, count=item.quantity)
        told = replace(said, head=None, count=item.quantity)
        out.repeat(item, told if item in able and not named else bare)
    return True


def _paused(out: Outcome, one: int, other: int) -> bool:
    """Whether a pause stands between two places."""
    between = out.told(range(min(one, other), max(one, other)))
    return not {",", ".", ";"}.isdisjoint(between.split())


def _same_share(out: Outcome, said: Said) -> bool:
    """Let another of several be like the one told before it: "two bowls, one with rice, the second the same"."""
    told, number = out.items[-1] if out.items else None, said.number or 1
    if told is not None and told.splits:
        if told.splits[-1].bare and told.splits[1:]:
            told.splits.pop()  # "and the other one the same"
        split, whole, free = told.splits[-1], told, left(told)
        changes = [*told.changes, *split.changes]
        told = Item(told.words, told.names, size=split.size or told.size, changes=changes)
    elif told is not None and told.source in out.items and not told.source.changes:
        whole, free = told.source, left(told.source)
    else:
        return False
    if free < number:
        return False
    whole.quantity = (whole.quantity or 1) - number
    out.repeat(told, replace(said, count=number))
    out.items[-1].source = whole
    if not whole.quantity:
        out.items.remove(whole)
    return True


def _takes(out: Outcome, said: Said) -> bool:
    """Whether what is pointed at is wanted as it is: "ok add those", "I'll have that"."""
    if said.ref not in ("it", "them") or said.described or out.items:
        return False
    before = out.told(range(said.pointed)).split()
    behind = out.told(range(said.pointed + 1, out.length)).split()
    wanted = said.verb == "add" or not words_of("takes").isdisjoint(before)
    wanted = wanted and WITHOUT.isdisjoint(before)  # "my daughter can not have them"
    return wanted and all(
        lexicon.PHRASES.get(word) in (lexicon.FILLER, lexicon.AND) for word in behind
    )


def fragment(out: Outcome, said: Said) -> None:
    """Give a size, a number or changes to what they belong to."""
    topic = out.asked_about()
    item = out.items[-1] if out.items else None
    if said.more:
        again(out, said)
        return
    if out.settled and out.spoken in out.settled and said.count == 1 and not said.described:
        return  # "the spaghetti one" answers what was asked
    if said.number and said.unknown and not (said.options or said.ref):
        words = out.told(said.unknown)  # "a dr pepper": another thing, and unknown
        out.questions.append(Question("not_on_menu", {"words": words, "near": []}))
        return
    # "One of those", of what the guest asked about, answers nothing that was asked.
    asked = bool(out.waiting) and (topic is None or bool(out.settled))
    one_more = said.ref == "one" and not asked and (said.article or not said.definite)
    size_alone = said.size is not None and not said.options
    of_topic = size_alone and (said.number is not None or not out.there)
    goes_on = out.announced or said.described and out.items
    counted = said.count and (not said.described or _is_told_with(out, said))  # "two with corn"
    if topic and not (said.correct or goes_on) and (one_more or of_topic or counted):
        out.order(said, topic, (topic,))
        return
    if out.announced and (said.options or said.plain):
        base = out.announced[0]
        fresh = base.copy(said.count or 1)
        fresh.spoken = said.place
        names = out.index.names(out.narrowed(out.matcher.mask(base), said))
        called, said = out.called_by_option(base.names, said)
        fresh.names = called if len(called) < len(base.names) else names
        out.give(fresh, said)
        put_announced(out, base, fresh)
        return
    if _one_each(out, said):
        return
    # "A chicken korma, lamb bhuna": not lamb on the korma.
    strange = bool(said.unknown) and not (said.ref or said.correct)
    if item is not None and strange and out.writer.clash(item, said) and _headless(out, said):
        return
    piece = item is not None and item.source is not None and item.source.line is not None
    denied = bool(said.options) and all(one.no for one in said.options)
    wished = said.size or said.number or not denied  # "no anchovies on that" orders nothing
    if (
        (piece and (said.count is not None or said.ref == "one") and _on_order(out, said))
        or (item is not None and _belongs(out, item, said))
        or (out.waiting and fill(out, said))
        or (item is None and _on_order(out, said))
        or (item is None and _of_its_kind(out, said))
        or ((item is None or said.options or said.size) and wished and _headless(out, said))
    ):
        return
    if denied and said.size and item is not None:
        out.questions.append(not_left_off(out.told(said.told)))
        fragment(out, replace(said, options=[], told=[]))  # "a caesar, small, no bacon"
        return
    out.penalty += LOOSE / 4 if denied and out.items else LOOSE  # "a caesar, no bacon"
    if (said.options or said.unknown) and not said.correct:
        words = out.told({*said.told, *said.unknown})
        unknown = Question("not_on_menu", {"words": words, "near": []})
        out.questions.append(not_left_off(words) if denied else unknown)


def _one_each(out: Outcome, said: Said) -> bool:
    """Give each of several things one of what is counted: "a korma, a balti and two pilau rice"."""
    named = said.ref or said.size or said.verb or said.correct or len(said.options) != 1
    if named or said.count is None or said.count < 2:
        return False
    option = said.options[0]
    able = [
        item
        for item in out.items
        if out.matcher.able(item, said) and not out.writer.clash(item, said)
    ]
    told = (
        option.no
        or option.half
        or any(option.entity.tallied & out.matcher.mask(one) for one in able)
    )
    if told or len(able) != said.count or any(one.quantity != 1 or one.splits for one in able):
        return False
    for item in able:
        out.give(item, replace(said, count=None))
    return True


def _of_its_kind(out: Outcome, said: Said) -> bool:
    """Make a thing on the order another of its kind: "no, i want the mango one"."""
    if not (said.correct or said.instead or (said.ref == "one" and said.definite)):
        return False
    turned = [(item, kin) for item in out.there if (kin := out.matcher.kin(item, said)) is not None]
    if len(turned) == 1:
        out.replace(*turned[0])
    elif said.correct and out.there:
        out.penalty += NEW_THOUGH_THERE
    return len(turned) == 1


def _belongs(out: Outcome, item: Item, said: Said) -> bool:
    """Give something to the thing that was ordered just before in the same line."""
    if said.correct and said.count is not None and said.options and said.size is None:
        again = [one for one in out.items if out.matcher.made_with([one], said.options)]
        if len(again) == 1 and again[0].names == item.names:
            again[0].quantity = said.count  # "one ham pie and one veggie pie, no, two ham"
            return True
        if said.firmly and not item.splits and out.writer.clash(item, said):
            item.quantity = said.count  # "one ham pie, no, two veggie"
            out.change(item, replace(said, count=None))
            return True
    if of_pieces(out, item, said) or _comes_without(out, item, said):
        return True
    out.matcher.make_plain(item, said)
    said = _unlike_the_others(out, item, said)
    if tell_part(out, item, said):
        return True
    counted, said = said.count is not None, out.in_pieces(item, said)
    if not said.described:
        if said.count is None and counted:
            return True  # "with wings, twelve, and a cola"
        if said.count is None:
            # "Honey butter on one": one of the two.
            alone = LOOSE if said.joint == ON and (item.quantity or 1) > 1 else 0.8
            out.penalty += alone if said.ref == "one" else 0.0
            return True
        if said.count == item.quantity or not item.counted or said.correct or said.ref != "one":
            item.quantity = said.count
            return True
        return False
    differs = said.joint == AND and not said.ref and len(item.changes) > item.yielding
    if item.copied and (differs or said.joint == BUT) and said.count is None:
        out.change(item, said)  # "another lemonade but the large", "the same but decaf and a tall"
        return True
    several = (item.quantity or 1) > 1
    number = said.count
    if said.article and said.joint == AND and _more_of_a_share(out, item, said):
        return True
    this_one = said.definite and not several  # "this one without salad"
    more_of_it = bool(said.options) and said.options[0].amount == "extra" and not said.ref
    article = said.article and not more_of_it  # "and an extra egg"
    if number is None and ((said.ref == "one" and not this_one and not said.plural) or article):
        number = 1
    if said.exact and number == item.quantity and said.joint != AND:
        number = None  # "just one, and without olives"
    if said.correct and said.size is not None and said.ref != "of-them":
        if (several or (said.count or 0) > 1) and said.firmly and said.count is not None:
            item.quantity, item.size, number = said.count, None, None  # "no wait, one large"
        elif not several:  # "a large latte, no, a medium, with oat milk"; "actually two small ones"
            item.size, item.quantity, number = None, number or 1, None
    clash = said.size if item.size is not None else None
    if clash and number is None and item.size == out.kitchen.size(item.name, clash.words):
        clash, said = None, replace(said, size=None)  # "a large latte, large is fine"
    if clash and said.joint == OR:
        item.unknown.append(f"{item.size} or {clash.words}")
        item.size = None
        return True
    if clash and number is None and several and not item.splits:
        item.splits = [Split(1, size=item.size), Split(None, size=clash.words)]
        item.size = None
        return True
    if number is None and item.splits and said.options and left(item) > 0:
        number = 1
    clash_of_choices = out.writer.clash(item, said)
    beside = said.joint == AND or _counts_others(out, said)
    flavour = clash_of_choices and said.article and said.joint in _STOPS  # "two colas, a lemonade"
    one_more = ((clash or clash_of_choices) and beside or flavour) and not item.splits
    if number is not None and (several or item.splits) and number <= left(item) and not one_more:
        is_change = out.matcher.able(item, said) or _is_told_with(out, said)
        if is_change:
            out.split(item, said, number)
        return is_change
    if not out.matcher.able(item, said):
        earlier = [one for one in out.items[:-1] if out.matcher.able(one, said)]
        if earlier and tell_part(out, earlier[-1], said):
            return True
        if earlier and said.ref != "one" and number is None:
            out.change(earlier[-1], said)
            return True
        return False
    bare = item.line is None and not (item.counted or item.size or item.changes)
    if bare and said.count is not None and not said.ref and said.joint in _STOPS:
        out.change(item, said)  # "tenders, two three pieces, one of them hot"
        return True
    if (
        clash
        or (number is not None and clash_of_choices)
        or (number is not None and (said.count or said.ref or item.size or item.changes))
    ):
        if clash and said.options and number is None and not said.ref:
            out.penalty += NEW_THOUGH_THERE  # "a large Margherita, small cheese"
        chosen = any(out.matcher.is_called(item, one, item.words) for one in item.changes)
        words = item.name or item.words if chosen else item.words  # "a sprite and a cola"
        out.order(said, words, item.names, number or 1)
    else:
        out.change(item, said)
    return True


def _comes_without(out: Outcome, item: Item, said: Said) -> bool:
    """Order some beside what has just what they are not to have: "two burgers with bacon and one without bacon"."""
    number = said.number or (1 if said.ref == "one" else None)
    apart = said.definite or said.ordinal or said.partial or said.correct or item.splits
    denied = [
        one
        for one in said.options
        for change in item.changes
        if one.no != change.startswith("no ")
        and out.matcher.is_called(item, change, one.entity.words)
    ]
    if not number or apart or not denied or denied != said.options or item.line is not None:
        return False
    rest = [one for one in denied if one.no == out.kitchen.has(item.name, one.entity.words)]
    fresh = out.order(replace(said, ref="", options=rest), item.words, item.names, number)
    fresh.size = fresh.size or item.size
    return True


def _unlike_the_others(out: Outcome, item: Item, said: Said) -> Said:
    """Take "one without egg", after "one with egg", for one as it comes where no egg is in it."""
    told = [change for one in item.splits for change in one.changes]
    rest = [
        one
        for one in said.options
        if not one.no
        or out.kitchen.has(item.name, one.entity.words)
        or not any(out.matcher.is_called(item, change, one.entity.words) for change in told)
    ]
    return said if rest == said.options else replace(said, options=rest, plain=not rest)


def _more_of_a_share(out: Outcome, item: Item, said: Said) -> bool:
    """Give the last share what may lie beside what it has: "one with almond milk and an extra shot"."""
    share = item.splits[-1] if item.splits else None
    if share is None or not share.changes or said.ref or said.size is not None:
        return False
    probe = Item(words=item.words, names=item.names, changes=[*share.changes])
    another = any(out.kitchen.must_choose(item.name, one.words) for one in said.options)
    if another or out.writer.clash(probe, said) or not out.matcher.able(probe, said):
        return False
    out.give(probe, said)
    share.changes = probe.changes
    return True


def _counts_others(out: Outcome, said: Said) -> bool:
    """Whether so many others are wanted: "four beef tacos, two chicken", but not "two with chicken"."""
    return said.count is not None and not said.ref and not _is_told_with(out, said)


def _is_told_with(out: Outcome, said: Said) -> bool:
    """Whether "with" comes before all that is said: "one with oat milk" is no dish of its own."""
    return "with" in out.told(range(said.place, min(said.told, default=said.place))).split()


def _on_order(out: Outcome, said: Said) -> bool:
    """Give something to a line of the order."""
    there = out.there
    if not there:
        return False
    if not said.described:
        if said.count is None or out.waiting or (said.definite and said.count == 1):
            return False  # "the one" counts nothing
        item = out.last or there[-1]
        out.count(item, said.count)
        out.touch(item)
        return True
    last = out.last
    so_made = out.matcher.made_with(there, said.options) if said.options and said.count else []
    if len(so_made) == 1 and (said.correct or said.instead) and not (said.ref or said.size):
        out.count(so_made[0], said.count or 1)  # "sorry, three carnitas"
        out.touch(so_made[0])
        return True
    if said.size and said.count and last in there and not (said.options or said.notes or said.ref):
        if last is not None and sized(out, [last], said.size.words):
            out.count(last, said.count)  # "two cans", of a can of cola
            out.touch(last)
            return True
    number = 1 if said.count is None and said.ref == "one" else said.count
    source = out.spoken.source if out.spoken is not None else None
    able = [item for item in there if out.matcher.able(item, said)]
    if not able and (wanted := [option for option in said.options if not option.no]):
        # "Mango, seaweed, no onions", of a bowl that has none anyway.
        without = replace(said, options=wanted)
        if able := [item for item in there if out.matcher.able(item, without)]:
            said = without
    if number is not None and source in able and source is not None:
        able = [source]
    if not able:
        if source is None or out.spoken is None or not out.matcher.able(out.spoken, said):
            return False
        out.change(out.spoken, said)
        return True
    item = last if last is not None and last in able else able[-1]
    counted = any(option.entity.tallied & out.matcher.mask(item) for option in said.options)
    if said.exact and counted and number == 1 and said.ref in ("", "one"):
        number = None  # "only one pump of vanilla"
    if number is not None and (said.correct or said.exact) and (item.quantity or 1) <= number:
        return False
    one_more = said.ref == "one" and number is not None and (item.quantity or 1) <= number
    one_more = one_more and item is not source  # "two on white and one on rye", of three
    other_size = bool(said.size and said.article and not said.options and item.size)
    if other_size and item in out.touched and not out.items:
        out.change(item, said)  # "the soup instead of the salad. Also a cup"
        return True
    changes = said.correct or said.instead or not said.article or said.size is None
    if not changes and said.size is not None and sized(out, [item], said.size.words):
        other_size = True  # "a double with bacon", where there is a double
    apart = said.joint == AND or said.besides
    begins = said.article or item in out.touched  # "make it a small lemon and small mango"
    if apart and begins and said.size is not None and out.writer.clash(item, said):
        other_size = bool(item.size) and not said.correct  # "and a ten piece in buffalo"
    if apart and said.count and item in out.touched and not said.correct and item.size:
        pieces = said.size is None and out.kitchen.in_pieces(item.name, said.count)
        chosen = [out.kitchen.must_choose(item.name, one.entity.words) for one in said.options]
        other_size = other_size or bool(pieces and all(chosen))  # "a six mild and a six hot"
    if one_more or other_size:
        out.penalty += NEW_THOUGH_THERE if said.definite else 0.0
        out.order(said, item.words, item.names, number or 1)
        return True
    if (
        number is not None
        and said.exact
        and not said.size
        and out.matcher.described([item], said.options)
    ):
        out.count(item, number)  # "just the one keema naan"
        out.touch(item)
        return True
    out.change_each(replace(said, head=None, count=None), [item], number)
    return True


def _headless(out: Outcome, said: Said) -> bool:
    """Find the dish that only one can be: "a gluten free one with ham"."""
    wanted = [option for option in said.options if not option.no]
    begins = said.number is not None or said.size or said.ref or said.verb or said.correct
    if out.items and not begins and said.joint not in (AND, *_STOPS):
        return False  # "a medium cold brew black"
    mask = out.index.all & ~out.index.combos
    several = len(wanted) > 1 or said.size or said.ref
    for entity in [option.entity for option in wanted] + ([said.size] if said.size else []):
        # "cheddar" and "some mint sauce" order no dish, "a bacon and egg" does
        mask &= entity.mask if begins and several else entity.mask & ~entity.own
    usual = mask & out.index.usual
    single = not said.size and any(option.entity.chosen & usual for option in wanted)
    if usual and not usual & (usual - 1) and not single:
        mask = usual  # "a large pepperoni", where one dish is just called pizza
    names = out.index.names(mask)
    if not names or len(names) > (_FEW if wanted else 1 if said.size else 0):
        return False
    if not wanted:  # "an eight piece", where only one dish comes so
        out.order(said, names[0], names)
        return True
    words = " ".join(option.entity.words for option in wanted)
    first = said.options[0]
    if first.entity.tallied & mask and len(names) == 1 and not said.unknown:
        words = names[0]
        if said.count and first.count == 1:
            options = [replace(first, count=said.count), *said.options[1:]]
            said = replace(said, options=options, count=None)  # "four tuna nigiri, two egg"
    if said.unknown:  # "a lamb jalfrezi": all of it is one unknown dish
        places = sorted({*(option.place for option in wanted), *said.unknown})
        near = places[-1] - places[0] < _NEAR
        words = out.told(range(places[0], places[-1] + 1) if near else places)
    out.order(said, words, () if said.unknown else names)
    out.penalty += 0.5 if len(names) == 1 else 1.0
    return True
