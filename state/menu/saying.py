"""Parses a guest's modifications of a dish: the target, the amount, and the half."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from state.errors import Ambiguous, ChoiceNotPossible
from state.language.en.allergens import FREE
from state.menu.english import JOINTS, KINDS, LONGEST_MARK, MARKS, TIMES, Mark, same
from state.menu.families import families_in_general, families_named, held_in
from state.menu.marks import Marks, combined
from state.menu.matching import alike, joined
from state.menu.model import EXTRA, NO, Choice, Dish, OptionGroup
from state.menu.words import fold, stems

Words = tuple[str, ...]

_MOST_TOKENS = 40
_MARGIN = 4.0
_NEAR = 70.0
_COMMA = re.compile(r"[,;/]")
_BESIDE = frozenset(word for phrase in MARKS for word in phrase)
_CARRYING = frozenset({"and", "or", "nor"})
_MOST_POSSIBLE = 12
_MOST_KNOWN = 256
"""How many parsed texts are cached per dish."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a modification: a content of the dish, a choice, or a whole group.

    Args:
        group: ``None`` for a content of the dish.
        choice: ``None`` for the whole group.
        loose: Whether only a secondary word of the name matched: enough to leave it off, not for more.
    """

    name: str
    group: OptionGroup | None = None
    choice: Choice | None = None
    loose: bool = False

    @property
    def key(self) -> tuple[str | None, str | None, str]:
        """The identity of the target."""
        group = self.group.name if self.group else None
        return group, self.choice.name if self.choice else None, self.name


@dataclass(frozen=True, slots=True)
class Modification:
    """One parsed modification."""

    words: str
    target: Target
    marks: Marks


class DishVocabulary:
    """The vocabulary of one dish.

    Args:
        groups: Its groups of choices.
        others: Other names for what the dish contains.
    """

    def __init__(
        self, dish: Dish, groups: Sequence[OptionGroup], others: Mapping[str, Sequence[str]]
    ) -> None:
        self._dish = dish
        self._groups = tuple(groups)
        self._names: dict[Words, list[Target]] = {}
        self._aliases: dict[Words, list[Target]] = {}
        self._amounts: dict[Words, str] = {}
        self._headings: dict[str, frozenset[str]] = {}
        self._ambiguous: dict[tuple[str, str], str] = {}
        self._known: dict[str, tuple[Modification, ...]] = {}
        self._collect()
        for content, names in others.items():
            for words in map(stems, names):
                if words not in self._names and words not in self._aliases:
                    self._aliases[words] = [Target(content)]
        self._longest = 1 + max(
            (len(w) for t in (self._names, self._aliases) for w in t), default=0
        )
        self._beside = _BESIDE.union(
            *self._amounts, *self._headings.values(), *({word} for word in TIMES)
        )
        self._by_same: dict[Words, list[Target]] = {}
        for table in (self._names, self._aliases):
            for words, targets in table.items():
                for target in targets:
                    _append(self._by_same, same(words), target)

    def _collect(self) -> None:
        contents = {stems(content): content for content in self._dish.contains}
        for words, content in contents.items():
            _append(self._names, words, Target(content))
        holders: dict[Words, list[tuple[OptionGroup, Choice]]] = {}
        for group in self._groups:
            for word in group.amounts:
                self._amounts[stems(word)] = word
            for choice in group.choices:
                holders.setdefault(stems(choice.name), []).append((group, choice))
        for same_name in holders.values():
            for group, choice in same_name if len(same_name) > 1 else ():
                self._ambiguous[group.name, choice.name] = f"{choice.name} {group.name}"
        for group in self._groups:
            headings = [stems(heading) for heading in (group.name, *group.aliases)]
            self._headings[group.name] = frozenset(
                word for words in headings for word in words if (word,) not in MARKS
            )
            for choice in group.choices:
                target = Target(choice.name, group, choice)
                for name in (choice.name, *choice.aliases):
                    words = stems(name)
                    table = self._names if name is choice.name else self._aliases
                    _append(table, words, target)
                    if stems(choice.name) in contents:
                        # The dish contains the same thing: the aliases mean both.
                        _append(table, words, Target(contents[stems(choice.name)]))
                    for heading in headings:
                        if (heading[0],) in MARKS:
                            continue  # "extra feta" does not mean feta of the group "extras"
                        for qualified in ((*words, *heading), (*heading, *words)):
                            _append(self._aliases, qualified, target)
            for heading in headings:
                _append(self._aliases, heading, Target(group.name, group))

    def called(self, target: Target) -> str | None:
        """Return the unambiguous name of a choice on this dish, if its own name is ambiguous."""
        if target.group is None or target.choice is None:
            return None
        return self._ambiguous.get((target.group.name, target.choice.name))

    def kin_of(self, amount: str) -> frozenset[Words]:
        """Return all synonyms of an amount such as "light" or "extra"."""
        return frozenset(
            words
            for words, mark in MARKS.items()
            if mark.kind == "amount" and mark.amount == amount
        )

    def understand(self, text: str) -> tuple[Modification, ...]:
        """Parse one modification, or several in one phrase.

        Results are cached: the words of a line are parsed again with every change of it.

        Raises:
            ChoiceNotPossible: Nothing on this dish matches.
            Ambiguous: Several targets match.
        """
        known = self._known.get(text)
        if known is None:
            known = tuple(self._taken_apart(text))
            if len(self._known) < _MOST_KNOWN:
                self._known[text] = known
        return known

    def _taken_apart(self, text: str) -> list[Modification]:
        tokens = stems(text)
        if not tokens or len(tokens) > _MOST_TOKENS:
            raise self.not_possible(text, "It is not clear what is meant.")
        found = self._clauses(tokens, None, text, set())
        if found is None and _COMMA.search(text):
            found = self._clauses(stems(_COMMA.sub(" and ", text)), None, text, set())
        if found is None:
            raise self.not_possible(text, f"{self._dish.name} does not come like that.")
        return found

    def _clauses(
        self, tokens: Words, before: Modification | None, text: str, hopeless: set[int]
    ) -> list[Modification] | None:
        """Parse words as one modification, or else as several.

        Args:
            tokens: The remaining words.
            before: The modification before them, whose marks may apply to them too.
            text: The whole text.
            hopeless: The numbers of remaining words for which parsing has failed before.
        """
        if len(tokens) in hopeless:
            return None
        whole = self._one(tokens, before, text)
        if whole is not None:
            return whole
        for cut in range(len(tokens) - 1, 0, -1):
            joint = tokens[cut] in JOINTS
            if not joint and not self._opens(tokens, cut):
                continue
            first = self._one(tokens[:cut], before, text)
            if not first:
                continue
            carried = first[-1] if tokens[cut] in _CARRYING else None
            rest = tokens[cut + 1 :] if joint else tokens[cut:]
            if not joint and first[-1].marks.portion is not None:
                carried = first[-1]  # "half ham half olives"
            more = self._clauses(rest, carried, text, hopeless) if rest else []
            if more is not None:
                return [*_share(first, more), *more]
        hopeless.add(len(tokens))
        return None

    def _opens(self, tokens: Words, at: int) -> bool:
        """Whether a new modification may begin here without an "and": "half ham half olives"."""
        found = self._mark(tokens[at:])
        return found is not None and found[1].kind in ("amount", "portion", "take")

    def _one(
        self, tokens: Words, before: Modification | None, text: str
    ) -> list[Modification] | None:
        """Parse words as one modification; ``None`` if that is not possible.

        The longest name counts, if all other words are amounts, halves, counts or fillers.
        """
        named = [at for at, word in enumerate(tokens) if not self._may_surround(word)]
        if (general := self._in_general(tokens, named, text)) is not None:
            return general
        first, last = (named[0], named[-1]) if named else (len(tokens) - 1, 0)
        shortest = last - first + 1 if named else 1
        longest = min(len(tokens), self._longest)
        for look in (self._exactly, self._otherwise, self._partly, self._misspelt):
            for length in range(longest, shortest - 1, -1):
                found: list[tuple[Target, Marks]] = []
                for at in range(max(0, last - length + 1), min(first, len(tokens) - length) + 1):
                    targets = look(tokens[at : at + length])
                    for target in targets:
                        marks = self._marks(tokens[:at], tokens[at + length :], target)
                        if marks is not None and (not target.loose or marks.amount == NO):
                            found.append((target, marks))
                if found:
                    said = self._meant(found, before, text)
                    return (
                        [*said, *self._contained(said, tokens)] if look == self._exactly else said
                    )
        return None

    def _contained(self, said: Sequence[Modification], tokens: Words) -> Iterator[Modification]:
        """Leave off what a dish contains, too: "no onions" means the red onions on it."""
        if any(one.marks.amount != NO or one.target.group is None for one in said):
            return
        names = {word for word in tokens if (word,) not in MARKS and word not in JOINTS}
        kind = KINDS.get(next(iter(names)), frozenset()) if len(names) == 1 else frozenset()
        for content in self._dish.contains:
            known = stems(content)
            if kind & set(known) or (names and names < set(known) and known[-1] in names):
                yield replace(said[0], target=Target(content))

    def _in_general(
        self, tokens: Words, named: Sequence[int], text: str
    ) -> list[Modification] | None:
        """Parse "no dairy": what the dish has of the family is left off, or "gluten free" is chosen."""
        words = tuple(tokens[at] for at in named)
        families = families_in_general(words) if FREE not in tokens else frozenset()
        if not families or self._exactly(words):
            return None
        marks = self._marks(tokens[: named[0]], tokens[named[-1] + 1 :], Target(""))
        if marks is None or marks.amount != NO:
            return None
        free = [
            target
            for table in (self._names, self._aliases)
            for name, targets in table.items()
            if name[: len(words) + 1] == (*words, FREE)
            for target in targets
            if target.choice is not None and target.group is not None and target.group.most == 1
        ]
        if free:
            return [Modification(text, free[0], Marks())]
        made_of = (
            word
            for group in self._groups
            for one in group.choices
            if one.name == group.default
            for word in (one.name, *one.allergens)
        )
        if not families.isdisjoint(families_named(made_of)):
            return None  # leaving something off is not enough
        off = [one for one in self._dish.contains if families & held_in(one)[0]]
        return [Modification(text, Target(one), Marks(amount=NO)) for one in off] or None

    # -- the target

    def _exactly(self, words: Words) -> Sequence[Target]:
        return self._names.get(words) or self._aliases.get(words) or ()

    def _otherwise(self, words: Words) -> Sequence[Target]:
        """Match synonyms, and general words such as "cheese"."""
        alike_named = self._by_same.get(same(words))
        if alike_named:
            return alike_named
        kind = KINDS.get(words[0]) if len(words) == 1 else None
        if kind is None:
            return ()
        found = [t for name, targets in self._names.items() if kind & set(name) for t in targets]
        return [target for target in found if target.group is None] or found

    def _partly(self, words: Words) -> Sequence[Target]:
        """Match parts of names: "oat" for "oat milk", "tomato" for the "tomato sauce" to leave off."""
        said = set(same(words))
        if all(self._means_nothing(word) for word in words):
            return ()
        found: dict[object, Target] = {}
        for table in (self._names, self._aliases):
            for name, targets in table.items():
                known = same(name)
                if not said < set(known) or _is_free_of(known, said):
                    continue
                for target in targets:
                    if target.choice is not None or known[-1] in said:
                        found.setdefault(target.key, target)
                    elif target.group is None:
                        found.setdefault(target.key, replace(target, loose=True))
        return list(found.values())

    def _misspelt(self, words: Words) -> Sequence[Target]:
        if all(self._means_nothing(word) for word in words):
            return ()
        scores: dict[object, tuple[float, Target]] = {}
        for table in (self._names, self._aliases):
            for name, targets in table.items():
                score = _spelt_alike(words, name)
                for target in targets if score else ():
                    if score > scores.get(target.key, (0.0, target))[0]:
                        scores[target.key] = (score, target)
        best = max((score for score, _ in scores.values()), default=0.0)
        return [target for score, target in scores.values() if best - score < _MARGIN]

    def _may_surround(self, word: str) -> bool:
        return word in self._beside or word.isdecimal()

    def _means_nothing(self, word: str) -> bool:
        return word.isdecimal() or (word,) in MARKS or (word,) in self._amounts or word in JOINTS

    # -- the words around it

    def _marks(self, before: Words, after: Words, target: Target) -> Marks | None:
        """Parse the words around a name; ``None`` if a word has another meaning."""
        heading = self._headings.get(target.group.name, ()) if target.group else ()
        heard: list[tuple[Mark, bool]] = []
        for tokens, trailing in ((before, False), (after, True)):
            at = 0
            while at < len(tokens):
                if tokens[at] in heading:  # "two scoops of vanilla"
                    at += 1
                    continue
                found = self._mark(tokens[at:])
                if found is None or (found[1].kind == "free" and (at or not trailing)):
                    return None
                at += found[0]
                heard.append((found[1], trailing))
        return combined(heard)

    def _mark(self, tokens: Words) -> tuple[int, Mark] | None:
        """Parse the longest mark at the start of the words; returns its length with it."""
        for length in range(min(LONGEST_MARK, len(tokens)), 0, -1):
            phrase = tokens[:length]
            mark = MARKS.get(phrase)
            own = self._amounts.get(phrase)
            if own is not None:
                known = mark if mark is not None and mark.kind == "amount" else None
                times = known.times if known else 1
                return length, Mark(
                    "amount", (known and known.amount) or own, times=times, exact=own
                )
            if mark is not None:
                return length, mark
        first = tokens[0]
        if first.isdecimal() and len(first) < 4:
            return (2 if tokens[1:2] and tokens[1] in TIMES else 1), Mark("count", times=int(first))
        if first in TIMES and tokens[1:2] and tokens[1].isdecimal():
            return 2, Mark("count", times=int(tokens[1][:4]))
        return None

    # -- ambiguity

    def _meant(
        self, found: list[tuple[Target, Marks]], before: Modification | None, text: str
    ) -> list[Modification]:
        """Choose between the targets of the same words, by the words around them."""
        options: dict[object, Modification] = {}
        for target, marks in found:
            options.setdefault(
                target.key, Modification(text, target, _following(marks, target, before))
            )
        candidates = list(options.values())
        for better in (_fits_place, _fits_number, _fits_amount, _is_no_heading):
            candidates = [said for said in candidates if better(said)] or candidates
        if len(candidates) == 1 or all(said.marks.amount == NO for said in candidates):
            return candidates
        names = [self.called(said.target) or said.target.name for said in candidates]
        possible = list(dict.fromkeys(names))
        raise Ambiguous(
            f'"{text}" could be {" or ".join(possible)} on {self._dish.name}. Ask which one.',
            words=text,
            possible=list(possible),
        )

    def not_possible(
        self, text: str, why: str, group: OptionGroup | None = None
    ) -> ChoiceNotPossible:
        """Make the refusal of a modification, with the possible ones."""
        possible = self._possible(text, group)
        hint = f" Possible: {', '.join(possible)}." if possible else ""
        return ChoiceNotPossible(
            f'"{text}" is not possible on {self._dish.name}: {why}{hint}',
            name=self._dish.name,
            words=text,
            possible=list(possible),
        )

    def _possible(self, text: str, group: OptionGroup | None) -> list[str]:
        """Return the possible modifications of the dish, similar ones first."""
        groups = self._groups if group is None else (group,)
        names = [choice.name for g in groups for choice in g.choices if choice.available]
        if group is None:
            names += [f"{NO} {content}" for content in self._dish.contains]
        said = fold(text)
        near = process.extract(said, names, processor=fold, scorer=fuzz.partial_ratio, limit=5)
        first = [name for name, score, _ in near if score > _NEAR]
        return list(dict.fromkeys((*first, *names)))[:_MOST_POSSIBLE]


def _is_free_of(name: Words, said: Collection[str]) -> bool:
    """Whether a name says that it is without what was said: "gluten free" is no gluten."""
    return any(
        word in said and after == FREE and FREE not in said
        for word, after in zip(name, name[1:], strict=False)
    )


def _append(table: dict[Words, list[Target]], words: Words, target: Target) -> None:
    targets = table.setdefault(words, [])
    if words and all(target.key != other.key for other in targets):
        targets.append(target)


def _spelt_alike(said: Words, name: Words) -> float:
    """Return the similarity of two names, word by word or without spaces."""
    if len(said) == len(name):
        return min(alike(one, other) for one, other in zip(said, name, strict=True))
    return joined(said, name)


def _following(marks: Marks, target: Target, before: Modification | None) -> Marks:
    """Apply the marks of the modification before: "no onions and olives"."""
    if before is None:
        return marks
    if marks.portion == "half" and before.marks.portion == "half" and not marks.trailing:
        return replace(marks, portion="other half")  # "half ham and half olives"
    if marks != Marks():
        return marks
    said = before.marks
    if said.amount == EXTRA and target.group is not None:
        return marks
    return replace(marks, amount=said.amount, exact=said.exact, portion=said.portion)


def _share(first: list[Modification], more: list[Modification]) -> list[Modification]:
    """Apply marks after the last of several names to the one before: "onions and ham on one half"."""
    last, following = first[-1], more[0] if more else None
    if following is None or last.marks != Marks() or not following.marks.trailing:
        return first
    marks = following.marks
    if last.target.group is None:
        return [*first[:-1], replace(last, marks=replace(last.marks, amount=marks.amount))]
    if marks.portion is not None and last.target.group.halves:
        return [*first[:-1], replace(last, marks=replace(last.marks, portion=marks.portion))]
    return first


def _fits_place(said: Modification) -> bool:
    halves = said.target.group is not None and said.target.group.halves
    return said.marks.portion is None or halves


def _fits_number(said: Modification) -> bool:
    counted = said.target.group is not None and said.target.group.counted
    return counted == ((said.marks.count or 1) > 1)


def _fits_amount(said: Modification) -> bool:
    """Whether the target fits: an amount is about a content of the dish, a bare name about an addition."""
    contained = said.target.group is None
    return contained == (said.marks.amount is not None and said.marks.portion is None)


def _is_no_heading(said: Modification) -> bool:
    return said.target.group is None or said.target.choice is not None
