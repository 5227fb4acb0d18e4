"""Everything a menu names, found in a run of words: the longest name that is there wins."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from bella_vista.local.english import numbers, spelling, vocabulary
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.words.phrases import small_words
from bella_vista.local.understanding.words.tokens import Token, Words
from state.errors import Ambiguous, NotOnMenu
from state.menu import Dish, Menu
from state.menu.english import SIZE_WORDS
from state.menu.matching import alike
from state.menu.words import fold, stem, stems

PIECES = ("piece", "pieces", "pc", "pcs")
_LONGEST = 7
_LONGEST_PHRASE = 80
_REMEMBERED = 4_000
"""How many phrases are remembered with what they name."""
"""Characters of what may be a dish; no dish has a longer name."""
_MARGIN = 5.0
_LEAST_RUN, _LEAST_PART = 7, 3
"""Letters of words that were typed without a space between them, and of each of them."""
"""Words that are typed together with a name: "mediumsize"."""


@dataclass
class Meaning:
    """All that the same words may mean on a menu."""

    dishes: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    choice: bool = False
    own: bool = False
    """Whether a dish has it as its name, not only as another name."""

    @property
    def kinds(self) -> int:
        """How many kinds of things it may be."""
        return sum(map(bool, (self.dishes, self.sizes, self.sections, self.groups, self.choice)))


@dataclass(frozen=True, slots=True)
class Match:
    """The things that a run of words names.

    Args:
        names: The dishes it may mean; one when it is certain.
        near: What comes close, when there is none.
    """

    names: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


class Names:
    """The index of one menu, built once."""

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._table: dict[str, Meaning] = {}
        self._section_of: dict[str, str] = {}
        self._spellings: dict[str, str | None] = {}
        self._resolved: dict[str, Match] = {}
        self._looked_up: dict[str, tuple[int, Meaning] | None] = {}
        self._runs: dict[str, tuple[str, ...]] = {}
        self._fill()
        self._beginnings = {key[:end] for key in self._table for end in range(1, len(key) + 1)}
        self._vocabulary = self._collect_vocabulary()

    # -- building ----------------------------------------------------------------------------------

    def _fill(self) -> None:
        menu = self._menu
        for section in menu.sections:
            headings = [section.name, *section.aliases]
            for heading in headings:
                _put(self._at(heading).sections, section.name)
            singles = [heading for heading in headings if len(stems(heading)) == 1]
            for dish in section.dishes:
                self._section_of[dish.name] = section.name
                self._name(dish.name, (dish.name, *dish.aliases))
                self._contained(dish)
            for dish in section.dishes:
                for name in (dish.name, *dish.aliases):
                    for heading in singles:
                        self._weakly(f"{name} {heading}", dish.name)
                        self._weakly(f"{heading} {name}", dish.name)
        for combo in menu.combos:
            self._name(combo.name, (combo.name, *combo.aliases))
            for name in (combo.name, *combo.aliases):
                for kind in ("combo", "meal", "deal", "menu"):
                    self._weakly(f"{name} {kind}", combo.name)
        self._fill_sizes()
        self._headings: set[str] = set()
        for group in menu.options.values():
            headings = [group.name, *group.aliases]
            self._headings.update(stems(heading)[-1] for heading in headings)
            for heading in headings:
                _put(self._at(heading).groups, group.name)
            for choice in group.choices:
                for name in (choice.name, *choice.aliases):
                    self._as_choice(name)
                    for heading in headings:
                        self._at(f"{name} {heading}").choice = True

    def _fill_sizes(self) -> None:
        used = {size for dish in self._menu.dishes for size in dish.sizes}
        for size in used:
            _put(self._at(size).sizes, size)
            if fold(size) in numbers.UNITS or size.isdigit():
                for piece in PIECES:
                    _put(self._at(f"{size} {piece}").sizes, size)
        for size, aliases in self._menu.sizes.items():
            for name in (size, *aliases):
                _put(self._at(name).sizes, size)
        for size, others in SIZE_WORDS.items():
            # Also where the menu has no such size: then the guest is told which there are.
            for word in (size, *others):
                if len(word) > 1 and not self._at(word).sizes:
                    _put(self._at(word).sizes, size)

    def _name(self, dish: str, names: Iterable[str]) -> None:
        for name in names:
            meaning = self._at(name)
            if name == dish:
                if not meaning.own:
                    meaning.dishes.clear()  # a name goes before another dish's alias
                meaning.own = True
                _put(meaning.dishes, dish)
            elif not meaning.own:
                _put(meaning.dishes, dish)

    def _weakly(self, name: str, dish: str) -> None:
        if not self._at(name).kinds:
            _put(self._at(name).dishes, dish)

    def _contained(self, dish: Dish) -> None:
        for name in dish.contains:
            self._as_choice(name)

    def _as_choice(self, name: str) -> None:
        self._at(name).choice = True

    def _at(self, name: str) -> Meaning:
        words = fold(name).split()
        keys = _keys(words, [stem(word) for word in words], vocabulary.JOINTS)
        meaning = next((self._table[key] for key in keys if key in self._table), Meaning())
        for key in keys:
            self._table.setdefault(key, meaning)
        return meaning

    def _collect_vocabulary(self) -> dict[str, str]:
        """Every word that a slip of the pen may have been meant for, by its stem."""
        menu = self._menu
        names = chain(
            (name for dish in menu.dishes for name in (dish.name, *dish.aliases, *dish.contains)),
            (name for combo in menu.combos for name in (combo.name, *combo.aliases)),
            (name for section in menu.sections for name in (section.name, *section.aliases)),
            (
                name
                for group in menu.options.values()
                for choice in group.choices
                for name in (choice.name, *choice.aliases)
            ),
            (name for dish in menu.dishes for name in dish.sizes),
            (name for size in menu.sizes for name in (size, *menu.sizes[size])),
            vocabulary.OFTEN_MISSPELT,
        )
        words: dict[str, str] = {}
        for name in names:
            for word in fold(name).split():
                words.setdefault(stem(word), word)
        return words

    # -- looking up --------------------------------------------------------------------------------

    def choices(self, group: str) -> Mapping[tuple[str, ...], str]:
        """Return the choices of a group, by the stems of their names and other names."""
        return {
            stems(name): choice.name
            for choice in self._menu.options[group].choices
            for name in (choice.name, *choice.aliases)
        }

    def is_choice_of(self, dish: str, stem: str) -> bool:
        """Whether a word, as its stem, is one of the choices of a dish."""
        item = self._menu.dish(dish)
        return item is not None and any(
            (stem,) == stems(name)
            for group in self._menu.groups(item)
            for choice in group.choices
            for name in (choice.name, *choice.aliases)
        )

    def longest(self, tokens: Sequence[Token], at: int) -> tuple[int, Meaning] | None:
        """Return the longest name that begins at a token, and of how many tokens it is."""
        first = tokens[at] if at < len(tokens) else None
        if first is None or self._beginnings.isdisjoint((first.stem, first.word, first.stem[:-1])):
            return None
        following = tokens[at : at + _LONGEST]
        words = " ".join([token.word for token in following])
        if words not in self._looked_up:
            if len(self._looked_up) > _REMEMBERED:
                self._looked_up.clear()
            self._looked_up[words] = self._look_up(following)
        return self._looked_up[words]

    def _look_up(self, tokens: Sequence[Token]) -> tuple[int, Meaning] | None:
        most = self._may_reach(tokens)
        for length in range(most, 0, -1):
            run = tokens[:length]
            if length == 1 and run[0].word in words_of("never a name"):
                return None
            if length > 1 and (run[0].word in _ARTICLES or run[-1].word in _ARTICLES):
                continue
            words, stemmed = [token.word for token in run], [token.stem for token in run]
            for key in _keys(words, stemmed, _PASSED_OVER):
                meaning = self._table.get(key)
                if meaning is not None and meaning.kinds:
                    return length, meaning
        return None

    def _may_reach(self, tokens: Sequence[Token]) -> int:
        """Return how many tokens a name from the first of them can have, by the beginnings of all names."""
        stemmed = spelt = inside = ""
        for length, token in enumerate(tokens):
            if token.stop:
                return length
            last = spelt + token.stem
            stemmed, spelt = stemmed + token.stem, spelt + token.word
            inside += token.stem if not length or token.word not in _PASSED_OVER else ""
            if self._beginnings.isdisjoint((stemmed, spelt, last, inside, stemmed[:-1])):
                return length
        return len(tokens)

    def is_heading(self, word: str) -> bool:
        """Whether the stem of a word is the last of a group's name: "side" of "two sides"."""
        return word in self._headings

    def meaning(self, words: str) -> Meaning | None:
        """Return what some words mean as a whole."""
        run = fold(words).split()
        keys = _keys(run, [stem(word) for word in run], _PASSED_OVER)
        return next((self._table[key] for key in keys if key in self._table), None)

    def resolve(self, words: str) -> Match:
        """Return which dishes some words may mean, where they are no whole name.

        A word that only says how a dish is, names none; and a food that is not on the menu is never taken
        for one that is only spelt alike.
        """
        words = words[:_LONGEST_PHRASE]
        if words not in self._resolved:
            if len(self._resolved) > _REMEMBERED:
                self._resolved.clear()
            self._resolved[words] = self._resolve(words)
        return self._resolved[words]

    def _resolve(self, words: str) -> Match:
        said = [word for word in fold(words).split() if word not in vocabulary.JOINTS]
        if not said:
            return Match()
        near = self.near(words)
        if self._says_only_how(said):
            return Match(near=near)
        try:
            names: tuple[str, ...] = (self._menu.item(words).name,)
        except Ambiguous as error:
            possible = error.facts.get("possible")
            names = tuple(str(name) for name in possible) if isinstance(possible, list) else ()
        except NotOnMenu:
            return Match(near=near)
        names = tuple(name for name in names if self._covers(said, name))
        meaning = self.meaning(words)
        if len(names) == 1 and (meaning is None or not meaning.dishes):
            names = self._all_called(said, names[0])
        return Match(names=names, near=near)

    def _says_only_how(self, said: Sequence[str]) -> bool:
        """Whether nothing is said but how something is, or that and its section: "an iced coffee"."""
        left = [word for word in said if word not in vocabulary.ADJECTIVES]
        if len(left) == len(said):
            return False
        if not left:
            return True
        meaning = self.meaning(" ".join(left))
        return meaning is not None and bool(meaning.sections) and not meaning.dishes

    def _all_called(self, said: Sequence[str], name: str) -> tuple[str, ...]:
        """Return every dish whose name has all these words: part of a name may be part of several.

        What is only part of another name of a dish names none: a Turkish pizza is not any pizza.
        """
        wanted = {stem(word) for word in said}
        called = [dish.name for dish in self._menu.dishes if wanted <= set(stems(dish.name))]
        if called == [name] and (_only_beside(wanted, name) or _only_inside(said, name)):
            return ()
        if called:
            return tuple(called) if name in called else (name, *called)
        dish = self._menu.dish(name)
        if dish and len(said) == 1 and any(wanted < set(stems(alias)) for alias in dish.aliases):
            return ()
        return (name,)

    def _covers(self, said: Sequence[str], name: str) -> bool:
        """Whether every food that was said is one that the dish's names, section or contents know."""
        known = set(stems(name)) | set(stems(self._section_of.get(name, "")))
        dish = self._menu.dish(name)
        section = self._menu.section(dish.section) if dish else None
        combo = self._menu.combo(name)
        others = (*dish.aliases, *dish.contains) if dish else combo.aliases if combo else ()
        for other in (*others, *(section.aliases if section else ())):
            known.update(stems(other))
        joined = "".join(stem(word) for word in known)
        return all(
            stem(word) in known or not vocabulary.is_food(word) or stem(word) in joined
            for word in said
        )

    def near(self, words: str) -> tuple[str, ...]:
        """Name the few dishes that come closest to some words."""
        try:
            item = self._menu.item(words[:_LONGEST_PHRASE])
        except NotOnMenu as error:
            near = error.facts.get("near")
            return tuple(str(name) for name in near) if isinstance(near, list) else ()
        except Ambiguous as error:
            possible = error.facts.get("possible")
            return tuple(str(name) for name in possible[:3]) if isinstance(possible, list) else ()
        return (item.name,)

    # -- spelling ----------------------------------------------------------------------------------

    def spelt(self, words: Words) -> Words:
        """Put the menu's spelling in the place of slips of the pen."""
        words = self._without_address(words)
        for index, token in reversed(list(enumerate(words.tokens))):
            typed = fold(words.line[token.start : token.end])
            if spelling.SPELLED.get(typed) == token.word and stem(typed) in self._vocabulary:
                after = next(iter(words.tokens[index + 1 : index + 2]), None)
                if after is None or after.stop or after.word in small_words():  # no "wit whiz"
                    words = words.corrected(index, typed)  # "whiz wit", where the menu says so
                continue
            if token.stop or len(token.word) < 4 or not token.word.isalpha():
                continue
            rest = token.word.removeprefix("no")
            if rest != token.word and len(rest) > 3 and not self._known(token):
                if stem(rest) in self._vocabulary:
                    words = words.taken_apart(index, ("no", rest))  # "noscallions"
                    continue
            better = self._spelling(token)
            if better is not None:
                words = words.corrected(index, better)
            elif len(token.word) >= _LEAST_RUN and (several := self._run_together(token)):
                words = words.taken_apart(index, several)
        return words

    def _without_address(self, words: Words) -> Words:
        """Leave out whom a greeting is for, where it is no word of the menu: "salaam bhai, ..."."""
        greeted = pattern("greeting").match(words.said)
        at = len(greeted.group().split()) if greeted is not None else len(words)
        if len(words) < at + 3 or not words.tokens[at + 1].stop or words.tokens[at].stop:
            return words
        known = self._known(words.tokens[at]) or words.tokens[at].word in words_of("first names")
        return words if known else words.without(at, at + 1)

    def _run_together(self, token: Token) -> tuple[str, ...]:
        """Return the words of the menu that were typed as one: "saltpepperketchup"."""
        word = token.word
        if word not in self._runs:
            if len(self._runs) > 20_000:
                self._runs.clear()
            meaning = self.meaning(word)
            chosen = meaning is not None and meaning.choice and token.stem not in self._vocabulary
            known = self._known(token) and not chosen
            self._runs[word] = () if known else self._apart(word)
        return self._runs[word]

    def _known(self, token: Token) -> bool:
        if token.stem in self._vocabulary or vocabulary.is_common(token.word):
            return True
        if token.word in small_words():
            return True
        return self.meaning(token.word) is not None

    def _apart(self, word: str, most: int = 3) -> tuple[str, ...]:
        for at in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
            first, rest = word[:at], word[at:]
            if not self._is_word(first):
                continue
            if self._is_word(rest):
                return first, rest
            if most > 2 and (others := self._apart(rest, most - 1)):
                return first, *others
        return ()

    def _is_word(self, word: str) -> bool:
        known = stem(word) in self._vocabulary and word not in vocabulary.FUNCTION_WORDS
        return known or word in words_of("beside names")

    def _spelling(self, token: Token) -> str | None:
        word = token.word
        if word not in self._spellings:
            if len(self._spellings) > 20_000:
                self._spellings.clear()
            self._spellings[word] = self._nearest(token)
        return self._spellings[word]

    def _nearest(self, token: Token) -> str | None:
        word, own = token.word, token.stem
        if self._known(token) or word in words_of("first names"):
            return None
        scores: dict[str, float] = {}
        near = process.extract(
            own, self._vocabulary.keys(), scorer=fuzz.ratio, score_cutoff=60, limit=12
        )
        for other, _, _ in near:
            spelling = self._vocabulary[other]
            if abs(len(other) - len(own)) > 3:
                continue
            score = max(alike(own, other), alike(word, spelling), _slipped(word, spelling))
            if score:
                scores[other] = score
        if not scores:
            return None
        best = max(scores, key=lambda other: scores[other])
        second = max((score for other, score in scores.items() if other != best), default=0.0)
        if scores[best] - second < _MARGIN:
            return None
        return self._vocabulary[best]


