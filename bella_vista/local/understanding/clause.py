"""How far the reading of one clause has come, and what lies ahead in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bella_vista.local.english import lexicon as lex
from bella_vista.local.understanding.pieces import NAME, NUMBER, Piece


@dataclass
class Phrase:
    """What was said since the last thing was complete, and belongs to the next or the last one.

    Args:
        count: A number, where one was said.
        few: "A few".
        article: "A" or "some".
        the: "The" or "my".
        taken: A verb of ordering.
        more: "Another".
        same: "The same".
        pronoun: "One".
        size: A size in front.
        amount: "Extra", or a number of something that is counted.
        portion: Which half is spoken of.
        before: What the dish is to have on it, said in front of its name.
        said: All words that may belong to a name, in order.
        run: Words not known.
    """

    count: int | None = None
    few: bool = False
    article: bool = False
    the: bool = False
    taken: bool = False
    more: bool = False
    same: bool = False
    pronoun: bool = False
    size: str | None = None
    amount: str = ""
    portion: str = ""
    before: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    run: list[Piece] = field(default_factory=list)

    @property
    def strong(self) -> bool:
        """Whether it was said like something that is ordered."""
        return self.article or self.count is not None or self.few or self.taken or self.more

    @property
    def empty(self) -> bool:
        """Whether nothing has been said that waits for a dish."""
        waiting = (self.size, self.before, self.run, self.pronoun, self.portion, self.same)
        return not (self.strong or any(waiting))

    def told(self, words: str) -> str:
        """Put together what was said about one change, and use up its amount."""
        parts = [self.portion, self.amount, words]
        self.amount = ""
        return " ".join(part for part in parts if part)


@dataclass
class Clause:
    """The pieces of a clause and where its reader stands.

    Args:
        pieces: What was said.
        starts: Where in the line each piece begins.
        place: Where in the line the reader is.
        phrase: What waits for a dish.
        mode: ``with``, ``no`` or ``instead`` inside a list of changes; else empty.
        listed: Whether a comma or an "and" has gone by in that list.
        negated: Whether something was left off in that list already.
        sorry: Whether what follows takes back what was said.
        last_head: Which piece named the last dish, and whether an article or a number stood before it.
    """

    pieces: Sequence[Piece] = ()
    starts: Sequence[int] = ()
    place: int = 0
    phrase: Phrase = field(default_factory=Phrase)
    mode: str = ""
    listed: bool = False
    negated: bool = False
    sorry: bool = False
    last_head: tuple[int, bool] | None = None

    def begin(self, pieces: Sequence[Piece], starts: Sequence[int]) -> None:
        """Start on another clause."""
        self.pieces, self.starts = pieces, starts
        self.phrase, self.last_head = Phrase(), None
        self.mode, self.listed, self.sorry = "", False, False

    def list_of(self, mode: str) -> None:
        """Begin a list of changes, or end one."""
        self.mode, self.listed = mode, False

    def after(self, at: int) -> Piece | None:
        """Return the piece behind another, if there is one."""
        return self.pieces[at + 1] if at + 1 < len(self.pieces) else None

    def head_at(self, at: int, *, near: bool = False) -> Piece | None:
        """Return the dish that the pieces from here lead to without a break.

        Args:
            at: Where to begin.
            near: Whether nothing but empty words may stand before it.
        """
        for piece in self.pieces[at:]:
            if piece.head and not (piece.sizes and not piece.dishes):
                return piece
            passed = bool(piece.sizes) or piece.changes
            if piece.does(lex.FILLER, lex.OF) or (passed and not near):
                continue
            if not near and piece.does(lex.AMOUNT, lex.HALF, lex.OTHER_HALF, lex.PLAIN):
                continue
            return None
        return None

    def head_follows(self, at: int, *, near: bool = False) -> bool:
        """Whether the pieces from here lead to a dish without a break."""
        return self.head_at(at, near=near) is not None

    def next_head(self, at: int) -> Piece | None:
        """Return the next dish named, past numbers and articles."""
        for piece in self.pieces[at:]:
            if piece.head:
                return piece
            if not piece.does(lex.ARTICLE, NUMBER, lex.FILLER, NAME, lex.THE):
                return None
        return None
