"""Takes in what names a dish: whole names, parts of names, and words that are none."""

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from bella_vista.local.english import lexicon as lex
from bella_vista.local.english import vocabulary
from bella_vista.local.understanding.amending import Amending
from bella_vista.local.understanding.basket import Basket
from bella_vista.local.understanding.clause import Clause, Phrase
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.pieces import NUMBER, STOP, Piece
from state.menu.words import fold, stems

_ALIKE = 80.0


class Naming:
    """Makes things of names.

    Args:
        clause: What is being read.
        basket: The things ordered so far.
        names: The menu's names.
        kitchen: What the menu makes of things.
        amending: Takes in what turns out to be a change.
    """

    def __init__(
        self, clause: Clause, basket: Basket, names: Names, kitchen: Kitchen, amending: Amending
    ) -> None:
        self._clause = clause
        self._basket = basket
        self._names = names
        self._kitchen = kitchen
        self._amending = amending
        self.alternative: Item | None = None
        self.unclear: list[str] = []
        self._alike: tuple[str, ...] = ()
        self._size_of: tuple[str | None, str | None] = (None, None)

    def head(self, at: int) -> None:
        """Take in what says which dish is meant."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        if self._clause.mode == "no" and not self._clause.listed and not phrase.strong:
            return  # "but no cola": it is not wanted
        if self._makes_combo(at) or self._runs_on(at):
            return
        names = piece.dishes or tuple(
            name for section in piece.sections for name in self._names.dishes_in(section)
        )
        words = piece.words
        unknown: list[str] = []
        if phrase.run:
            run = " ".join(one.words for one in phrase.run)
            match = self._names.resolve(f"{run} {piece.words}")
            if any(map(str.isdigit, run)):
                unknown = [run]  # "2.5 Margheritas"
            elif match.names and (len(match.names) == 1 or not piece.dishes):
                names, words = match.names, f"{run} {piece.words}"
            elif not piece.dishes:
                names, words = (), f"{run} {piece.words}"
            else:
                unknown = [run]
        near = () if names else self._names.near(words)
        strong = phrase.article or phrase.count is not None
        self.begin(words, names, unknown, near)
        self._clause.last_head = (at, strong)

    def _makes_combo(self, at: int) -> bool:
        """Whether a dish and a combo side by side are that combo with the dish: "cheeseburger meal"."""
        piece, last = self._clause.pieces[at], self._clause.last_head
        item = self._basket.items[-1] if self._basket.items else None
        combo = self._kitchen.combo(piece.dishes[0]) if len(piece.dishes) == 1 else None
        if last is None or last[0] != at - 1 or item is None or item.name is None or combo is None:
            return False
        if not self._clause.phrase.empty or not self._kitchen.room_for(combo, (), item.name):
            return False
        self._basket.items[-1] = Item(
            words=f"{item.words} {piece.words}",
            names=(combo.name,),
            quantity=item.quantity,
            parts=[replace(item, quantity=1)],
            spoken=item.spoken,
            counted=item.counted,
        )
        self._basket.targets = [self._basket.items[-1].parts[0]]
        return True

    def _runs_on(self, at: int) -> bool:
        """Whether two names side by side under one article are a third one: "an eel nigiri"."""
        piece, last = self._clause.pieces[at], self._clause.last_head
        if last is None or last[0] != at - 1 or not last[1] or not self._basket.items:
            return False
        if (
            not self._clause.phrase.empty
            or self._clause.mode
            or self._basket.targets != [self._basket.items[-1]]
        ):
            return False
        item = self._basket.items[-1]
        match = self._names.resolve(f"{item.words} {piece.words}")
        near = tuple(dict.fromkeys((*item.names, *piece.dishes)))
        item.words = f"{item.words} {piece.words}"
        item.names = match.names if len(match.names) == 1 else ()
        item.near = near
        return True

    def begin(
        self, words: str, names: tuple[str, ...], unknown: list[str], near: tuple[str, ...] = ()
    ) -> None:
        """Put a thing into the basket, with all that was said in front of its name.

        Args:
            words: What it was called.
            names: The dishes it may be.
            unknown: Words about it that were not understood.
            near: What comes close, when it is no dish.
        """
        phrase = self._clause.phrase
        names = self._sized(self._basket.narrowed(names))
        self._alike = names if len(names) > 1 else self._alike
        count = 1 if phrase.count is None else max(1, phrase.count)
        part = self._basket.combo_with(names[0], count) if len(names) == 1 else None
        item = Item(words=words, names=names, unknown=unknown, near=near)
        item.quantity = None if phrase.few else phrase.count if phrase.count is not None else 1
        item.size, item.changes = phrase.size, list(phrase.before)
        if phrase.portion and not any("half" in change for change in phrase.before):
            item.unknown.append(phrase.portion)  # "half a Margherita" is none of ours
        item.counted = phrase.count is not None
        item.spoken = self._clause.place
        if phrase.more:
            self._basket.like_before(item)
        if part is not None:
            part.parts.extend(item.copy(1) for _ in range(count))
            self._basket.targets = list(part.parts[-count:])
        elif self._clause.sorry and self._basket.items:
            self._basket.replace_newest(item)
        elif self._announced(item):
            self._sized_as_announced(item)
            self._basket.items[-1] = item
            self._basket.targets = [item]
        else:
            self._sized_as_announced(item)
            self._basket.put(item)
        if self.alternative in self._basket.items and self.alternative is not None:
            self._basket.one_or_the_other(self.alternative, item)
        self.alternative = None
        self._clause.phrase, self._clause.sorry = Phrase(), False
        self._clause.list_of("")

    def _sized_as_announced(self, item: Item) -> None:
        """Give each the size of all: "two large pizzas, a Margherita and a Funghi"."""
        section, size = self._size_of
        if size and item.size is None and self._names.section_of(item.name or "") == section:
            item.size = size

    def _sized(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Keep of several dishes the one that comes in the size said: "a whole chicken"."""
        size = self._clause.phrase.size
        if size is None or len(names) < 2:
            return names
        sized = tuple(name for name in names if self._kitchen.size(name, size) is not None)
        return sized if len(sized) == 1 else names

    def _announced(self, item: Item) -> bool:
        """Whether the last thing only announced what is now named: "two pizzas, a Funghi and ..."."""
        last = self._basket.items[-1] if self._basket.items else None
        if last is None or item.name is None or not last.counted or last.name == item.name:
            return False
        if (last.quantity or 0) < 2 or last.changes or last.unknown or last.splits:
            return False
        if last.size and self._kitchen.size(item.name, last.size) is None:
            return False
        meaning = self._names.meaning(last.words)
        kind = meaning is not None and bool(meaning.sections)
        if len(last.names) > 1 and item.name in last.names and not kind:
            told = [piece.value for piece in self._clause.pieces if piece.does(NUMBER)]
            return sum(told) in (last.quantity, 2 * (last.quantity or 0))
        section = self._names.section_of(item.name)
        if meaning is None or section not in meaning.sections:
            return False
        # What follows must add up: the number announced is the number named.
        if self._named_ahead(section) != last.quantity:
            return False
        self._size_of = (section, last.size)
        return True

    def _of_the_announced(self, words: str) -> str | None:
        """Find which of the dishes that were named together is meant: "two waters, one still ..."."""
        said = set(stems(words))
        fitting = [name for name in self._alike if said <= set(stems(name))]
        return fitting[0] if said and len(fitting) == 1 else None

    def _named_ahead(self, section: str | None) -> int:
        """Count the dishes of a section named from the last head on."""
        total = count = 0
        seen = False
        for piece in self._clause.pieces:
            if piece.does(STOP, lex.AND):
                count = 0
            if piece.sections:
                count, seen = 0, True
                continue
            if piece.does(NUMBER):
                count = piece.value
            if (
                seen
                and len(piece.dishes) == 1
                and self._names.section_of(piece.dishes[0]) == section
            ):
                total += count or 1
                count = 0
        return total

    def flush(self) -> None:
        """Make something of words that stood where a dish or a change could."""
        phrase = self._clause.phrase
        run, phrase.run = phrase.run, []
        if not run:
            return
        words = " ".join(piece.words for piece in run)
        if phrase.before and not self._basket.targets:
            # "Grilled cheese sandwich" is one name, although cheese could be on something.
            words = " ".join(phrase.said)
            phrase.before = []
        if self._clause.mode and self._clause.listed and not self._basket.answers(words):
            match = self._names.resolve(words)
            if match.names:
                self.begin(words, match.names, [])
                return
        if self._basket.targets and (self._clause.mode or phrase.amount or not phrase.strong):
            if self._basket.answers(words) or (self._clause.mode and self._is_thing(run)):
                self._amending.attach(words)
                return
        if phrase.strong and (announced := self._of_the_announced(words)):
            self.begin(words, (announced,), [])
            return
        content = [word for word in words.split() if word not in vocabulary.FUNCTION_WORDS]
        match = self._names.resolve(words)
        if (
            not phrase.strong
            and not self._clause.listed
            and match.names
            and match.names == self._basket.target_names
        ):
            return  # "wakame salad": the same thing, said in full
        if match.names and (
            phrase.strong or self._is_thing(run) or self._certain(words, match.names)
        ):
            self.begin(words, match.names, [])
            return
        if self._clause.mode and self._basket.targets and self._is_thing(run):
            self._amending.attach(words)
        elif phrase.strong and (self._is_thing(run) or _close(words, match.near)):
            self.begin(words, (), [], match.near)
        elif (
            self._basket.targets
            and not phrase.strong
            and self._is_thing(run)
            and not self._clause.listed
        ):
            for target in self._basket.targets:
                if isinstance(target, Item):
                    target.unknown.append(words)
                else:
                    target.changes.append(words)
        elif content and self._is_thing(run):
            self.unclear.append(words)

    def _is_thing(self, run: Sequence[Piece]) -> bool:
        """Whether words may name something to eat: a food, or a word that is no common one."""
        words = [word for piece in run for word in piece.words.split()]
        return any(
            vocabulary.is_food(word)
            or word in vocabulary.VARIANTS
            or not vocabulary.is_common(word)
            for word in words
            if word.isalpha()
        )

    def _certain(self, words: str, names: Sequence[str]) -> bool:
        return len(names) == 1 and any(vocabulary.is_food(word) for word in words.split())

    def give_back(self) -> None:
        """Give a size and changes that no dish followed to the last thing."""
        phrase = self._clause.phrase
        if not self._basket.targets:
            self._begin_with_changes()
            return
        if phrase.size:
            self._basket.set_size(phrase.size)
        for target in self._basket.targets:
            target.changes.extend(phrase.before)
        phrase.size, phrase.before, phrase.pronoun = None, [], False

    def _begin_with_changes(self) -> None:
        """Take what could be on a dish as part of a dish's name: "tuna", "a ham"."""
        phrase = self._clause.phrase
        last = self._one_more(phrase) if phrase.pronoun or phrase.more else None
        if last is not None:
            self.begin(last.words, last.names, [])
            return
        said, phrase.before = phrase.before, []
        for words in said:
            match = self._names.resolve(words)
            carrying = self._kitchen.carrying(words)
            if match.names or phrase.strong:
                self.begin(words, match.names, [], match.near)
            elif carrying:
                self.begin(words, carrying, [])
                self._basket.items[-1].changes.append(words)
            else:
                self.unclear.append(words)

    def _one_more(self, phrase: Phrase) -> Item | None:
        """Find what "a chicken one" is another of: the last thing on the order that can be had so."""
        for item in reversed(self._basket.known):
            able = all(self._kitchen.answers(item.name, words) for words in phrase.before)
            sized = not phrase.size or self._kitchen.size(item.name, phrase.size) is not None
            if able and sized and (phrase.before or phrase.size):
                return item
        return None

    def again(self, things: Sequence[Item] = ()) -> None:
        """Order once more what was ordered last, or another thing."""
        last = things[-1] if things else self._basket.newest
        if last is None:
            return
        item = last.copy(self._clause.phrase.count or 1)
        item.spoken = self._clause.place
        if self._clause.phrase.size:
            item.size = self._clause.phrase.size
        item.changes.extend(self._clause.phrase.before)
        item.copied = True
        self._basket.put(item)
        self._clause.phrase, self._clause.mode = Phrase(), "with"


def _close(words: str, near: Sequence[str]) -> bool:
    """Whether common words are spelt much like a dish: "a root bear"."""
    return any(fuzz.ratio(words, fold(name)) >= _ALIKE for name in near)
