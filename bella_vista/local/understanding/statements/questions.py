"""Finds what a guest asks: which kind of question it is, and about what."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from bella_vista.local.english import lexicon, vocabulary
from bella_vista.local.english.talking import pattern, table, words_of
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.meaning import Asked
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.messages.pieces import WORD, Piece, cut
from bella_vista.local.understanding.statements.offers import Offers
from bella_vista.local.understanding.statements.subjects import Subjects, unknown_words
from bella_vista.local.understanding.words.tokens import Words, number_at
from state.menu import Dish, Menu
from state.menu.english import EMPTY
from state.menu.families import families_in_general, is_allergen
from state.menu.words import fold, stem, stems


class Questions:
    """Reads questions about one house and its menu."""

    def __init__(self, menu: Menu, names: Names, kitchen: Kitchen) -> None:
        self._menu = menu
        self._names = names
        self._subjects = Subjects(menu, names, kitchen)
        self._offers = Offers(menu, names, self._subjects)
        self._diets = {
            stem(fold(diet)): diet
            for dish in menu.dishes
            for diet in dish.diets
            if len(fold(diet).split()) == 1
        }
        self._own_name = {*stems(menu.restaurant.name)}
        self._facts = {key: self._fact_words(key) for key in menu.restaurant.facts}
        self._fact_texts = {
            key: {*stems(text)} - _stems_of("no fact") - self._facts[key] - self._own_name
            for key, text in menu.restaurant.facts.items()
        }
        self._headings = {
            section.name: {
                word for name in (section.name, *section.aliases) for word in stems(name)
            }
            - _stems_of("every heading")
            - vocabulary.FUNCTION_WORDS
            for section in menu.sections
        }

    def _fact_words(self, key: str) -> frozenset[str]:
        words = set(stems(key))
        for topic, others in table("asks facts").items():
            near = {stem(other) for other in others} | set(stems(topic))
            if set(stems(key)) & near:
                words |= near
        return frozenset(words - _stems_of("no fact"))

    # -- deciding ------------------------------------------------------------------------------------------

    def find(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Return what a clause asks, or nothing when it is no question.

        Args:
            words: The clause.
            things: What is on the order, or was just ordered: what "it" may mean.
        """
        wonders = words.find(pattern("asks would know")) is not None
        words = _opened(words)
        if not words.tokens:
            return None
        marked = words.tokens[-1].word == "?"
        besides = words.find(pattern("besides another"))
        if besides and words_of("asks for any") & {*words.part(0, besides.first).spoken}:
            words = words.part(0, besides.first)
        bare = words.part(0, len(words.tokens) - 1) if words.tokens[-1].word == "?" else words
        marked = marked or wonders
        begins = bare.find(pattern("asks begins"))
        if (asked := self._has_allergen(bare)) is not None:
            return asked
        if (keeps := bare.whole(pattern("keeps a diet"))) is not None:
            diet = self._diets.get(stem(keeps["diet"] or keeps["diet2"]))
            return Asked("diets", diet=diet) if diet is not None else None
        if (asked := self._offers.choices(bare, things)) is not None:
            return asked
        if (may := bare.trimmed(frozenset()).whole(pattern("asks may have"))) is not None:
            section = self._section_in(bare, cut(bare, self._names))
            of_it = "section" if section is not None and may["kind"] else "allergens"
            if of_it == "section" or (may["kind"] or "food").split()[-1] in words_of("any food"):
                return Asked(of_it, subject=section, aspect="without")
        if not marked and (begins is None or begins.first > 0):
            return self._extreme(bare, things) if self._offers.names_extreme(bare) else None
        for read in self._readers():
            asked = read(bare, things)
            if asked is not None and asked.kind == "facts":
                named = next((one.dishes for one in cut(bare, self._names) if one.dishes), ())
                return replace(asked, dish=named[0] if len(named) == 1 else None)
            if asked is not None:
                return asked
        return None

    def _readers(self) -> tuple[Callable[[Words, Sequence[Item]], Asked | None], ...]:
        return (
            self._offers.coupon,
            self._percent,
            self._like,
            self._extreme,
            self._offers.sizes,
            self._total,
            self._order,
            self._frying,
            self._allergens,
            self._diet,
            self._spicy,
            self._size,
            self._payment,
            self._named_fact,
            self._price,
            self._hours,
            self._among,
            self._house,
            self._service,
            self._fact,
            self._recommended,
            self._contents,
            self._had,
            self._about_dish,
            self._of_the_house,
        )

    # -- one kind after the other ----------------------------------------------------------------------

    def _extreme(self, words: Words, things: Sequence[Item]) -> Asked | None:
        return self._offers.extreme(words, self._section_in(words, cut(words, self._names)))

    def _total(self, words: Words, things: Sequence[Item]) -> Asked | None:
        return Asked("total") if words.whole(pattern("asks total")) else None

    def _among(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read a question for what has an ingredient, or does not: "what pizzas don't have mushrooms"."""
        found = words.whole(pattern("asks among"))
        if found is None:
            return None
        what = found["what"] or found["what2"]
        dish = self._names.meaning(what)
        if dish is not None and len(dish.dishes) == 1:  # "what wine goes with the lasagna"
            before = words.part(0, len(words) - len(what.split()))
            section = self._section_in(before, cut(before, self._names))
            if section is not None:
                return Asked("section", subject=section)
            return Asked("contents", subject=dish.dishes[0])
        if is_allergen(what):
            aspect = "without" if found["no"] else "with"
            section = self._section_in(words, cut(words, self._names))
            return Asked("allergens", subject=section, allergen=what, aspect=aspect)
        section = self._section_in(words, cut(words, self._names))
        of_it = (dish for dish in self._menu.dishes if section in (None, dish.section))
        if not any(lists(dish, what) for dish in of_it):
            return None
        aspect = "without" if found["no"] else "with"
        return Asked("menu", subject=section, words=what, aspect=aspect)

    def _percent(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks percent")) is None:
            return None
        numbers = (number_at(words.tokens, at) for at in range(len(words.tokens)))
        number = next((one[0] for one in numbers if one is not None), None)
        return Asked("total", words=str(number)) if number else None

    def _like(self, words: Words, things: Sequence[Item]) -> Asked | None:
        found = words.whole(pattern("asks like"))
        if found is None:
            return None
        subject, _ = self._subjects.find(cut(words, self._names), things)
        return Asked("menu", subject=subject, words="like") if subject is not None else None

    def _spicy(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks spicy")) is None:
            return None
        subject, _ = self._subjects.find(cut(words, self._names), things)
        if subject is None and (fact := self._fact(words, things, least=1.0)) is not None:
            return fact
        choice = next((piece.words for piece in cut(words, self._names) if piece.changes), "")
        subject = subject or self._subjects.choice(choice)
        return Asked("contents", subject=subject, aspect="spicy") if subject is not None else None

    def _size(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks size")) is None:
            return None
        pieces = cut(words, self._names)
        of_a_section = self._section_only(pieces)  # "how big is a large pizza?" means no one pizza
        subject = None if of_a_section else self._subjects.find(pieces, things)[0]
        return Asked("contents", subject=subject, aspect="size")

    def _order(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks number")) is not None:
            return Asked("order", aspect="number")
        return Asked("order") if words.whole(pattern("asks order")) is not None else None

    def _price(self, words: Words, things: Sequence[Item]) -> Asked | None:
        found = words.find(pattern("asks price"))
        if found is None or found.first > 4 or words.find(pattern("free of")) is not None:
            return None
        if "deliver" in words.said or "delivery" in words.said:
            return Asked("service", aspect="fee")
        if len(things) > 1 and words.whole(pattern("asks how much is that")):
            return Asked("total")
        pieces = cut(words, self._names)
        subject, size = self._subjects.find(pieces, things)
        if pattern("compares prices").search(words.said) is not None:
            size = None
        if (
            subject is None
            and len(things) > 1
            and any(p.words in ("that", "it all") for p in pieces)
        ):
            return Asked("total")
        if subject is None:
            choice = next((piece for piece in pieces if piece.changes and not piece.head), None)
            if choice is not None:
                return Asked("price", subject=self._subjects.choice(choice.words) or choice.words)
            unknown = unknown_words(pieces)
            return Asked("price", words=unknown, size=size)
        return Asked("price", subject=subject, size=size)

    def _hours(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks hours")) is None:
            return None
        day = next(
            (token.word for token in words.tokens if token.word.rstrip("s") in words_of("days")),
            None,
        )
        holiday = next((one for one in table("holidays") if f" {one} " in f" {words.said} "), None)
        if holiday is not None:
            return Asked("hours", day=holiday)
        if day is None and not words_of("all hours") & {token.word for token in words.tokens}:
            return Asked("hours", day="now")
        return Asked("hours", day=day.rstrip("s") if day else None)

    def _service(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks service")) is None:
            return None
        aspects = table("aspects of service").items()
        said = {token.word for token in words.tokens}
        aspect = next((one for one, of_it in aspects if said & {*of_it}), None)
        both = aspect == "delivery" and words.find(pattern("pickup")) is not None
        return Asked("service", aspect=None if both else aspect)

    def _frying(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read what else comes into the oil or on the grill, which only a fact of the house tells."""
        found = words.whole(pattern("asks of frying"))
        pieces = cut(words, self._names)
        of_dish = any(piece.dishes for piece in pieces) if found and found["beside"] else True
        if found is None or not of_dish or (self._section_only(pieces) and not found["beside"]):
            return None  # "what do you have from the fryer?"
        for where, near in table("facts of frying").items():
            for key, text in self._menu.restaurant.facts.items():
                if {*map(stem, near)} & {*stems(text if where == "text" else key)}:
                    return Asked("facts", subject=key)
        return None if self._allergens_in(words) else Asked("facts")

    def _payment(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks payment")) is None or "gift" in words.said:
            return None
        way = words.find(pattern("asks way"))
        said = way.match["way"] if way is not None else None
        return Asked("payment", words=said if said is None or "pay" in said else said.rstrip("s"))

    def _house(self, words: Words, things: Sequence[Item]) -> Asked | None:
        if words.whole(pattern("asks address")) is not None:
            fact = self._fact(words, things)
            return fact or Asked("facts", subject="address")
        if words.whole(pattern("asks phone")) is not None:
            return Asked("facts", subject="phone")
        named = pattern("asks for house").fullmatch(Words.read(words.typed()).said)
        of_ours = named is not None and {*stems(named["house"])} <= self._own_name
        if of_ours or words.whole(pattern("asks name of house")) is not None:
            return Asked("facts", subject="name")
        return None

    def _is_inside_dish(self, words: Words) -> bool:
        """Whether a dish may hold something, not the house: "does the tiramisu have alcohol?"."""
        inside = pattern("asks inside").search(words.said) is not None
        return inside and any(len(piece.dishes) == 1 for piece in cut(words, self._names))

    def _named_fact(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Find a fact that is asked for by the very words of its key."""
        if self._is_inside_dish(words):
            return None
        asked = self._beside_names(words)
        own = [
            key
            for key in self._facts
            if (named := set(stems(key)) - _stems_of("no fact")) & asked
            and (len(named) == 1 or named <= asked)
        ]
        return Asked("facts", subject=own[0]) if len(own) == 1 else None

    def _fact(self, words: Words, things: Sequence[Item], least: float = 2.0) -> Asked | None:
        """Find a fact by the words of its key, by what it is usually asked by, or by its text."""
        if self._is_inside_dish(words):
            return None
        asked = self._beside_names(words)
        best, score = None, least - 1
        for key, near in self._facts.items():
            own = set(stems(key)) & asked
            known = near & asked
            told = {
                word
                for word in self._fact_texts[key] & asked
                if word not in vocabulary.FUNCTION_WORDS and len(word) > 3
            }
            # One word of a text among others may be any: "the small or the large", "a small card for children".
            found = 3.0 * len(own) + 2.0 * len(known - own)
            found += len(told) if not known and 2 * len(told) >= len(asked) else 0.0
            if found > score and found >= least:
                best, score = key, found
        if best is None:
            return None
        pieces = cut(words, self._names)
        if score < 2.0 and pattern("asks to make").match(words.said):
            if any(piece.changes for piece in pieces):
                return None  # "can you do the crust thin": a fact may speak of crusts
        dish = any(piece.head for piece in pieces)
        if dish and score < 3.0 and not asked & _stems_of("of the house"):
            return None
        return Asked("facts", subject=best)

    def _of_the_house(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read a question about the house of which the menu says nothing: "do you give receipts"."""
        asked = {token.word for token in words.tokens} & words_of("asks of the house")
        named = any(piece.head or piece.dishes for piece in cut(words, self._names))
        return Asked("facts") if asked and not named else None

    def _recommended(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read a question for the house's favorites: the fact about them, if there is one."""
        if words.whole(pattern("asks recommended")) is None:
            return None
        fact = next((key for key, near in self._facts.items() if stem("recommend") in near), None)
        if fact is not None:
            return Asked("facts", subject=fact)
        section = self._section_in(words, cut(words, self._names))
        return Asked("menu", subject=section, words="recommended")

    def _allergens(self, words: Words, things: Sequence[Item]) -> Asked | None:
        several = self._allergens_in(words)
        allergen = " or ".join(several) or None
        talks = words.find(pattern("asks allergen words")) is not None
        if allergen is None and not talks:
            return None
        pieces = cut(words, self._names)
        inside = words.find(pattern("asks inside")) or words.find(pattern("asks anything with"))
        last = self._allergens_in(words.part(len(words) - 1, len(words)))
        if inside is None and last and (found := words.find(pattern("is something"))) is not None:
            inside, allergen = found, last[0]  # "is the oat milk dairy?"
        if (not talks and inside is None) or self._orders_dish(pieces):
            return None
        if _asks_for_it(words) and any(
            "free" in p.words.split() and (p.changes or p.head) for p in pieces
        ):
            return None
        named = any(piece.head for piece in pieces)
        free = words.find(pattern("asks without")) is not None
        of_all = words.find(pattern("asks of all")) is not None
        points = not {"it", "that", "this", "them"}.isdisjoint(words.said.split())
        of_all = of_all or (
            free and not points and pattern("asks have").match(words.said) is not None
        )
        if allergen is not None and of_all and (not named or self._section_only(pieces)):
            aspect = "without" if free else "with"
            section = self._section_in(words, pieces)
            return Asked("allergens", subject=section, allergen=allergen, aspect=aspect)
        subject = self._choice_in(words)
        if subject is None:
            subject, _ = self._subjects.find(pieces, things, besides=next(iter(several), None))
        if not talks and subject is None and allergen is not None and self._is_dish(allergen):
            return None
        unsaid = next((one for one in words.said.split() if one in words_of("not told")), None)
        return Asked("allergens", subject=subject, allergen=allergen, words=unsaid)

    def _has_allergen(self, words: Words) -> Asked | None:
        """Read a question without its first word: "muffin have nuts"."""
        found = words.find(pattern("has inside"))
        if found is None or not found.first or found.last < len(words):
            return None
        begins = 1 if words.tokens[0].word in ("the", "your") else 0
        named = self._names.longest(words.tokens, begins)
        if named is None or begins + named[0] != found.first or len(named[1].dishes) != 1:
            return None
        what = found.match["what"]
        if what not in words_of("allergens") and not is_allergen(what):
            return None
        return Asked("allergens", subject=named[1].dishes[0], allergen=what)

    def _orders_dish(self, pieces: Sequence[Piece]) -> bool:
        asks = any(
            piece.does(lexicon.TAKE, lexicon.MAKE, lexicon.SWAP)
            and piece.words.split()[0] in ("can", "could", "may", "would")
            for piece in pieces
        )
        return asks and any(piece.dishes for piece in pieces)

    def _is_dish(self, word: str) -> bool:
        meaning = self._names.meaning(word)
        return meaning is not None and bool(meaning.dishes)

    def _allergens_in(self, words: Words) -> list[str]:
        """Return what is asked of, which may be several: "does it have nuts or soy?"."""
        found: list[str] = []
        known = {stem(fold(one)): one for dish in self._menu.dishes for one in dish.allergens}
        of_names = self._inside_names(words)  # "do the fish tacos come with cabbage?"
        for at, token in enumerate(words.tokens):
            if at in of_names:
                continue
            in_general = bool(families_in_general((token.stem,)))  # "is there pork in the ragu?"
            if token.stem in known or token.word in words_of("allergens") or in_general:
                if [one.word for one in words.tokens[at + 1 : at + 2]] == ["free"]:
                    continue  # "is there egg in the gluten free crust?"
                found.append(known.get(token.stem, token.word))
        free = words.find(pattern("asks free"))
        if not found and free is not None and is_allergen(free.match["what"]):
            found.append(free.match["what"])
        return [*dict.fromkeys(found)]

    def _diet(self, words: Words, things: Sequence[Item]) -> Asked | None:
        of_names = self._inside_names(words)  # the veggie burger may be no vegan one
        told = [token for at, token in enumerate(words.tokens) if at not in of_names]
        diet = next(
            (
                self._diets.get(token.stem, token.word)
                for token in told
                if token.stem in self._diets or token.word in words_of("asks diets")
            ),
            None,
        )
        if diet is None and not any(
            token.word in ("meat", "diet", "diets", "dietary") for token in told
        ):
            return None
        no_meat = words.find(pattern("no meat")) is not None
        about = diet or (None if no_meat else "meat")  # "what meat do you use?"
        if about not in self._diets.values() and about in self._menu.restaurant.facts:
            return None
        if diet == "veggie" or (diet is None and no_meat):
            diet = "vegetarian"
        pieces = cut(words, self._names)
        if self._orders_dish(pieces):
            return None
        if diet is None and any(piece.changes and not piece.head for piece in pieces):
            return None
        subject = self._choice_in(words) if diet is not None else None
        if subject is None:
            subject, _ = self._subjects.find(pieces, things)
        return Asked("diets", subject=subject, diet=diet)

    def _of_it(self, words: Words) -> str | None:
        """Return what somebody wants to know of a dish: the "alcohol" of "is there alcohol in the cake?"."""
        found = words.find(pattern("asks inside")) or words.find(pattern("is made so"))
        groups = found.match.groupdict().items() if found is not None else ()
        said = next((one for name, one in groups if one and name.startswith("what")), "")
        content = [word for word in said.split() if word not in words_of("no subject")]
        return (said if pattern("free of").fullmatch(said) else " ".join(content)) or None

    def _contents(self, words: Words, things: Sequence[Item]) -> Asked | None:
        pieces = cut(words, self._names)
        subject, size = self._subjects.find(pieces, things)
        told = words.whole(pattern("asks contents")) is not None
        inside = words.find(pattern("asks inside")) is not None
        plain = (
            words.tokens[0].word in ("what", "who")
            and subject is not None
            and len(words.tokens) > 2
        )
        if told and subject is None and _menu_meant(words):
            return None
        if subject is not None and (told or inside or (plain and self._is_about(pieces, words))):
            if not told and self._section_only(pieces):
                return None
            return Asked("contents", subject=subject, size=size, words=self._of_it(words))
        if told and subject is None and not words.said.startswith("how "):
            if any(piece.does(WORD) for piece in pieces) or self._section_only(pieces):
                unknown = unknown_words(pieces)
                of_it = any(token.word in ("it", "that", "them", "this") for token in words.tokens)
                return Asked("contents", words=unknown) if unknown or of_it else None
            return Asked("contents")
        return None

    def _is_about(self, pieces: Sequence[Piece], words: Words) -> bool:
        return any(piece.dishes for piece in pieces) and words.tokens[1].word in (
            "is",
            "are",
            "kind",
            "sort",
        )

    def _section_only(self, pieces: Sequence[Piece]) -> bool:
        return any(piece.sections for piece in pieces) and not any(
            piece.dishes and not piece.sections for piece in pieces
        )

    def _had(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Read what there is to be had: a dish, a section, a choice, anything at all."""
        pieces = cut(words, self._names)
        section = self._section_in(words, pieces)
        have = words.find(pattern("asks have"))
        free = words.find(pattern("asks free"))
        if have is not None and section is not None and free is not None:
            return self._free(section, free.match["what"])
        begins = words.tokens[0].word
        choosing = begins in (
            "what",
            "which",
            "any",
            "how",
            "is",
            "are",
            "show",
            "tell",
            "list",
            "give",
        )
        asks_kind = (
            begins in ("what", "which")
            or "kind of" in words.said
            or begins in ("show", "list", "any")
        )
        if section is not None and (asks_kind or (have is not None and self._asks_having(words))):
            return Asked("section", subject=section)
        dish = next((piece.dishes for piece in pieces if piece.dishes), None)
        if dish is not None and have is not None and self._asks_having(words):
            return Asked("menu", subject=dish[0] if len(dish) == 1 else None)
        choice = next((piece for piece in pieces if piece.changes), None)
        if choice is not None and (asks_kind or (have is not None and self._asks_having(words))):
            groups = choice.meaning.groups if choice.meaning else []
            return Asked(
                "menu",
                subject=groups[0]
                if groups
                else self._subjects.choice(choice.words) or choice.words,
            )
        if words.whole(pattern("asks menu")) is not None and unknown_words(pieces) is None:
            return Asked("menu")
        if have is not None and self._asks_having(words):
            unknown = unknown_words(cut(words.part(have.last, len(words)), self._names))
            unknown = unknown or unknown_words(pieces)
            if unknown is None:
                return Asked("menu") if choosing or begins in ("do", "have") else None
            match = self._names.resolve(unknown)
            if len(match.names) == 1:
                return Asked("menu", subject=match.names[0])
            known = self._fact(words, things, least=1.0)
            if known is None and set(stems(unknown)) & _stems_of("of the house"):
                return Asked("facts", words=unknown)
            return known or _of_food(unknown)
        if words.whole(pattern("asks menu")) is not None:
            return _of_food(unknown_words(pieces))
        return self._fact(words, things, least=1.0)

    def _free(self, section: str, food: str) -> Asked:
        """Take "do you have gluten free pasta" for the choice that is so, or the dishes that hold none."""
        said = {*stems(f"{food} free")}
        dishes = [dish for dish in self._menu.dishes if dish.section == section]
        groups = (group for dish in dishes for group in self._menu.groups(dish))
        choices = (choice.name for group in groups for choice in group.choices)
        found = next((name for name in choices if said <= {*stems(name)}), None)
        if found is not None:
            return Asked("menu", subject=found)
        return Asked("allergens", subject=section, allergen=food, aspect="without")

    def _about_dish(self, words: Words, things: Sequence[Item]) -> Asked | None:
        """Take any other yes or no question about a dish as one about what is in it."""
        first = [token.word for token in words.tokens[:2]]
        if first[0] not in ("is", "are", "does", "do", "has", "was"):
            return None
        if first[0] == "do" and first[1:] and first[1] not in words_of("asked of"):
            return None  # "do a dozen knots", "well, do the lasagna"
        pieces = cut(words, self._names)
        named = next((piece.dishes for piece in pieces if len(piece.dishes) == 1), None)
        if named is None and things and words.whole(pattern("asks is with")):
            return Asked("contents", subject=things[-1].name)
        if named is None and words.find(pattern("asks inside")) is not None:
            choice = self._choice_in(words)
            return Asked("contents", subject=choice) if choice is not None else None
        return Asked("contents", subject=named[0], words=self._of_it(words)) if named else None

    def _choice_in(self, words: Words) -> str | None:
        """Return the choice that a question is about: "is there nuts in almond milk", "is oat milk vegan?"."""
        inside = words.find(pattern("asks inside")) or words.find(pattern("is something"))
        if inside is None:
            return None
        group = next(one for one in ("dish", "dish2") if inside.match.groupdict().get(one))
        said = words.part(*inside.span(words, group)).trimmed(words_of("before a choice"))
        kind = self._names.meaning(said.tokens[-1].word) if len(said) > 1 else None
        if kind is not None and kind.groups:
            said = said.part(0, len(said) - 1)  # "the vanilla syrup" is vanilla
        return self._subjects.choice(said.said) if said.tokens else None

    def _inside_names(self, words: Words) -> set[int]:
        """Return where the words of dishes' names stand that have several words."""
        spans = [(at, self._names.longest(words.tokens, at)) for at in range(len(words))]
        return {
            at + further
            for at, found in spans
            if found is not None and found[0] > 1 and found[1].dishes
            for further in range(found[0])
        }

    def _beside_names(self, words: Words) -> set[str]:
        """Return the stems a fact is found by: the kids spaghetti is no fact about kids."""
        choices = (one for one in cut(words, self._names) if one.changes and not one.head)
        of_names = self._inside_names(words)  # a fact about rolls tells of no "gluten free rolls"
        of_names |= {one.last - 1 for one in choices if " " in one.words}
        told = (token for at, token in enumerate(words.tokens) if at not in of_names)
        return {token.stem for token in told if not token.stop} - _stems_of("no fact")

    def _asks_having(self, words: Words) -> bool:
        return words.tokens[0].word in words_of("begins asking for it")

    def _section_in(self, words: Words, pieces: Sequence[Piece]) -> str | None:
        for piece in pieces:
            if piece.sections:
                return piece.sections[0]
        course = words.find(pattern("asks for course"))
        asked = {token.stem for token in words.tokens}
        if course is not None:
            asked.update(stem(word) for word in course.match.group().split())
        for section, headings in self._headings.items():
            if not asked.isdisjoint(headings):
                return section
        return None

    # -- what it is about -----------------------------------------------------------------------------------


def _opened(words: Words) -> Words:
    """Drop what stands before a question and says nothing."""
    first = 0
    asks = words.find(pattern("asks would know"))
    if asks is not None and asks.first <= 2:
        first = asks.last
        if words.tokens[first - 1].word in ("if", "whether"):
            words, first = words.corrected(first - 1, "do"), first - 1
    while first < len(words.tokens):
        token = words.tokens[first]
        if token.stop or token.word in words_of("before a question"):
            first += 1
            continue
        rest = words.part(first, len(words.tokens))
        found = pattern("greeting").match(rest.said)
        if found is None:
            break
        first += len(found.group().split())
    return words.part(first, len(words.tokens))


def lists(dish: Dish, ingredient: str) -> bool:
    """Whether the menu names an ingredient of a dish."""
    told = {
        stem for one in (dish.name, dish.description or "", *dish.contains) for stem in stems(one)
    }
    asked = {*stems(ingredient)} - EMPTY
    return bool(asked) and asked <= told


def _asks_for_it(words: Words) -> bool:
    asks = words.said.startswith(("can ", "could ", "may "))
    if asks and not words_of("anything").isdisjoint(words.said.split()):
        return False
    return words.said.startswith(
        (
            *("do you do", "do you have", "do you make", "do you offer", "do you serve"),
            *(
                "got any",
                "you got",
                "have you",
                "is there",
                "are there",
                "any ",
                "can it ",
                "could it ",
            ),
            *("can i ", "could i ", "may i ", "can we ", "could we ", "can you ", "could you "),
        )
    )


def _menu_meant(words: Words) -> bool:
    return any(token.word in ("menu", "offer", "card", "list") for token in words.tokens)


@cache
def _stems_of(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words_of(name))


def _of_food(words: str | None) -> Asked:
    """Take a question for a food that is no dish for one about the dishes that hold it: "do you have pork?"."""
    if words in words_of("allergens") or families_in_general(stems(words or "")):
        return Asked("allergens", allergen=words, aspect="with")
    return Asked("menu", words=words)
