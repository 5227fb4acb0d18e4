"""Everything a menu names, by the stems of its names: what a word may mean, and of which dishes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from bella_vista.local.english import numbers, vocabulary
from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.words.tokens import number_at, tokenize
from state.allergens import held_by
from state.errors import OrderError
from state.language.en.allergens import FREE, GENERAL, SUBSTANCES
from state.menu import Combo, Dish, Menu
from state.menu.english import DISH_WORDS, EMPTY, KINDS, MARKS, SAME, SIZE_WORDS
from state.menu.families import families_in_general, families_named, held_in
from state.menu.matching import alike
from state.menu.words import fold, stem, stems

Kind = Literal["dish", "option", "size", "head", "group", "variant"]
Stems = tuple[str, ...]

_LONGEST = 7
_EXACT, _EACH_WORD, _LEAST = 0.5, 0.15, 0.05
_ALIAS_OF_ANOTHER = 0.4
_PART, _MISSING = 1.2, 0.5
_SECTION = 0.1
_SLIP, _PER_POINT = 0.6, 0.03
_SMALL_SLIP = 77


@dataclass(slots=True, eq=False)
class Entity:
    """Something the menu names.

    Args:
        kind: ``dish`` (or combo), ``option``, ``size``, ``head`` (words that several dishes share),
            ``group`` (words for several choices) or ``variant`` (a word that tells a dish from the
            others of which one is chosen for a combo).
        words: What to ask the menu for: a dish's name, or an option as it was said.
        mask: The dishes it may be said of, a bit for each.
        own: The dishes that have it as they come, so that it can be left off.
        counted: The dishes that can have several of it.
        tallied: The dishes of which it is counted.
        chosen: The dishes that need a choice of which it is one.
        halved: The dishes of which one half may have it.
        groups: The groups of which one choice is made and it is one, a bit for each.
        kinds: All groups that it is a choice of, a bit for each.
        loose: The dishes of which it may be chosen beside others of its kind.
        general: Whether it is food in general, such as "dairy", which is only left off.
    """

    kind: Kind
    words: str
    mask: int = 0
    own: int = 0
    counted: int = 0
    tallied: int = 0
    chosen: int = 0
    halved: int = 0
    groups: int = 0
    kinds: int = 0
    loose: int = 0
    number: int = 0
    general: bool = False

    def means_like(self, other: "Entity") -> bool:
        """Whether another name means the same dishes, or the same choice of the same dishes."""
        if self.mask != other.mask or self.own != other.own or self.chosen != other.chosen:
            return False
        if self.kind in ("dish", "head"):
            return other.kind in ("dish", "head")
        return self.kind == other.kind and self.words == other.words


NO_ENTITY = Entity("group", "")


@dataclass(frozen=True, slots=True)
class Meant:
    """One thing that some words may mean, and what it costs to think so."""

    entity: Entity
    cost: float
    whole: bool = True
    weak: bool = False


class Index:
    """The index of one menu, built once.

    Args:
        menu: The menu.
    """

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self.items: tuple[Dish | Combo, ...] = (*menu.dishes, *menu.combos)
        self.all = (1 << len(self.items)) - 1
        self._bits = {item.name: 1 << at for at, item in enumerate(self.items)}
        self._entities: list[Entity] = []
        self._meant: dict[Stems, list[Meant]] = {}
        self.articled: dict[str, Entity] = {}
        """Dishes that are called by an article and one word, by that word: "The Works"."""
        self._own_names: set[Stems] = set()
        self.parts: dict[int, int] = {}
        self.kinds = {
            self._bits[item.name]: frozenset(stems(" ".join((item.name, *item.aliases))))
            for item in self.items
        }
        for section in menu.sections:
            words = frozenset(stems(" ".join((section.name, *section.aliases))))
            for dish in section.dishes:
                self.kinds[self._bits[dish.name]] |= words
        at = {name: 1 << number for number, name in enumerate(menu.options)}
        self.groups = {
            self._bits[dish.name]: sum(at[name] for name in dish.options) for dish in menu.dishes
        }
        self.boxes = {
            self._bits[dish.name]: many for dish in menu.dishes if (many := _held(menu, dish))
        }
        """Of how many choices a dish is that is called by their number: a dozen of donuts."""
        self.combos = self.usual = 0
        for combo in menu.combos:
            bit = self._bits[combo.name]
            self.combos |= bit
            self.parts[bit] = sum({self._bits[n] for part in combo.parts for n in part.dishes})
        self._dishes()
        self._sections()
        self._kinds_of_others()
        self._choices_in_names()
        self._sizes()
        self._options()
        self._of_combos()
        self._variants()
        self._words = self._vocabulary()
        self._spellings: dict[str, tuple[tuple[str, float], ...]] = {}

    # -- asking ----------------------------------------------------------------------------------------------

    def bit(self, name: str) -> int:
        """Return the bit of a dish or combo."""
        return self._bits.get(name, 0)

    def entity(self, number: int) -> Entity:
        """Return the entity of a number."""
        return self._entities[number - 1]

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the dishes of a mask, in the menu's order."""
        found = []
        while mask:
            low = mask & -mask
            found.append(self.items[low.bit_length() - 1].name)
            mask ^= low
        return tuple(found)

    def at(self, said: Sequence[str], first: int) -> Iterator[tuple[int, Meant]]:
        """Return everything a name that begins at a word may mean, with how many words it takes."""
        word = said[first]
        if word not in self._first:
            return
        most = min(_LONGEST, len(said) - first)
        run: tuple[str, ...] = ()
        bare: tuple[str, ...] = ()  # without small words: "half a pint"
        for length in range(1, most + 1):
            nextword = said[first + length - 1]
            if not nextword:
                return
            run = (*run, nextword)
            for meant in self._meant.get(run, ()):
                yield length, meant
            if nextword in _PASSED_OVER or nextword in _ADDED:
                continue
            bare = (*bare, nextword)
            if len(bare) < len(run) and len(bare) > 1:
                for meant in self._meant.get(bare, ()):
                    if not _ADDED.isdisjoint(run):
                        if not meant.whole or len(bare) < 3:
                            continue  # "mushroom and swiss burger", but not "ham and cheese"
                    yield length, meant

    def knows(self, word: str) -> bool:
        """Whether a stem is in any name."""
        return word in self._words

    def spellings(self, word: str) -> tuple[tuple[str, float], ...]:
        """Return the stems that a word may be a slip for, with what each costs."""
        known = self._spellings.get(word)
        if known is None:
            if len(self._spellings) > 20_000:
                self._spellings.clear()
            known = self._spellings[word] = self._spelt(word)
        return known

    def _spelt(self, word: str) -> tuple[tuple[str, float], ...]:
        if len(word) < 4 or not word.isalpha() or word in words_of("first names"):
            return ()
        own = stem(word)
        near = process.extract(
            own, self._vocabulary_list, scorer=fuzz.ratio, score_cutoff=70, limit=6
        )
        found: list[tuple[str, float]] = []
        for other, _, _ in near:
            score = max(alike(own, other), _swapped(own, other))
            if score >= _SMALL_SLIP:
                found.append((other, _SLIP + (100 - score) * _PER_POINT))
        if not found:
            found = list(self.beginning(own)) or self._sounding(own)
        found.sort(key=lambda pair: pair[1])
        return tuple(found[:3])

    def beginning(self, word: str) -> tuple[tuple[str, float], ...]:
        """Return the stems that begin with a word of at least four letters: "choc"."""
        if len(word) < 4:
            return ()
        begun = [other for other in self._vocabulary_list if other.startswith(word)]
        return tuple((other, 0.9) for other in begun[:3])

    def _sounding(self, word: str) -> list[tuple[str, float]]:
        """Return the words that sound like one, as a machine may write what it hears: "wankaina"."""
        sound = sounds(word)
        if len(sound) < 3:
            return []
        near = process.extract(sound, self._sounds, scorer=fuzz.ratio, score_cutoff=83, limit=4)
        return [
            (self._vocabulary_list[at], _SLIP + 0.3 + (100 - score) * _PER_POINT)
            for other, score, at in near
            if other[0] == sound[0]
        ]

    # -- building --------------------------------------------------------------------------------------------

    def _entity(self, kind: Kind, words: str) -> Entity:
        entity = Entity(kind, words, number=len(self._entities) + 1)
        self._entities.append(entity)
        return entity

    def _name(
        self, name: Stems, entity: Entity, cost: float, *, whole: bool = True, weak: bool = False
    ) -> None:
        if not name:
            return
        several = self._meant.setdefault(name, [])
        for at, meant in enumerate(several):
            if meant.entity is entity:
                if cost < meant.cost:
                    several[at] = Meant(entity, cost, whole, weak)
                return
        several.append(Meant(entity, cost, whole, weak))

    def _ways(self, name: Stems, *, others: bool = True) -> Iterator[Stems]:
        """Return the ways a name is said: as it stands, without its small words, in one word."""
        yield name
        if len(name) > 1:
            inside = tuple(
                word
                for at, word in enumerate(name)
                if at in (0, len(name) - 1) or word not in _JOINTS
            )
            if inside != name:
                yield inside
            joined = "".join(name)
            if len(joined) >= 6:
                yield (joined,)
        for at, word in enumerate(name):
            if word in _DIGITS:
                yield (*name[:at], _DIGITS[word], *name[at + 1 :])  # 2% milk, two percent milk
        if len(name) > 2 and name[1] == "percent":
            yield (*name[2:], *name[:2])  # 25% sugar, sugar 25 percent
        if others:
            yield from _others(name)

    def _dishes(self) -> None:
        aliases: list[tuple[Stems, Entity]] = []
        parts: dict[Stems, dict[int, tuple[int, int]]] = {}
        weak: set[Stems] = set()
        strong: set[Stems] = set()
        for item in self.items:
            entity = self._entity("dish", item.name)
            entity.mask = self._bits[item.name]
            for way in self._ways(stems(item.name), others=False):
                self._name(way, entity, _exact(way))
                self._own_names.add(way)
                if way[0] == "the" and len(way) == 2:
                    self.articled[way[1]] = entity
            for alias in item.aliases:
                aliases.extend((way, entity) for way in self._ways(stems(alias), others=False))
            for name in (item.name, *item.aliases):
                for run, missing, words in _runs(name):
                    if name != item.name and len(run) == 1 and _says_little(words):
                        continue  # the "up" of a "pick me up"
                    if len(run) == 1 and vocabulary.is_food(words) and _weak(name, run, item.name):
                        weak.add(run)
                    else:
                        strong.add(run)
                    known = parts.setdefault(run, {}).get(entity.number)
                    if known is None or missing < known[1]:
                        parts[run][entity.number] = (entity.mask, missing)
        shared: dict[Stems, list[Entity]] = {}
        for way, entity in aliases:
            if entity not in shared.setdefault(way, []):
                shared[way].append(entity)
        for way, several in shared.items():
            more = _ALIAS_OF_ANOTHER if way in self._own_names else 0.0
            if len(several) == 1:
                self._name(way, several[0], _exact(way) + more)
            else:
                head = self._entity("head", " ".join(way))
                head.mask = sum({one.mask for one in several})
                self._name(way, head, _exact(way) + more)
        for item in self.items:
            for name in (item.name, *item.aliases):
                for way in _others(stems(name)):
                    if way not in self._meant and len(parts.get(way, ())) < 2:
                        entity = self._entities[self._bits[item.name].bit_length() - 1]
                        self._name(way, entity, _exact(way) + 0.1)
        for run, found in parts.items():
            mask = 0
            for one, _ in found.values():
                mask |= one
            missing = min(count for _, count in found.values())
            exact = [
                meant for meant in self._meant.get(run, ()) if meant.entity.kind in ("dish", "head")
            ]
            if exact:
                mask &= ~self.combos  # "wings" are never the wing box
            if any(not mask & ~meant.entity.mask for meant in exact):
                continue
            head = self._entity("head", " ".join(run))
            head.mask = mask
            more = 0.8 if exact else 0.0
            alone = run in weak and run not in strong and len(found) == 1
            cost = _PART + _MISSING * missing + more + (0.8 if alone else 0.0)
            self._name(run, head, cost, whole=False, weak=alone)

    def _kinds_of_others(self) -> None:
        """Name a dish by the kind that another section has of it: "kids pasta", the kids spaghetti."""
        sections = self._menu.sections
        heads = {s.name: {stems(dish.name)[0] for dish in s.dishes} for s in sections}
        kinds = [
            (s, one) for s in sections for one in map(stems, (s.name, *s.aliases)) if one[1:] == ()
        ]
        called: dict[Stems, int] = {}
        for section in sections:
            for dish in section.dishes:
                *before, last = stems(dish.name)
                for other, kind in kinds if before else ():
                    way = (*before, *kind)
                    if (
                        other is not section
                        and last in heads[other.name]
                        and way not in self._meant
                    ):
                        called[way] = called.get(way, 0) | self._bits[dish.name]
        for way, mask in called.items():
            head = self._entity("head", " ".join(way))
            head.mask = mask
            self._name(way, head, _exact(way))

    def _sections(self) -> None:
        """Name the sections; a dish that is called like its section is the usual one of it."""
        headings = {stems(one) for s in self._menu.sections for one in (s.name, *s.aliases)}
        for item in self.items:
            if any(stems(name) in headings for name in (item.name, *item.aliases)):
                self.usual |= self._bits[item.name]
        for section in self._menu.sections:
            mask = sum({self._bits[dish.name] for dish in section.dishes})
            for heading in (section.name, *section.aliases):
                for way in self._ways(stems(heading)):
                    named = any(
                        m.whole and m.entity.kind == "dish" for m in self._meant.get(way, ())
                    )
                    known = [
                        m
                        for m in self._meant.get(way, ())
                        if m.entity.kind == "head" and not m.whole
                    ]
                    for meant in known:
                        self._meant[way].remove(meant)
                        mask |= meant.entity.mask
                    head = self._entity("head", " ".join(way))
                    head.mask = mask
                    self._name(way, head, _exact(way) + (_ALIAS_OF_ANOTHER if named else _SECTION))
            for dish in section.dishes:
                entity = self._entities[self._bits[dish.name].bit_length() - 1]
                kinds = {
                    stems(name)[-1:]  # the sub of "Hot subs"
                    for name in (section.name, *section.aliases)
                    if len(stems(name)) == 1 or stems(name)[-1] in DISH_WORDS
                }
                for name in (dish.name, *dish.aliases):
                    words = stems(name)
                    for kind in kinds:
                        for way in ((*words, *kind), (*kind, *words)):
                            if kind[0] not in words and way not in self._meant:
                                self._name(way, entity, _exact(words))
        self._kinds_of_sections()
        if not any(meant.whole for meant in self._meant.get(_DRINK, ())):
            head = self._entity("head", "drink")  # all the sections of them: "both drinks"
            for section in self._menu.sections:
                if not _DRINKS.isdisjoint(stems(" ".join((section.name, *section.aliases)))):
                    head.mask |= sum({self._bits[dish.name] for dish in section.dishes})
            self._name(_DRINK if head.mask else (), head, 0.9)
        if self._menu.combos:
            head = self._entity("head", "combo")
            head.mask = self.combos
            for word in _COMBO_WORDS:
                if not any(meant.whole for meant in self._meant.get((word,), ())):
                    self._name((word,), head, 0.9)

    def _kinds_of_sections(self) -> None:
        """Name what a section says its dishes are, where none is called so: "those sandwiches"."""
        kinds: dict[Stems, int] = {}
        for section in self._menu.sections:
            for heading in map(stems, (section.name, *section.aliases)):
                told = {heading[-1]} & DISH_WORDS if len(heading) > 1 else set()
                if any(heading[-len(one) :] == one for one in _SANDWICHES):
                    told.add("sandwich")
                for kind in sorted(told) if _JOINTS.isdisjoint(heading) else ():
                    mask = sum({self._bits[dish.name] for dish in section.dishes})
                    kinds[(kind,)] = kinds.get((kind,), 0) | mask
        for way, mask in kinds.items():
            known = self._meant.get(way, [])
            if all(not (meant.whole or meant.entity.mask & ~self.combos) for meant in known):
                head = self._entity("head", way[0])
                head.mask = mask
                self._meant[way] = [Meant(head, _PART, whole=False)]

    def _choices_in_names(self) -> None:
        """Let a choice stand in a name that ends as it does: "iced black tea" is an iced tea."""
        several = Counter(
            last
            for item in self.items
            for last in {stems(one)[-1] for one in (item.name, *item.aliases)}
        )
        for dish in self._menu.dishes:
            entity = self._entities[self._bits[dish.name].bit_length() - 1]
            *first, last = stems(dish.name)
            counted = [
                one for name in (dish.name, *dish.aliases) if (one := stems(name))[0] in _COUNTS
            ]
            for group in self._menu.groups(dish) if first else ():
                for choice in group.choices:
                    words = stems(choice.name)
                    short = (*words, last)
                    if last not in words and several[last] == 1 and short not in self._meant:
                        self._name(short, entity, _PART, whole=False)  # sweet tea
                    if len(words) > 1 and words[-1] == last and not set(words) & {*first}:
                        self._name((*first, *words), entity, _exact((*first, *words)))
                    for number, *rest in counted:
                        self._name((number, *words, *rest), entity, _exact((*words, *rest)))

    def _sizes(self) -> None:
        surfaces: dict[Stems, str] = {}
        used = [size for dish in self._menu.dishes for size in dish.sizes]
        named = [name for size, names in self._menu.sizes.items() for name in (size, *names)]
        for size in (*used, *named):
            for way in self._ways(stems(size)):
                surfaces.setdefault(way, size)
            said = stems(size)
            if len(said) == 1 and said[0] in _COUNTS:
                for piece in _PIECES:
                    surfaces.setdefault((said[0], stem(piece)), size)
            if len(said) > 1 and said[-1] in _PIECES:
                for piece in _PIECES:
                    surfaces.setdefault((*said[:-1], stem(piece)), size)
        for size, others in SIZE_WORDS.items():
            for word in (size, *others):
                if len(word) > 1:
                    surfaces.setdefault(stems(word), word)
        for word in ("regular", "normal", "standard"):
            surfaces.setdefault((word,), word)
        for word in ("smallest", "largest", "biggest"):
            surfaces.setdefault((stem(word),), "small" if word == "smallest" else "large")
        found: dict[tuple[tuple[str, ...], str | None, str], bool] = {}
        for way, words in surfaces.items():
            entity = self._entity("size", words)
            for dish in self._menu.dishes:
                if not dish.sizes:
                    continue
                key = (dish.sizes, dish.default_size, words)
                if key not in found:
                    try:
                        self._menu.size(dish, words)
                        found[key] = True
                    except OrderError:
                        found[key] = False
                if found[key]:
                    entity.mask |= self._bits[dish.name]
            self._name(way, entity, _exact(way))
            for more in (("size",), ("sized",)):
                self._name((*way, *more), entity, _exact(way) + 0.01)

    def _options(self) -> None:
        exact: dict[Stems, Entity] = {}
        partly: dict[Stems, dict[int, int]] = {}
        typed: dict[Stems, str] = {}
        groups: dict[Stems, Entity] = {}

        def option(way: Stems, words: str) -> Entity:
            entity = exact.get(way)
            if entity is None:
                entity = exact[way] = self._entity("option", words)
            return entity

        of_group: dict[str, int] = {}
        containing: dict[Stems, int] = {}
        for dish in self._menu.dishes:
            bit = self._bits[dish.name]
            for name in dish.options:
                of_group[name] = of_group.get(name, 0) | bit
            for content, others in self._menu.also_called(dish).items():
                containing[stems(content)] = containing.get(stems(content), 0) | bit
                for name in (content, *others):
                    for way in self._ways(stems(name)):
                        entity = option(way, name)
                        entity.mask |= bit
                        entity.own |= bit
                for run, missing, words in _runs(content, options=True):
                    typed.setdefault(run, words)
                    partly.setdefault(run, {})[bit] = missing
        own_runs = {run: sum(bits) for run, bits in partly.items()}
        names = [
            name
            for group in self._menu.options.values()
            if of_group.get(group.name)
            for name in {stems(n) for one in group.choices for n in (one.name, *one.aliases)}
        ]
        shared = {name for name, groups in Counter(names).items() if groups > 1}
        for group in self._menu.options.values():
            for name in (one for choice in group.choices for one in (choice.name, *choice.aliases)):
                for way in self._ways(stems(name)) if of_group.get(group.name) else ():
                    option(way, name)  # "chicken broth" is no "chicken" of another "kids broth"
        for at, group in enumerate(self._menu.options.values()):
            mask = of_group.get(group.name, 0)
            if not mask:
                continue
            headings = {
                heading: name
                for name in (group.name, *group.aliases)
                if (heading := stems(name))[:1] not in MARKS
            }
            kinds = {
                heading[-1:]: name
                for heading, name in headings.items()
                if _is_kind(heading) and heading[-1:] not in headings
            }
            kinds |= {
                heading[:-1]: name
                for heading, name in headings.items()
                if heading[-1] == "level" and len(heading) == 2  # the spice of "spice level"
            }
            kin = {
                (other,)
                for heading in headings
                for word in heading
                for other in _ALSO_CALLED.get(word, ())
            }
            for heading in headings:
                whole = groups.get(heading)
                if whole is None:
                    whole = groups[heading] = self._entity("group", group.name)
                whole.mask |= mask
                if group.least:
                    whole.chosen |= mask
                if group.default is not None:
                    whole.own |= mask
            for choice in group.choices:
                for name in (choice.name, *choice.aliases):
                    base = list(self._ways(stems(name)))
                    spoken = [(way, name) for way in base]
                    for heading, called in (*headings.items(), *kinds.items()):
                        # Almond milk, where almond is a syrup, too.
                        words = f"{name} {called}" if base[0] in shared else name
                        spoken += [((*base[0], *heading), words), ((*heading, *base[0]), words)]
                    spoken += [((*base[0], *kind), name) for kind in kin - {base[0][-1:]}]
                    if choice.name == group.default:
                        usual = [(("regular", *way), words) for way, words in spoken]
                        spoken += usual  # "the regular red sauce"
                    bits = containing.get(stems(choice.name), 0)
                    for way, words in spoken:
                        entity = option(way, words)
                        entity.mask |= mask | bits
                        entity.own |= bits
                        if group.counted:
                            entity.tallied |= mask
                        if group.amounts:
                            entity.counted |= mask
                        if group.halves:
                            entity.halved |= mask
                        if group.least:
                            entity.chosen |= mask
                        entity.kinds |= 1 << at
                        if group.most == 1 and not group.halves:
                            entity.groups |= 1 << at
                        else:
                            entity.loose |= mask
                        if choice.name == group.default:
                            entity.own |= mask
                    for run, missing, words in _runs(name, options=True):
                        typed.setdefault(run, words)
                        several = partly.setdefault(run, {})
                        several[mask] = min(missing, several.get(mask, 9))
        for way, entity in exact.items():
            self._name(way, entity, _exact(way))
        for run, found in partly.items():
            whole = exact.get(run)
            mask = 0
            for bits in found:
                mask |= bits
            if whole is not None:
                whole.own |= own_runs.get(run, 0) & whole.mask  # the red onions of "no onions"
                mask &= ~whole.mask
            if not mask:
                continue
            entity = self._entity("option", typed[run])
            entity.mask = mask
            for one in exact.values():
                if set(run) <= set(stems(one.words)):
                    entity.counted |= one.counted & mask
                    entity.tallied |= one.tallied & mask
                    entity.groups |= one.groups
                    entity.kinds |= one.kinds
                    entity.loose |= one.loose & mask
            entity.own = own_runs.get(run, 0) & mask
            missing = min(found.values())
            cost = (
                0.75 + 0.15 * missing
                if run[-1] not in vocabulary.ADJECTIVES
                else 1.1 + 0.3 * missing
            )
            self._name(run, entity, cost, whole=False)
        for kind, members in KINDS.items():
            mask = own = 0
            for way, entity in exact.items():
                if members & set(way):
                    mask |= entity.mask
                    own |= entity.own
            for meant in self._meant.get((kind,), ()):
                if meant.entity.kind == "option":
                    meant.entity.own |= own & meant.entity.mask  # the mozzarella of "no cheese"
                    mask &= ~meant.entity.mask
                    own &= ~meant.entity.mask
            if mask:
                entity = self._entity("option", _KIND_WORDS.get(kind, kind))
                entity.mask, entity.own = mask, own
                self._name((kind,), entity, 0.8, whole=False)
        self._general(exact)
        for heading, entity in groups.items():
            self._name(heading, entity, _exact(heading) + 0.3)

    def _general(self, exact: Mapping[Stems, Entity]) -> None:
        """Name what dishes have of a family by its general words: "no dairy", "without gluten"."""
        for words in GENERAL:
            name = stems(words)
            if name in exact:
                continue
            families = families_in_general(name)
            own = 0
            for way, one in exact.items():
                if one.own and families & held_in(one.words)[0]:
                    own |= one.own
                if way[: len(name) + 1] == (*name, FREE):
                    own |= one.mask
            mask = own
            for dish in self._menu.dishes if words in SUBSTANCES else ():
                if not families.isdisjoint(families_named(held_by(self._menu, dish))):
                    mask |= self._bits[dish.name]  # it cannot be left off, and the guest is told
            if mask:
                entity = self._entity("option", words)
                entity.mask, entity.own, entity.general = mask, own, True
                self._name(name, entity, 0.8, whole=False)

    def _variants(self) -> None:
        """Name the dishes that may be chosen for a combo by the words that tell them apart."""
        found: dict[Stems, int] = {}
        for combo in self._menu.combos:
            for part in combo.parts:
                words = {name: {*stems(name)} - EMPTY for name in part.dishes}
                for name, own in words.items():
                    others = [other for one, other in words.items() if one != name]
                    apart = own.difference(*others)
                    if not any(own & other for other in others):  # the fries of "kids fries"
                        apart &= {*stems(name)[1:][-1:]} - {*stems(combo.name)}
                        for dish in self._menu.dishes:
                            if dish.name in words and dish.name != name:
                                called = map(stems, dish.aliases)  # the coke of "diet coke"
                                apart.difference_update(*called)
                    for run in {(word,) for word in apart} | _spans(stems(name), apart):
                        found[run] = found.get(run, 0) | self._bits[name]
        for run, mask in found.items():
            entity = self._entity("variant", " ".join(run))
            entity.mask = mask
            self._name(run, entity, 0.4, whole=False)

    def _of_combos(self) -> None:
        for bit, parts in self.parts.items():
            for entity in self._entities:
                if entity.kind not in ("option", "size", "group"):
                    continue
                if entity.mask & parts:
                    entity.mask |= bit
                if entity.own & parts:
                    entity.own |= bit
                if entity.counted & parts:
                    entity.counted |= bit
                if entity.tallied & parts:
                    entity.tallied |= bit

    def _vocabulary(self) -> frozenset[str]:
        words = {word for name in self._meant for word in name}
        self._first = {name[0] for name in self._meant}
        self._vocabulary_list = sorted(
            word for word in words if len(word) > 3 and word.isalpha()
        ) + sorted(word for word in _CORRECTED if word not in words)
        self._sounds = [sounds(word) for word in self._vocabulary_list]
        return frozenset(words)


