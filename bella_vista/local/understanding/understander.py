"""What a guest's line means on any menu: the whole of the understanding, from text to wishes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bella_vista.local.english import ask, asking, lexicon, patterns, statements, vocabulary
from bella_vista.local.understanding.changes import Changes
from bella_vista.local.understanding.clauses import clauses
from bella_vista.local.understanding.counted import counted
from bella_vista.local.understanding.heard import Heard
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import (
    NO_ORDER,
    Asked,
    Draft,
    LineSeen,
    OrderSeen,
    Question,
    Understanding,
)
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.parts import on_order
from bella_vista.local.understanding.pending import Pending
from bella_vista.local.understanding.pieces import NUMBER, STOP, Piece, cut
from bella_vista.local.understanding.questions import Questions
from bella_vista.local.understanding.settling import Settling
from bella_vista.local.understanding.statements import Statements
from bella_vista.local.understanding.talk import Talk, comment
from bella_vista.local.understanding.tokens import Words
from bella_vista.local.understanding.turned import turned
from state.menu import Menu

__all__ = [
    "NO_ORDER",
    "Asked",
    "Draft",
    "LineSeen",
    "OrderSeen",
    "Question",
    "Understander",
    "Understanding",
    "as_json",
]


def as_json(understanding: Understanding) -> dict[str, Any]:
    """Show an understanding as the command line does.

    >>> as_json(Understanding("Hi"))
    {'text': 'Hi', 'commands': [], 'answers': [], 'question': None}
    """
    question = understanding.question
    asked = [ask(one) for one in (question, *question.rest)] if question is not None else []
    return {
        "text": understanding.text,
        "commands": [draft.as_dict() for draft in understanding.commands],
        "answers": list(dict.fromkeys(one.kind for one in understanding.answers)),
        "question": " ".join(dict.fromkeys(asked)) or None,
    }


class Understander:
    """Understands guests of one house.

    Args:
        menu: What can be ordered; its names are indexed once.
    """

    def __init__(self, menu: Menu) -> None:
        self._house = _House.of(menu)

    def understand(
        self,
        text: str,
        *,
        pending: Question | None = None,
        order: OrderSeen = NO_ORDER,
        expects: str | None = None,
        now: datetime | None = None,
        topic: str | None = None,
    ) -> Understanding:
        """Understand one line.

        Args:
            text: What the guest said or typed, whatever it is.
            pending: What was asked back and not answered yet.
            order: The order as the guest knows it.
            expects: What was asked for: ``yes_no``, ``choice``, ``rating``, ``amount``, ``name``,
                ``contact``, ``fulfilment``, ``address``, ``time``, ``comment`` or ``open``.
            now: The present time, aware.
            topic: The dish that was asked about before: "I'll take two" means that.
        """
        now = now if now is not None else datetime.now(UTC)
        words = self._house.names.spelt(Words.read(text))
        if not words.tokens:
            return Understanding(text)
        if expects == "comment" and statements.RATES_ANEW.fullmatch(words.said):
            expects = "rating"
        if expects == "comment" and (said := comment(words)):
            return Understanding(text, (Draft("give_feedback", {"comment": said}),))
        hearing = _Hearing(self._house, order, expects, now, topic)
        hearing.hear(words, pending)
        return hearing.understanding(text, pending)

    def only_begins(self, text: str) -> bool:
        """Whether somebody only began to speak: "I would like", "um"."""
        words = self._house.names.spelt(Words.read(text))
        return all(piece.does(*_BEGINS) for piece in cut(words, self._house.names))


_BEGINS = (
    *(STOP, lexicon.TAKE, lexicon.FILLER, lexicon.AND, lexicon.BUT),
    *(lexicon.PRONOUN, lexicon.SHOULD, lexicon.ARTICLE, lexicon.TO, lexicon.SORRY),
)


@dataclass(frozen=True)
class _House:
    """What is known of one house, the same for every line."""

    names: Names
    kitchen: Kitchen
    settling: Settling
    statements: Statements
    questions: Questions

    @classmethod
    def of(cls, menu: Menu) -> "_House":
        names, kitchen = Names(menu), Kitchen(menu)
        return cls(
            names=names,
            kitchen=kitchen,
            settling=Settling(menu, kitchen),
            statements=Statements(menu, names),
            questions=Questions(menu, names, kitchen),
        )


class _Hearing:
    """One line while it is being understood."""

    def __init__(
        self,
        house: _House,
        order: OrderSeen,
        expects: str | None,
        now: datetime,
        topic: str | None,
    ) -> None:
        self._house = house
        self._order = order
        self._expects = expects
        self._now = now
        self._known = [on_order(line, house.kitchen) for line in order.items]
        self._orders = Orders(house.names, house.kitchen, self._known)
        self._orders.topic = topic
        self._changes = Changes(house.names, house.kitchen, self._known, self._orders)
        self._heard = Heard()
        self._answers: list[Asked] = []
        self._talk = Talk(house.names, self._heard)
        self._pending: Pending | None = None
        self._cleared = False

    # -- hearing -------------------------------------------------------------------------------------------

    def hear(self, words: Words, pending: Question | None) -> None:
        """Take in a whole line."""
        if pending is not None:
            self._pending = Pending(
                pending, self._house.names, self._house.kitchen, self._orders, self._changes
            )
            if pending.code == "missing" and pending.facts.get("needs") in ("time", "tip"):
                self._expects = {"time": "time", "tip": "amount"}[str(pending.facts["needs"])]
            elif pending.code == "not_valid" and pending.facts.get("field") == "rating":
                self._expects = "rating"
        words = self._house.statements.whole(words, self._heard)
        if self._expects == "rating":
            words = self._house.statements.rating(words, self._heard)
        for clause in clauses(words, self._house.names):
            self._clause(clause)

    def _clause(self, words: Words) -> None:
        words = self._talk.take(words)
        if self._talk.answer and self._pending is not None and not self._pending.settled:
            self._pending.hears(self._talk.answer)
        if "start_over" in self._heard.intents and not self._cleared:
            self._clear()
        if not _content(words):
            return
        asked = self._house.questions.find(words, [*self._known, *self._orders.items])
        wish = asked is not None and self._is_wish(asked, words)
        if wish:
            asked = None
        elif asked is not None and not (asked.kind == "payment" and self._expects == "choice"):
            if asked.kind == "service":
                asked = self._with_address(asked, words)
            elif asked.kind in _OF_A_DISH and asked.subject is None and asked.words is None:
                asked = replace(asked, subject=self._orders.topic)  # "and what is in it?"
            elif asked.kind == "total" and self._orders.topic is not None:
                if asking.HOW_MUCH_IS_THAT.fullmatch(words.said.rstrip(" ?")):
                    asked = Asked("price", subject=self._orders.topic)
            self._answers.append(asked)
            self._orders.topic = asked.subject
            return
        if asked is not None:
            self._answers.append(asked)
        if asked is None and not wish and _only_asks(words):
            return
        if self._pending is not None and not self._pending.settled:
            rest = self._pending.answer(words, self._heard)
            if rest is None:
                return
            words = rest
        words = self._house.statements.take(
            words, self._heard, order=self._order, expects=self._expects, now=self._now
        )
        pieces = counted(
            cut(words, self._house.names),
            self._house.names,
            self._house.kitchen,
            self._orders.spoken_of,
        )
        pieces = self._by_number(pieces)
        if not any(not piece.does(STOP) for piece in pieces):
            return
        self._changes.speak_at(words.tokens[0].start)
        if not self._changes.read(pieces):
            said = turned(_without_no(pieces), self._house.kitchen)
            self._orders.read(said, words)

    def _by_number(self, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Ask about a dish that was called by a number, with what was said of it: nobody knows it."""
        for at, piece in enumerate(pieces[:-1]):
            number = pieces[at + 1]
            if piece.words != "number" or not number.does(NUMBER):
                continue
            last = at + 2
            if last < len(pieces) and pieces[last].head:
                continue
            if last < len(pieces) and pieces[last].does(lexicon.WITH):
                end = (i for i, p in enumerate(pieces) if i > last and p.does(STOP, lexicon.AND))
                last = next(end, len(pieces))
            words = f"number {number.words}"
            self._heard.asked(Question("not_on_menu", {"words": words, "near": []}))
            return (*pieces[:at], *pieces[last:])
        return pieces

    def _is_wish(self, asked: Asked, words: Words) -> bool:
        """Whether a question is only polite: "can I pay cash instead?", "can I split it?"."""
        said = words.said
        if asked.kind == "service" and said.startswith(_BRINGS):
            return any(piece.dishes for piece in cut(words, self._house.names))
        if self._known and statements.CAN_IT_BE.match(said) is not None:
            return any(piece.changes or piece.sizes for piece in cut(words, self._house.names))
        wishes = (statements.PAYS_OTHERWISE, statements.USES_CODE)
        money = asked.kind in ("payment", "facts")
        return money and any(wish.search(said) is not None for wish in wishes)

    def _with_address(self, asked: Asked, words: Words) -> Asked:
        """Ask whether to note the address of "can you deliver to 12 High Street?"."""
        address = self._house.statements.address(words)
        if address is None:
            return asked
        asks = words.said.startswith(("can ", "could ", "would ", "will ")) and " " in address
        known = address == self._order.address
        if asks and not known and self._house.statements.delivers_to(address):
            draft = Draft("set_fulfilment", {"kind": "delivery", "address": address})
            self._heard.asked(Question("missing", {"needs": "note_address"}, draft))
        return replace(asked, words=address)

    def _clear(self) -> None:
        """Take everything off, because the guest wants to begin anew."""
        self._cleared = True
        self._orders.items.clear()
        for item in self._known:
            item.gone = item.quantity or 1
            self._changes.touch(item)

    # -- the result ----------------------------------------------------------------------------------------

    def understanding(self, text: str, pending: Question | None) -> Understanding:
        """Ask the menu about everything that was wanted, and put it in the order it was said."""
        drafts = list(self._heard.drafts)
        questions = list(self._heard.questions)
        settled = False
        if self._pending is not None:
            settled = self._pending.close(self._heard)
            drafts = list(self._heard.drafts)
            questions = list(self._heard.questions)
        changed: list[tuple[int, Draft]] = []
        for item in self._orders.items:
            made, asked = self._house.settling.settle(item)
            if asked and item.source is not None:
                asked = [self._undone(item, item.source, one) for one in asked]
            changed.extend((item.spoken, draft) for draft in made)
            questions.extend(asked)
        # Whoever calls everything off takes nothing off: "forget it, cancel everything".
        touched = [] if self._heard.has("cancel_order") else self._changes.touched
        for item in touched:
            change, asked = self._changed(item)
            drafts.extend((item.spoken, draft) for draft in change)
            questions.extend(asked)
        drafts.extend(changed)
        questions.extend(self._changes.questions)
        drafts.sort(key=lambda pair: pair[0])
        commands = [draft for _, draft in drafts]
        for question in questions:
            if question.code == "over_limit":
                reason = f"The guest wants {question.facts.get('asked')} of {question.facts.get('name')}."
                commands.append(Draft("call_person", {"reason": reason}))
        chained = _chained(questions)
        if chained is None and not (self._answers or self._heard.intents):
            chained = self._unclear(foods_only=bool(commands))
        return Understanding(
            text,
            tuple(commands),
            tuple(self._answers),
            tuple(self._heard.intents),
            chained,
            settled,
        )

    def _undone(self, item: Item, source: Item, question: Question) -> Question:
        """Leave a line as it is while some pieces of it cannot be made different yet."""
        pieces = item.quantity or 1
        source.quantity = (source.quantity or 0) + pieces
        line = {"source": source.line.id, "pieces": pieces} if source.line else {}
        return replace(question, facts={**question.facts, **line})

    def _unclear(self, *, foods_only: bool) -> Question | None:
        """Ask about words that may have been meant for a dish.

        Args:
            foods_only: Whether only something to eat is asked about, because the rest was understood.
        """
        for words in self._orders.unclear:
            near = self._house.names.near(words)
            food = any(vocabulary.is_food(word) for word in words.split())
            if (food or (near and not foods_only)) and len(words.split()) <= 4:
                return Question("not_on_menu", {"words": words, "near": list(near)})
        return None

    def _changed(self, item: Item) -> tuple[list[Draft], list[Question]]:
        line = item.line
        if line is None:
            return [], []
        total = line.quantity
        if item.gone:
            fields: dict[str, Any] = {"line_id": line.id}
            if item.gone < total:
                fields["quantity"] = item.gone
            return [Draft("remove_item", fields)], []
        drafts, questions = self._house.settling.settle(item)
        if questions:
            return [], questions
        fields = dict(drafts[0].fields) if drafts else {}
        changed: dict[str, Any] = {"line_id": line.id}
        if fields.get("name") != line.name:
            changed["name"] = fields.get("name")
        if item.size is not None and fields.get("size") != line.size:
            changed["size"] = fields.get("size")
        if fields.get("quantity") != line.quantity:
            changed["quantity"] = fields.get("quantity")
        kept = [m for m in line.modifications if self._house.kitchen.fits(item.name, m)]
        had = self._house.kitchen.canonical(item.name or "", item.size, kept)
        if tuple(fields.get("modifications", ())) != tuple(had):
            changed["modifications"] = list(fields.get("modifications", ()))
        parts = fields.get("parts")
        before = self._house.settling.settle(on_order(line, self._house.kitchen))[0]
        if parts and not (before and before[0].fields.get("parts") == parts):
            changed["parts"] = parts
        return ([Draft("change_item", changed)] if len(changed) > 1 else []), []


