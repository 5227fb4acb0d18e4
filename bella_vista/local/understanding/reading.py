"""What a reading says, item by item: the acts of a search put together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

from bella_vista.local.english.talking import phrases_of, words_of
from bella_vista.local.understanding.grammar import AND, COMMA, ON, OR
from bella_vista.local.understanding.index import Entity
from bella_vista.local.understanding.lattice import GIVEN_UP, Edge
from bella_vista.local.understanding.states import Act, Reading, Step
from bella_vista.local.understanding.tokens import Token, number_at, tokenize
from state.menu.words import stems


@dataclass(slots=True)
class Option:
    """Something said of how a thing is to be.

    Args:
        entity: What it is.
        no: Whether it is to be left off.
        amount: ``extra``, ``light`` or a group's own word.
        half: ``half`` or ``other half``.
        count: How many of it.
        side: Whether it is to lie beside.
        place: Where it was said.
        carried: Whether the "no" was said of what comes before it in a list.
        sole: Whether "just" stands before it.
        dropped: Whether the "no" is a verb: "never mind the bacon".
        joined: Whether only an "and" stands between it and the one before.
    """

    entity: Entity
    no: bool = False
    amount: str = ""
    half: str = ""
    count: int = 1
    side: bool = False
    place: int = -1
    carried: bool = False
    sole: bool = False
    dropped: bool = False
    joined: bool = field(default=False, compare=False)

    @property
    def words(self) -> str:
        """It in words that the menu understands."""
        return self.of(self.entity.words)

    def of(self, words: str) -> str:
        """Return the same said of something else: "light", of a choice that is on the order."""
        if self.no:
            words = f"no {words}"
        else:
            if self.count > 1:
                words = f"{self.count} {words}"
            if self.amount:
                words = f"{self.amount} {words}"
            if self.side:
                words = f"{words} on the side"
        return f"{self.half} {words}" if self.half else words


@dataclass(slots=True)
class Said:
    """One item of a reading: what is wanted, or what a thing is called and what becomes of it.

    Args:
        verb: ``add``, ``remove``, ``change``, ``swap``, ``instead-of``, or nothing.
        place: The place it begins at.
        correct: Whether it takes something back that was said before.
        firmly: Whether it takes back by a word that can mean nothing else: "no", "sorry".
        meant: Whether the words say so without doubt: "I meant".
        joint: The joint it begins after.
        count: How many.
        article: Whether "a" is all that was said of how many.
        few: Whether a number that is none was said.
        size: The size.
        compared: Whether the size was only compared: "a bigger one".
        head: What it is, in the menu's names.
        words: The guest's words for what it is.
        mask: The dishes it may be.
        ref: The word it points with: ``it``, ``them``, ``one``, ``all``, ``other``, ``rest``, ``same`` ...
        ordinal: Which of several; negative from the end.
        definite: Whether "the" was said.
        partial: Whether so many OF something are meant.
        more: Whether one more is wanted.
        plain: Whether it is to be as it comes.
        usual: The words that say so.
        options: How it is to be.
        told: The places of the words of its options.
        unknown: The places of words that say how it is to be and are not on the menu.
        replaced: What is to give way to it.
        parts: What was chosen of a combo.
        become: What it is to become.
        instead: Whether it comes in the place of something.
        on: Whether what is said before the head is to be put on it.
        off: Whether what is named is to go off.
        denied: Whether the head itself is not wanted.
        plural: Whether the head was said of several.
        both: Whether "both" was said.
        half: Whether half of so many are meant.
        weak: Whether the head is only part of another name.
        strange: Whether words that are not on the menu belong to what it is called.
        back: Whether it is to come back.
        besides: Whether it comes beside what is there: "a cola too".
        twice: Whether there are to be twice as many: "double the fries".
        excepted: Whether what is said before it holds for all but it: "all large except the chai".
        outdone: The number or the size in whose place it comes: "three instead of two".
        kept: Whether it is to stay as it is: "the cola is fine".
        copies: Whether it is to be like the one that is there.
        exact: Whether "only" was said of how many.
        named: The places of the words of its head.
        after_all: Whether "actually" follows it.
        ahead: A size that the next part of a combo is to have.
        ends: Where the last size or option of it ends.
        sized: Where its size ends.
        resized: The size that was said of it before.
        lines: The lines of the order that are meant.
        inside: Whether its options are in what is named next: "swap the ham in the panino".
        recounts: Whether it says how many of it there are to be in the end: "four churros total".
        within: The combos of which it is a part: "the coke in the combo".
        lines_within: The lines of the order that these are, where they are told from others.
        written_over: The places of words that gave way to later ones though nobody took them back.
    """

    verb: str = ""
    place: int = 0
    correct: bool = False
    firmly: bool = False
    meant: bool = False
    joint: int = 0
    count: int | None = None
    article: bool = False
    few: bool = False
    size: Entity | None = None
    compared: bool = False
    head: Entity | None = None
    words: str = ""
    mask: int = 0
    ref: str = ""
    ordinal: int | None = None
    definite: bool = False
    partial: bool = False
    more: bool = False
    plain: bool = False
    usual: str = ""
    bare: bool = False
    only: bool = False
    each: bool = False
    instead: bool = False
    on: bool = False
    off: bool = False
    denied: bool = False
    plural: bool = False
    both: bool = False
    half: bool = False
    weak: bool = False
    strange: bool = False
    back: bool = False
    besides: bool = False
    excepted: bool = False
    twice: bool = False
    outdone: Edge | None = None
    kept: bool = False
    copies: bool = False
    exact: bool = False
    named: tuple[int, int] = (0, 0)
    after_all: bool = False
    ends: int = -1
    combo: Entity | None = None
    ahead: Entity | None = None
    lines: tuple[str, ...] = ()
    within: int = 0
    lines_within: tuple[str, ...] = ()
    sized: int = -1
    resized: Entity | None = None
    inside: bool = False
    recounts: bool = False
    written_over: list[int] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    replaced: list[Option] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list["Said"] = field(default_factory=list)
    become: "Said | None" = None

    @property
    def described(self) -> bool:
        """Whether anything is said of how it is to be."""
        return bool(
            self.options or self.size or self.notes or self.plain or self.bare or self.unknown
        )

    @property
    def size_first(self) -> bool:
        """Whether its size is said before its choices."""
        return bool(self.size and self.options) and self.sized <= self.options[0].place

    @property
    def used(self) -> bool:
        """Whether anything is said about it, or it only counts."""
        return bool(self.described or self.head or self.become or self.verb or self.number)

    @property
    def described_besides(self) -> bool:
        """Whether anything is said beside its name."""
        return bool(self.described or self.become or self.verb or self.ref or self.parts)

    @property
    def empty(self) -> bool:
        """Whether nothing at all is said."""
        return not (
            self.head or self.ref or self.described or self.count or self.more or self.ordinal
        )

    @property
    def only_counts(self) -> bool:
        """Whether nothing but a number is said, and perhaps words that are not on the menu."""
        return not (self.head or self.ref or self.options or self.notes or self.parts)

    def only_names(self, mask: int) -> bool:
        """Whether nothing but the name of one of some dishes is said."""
        told = self.described or self.become or self.parts or self.verb or self.number
        return self.head is not None and bool(self.mask & mask) and not told

    @property
    def only_unknown(self) -> bool:
        """Whether all it has are unknown words: "except a lottery ticket"."""
        points = self.head or self.ref or self.ordinal or self.number
        told = self.become or self.options or self.size or self.parts
        return bool(self.unknown) and not (points or told)

    @property
    def only_points(self) -> bool:
        """Whether something is only named or pointed at, as something that is there."""
        told = self.described or self.become or self.parts or self.verb or self.more
        there = self.partial or (not self.number and (self.definite or self.ref))
        return bool(there and (self.head or self.ref or self.ordinal) and not told)

    @property
    def counts(self) -> bool:
        """Whether it says how many of a named thing there are to be, and no more."""
        about = self if self.become is None or self.become.empty else self.become
        return bool(about.head and about.count and not about.options and not self.more)

    @property
    def goes_on_counting(self) -> bool:
        """Whether it says after "and" how many of another thing there are to be."""
        alone = not (self.verb or self.more or self.partial or self.become or self.described)
        return alone and self.counts and self.joint == AND

    @property
    def number(self) -> int | None:
        """How many, where "a" counts as one."""
        return 1 if self.count is None and self.article else self.count


@dataclass(frozen=True, slots=True)
class Passed:
    """A word that a reading passes over."""

    place: int
    kind: str


def items(reading: Reading) -> tuple[list[Said], list[Passed]]:
    """Put a reading's acts together: its items in order, and the words it passes over."""
    said: list[Said] = []
    passed: list[Passed] = []
    now = to = Said()
    meant = False
    ends, named, instead, exact, taken_back = -1, None, False, False, False
    resized = rather = sole_next = False
    halved = any(step.edge.does == "other-half" for step in reading.steps)
    joins = {step.first + 1 for step in reading.steps if step.edge.does in ("and", "with")}
    ands = {step.edge.end for step in reading.steps if step.edge.does == "and"}
    everywhere = {step.first for step in reading.steps if _is_everywhere(step.edge)}
    first = now
    following = [*(act.does for act in reading.acts[1:]), ""]
    for act, ahead in zip(reading.acts, following, strict=False):
        edge = act.edge
        match act.does:
            case "pass":
                kind, after = act.value
                passed.append(Passed(act.first, kind))
                whole = named is None or named.whole
                most = 0 if whole or act.first in joins else 1
                beside = 0 <= act.first - ends <= most and kind in _STRANGE
                headless = now.head is None and not now.ref and named is not None
                if (
                    beside
                    and named is not None
                    and (
                        not named.whole or kind in _TELLING or (headless and named.does == "option")
                    )
                ):
                    passed.pop()
                    to.unknown.append(act.first)
                    to.strange = to.strange or (named.does == "dish" and not named.whole)
                    ends = act.first + 1
                elif (
                    (kind in _TELLING and ahead in ("begin", ""))
                    and (now.number and now.only_counts)
                    and now is not first
                ):
                    passed.pop()
                    now.unknown.append(act.first)  # "two coffees", where there are none
                elif after and kind in ("food", "word") and now.head is not None:
                    passed.pop()
                    to.unknown.append(act.first)
                    ends = act.first + 1
            case "lost":
                passed.append(Passed(act.first, "part"))
            case "exactly":
                exact, sole_next = True, ahead in ("option", "become")
                if now.head is None and now.ref in ("", "rest", "other") and now is not first:
                    now.exact = True
            case "begin":
                instead_of_last, instead = instead, False
                verb, correct, joint = act.value
                firmly = correct and instead_of_last
                now = to = Said(verb, act.first, correct, firmly, correct and meant, joint)
                now.exact, exact = exact, False
                now.kept = verb == "keep"
                now.instead, rather = rather, False
                said.append(now)
            case "correct":
                taken_back, resized = True, False
                meant = bool(words_of("meant").intersection(edge.words.split()))
                instead = edge.words not in phrases_of("corrects mildly") or ahead == "exactly"
            case "become" | "should":
                if act.does == "should":
                    now.verb = "change"
                if now.become is None:
                    now.become = to = Said(place=act.first)
            case "instead":
                if said:
                    now.instead = True
                    gone = said[-2] if len(said) > 1 else Said()
                    if now.verb == "remove" and now.head and (gone.verb == "remove" or gone.denied):
                        now.verb = ""  # "no fries, tater tots instead"
                else:
                    rather = True
            case _:
                if act.does == "option" and instead:
                    if to.options:
                        _correct_option(to, act, only=exact, again=resized)
                        to.correct = to.correct or not (to.head or to.ref)
                    instead = False
                sole, sole_next = sole_next, False
                if act.does == "size" and ahead in ("part", "parts"):
                    last = now.parts[-1] if now.parts else None
                    definite = _definite(reading, act.first)
                    if last and definite and not last.size and edge.entity.mask & last.mask:
                        last.size = edge.entity  # "nuggets, the four piece, with apple slices"
                    else:
                        now.ahead = edge.entity
                    continue
                if taken_back and act.does in ("size", "count"):
                    resized = True
                    if act.does == "size" and to.size is None and _numbered(edge.entity):
                        to.count = None  # "the five, no, the three piece"
                every = act.value in _EVERY
                if (act.does == "head" or every) and now.joint == ON and not now.become:
                    _pass_on(said, _put_on_next(reading, act.first, every=every))
                listed = act.does == "option" and to.ends == act.first - 1 and bool(to.options)
                all_over = not everywhere.isdisjoint(
                    (edge.end, edge.end + 1)
                )  # "on the whole pizza"
                half = to.options[-1].half if listed and not all_over else ""
                on_half = half and (act.first in joins or (halved and half == "other half"))
                before = (to.count, to.size, None if act.does == "combo" else to.head)
                _apply(act, now, to, ahead)
                if listed:
                    to.options[-1].joined = act.first in ands
                if on_half and act.edge.entity.halved and not to.options[-1].half:
                    to.options[-1].half = half  # "half ham and olives"
                if sole and act.does == "option" and to.options:
                    to.options[-1].sole = True
                after = (to.count, to.size, to.head)
                if not taken_back and any(
                    old is not None and new not in (None, old)
                    for old, new in zip(before, after, strict=True)
                ):
                    to.written_over.append(act.first)
                taken_back = taken_back and act.does in ("the", "one")
                if act.does in _NAMING:
                    named, ends = edge, edge.end
                    _take_up(to if act.does != "part" else now.parts[-1], act, passed, reading)
                if act.does in ("head", "ref") and now.on and now.become is not None:
                    to = now if act.value == "having" else now.become
                if act.does == "part":
                    to = now.parts[-1]
                elif act.does == "combo":
                    inside = act.value[0] and now.on and now.become is not None
                    to = now.become if inside and now.become is not None else now
    if reading.acts and now is not None:
        tail = [act.does for act in reading.acts if act.does not in ("pass", "lost")]
        if tail and tail[-1] == "correct" and said:
            said[-1].after_all = True
            said[-1].correct = said[-1].correct or (len(said) == 1 and instead)
    _take_back(said, [one.first for one in reading.steps if one.edge.does in _PAUSES])
    given_up = [step.first for step in reading.steps if step.edge.words == GIVEN_UP]
    said = _counted_after([_beside(_itself(one)) for one in said])
    said = _excepting(said)
    verbs = [step for step in reading.steps if step.edge.does in ("add", "no")]
    for one in said:
        _turn(one)
        _of_both(one)
        _add_after(one, verbs)
        if any(place < one.place for place in given_up):
            one.instead = False  # "I wanted the soup, but better not. A salad instead"
    for one, another in pairwise([*said]):
        if one.verb == "remove" and another.correct and another.only_names(one.mask):
            said.remove(another)  # "I changed my mind about the soup, no soup"
        if one.verb == another.verb == "remove" and another.instead:
            another.verb = ""  # "lose the slaw, potato salad instead"
        changes = one.recounts or one.verb == "change" or one.correct or one.exact
        if changes and one.counts and another.goes_on_counting:
            another.recounts = True
    for at, (one, another) in reversed([*enumerate(pairwise(said))]):
        swaps = another.verb == "swap" or (said[at + 2 :] and said[at + 2].verb == "instead-of")
        about = another.become or another
        wished = replace(one, verb="").only_names(about.mask)
        if wished and one.verb in ("", "add") and swaps and another.joint != AND:
            said.remove(one)  # "he wants fries. Fries instead of the salad"
    for one, another in reversed([*pairwise(said)]):
        if another.recounts and another.joint == AND and one.counts and not one.described:
            one.recounts = True  # "five naans and four teas in total"
    return said, passed


