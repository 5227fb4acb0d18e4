"""A guest's words about one dish, held against the menu: whether it can be had so, and its name there."""

from collections.abc import Sequence

from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.words.tokens import number_at, tokenize
from state.allergens import allergens_met, held_by
from state.errors import Ambiguous, ChoiceMissing, OrderError, SoldOut
from state.menu import Combo, ComboPart, Dish, Menu
from state.menu.families import families_named, families_of
from state.menu.words import stems

_FEW = 3
"""So many choices of one group at most are listed for as many things, one each."""
_KEPT = 20_000
"""How many words are remembered of which it is known what they make of a dish."""
_Fitting = tuple[str, tuple[str, ...] | None]
"""Whether a dish can be had with some words, and the modifications that they are."""


class Kitchen:
    """Answers whether things can be had.

    Args:
        menu: The menu.
    """

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._fitting: dict[tuple[str, str], _Fitting] = {}
        self._kinds: dict[tuple[str, str], bool] = {}

    def dish(self, name: str | None) -> Dish | None:
        """Return a dish by its name on the menu."""
        return self._menu.dish(name) if name else None

    def combo(self, name: str | None) -> Combo | None:
        """Return a combo by its name on the menu."""
        return self._menu.combo(name) if name else None

    def serves(self, name: str | None) -> bool:
        """Whether there is such a dish or combo today."""
        found = self.dish(name) or self.combo(name)
        return found is not None and found.available

    def describes(self, name: str | None, words: str) -> bool:
        """Whether the description of a dish names some food, or a food of its family: mozzarella is cheese."""
        dish = self.dish(name)
        if dish is None or not dish.description or not words:
            return False
        named = {*stems(words)} <= {*stems(dish.description)}
        return named or not {*families_of(words)}.isdisjoint(families_named([dish.description]))

    def families_met(self, name: str | None, food: str) -> tuple[str, ...]:
        """Return the families of some food that the menu lists for a dish."""
        dish = self.dish(name)
        return allergens_met([food], held_by(self._menu, dish)) if dish is not None else ()

    def is_kind_of(self, name: str, words: str) -> bool:
        """Whether words are in a dish's name or are its section: garlic naan is a naan."""
        known = self._kinds.get((name, words))
        if known is None:
            dish = self.dish(name)
            kinds = (name, dish.section) if dish is not None else (name,)
            known = any({*stems(words)} <= {*stems(kind)} for kind in kinds)
            if len(self._kinds) > _KEPT:
                self._kinds.clear()
            self._kinds[name, words] = known
        return known

    def fits(self, name: str | None, words: str) -> bool:
        """Whether a dish can be had like that."""
        return self._fits(name, words)[0] in ("fits", "changes")

    def answers(self, name: str | None, words: str) -> bool:
        """Whether these words name something of a dish, be it one thing or several."""
        return self._fits(name, words)[0] in ("fits", "changes", "ambiguous", "sold_out")

    def excludes(self, name: str | None, one: str, other: str) -> bool:
        """Whether a dish can be had in either of two ways but not in both."""
        dish = self.dish(name)
        if dish is None or not (self.fits(name, one) and self.fits(name, other)):
            return False
        fillers: list[str] = []
        while True:
            try:
                self._menu.choose(dish, any_size(dish), [one, other, *fillers])
            except ChoiceMissing as error:
                filler = self._filler(str(error.facts.get("group")), [one, other, *fillers])
                if filler is None:
                    return False
                fillers.append(filler)
            except OrderError:
                return True
            else:
                return False

    def made(self, name: str | None, words: str) -> tuple[str, ...] | None:
        """Return the modifications that some words alone mean for a dish; ``None`` if it cannot be so."""
        verdict, made = self._fits(name, words)
        return made if verdict in ("fits", "changes") else None

    def has(self, name: str | None, words: str) -> bool:
        """Whether something is in a dish and could be left off."""
        return self._fits(name, f"no {words}")[0] == "changes"

    def comes_with(self, name: str | None, words: str) -> bool:
        """Whether the menu says that something comes with a dish or combo, though it may have to be chosen."""
        dish, combo, said = self.dish(name), self.combo(name), stems(words)
        if dish is None:
            parts = (one for part in combo.parts for one in part.dishes) if combo else ()
            return any(self.is_kind_of(one, words) for one in parts)
        for group in self._menu.groups(dish):
            chosen = (c for c in group.choices if said in map(stems, (c.name, *c.aliases)))
            usual = any(group.default in (None, choice.name) for choice in chosen)
            if group.least and (said == stems(group.name) or usual):
                return True
        return self.has(name, words) or {*said} <= {*stems(dish.description or "")}

    def contents(self, name: str | None) -> tuple[str, ...]:
        """Name what is in a dish and could be left off."""
        dish = self.dish(name)
        return tuple(dish.contains) if dish is not None else ()

    def alternatives(self, name: str | None, words: Sequence[str]) -> tuple[str, ...]:
        """Name what is in a dish and is a choice of a group from which some words choose."""
        dish = self.dish(name)
        if dish is None:
            return ()
        said = {stems(one) for one in words}
        choices: set[tuple[str, ...]] = set()
        for group in self._menu.groups(dish):
            names = {stems(one) for c in group.choices for one in (c.name, *c.aliases)}
            if names & said:
                choices |= names
        return tuple(one for one in dish.contains if stems(one) in choices)

    def chooses(self, name: str, group: str, changes: Sequence[str]) -> bool:
        """Whether some changes choose from a group of a dish."""
        dish, said = self.dish(name), {stems(change) for change in changes}
        return dish is not None and any(
            stems(word) in said
            for one in self._menu.groups(dish)
            if one.name == group
            for choice in one.choices
            for word in (choice.name, *choice.aliases)
        )

    def choice(self, name: str | None, change: str) -> str:
        """Return what was chosen without how much of it: the ranch of "extra ranch"."""
        return max(self._choices(name, change), key=len, default=change)

    def is_kind(self, name: str | None, change: str, words: str) -> bool:
        """Whether a choice made for a dish is of the kind that words name: ranch is a dressing."""
        dish, said = self.dish(name), stems(words)
        if dish is None or change.startswith("no "):
            return False
        chosen = self.choice(name, change)
        if said and set(said) < set(stems(chosen)):
            return True
        return any(
            said == stems(heading)[-len(said) :]
            for group in self._menu.options.values()  # cheddar is a cheese, of whatever dish
            if any(choice.name == chosen for choice in group.choices)
            for heading in (group.name, *group.aliases)
        )

    def same_group(self, name: str | None, change: str, words: str) -> bool:
        """Whether a choice made for a dish is of the group that words choose another of."""
        dish, made = self.dish(name), self.made(name, words)
        if dish is None or change.startswith("no ") or not made:
            return False
        chosen = self.made(name, change) or (change,)
        pair = {self.choice(name, chosen[0]), self.choice(name, made[0])}
        return len(pair) == 2 and any(
            pair <= {choice.name for choice in group.choices} for group in self._menu.groups(dish)
        )

    def _choices(self, name: str | None, change: str) -> list[str]:
        dish, said = self.dish(name), set(stems(change))
        return [
            choice.name
            for group in (self._menu.groups(dish) if dish is not None else ())
            for choice in group.choices
            if set(stems(choice.name)) <= said
        ]

    def fills(self, item: Item, words: str) -> bool:
        """Whether words choose something that has to be chosen for a thing and was not yet."""
        dish = self.dish(item.name)
        if dish is None:
            return False
        try:
            self._menu.choose(dish, any_size(dish), item.changes)
        except ChoiceMissing as error:
            group = self._menu.options.get(str(error.facts.get("group")))
        except OrderError:
            return False
        else:
            return False
        said = stems(words)
        return group is not None and any(
            stems(name) == said
            for choice in group.choices
            for name in (choice.name, *choice.aliases)
        )

    def lacks(self, name: str | None, changes: Sequence[str]) -> bool:
        """Whether something more has to be chosen for a dish with some changes."""
        dish = self.dish(name)
        if dish is None:
            return False
        try:
            self._menu.choose(dish, any_size(dish), changes)
        except OrderError as error:
            return isinstance(error, ChoiceMissing)
        return False

    def needed(self, name: str | None, changes: Sequence[str]) -> list[str]:
        """Return the changes without which something has to be chosen for a dish."""
        others = ([one for one in changes if one is not change] for change in changes)
        return [one for one, rest in zip(changes, others, strict=True) if self.lacks(name, rest)]

    def excludes_in_a_list(self, name: str | None, one: str, other: str) -> bool:
        """Whether two choices behind a pause are of two things: each needs one, and few are had together."""
        dish = self.dish(name)
        groups = self._menu.groups(dish) if dish is not None else ()
        few = [group for group in groups if 0 < group.least and group.most <= _FEW]
        both = {self.choice(name, one), self.choice(name, other)}
        of_one = any(both <= {choice.name for choice in group.choices} for group in few)
        return of_one or self.excludes(name, one, other)

    def must_choose(self, name: str | None, words: str) -> bool:
        """Whether words choose from a group of a dish from which something has to be chosen."""
        dish, said = self.dish(name), stems(words)
        return dish is not None and any(
            stems(one) == said
            for group in self._menu.groups(dish)
            if group.least
            for choice in group.choices
            for one in (choice.name, *choice.aliases)
        )

    def asks_how(self, name: str) -> bool:
        """Whether something has to be chosen for a dish."""
        dish = self.dish(name)
        return dish is not None and any(
            group.least and group.default is None for group in self._menu.groups(dish)
        )

    def size(self, name: str | None, words: str) -> str | None:
        """Return the size of a dish that some words mean, if it comes in such a size."""
        dish = self.dish(name)
        if dish is None or not dish.sizes:
            return None
        try:
            return self._menu.size(dish, words)
        except OrderError:
            return None

    def size_in_combo(self, name: str | None) -> str | None:
        """Return the size of a dish that a combo covers: the usual one, or the smallest."""
        dish = self.dish(name)
        if dish is None:
            return None
        return dish.default_size or min(dish.prices, key=lambda one: dish.prices[one])

    def in_pieces(self, name: str | None, count: int) -> tuple[str, int] | None:
        """Return the size and the number of portions that so many pieces of a dish are."""
        dish = self.dish(name)
        if dish is None or count < 2:
            return None
        pieces = {size: pieces_in(size) for size in dish.sizes}
        for size, many in pieces.items():
            if many == count:
                return size, 1
        if dish.size_needed and all(pieces.values()):
            for size in sorted(pieces, key=pieces.__getitem__, reverse=True):
                portions, left = divmod(count, pieces[size])
                if portions and not left:  # two dozen; four, where they come singly, too
                    return size, portions
                if 1 not in pieces.values():
                    break
        return None

    def canonical(self, name: str, size: str | None, changes: Sequence[str]) -> tuple[str, ...]:
        """Return modifications in the menu's words; what is not possible is left out."""
        dish = self.dish(name)
        if dish is None:
            return tuple(changes)
        try:
            chosen = self._menu.choose(dish, size or any_size(dish), changes)
            return tuple(one.words for one in chosen)
        except OrderError:
            return tuple(changes)

    def only_fixed(self, name: str, parts: Sequence[tuple[object, ...]]) -> bool:
        """Whether a name is a combo's, of which nothing was told yet but the parts that it always has.

        Args:
            name: The name.
            parts: The parts that are known, each with what was told of it behind its name.
        """
        combo = self.combo(name)
        fixed = [(one.dishes[0],) for one in combo.parts if len(one.dishes) == 1] if combo else []
        return combo is not None and all(part in fixed for part in parts)

    def open_part(self, combo: Combo, taken: Sequence[str]) -> tuple[int, list[str]] | None:
        """Return what is still to be chosen of a combo: how many, and from which dishes."""
        left, found = list(taken), dict[int, tuple[int, list[str]]]()
        for part in sorted(combo.parts, key=lambda part: len(part.dishes)):
            here = [name for name in left if name in part.dishes][: part.choose]
            for name in here:
                left.remove(name)
            had = [name for name in part.dishes if (dish := self.dish(name)) and dish.available]
            if len(here) < part.choose and len(had) > 1:
                found[combo.parts.index(part)] = part.choose - len(here), had
        return found[min(found)] if found else None

    def room_for(self, combo: Combo, taken: Sequence[str], name: str) -> bool:
        """Whether a dish may be one more part of a combo."""
        return _seated([*taken, name], combo.parts)

    def _fits(self, name: str | None, words: str) -> _Fitting:
        dish = self.dish(name)
        if dish is None:
            return "no dish", None
        key = (dish.name, words)
        found = self._fitting.get(key)
        if found is None:
            if len(self._fitting) > _KEPT:
                self._fitting.clear()
            found = self._fitting[key] = self._try(dish, words)
        return found

    def _try(self, dish: Dish, words: str) -> _Fitting:
        fillers: list[str] = []
        while True:
            try:
                chosen = self._menu.choose(dish, any_size(dish), [words, *fillers])
            except ChoiceMissing as error:
                filler = self._filler(str(error.facts.get("group")), [words, *fillers])
                if filler is None:
                    return "fits", None
                fillers.append(filler)
            except Ambiguous:
                return "ambiguous", None
            except SoldOut:
                return "sold_out", None
            except OrderError:
                return "no", None
            else:
                meant = tuple(one.words for one in chosen if one.words not in fillers)
                return "changes" if len(chosen) > len(fillers) else "fits", meant

    def _filler(self, group: str, besides: Sequence[str]) -> str | None:
        """Return another choice of a group, to see past what is missing: "choose: 2" needs two."""
        found = self._menu.options.get(group)
        chosen = {*map(stems, besides)}
        for choice in found.choices if found else ():
            if choice.available and chosen.isdisjoint(map(stems, (choice.name, *choice.aliases))):
                return choice.name
        return None


