"""Reads changes to what is on the order, or was just ordered: which line is meant, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import replace

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.bare import Bare
from bella_vista.local.understanding.correcting import Correcting
from bella_vista.local.understanding.dropping import Dropping
from bella_vista.local.understanding.items import Item
from bella_vista.local.understanding.kitchen import Kitchen
from bella_vista.local.understanding.meaning import Question
from bella_vista.local.understanding.names import Names
from bella_vista.local.understanding.orders import Orders
from bella_vista.local.understanding.parts import Parts
from bella_vista.local.understanding.pieces import STOP, Piece
from bella_vista.local.understanding.references import Meant, References
from bella_vista.local.understanding.reshaping import Reshaping
from bella_vista.local.understanding.runs import TIED, first, said, then_another, trimmed


class Changes:
    """Carries out what a guest wants changed, on things and not yet on the order.

    Args:
        names: The menu's names.
        kitchen: What the menu makes of things.
        known: The order's lines as things.
        orders: What was ordered in the same message.
    """

    def __init__(
        self, names: Names, kitchen: Kitchen, known: Sequence[Item], orders: Orders
    ) -> None:
        self._names = names
        self._kitchen = kitchen
        self._known = list(known)
        self._orders = orders
        self._references = References(names, kitchen, known, orders.items)
        self._reshaping = Reshaping(names, kitchen, orders, self._references)
        self._correcting = Correcting(kitchen, self._references, self._reshaping)
        self._dropping = Dropping(self._references, self._reshaping)
        self._bare = Bare(kitchen, orders, self._references, self._reshaping)
        self._parts = Parts(kitchen, self._references, self._reshaping, self._among)

    @property
    def questions(self) -> list[Question]:
        """What has to be asked before something can be changed."""
        return self._reshaping.questions

    @property
    def touched(self) -> list[Item]:
        """The lines that are not as they were, in the order they were spoken of."""
        return self._reshaping.touched

    def speak_at(self, place: int) -> None:
        """Say where in the line the clause begins that is read next."""
        self._reshaping.place = place

    # -- deciding what kind of change it is ---------------------------------------------------------

    def read(self, pieces: Sequence[Piece]) -> bool:
        """Carry out a clause if it changes something; otherwise it is for somebody else."""
        pieces = trimmed(pieces)
        if not pieces:
            return False
        joint = then_another(pieces)
        if joint is not None and self._carry_out(pieces[:joint]):
            return self.read(pieces[joint + 1 :]) or True
        return self._carry_out(pieces)

    def _carry_out(self, pieces: Sequence[Piece]) -> bool:
        return (
            self._parts.read(pieces)
            or self._instead_of(pieces)
            or self._swap(pieces)
            or self._dropping.read(pieces)
            or self._correcting.should_be(pieces)
            or self._make(pieces)
            or self._correcting.read(pieces)
            or self._make_that(pieces)
            or self._put_on(pieces)
            or self._bare.read(pieces)
            or self._parts.read_last(pieces)
        )

    def _among(self, things: Sequence[Item]) -> tuple["Changes", Orders]:
        """Return what carries out changes among some things only."""
        orders = Orders(self._names, self._kitchen, things)
        return Changes(self._names, self._kitchen, things, orders), orders

    # -- answers to which line is meant -------------------------------------------------------------

    def pointed_at(
        self, pieces: Sequence[Piece], ids: Sequence[str], index: int | None
    ) -> list[Item]:
        """Return which of some lines an answer means."""
        lines = [item for item in self._known if item.line is not None and item.line.id in ids]
        if index is not None:
            return lines[index : index + 1]
        if any(piece.does(lex.ALL) for piece in pieces):
            return lines
        meant = self._references.meant(pieces)
        found = [item for item in meant.items if item in lines]
        if len(found) == 1:
            return found
        told = [item for item in lines if any(self._describes(piece, item) for piece in pieces)]
        return told if len(told) == 1 else []

    def _describes(self, piece: Piece, item: Item) -> bool:
        if piece.sizes and item.size:
            return self._kitchen.size(item.name, piece.words) == item.size
        return piece.changes and any(piece.words in change for change in item.changes)

    def take_off(self, items: Sequence[Item], count: int | None) -> None:
        """Take some lines, or so many pieces of each, off the order."""
        for item in items:
            self._reshaping.take_off(item, count)

    def become(self, items: Sequence[Item], count: int | None, new: Sequence[Piece]) -> None:
        """Make some lines, or so many pieces of each, what was wanted."""
        self._reshaping.become(Meant(list(items), count, pointed=True), new)

    def line(self, line_id: str) -> Item | None:
        """Return a line of the order."""
        known = (item for item in self._known if item.line is not None)
        return next((item for item in known if item.line and item.line.id == line_id), None)

    def touch(self, item: Item) -> None:
        """Note that a line is not as it was."""
        self._reshaping.touch(item)

    # -- one thing instead of another ---------------------------------------------------------------

    def _instead_of(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "a Caprese instead of the Margherita" and "a lemonade instead"."""
        place = first(pieces, lex.INSTEAD)
        if place is not None and pieces[place].words != "not":
            old, new = pieces[place + 1 :], pieces[:place]
            if not place:
                end = next((i for i, p in enumerate(old) if p.does(lex.TAKE, STOP)), len(old))
                old, new = old[:end], [p for p in old[end:] if not p.does(lex.TAKE, STOP)]
            meant = self._references.meant(old)
            head = next((piece for piece in new if piece.dishes), None)
            if not meant.items or (
                head is not None and self._reshaping.fits_any(head, meant.items)
            ):
                return False
            return (head is not None or self._reshaping.names_dish(new)) and self._reshaping.become(
                meant, new
            )
        only = next((at for at, piece in enumerate(pieces) if piece.words == "instead"), None)
        verbs = any(piece.does(lex.DROP, lex.SWAP) for piece in pieces) or self._makes_this(pieces)
        head = next((piece for piece in pieces if piece.dishes), None)
        if only is None or head is None or verbs or any(item.gone for item in self._known):
            return False
        new = [piece for piece in pieces if piece.words != "instead" and not piece.does(lex.TAKE)]
        meant = self._replaced_by(head)
        if meant.several:
            return self._reshaping.ask_which(meant, new)
        return bool(meant.items) and self._reshaping.become(meant, new)

    def _makes_this(self, pieces: Sequence[Piece]) -> bool:
        """Whether it is said which thing is to be another: "make the plain one a Funghi instead"."""
        verb = first(pieces, lex.MAKE)
        return verb is not None and bool(self._references.divided(pieces[verb + 1 :])[0])

    def _replaced_by(self, head: Piece) -> Meant:
        """Find what a dish is to replace when that was not said: its like, or the only thing there is."""
        things = self._references.things
        sections = {self._names.section_of(name) for name in head.dishes}
        alike = [item for item in things if self._names.section_of(item.name or "") in sections]
        found = alike or things
        return Meant(list(found), several=len(found) > 1, pointed=True)

    def _swap(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "change the cola to a lemonade" and "swap the ham for mushrooms"."""
        verb = first(pieces, lex.SWAP)
        if verb is None:
            return False
        rest = pieces[verb + 1 :]
        joint = next(
            (
                at
                for at, piece in enumerate(rest)
                if at and piece.does(lex.TO, lex.FOR, lex.WITH, lex.ON)
            ),
            None,
        )
        if joint is None and rest and rest[0].does(lex.TO):
            return self._reshaping.reshape(self._references.last_thing(), rest[1:])
        old, new = (rest[:joint], rest[joint + 1 :]) if joint is not None else (rest, ())
        meant = self._references.meant(old)
        if meant.items and not meant.several and meant.pointed:
            return self._reshaping.become(meant, new) if new else False
        if meant.several and meant.pointed:
            return self._reshaping.ask_which(meant, new)
        return self._swap_content(old, new)

    def _swap_content(self, old: Sequence[Piece], new: Sequence[Piece]) -> bool:
        """Swap something on a dish for something else, or choose anew in a group."""
        words, wanted = said(old), said(new)
        if not words:
            return False
        if "size" in words.split():
            return self._reshaping.reshape(self._references.last_thing(), new)
        place = next((at for at, p in enumerate(new) if at and p.does(lex.ON, lex.FOR)), None)
        things: Sequence[Item] = self._references.things
        if place is not None and self._references.reference_at(new[place + 1 :]):
            things = self._references.meant(new[place + 1 :]).items
            new, wanted = new[:place], said(new[:place])
        chosen = [
            item for item in things if wanted and self._chooses_anew(item, old, words, wanted)
        ]
        owners = [item for item in things if self._reshaping.carries(item, words)]
        if not (chosen or owners):
            return False
        item = (chosen or owners)[-1]
        if not chosen:
            item.changes.append(f"no {words}")
        self._reshaping.touch(item)
        return self._reshaping.reshape(Meant([item], pointed=True), new) if new else True

    def _chooses_anew(self, item: Item, old: Sequence[Piece], words: str, wanted: str) -> bool:
        """Whether one choice of a thing takes the place of another: rice by noodles."""
        if not self._kitchen.answers(item.name, wanted):
            return False
        of_group = any(piece.meaning and piece.meaning.groups for piece in old)
        return of_group or any(
            words in change.split() and self._kitchen.excludes(item.name, change, wanted)
            for change in item.changes
        )

    # -- making things different --------------------------------------------------------------------

    def _make(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "make the pizza large", "make it a Funghi" and "make that three"."""
        verb = first(pieces, lex.MAKE)
        if verb is None:
            if pieces[0].does(lex.TAKE) and len(pieces) > 1 and pieces[1].does(lex.PRONOUN):
                verb = 0
            else:
                return False
        rest = pieces[verb + 1 :]
        if not self._references.things or not rest:
            return False
        reference, new = self._references.divided(rest)
        if not any(p.head for p in reference) and self._correcting.number(new, sure=True):
            return True
        meant = self._references.meant(reference)
        if not meant.pointed and not reference:
            meant = self._references.last_thing()
        if not meant.items:
            return False
        if meant.several:
            return self._reshaping.ask_which(meant, new)
        return self._reshaping.become(meant, new)

    def _make_that(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "make that a decaf", said of what is on the order."""
        if not pieces[0].words.endswith("make that") or self._orders.items or not self._known:
            return False
        meant = self._references.last_thing()
        return bool(meant.items) and self._reshaping.become(meant, pieces[1:])

    def _put_on(self, pieces: Sequence[Piece]) -> bool:
        """Carry out "no onions on the second pizza" and "add mushrooms to the Margherita"."""
        place = next(
            (
                at
                for at, piece in enumerate(pieces)
                if at
                and (piece.does(*TIED) or piece.words == "with the")
                and self._references.reference_at(pieces[at + 1 :])
            ),
            None,
        )
        if place is None:
            return False
        before = [piece for piece in pieces[:place] if not piece.does(lex.TAKE)]
        after = pieces[place + 1 :]
        reference, more = self._references.divided(after)
        meant = self._references.meant(reference)
        new = [*before, *more]
        changes = self._reshaping.told(before, meant.items)
        fitting = [
            item
            for item in meant.items
            if changes and all(self._kitchen.answers(item.name, change) for change in changes)
        ]
        if not fitting:
            return False
        if len(fitting) > 1 and meant.several:
            return self._reshaping.ask_which(replace(meant, items=fitting), new)
        return self._reshaping.reshape(replace(meant, items=fitting, several=False), new)