def _excepting(said: list[Said]) -> list[Said]:
    """Put each exception behind what it is excepted from, with all that is named in its list."""
    said = [one for one in said if not (one.excepted and one.only_unknown)]
    if len(said) > 1 and said[0].excepted and not said[1].excepted:
        said = [said[1], replace(said[0], joint=said[1].joint), *said[2:]]
    for at in range(len(said) - 2, 0, -1):
        one = said[at]
        bare = one.ref in _EVERY and not (one.head or one.described or one.become)
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


def _itself(said: Said) -> Said:
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


def _definite(reading: Reading, place: int) -> bool:
    """Whether "the" stands before a place."""
    return any(step.first == place - 1 and step.edge.does == "the" for step in reading.steps)


def _counted_after(said: Sequence[Said]) -> list[Said]:
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


def _of_both(said: Said) -> None:
    """Take "half lemon pepper, half buffalo" for both where a dish has no halves."""
    halves = [one for one in said.options if one.half]
    dishes = said.mask if said.head is not None else -1
    if len(halves) > 1 and not any(one.entity.halved & dishes for one in halves):
        for one in halves:
            one.half = ""


def _add_after(said: Said, verbs: Sequence[Step]) -> None:
    """Leave off only what stands before "add": "take off the bacon and add an egg to the burger"."""
    options = said.become.options if said.on and said.become is not None else []
    if not all(one.no for one in options):
        return
    for option in options[1:]:
        before = [one for one in verbs if options[0].place < one.first < option.place]
        if before and before[-1].edge.does == "add":
            option.no = False


