"""Reads what is ordered out of a guest's words: which dishes, how many, in which size and way."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding import pieces
from bella_vista.local.understanding.amending import Amending
from bella_vista.local.understanding.basket import Basket
from bella_vista.local.understanding.clause import Clause, Phrase
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.naming import Naming
from bella_vista.local.understanding.pieces import Piece
from bella_vista.local.understanding.telling import Telling
from bella_vista.local.understanding.tokens import Words


class Orders:
    """Collects the things ordered in one message.

    Args:
        names: The menu's names.
        kitchen: What the menu makes of things.
        known: What is on the order already, oldest first.
    """

    def __init__(self, names: Names, kitchen: Kitchen, known: Sequence[Item] = ()) -> None:
        self._names = names
        self._kitchen = kitchen
        self._clause = Clause()
        self._basket = Basket(kitchen, known)
        self._telling = Telling(self._clause, self._basket, kitchen)
        self._amending = Amending(self._clause, self._basket, kitchen)
        self._naming = Naming(self._clause, self._basket, names, kitchen, self._amending)
        self.topic: str | None = None

    @property
    def items(self) -> list[Item]:
        """The things ordered so far."""
        return self._basket.items

    @property
    def spoken_of(self) -> tuple[str, ...]:
        """The dishes that are spoken of, or the one that was ordered last."""
        newest = self._basket.newest
        return self._basket.target_names or (newest.names if newest else ())

    @property
    def unclear(self) -> Sequence[str]:
        """Words that may have named something and were not understood."""
        return self._naming.unclear

    # -- reading ---------------------------------------------------------------------------------------

    def attach(self, item: Item) -> None:
        """Let what follows be about a thing that has been spoken of."""
        self._basket.targets = [item]

    def read(self, said: Sequence[Piece], words: Words | None = None) -> None:
        """Read one clause; what was ordered before in the same message may still be spoken of."""
        starts = [words.tokens[piece.first].start for piece in said] if words else ()
        self._clause.begin(said, starts)
        at = 0
        while at < len(said):
            at += self._step(at)
        self._finish()

    def _step(self, at: int) -> int:
        """Take in one piece, or some; returns how many."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        if self._clause.starts:
            self._clause.place = self._clause.starts[at]
        if piece.does(lex.SORRY, lex.TAKE, lex.NEG) and self._telling.corrects(at):
            self._finish(keep_count=False)
            self._clause.sorry = True
            return 1
        if piece.does(*_CLOSING):
            self._naming.flush()
        if self._telling.leaves_off(at):
            self._naming.flush()
            self._clause.list_of("no")
            return 1
        match piece.tag:
            case pieces.NAME:
                self._name(at)
            case pieces.NUMBER:
                return self._number(at)
            case pieces.WORD:
                self._word(at)
            case pieces.STOP | lex.AND | lex.PLUS:
                self._separate(at)
            case lex.OR:
                self._or(at)
            case lex.TAKE:
                self._finish()
                phrase.taken = self._clause.phrase.taken = True
                self._clause.list_of("")
            case lex.NEG | lex.DROP:
                self._settle_pronoun(at)
                self._clause.list_of("no")
                self._clause.negated = False
            case lex.WITH | lex.BUT:
                self._settle_pronoun(at)
                self._clause.list_of("with")
                self._clause.phrase.amount = ""
            case lex.INSTEAD:
                self._clause.list_of("instead")
            case lex.AMOUNT:
                self._amending.amount(at)
            case lex.SIDE:
                self._amending.on_the_side()
            case lex.ONLY:
                self._amending.only(at)
            case lex.HALF | lex.OTHER_HALF:
                self._amending.half(at)
            case lex.FOR:
                return self._for(at)
            case _:
                self._which(at)
        return 1

    def _which(self, at: int) -> None:
        """Take in words that say which of several, how many more, or that a name begins."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        match piece.tag:
            case lex.PLAIN:
                self._plain(at)
            case lex.REST | lex.OTHER:
                self._rest(piece)
            case lex.THEM if phrase.count is not None and self._basket.current is not None:
                self._amending.split()
            case lex.THEM if phrase.count is not None and self.topic is not None:
                self._naming.begin(self.topic, (self.topic,), [])  # "two of those"
            case lex.ALL:
                self._all(at)
            case lex.ORDINAL:
                self._ordinal(at)
            case lex.PRONOUN:
                self._pronoun()
            case lex.MORE if not (at and self._clause.pieces[at - 1].does(lex.SAME)):
                self._restart()
                self._clause.phrase.more = True
            case lex.SAME:
                self._same(at)
            case lex.ARTICLE if not (piece.words in ("some", "any") and self._clause.mode):
                # "Some" and "any" begin nothing new inside a list of what is on a dish.
                self._restart()
                self._clause.phrase.article = True
            case lex.THE if self._clause.mode != "no" and not phrase.run:
                phrase.the = True
            case lex.FEW:
                self._restart()
                self._clause.phrase.few = True
            case _:
                pass  # empty words

    def _number(self, at: int) -> int:
        """Take in a number; returns how many pieces it took."""
        piece = self._clause.pieces[at]
        if piece.also == lex.PRONOUN and self._telling.is_pronoun(at):
            self._pronoun()
            return 1
        if self._telling.counts_choice(at):
            self._clause.phrase.amount = str(piece.value)
            return 1
        following = self._clause.after(at)
        before = at > 0 and self._clause.pieces[at - 1].words in _TIMES
        closed = self._clause.phrase.empty and not self._clause.head_follows(at + 1)
        if before and closed and self._basket.items:
            self._newest.quantity = piece.value  # "Margherita x2"
            return 1
        self._restart()
        self._clause.phrase.count = piece.value
        return 2 if following is not None and following.words in _TIMES else 1

    def _restart(self) -> None:
        """Begin something new; what came before it without a dish belongs to the last thing."""
        kept = self._clause.phrase
        self._naming.flush()
        if kept.before or kept.size:
            self._naming.give_back()
        # "Half a pastrami" says its size before the article.
        size = kept.size if not self._basket.targets else None
        self._clause.phrase = Phrase(
            taken=kept.taken, more=kept.more, size=size, portion=kept.portion
        )

    def _name(self, at: int) -> None:
        """Take in something the menu names, as what it is here."""
        piece = self._clause.pieces[at]
        if piece.sizes and self._amending.is_size(at):
            if (
                at
                and self._clause.pieces[at - 1].does(lex.AND)
                and self._clause.head_follows(at + 1)
            ):
                self._clause.mode = ""  # "without egg and five prawn gyoza": another dish begins
            self._amending.size(at)
        elif piece.also == lex.AMOUNT and self._amending.names_change(at + 1):
            self._naming.flush()
            self._amending.amount(at)
        elif piece.changes and (not piece.head or self._amending.is_change(at)):
            self._amending.change(at)
        elif piece.head and self._amending.lists_changes(piece):
            self._amending.attach(piece.words)
        elif piece.head:
            self._naming.head(at)
        elif piece.sizes:
            self._amending.size(at)

    def _plain(self, at: int) -> None:
        """Let so many be as they are; "a plain omelette" is an omelette."""
        counted = self._clause.phrase.count is not None
        if counted and self._basket.targets and not self._clause.head_follows(at + 1):
            self._amending.split()

    def _rest(self, piece: Piece) -> None:
        """Let what follows be about those of several that are left."""
        item = self._basket.current
        if item is None or (item.quantity or 0) < 2:
            return
        self._naming.flush()
        self._basket.split_off(Split(1 if piece.does(lex.OTHER) else None))
        self._clause.phrase = Phrase()
        self._clause.list_of("")

    def _ordinal(self, at: int) -> None:
        """Let what follows be about one of several: "the first with ham"."""
        several = self._basket.current is not None and self._basket.splittable(1)
        if several and not self._clause.head_follows(at + 1):
            self._amending.split()

    def _all(self, at: int) -> None:
        """Let what follows hold for everything said so far; or what was just said: "on all of them"."""
        items = self._basket.items
        if not items:
            return
        self._finish()
        if at and self._clause.pieces[at - 1].does(lex.ON, lex.FOR) and self._basket.recent:
            self._basket.share_recent()
            return
        both_of_last = bool(items[-1].splits) and items[-1].quantity == 2
        self._basket.targets = [items[-1]] if both_of_last else [*items]
        self._clause.list_of("")

    def _pronoun(self) -> None:
        """Let "one" stand for a thing of which something was said already."""
        phrase = self._clause.phrase
        if phrase.size or phrase.before or phrase.count is not None or phrase.article:
            phrase.pronoun = True

    def _settle_pronoun(self, at: int) -> None:
        """Give what was said of "one" to the thing it stands for, or to another of the same."""
        phrase = self._clause.phrase
        counts = at > 0 and self._clause.pieces[at - 1].does(pieces.NUMBER)
        if (
            phrase.count is not None
            and self._basket.targets
            and self._basket.splittable(phrase.count)
            and not self._amending.has_other_size()
        ):
            self._amending.split()
        elif self._clause.listed and (counts or self._amending.is_another()):
            self._amending.another()
        elif phrase.pronoun or (phrase.size and self._basket.targets and not phrase.count):
            self._naming.give_back()
        elif phrase.more and self._basket.newest is not None:
            self._naming.again()
        elif phrase.before and phrase.strong and not self._basket.targets:
            self._naming.give_back()  # "a whole chicken with ...": it was a dish after all

    def _same(self, at: int) -> None:
        """Order the last thing again; what follows is how it differs, and so may tell which it is."""
        self._finish()
        said = [piece.words for piece in self._clause.pieces[at + 1 :] if piece.changes]
        things = [*self._basket.known, *self._basket.items]
        able = [
            item
            for item in things
            if all(self._kitchen.answers(item.name, words) for words in said)
        ]
        named = self._basket.items[-1] if self._basket.items else None
        if named is not None and named.changes and named in self._basket.targets:
            return  # "a second stew, mild, the same without scallions"
        if named is not None and not (named.changes or named.unknown) and named in things:
            # "Another wrap, the same": it was named before it was said how.
            like = [item for item in able if item is not named and item.names == named.names]
            if like:
                self._basket.items.remove(named)
                self._clause.phrase.count = named.quantity if named.counted else None
                able = like
        self._naming.again((able or things)[-1:])

    def _separate(self, at: int) -> None:
        """A comma, an "and": what was open is closed, but a list goes on."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        following = self._clause.after(at)
        if piece.words in ("(", ")"):
            return
        bare_number = phrase.count is not None and not (phrase.run or phrase.before or phrase.size)
        if (
            piece.does(pieces.STOP)
            and bare_number
            and following is not None
            and _takes_back(following)
        ):
            return
        self._finish()
        self._clause.listed = True
        if not piece.does(lex.AND):
            self._basket.recent = []
        if piece.does(lex.PLUS):
            self._clause.mode = "with" if following is not None and following.changes else ""

    def _or(self, at: int) -> None:
        if self._clause.mode == "no":
            self._naming.flush()
            self._clause.listed = True
            return
        self._finish()
        following = self._clause.head_at(at + 1) or self._clause.next_head(at + 1)
        if (
            following is not None
            and self._basket.items
            and not self._basket.answers(following.words)
        ):
            self._naming.alternative = self._basket.items[-1]
        self._clause.listed = True

    def _for(self, at: int) -> int:
        """Pass over whom it is for, and what for: "for my wife", "for 2 euros"."""
        self._naming.flush()
        length = 1
        skipped = False
        for piece in self._clause.pieces[at + 1 : at + 5]:
            if piece.head or piece.does(
                pieces.STOP, lex.AND, lex.ARTICLE, lex.TAKE, lex.WITH, lex.NEG, lex.BUT
            ):
                break
            if piece.does(pieces.NUMBER) and self._clause.head_follows(
                self._clause.pieces.index(piece) + 1, near=True
            ):
                break
            length += 1
            if piece.does(pieces.WORD):
                if skipped and self._names.resolve(piece.words).names:
                    length -= 1
                    break
                skipped = True
        return length

    def _word(self, at: int) -> None:
        """Keep a word that is not known until it is clear what stood around it."""
        self._clause.phrase.run.append(self._clause.pieces[at])
        self._clause.phrase.said.append(self._clause.pieces[at].words)

    def _finish(self, *, keep_count: bool = True) -> None:
        """Close what is open: sizes and changes without a dish belong to what was named last."""
        self._naming.flush()
        phrase = self._clause.phrase
        if phrase.amount and not phrase.amount.isdigit() and phrase.empty:
            for item in self._basket.whole_targets:
                item.unknown.append(phrase.amount)  # "a coke light" is none of ours
        if phrase.empty:
            self._clause.phrase = Phrase()
            return
        if phrase.more and not phrase.run and self._basket.newest is not None:
            self._naming.again()
            self._clause.phrase, self._clause.mode = Phrase(), ""
            return
        meant = phrase.taken or phrase.count is not None
        if self.topic and meant and not self._basket.targets and not phrase.before:
            self._naming.begin(self.topic, (self.topic,), [])
            return
        if phrase.count is not None and not (phrase.size or phrase.before):
            if self._clause.sorry and self._basket.items:
                self._newest.quantity = phrase.count
                self._clause.sorry = False
            elif keep_count and self._basket.items and not self._newest.counted:
                self._newest.quantity, self._newest.counted = phrase.count, True  # "fries, three"
        elif (
            phrase.count is not None
            and self._basket.targets
            and self._basket.splittable(phrase.count)
            and not self._amending.has_other_size()
        ):
            self._amending.split()
        elif self._amending.is_another():
            self._amending.another()
        elif phrase.size or phrase.before:
            self._naming.give_back()
        self._clause.phrase = Phrase(taken=False)

    @property
    def _newest(self) -> Item:
        return self._basket.current or self._basket.items[-1]


def _takes_back(piece: Piece) -> bool:
    return piece.does(lex.SORRY, pieces.NUMBER) or (piece.does(lex.NEG) and piece.words == "no")


_TIMES = ("x", "times")
_CLOSING = (
    lex.NEG,
    lex.DROP,
    lex.WITH,
    lex.BUT,
    lex.INSTEAD,
    lex.AMOUNT,
    lex.SIDE,
    lex.HALF,
    lex.OTHER_HALF,
)
"""Before these, a word that is not known has to be made something of."""