def _held(menu: Menu, dish: Dish) -> int:
    """Return how many choices a dish holds that is called by their number; 0 for others."""
    called = [number_at(tokenize(name), 0) for name in (dish.name, *dish.aliases)]
    most = {group.most for group in menu.groups(dish) if group.counted}
    return next((number[0] for number in called if number is not None and number[0] in most), 0)


def _spans(name: Stems, apart: AbstractSet[str]) -> set[Stems]:
    """Return the run of a name from its first to its last word that tells it apart: "egg drop"."""
    places = [at for at, word in enumerate(name) if word in apart]
    return {name[places[0] : places[-1] + 1]} if len(places) > 1 else set()


def sounds(word: str) -> str:
    """Reduce a word to how it sounds in English, roughly.

    >>> sounds("huancaina"), sounds("wankaina"), sounds("tequeno"), sounds("tekenyo")
    ('wankaina', 'wankaina', 'tekeno', 'tekenio')
    """
    for written, heard in _SOUNDS:
        word = word.replace(written, heard)
    return "".join(letter for at, letter in enumerate(word) if at == 0 or letter != word[at - 1])


def _others(name: Stems) -> Iterator[Stems]:
    """Return a name with other words for the same foods."""
    spoken = tuple(SAME_WORD.get(word, word) for word in name)
    if spoken != name:
        yield spoken
    for at, word in enumerate(name):
        for other in OTHER_WORDS.get(word, ()):
            yield (*name[:at], *other, *name[at + 1 :])


