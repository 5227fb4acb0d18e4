"""Carries a reading out on a copy of the order, and says how well it fits there.

Each item of a reading is carried out in the first way that fits the order. What does not fit costs the
reading a penalty, so that another reading of the same words may come out cheaper.
"""

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeGuard

from bella_vista.local.english.sentences import listed
from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.grammar.grammar import AND, BUT, COMMA, ON, STOP, THE, WITH
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.messages.asides import bare
from bella_vista.local.understanding.order.changing import change, of_waiting
from bella_vista.local.understanding.order.combos import put_together
from bella_vista.local.understanding.order.corrections import (
    counts_newest,
    put_in_place,
    said_again,
    take_back,
)
from bella_vista.local.understanding.order.exceptions import excepted, made_otherwise
from bella_vista.local.understanding.order.fragments import (
    again,
    fragment,
    pointed,
    same_for_another,
)
from bella_vista.local.understanding.order.instead import instead_of, means_another, moved_from
from bella_vista.local.understanding.order.naming import name_dish
from bella_vista.local.understanding.order.outcome import LOOSE, NO_EFFECT, NOT_THERE, Outcome
from bella_vista.local.understanding.order.removing import remove
from bella_vista.local.understanding.order.shares import (
    counts_lines,
    one_of_counted,
    some_of,
    tell_apart,
    the_one,
)
from bella_vista.local.understanding.order.targets import sized, targets
from bella_vista.local.understanding.order.waiting import (
    left,
    meant_line,
    take_back_question,
    without_verb,
)
from bella_vista.local.understanding.readings.regrouping import deal_sizes
from bella_vista.local.understanding.readings.said import Option, Said
from state.menu.words import stems

_SUCH = ("of-them", "same", "again", "it")
"""Things that "another one" may be of."""
_LIKE_A_DISH = 1.2
"""The cost of taking the name of a dish on the order for an option."""
_DEALT = 1.0
"""How much likelier a split is that deals out exactly as many as were ordered."""
_BESIDE = 1.6
"""The cost of a dish that comes beside the one that it is said to go on."""


def carry(out: Outcome, reading: Sequence[Said], talk: Collection[int] = ()) -> Outcome:
    """Carry out all items of a reading, one after the other.

    Args:
        out: A copy of the order; it is changed.
        reading: The items.
        talk: The places of the line where the guest only talks.
    """
    reading, dealt = deal_sizes(reading)
    if counts_lines(out, reading):
        return out
    if reading and reading[0].on and reading[0].ref in ("all", "whole") and not out.things:
        reading = [*reading[1:], reading[0]]  # "no basil on anything: a margherita and a diavola"
    out.penalty -= 0.6 * dealt
    _share(out, reading)
    lines, first = out.lines, reading[0] if reading else Said()
    old, reading = said_again(out, reading)
    if old:
        out.lines = [line for line in lines if line not in old]
    recap = _recap(out, reading)
    goes_on: Sequence[Said] = ()
    for at, said in enumerate(reading):
        if said in goes_on or (said.place > recap and _sums_up(out, said)):
            continue
        goes_on = _goes_on_what_is_there(out, said, reading[at + 1 : at + 2])
        if goes_on and _is_refused(out, said, goes_on[0]):
            continue
        beside = (said.besides or said.more) and not (said.head or said.described or said.become)
        if said.place < recap < sys.maxsize and beside:
            continue  # "he wants one too, so three colas"
        if _is_what_is_left(out, said):
            continue
        if said.place in talk and bare(said) and not said.empty:
            out.penalty += LOOSE if said.verb or said.count is not None else 0.8
        elif not said.empty or said.become is not None:
            out.place = said.place
            out.leaving = _leaving(reading[at + 1 :])
            if said.excepted:
                made_otherwise(out, said)
                continue
            bare_all = said.ref in ("all", "whole") and not (said.described or said.become)
            if bare_all and reading[at + 1 : at + 2] and reading[at + 1].joint == BUT:
                out.penalty += LOOSE  # "all but one with oat milk"
            out.excepted, found = excepted(out, reading[at + 1 :])
            if found:
                _carry(out, said, reading[at + 1 :])
            out.excepted = []
            out.put = said.become.options if said.on and said.become is not None else []
        elif said.verb in ("remove", "swap") or said.excepted:
            out.penalty += NO_EFFECT
    for item in out.items:
        if len(item.splits) > 1 and not left(item):
            out.penalty -= _DEALT  # "four mochi, two green tea and two mango"
    put_together(out)
    if old:
        out.lines = lines
        put_in_place(out, old)
        first.recounts = True
    return out


