"""The items of a reading: each names something, and says how it is to be or becomes."""

from dataclasses import dataclass, field

from bella_vista.local.understanding.grammar.edges import Edge
from bella_vista.local.understanding.grammar.grammar import AND
from bella_vista.local.understanding.menu.index import Entity


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
        pointed: Where the words that it points with begin.
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
    pointed: int = -1
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
    def filling(self) -> bool:
        """Whether as many are meant as there is still room for: "all biscuits", "the rest thighs"."""
        return self.number is None and (self.plural or self.ref in (*EVERY, "rest"))

    @property
    def number(self) -> int | None:
        """How many, where "a" counts as one."""
        return 1 if self.count is None and self.article else self.count


EVERY = ("all", "whole")
