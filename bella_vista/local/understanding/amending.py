"""Takes in what a dish is to be like: its size, what is on it, how much of that, and where."""

from collections.abc import Sequence

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.basket import Basket, Target
from bella_vista.local.understanding.clause import Clause, Phrase
from bella_vista.local.understanding.items import Item, Split
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.pieces import STOP, Piece
from state.menu.words import stems


class Amending:
    """Gives sizes and changes to things.

    Args:
        clause: What is being read.
        basket: The things ordered so far.
        kitchen: What the menu makes of things.
    """

    def __init__(self, clause: Clause, basket: Basket, kitchen: Kitchen) -> None:
        self._clause = clause
        self._basket = basket
        self._kitchen = kitchen

    def split(self) -> None:
        """Treat so many pieces of the thing spoken of differently."""
        phrase = self._clause.phrase
        split = Split(
            phrase.count if phrase.count is not None else 1, phrase.size, [*phrase.before]
        )
        self._basket.split_off(split)
        self._clause.phrase = Phrase(portion=phrase.portion, amount=phrase.amount)
        self._clause.list_of("")

    def is_size(self, at: int) -> bool:
        """Whether a word that may be a size is one here."""
        piece = self._clause.pieces[at]
        if piece.also == lex.AMOUNT and self.names_change(at + 1):
            return False
        if not (piece.changes or piece.head):
            return True
        following = self._clause.head_at(at + 1)
        if following is not None:
            sized = any(self._kitchen.size(name, piece.words) for name in following.dishes)
            taken = any(self._kitchen.fits(name, piece.words) for name in following.dishes)
            return sized and not taken
        names = self._basket.target_names
        return any(self._kitchen.size(name, piece.words) for name in names) and not any(
            self._kitchen.fits(name, piece.words) for name in names
        )

    def names_change(self, at: int) -> bool:
        """Whether the piece here names something on, in or beside a dish."""
        if at >= len(self._clause.pieces):
            return False
        piece = self._clause.pieces[at]
        return piece.changes and not (piece.head and not self._basket.targets)

    def is_change(self, at: int) -> bool:
        """Whether something that is a dish by itself is meant to be on, in or beside another."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        following = self._clause.head_at(at + 1)
        if following is not None and following.dishes:
            return any(self._kitchen.answers(name, piece.words) for name in following.dishes)
        names = self._basket.target_names
        if not names or not all(self._kitchen.answers(name, piece.words) for name in names):
            return False
        if phrase.count is not None or phrase.article:
            number = phrase.count or 1
            apart = self._basket.splittable(number) or self.is_another(piece.words)
            return apart and not piece.own
        if phrase.taken or phrase.more or phrase.few:
            return False
        if self._clause.mode in ("no", "instead"):
            return not piece.own or any(self._kitchen.has(name, piece.words) for name in names)
        if phrase.amount or phrase.portion:
            return True
        if self._clause.mode == "with":
            return True
        if any(self._kitchen.fills(target, piece.words) for target in self._basket.whole_targets):
            return True
        # After a comma, or with nothing between, a choice is meant rather than another dish.
        return not self._clause.listed or not piece.own

    def size(self, at: int) -> None:
        """Take in a size: of the dish that follows, or of the one before."""
        piece = self._clause.pieces[at]
        phrase = self._clause.phrase
        waiting = phrase.strong or phrase.the or self._clause.head_follows(at + 1)
        if waiting or not self._basket.targets:
            phrase.size = piece.words
        elif self._is_another_size(at):
            phrase.size, phrase.article = piece.words, True
        else:
            either = at > 0 and self._clause.pieces[at - 1].does(lex.OR)
            item = self._basket.current
            told = f"{item.size} or {piece.words}" if either and item and item.size else piece.words
            self._basket.set_size(told)
            self._clause.sorry = False

    def _is_another_size(self, at: int) -> bool:
        """Whether a second size, after an "and", is that of another one: "a large latte and small"."""
        piece, item = self._clause.pieces[at], self._basket.current
        if at and self._clause.pieces[at - 1].does(lex.OR):
            return False
        if item is None or not self._clause.listed or self._clause.sorry or item.line is not None:
            return False
        now = self._kitchen.size(item.name, item.size) if item.size else None
        then = self._kitchen.size(item.name, piece.words)
        return now is not None and then is not None and now != then

    def is_another(self, *changes: str) -> bool:
        """Whether what was said since the last thing is of another of the same dish.

        "One chicken wrap, one lamb": the one there is cannot be had with both, or has its size already.
        """
        item, phrase = self._basket.current, self._clause.phrase
        if item is None or item.name is None or item not in self._basket.items:
            return False
        if not (phrase.count is not None or phrase.article or phrase.more):
            return False
        if self.has_other_size():
            return True
        return any(
            self._kitchen.excludes(item.name, had, told)
            for had in item.changes
            for told in (*phrase.before, *changes)
        )

    def has_other_size(self) -> bool:
        """Whether a size was said that is not the one the thing spoken of was ordered in."""
        item, phrase = self._basket.current, self._clause.phrase
        if item is None or item not in self._basket.items or not (phrase.size and item.size):
            return False
        size = self._kitchen.size(item.name, phrase.size)
        return size is not None and size != self._kitchen.size(item.name, item.size)

    def another(self) -> None:
        """Begin another of the dish spoken of, with nothing of what that has; what follows is about it."""
        item, phrase = self._basket.current, self._clause.phrase
        if item is None:
            return
        if phrase.size and phrase.count is None and (item.quantity or 0) > 1 and not item.splits:
            # "Two shakes, large and small": the first size was that of one of them.
            item.splits, item.size = [Split(1, size=item.size)], None
            self.split()
            return
        count = 1 if phrase.count is None else phrase.count
        self._basket.put(
            Item(
                words=item.words,
                names=item.names,
                quantity=count,
                size=phrase.size,
                changes=[*phrase.before],
                spoken=self._clause.place,
                counted=phrase.count is not None,
            )
        )
        self._clause.phrase = Phrase(portion=phrase.portion, amount=phrase.amount)
        self._clause.list_of("")

    def change(self, at: int) -> None:
        """Take in something that is on, in or beside a dish."""
        piece, phrase = self._clause.pieces[at], self._clause.phrase
        phrase.said.append(piece.words)
        following = self._clause.head_at(at + 1)
        fits_next = following is not None and (
            not following.dishes
            or any(self._kitchen.answers(name, piece.words) for name in following.dishes)
        )
        if following is not None and self._is_in_name(piece, following):
            return
        if fits_next and (self._clause.mode != "no" or phrase.strong):
            phrase.before.append(phrase.told(piece.words))
            return
        if (
            following is not None
            and not self._clause.mode
            and phrase.empty
            and not self._basket.targets
        ):
            phrase.run.append(piece)
            return
        if following is not None and not fits_next and phrase.strong:
            phrase.run.append(piece)
            return
        if (
            (phrase.count is not None or phrase.article)
            and self._basket.targets
            and (self._clause.mode != "no" or self.is_another(piece.words))
        ):
            if self._basket.splittable(phrase.count or 1):
                self.split()
            elif self.is_another(piece.words):
                self.another()
            elif self._clause.mode != "with" and not self._basket.answers(piece.words):
                phrase.run.append(piece)
                return
        if not self._basket.targets:
            told = phrase.told(piece.words)
            phrase.before.append(f"no {told}" if self._clause.mode == "no" else told)
            return
        self.attach(piece.words)

    def _is_in_name(self, piece: Piece, head: Piece) -> bool:
        """Whether words only say a part of the name that follows: the spaghetti of a carbonara."""
        said = set(stems(piece.words))
        return len(head.dishes) == 1 and said <= set(stems(head.dishes[0]))

    def attach(self, words: str) -> None:
        """Give a change to what is spoken of, as the list it stands in says."""
        phrase = self._clause.phrase
        amount, portion = phrase.amount, phrase.portion
        phrase.amount = ""
        phrase.article = False
        for target in self._basket.targets:
            names = self._basket.dishes_of(target)
            if self._clause.sorry and target.changes:
                last = target.changes[-1]
                if any(self._kitchen.excludes(name, last, words) for name in names):
                    target.changes.pop()  # "spaghetti, no wait, potatoes"
            told = " ".join(part for part in (portion, amount, words) if part)
            if self._clause.mode == "no":
                told = self._left_off(names, words, told)
                self._clause.negated = True
            elif self._clause.mode == "instead":
                if self._takes_back(target, words):
                    continue
                told = f"no {words}"
                if not any(self._kitchen.fits(name, told) for name in names):
                    continue  # one of several that has to be: "greens instead of rice"
                if any(self._kitchen.fits(name, words) for name in names) and target.changes:
                    # What it makes room for was said before it and has to come after it.
                    target.changes.insert(len(target.changes) - 1, told)
                    continue
                if not any(self._kitchen.has(name, words) for name in names):
                    continue
            target.changes.append(told)
            self._basket.recent.append((target, told))

    def _takes_back(self, target: Target, words: str) -> bool:
        """Take a choice off that was made before: "bbq instead of ranch"."""
        said = stems(words)
        made = next((one for one in target.changes if stems(one) == said), None)
        if made is None:
            return False
        if isinstance(target, Item) and target.changes.index(made) < target.yielding:
            target.yielding -= 1
        target.changes.remove(made)
        return True

    def _left_off(self, names: Sequence[str], words: str, told: str) -> str:
        """Say how far a "no" reaches: "no onions and olives" takes olives off only if they are on it."""
        inside = any(self._kitchen.has(name, words) for name in names)
        addable = any(self._kitchen.fits(name, words) for name in names)
        if self._clause.listed and not inside and addable:
            return told
        return f"no {words}"

    def amount(self, at: int) -> None:
        """Take in "extra" and its like: of what follows, or of a whole dish."""
        piece = self._clause.pieces[at]
        phrase = self._clause.phrase
        following = self._clause.after(at)
        ends = following is None or following.does(STOP, lex.THEM, lex.OF, lex.FILLER, lex.AND)
        if piece.words == "more" and phrase.count is not None and ends:
            phrase.more = True
            return
        if self._clause.head_at(at + 1, near=True) is not None and not self.names_change(at + 1):
            if piece.words in lex.ANOTHER:
                phrase.more = True
            else:
                phrase.before.append(piece.words)
            return
        if self._clause.mode == "no" and self._clause.negated:
            self._clause.mode = "with"
        phrase.amount = " ".join((phrase.amount, lex.amount(piece.words))).strip()

    def only(self, at: int) -> None:
        """Leave off all that is on a dish but what is named: "just ketchup", "ketchup only".

        What a dish has its name from stays on it.
        """
        if self._clause.pieces[at].words.split()[0] not in ("only", "just"):
            return
        kept = {stems(piece.words) for piece in self._listed(at)}
        for target in self._basket.targets:
            for name in self._basket.names_of(target)[:1]:
                inside = self._kitchen.contents(name)
                if not any(stems(one) in kept for one in inside):
                    continue
                called = "".join(stems(name))
                target.changes.extend(
                    f"no {one}"
                    for one in inside
                    if stems(one) not in kept and not any(word in called for word in stems(one))
                )

    def _listed(self, at: int) -> Sequence[Piece]:
        """Return what is named beside an "only": behind it, or else in front of it."""
        pieces = self._clause.pieces
        for side in (pieces[at + 1 :], tuple(reversed(pieces[:at]))):
            named: list[Piece] = []
            for piece in side:
                if piece.changes:
                    named.append(piece)
                elif not piece.does(lex.AND, lex.FILLER, lex.THE, lex.ARTICLE):
                    break
            if named:
                return named
        return ()

    def on_the_side(self) -> None:
        """Serve the last change on the side, where that is possible."""
        for target in self._basket.targets:
            if not target.changes or target.changes[-1].startswith("no "):
                continue
            names, last = self._basket.names_of(target), target.changes[-1]
            beside = f"{last} on the side"
            able = any(self._kitchen.fits(name, beside) for name in names)
            served_so = any(self._kitchen.required(name, last) for name in names)
            if able or not served_so:
                target.changes[-1] = beside

    def half(self, at: int) -> None:
        """Take in a half: of a pizza, for what follows or went before; or of several pieces."""
        piece = self._clause.pieces[at]
        following, item = self._clause.after(at), self._basket.current
        if piece.does(lex.HALF) and following is not None and following.does(lex.THEM):
            if item is not None and (item.quantity or 0) % 2 == 0 and (item.quantity or 0) > 1:
                self._clause.phrase.count = (item.quantity or 0) // 2
                return
        portion = "half" if piece.does(lex.HALF) else "other half"
        trailing = piece.words.startswith("on ") and not self._clause.phrase.portion
        changed = [t for t in self._basket.targets if t.changes and "half" not in t.changes[-1]]
        if trailing and changed and self._clause.mode != "no":
            for target in changed:
                target.changes[-1] = f"{portion} {target.changes[-1]}"
            return
        said = [
            change for t in self._basket.targets for change in t.changes
        ] + self._clause.phrase.before
        if portion == "half" and any(change.startswith("half ") for change in said):
            portion = "other half"
        self._clause.phrase.portion = portion
        if self._clause.mode == "no":
            self._clause.mode = "with"

    def lists_changes(self, piece: Piece) -> bool:
        """Whether another name of a dish only lists what is to be on this one: "with ham and mushrooms"."""
        if (
            self._clause.mode != "with"
            or piece.own
            or self._clause.phrase.strong
            or not self._basket.targets
        ):
            return False
        return all(self._kitchen.fits(name, piece.words) for name in self._basket.target_names)