def _goes_on_what_is_there(out: Outcome, said: Said, following: Sequence[Said]) -> Sequence[Said]:
    """Return what only says where something goes that cannot be a part of it: "fries to the burger"."""
    on = following[0] if following else Said()
    about = said if said.become is None or said.become.empty else said.become
    asked = said.verb in ("", "add") and not said.ref and not (said.definite or on.described)
    joined = on.joint in (ON, WITH) and on.definite and on.number is None and on.become is None
    if not (asked and joined) or on.head is None:
        return ()
    there = out.matcher.named(on.mask, out.lines)
    words = [about.words] if about.head is not None else [one.words for one in about.options]
    if not words or any(one.no for one in about.options):
        return ()
    fits = any(out.kitchen.answers(item.name, one) for item in there for one in words)
    return following if there and not fits else ()


def _is_refused(out: Outcome, said: Said, on: Said) -> bool:
    """Refuse what no dish of its own is called: "add mushrooms to the lasagna"."""
    about = said if said.become is None or said.become.empty else said.become
    if about.head is not None and (about.described or about.count or _is_whole(out, about)):
        out.penalty += _BESIDE  # "olives" are rather those that cannot be on it
        return False
    name = out.matcher.named(on.mask, out.lines)[0].name
    words = about.words if about.head is not None else listed([one.words for one in about.options])
    out.questions.append(Question("choice_refused", {"name": name, "words": words, "possible": []}))
    return True


def _is_whole(out: Outcome, said: Said) -> bool:
    """Whether a dish was called by its whole name: "fries", and not "olives" for the marinated ones."""
    dishes = (out.kitchen.dish(name) for name in out.index.names(said.mask))
    called = [one for dish in dishes if dish is not None for one in (dish.name, *dish.aliases)]
    return any(stems(said.words) == stems(one) for one in called)


def _is_what_is_left(out: Outcome, said: Said) -> bool:
    """Whether a number says how many are left of what was taken off just now: "and two are enough"."""
    about = said if said.become is None or said.become.empty else said.become
    if out.removed is None or said.head or said.ref or not about.only_counts or about.size:
        return False
    return about.count == (out.removed.quantity or 1) - out.removed.gone


def _recap(out: Outcome, reading: Sequence[Said]) -> int:
    """Return where a guest sums up what they have changed: "make mine a cola. So two teas and a cola"."""
    for at in out.after_pauses(words_of("sums up")):
        earlier = [said for said in reading if said.place < at]
        if any(
            said.verb or said.instead or said.correct or said.become or said.besides or said.more
            for said in earlier
        ):
            return at
    return sys.maxsize


def _sums_up(out: Outcome, said: Said) -> bool:
    """Let there be so many in all of what is there, after a change of it."""
    found = (
        out.matcher.named(said.mask, out.things) if said.head is not None and not said.verb else []
    )
    if said.described:
        found = out.matcher.made_with(found, said.options)
    if (
        said.count is not None
        and said.only_counts
        and not said.described
        and out.spoken in out.items
    ):
        return _makes_in_all(out, said.count)
    if not found or said.number is None:
        return False
    if len(found) == 1:
        found[0].gone = 0
        out.count(found[0], said.number)
        out.touch(found[0])
    return len(found) == 1 or sum(item.quantity or 1 for item in found) == said.number