def _is_kind(heading: Stems) -> bool:
    """Whether the last word of a group's name says what its choices are: the sauce of "wing sauce"."""
    return len(heading) > 1 and heading[-1:] not in MARKS and heading[-1] not in _NO_KIND


def _exact(name: Stems) -> float:
    return max(_LEAST, _EXACT - _EACH_WORD * (len(name) - 1))


def _runs(name: str, *, options: bool = False) -> Iterator[tuple[Stems, int, str]]:
    """Return parts of a name that may stand for it, with how many of its words are missing, and as words."""
    whole = fold(name).split()
    typed = [word for word in whole if stem(word) not in EMPTY]
    words = tuple(stem(word) for word in typed)
    joint = next((at for at, word in enumerate(whole) if at and word in _BESIDE), len(whole))
    first_part = {stem(word) for word in whole[:joint]}
    for length in range(1, len(words)):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if all(word in _NO_PART for word in run):
                continue
            if length == 1 and run[0].isdigit():
                continue  # "make that two" is no set meal for two
            others = [word for word in words if word not in run and (word,) not in MARKS]
            if others and all(word in _TASTES for word in run):
                continue  # "spicy" is no spicy mayo, and "hot" is extra hot
            if not options:
                if all(word in vocabulary.ADJECTIVES for word in run):
                    continue
                if not first_part.intersection(run):
                    continue  # the cheese of mac and cheese
            yield run, len(words) - length, " ".join(typed[first : first + length])
    for joint, word in enumerate(whole):
        if word == "and" and 0 < joint < len(whole) - 2 and not options:
            # "Ham and cheese" and "ham sandwich", of a ham and cheese sandwich.
            for typed in (whole[joint - 1 : joint + 2], [whole[joint - 1], whole[-1]]):
                yield tuple(map(stem, typed)), len(words) - 2, " ".join(typed)


