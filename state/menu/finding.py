"""Which dish or combo a guest means, and what on the menu has to do with some words."""

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

from state.errors import Ambiguous, NotOnMenu
from state.menu.english import ASKING, DISH_WORDS
from state.menu.matching import Fit, alike, core, fit
from state.menu.model import Combo, Dish, Section
from state.menu.words import stems

Item = Dish | Combo

_MARGIN = 6.0
"""How much closer the spelling of one name has to be than that of all others."""
_MOST_POSSIBLE = 12
_MOST_NEAR = 3
_NEAR = 68.0
_MOST_BESIDE = 4
"""How many words without meaning may be beside a name."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """One name by which something can be asked for."""

    item: Item
    core: tuple[str, ...]
    implied: frozenset[str]
    head: str | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something that a search can find, with the words of each field and what they weigh."""

    thing: Dish | Combo | Section
    fields: tuple[tuple[float, frozenset[str]], ...]


class Finder:
    """Finds what is meant on one menu."""

    def __init__(self, sections: Iterable[Section], combos: Iterable[Combo]) -> None:
        self._sections = tuple(sections)
        self._exact: dict[str, Item] = {}
        self._names: dict[tuple[str, ...], list[Item]] = {}
        self._aliases: dict[tuple[str, ...], list[Item]] = {}
        self._headings: dict[tuple[str, ...], list[Section]] = {}
        self._phrases: list[_Phrase] = []
        self._entries: list[_Entry] = []
        for section in self._sections:
            headings = (section.name, *section.aliases)
            for heading in headings:
                self._headings.setdefault(core(stems(heading)), []).append(section)
            implied = frozenset(word for heading in headings for word in stems(heading))
            for dish in section.dishes:
                contents = frozenset(word for name in dish.contains for word in stems(name))
                self._add(dish, implied, contents)
        for combo in combos:
            self._add(combo, frozenset(stems("combo meal deal menu special")), frozenset())
        self._index_for_search(tuple(combos))

    def _add(self, item: Item, implied: frozenset[str], contents: frozenset[str]) -> None:
        self._exact.setdefault(item.name.casefold(), item)
        _append(self._names, stems(item.name), item)
        for alias in item.aliases:
            _append(self._aliases, stems(alias), item)
        for name in (item.name, *item.aliases):
            words = core(stems(name))
            head = words[-1] if words[-1] in DISH_WORDS and words[-1] not in implied else None
            beside = implied | (contents - set(words))
            self._phrases.append(_Phrase(item, words, beside, head))

    def item(self, words: str) -> Item:
        """Return the one dish or combo that is meant.

        Raises:
            NotOnMenu: Nothing answers to these words; says what comes near.
            Ambiguous: Several do; says which.
        """
        found = self._exact.get(" ".join(words.split()).casefold())
        if found is not None:
            return found
        said = stems(words)
        for table in (self._names, self._aliases):
            if said in table:
                return _only(words, table[said])
        kernel = core(said)
        for table in (self._names, self._aliases):
            if kernel in table:
                return _only(words, table[kernel])
        heading = self._headings.get(kernel)
        if heading:
            return _only(words, [dish for section in heading for dish in section.dishes])
        if not kernel:
            raise self._not_on_menu(words)
        return self._resembling(words, kernel)

    def _resembling(self, words: str, kernel: tuple[str, ...]) -> Item:
        found = self._fits(kernel, True) or self._fits(kernel, False)
        if not found:
            headings = [heading for heading in self._headings if set(kernel) <= set(heading)]
            sections = [section for heading in headings for section in self._headings[heading]]
            if sections:
                return _only(words, [dish for section in sections for dish in section.dishes])
            raise self._not_on_menu(words)
        best = min(_rank(one) for one, _ in found)
        contenders = [
            (one, item)
            for one, item in found
            if _rank(one)[0] == best[0] and _rank(one)[1] - best[1] < _MARGIN
        ]
        if not any(one.head for one, _ in contenders):
            # "Coffee" is not coffee ice cream: what was said only tells of which kind something is.
            raise self._not_on_menu(words)
        return _only(words, [item for _, item in contenders])

    def _fits(self, kernel: tuple[str, ...], with_implied: bool) -> list[tuple[Fit, Item]]:
        """Return everything that these words may mean, each with its best name."""
        fits: dict[str, tuple[Fit, Item]] = {}
        for phrase in self._phrases:
            if len(kernel) - len(phrase.core) > _MOST_BESIDE:
                continue
            found = fit(
                kernel, phrase.core, phrase.implied if with_implied else frozenset(), phrase.head
            )
            if found is None:
                continue
            known = fits.get(phrase.item.name)
            if known is None or (_rank(found), not found.head) < (
                _rank(known[0]),
                not known[0].head,
            ):
                fits[phrase.item.name] = (found, phrase.item)
        return list(fits.values())

    def _not_on_menu(self, words: str) -> NotOnMenu:
        near = self.near(words)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        return NotOnMenu(f'"{words}" is not on the menu.{hint}', words=words, near=list(near))

    def near(self, words: str) -> tuple[str, ...]:
        """Name the few dishes and combos that come closest to some words."""
        said = " ".join(core(stems(words)))
        scores: dict[str, float] = {}
        for phrase in self._phrases:
            name = " ".join(phrase.core)
            score = max(
                fuzz.ratio(said, name),
                0.9 * fuzz.token_set_ratio(said, name),
                0.75 * fuzz.partial_ratio(said, name),
            )
            scores[phrase.item.name] = max(scores.get(phrase.item.name, 0.0), score)
        near = [name for name in sorted(scores, key=lambda n: -scores[n]) if scores[name] >= _NEAR]
        if len(near) < _MOST_NEAR:
            found = self.search(words, _MOST_NEAR)
            near += [
                thing.name for thing in found if isinstance(thing, Dish) and thing.name not in near
            ]
        return tuple(near[:_MOST_NEAR])

    def search(self, words: str, limit: int) -> tuple[Dish | Combo | Section, ...]:
        """Find what has to do with some words, the closest first.

        Names count most, then sections, diets, what is in it, and its description. A word that nothing
        matches is passed over as long as most words match.
        """
        said = tuple(word for word in dict.fromkeys(core(stems(words))) if word not in ASKING)
        if not said:
            return ()
        scored: list[tuple[float, Dish | Combo | Section]] = []
        for entry in self._entries:
            scores = [_weigh(word, entry) for word in said]
            hits = [score for score in scores if score]
            if hits and len(hits) * 2 >= len(said):
                scored.append((sum(hits) / len(said), entry.thing))
        scored.sort(key=lambda pair: -pair[0])
        return tuple(thing for _, thing in scored[: max(limit, 0)])

    def _index_for_search(self, combos: tuple[Combo, ...]) -> None:
        for section in self._sections:
            heading = _words(section.name, *section.aliases)
            self._entries.append(_Entry(section, ((110.0, heading),)))
            for dish in section.dishes:
                fields: tuple[tuple[float, frozenset[str]], ...] = (
                    (100.0, _words(dish.name)),
                    (97.0, _words(*dish.aliases)),
                    (80.0, heading),
                    (75.0, _words(*dish.diets)),
                    (70.0, _words(*dish.contains)),
                    (50.0, _words(dish.description or "")),
                )
                self._entries.append(_Entry(dish, fields))
        for combo in combos:
            parts = _words(*(name for part in combo.parts for name in part.dishes))
            fields = (
                (100.0, _words(combo.name)),
                (97.0, _words(*combo.aliases)),
                (60.0, parts),
                (50.0, _words(combo.description or "")),
                (90.0, _words("combo deal meal")),
            )
            self._entries.append(_Entry(combo, fields))


def _append(table: dict[tuple[str, ...], list[Item]], key: tuple[str, ...], item: Item) -> None:
    items = table.setdefault(key, [])
    if item not in items:
        items.append(item)


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in core(stems(text)))


def _weigh(word: str, entry: _Entry) -> float:
    """Return what the best field says about a word; a slip of spelling counts for less."""
    best = 0.0
    for weight, words in entry.fields:
        if word in words:
            best = max(best, weight)
        elif best < weight - 20.0 and any(alike(word, other) for other in words):
            best = weight - 20.0
    return best


def _rank(found: Fit) -> tuple[int, float]:
    """Put whole names before parts of names, and both before misspelt ones."""
    if found.slip:
        return (2, found.slip + 3.0 * found.missing)
    return (1, 0.0) if found.missing else (0, 0.0)


def _only(words: str, items: Iterable[Item]) -> Item:
    items = list({item.name: item for item in items}.values())
    if len(items) == 1:
        return items[0]
    ready = [item for item in items if item.available] or items
    names = [item.name for item in ready[:_MOST_POSSIBLE]]
    raise Ambiguous(
        f'"{words}" could be {" or ".join(names)}. Ask which one.',
        words=words,
        possible=list(names),
    )