def _turn(said: Said) -> None:
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


def _put_on_next(reading: Reading, place: int, *, every: bool) -> set[int]:
    """Return the places of choices that are put on what is named next: "... and ham on the diavola".

    Args:
        reading: The reading.
        place: Where it is named.
        every: Whether all things are named.
    """
    told: set[int] = set()
    put: list[set[int]] = []
    denied = False
    steps = [one for one in reading.steps if one.first < place]
    while steps and (does := steps.pop().edge.does) != "on":
        if does in ("comma", "stop"):
            return set()  # "no pork for my wife, a galbi"
    for step, before in zip_longest(reversed(steps), reversed(steps[:-1])):
        does = step.edge.does
        if does == "option":
            wanted = before is None or before.edge.does != "no"
            if denied and wanted:
                break  # "with chicken, no avocado on either"
            told.add(step.first)
            denied = not wanted
        elif does in _APART or (every and does == "with"):
            put.append({*told})
        elif does not in _HOW:
            break
    else:
        return {*told}
    return put[0 if does == "with" else -1] if put else set()


def _pass_on(said: Sequence[Said], places: set[int]) -> None:
    """Put choices that were said after one thing on the next."""
    now, before = said[-1], said[-2] if len(said) > 1 else Said()
    had = before.become or before
    moved = [one for one in had.options if one.place in places]
    if moved and (before.head or before.ref):
        had.options = [one for one in had.options if one not in moved]
        now.on, now.become = True, Said(options=moved, place=now.place)