def _weak(name: str, run: Stems, own: str) -> bool:
    """Whether a food alone is too little to mean a dish: a Turkish pizza is not any pizza."""
    last = stem(fold(name).split()[-1])
    return name != own or (last in DISH_WORDS and last not in run)


def _says_little(word: str) -> bool:
    return vocabulary.is_common(word) and not vocabulary.is_food(word)


def _swapped(said: str, meant: str) -> float:
    """Rate a slip of one letter, or of two that changed places, in a longer word."""
    if len(meant) < 4 or abs(len(said) - len(meant)) > 2:
        return 0.0
    slips = OSA.distance(said, meant, score_cutoff=2)
    if len(meant) == 4:
        return 78.0 if slips == 1 and len(said) == 4 and said[0] == meant[0] else 0.0
    if slips == 1 and said[0] == meant[0]:
        return 92.0
    return 80.0 if slips == 2 and len(meant) > 7 and said[0] == meant[0] else 0.0


def _same_words() -> tuple[dict[str, str], dict[str, list[Stems]]]:
    one: dict[str, str] = {}
    others: dict[str, list[Stems]] = {}
    for said, meant in SAME.items():
        if len(meant) == 1:
            others.setdefault(meant[0], []).append(said)
            if len(said) == 1:
                one[said[0]] = meant[0]
    return one, others