def _makes_in_all(out: Outcome, count: int) -> bool:
    """Let the thing that was ordered just now come so often in all: "one more roll, so two"."""
    fresh = out.items[-1]
    there = [item for item in out.there if item.names == fresh.names]
    had = sum(item.quantity or 1 for item in there)
    if not had or count <= had:
        return count == (fresh.quantity or 1)
    fresh.quantity = count - had
    return True


def _share(out: Outcome, reading: Sequence[Said]) -> None:
    """Say of both what is said of one: "bacon on the burger and the hot dog"."""
    for before, it, said in zip(reading, reading[1:], reading[2:], strict=False):
        _put_elsewhere(before, it, said)
    for at, said in enumerate(reading):
        _come_with_all(out, reading[:at], said)
    for before, said in pairwise([Said(), *reading]):
        _one_more_becomes(out, before, said)
        _means_part(out, before, said)
        _means_those(before, said)
        _narrow(before, said)
        _comes_beside(out, before, said)
        _put_on_described(out, before, said)
        _put_back(before, said)
        if not before.on or before.become is None:
            continue
        if said.verb == "remove" and _lacks(out, said, before.become):
            said.verb = ""  # "remove the egg from the stew and the roll"
        if _only_named(out, said):
            said.become, said.on, said.verb = before.become, True, before.verb
    for said, after in reversed([*pairwise(reading)]):
        tells = after.described or after.become is not None
        named = _only_named(out, said, first=True) and _on(out, after) and tells
        if named and after.joint in (AND, COMMA) and not after.on:
            said.become = after.become or replace(after, head=None, ref="")
            said.verb = after.verb or "change"


def _put_elsewhere(before: Said, it: Said, said: Said) -> None:
    """Put what was left off one thing on another: "take ham off the melt and put it on the burger"."""
    options = (before.become or before).options
    off = bool(options) and (before.verb == "remove" or all(one.no for one in options))
    bare_it = it.ref in ("it", "them") and not (it.described or it.become or it.head or it.count)
    named = said.head is not None and said.joint == ON and not (said.described or said.become)
    if off and bare_it and named:
        it.ref = it.verb = ""
        said.on, said.become = True, Said(options=[Option(one.entity) for one in options])


def _comes_beside(out: Outcome, before: Said, said: Said) -> None:
    """Order what comes in the place of a choice: "no slaw on the burger, and a side slaw instead"."""
    options = (before.become or before).options
    if not (said.instead and said.head and options and all(one.no for one in options)):
        return
    kind = out.matcher.section(out.make(said))
    if not any(out.matcher.section(item) == kind for item in out.there):
        said.instead = False


def _put_on_described(out: Outcome, before: Said, said: Said) -> None:
    """Put what was named on what is only told by a choice: "no cream on the vanilla"."""
    named = said.head or said.ref or said.become or said.number or said.verb not in ("", "add")
    told = said.options[-1] if said.options and not named else None
    before_it = range(max(0, told.place - 2), max(0, told.place)) if told is not None else ()
    where = out.told(before_it).split()
    points = len(where) == 2 and where[0] in words_of("put on") and where[1] in words_of("points")
    if told is None or not points or told.no or told.amount:
        return
    alone = Said(options=[told])
    able = [item for item in out.there if out.matcher.able(item, said)]
    if not all(out.writer.clash(i, alone) or out.matcher.made_with([i], [told]) for i in able):
        return  # "cheddar, on the pretzel bun"
    nowhere = before.on and not (before.head or before.ref or before.options)
    if said.options[1:]:
        said.become = Said(place=said.place, options=said.options[:-1])
        said.on, said.options, said.definite = True, [told], True
    elif nowhere and before.become is not None:
        said.on, said.become, said.definite = True, before.become, True
        before.on, before.become = False, None


