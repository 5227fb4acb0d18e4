"""Sets the items of a reading right among themselves, once all of them are read."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from bella_vista.local.understanding.grammar.grammar import AND, COMMA, NOTHING, ON, OR, THE, WITH
from bella_vista.local.understanding.grammar.states import Reading, Step
from bella_vista.local.understanding.lattice.aside_edges import GIVEN_UP
from bella_vista.local.understanding.readings.said import EVERY, Said
from state.menu.words import stems


def regroup(said: list[Said], reading: Reading) -> list[Said]:
    """Set the items of a reading right among themselves.

    Args:
        said: The items; they are changed.
        reading: The reading that they are of.
    """
    _take_back(said, [one.first for one in reading.steps if one.edge.does in _PAUSES])
    given_up = [step.first for step in reading.steps if step.edge.words == GIVEN_UP]
    said = _join_counts([_beside(_names_itself(one)) for one in said])
    said = _share_anew(_put_exceptions_behind(said))
    verbs = [step for step in reading.steps if step.edge.does in ("add", "no")]
    for one in said:
        _turn_to_swap(one)
        _put_on_both(one)
        _keep_added(one, verbs)
        if any(place < one.place for place in given_up):
            one.instead = False  # "I wanted the soup, but better not. A salad instead"
    for one, another in pairwise([*said]):
        if one.verb == "remove" and another.correct and another.only_names(one.mask):
            said.remove(another)  # "I changed my mind about the soup, no soup"
        heading = one.head is not None and one.head.kind == "head"
        begins = heading and one in said and one.only_names(another.mask)
        if begins and not one.mask & ~another.mask and another.joint in (NOTHING, THE):
            another.mask = one.mask  # "can I build a bowl", of the build your own bowl
            said.remove(one)
        if one.verb == another.verb == "remove" and another.ref == "it" and not another.head:
            said.remove(another)  # "drop one of the colas, he does not want it"
        if one.verb == another.verb == "remove" and another.instead:
            another.verb = ""  # "lose the slaw, potato salad instead"
        changes = one.recounts or one.verb == "change" or one.correct or one.exact
        if changes and one.counts and another.goes_on_counting:
            another.recounts = True
    _correct_all(said)
    for before, one, another in [*zip(said, said[1:], said[2:], strict=False)]:
        about = one.become if one.become is not None else one
        repeats = another.counts and another.mask == before.mask and another.count == about.count
        if repeats and not (about.head or another.verb or another.described):
            said.remove(another)  # "three waters, no, make it four, four waters"
    for before, one in pairwise(said):
        _put_on_others(before, one)
        if one.correct and one.partial and (one.count or 0) > (before.number or 1):
            one.partial = False  # "one pie, actually two of the pies"
    for at, (one, another) in reversed([*enumerate(pairwise(said))]):
        swaps = another.verb == "swap" or (said[at + 2 :] and said[at + 2].verb == "instead-of")
        about = another.become or another
        if swaps and one.verb in ("", "add") and another.joint != AND:
            if replace(one, verb="").only_names(about.mask):
                said.remove(one)  # "he wants fries. Fries instead of the salad"
    for one, another in reversed([*pairwise(said)]):
        if another.recounts and another.joint == AND and one.counts and not one.described:
            one.recounts = True  # "five naans and four teas in total"
    return said


def _put_on_others(before: Said, said: Said) -> None:
    """Say of the others what was chosen last: "with the club a salad, fries with the other two"."""
    bare = not (said.head or said.described or said.become or said.number or said.verb)
    if said.ref not in ("rest", "other") or said.joint not in (ON, WITH) or not bare:
        return
    kinds = [option.entity.groups for option in before.options[-2:]]
    if len(kinds) == 2 and kinds[0] & kinds[1]:
        said.on, said.become = True, Said(place=said.place, options=[before.options.pop()])


def _share_anew(said: list[Said]) -> list[Said]:
    """Leave out how several were shared out where it is told again: "two ham two egg, no, three ham one egg"."""
    for at, one in enumerate(said):
        of = next((before for before in reversed(range(at)) if said[before].head), at)
        turns = one.verb == "change" and one.ref == "it" and one.become is not None
        first = one.become if turns and one.become is not None else one
        again = [first, *takewhile(_is_share, said[at + 1 :])]
        shared = all(map(_is_share, (*said[of + 1 : at], first))) and of + 1 < at
        total = sum(share.number or 1 for share in again)
        if shared and (turns or one.correct) and len(again) > 1 and total == said[of].count:
            first = replace(first, place=one.place, correct=False, firmly=False, joint=COMMA)
            return [*said[: of + 1], first, *said[at + 1 :]]
    return said


def _is_share(said: Said) -> bool:
    """Whether so many of several are only told by how they are to be."""
    named = said.head or said.verb or said.become or said.parts or said.ref not in ("", "one")
    return bool((said.number or said.ref) and (said.options or said.size)) and not named


def _correct_all(said: Sequence[Said]) -> None:
    """Correct each number that is said again: "four rolls and two buns, no, two rolls and four buns"."""
    for at, one in enumerate(said):
        if not (one.correct and one.counts):
            continue
        for later in said[at + 1 :]:
            if not later.counts or not any(earlier.mask & later.mask for earlier in said[:at]):
                break
            later.correct = True


def _put_exceptions_behind(said: list[Said]) -> list[Said]:
    """Put each exception behind what it is excepted from, with all that is named in its list."""
    said = [one for one in said if not (one.excepted and one.only_unknown)]
    if len(said) > 1 and said[0].excepted and not said[1].excepted:
        said = [said[1], replace(said[0], joint=said[1].joint), *said[2:]]
    for at in range(len(said) - 2, 0, -1):
        one = said[at]
        bare = one.ref in EVERY and not (one.head or one.described or one.become)
        if bare and said[at + 1].excepted and not said[at + 1].described:
            del said[at]  # "make the drinks large, all except the tea"
    for before, one in pairwise([*said]):
        if before.excepted and one.joint in (AND, COMMA, OR) and one.only_points:
            one.excepted = True  # "except the soup and one of the teas"
        bare = not (before.described or before.become or before.excepted)
        if one.excepted and bare and before.ref and (one.described or one.become):
            if one.ref != "one" or one.become:  # "all but the chai with oat milk"
                before.become, one.become = one.become, None
                for name in _HOW_MADE:
                    setattr(before, name, getattr(one, name))
                    setattr(one, name, getattr(Said(), name))
                before.verb = before.verb or ("change" if before.become else "")
    return said


def _names_itself(said: Said) -> Said:
    """Take "on the asada ones" for the thing itself: "two carne asada with no onion on the asada ones"."""
    about = said.become
    if about is None or not (said.on and said.ref == "one" and said.options and said.count):
        return said
    told = [set(stems(one.entity.words)) for one in about.options if not one.no]
    if not all(any(set(stems(one.entity.words)) <= of for of in told) for one in said.options):
        return said
    return replace(
        said, become=None, on=False, ref="", definite=False, options=about.options, told=about.told
    )


def _beside(said: Said) -> Said:
    """Take "the pho should have shrimp too" for shrimp beside what is on it already."""
    become = said.become
    if become is None or not (said.besides and said.verb == "change" and said.head):
        return said
    if not become.options or become.head or become.size or become.count or said.options:
        return said
    return replace(said, verb="", become=None, options=become.options, told=become.told)


def _join_counts(said: Sequence[Said]) -> list[Said]:
    """Take a number that follows a thing for how many of it: "a muffin for the boy, two of them"."""
    left: list[Said] = []
    for one in said:
        before = left[-1] if left else Said()
        announced = (
            before.head and before.plural and not (before.number or before.described_besides)
        )
        if (
            announced
            and one.ref == "one"
            and one.count
            and not (one.verb or one.head or one.become)
        ):
            one.head, one.mask, one.words, one.ref = before.head, before.mask, before.words, ""
            left[-1] = one  # "coffees: four small ones"
            continue
        bare_one = before.ref == "one" and not (before.described or before.become or before.verb)
        if bare_one and one.more and one.lines and before.number in (None, 1):
            left[-1] = one  # "and one for me, same as the oat milk one but large"
            continue
        counts = one.ref == "of-them" and one.joint != ON
        counts = counts and not (one.half or one.verb or one.become or one.described)
        if counts and one.count and before.head and before.number in (None, 1) and not before.verb:
            before.count = one.count
        else:
            left.append(one)
    return left


def _put_on_both(said: Said) -> None:
    """Take "half lemon pepper, half buffalo" for both where a dish has no halves."""
    halves = [one for one in said.options if one.half]
    dishes = said.mask if said.head is not None else -1
    if len(halves) > 1 and not any(one.entity.halved & dishes for one in halves):
        for one in halves:
            one.half = ""


def _keep_added(said: Said, verbs: Sequence[Step]) -> None:
    """Leave off only what stands before "add": "take off the bacon and add an egg to the burger"."""
    options = said.become.options if said.on and said.become is not None else []
    if not all(one.no for one in options):
        return
    for option in options[1:]:
        before = [one for one in verbs if options[0].place < one.first < option.place]
        if before and before[-1].edge.does == "add":
            option.no = False


def _turn_to_swap(said: Said) -> None:
    """Take "make the rice a salad" for a swap: both are choices of one kind."""
    beside = said.head or said.ref or said.become or said.size or said.ordinal
    if said.verb != "change" or beside or len(said.options) != 2:
        return
    old, new = said.options
    changed = old.no or new.no or old.amount or old.half
    if not changed and old.entity.kinds & new.entity.kinds:
        said.verb, said.options = "swap", [old]
        said.become = Said(place=said.place, options=[new])


def _take_back(said: list[Said], pauses: Sequence[int]) -> None:
    """Leave out choices that the same line takes back: "with bacon? No, never mind the bacon".

    Args:
        said: The items of the line; they are changed.
        pauses: Where it pauses: "it is the cream I do not want" takes nothing back.
    """
    gone: list[Said] = []
    for before, one in pairwise([Said(), *said]):
        told = (one.become or one).options
        alone = one.head is None and not (one.ref or one.become or one.count or one.size)
        put = [*((before.become or before).options if alone else ()), *told]
        takes = alone and one.verb == "remove"
        for option in [option for option in told if option.dropped or takes]:
            wanted = [
                other
                for other in put[: next(at for at, o in enumerate(put) if o is option)]
                if other.entity.words == option.entity.words
                and not other.no
                and not (takes and any(other is own for own in told))
                and any(other.place < at < option.place for at in pauses)
            ]
            if wanted:
                for options in (told, (before.become or before).options):
                    options[:] = [o for o in options if o is not option and o is not wanted[-1]]
                if alone and not told:
                    one.verb = ""
                if before.correct:
                    before.article = False  # "no, a medium": not another one
                gone += [each for each in (before, one) if each.empty and each.become is None]
    said[:] = [one for one in said if one.verb or not any(one is each for each in gone)]


def deal_sizes(said: Sequence[Said]) -> tuple[list[Said], int]:
    """Give a size that is told first to what is named next: "two footlongs, a tuna and a ham".

    Returns:
        The items without those that only announced others, and how many announced some.
    """
    left, dealt, at = list(said), 0, 0
    while at < len(left):
        one = left[at]
        named = _announced(one, left[at + 1 :])
        if named:
            for other in named:
                other.size = one.size
            del left[at]
            dealt += 1
        at += 1
    return left, dealt


def _announced(said: Said, following: Sequence[Said]) -> Sequence[Said]:
    """Return the next items if they are as many as were said, and can all be of the size."""
    general = said.head is None or (said.head.kind == "head" and said.plural)
    if not (said.size and (said.count or 0) > 1 and general) or said.verb or said.ref:
        return ()
    named: list[Said] = []
    for one in following:
        if one.head is None or one.size or one.verb or one.become or one.correct:
            break
        named.append(one)
        if sum(each.number or 1 for each in named) >= (said.count or 0):
            break
    total = sum(each.number or 1 for each in named)
    if said.options or len(named) < 2 or total != said.count:
        return ()
    return named if all(one.mask & said.size.mask for one in named) else ()


_HOW_MADE = ("options", "told", "size", "notes", "plain", "bare", "unknown")


_PAUSES = ("comma", "stop", "correct")
