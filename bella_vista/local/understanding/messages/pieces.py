"""A run of words cut into pieces, each with what it does in an order: a name, a number, a joint."""

from collections.abc import Sequence
from dataclasses import dataclass

from bella_vista.local.english import lexicon as lex
from bella_vista.local.english import vocabulary
from bella_vista.local.english.talking import pattern
from bella_vista.local.understanding.menu.names import Meaning, Names
from bella_vista.local.understanding.words.tokens import Token, Words, number_at

NAME, NUMBER, WORD, STOP = "name", "number", "word", "stop"
_VERBS = (
    (lex.DROP, pattern("verb drop")),
    (lex.MAKE, pattern("verb make")),
    (lex.SWAP, pattern("verb swap")),
    (lex.TAKE, pattern("verb take")),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One or more words that do one thing.

    Args:
        tag: What it does: ``name``, ``number``, ``word`` (not known), ``stop``, or one of the lexicon's.
        words: The words, folded.
        first: Its first token.
        last: The token after its last.
        meaning: What it names on the menu.
        also: What it would do if it were no name.
        value: The number it is.
    """

    tag: str
    words: str
    first: int
    last: int
    meaning: Meaning | None = None
    also: str = ""
    value: int = 0

    @property
    def dishes(self) -> tuple[str, ...]:
        """The dishes it may name."""
        return tuple(self.meaning.dishes) if self.meaning else ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes it may name."""
        return tuple(self.meaning.sizes) if self.meaning else ()

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections it may name."""
        return tuple(self.meaning.sections) if self.meaning else ()

    @property
    def changes(self) -> bool:
        """Whether it may be a choice, a group of them, or something a dish contains."""
        return self.meaning is not None and (self.meaning.choice or bool(self.meaning.groups))

    @property
    def own(self) -> bool:
        """Whether a dish has it as its name, not only as another name."""
        return self.meaning is not None and self.meaning.own

    @property
    def head(self) -> bool:
        """Whether it may say which dish, or which kind of dish, is meant."""
        return bool(self.dishes or self.sections)

    def does(self, *tags: str) -> bool:
        """Whether it does one of these things."""
        return self.tag in tags


def cut(words: Words, names: Names) -> tuple[Piece, ...]:
    """Cut a run of words into pieces; the longest reading at each place wins, names before others."""
    verbs = _verbs(words)
    pieces: list[Piece] = []
    at = 0
    while at < len(words.tokens):
        piece = _piece(words, at, names, verbs)
        pieces.append(piece)
        at = piece.last
    return tuple(pieces)


def _verbs(words: Words) -> dict[int, tuple[str, int]]:
    """Find where verbs begin, and where each ends."""
    found: dict[int, tuple[str, int]] = {}
    taken: set[int] = set()
    for tag, verb in _VERBS:
        for place in words.find_all(verb):
            span = range(place.first, place.last)
            if span and taken.isdisjoint(span):
                found[place.first] = (tag, place.last)
                taken.update(span)
    return found


def _piece(words: Words, at: int, names: Names, verbs: dict[int, tuple[str, int]]) -> Piece:
    tokens = words.tokens
    token = tokens[at]
    if token.stop:
        return Piece(STOP, token.word, at, at + 1)
    named = names.longest(tokens, at)
    compound = _compound(words, at)
    if compound > (named[0] if named else 0):
        run = " ".join(one.word for one in tokens[at : at + compound])
        return Piece(WORD, run, at, at + compound)
    number = number_at(tokens, at)
    phrase = _phrase(words, at)
    verb = verbs.get(at)
    lengths = {
        NAME: named[0] if named else 0,
        NUMBER: number[1] if number else 0,
        "verb": verb[1] - at if verb else 0,
        "phrase": phrase[1] if phrase else 0,
    }
    if named is not None and phrase is not None and phrase[0] == lex.FILLER and _counts(named[1]):
        lengths["phrase"] = 0  # "a bowl of soup" says the size where a soup comes in bowls
    if lengths["phrase"] > 1 and _is_in_name(tokens, at, at + lengths["phrase"], names):
        lengths["phrase"] = 0  # "the kids meal", of a phrase "the kids"
    best = max(lengths, key=lambda kind: lengths[kind])
    if not lengths[best]:
        return Piece(WORD, token.word, at, at + 1)
    last = at + lengths[best]
    said = " ".join(one.word for one in tokens[at:last])
    if best == NAME and named is not None:
        also = phrase[0] if phrase is not None and phrase[1] == named[0] else ""
        if number is not None and number[1] == named[0]:
            also = NUMBER
        return Piece(NAME, said, at, last, named[1], also, number[0] if number else 0)
    if best == NUMBER and number is not None:
        also = phrase[0] if phrase is not None and phrase[1] == number[1] else ""
        return Piece(NUMBER, said, at, last, also=also, value=number[0])
    if best == "verb" and verb is not None:
        return Piece(verb[0], said, at, last)
    return Piece(phrase[0] if phrase else WORD, said, at, last)


def _is_in_name(tokens: Sequence[Token], first: int, end: int, names: Names) -> bool:
    """Whether the name of a dish begins within a run, behind its first word, and goes on behind its end."""
    inside = ((at, names.longest(tokens, at)) for at in range(first + 1, end))
    return any(one is not None and one[1].own and at + one[0] > end for at, one in inside)


def _compound(words: Words, at: int) -> int:
    """Return of how many words a well-known name with an "and" is that begins here."""
    for length in (4, 3, 2):
        run = words.tokens[at : at + length]
        if len(run) == length and " ".join(token.word for token in run) in vocabulary.COMPOUNDS:
            return length
    return 0


def _counts(meaning: Meaning) -> bool:
    return bool(meaning.sizes or meaning.dishes)


def _phrase(words: Words, at: int) -> tuple[str, int] | None:
    run: list[str] = []
    for token in words.tokens[at : at + lex.LONGEST_PHRASE]:
        if token.stop:
            break
        run.append(token.word)
    for length in range(len(run), 0, -1):
        tag = lex.PHRASES.get(" ".join(run[:length]))
        if tag is not None:
            return tag, length
    return None
