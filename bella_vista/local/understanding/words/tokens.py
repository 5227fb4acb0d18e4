"""A guest's line as words: cleaned, folded, with numbers read and a way back to what was typed."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

from bella_vista.local.english import numbers, spelling, vocabulary
from bella_vista.local.english.required_words import may_match, with_digit
from state.menu.words import FRACTIONS, fold, stem

LONGEST = 5_000
"""Characters of a line that are read; what comes after them is not looked at."""

_WORDS = re.compile(
    r"(?P<minus>(?<!\S)-\d+)"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<word>[^\W\d_]+(?:['\u2019\u02bc`][^\W\d_]+)*)"
    r"|(?P<sign>[&+%$€£¥@#½×])"
    r"|(?P<stop>[.?!;\n]+|[,:()/\[\]\u2013\u2014]| - )"
)
_WHOLE_NUMBER = re.compile(r"\d{1,3}(,\d{3})+|\d{1,9}")
_HALF_OF_DAY = re.compile(r"(?<=[\d\s])([AaPp])\.\s?[Mm]\.?(?![^\W_])")
_SIGNS = {"&": "and", "+": "plus", "%": "percent", "½": "half", "×": "x"}
_STOPS = {"\u2013": ",", "\u2014": ",", " - ": ",", "/": "/", "[": "(", "]": ")"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or stop.

    Args:
        word: Folded: lower case, no accents, no apostrophes; a stop is itself.
        stem: What the word's singular and plural have in common.
        start: Where it begins in the line.
        end: Where it ends in the line.
        stop: Whether it is punctuation.
        raw: The word before its spelling was corrected, if it was.
    """

    word: str
    stem: str
    start: int
    end: int
    stop: bool = False
    raw: str = ""

    @property
    def breaks(self) -> bool:
        """Whether a sentence ends here."""
        return self.stop and self.word in {".", "?", "!", ";"}


_WITHOUT = re.compile(r"(?<!\w)w/o(ut)?(?!\w)", re.IGNORECASE)
_WITH = re.compile(r"(?<![\w/])w/(?!/|e\b)", re.IGNORECASE)
_INCHES = re.compile(r"(?<=\d)\s?[\"\u201d\u2033](?=[\s,.;!?]|$)")
_SHORT = re.compile(r"\b([dm]rs?)\.\s?(?=\w)", re.IGNORECASE)
_IDENTITY = re.compile(
    r"\b(need|show|have|bring|check|take|an|my|your|valid|photo|without|any) ids?\b", re.IGNORECASE
)
_ORDINAL = re.compile(
    r"(?:(?<=\bthe )|(?<=\band )|(?<=[.,;!\n] )|^)(1st|2nd|3rd|4th)"
    r"(?=:| (?!of\b|st\b|street|ave|avenue|floor|fl\b|road|rd\b|dec|nov)[a-z])",
    re.IGNORECASE,
)
_ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth"}
_FRACTION = re.compile(r"(?<![\d/])(?<!\d )(?:1/2|[13]/4)(?= ?[a-z])", re.IGNORECASE)
_YOU_ALL = re.compile(r"\by['\u2019]all\b", re.IGNORECASE)
LISTED = re.compile(r"(?:^|(?<=[\s;]))\(?(\d{1,2})[).](?=\s+[^\W\d]|\s+\d+\s+\w)")
"""The number of a list: "1) a small latte 2) two muffins"."""


def clean(text: str) -> str:
    """Drop what cannot be seen or said, and what is too long to be a guest's line."""
    text = unicodedata.normalize("NFC", text[: LONGEST * 2])
    if not (text.isascii() and text.isprintable()):
        text = "".join(_visible(character) for character in text)
    text = _unnumbered(text)
    text = _HALF_OF_DAY.sub(r"\1m", text)
    text = _WITHOUT.sub("without", text)
    text = _WITH.sub("with ", text)  # without the pause that a slash is
    text = _SHORT.sub(r"\1 ", text)
    text = _INCHES.sub(" inch ", text)
    text = _IDENTITY.sub(r"\1 identification", text)  # which is no "I would"
    text = _FRACTION.sub(lambda found: f"{FRACTIONS[found[0]]} ", text)  # no "21 1/2 Elm Street"
    text = _YOU_ALL.sub("you", text)
    text = _ORDINAL.sub(lambda found: _ORDINALS[found[1].lower()], text)  # "the 2nd one"
    return re.sub(r"[^\S\n]+", " ", text).strip()[:LONGEST]


