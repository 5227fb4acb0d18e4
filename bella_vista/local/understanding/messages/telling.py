"""Combos that are told one after another: each gets its name where it is told, as the grammar knows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Meaning, Names
from bella_vista.local.understanding.words.tokens import Found, Token, Words, number_at, tokenize
from state.menu.english import EMPTY
from state.menu.words import stems

_LEAST = 2
"""So many parts tell a combo that is only called "one": with a single part it may be one of several."""


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A combo where it is ordered.

    Args:
        name: The combo.
        number: How many of it.
        first: Where its number or its article begins.
        last: Where its name ends.
    """

    name: str
    number: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Turn:
    """One of several that is told.

    Args:
        first: Where it begins.
        begins: Where what is said of it begins.
        kind: How it is told from others: ``nth``, ``one``, ``many`` or ``person``.
        number: How many are told alike: "two of them with ...".
    """

    first: int
    begins: int
    kind: str
    number: int = 1


def in_turn(
    tokens: Sequence[Token], names: Names, kitchen: Kitchen, waiting: tuple[str, int] | None
) -> tuple[list[Token], int]:
    """Write out several combos that are told one by one: "two meals. First one a burger, second one ...".

    Args:
        tokens: What was said.
        names: The menu's names.
        kitchen: What the menu makes of words.
        waiting: The combo or dish that waits for what it comes with, and how many of it.

    Returns:
        The words with each combo named where it is told, and how many of those that wait are told;
        the words as they were, and 0, where nothing is told in turn.
    """
    telling = _Telling(tokens, names, kitchen)
    if (told := telling.announced()) is not None:
        return told, 0
    if waiting is not None and (after := telling.waited(*waiting)) is not None:
        return after
    if waiting is not None and (again := telling.called(*waiting)) is not None:
        return again, waiting[1]
    return telling.one_more(), 0


