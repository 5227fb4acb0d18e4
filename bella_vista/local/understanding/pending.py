"""Answers to what was asked back: "large", "the first", "both", "one of each", "never mind"."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import numbers
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.deciding.deciding import Decided
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.order.outcome import Which
from bella_vista.local.understanding.readings.said import Said
from bella_vista.local.understanding.statements.heard import Heard
from bella_vista.local.understanding.words.tokens import Words
from state.menu.english import EMPTY
from state.menu.words import stems

_OF_ITEMS = frozenset(
    {"choice_missing", "ambiguous", "not_on_menu", "choice_not_possible", "sold_out", "over_limit"}
)
_NAMELESS = frozenset({"ambiguous", "not_on_menu", "sold_out"})


class Pending:
    """A question that waits, and the things it is about.

    Args:
        question: What was asked, with the further questions of the same line.
        names: The menu's names.
        kitchen: What the menu makes of things.
        known: The order's lines as things.
    """

    def __init__(
        self, question: Question, names: Names, kitchen: Kitchen, known: Sequence[Item]
    ) -> None:
        self._question = question
        self._names = names
        self._kitchen = kitchen
        self._known = known
        self.settled = False
        self._heard_word = ""
        self.items = [
            self._taken_up(one)
            for one in (question, *question.rest)
            if one.code in _OF_ITEMS
            and one.draft is not None
            and one.draft.op in ("add_item", "change_item")
            and not (one.code == "not_on_menu" and not one.possible)  # nothing fits what it is
        ]

    @property
    def which(self) -> Which | None:
        """The change that waits until the line is known."""
        if self._question.code != "which_line":
            return None
        facts = self._question.facts
        ids = [str(one) for one in facts.get("line_ids") or ()]
        lines = [item for item in self._known if item.line is not None and item.line.id in ids]
        return Which(lines, _placeless(facts["said"]), bool(facts.get("drop")), facts.get("count"))

    def _line(self, line_id: str) -> Item | None:
        lines = (item for item in self._known if item.line is not None)
        return next((item for item in lines if item.line and item.line.id == line_id), None)

    def _taken_up(self, question: Question) -> Item:
        draft = question.draft or Draft("add_item")
        item = Item.of_draft(draft, self._line(str(draft.fields.get("line_id"))))
        if _nameless(question):
            item.names = question.possible
            item.words = str(
                question.facts.get("words") or question.facts.get("name") or item.words
            )
        if question.code == "choice_missing" and question.facts.get("group") == "quantity":
            item.quantity = None
        if question.facts.get("source"):
            item.source = self._line(str(question.facts["source"]))
        item.waited = question.waited
        return item

    def offers(self, words: Words) -> bool:
        """Whether some words are one of the answers there are: "well done" does not end an order."""
        said = stems(words.said)
        return not self.settled and any(stems(one) == said for one in self._question.possible)

    # -- hearing an answer ---------------------------------------------------------------------------------

    def hears(self, intent: str) -> None:
        """Take a yes or a no as an answer to it."""
        self._heard_word = intent

    def give_up(self) -> bool:
        """Drop the thing that is asked about; returns whether the question is about a thing."""
        if self._question.code in ("missing", "not_valid"):
            return False
        self.settled, self.items = True, self.items[1:]
        return True

    def ends(self) -> None:
        """Take a no that came with "that is everything" as the end of the order, not as an answer."""
        if self._heard_word == "no" and len(self._question.possible) != 1:
            self._heard_word = ""

    def answer(self, words: Words, heard: Heard) -> Words | None:
        """Take an answer out of a clause; returns what is left, or ``None`` when nothing is."""
        code = self._question.code
        if code == "missing":
            return self._missing(words, heard)
        if code == "either":
            return self._either(words, heard)
        if not self.items or code not in _OF_ITEMS:
            return words
        item = self.items[0]
        said = " ".join(token.word for token in words.tokens if not token.stop)
        refused = said.replace(str(self._question.facts.get("words")), "it")
        refuses = code in _NAMELESS or bool(self._question.facts.get("listed"))
        if refuses and pattern("does without it").fullmatch(refused):
            self.settled, self.items, self._heard_word = True, self.items[1:], ""
            return None  # "ok, no chips then"
        if code == "choice_not_possible" and pattern("as it is").fullmatch(refused):
            self.settled = True
            return None
        if self._not_offered(item, said, heard):
            return None
        if pattern("nothing").fullmatch(said):
            self.settled, self.items = True, self.items[1:]
            return None
        return self._by_number(item, words, said)

    def _not_offered(self, item: Item, said: str, heard: Heard) -> bool:
        """Tell of a size that was asked for and that a dish does not come in: "small", of medium and large.

        "The small one", of cup and quart, is the cup.
        """
        facts, found = self._question.facts, pattern("a size").fullmatch(said)
        if facts.get("group") != "size" or found is None or not self._question.possible:
            return False
        if self._ordinal(said) is not None or self._kitchen.size(item.name, found["size"]):
            return False
        other = [one for one in self._question.possible if pattern("a size").fullmatch(one)]
        for at, words in ((-1, "large"), (0, "small")):
            if found["size"] in words_of(words) and not other:
                item.size, self.settled = self._question.possible[at], True
                return True
        told = {**facts, "words": found["size"]}
        heard.asked(Question("choice_not_possible", told, self._question.draft))
        return True

    def _either(self, words: Words, heard: Heard) -> Words | None:
        """Take "the first", or words of only one of two orders, for what was meant."""
        said = " ".join(token.word for token in words.tokens if not token.stop)
        at = self._ordinal(said)
        if at is None:
            told = {stem for stem in stems(said) if stem not in EMPTY}
            fitting = [told <= set(stems(one)) for one in self._question.possible]
            if not told or fitting.count(True) != 1:
                return words
            at = fitting.index(True)
        for draft in self._question.facts["orders"][at]:
            heard.wish(words, draft.op, **draft.fields)
        self.settled = True
        return None

    def _by_number(self, item: Item, words: Words, said: str) -> Words | None:
        """Take "the first", "one of each", or a yes where there is only one."""
        possible = self._question.possible
        group = str(self._question.facts.get("group") or "")
        nameless = _nameless(self._question)
        index = self._ordinal(said) if group != "quantity" else None
        if index is None and self._heard_word == "yes" and len(possible) == 1:
            self._take(item, nameless, group, possible[0])
            self.settled = True
            return words
        if index is not None:
            self._take(item, nameless, group, possible[index])
            self.settled = True
            return None
        if not nameless and pattern("each").fullmatch(said) and item.quantity == len(possible):
            for one in possible:
                split = Split(1)
                if group == "size":
                    split.size = one
                else:
                    split.changes.append(one)
                item.splits.append(split)
            self.settled = True
            return None
        return words

    def _take(self, item: Item, nameless: bool, group: str, answer: str) -> None:
        if nameless:
            item.names, item.words = (answer,), answer
        elif group == "size":
            item.size = answer
        elif group == "parts":
            item.parts.append(Item(words=answer, names=(answer,)))
        else:
            item.changes.append(answer)

    def _ordinal(self, said: str) -> int | None:
        found = pattern("first of").fullmatch(said)
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

    def before(self, words: bool) -> None:
        """Take a yes or a no that stood alone for an answer."""
        if self.settled or words or not self.items:
            return
        possible = self._question.possible
        if self._heard_word in ("no", "nothing"):
            if self._question.code != "choice_not_possible" or self._question.facts.get("listed"):
                self.items = self.items[1:]
            self.settled = True
        elif self._heard_word == "yes":
            if self._question.code == "choice_not_possible" and not possible:
                self.settled = True
            elif len(possible) == 1:
                group = str(self._question.facts.get("group") or "")
                self._take(self.items[0], _nameless(self._question), group, possible[0])
                self.settled = True

    def taken_out(self, count: int) -> Question | None:
        """Let so many of what waits first wait no more; returns the question about the rest."""
        item, draft = self.items[0], self._question.draft
        self.items, self.settled = self.items[1:], True
        left = (item.quantity or 1) - count
        if draft is None or left < 1:
            return None
        fields = {**draft.fields, "quantity": left}
        return replace(self._question, draft=replace(draft, fields=fields), rest=())

    def close(self, heard: Heard, decided: Decided) -> bool:
        """Finish: whether the question was answered."""
        self.settled = self.settled or decided.settled
        draft, needs = self._question.draft, self._question.facts.get("needs")
        if draft is not None and draft.op == "set_fulfilment" and needs in ("fulfilment", "time"):
            # "Collection tomorrow", "seven": an hour alone belongs to the way and the day before it.
            hours = [one for one in heard.questions if one.facts.get("needs") == "fulfilment"]
            for one in hours if draft.fields.get("kind") else ():
                heard.questions.remove(one)
                heard.drafts.append((0, Draft(draft.op, one.draft.fields if one.draft else {})))
            for index, (at, given) in enumerate(heard.drafts):
                if given.op == draft.op:
                    fields = {**draft.fields, **given.fields}
                    day, when = self._question.facts.get("day"), fields.get("when")
                    if day and when and str(when)[:10] < str(day):
                        fields["when"] = f"{day}{str(when)[10:]}"
                    heard.drafts[index] = (at, Draft(draft.op, fields))
                    self.settled = True
        if draft is not None and needs in ("note_address", "email", "order_anyway"):
            if "right" in heard.intents:
                self._heard_word = "yes"
            goes_on = decided.drafts or heard.has("set_customer") or heard.has("choose_payment")
            if needs == "note_address" and goes_on and not self._heard_word:
                self._heard_word = "yes"  # going on with the order means it
            if self._heard_word == "yes" and not heard.has("set_fulfilment"):
                heard.drafts += [(0, one) for one in self._question.facts.get("orders", (draft,))]
            self.settled = bool(self._heard_word) or heard.has("set_fulfilment")
        if needs == "tip" and heard.has("set_tip"):
            self.settled = True
        if self._question.code == "not_valid" and heard.drafts:
            self.settled = True
        if not self.settled and self._heard_word in ("no", "nothing") and self.items:
            self.settled = True
        if (
            not self.settled
            and self._question.code in ("not_on_menu", "sold_out")
            and decided.items
        ):
            self.settled = True
        return self.settled


def _nameless(question: Question) -> bool:
    """Whether it is not known which dish is meant; a choice of a dish may be sold out, too."""
    draft = question.draft
    return question.code in _NAMELESS and not (draft is not None and draft.fields.get("name"))


def _placeless(said: Said) -> Said:
    """Forget the places of words: the answer is another line."""
    become = _placeless(said.become) if said.become is not None else None
    return replace(said, place=0, named=(0, 0), told=[], unknown=[], become=become)