def _put_back(before: Said, said: Said) -> None:
    """Let "put it back" say again what was named: "onion is fine, put it back in the stew"."""
    named = before.head or before.ref or before.become or before.verb or not before.options
    if named or any(one.no for one in before.options) or said.ref != "put-back":
        return
    said.ref = ""
    if said.head is not None and not (said.described or said.become):
        said.on, said.become = True, Said(place=said.place, options=before.options)
        before.options, before.told = [], []


def _come_with_all(out: Outcome, listed: Sequence[Said], said: Said) -> None:
    """Name the dishes of a list for all that wait: "fries and a cola for both", "salad for the others"."""
    points = said.ref in ("all", "rest") and said.joint in (ON, WITH) and not said.number
    if not points or said.described or said.become or said.verb or said.head:
        return
    combos = all(out.kitchen.combo(one.name) for one in out.waiting)
    if len(out.waiting) < 2:
        return
    for one in reversed(listed):
        if one.head is None or one.verb or one.become or one.ref:
            return
        one.both, said.ref = True, ""
        if one.joint not in (AND, COMMA) or not combos:
            return


def _one_more_becomes(out: Outcome, before: Said, said: Said) -> None:
    """Let another of several become something: "make one of the colas a tea, one a lemonade"."""
    turns = before.partial and before.head and before.become and before.become.head
    apart = said.verb or said.become or said.more or said.described or said.definite
    told = out.told(range(said.place, said.named[0])).split() if said.count else []
    if turns and said.head and not apart and told[-1:] in (["a"], ["an"]):
        said.become = Said(place=said.place, head=said.head, mask=said.mask, words=said.words)
        said.head, said.mask, said.words = before.head, before.mask, before.words
        said.verb, said.partial = before.verb, True


def _means_part(out: Outcome, before: Said, said: Said) -> None:
    """Let "it" mean a part of a combo that was named before it: "the drink, make it a cola"."""
    parts = [part for item in out.there for part in item.parts]
    points = said.ref in ("it", "them") and said.head is None and not said.lines
    turns = points and said.verb in ("change", "swap") and said.become is not None
    elsewhere = not before.within and out.matcher.named(before.mask, out.things)
    if not turns or not _only_named(out, before, first=True) or elsewhere:
        return
    found = out.matcher.named(before.mask, parts)
    if len(found) == 1:
        said.ref, said.head, said.definite = "", before.head, True
        said.mask, said.words, said.within = out.matcher.mask(found[0]), before.words, before.within
        said.lines_within = before.lines_within
        before.head, before.definite = None, False


def _means_those(before: Said, said: Said) -> None:
    """Let "them" mean what was told before it: "everything with oat milk, make it soy"."""
    changes = said.verb in ("change", "swap") and (said.described or said.become)
    if before.ref == "having" and not (before.become or before.verb) and changes:
        if said.ref in ("it", "them", "all") and not (said.head or said.count):
            before.become = said.become or replace(said, ref="", verb="")
            before.verb, said.verb, said.ref, said.become = "change", "", "", None
            said.options, said.size, said.notes, said.plain = [], None, [], False


def _narrow(before: Said, said: Said) -> None:
    """Let a change be only of some of several: "make them large, no, just one of them"."""
    about = before.become or before
    if not (said.correct and said.count and said.ref in ("them", "of-them")) or said.become:
        return
    told = [one.words for one in said.options] if said.exact else []
    left = [one for one in about.options if one.words not in told]
    if said.described and (left or about.size):
        about.options, said.partial = left, True
    elif about is not before and not said.verb:
        before.count, before.partial, before.plural = said.count, True, False
        said.ref, said.count, said.exact = "", None, False


def _lacks(out: Outcome, said: Said, become: Said) -> bool:
    """Whether what is to be left off is in all that is named."""
    found = out.matcher.named(said.mask, out.lines) if said.head is not None else []
    left_off = bool(become.options) and all(one.no for one in become.options)
    return left_off and bool(found) and all(out.matcher.able(one, become) for one in found)