_OF_A_DISH = frozenset({"contents", "price"})
_BRINGS = (
    "can you deliver",
    "could you deliver",
    "can you bring",
    "could you bring",
    "can you send",
)


def _only_asks(words: Words) -> bool:
    """Whether a clause is a question, even if nobody knows which: nothing is ordered by it."""
    tokens = [token for token in words.tokens if not token.stop]
    while tokens and tokens[0].word in patterns.SOFT:
        tokens.pop(0)
    if not tokens or (len(tokens) > 1 and tokens[1].word == "about"):
        return False
    told = tokens[0].word == "when" and len(tokens) > 1 and tokens[1].word in ("i", "we", "you")
    wonders = asking.WOULD_KNOW.match(" ".join(token.word for token in tokens)) is not None
    return wonders or (tokens[0].word in patterns.ASKING and not told)


def _content(words: Words) -> bool:
    return any(not token.stop for token in words.tokens)


def _without_no(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Drop a "no" that answered something, in front of what is ordered."""
    if len(pieces) > 1 and pieces[0].words == "no" and pieces[1].does(STOP):
        return pieces[2:]
    return pieces


def _chained(questions: Sequence[Question]) -> Question | None:
    if not questions:
        return None
    unique = list({(q.code, str(q.facts), str(q.draft)): q for q in questions}.values())
    return replace(unique[0], rest=tuple(unique[1:]))