def _take_up(to: Said, act: Act, passed: list[Passed], reading: Reading) -> None:
    """Take a word that was passed over before a name for a part of what it is called."""
    edge, last = act.edge, passed[-1] if passed else None
    if last is None or not last.place < act.first <= last.place + 2:
        return
    if last.place + 1 < act.first:
        between = {one.does for one in reading.acts if last.place < one.first < act.first}
        if not between or not between <= {"begin", "one", "the"}:
            return
    if last.kind == "number":
        to.few = True
        passed.pop()
    elif (
        last.kind in _TELLING
        or (not edge.whole and last.kind in _STRANGE)
        or (last.kind == "word" and _general(act))
    ):
        to.unknown.append(last.place)
        to.strange = to.strange or (act.does == "head" and (not edge.whole or _general(act)))
        if act.does == "option" and not edge.whole and to.options:
            to.options.pop()
            to.unknown.extend(range(act.first, edge.end))
        passed.pop()


def _general(act: Act) -> bool:
    """Whether a head says only of which kind a dish is."""
    mask = act.edge.entity.mask
    return act.does == "head" and mask & (mask - 1) != 0


_HOW_MADE = ("options", "told", "size", "notes", "plain", "bare", "unknown")
_APART = frozenset(("and", "but", "comma", "stop", "no"))
_HOW = frozenset(("amount", "number", "a", "half", "filler", "aside", "add"))
_EVERY = ("all", "whole")
_PAUSES = ("comma", "stop", "correct")
_NAMING = frozenset(("head", "narrow", "part", "option"))
_STRANGE = frozenset(("food", "word", "common", "part", "name"))
_TELLING = frozenset(("food", "part", "name"))