def pieces_in(size: str) -> int:
    """Return how many pieces a size says it is; 0 when it says something else."""
    if size == "single":
        return 1
    tokens = tokenize(size)
    number = number_at(tokens, 0) if tokens else None
    if number is None or stems(" ".join(token.word for token in tokens[number[1] :])) not in (
        (),
        *_PIECES,
    ):
        return 0
    return number[0]


def any_size(dish: Dish) -> str | None:
    """Return some size of a dish, where any will do."""
    return dish.implied_size or (dish.sizes[0] if dish.sizes else None)


def _seated(names: Sequence[str], parts: Sequence[ComboPart]) -> bool:
    """Whether each dish finds a place in a combo: a matching by augmenting paths, one for each dish."""
    places: list[list[str]] = [[] for _ in parts]

    def place(name: str, tried: set[int]) -> bool:
        for at, part in enumerate(parts):
            if name not in part.dishes or at in tried:
                continue
            tried.add(at)
            if len(places[at]) < part.choose:
                places[at].append(name)
                return True
            for other in set(places[at]):
                if place(other, tried):
                    places[at].remove(other)
                    places[at].append(name)
                    return True
        return False

    return all(place(name, set()) for name in names)


_PIECES = frozenset({stems(word) for word in "piece pieces pcs pc wings count ct pack".split()})