def _unnumbered(text: str) -> str:
    """Let the numbers of a list be pauses: "1) a small latte 2) two muffins"."""
    found = [int(number) for number in LISTED.findall(text)]
    if len(found) < 2 or found != list(range(1, len(found) + 1)):
        return text
    return LISTED.sub(" . ", text)


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if character in "\n\t" or kind in ("Cc", "Zl", "Zp"):
        return "\n" if character in "\n\r" else " "
    if kind in ("No", "Nl") and character not in _SIGNS:
        return " "  # "¼" and "②" are no numbers that anybody says
    return "" if kind in ("Cf", "Cs", "Co", "Cn") else character


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a clean line into tokens.

    >>> [token.word for token in tokenize("I'd like 2x Crème brûlée, at 7:30!")]
    ['i', 'would', 'like', '2', 'x', 'creme', 'brulee', ',', 'at', '7:30', '!']
    """
    tokens: list[Token] = []
    for found in _WORDS.finditer(text):
        start, end, raw = found.start(), found.end(), found.group()
        if found["stop"]:
            mark = raw if raw in _STOPS else raw[:1]
            mark = "?" if "?" in raw else _STOPS.get(mark, "." if mark == "\n" else mark)
            tokens.append(Token(mark, mark, start, end, stop=True))
        elif found["number"] or found["minus"]:
            tokens.append(Token(raw.rstrip(".,:"), raw.rstrip(".,:"), start, end))
        elif found["sign"]:
            word = _SIGNS.get(raw, raw)
            tokens.append(Token(word, word, start, end))
        else:
            tokens.extend(_folded(raw, start, end))
    return tuple(tokens)


def _folded(raw: str, start: int, end: int) -> Iterator[Token]:
    return (Token(word, stem(word), start, end) for word in _words_in(raw))


@lru_cache(maxsize=8192)
def _words_in(raw: str) -> tuple[str, ...]:
    # A possessive says nothing about what is meant; other apostrophes vanish ("i'd" -> "id").
    bare = re.sub(r"(?<=[^\W\d_]{3})['\u2019\u02bc`]s$", "", raw)
    if bare != raw and fold(raw) in spelling.CONTRACTIONS:
        bare = raw
    bare = re.sub(r"['\u2019\u02bc`]ll$", " will", bare)  # "we'll", which is no "well"
    folded = map(_undrawn, fold(bare).split())
    return tuple(part for word in folded for part in spelling.SPELLED.get(word, word).split())


def _undrawn(word: str) -> str:
    """Return a word without the letters by which it is drawn out: "hiii", "pleaseee", "sooo"."""
    if _DRAWN.search(word) is None:
        return word
    twice, once = _DRAWN.sub(r"\1\1", word), _DRAWN.sub(r"\1", word)
    return next((one for one in (twice, once) if vocabulary.is_common(one)), twice)


_DRAWN = re.compile(r"([a-z])\1{2,}")


@dataclass(frozen=True)
class Words:
    """A run of tokens of one line, with its words as one string for patterns."""

    line: str
    tokens: tuple[Token, ...]

    @classmethod
    def read(cls, text: str) -> "Words":
        """Clean and split a line."""
        line = clean(text)
        return cls(line, tokenize(line))

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def starts(self) -> list[int]:
        """Where each word begins in ``said``."""
        return [end - len(token.word) for token, end in zip(self.tokens, self.ends, strict=True)]

    @cached_property
    def ends(self) -> list[int]:
        """Where each word ends in ``said``."""
        return [at - 1 for at in accumulate(len(token.word) + 1 for token in self.tokens)]

    def part(self, first: int, last: int) -> "Words":
        """Return the run from one token to before another."""
        return Words(self.line, self.tokens[first:last])

    @cached_property
    def said(self) -> str:
        """The folded words with a space between each two, for patterns."""
        return " ".join(token.word for token in self.tokens)

    def typed(self, first: int = 0, last: int | None = None) -> str:
        """Return a run as the guest typed it."""
        run = self.tokens[first:last]
        return self.line[run[0].start : run[-1].end] if run else ""

    def find(self, pattern: re.Pattern[str]) -> "Found | None":
        """Return where a pattern is found in the words, if it is."""
        if not may_match(pattern, self.spoken):
            return None
        match = pattern.search(self.said)
        return Found.of(self, match) if match else None

    def find_all(self, pattern: re.Pattern[str]) -> "Iterator[Found]":
        """Return every place where a pattern is found in the words."""
        if not may_match(pattern, self.spoken):
            return iter(())
        return (Found.of(self, match) for match in pattern.finditer(self.said))

    def whole(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the match of a pattern with all of the words, if they are what it says."""
        return pattern.fullmatch(self.said) if may_match(pattern, self.spoken) else None

    @cached_property
    def spoken(self) -> frozenset[str]:
        """All words, and ``DIGIT`` where there is one, to compare with what patterns require."""
        return with_digit(token.word for token in self.tokens)

    def without(self, first: int, last: int) -> "Words":
        """Put a comma in the place of a run that has been understood."""
        at = self.tokens[first].start if first < len(self.tokens) else len(self.line)
        stop = Token(",", ",", at, at, stop=True)
        return Words(self.line, (*self.tokens[:first], stop, *self.tokens[last:]))

    def without_typed(self, start: int, end: int) -> "Words":
        """Put a comma in the place of all words between two places of the line."""
        inside = [
            i for i, token in enumerate(self.tokens) if token.start < end and token.end > start
        ]
        return self.without(inside[0], inside[-1] + 1) if inside else self

    def trimmed(self, around: frozenset[str]) -> "Words":
        """Return the run without stops and empty words at its ends."""
        first, last = 0, len(self.tokens)
        while first < last and (self.tokens[first].stop or self.tokens[first].word in around):
            first += 1
        while last > first and (self.tokens[last - 1].stop or self.tokens[last - 1].word in around):
            last -= 1
        return self.part(first, last)

    def capital(self, index: int) -> bool:
        """Whether a word was typed with a capital letter."""
        start = self.tokens[index].start
        return self.line[start : start + 1].isupper()  # what was put in may stand behind its end

    def taken_apart(self, index: int, several: Sequence[str]) -> "Words":
        """Put several words in the place of one that was typed without spaces."""
        old, at = self.tokens[index], self.tokens[index].start
        tokens: list[Token] = []
        for word in several:
            tokens.append(Token(word, stem(word), at, at + len(word)))
            at += len(word)
        tokens[-1] = replace(tokens[-1], end=old.end)
        return Words(self.line, (*self.tokens[:index], *tokens, *self.tokens[index + 1 :]))

    def corrected(self, index: int, word: str) -> "Words":
        """Put a better spelling in the place of one word."""
        old = self.tokens[index]
        token = replace(old, word=word, stem=stem(word), raw=old.raw or old.word)
        return Words(self.line, (*self.tokens[:index], token, *self.tokens[index + 1 :]))


