"""Answers to what was asked back: "large", "the first", "both", "one of each", "never mind"."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.english import numbers, patterns, vocabulary
from bella_vista.local.understanding.changes import Changes
from bella_vista.local.understanding.heard import Heard
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.pieces import NUMBER, STOP, Piece, cut
from bella_vista.local.understanding.tokens import Words
from state.menu.words import stems

_OF_ITEMS = frozenset(
    {"choice_missing", "ambiguous", "not_on_menu", "choice_not_possible", "sold_out", "over_limit"}
)
_SURELY_A_NAME = 2
_NAMELESS = frozenset({"ambiguous", "not_on_menu", "sold_out"})


class Pending:
    """A question that waits, and the things it is about.

    Args:
        question: What was asked, with the further questions of the same line.
        names: The menu's names.
        kitchen: What the menu makes of things.
        orders: Where things that are ordered are collected.
        changes: Where changes to the order's lines are collected.
    """

    def __init__(
        self,
        question: Question,
        names: Names,
        kitchen: Kitchen,
        orders: Orders,
        changes: Changes,
    ) -> None:
        self._question = question
        self._names = names
        self._kitchen = kitchen
        self._orders = orders
        self._changes = changes
        self.settled = False
        self._heard_word = ""
        self._items = [
            self._taken_up(one)
            for one in (question, *question.rest)
            if one.code in _OF_ITEMS
            and one.draft is not None
            and one.draft.op in ("add_item", "change_item")
        ]

    def _taken_up(self, question: Question) -> Item:
        draft = question.draft or Draft("add_item")
        line = self._changes.line(str(draft.fields.get("line_id")))
        item = Item.of_draft(draft, line)
        if question.code in _NAMELESS:
            item.names = question.possible
            item.words = str(
                question.facts.get("words") or question.facts.get("name") or item.words
            )
        if question.code == "choice_missing" and question.facts.get("group") == "quantity":
            item.quantity = None
        if question.facts.get("source"):
            item.source = self._changes.line(str(question.facts["source"]))
        return item

    # -- hearing an answer ---------------------------------------------------------------------------------

    def hears(self, intent: str) -> None:
        """Take a yes or a no as an answer to it."""
        self._heard_word = intent

    def answer(self, words: Words, heard: Heard) -> Words | None:
        """Take an answer out of a clause; returns what is left, or ``None`` when nothing is."""
        code = self._question.code
        if code == "which_line":
            return self._which_line(words)
        if code == "missing":
            return self._missing(words, heard)
        if not self._items or code not in _OF_ITEMS:
            return words
        item = self._items[0]
        said = " ".join(token.word for token in words.tokens if not token.stop)
        if code == "choice_not_possible" and patterns.AS_IT_IS.fullmatch(said):
            return self._settle(None)
        if patterns.NOTHING.fullmatch(said):
            self.settled, self._items = True, self._items[1:]
            return None
        if code in _NAMELESS:
            return self._which_dish(item, words, said)
        return self._how(item, words, said)

    def _settle(self, rest: Words | None) -> Words | None:
        self.settled = True
        self._items = [self._back_on_line(item) for item in self._items]
        for item in self._items:
            if item.source is not None and item not in self._orders.items:
                item.source.quantity = (item.source.quantity or 1) - (item.quantity or 1)
                self._changes.touch(item.source)
        new = [item for item in self._items if item.line is None]
        self._orders.items[:0] = [item for item in new if item not in self._orders.items]
        if self._items:
            self._orders.attach(self._items[0])
        return rest

    def _back_on_line(self, item: Item) -> Item:
        """Carry out on a line of the order what was wanted of it."""
        line = self._changes.line(item.line.id) if item.line is not None else None
        if line is None or line is item:
            return item
        line.words, line.names, line.near = item.words, item.names, item.near
        line.quantity, line.size = item.quantity, item.size
        line.changes, line.unknown, line.yielding = item.changes, item.unknown, 0
        line.parts = item.parts
        self._changes.touch(line)
        return line

    def _ordinal(self, said: str) -> int | None:
        found = patterns.FIRST_OF.fullmatch(said)
        if found is None:
            return None
        word = found["ordinal"]
        number = (
            numbers.ORDINALS.get(word)
            or numbers.UNITS.get(word)
            or (int(word) if word.isdigit() else 0)
        )
        bare = word in numbers.UNITS or word.isdigit()
        if bare and not said.startswith(("number", "option", "no ")):
            return None
        possible = len(self._question.possible)
        index = possible + number if number < 0 else number - 1
        if word == "middle":
            index = possible // 2
        return index if 0 <= index < possible else None

    def _which_dish(self, item: Item, words: Words, said: str) -> Words | None:
        """Find which of the dishes offered was chosen."""
        possible = self._question.possible
        index = self._ordinal(said)
        if index is not None:
            item.names, item.words = (possible[index],), possible[index]
            return self._settle(None)
        if self._heard_word == "yes" and len(possible) == 1:
            item.names, item.words = possible, possible[0]
            return self._settle(words)
        place = self._named(words, possible)
        if place is None:
            return self._another_instead(words)
        first, last, name = place
        item.names, item.words, item.near = (name,), name, ()
        if self._question.code != "ambiguous":
            item.changes, item.unknown = [], []
            dish = self._kitchen.dish(name)
            if item.size is not None and (
                dish is None or self._kitchen.size(name, item.size) is None
            ):
                item.size = None
        before = [token for token in words.tokens[:first] if not token.stop]
        number = next(
            (piece.value for piece in cut(words.part(0, first), self._names) if piece.does(NUMBER)),
            None,
        )
        if number is not None and not (number == 1 and before[-1].word in ("a", "an", "the")):
            item.quantity = number
        self._settle(words)
        sizes = [piece for piece in cut(words.part(0, first), self._names) if piece.sizes]
        if sizes and self._kitchen.size(name, sizes[-1].words):
            item.size = sizes[-1].words
        following = words.tokens[last : last + 1]
        if following and following[0].word in ("one", "ones"):
            last += 1
        return words.part(last, len(words.tokens))

    def _named(self, words: Words, possible: tuple[str, ...]) -> tuple[int, int, str] | None:
        """Find the longest run of words that fits exactly one of several names."""
        tokens = words.tokens
        others = self._other_names(words, possible)
        for length in range(min(6, len(tokens)), 0, -1):
            for first in range(len(tokens) - length + 1):
                run = tokens[first : first + length]
                if any(token.stop for token in run) or others & set(range(first, first + length)):
                    continue
                stemmed = {token.stem for token in run if token.word not in vocabulary.JOINTS}
                if not stemmed or all(token.word in vocabulary.FUNCTION_WORDS for token in run):
                    continue
                fits = [name for name in possible if stemmed <= self._words_of(name)]
                meaning = self._names.longest(tokens, first)
                exact = meaning is not None and meaning[0] == length
                if exact and meaning is not None and meaning[1].dishes:
                    named = [name for name in possible if name in meaning[1].dishes]
                    fits = named if named else [] if meaning[1].own else fits
                if len(fits) == 1:
                    return first, first + length, fits[0]
        return None

    def _another_instead(self, words: Words) -> Words:
        """Give up what cannot be had for a dish that was not offered: "a stew instead, then"."""
        said = [index for index, token in enumerate(words.tokens) if token.word == "instead"]
        named = any(piece.dishes for piece in cut(words, self._names))
        if self._question.code == "ambiguous" or len(said) != 1 or not named:
            return words
        self.settled, self._items = True, self._items[1:]
        return words.without(said[0], said[0] + 1)

    def _other_names(self, words: Words, possible: tuple[str, ...]) -> set[int]:
        """Return the places of words that name a dish which was not among those offered."""
        places: set[int] = set()
        for first in range(len(words.tokens)):
            longest = self._names.longest(words.tokens, first)
            if longest is None or longest[0] < _SURELY_A_NAME or not longest[1].own:
                continue
            if longest[1].dishes and not set(longest[1].dishes) & set(possible):
                places.update(range(first, first + longest[0]))
        return places

    def _words_of(self, name: str) -> set[str]:
        dish = self._kitchen.dish(name)
        combo = self._kitchen.combo(name)
        thing = dish or combo
        names = (thing.name, *thing.aliases) if thing else (name,)
        return {word for one in names for word in stems(one)}

    def _how(self, item: Item, words: Words, said: str) -> Words | None:
        """Take in a size, a choice, a number or parts that were asked for."""
        possible = self._question.possible
        group = str(self._question.facts.get("group") or "")
        index = self._ordinal(said)
        if index is not None and group != "quantity":
            self._choose(item, group, possible[index])
            return self._settle(None)
        if patterns.EACH.fullmatch(said) and item.quantity == len(possible):
            for one in possible:
                split = Split(1)
                if group == "size":
                    split.size = one
                else:
                    split.changes.append(one)
                item.splits.append(split)
            return self._settle(None)
        pieces = cut(words, self._names)
        if self._named_after_all(item, pieces):
            self.settled, self._items = True, self._items[1:]
            return words
        if group == "quantity" or self._question.code == "over_limit":
            number = next((piece for piece in pieces if piece.does(NUMBER) or piece.value), None)
            if number is not None and len([p for p in pieces if p.head]) == 0:
                item.quantity = number.value
                return self._settle(None)
            return words
        if self._heard_word == "yes" and len(possible) == 1:
            self._choose(item, group, possible[0])
            return self._settle(words)
        if self._in_turn(words):
            self.settled = True
            return None
        if not self._touches(item, words):
            return words
        return self._settle(words)

    def _named_after_all(self, item: Item, pieces: Sequence[Piece]) -> bool:
        """Whether a dish is named where only its kind was before: "a pizza", "a large Diavola"."""
        dish = self._kitchen.dish(item.name)
        if dish is None or (pieces and pieces[0].does(lex.AND, lex.PLUS)):
            return False
        kind = stems(dish.section)
        if not any(stems(name) == kind for name in (dish.name, *dish.aliases)):
            return False
        named = [piece.dishes for piece in pieces if len(piece.dishes) == 1]
        return any(
            name != item.name and self._names.section_of(name) == dish.section for (name,) in named
        )

    def _choose(self, item: Item, group: str, answer: str) -> None:
        if group == "size":
            item.size = answer
        elif group == "parts":
            item.parts.append(Item(words=answer, names=(answer,)))
        else:
            item.changes.append(answer)

    def _in_turn(self, words: Words) -> bool:
        """Give "small and large" to two things that wait, one after the other."""
        sizes = [p.words for p in cut(words, self._names) if p.sizes]
        others = [
            p
            for p in cut(words, self._names)
            if not p.sizes and not p.does(STOP, lex.AND, lex.FILLER, lex.THE, lex.FOR, lex.ARTICLE)
        ]
        waiting = [
            item
            for item in self._items
            if item.size is None
            and all(self._kitchen.size(item.name, size) is not None for size in sizes)
        ]
        if others or len(sizes) < 2 or len(sizes) != len(waiting):
            return False
        for item, size in zip(waiting, sizes, strict=True):
            item.size = size
        self._settle(None)
        return True

    def _touches(self, item: Item, words: Words) -> bool:
        """Whether a clause says anything about a thing that waits."""
        combo = self._kitchen.combo(item.name)
        for piece in cut(words, self._names):
            if combo is not None and piece.dishes:
                taken = [part.name or "" for part in item.parts]
                if any(self._kitchen.room_for(combo, taken, name) for name in piece.dishes):
                    return True
                continue
            if combo is not None and any(
                self._kitchen.answers(part.name, piece.words) for part in item.parts
            ):
                return True
            if piece.sizes and self._kitchen.size(item.name, piece.words) is not None:
                return True
            if piece.does(lex.PLAIN) and self._kitchen.size(item.name, piece.words) is not None:
                return True
            named = piece.changes or piece.head or piece.tag == "word"
            if named and self._kitchen.answers(item.name, piece.words):
                return True
        return False

    # -- lines, and what else was missing ------------------------------------------------------------------

    def _which_line(self, words: Words) -> Words | None:
        facts = self._question.facts
        ids = [str(one) for one in facts.get("line_ids") or ()]
        said = " ".join(token.word for token in words.tokens if not token.stop)
        index = self._ordinal(said)
        pieces = cut(words, self._names)
        if _wishes_anew(pieces):
            return words
        items = self._changes.pointed_at(pieces, ids, index)
        if not items:
            return words
        self.settled = True
        count = facts.get("count") if isinstance(facts.get("count"), int) else None
        if facts.get("drop"):
            self._changes.take_off(items, count)
        else:
            change = Words.read(str(facts.get("change") or ""))
            self._changes.become(items, count, cut(change, self._names))
        return None

    def _missing(self, words: Words, heard: Heard) -> Words | None:
        needs, draft = self._question.facts.get("needs"), self._question.draft
        if draft is None:
            return words
        if needs == "coupon":
            typed = words.typed().strip(" .,!?")
            if typed and len(typed.split()) <= 3:
                heard.wish(words, "apply_coupon", code=typed.upper().replace(" ", ""))
                self.settled = True
                return None
        if needs == "tip_unit":
            amount = str(self._question.facts.get("amount"))
            said = words.said
            if "percent" in said or "%" in said:
                heard.wish(
                    words, "set_tip", percentage=float(amount) if "." in amount else int(amount)
                )
                self.settled = True
                return None
        return words

    def close(self, heard: Heard) -> bool:
        """Finish: whether the question was answered."""
        draft, needs = self._question.draft, self._question.facts.get("needs")
        if draft is not None and draft.op == "set_fulfilment" and needs in ("fulfilment", "time"):
            for index, (at, given) in enumerate(heard.drafts):
                if given.op == draft.op:
                    heard.drafts[index] = (at, Draft(draft.op, {**draft.fields, **given.fields}))
                    self.settled = True
        if draft is not None and needs == "note_address":
            if self._heard_word == "yes" and not heard.has("set_fulfilment"):
                heard.drafts.append((0, draft))
            self.settled = bool(self._heard_word) or heard.has("set_fulfilment")
        if needs == "tip" and heard.has("set_tip"):
            self.settled = True
        if self._question.code == "not_valid" and heard.drafts:
            self.settled = True
        if not self.settled and self._heard_word in ("no", "nothing") and self._items:
            if self._question.code == "choice_not_possible":
                self._settle(None)
            self.settled = True
        if not self.settled and self._heard_word == "yes" and self._items:
            possible = self._question.possible
            if self._question.code == "choice_not_possible" and not possible:
                self._settle(None)
            elif len(possible) == 1:
                item = self._items[0]
                if self._question.code in _NAMELESS:
                    item.names, item.words = possible, possible[0]
                else:
                    self._choose(item, str(self._question.facts.get("group") or ""), possible[0])
                self._settle(None)
        if (
            not self.settled
            and self._question.code in ("not_on_menu", "sold_out")
            and self._orders.items
        ):
            self.settled = True
        return self.settled


def _wishes_anew(pieces: Sequence[Piece]) -> bool:
    """Whether a clause says by itself what is to be done with what: "no garlic on the Marinara"."""
    verb = any(piece.does(lex.DROP, lex.MAKE, lex.SWAP) for piece in pieces[:1])
    told = any(piece.does(lex.NEG, lex.AMOUNT) for piece in pieces[:1])
    return verb or (told and any(piece.does(lex.ON, lex.TO) for piece in pieces))