def _only_beside(said: set[str], name: str) -> bool:
    """Whether words name only what comes beside a dish: the cheese of mac and cheese."""
    words = fold(name).split()
    joint = next((at for at, word in enumerate(words) if word in _BESIDE), None)
    return joint is not None and joint > 0 and said.isdisjoint(stem(word) for word in words[:joint])


def _only_inside(said: Sequence[str], name: str) -> bool:
    """Whether the one word said is a food that a dish is only made with: penne alla vodka."""
    words = fold(name).split()
    if len(said) != 1 or not vocabulary.is_food(said[0]):
        return False
    at = next((at for at, word in enumerate(words) if stem(word) == stem(said[0])), 0)
    return any(word in vocabulary.JOINTS for word in words[:at])


def _slipped(said: str, meant: str) -> float:
    """Return how likely one word was typed for another: few letters off, and the first one right."""
    shorter = min(len(said), len(meant))
    most = 0 if shorter < 5 else 1 if shorter < 7 else 2 if shorter < 10 else 3
    if not most or said[0] != meant[0]:
        return 0.0
    distance = OSA.distance(said, meant, score_cutoff=most)
    return 100.0 - 100.0 * distance / (2 * shorter) if distance <= most else 0.0


_BESIDE = frozenset({"and", "with", "in", "on", "over", "n", "mit", "con"})
_PASSED_OVER = vocabulary.JOINTS - {"and", "n", "y", "e", "et", "und", "with"}
_ARTICLES = frozenset({"a", "an", "the", "of", "and", "my", "some"})


def _keys(
    words: Sequence[str], stemmed: Sequence[str], passed_over: frozenset[str]
) -> tuple[str, ...]:
    """Return the keys of a name: its words without spaces, so that "7 up" and "7-up" are one.

    Args:
        words: The folded words.
        stemmed: Their stems.
        passed_over: Words inside the name that may be there or not.
    """
    if not words:
        return ()
    whole = "".join(stemmed)
    keys = [whole, "".join((*words[:-1], stemmed[-1]))]
    inside = [
        one
        for at, (one, word) in enumerate(zip(stemmed, words, strict=True))
        if at in (0, len(words) - 1) or word not in passed_over
    ]
    if len(inside) < len(words):
        keys.append("".join(inside))
    if words and len(words[-1]) == 3 and words[-1].endswith("s"):
        keys.append(whole[:-1])
    return tuple(key for key in dict.fromkeys(keys) if key)


def _put(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)