def _only_named(out: Outcome, said: Said, *, first: bool = False) -> bool:
    """Whether something on the order is named, and nothing is said of it."""
    joint = first or said.joint in (AND, COMMA)
    told = said.described or said.become is not None or said.parts or said.more
    doubts = said.correct or said.instead or said.denied or said.kept or said.exact
    doubts = doubts or said.excepted
    verb = said.verb in ("", "change")
    return joint and verb and not told and not doubts and _on(out, said)


def _on(out: Outcome, said: Said) -> bool:
    """Whether "the" with a name means something on the order."""
    definite = said.definite or said.joint == THE
    if said.head is None or not definite or said.number is not None:
        return False
    parts = [part for item in out.lines for part in item.parts]
    return bool(out.matcher.named(said.mask, [*out.lines, *parts]))


def _carry(out: Outcome, said: Said, following: Sequence[Said]) -> None:
    points = said.joint == ON and said.number is None  # "in that meal"
    said.definite = said.definite or said.joint == THE or points
    told = [id(option.entity) for option in said.options]
    out.penalty += 1.0 * (len(told) - len(set(told)))
    out.penalty += _LIKE_A_DISH * _dishes_as_options(out, said)
    if said.exact and said.verb == "remove" and said.count is None and out.removed:
        said.verb = ""  # "cancel the nachos, just the burrito"
    _count_option(out, said)
    tell_apart(out, said)
    if said.off and said.verb in ("", "add", "change", "keep"):
        said.verb, said.kept = "remove", False
    if said.ref == "having" and said.become is None and said.verb in ("", "add", "change"):
        said = _of_having(out, said)
    if said.verb == "instead-of" and said.become is not None:
        said.verb = "swap"
    if said.kept and not said.become and _keeps(out, said, following):
        return
    if said.verb == "keep":
        said.verb = ""
    if said.verb == "move":
        _move(out, said)
        return
    if _says_which(out, said):
        return
    if not following and _is_somebodys(out, said):
        return
    if counts_newest(out, said):
        return
    if said.become is not None and of_waiting(out, said, said.become):
        return
    if said.ref == "same" and not said.more and same_for_another(out, said):
        if said.head is None:
            return
        said = replace(said, ref="", joint=BUT)  # "the same but with a cola"
    if one_of_counted(out, said) or _of_copy(out, said):
        return
    if said.ref == "it" and said.verb == "change" and _comes_for_removed(said.become, out):
        name_dish(out, replace(said.become, place=said.place), following)
        return
    if said.ref in ("undo", "put-back"):
        take_back(out, out.situation.before, added=said.ref == "undo")
        out.penalty += NOT_THERE if said.described else 0.0
    elif said.verb == "instead-of":
        if not moved_from(out, said) and not means_another(out, said, following):
            instead_of(out, said)
    elif said.verb == "remove" or said.denied:
        remove(out, said, following)
    elif said.verb in ("", "change") and _told_by_choice(out, said):
        pass
    elif said.verb in ("change", "swap") or said.become is not None:
        change(out, said, following)
    elif said.more and said.ref in _SUCH:
        again(out, said)
    elif said.partial and not said.more and (said.head or said.ref) and some_of(out, said):
        pass
    elif said.head is not None:
        name_dish(out, said, following)
    elif said.ref:
        pointed(out, said)
    elif said.ordinal is not None and said.described and not said.count:
        pointed(out, replace(said, ref="one"))  # "two margheritas, the second with ham"
    else:
        fragment(out, said)


