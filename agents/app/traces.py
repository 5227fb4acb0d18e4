"""Finds texts that have to be erased in the bytes of files.

The start of a text in a file is unknown, so every match counts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

SHORTEST = 4
"""The shortest text that is searched for, in characters: shorter ones occur everywhere by chance."""

LONG_ENOUGH = 7
"""The fewest digits of a telephone number that is searched for without its country code."""

_CHUNK = 1 << 20
_GAP = (
    rb"(?:(?:[\s().\-/]|\\[ntr]|\xc2\xa0|\\u00a0|\xe2\x80[\x90-\x95\xaf]|\\u20(?:1[0-5]|2f)){0,3})"
)
_NUMBER = re.compile(r"\+\d{4,15}")


@dataclass(frozen=True)
class Trace:
    """A text to be erased.

    Args:
        kind: The name of the field that held it.
    """

    kind: str
    text: str

    @property
    def is_searchable(self) -> bool:
        """Whether the text is long enough to be searched for in files."""
        return len(self.text.strip()) >= SHORTEST

    @property
    def is_number(self) -> bool:
        """Whether it is an E.164 telephone number, to be found in any notation."""
        return _NUMBER.fullmatch(self.text) is not None

    @cached_property
    def longest(self) -> int:
        """The length of the longest match, in bytes."""
        return max(200, *(len(form) for form in _forms(self.text)))

    def in_bytes(self, small: bytes) -> bool:
        """Whether it occurs in bytes whose letters A to Z are in lower case."""
        return self._in_bytes.search(small) is not None

    def in_stored(self, stored: str) -> bool:
        """Whether it may occur in a stored text."""
        return self.in_bytes(stored.encode(errors="replace").lower())

    def places(self, small: bytes) -> Iterator[tuple[int, int]]:
        """Return where it occurs as a whole word, in bytes whose letters A to Z are in lower case."""
        for found in self._in_bytes.finditer(small):
            before, after = small[: found.start()][-1:], small[found.end() :][:1]
            if not _is_word_byte(before) and not _is_word_byte(after):
                yield found.span()

    @cached_property
    def _in_bytes(self) -> "re.Pattern[bytes]":
        if self.is_number:
            code, number = parts_of_number(self.text)
            digits = number if len(number) >= LONG_ENOUGH else code + number
            return re.compile(_GAP.join(digit.encode() for digit in digits))
        forms = sorted(_forms(self.text), key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, forms)))


def texts_in(stored: str) -> Iterator[tuple[str, str]]:
    """Return the texts in a stored JSON document, each with the name of its field.

    >>> list(texts_in('{"patient": {"name": "Ada", "returning": true}, "notes": ["Hi"]}'))
    [('name', 'Ada'), ('notes', 'Hi')]
    """
    whole: JsonValue = stored
    if stored.startswith(("{", "[")):
        with suppress(ValueError):  # a text may look like JSON
            whole = json.loads(stored)
    yield from _leaves("", whole)


def found_in_files(files: Iterable[Path], traces: Sequence[Trace]) -> Mapping[Trace, list[Path]]:
    """Search files for traces; returns those found, each with its files.

    Raises:
        OSError: A file cannot be read.
    """
    hits: dict[Trace, list[Path]] = {}
    overlap = max((trace.longest for trace in traces), default=0)
    for path in files:
        missing = dict.fromkeys(traces)
        for piece in _pieces(path, overlap):
            for trace in [trace for trace in missing if trace.in_bytes(piece)]:
                del missing[trace]
                hits.setdefault(trace, []).append(path)
    return hits


def overwritten(path: Path, traces: Sequence[Trace]) -> int:
    """Overwrite every trace in a text file with asterisks; returns how many there were.

    The file keeps its length and its inode, so that another program can go on appending to it.

    Raises:
        OSError: It cannot be read or written.
    """
    small = path.read_bytes().lower()
    places = _merged(place for trace in traces for place in trace.places(small))
    if places:
        with path.open("r+b") as file:
            for start, end in places:
                file.seek(start)
                file.write(b"*" * (end - start))
    return len(places)


def parts_of_number(number: str) -> tuple[str, str]:
    """Return the country code and the rest of a telephone number in E.164.

    For an invalid number the country code is empty.
    """
    import phonenumbers

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return "", number.lstrip("+")
    return str(parsed.country_code), phonenumbers.national_significant_number(parsed)


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            start, end = merged[-1][0], max(end, merged.pop()[1])
        merged.append((start, end))
    return merged


def _pieces(path: Path, overlap: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(_CHUNK):
            piece = tail + chunk.lower()
            yield piece
            tail = piece[-overlap:] if overlap else b""


def _forms(text: str) -> set[bytes]:
    """Return every form in which a text may be stored: upper and lower case, with and without JSON escapes."""
    cased = {text, text.lower(), text.upper(), text.title()}
    written = cased | {
        json.dumps(form, ensure_ascii=ascii_only)[1:-1]
        for form in cased
        for ascii_only in (True, False)
    }
    return {form.encode(errors="replace").lower() for form in written}


def _is_word_byte(byte: bytes) -> bool:
    return byte.isalnum() or byte >= b"\x80"


def _leaves(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    match value:
        case str() if value:
            yield name, value
        case list():
            for one in value:
                yield from _leaves(name, one)
        case dict():
            for key, one in value.items():
                yield from _leaves(key, one)
