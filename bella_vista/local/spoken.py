"""Sentences that guests may say aloud, made up from the menu and from the words of the language.

Local speech recognition knows no others: what is not made up here is not heard.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon
from bella_vista.local.english.numbers import TENS, UNITS
from bella_vista.local.english.sampling import Sampler, Unsayable
from bella_vista.local.english.talking import blocks, words_of
from bella_vista.local.english.vocabulary import COMMON, EVERYDAY, FOODS, VESSELS
from bella_vista.local.understanding.understander import Understander, as_json
from state.menu import Dish, Menu
from state.menu.words import plural

OPEN_SENTENCES, ANSWERS, BESIDE = 30_000, 2_500, 1_500
"""How many sentences are made up for anything, for a kind of answer that is expected, and how many
that say something else are beside those."""

KINDS = ("yes_no", "choice", "rating", "amount", "name", "contact")

_SHORT = (
    *(("i am", "i'm"), ("i would", "i'd"), ("i will", "i'll"), ("i have", "i've")),
    *(("we would", "we'd"), ("we will", "we'll"), ("we are", "we're"), ("we have", "we've")),
    *(("that is", "that's"), ("it is", "it's"), ("what is", "what's"), ("where is", "where's")),
    *(("do not", "don't"), ("does not", "doesn't"), ("did not", "didn't"), ("can not", "can't")),
    *(("is not", "isn't"), ("are not", "aren't"), ("will not", "won't"), ("he is", "he's")),
    *(("she is", "she's"), ("they are", "they're"), ("you are", "you're"), ("let us", "let's")),
    *(("there is", "there's"), ("would not", "wouldn't"), ("name is", "name's")),
    *(("that will", "that'll"), ("how is", "how's"), ("was not", "wasn't")),
)
_SHORTENED = dict(_SHORT)
_LONG = re.compile(rf"\b({'|'.join(long for long, _ in _SHORT)})\b(?! not)")


def spoken_sentences(menu: Menu) -> dict[str, list[str]]:
    """Make up what guests may say, for each kind of answer that is expected.

    The same menu gives the same sentences.
    """
    maker = _Maker(menu)
    anything = [maker.sentence("open") for _ in range(OPEN_SENTENCES)]
    said = {"open": [*anything, *maker.every_word()]}
    for kind in KINDS:
        answers = [maker.sentence(kind) for _ in range(ANSWERS)]
        said[kind] = [*answers, *said["open"][-BESIDE:], *anything[:BESIDE]]
    return said


def spoken_meaning(menu: Menu) -> Callable[[str], object]:
    """Return a function that tells what a text means to the local model.

    Two texts mean the same if nothing but their wording differs; where nothing is understood, their
    words count.
    """
    understander = Understander(menu)

    def meaning(text: str) -> object:
        found = understander.understand(text)
        words = "" if found.understood else text
        return as_json(replace(found, text=words)), sorted(found.intents)

    return meaning


def _said(name: str) -> Iterator[str]:
    """Return what a block of ``spoken.txt`` lists word by word."""
    lines = "|".join(line.partition(": ")[2] or line for line in blocks("spoken")[name])
    return (word for word in lines.split("|") if "{" not in word)


def _is_written(phrase: str) -> bool:
    """Whether a phrase has digits: "1st" is never spoken, and "first" is another phrase."""
    return any(map(str.isdigit, phrase))


class _Maker:
    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._chance = random.Random(1)
        self._sizes = [*dict.fromkeys(size for dish in menu.dishes for size in _sizes(menu, dish))]
        self._allergens = [*dict.fromkeys(one for dish in menu.dishes for one in dish.allergens)]
        self._diets = sorted({diet for dish in menu.dishes for diet in dish.diets})
        self._dishes = menu.dishes
        self._choices = [
            name
            for group in menu.options.values()
            for choice in group.choices
            for name in (choice.name, *choice.aliases)
        ]
        self._contents = sorted({one for dish in menu.dishes for one in dish.contains})
        self._names = sorted(words_of("given names"))
        self._sampler = Sampler(self._chance, self._slots())

    def sentence(self, kind: str) -> str:
        """Make up a sentence of a kind, as it is spoken."""
        return self._spoken(self._sampler.block(kind))

    def every_word(self) -> Iterator[str]:
        """Make up sentences in which every phrase of the menu and of the language is said."""
        pick = self._chance.choice
        for name in dict.fromkeys(self._all_names()):
            yield self._spoken(self._number_of(name))
            yield self._spoken(f"{pick(('', 'with', 'no', 'the', 'extra', 'i would like'))} {name}")
        for phrase in lexicon.PHRASES:
            if _is_written(phrase):
                continue
            yield self._spoken(phrase)
            yield self._spoken(f"{self._dish()} {phrase}")
            yield self._spoken(f"{phrase} {self._dish()}")
        for name in (*self._names, *_said("surname"), *_said("given name")):
            yield self._spoken(f"{pick(('', 'my name is', 'this is', 'under'))} {name}")
        for food in _FOODS:
            yield self._spoken(f"{pick(('', 'do you have', 'a', 'some'))} {food}")
        # Words that are in no order: without them each would be heard as one of the menu's.
        yield from sorted(word for word in EVERYDAY | COMMON if not _is_written(word))
        for name, lines in blocks("talking").items():
            if name.strip() not in _SAID:
                continue
            for _ in range(len(lines) * 20):
                try:
                    said = self._spoken(self._sampler.block(name))
                except (Unsayable, KeyError):
                    continue
                if not _is_written(said):
                    yield said

    def _slots(self) -> Mapping[str, Callable[[], str]]:
        pick, menu = self._chance.choice, self._menu
        sections = [name for one in menu.sections for name in (one.name, *one.aliases)]
        coupons = [" ".join(_spelled(code)) for code in menu.coupons] or ["ten"]
        delivery = menu.restaurant.delivery
        postcodes = delivery.postcodes if delivery is not None else ()
        facts = [*menu.restaurant.facts]
        return {
            "dish": self._dish,
            "dishes": lambda: plural(self._dish()),
            "sized": self._sized,
            "wish": self._wish,
            "wishes": self._wishes,
            "modification": self._modification,
            "choice": lambda: pick(self._choices) if self._choices else self._modification(),
            "size": lambda: pick(self._sizes) if self._sizes else "large",
            "listed allergen": lambda: pick(self._allergens) if self._allergens else "nuts",
            "diet": lambda: pick(self._diets) if self._diets else "vegan",
            "section": lambda: pick(sections),
            "food": lambda: pick(_FOODS),
            "coupon": lambda: pick(coupons),
            "fact": lambda: pick(facts) if facts else "wifi",
            "known name": lambda: pick(self._names),
            "postcode": lambda: " ".join(_spelled(pick(postcodes or ["12345"]))),
        }

    # -- what is on the menu --------------------------------------------------------------------------

    def _wishes(self) -> str:
        count = self._chance.choices((1, 2, 3, 4), (60, 28, 9, 3))[0]
        joint = self._chance.choice((" and ", " and ", " ", " and also ", " plus ", " then "))
        wishes = [self._wish() for _ in range(count)]
        return joint.join((" ".join(wishes[:-1]), wishes[-1])) if count > 1 else wishes[0]

    def _wish(self) -> str:
        combos = self._menu.combos
        if combos and self._chance.random() < 0.03:
            combo = self._chance.choice(combos)
            return f"{self._chance.choice(('a', 'one', 'the'))} {self._chance.choice((combo.name, *combo.aliases))}"
        dish = self._chance.choice(self._dishes)
        number = self._chance.choices(("a", "one", "two", "three", ""), (34, 17, 21, 8, 12))[0]
        if self._chance.random() < 0.1:
            number = self._sampler.block("number")
        name = self._name_of(dish)
        if number not in ("a", "one", "") and self._chance.random() < 0.75:
            name = plural(name)
        sizes = _sizes(self._menu, dish)
        size = self._chance.choice(sizes) if sizes and self._chance.random() < 0.5 else ""
        if size and self._chance.random() < 0.15:
            name, size = f"{name} {size}", ""
        elif size in VESSELS and self._chance.random() < 0.8:
            size = f"{plural(size) if number not in ('a', 'one', '') else size} of"
        words = " ".join(filter(None, (number, size, name)))
        if words.startswith("a ") and words[2:3] in "aeio":
            words = f"an {words[2:]}"
        return words + self._with(dish)

    def _with(self, dish: Dish) -> str:
        options = [
            name
            for group in self._menu.groups(dish)
            for choice in group.choices
            for name in (choice.name, *choice.aliases)
        ]
        pick = self._chance.choice
        told = ""
        if options and self._chance.random() < 0.3:
            told += f" {pick(('with', 'with', 'with', 'and', 'with extra', 'on a', 'with half', 'with a', 'add'))} {pick(options)}"
            if self._chance.random() < 0.3:
                told += f" {pick(('and', 'and', 'and extra', 'and no', ''))} {pick(options)}"
        if dish.contains and self._chance.random() < 0.2:
            told += f" {pick(('without', 'without', 'no', 'with no', 'with extra', 'extra', 'light', 'hold the', 'and no', 'but no', 'without the', 'easy on the'))} {pick(dish.contains)}"
            if self._chance.random() < 0.15:
                told += f" {pick(('on the side', 'and no ' + pick(dish.contains), 'or ' + pick(dish.contains)))}"
        return told

    def _modification(self) -> str:
        dish = self._chance.choice(self._dishes)
        if dish.contains and self._chance.random() < 0.5:
            return self._chance.choice(dish.contains)
        return self._chance.choice(self._choices or self._contents or ["salt"])

    def _dish(self) -> str:
        return self._name_of(self._chance.choice(self._dishes))

    def _sized(self) -> str:
        dish = self._chance.choice(self._dishes)
        sizes = _sizes(self._menu, dish)
        if sizes and self._chance.random() < 0.4:
            return f"{self._chance.choice(sizes)} {self._name_of(dish)}"
        return self._name_of(dish)

    def _name_of(self, dish: Dish) -> str:
        names = (dish.name, dish.name, *dish.aliases)
        name = self._chance.choice(names)
        sections = {"pizza"} & {dish.section.casefold()}
        if sections and "pizza" not in name.casefold() and self._chance.random() < 0.12:
            return f"{name} pizza"
        return name

    def _all_names(self) -> Iterator[str]:
        for dish in self._dishes:
            yield from (dish.name, *dish.aliases, *dish.contains, *dish.allergens, *dish.diets)
        for group in self._menu.options.values():
            yield from (group.name, *group.aliases)
        yield from self._choices
        for combo in self._menu.combos:
            yield from (combo.name, *combo.aliases)
        for section in self._menu.sections:
            yield from (section.name, *section.aliases)
        yield from self._sizes
        yield from self._menu.restaurant.facts
        yield self._menu.restaurant.name

    def _number_of(self, name: str) -> str:
        number = self._chance.choice(("one", "a", "two", "three", "another"))
        return f"{number} {plural(name) if number in ('two', 'three') else name}"

    def _spoken(self, text: str) -> str:
        said = " ".join(_in_words(text.casefold()).split())
        if self._chance.random() < 0.75:
            said = _LONG.sub(lambda long: _SHORTENED[long[1]], said)
        return said


_SAID = frozenset(
    """
    asks begins|asks total|asks order|asks price|asks hours|asks service|asks payment|asks contents
    asks sizes|asks extreme|asks have|asks menu|asks address|asks phone|asks name of house|asks spicy
    asks diets|asks free|done|yes|no|greeting|thanks|bye|pickup|delivery|pay|human|repeat|wait|place
    starts over|cancels all|order|status|tip|no tip|skips|allergic to|allergy to|right|nothing|robot
    name is|for the staff|soon|method
    """.replace("\n    ", "|").split("|")
)
"""The blocks that are patterns of what is said."""

_FOODS = sorted(FOODS)


def _sizes(menu: Menu, dish: Dish) -> Sequence[str]:
    return [name for size in dish.sizes for name in (size, size, *menu.sizes.get(size, ()))]


def _spelled(code: str) -> Iterator[str]:
    """Say a code: its words as they are, each of its digits, a number at the end as one."""
    for part in re.findall(r"[A-Za-z]+|\d+", code):
        if part.isalpha():
            yield part.casefold()
        elif len(part) <= 2:
            yield _number_words(int(part))
        else:
            yield from (_UNIT_WORDS[int(digit)] for digit in part)


def _in_words(text: str) -> str:
    return re.sub(r"\d+", lambda number: f" {_number_words(int(number[0]))} ", text)


_UNIT_WORDS = {number: word for word, number in UNITS.items()}
_TENS_WORDS = {number: word for word, number in TENS.items()}


def _number_words(number: int) -> str:
    """Say a whole number.

    >>> _number_words(48), _number_words(500)
    ('forty eight', 'five hundred')
    """
    if number < 20:
        return _UNIT_WORDS[number]
    if number < 100:
        rest = _UNIT_WORDS[number % 10] if number % 10 else ""
        return f"{_TENS_WORDS[number - number % 10]} {rest}".strip()
    if number < 1000:
        rest = f" {_number_words(number % 100)}" if number % 100 else ""
        return f"{_UNIT_WORDS[number // 100]} hundred{rest}"
    return " ".join(_UNIT_WORDS[int(digit)] for digit in str(number))