SAME_WORD, OTHER_WORDS = _same_words()
_JOINTS = frozenset(
    stem(word)
    for word in (
        "a an the of and n with de la di al in on y et e con"
        " alla alle all ai agli del della delle dei des du au aux los las und mit"
    ).split()
)
_TASTES = frozenset(stem(word) for word in "spicy sweet sour mild fresh".split())
_NO_PART = frozenset(
    stem(word) for word in "no not free style with and of the size on in n it is as by".split()
) | {str(number) for number in range(21)}
_SOUNDS = (
    *(
        ("chi", "ki"),
        ("che", "ke"),
        ("sch", "sk"),
        ("tch", "c"),
        ("ch", "c"),
        ("ck", "k"),
        ("ph", "f"),
        ("qu", "k"),
        ("q", "k"),
    ),
    *(
        ("ce", "se"),
        ("ci", "si"),
        ("cy", "si"),
        ("cc", "k"),
        ("ca", "ka"),
        ("co", "ko"),
        ("cu", "ku"),
    ),
    *(("cl", "kl"), ("cr", "kr"), ("x", "ks"), ("z", "s"), ("ll", "y"), ("y", "i"), ("gh", "g")),
    *(
        ("hua", "wa"),
        ("hue", "we"),
        ("sh", "s"),
        ("th", "t"),
        ("ee", "i"),
        ("ea", "i"),
        ("oo", "u"),
    ),
    *(("ou", "u"), ("oa", "o"), ("h", ""), ("w", "w"), ("v", "b")),
)
_BESIDE = frozenset(("and", "with", "in", "on"))
_PASSED_OVER = frozenset(("a", "of", "the", "an", "de"))
_ADDED = frozenset(("and", "n"))
_COMBO_WORDS = tuple(stem(word) for word in ("combo", "meal", "deal", "set", "menu"))
_DRINK = stems("drink")
_DRINKS = frozenset(stems(" ".join(vocabulary.DRINKS)))
_SANDWICHES = {stems(one) for one in vocabulary.SANDWICHES}
_NO_KIND = frozenset(
    stem(word) for word in "add on choice extra option style side way kind".split()
)
_ALSO_CALLED = {
    word: [other for other in several if other != word]
    for several in (
        [stem(word) for word in "sauce dip dressing".split()],
        [stem(word) for word in "spice spicy spiciness heat hot".split()],
    )
    for word in several
}
_KIND_WORDS = {stem("cheese"): "cheese"}
_PIECES = ("piece", "pcs", "pc", "count", "ct")
_DIGITS = {stem(word): str(number) for word, number in numbers.UNITS.items() if number < 13}
_DIGITS |= {digit: word for word, digit in _DIGITS.items()}
_COUNTS = frozenset(str(number) for number in range(1, 25))
_CORRECTED = frozenset(
    stem(word)
    for word in (
        "without with extra double large medium small please remove change instead another everything"
        " actually would regular light half side order cancel switch"
    ).split()
)