def _apply(act: Act, now: Said, to: Said, ahead: str) -> None:
    edge = act.edge
    match act.does:
        case "count":
            to.count, to.article = int(edge.value), False
        case "one":
            to.article = True
        case "few":
            to.few = True
        case "the":
            to.definite = True
        case "fewer":
            to.count, now.verb = 1, "remove"
        case "half_of":
            now.ref, now.partial, now.half = "of-them", True, True
        case "of":
            now.partial = True
        case "ordinal":
            to.ordinal = int(edge.value)
        case "more":
            to.more = True
        case "head" | "narrow":
            if act.does == "narrow" and now.ref and now.head is None:
                to = now
            if act.does == "narrow" and to.head is not None:
                to.mask &= edge.entity.mask
                to.words = f"{to.words} {edge.words}"
            else:
                to.head, to.mask, to.words = edge.entity, edge.entity.mask, edge.words
                to.named = (act.first, edge.end)
                to.lines, to.definite = edge.lines, to.definite or bool(edge.lines)
            to.plural, to.weak = edge.plural, edge.weak
        case "total":
            now.recounts = True
        case "combo" if act.value[0]:
            now.within, now.lines_within = edge.entity.mask, edge.lines
        case "combo":
            part = Said(head=now.head, mask=now.mask, words=now.words, size=None)
            now.parts.append(part)
            _, having = act.value
            now.head, now.mask, now.words = edge.entity, having, f"{now.words} {edge.words}"
            now.combo = edge.entity
        case "parts":
            now.parts.append(Said(count=int(act.value)))
        case "part":
            combo = now.become if now.become is not None and now.become.head else now
            combo.mask &= act.value  # "wings with fries" is a combo of wings
            last = now.parts[-1] if now.parts else None
            if last is not None and last.head is None:
                last.head, last.mask, last.words = edge.entity, edge.entity.mask, edge.words
            else:
                last = Said(head=edge.entity, mask=edge.entity.mask, words=edge.words)
                now.parts.append(last)
            last.named = (act.first, edge.end)
            before = to if to is not last else now
            if now.ahead is not None:
                last.size, now.ahead = now.ahead, None
            if before.options and before.ends == act.first:
                last.options.append(before.options.pop())
        case "uncount":
            to.count = None
        case "ref":
            to.ref = str(act.value)
            to.plural = to.plural or edge.words == "ones"
            to.both = edge.words.startswith("both") or not words_of("both").isdisjoint(
                edge.words.split()
            )
            if to.ref == "of-them":
                now.partial = True
        case "size":
            to.resized, to.size, to.ends, to.sized = to.size, edge.entity, edge.end, edge.end
            to.compared = edge.words in words_of("larger") | words_of("smaller")
        case "option":
            option = _option(edge.entity, act.value)
            option.place = act.first
            if option.half == "half" and any(one.half == "half" for one in to.options):
                option.half = "other half"
            to.options.append(option)
            to.told.extend(range(act.first, edge.end))
            to.ends = edge.end
        case "much":
            if to.options:
                to.options[-1].amount = str(edge.value)
        case "replaced":
            to.replaced.append(Option(edge.entity))
        case "half":
            _halve(to.options, str(act.value))
        case "side":
            if to.options:
                beside = to.options[-1]
                beside.side = True
                beside.no = beside.no and not beside.carried  # "no egg, mayo on the side"
        case "plain":
            to.plain = True
            to.usual = edge.words
        case "bare":
            to.bare = True
        case "only":
            to.only = True
        case "each":
            to.each = True
        case "note":
            to.notes.append(edge.words)
        case "on" if now.verb == "swap":
            named = now.head or now.become
            now.inside = now.inside or (bool(now.options) and not named)
        case "on" if now.verb != "change":
            if now.head is None and not now.ref and now.become is None and now.options:
                _put_on(now)
        case "free":
            if to.options:
                to.options[-1].no = True
        case "outdone":
            now.outdone = edge
        case "copied":
            now.copies = True
        case "twice":
            now.twice, now.verb = True, "change"
        case "except":
            now.excepted, now.verb = True, ""
        case "back":
            now.back = True
        case "kept":
            now.kept = True
            if now.verb == "remove":
                now.verb = ""  # "drop the diavola, the margherita stays"
        case "besides":
            now.besides = True
        case "off":
            if now.head is None and not now.ref and now.become is None and now.options:
                for option in now.options:
                    option.no = True
                now.verb = ""
                if ahead in ("head", "the", "ref", "ordinal"):
                    _put_on(now)
            elif to.options and not to.options[-1].no:
                _left_off(to.options, now)
            else:
                to.off = True
        case "deny":
            now.denied = True