@dataclass(frozen=True, slots=True)
class Found:
    """A place in a run of words: the tokens from ``first`` to before ``last``."""

    match: re.Match[str]
    first: int
    last: int

    @classmethod
    def of(cls, words: Words, match: re.Match[str]) -> "Found":
        """Translate a match in the words' string into tokens."""
        first, last = _span(words, match.start(), match.end())
        return cls(match, first, last)

    def span(self, words: Words, group: str) -> tuple[int, int]:
        """Return the tokens of one group of the pattern; an empty run if it did not take part."""
        start, end = self.match.span(group)
        return (0, 0) if start < 0 else _span(words, start, end)


def _span(words: Words, start: int, end: int) -> tuple[int, int]:
    first = bisect_right(words.ends, start)
    last = bisect_left(words.starts, end)
    return (first, last) if first < last else (first, first)


def number_at(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Read a whole number that begins at a token: its value and how many tokens it takes.

    >>> number_at(tokenize("half a dozen eggs"), 0)
    (6, 3)
    >>> number_at(tokenize("a couple"), 0)
    (2, 2)
    >>> number_at(tokenize("twenty five"), 0)
    (25, 2)
    """
    if index >= len(tokens):
        return None
    word = tokens[index].word
    if word not in numbers.BEGINNINGS and not word[:1].isdigit():
        return None
    for length in range(min(4, len(tokens) - index), 0, -1):
        phrase = " ".join(token.word for token in tokens[index : index + length])
        if phrase in numbers.COUNTS:
            return numbers.COUNTS[phrase], length
    if word[:1].isdigit() and _WHOLE_NUMBER.fullmatch(word):
        value, length = int(word.replace(",", "")), 1
        if index + 1 < len(tokens) and tokens[index + 1].word == "dozen":
            return value * 12, 2
        return value, length
    return _spoken(tokens, index)


def _spoken(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    total = part = length = 0
    last = ""
    for token in tokens[index : index + 8]:
        word = token.word
        if word == "zero":
            break  # a dish is not ordered zero times; it is part of a name
        if word in numbers.UNITS and last not in ("unit",):
            if last == "ten" and numbers.UNITS[word] > 9:
                break
            part, last = part + numbers.UNITS[word], "unit"
        elif word in numbers.TENS and last in ("", "hundred", "thousand"):
            part, last = part + numbers.TENS[word], "ten"
        elif word == "hundred" and length and last == "unit":
            part, last = part * 100, "hundred"
        elif word == "thousand" and length and last:
            total, part, last = total + part * 1000, 0, "thousand"
        elif word == "dozen" and last == "unit":
            part, last = part * 12, "dozen"
        else:
            break
        length += 1
    return (total + part, length) if length else None