def _is_somebodys(out: Outcome, said: Said) -> bool:
    """Ask which thing it is that is only said to be somebody's: "make mine hot"."""
    about = said.become or said
    named = said.head or about.head or said.lines or said.ref not in ("", "it") or said.number
    told = about.replaced or (about is not said and said.described) or not about.described
    if named or told or out.spoken or out.items or out.waiting:
        return False
    if words_of("whose").isdisjoint(out.told(range(out.length)).split()):
        return False
    able = [item for item in out.there if out.matcher.able(item, about)]
    same = [item for item in able if out.matcher.section(item) == out.matcher.section(able[0])]
    return len(same) > 1 and same == able and out.ask_which(replace(said, become=about), able)


def _told_by_choice(out: Outcome, said: Said) -> bool:
    """Say of the one line that has a size or a choice how it is to be: "the tofu one mild, the chicken hot"."""
    about = said.head or said.ref or said.become or said.count or out.items
    if about or not (said.definite and said.options):
        return False
    first = said.options[0]
    if said.size_first and said.size is not None:
        having = sized(out, out.there, said.size.words)  # "the double on a gluten free bun"
    elif said.on or first.no or first.amount or first.half:
        return False
    else:
        having = out.matcher.made_with(out.there, [first]) if said.size or said.options[1:] else []
    return len(having) == 1 and the_one(out, replace(said, article=False))


def _of_having(out: Outcome, said: Said) -> Said:
    """Tell what things have from what they are to have: "everything that is fried do grilled"."""
    told = [
        at + 1
        for at in range(len(said.options))
        if out.matcher.made_with(out.things, said.options[: at + 1])
    ]
    rest = said.options[told[-1] :] if told else []
    become = Said(place=said.place, options=rest, size=said.size, notes=said.notes)
    if not told or become.empty:
        out.penalty += LOOSE  # and what of it?
        return said
    return replace(
        said, verb="change", become=become, options=said.options[: told[-1]], size=None, notes=[]
    )


def _of_copy(out: Outcome, said: Said) -> bool:
    """Change what is to be like another thing: "the same, but he wants his eggs scrambled"."""
    copy = out.items[-1] if out.items and out.items[-1].copied else None
    but = "but" in out.told(range(max(0, said.place - 2), said.place)).split()
    begins = said.joint != STOP and said.verb in ("", "add")
    begins = begins and not (said.count if but else said.number)  # "but with a cola"
    if copy is not None and begins and said.joint in (BUT, WITH) and not (said.become or said.more):
        made = out.make(said)
        kind = out.matcher.section(made)
        alike = [one for one in out.items if one.copied and out.matcher.section(one) == kind]
        if said.head and made.name and alike and not out.matcher.named(said.mask, [copy]):
            out.give_place(alike[-1], made)  # "the same but tuna, and on rye"
            return True
    if copy is None or not (begins and said.head and said.definite and said.described):
        return False
    if said.become or not out.matcher.named(said.mask, [copy]):
        return False
    out.change(copy, replace(said, head=None))
    return True


def _comes_for_removed(become: Said | None, out: Outcome) -> TypeGuard[Said]:
    """Whether something comes for a part of a line that was taken off: "drop one and make it a tea"."""
    gone = out.removed
    if become is None or become.head is None or gone is None or gone.line is None:
        return False
    there = not become.count and out.matcher.named(become.mask, out.there)
    return 0 < gone.gone < (gone.quantity or 1) or bool(there)


def _dishes_as_options(out: Outcome, said: Said) -> int:
    """Return how many options are called like a dish on the order: "ham on the pepperoni"."""
    names = [stems(item.name or "") for item in (*out.there, *out.items)]
    options = [*said.options, *(said.become.options if said.become is not None else ())]
    return sum(stems(option.entity.words) in names for option in options if not option.no)