def _numbered(size: Entity) -> bool:
    """Whether a size is a number of pieces: "five pieces"."""
    return number_at(tokenize(size.words), 0) is not None


def _correct_option(to: Said, act: Act, *, only: bool, again: bool) -> None:
    """Take back the option that a correction replaces; with "just", all that were said.

    Args:
        to: The item.
        act: The option that was said after the correction.
        only: Whether "just" was said.
        again: Whether the correction was of the size or the number, so that an option may be said again.
    """
    fresh = _option(act.edge.entity, act.value)
    same = [one for one in to.options if one.entity is fresh.entity]
    if only and not fresh.no:
        to.options.clear()
    elif same and fresh.dropped and not same[-1].no:
        return  # "extra cheese? No, never mind the cheese" takes back what was said
    elif same:
        to.options.remove(same[-1])
        if replace(same[-1], place=fresh.place) == fresh and not again:
            to.written_over.append(act.first)
    elif to.options[-1].no == fresh.no:
        to.options.pop()


def _is_everywhere(edge: Edge) -> bool:
    """Whether words say that something is on the whole of a dish: "all over", "on the whole pizza"."""
    return edge.does == "all" or "whole" in edge.words.split()


def _halve(options: list[Option], half: str) -> None:
    """Put the last option on a half, and those before it where another half is told already.

    "Pepperoni on one half, mushrooms and onions on the other"; but "onions, and ham on one half".
    """
    taken = half == "half" and any(one.half == "half" for one in options)
    joined = False
    for at, option in reversed(list(enumerate(options))):
        told = any(one.half for one in options[:at])
        with_it = joined and not option.amount
        last = option is options[-1]
        if option.half or (option.no or not (told or with_it)) and not last:
            return
        joined = option.joined
        option.half = "other half" if taken else half