class _Telling:
    """A line in which combos may be told in turn."""

    def __init__(self, tokens: Sequence[Token], names: Names, kitchen: Kitchen) -> None:
        self._tokens = list(tokens)
        self._words = Words("", tuple(tokens))
        self._names = names
        self._kitchen = kitchen
        self._turns = [*self._found()]
        self._unpaused = [*self._found(unpaused=True)]

    def announced(self, *, waited: bool = False) -> list[Token] | None:
        """Write out combos that are ordered as so many, before it is said what is in each.

        Args:
            waited: Whether they were ordered before, and wait.
        """
        for combo in self._ordered():
            turns = self._as_many(combo, waited=waited)
            if not turns:
                continue
            first = turns[0].first
            shared = self._of_each(combo.last, first)
            if any(self._named(combo.last, shared[0])) or not self._all_told(combo.name, turns):
                continue
            before = self._tokens[: combo.first] + self._tokens[combo.last : shared[0]]
            if left := combo.number - _told_of(turns):  # of these nothing is told yet
                before = [*before, *tokenize(f". {left} {combo.name}")]
            return before + self._written(combo.name, turns, self._tokens[slice(*shared[1])])
        return None

    def _as_many(self, combo: _Ordered, *, waited: bool) -> Sequence[_Turn]:
        """Return those that are told of several: as many as are ordered, or fewer that are counted off."""
        turns = [turn for turn in self._turns if turn.first >= combo.last]
        counted_off = [turn for turn in turns if turn.kind != "person"]
        unpaused = [t for t in self._unpaused if t.first >= combo.last and t.kind != "person"]
        for told in (counted_off, turns, unpaused) if combo.number >= _LEAST else ():
            whole = _told_of(told) == combo.number and len(told) > 1
            if whole and not self._is_mixed(combo.name, told):
                return told
        for listed in self._listed(combo, articles=waited) if combo.number >= _LEAST else ():
            return listed
        ends = [*(turn.first for turn in counted_off[1:]), len(self._tokens)]
        whole = all(
            len(self._parts(combo.name, turn.begins, end)) >= _LEAST
            for turn, end in zip(counted_off, ends, strict=False)
        )
        return counted_off if whole and _told_of(counted_off) < combo.number else ()

    def waited(self, name: str, number: int) -> tuple[list[Token], int] | None:
        """Write out those that were ordered before and wait, as many as are told."""
        turns = [turn for turn in self._turns if turn.kind == "nth"]
        if not turns or not _LEAST <= number >= len(turns) or self._kitchen.combo(name) is None:
            return None
        return self._tokens[: turns[0].first] + self._written(name, turns), len(turns)

    def called(self, name: str, number: int) -> list[Token] | None:
        """Write what waits before the words that tell each of it: "one with beef, the other with pork"."""
        turns = [turn for turn in self._turns if turn.kind != "person"]
        if number < _LEAST or not self._tokens:
            return None
        at = self._tokens[0]
        ordered = [
            replace(one, start=at.start, end=at.start) for one in tokenize(f"{number} {name} ,")
        ]
        again = _Telling([*ordered, *self._tokens], self._names, self._kitchen)
        if self._kitchen.combo(name) is not None:
            return again.announced(waited=True)
        told = (
            self._unpaused and _told_of(turns) == number and not any(self._named(0, turns[0].first))
        )
        return again._tokens if told else None

    def one_more(self) -> list[Token]:
        """Name combos again that are only counted: "a meal with ..., and one for me with ..."."""
        ordered = [*self._ordered()]
        for turn in reversed(self._turns):
            before = [combo for combo in ordered if combo.last <= turn.first]
            if not before or turn.kind not in ("one", "many") or before[-1].number > turn.number:
                continue
            follows = self._tokens[turn.begins]
            chosen = self._names.longest(self._tokens, turn.begins)
            made = chosen is not None and chosen[1].choice and not chosen[1].dishes
            if not (made or follows.stop or follows.word in words_of("before a part")):
                continue  # "and one burger with fries" is a burger
            name = before[-1].name
            counted = [one.first for one in self._turns if one.kind in ("one", "many")]
            others = [*counted, *(one.first for one in ordered)]
            starts = [first for first in others if first > turn.first]
            ends = min(starts, default=len(self._tokens))
            had = self._parts(name, before[-1].last, turn.first)
            if had >= self._open(name) and self._named_parts(name, turn.begins, ends) >= _LEAST:
                said = self._told(name, turn, ends)
                self._tokens = [*self._tokens[: turn.first], *said, *self._tokens[ends:]]
        return self._tokens

    def _listed(self, combo: _Ordered, *, articles: bool) -> Iterator[Sequence[_Turn]]:
        """Yield those that are each told by their choice for the same part: "two cheeseburgers, one hot dog".

        Args:
            combo: Where it is ordered.
            articles: Whether "a hot dog" is one of them, and "two hot dogs" are all.
        """
        kinds: dict[int, list[_Turn]] = {}
        menu = self._kitchen.combo(combo.name)
        single = {at for at, part in enumerate(menu.parts if menu else ()) if part.choose == 1}
        for turn in self._found_before_a_name(articles=articles):
            named = self._parts(combo.name, turn.begins, self._goes_on_to(turn.begins))
            for part in named & single if turn.first >= combo.last else ():
                kinds.setdefault(part, []).append(turn)
        for turns in sorted(kinds.values(), key=lambda told: told[0].first):
            whole = _told_of(turns) == combo.number and (articles or len(turns) > 1)
            if whole and self._is_apart(turns[0].first) and not self._counts_inside(turns):
                yield turns

    def _is_mixed(self, name: str, turns: Sequence[_Turn]) -> bool:
        """Whether only different parts of one are counted: "one cheeseburger and one cola"."""
        ends = [(turn.begins, self._goes_on_to(turn.begins)) for turn in turns]
        bare = all(self._tokens[at].word not in words_of("before a part") for at, _ in ends)
        parts = [self._parts(name, at, end) for at, end in ends if end > at]
        return bare and len(parts) == len(turns) and not set.intersection(*parts)

    def _counts_inside(self, turns: Sequence[_Turn]) -> bool:
        """Whether something is counted in what is told, but not once for each."""
        ends = [*(turn.first for turn in turns[1:]), len(self._tokens)]
        return any(
            counted[0] not in (1, turn.number)
            for turn, end in zip(turns, ends, strict=True)
            for at in range(turn.begins, end)
            if (counted := number_at(self._tokens, at))
            and self._goes_on_to(at + counted[1]) > at + counted[1]
        )

    def _goes_on_to(self, at: int) -> int:
        """Return where the name ends that is told from a place on; the place itself where none is."""
        first = at
        while at < len(self._tokens) and self._tokens[at].word in words_of("before a part"):
            at += 1
        named = self._names.longest(self._tokens, at)
        return at + named[0] if named is not None and named[1].dishes else first

    def _found(self, *, unpaused: bool = False) -> Iterator[_Turn]:
        """Yield those that are told, each behind a pause or "and"; or also where "one with" goes on."""
        for found in self._words.find_all(pattern("tells one of several")):
            after = self._tokens[found.last : found.last + 1] if unpaused else ()
            if any(one.word == "with" for one in after) or self._is_apart(found.first):
                yield self._turn(found)

    def _found_before_a_name(self, *, articles: bool) -> Iterator[_Turn]:
        """Yield those that go on with a name, with or without a pause: "one cheeseburger one hot dog"."""
        told = [*self._words.find_all(pattern("tells one of several"))]
        told += [
            one
            for one in self._words.find_all(pattern("counts some of several"))
            if (articles or not one.match["article"])
            and not any(found.first <= one.first < found.last for found in told)
        ]
        for found in sorted(told, key=lambda one: one.first):
            if self._goes_on_to(found.last) > found.last:
                yield self._turn(found)

    def _is_apart(self, first: int) -> bool:
        """Whether a pause or "and" stands where some words begin."""
        around = self._tokens[max(first - 1, 0) : first + 1]
        return not first or any(one.stop or one.word == "and" for one in around)

    def _turn(self, found: Found) -> _Turn:
        groups = found.match.groupdict()
        kind = next((kind for kind in ("one", "nth", "many") if groups.get(kind)), "person")
        many = number_at(self._tokens, found.span(self._words, "many")[0])
        number = many[0] if many is not None and kind == "many" else 1
        return _Turn(found.first, found.last, kind, number)

    def _ordered(self) -> Iterator[_Ordered]:
        tokens, at = self._tokens, 0
        while at < len(tokens):
            named = self._names.longest(tokens, at)
            length = named[0] if named is not None else 1
            if named is not None and self._is_combo(named[1]):
                first, number = self._counted(at)
                yield _Ordered(named[1].dishes[0], number, first, at + length)
            at += length

    def _counted(self, at: int) -> tuple[int, int]:
        """Return how many of a combo are ordered, and where that is said: "two meals", "we both want the meal"."""
        tokens = self._tokens
        for first in range(max(0, at - _NUMBER), at):
            number = number_at(tokens, first)
            if number is not None and first + number[1] == at:
                return first, number[0]
        begins = at
        while begins and not tokens[begins - 1].stop:
            begins -= 1
        found = self._words.part(begins, at).find(pattern("said of so many"))
        if found is None:
            return at - (at > 0 and tokens[at - 1].word in words_of("a or the")), 1
        number = next((n for i in range(begins, at) if (n := number_at(tokens, i))), None)
        return begins, number[0] if number is not None else 2

    def _is_combo(self, meaning: Meaning) -> bool:
        return len(meaning.dishes) == 1 and self._kitchen.combo(meaning.dishes[0]) is not None

    def _named(self, first: int, last: int) -> Iterator[Meaning]:
        """Yield the dishes and choices that are named between two places."""
        at = first
        while at < last:
            named = self._names.longest(self._tokens[:last], at)
            if named is not None and (named[1].dishes or named[1].choice):
                yield named[1]
            at += named[0] if named is not None else 1

    def _parts(self, name: str, first: int, last: int) -> set[int]:
        """Return which parts of a combo are named between two places."""
        combo = self._kitchen.combo(name)
        parts = combo.parts if combo is not None else ()
        return {
            at
            for meaning in self._named(first, last)
            for at, part in enumerate(parts)
            if {*part.dishes} & {*meaning.dishes}
        }

    def _named_parts(self, name: str, first: int, last: int) -> int:
        """Return how many dishes are named between two places that a combo may have."""
        combo = self._kitchen.combo(name)
        dishes = {dish for part in combo.parts for dish in part.dishes} if combo else set()
        return sum(bool(dishes & {*one.dishes}) for one in self._named(first, last))

    def _open(self, name: str) -> set[int]:
        """Return the parts of a combo that have to be chosen."""
        combo = self._kitchen.combo(name)
        parts = combo.parts if combo is not None else ()
        return {at for at, part in enumerate(parts) if len(part.dishes) > 1}

    def _all_told(self, name: str, turns: Sequence[_Turn]) -> bool:
        ends = [*(turn.first for turn in turns[1:]), len(self._tokens)]
        return all(
            self._parts(name, turn.begins, end) or self._calls_part(name, turn.begins, end)
            for turn, end in zip(turns, ends, strict=True)
        )

    def _calls_part(self, name: str, first: int, last: int) -> bool:
        """Whether a part is called by one of its words: "two with teriyaki", of the chicken teriyaki."""
        combo = self._kitchen.combo(name)
        dishes = [dish for part in combo.parts for dish in part.dishes] if combo is not None else []
        words = {word for dish in dishes for word in stems(dish)} - EMPTY
        return any(token.stem in words for token in self._tokens[first:last])

    def _of_each(self, first: int, last: int) -> tuple[int, tuple[int, int]]:
        """Find what is said of each one at the end of some words; returns where it begins, and what it is."""
        words = self._words.part(0, last)
        for found in words.find_all(pattern("said of each one")):
            if found.first >= first:
                return found.first, found.span(words, "what" if found.match["what"] else "what2")
        return last, (last, last)

    def _written(
        self, name: str, turns: Sequence[_Turn], ahead: Sequence[Token] = ()
    ) -> list[Token]:
        """Write out all that are told; what is said of each one may stand ahead of them or behind."""
        ends = [*(turn.first for turn in turns[1:]), len(self._tokens)]
        behind: Sequence[Token] = ()
        if len(turns) > 1:
            ends[-1], what = self._of_each(turns[-1].begins, len(self._tokens))
            behind = self._tokens[slice(*what)]
        written: list[Token] = []
        for turn, end in zip(turns, ends, strict=True):
            written += self._told(name, turn, end, ahead, behind)
        return written

    def _told(
        self,
        name: str,
        turn: _Turn,
        end: int,
        ahead: Sequence[Token] = (),
        behind: Sequence[Token] = (),
    ) -> list[Token]:
        """Write one of several as if it came with its name."""
        at = self._tokens[max(turn.begins - 1, 0)]
        stop, *said = [
            replace(one, start=at.start, end=at.end)
            for one in tokenize(f". {turn.number if turn.number > 1 else 'a'} {name} with")
        ]
        rest = list(self._tokens[turn.begins : end])
        while rest and (rest[0].stop or rest[0].word in words_of("before a part")):
            rest.pop(0)
        while behind and rest and rest[-1].stop:
            rest.pop()
        pause = replace(stop, word=",", stem=",")
        rest = [*ahead, pause, *rest] if ahead else rest
        return [stop, *said, *rest, pause, *behind] if behind else [stop, *said, *rest]


def _told_of(turns: Sequence[_Turn]) -> int:
    return sum(turn.number for turn in turns)


_NUMBER = 4
"""So many words a number has at most."""