def _count_option(out: Outcome, said: Said) -> None:
    """Take "two shots" for two of a choice that is counted, not for two of a thing."""
    option = said.options[0] if said.options else None
    just_told = out.last in (*out.touched[-1:], *out.items[-1:])
    counted = out.last if just_told or said.exact else None
    words = out.told(range(said.place, min(said.told, default=said.place))).split()
    listed = said.joint in (AND, COMMA) or said.exact
    if said.ref == "one" and listed and not said.ordinal and (said.exact or not said.definite):
        if option is not None and counted and option.entity.tallied & out.matcher.mask(counted):
            if "with" not in words:  # "two ranch and one blue cheese"
                said.ref, said.article, said.definite = "", False, False
    alone = said.head is None and not said.ref and said.become is None and not said.partial
    if option is None or said.count is None or not alone or option.no or option.count != 1:
        return
    last = out.last
    if last is not None and option.entity.tallied & out.matcher.mask(last):
        if "with" not in words:
            option.count, said.count, said.definite = said.count, None, False


def _says_which(out: Outcome, said: Said) -> bool:
    """Take what was said for the answer to which line is meant."""
    refines = not said.verb or (said.verb == "remove" and said.ref == "one" and said.definite)
    which = out.which
    if (
        said.head is not None and said.number is not None
    ):  # one more thing, if it was asked just now
        refines = refines and not any(one.code == "which_line" for one in out.questions)
    found = meant_line(out, which, said) if which is not None and refines else []
    if which is None or not found:
        return False
    out.which = None
    if not take_back_question(out):
        out.settled.extend(found)
    if which.drop:
        for item in found:
            out.take_off(item, which.count)
    else:
        out.change_each(without_verb(which), found, which.count)
    return True


def _keeps(out: Outcome, said: Said, following: Sequence[Said]) -> bool:
    """Leave a thing as it is: "the other one stays", "keep the shake"."""
    things = [*out.lines, *out.items]
    copy = out.items[-1] if out.items and out.items[-1].copied else None
    off = [f"no {one.entity.words}" for one in said.options] if copy is not None else []
    if copy is not None and off and set(off) <= set(copy.changes) and not said.head:
        copy.changes = [one for one in copy.changes if one not in off]
        return True  # "another shake, but leave the cherry on that one"
    if said.size is not None and said.head is None and not said.ref:
        return _keeps_size(out, said.size.words)
    if said.head is not None:
        found = out.of_lines(said) or out.matcher.named(said.mask, things)
    elif said.ref:
        found = out.things
    else:
        found = out.matcher.made_with(out.things, said.options) if said.options else []
    if said.described:
        found = out.matcher.made_with(found, said.options)
    fewer = said.head is not None and said.count is not None and not (said.partial or following)
    if len(found) == 1 and fewer and 0 < (said.count or 0) < (found[0].quantity or 1):
        out.count(found[0], said.count or 1)  # "keep one slice"
        out.touch(found[0])
    if found:
        found[-1].gone = 0  # "scratch the tiramisu, no wait, keep the tiramisu"
        out.spoken = found[-1]
    return bool(found)


def _keeps_size(out: Outcome, size: str) -> bool:
    """Take back a change of size: "make it a small, no wait, keep the large"."""
    for item in reversed(out.touched):
        had = item.line.size if item.line is not None else None
        if had is not None and had == out.kitchen.size(item.name, size):
            item.size = had
            out.spoken = item
            return True
    return False


def _move(out: Outcome, said: Said) -> None:
    """Take something off the one thing that has it, and put it on another."""
    about = said.become
    if about is None or not about.options:
        out.penalty += NOT_THERE
        out.not_found(said)
        return
    goal = targets(out, replace(said, verb="change"))
    if len(goal) != 1 or not out.leaves_other(about.options, goal):
        out.penalty += NOT_THERE
        out.not_found(said)
        return
    out.change_each(about, goal)


def _leaving(following: Sequence[Said]) -> int:
    """Return the bits of the dishes that are taken off as a whole: "make it three and drop the tea"."""
    mask = 0
    for said in following:
        if said.verb == "remove" and said.head is not None and not said.described:
            mask |= said.mask
    return mask