def _left_off(options: list[Option], said: Said) -> None:
    """Take the last things named for things to leave off: "onions and tomatoes left out".

    But not what was put on before: "add ham to the melt and take the tomato off".
    """
    for option in reversed(options):
        if option.no or option.amount or option.half or option.side:
            return
        put_on = said.on and option.place < said.named[0]
        if option is not options[-1] and (put_on or not option.entity.own & said.mask):
            return
        option.no = True


def _put_on(now: Said) -> None:
    """Take what was said so far for what is to be on the thing that is named next."""
    now.on = True
    now.become = Said(options=now.options, replaced=now.replaced, place=now.place)
    now.options, now.replaced = [], []
    if now.verb == "remove":
        now.verb = ""
        for option in now.become.options:
            option.no = True


def _option(entity: Entity, pend: Sequence[tuple[str, str | int]]) -> Option:
    option = Option(entity)
    for kind, value in pend:
        if kind in ("no", "carried"):
            option.no, option.carried = True, kind == "carried"
            option.dropped = value == "dropped"
        elif kind == "amount":
            option.amount = str(value)
        elif kind == "half":
            option.half = str(value)
        elif kind == "count":
            option.count = int(value)
    return option


def told_of(said: Said, following: Sequence[Said], tokens: Sequence[Token]) -> str:
    """Return the guest's words for a whole item."""
    last = following[0].place if following else len(tokens)
    run = [token.word for token in tokens[said.place : max(last, said.place + 1)] if not token.stop]
    while len(run) > 1 and run[-1] in ("and", "with", "the", "a", "also", "then", "please"):
        run.pop()
    return " ".join(run)


def shown(said: Sequence[Said]) -> Iterator[str]:
    """Say what each item of a reading is, for whoever tunes a menu."""
    for one in said:
        words = [one.verb or "order", *([str(one.count)] if one.count else [])]
        words += [one.size.words] if one.size else []
        words += [one.head.words if one.head else one.ref]
        words += [option.words for option in one.options]
        if one.become is not None:
            words += ["->", *shown([one.become])]
        yield " ".join(word for word in words if word)
