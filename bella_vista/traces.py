"""Finds a guest's personal data (traces) in stored orders and in the bytes of files.

In a text, a number or address matches as people write it, and not as a part of a longer one. In the
bytes of a file the start of a text is unknown, so every match counts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

from agents.app.faults import InputError
from state.contact import email_of, phone_of
from state.errors import NotValid
from state.forgetting import FORGOTTEN
from state.menu import Restaurant
from state.order import OrderState

SHORTEST = 4
"""Shorter texts occur everywhere in a file, so finding them proves nothing. In characters."""

_CHUNK = 1 << 20
_GAP = r"(?:[\s().\-/\u2010-\u2015]{0,3})"
_GAP_BYTES = (
    rb"(?:(?:[\s().\-/]|\\[ntr]|\xc2\xa0|\\u00a0|\xe2\x80[\x90-\x95\xaf]|\\u20(?:1[0-5]|2f)){0,3})"
)
_OTHER_COUNTRY = re.compile(r"(?:\+|\b00)\d{1,3}[\s().\-/]*$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LONG_ENOUGH = 7
"""A telephone number with fewer digits is searched only with its country code."""


class NoContact(InputError):
    """The input is neither a telephone number nor an e-mail address."""


@dataclass(frozen=True)
class Trace:
    """A text to be erased.

    Args:
        kind: ``name``, ``phone``, ``email``, ``address``, ``comment`` or ``words``.
        text: The text.
    """

    kind: str
    text: str

    @property
    def is_searchable(self) -> bool:
        """Whether the text is long enough to be searched for in files."""
        return len(self.text.strip()) >= SHORTEST

    @property
    def identifies(self) -> bool:
        """Whether it identifies a person wherever it is found."""
        return self.is_searchable and self.kind in ("name", "phone", "email", "address")

    @property
    def is_number(self) -> bool:
        """Whether it is an E.164 telephone number, to be found in any notation."""
        return self.kind == "phone" and self.text.startswith("+") and self.text[1:].isdecimal()

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
        """Return where it occurs as a text of its own, in bytes in lower case as above."""
        for found in self._in_bytes.finditer(small):
            before, after = small[: found.start()][-1:], small[found.end() :][:1]
            if not _is_word_byte(before) and not _is_word_byte(after):
                yield found.span()

    @cached_property
    def _in_bytes(self) -> "re.Pattern[bytes]":
        if self.is_number:
            code, number = _halves(self.text)
            digits = number if len(number) >= _LONG_ENOUGH else code + number
            return re.compile(_GAP_BYTES.join(digit.encode() for digit in digits))
        forms = sorted(_forms(self.text), key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, forms)))


@dataclass(frozen=True)
class Contact(Trace):
    """The telephone number (E.164) or the e-mail address of the guest to erase."""

    def is_of(self, order: OrderState) -> bool:
        """Whether it is the contact of this order."""
        if self.kind == "phone":
            return order.phone == self.text
        return (order.email or "").casefold() == self.text.casefold()

    def stored_in(self, stored: str) -> bool:
        """Whether it occurs in a stored JSON document or text."""
        return self.in_stored(stored) and any(map(self._stands_in, _texts_of(stored)))

    def cut(self, text: str) -> str:
        """Redact it in a text."""
        return self._in_text.sub(
            lambda found: FORGOTTEN if self._is_meant(found) else found[0], text
        )

    def _stands_in(self, text: str) -> bool:
        return any(map(self._is_meant, self._in_text.finditer(text)))

    def _is_meant(self, found: "re.Match[str]") -> bool:
        if self.kind == "email":
            return True
        if _DATE.fullmatch(found[0]):
            return False
        return found[0].lstrip("(").startswith(("+", "00")) or not _OTHER_COUNTRY.search(
            found.string, max(0, found.start() - 12), found.start()
        )

    @cached_property
    def _in_text(self) -> "re.Pattern[str]":
        if self.kind == "email":
            address = re.escape(self.text)
            return re.compile(rf"(?<![\w.+%-]){address}(?![\w-]|\.\w)", re.IGNORECASE)
        code, number = _halves(self.text)
        digits = _GAP.join(number)
        abroad = rf"(?:(?:\+|00|011){_GAP})?{code}{_GAP}(?:\(?0\)?{_GAP})?"
        before = f"(?:{abroad}|[08]{_GAP}|)" if len(number) >= _LONG_ENOUGH else abroad
        return re.compile(rf"(?<!\d)\(?{before}{digits}(?!\d)")


def contact_of(typed: str, restaurant: Restaurant) -> Contact:
    """Parse a telephone number or an e-mail address as an order does.

    Args:
        typed: The input.
        restaurant: Its country is that of numbers without a country code.

    Raises:
        NoContact: It is neither.
    """
    try:
        if "@" in typed:
            return Contact("email", email_of(typed.strip()))
        return Contact("phone", phone_of(typed, restaurant))
    except NotValid:
        raise NoContact(
            [f'"{typed}" is neither a telephone number nor an e-mail address.']
        ) from None


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

    The file keeps its length and position, so that a program that appends to it is not disturbed.

    Raises:
        OSError: It cannot be read or written.
    """
    small = path.read_bytes().lower()
    places = _joined(place for trace in traces for place in trace.places(small))
    if places:
        with path.open("r+b") as file:
            for start, end in places:
                file.seek(start)
                file.write(b"*" * (end - start))
    return len(places)


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def _pieces(path: Path, overlap: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(_CHUNK):
            piece = tail + chunk.lower()
            yield piece
            tail = piece[-overlap:] if overlap else b""


def _forms(text: str) -> set[bytes]:
    """Return every form in which a text may be stored: in any case, and with either JSON escaping."""
    cased = {text, text.lower(), text.upper(), text.title()}
    written = cased | {
        json.dumps(form, ensure_ascii=ascii_only)[1:-1]
        for form in cased
        for ascii_only in (True, False)
    }
    return {form.encode(errors="replace").lower() for form in written}


def _is_word_byte(byte: bytes) -> bool:
    return byte.isalnum() or byte >= b"\x80"


def _halves(number: str) -> tuple[str, str]:
    """Return the country code and the rest of a telephone number."""
    import phonenumbers

    parsed = phonenumbers.parse(number)
    return str(parsed.country_code), phonenumbers.national_significant_number(parsed)


def _texts_of(stored: str) -> Iterator[str]:
    whole: JsonValue = stored
    if stored.startswith(("{", "[")):
        with suppress(ValueError):  # a text may look like JSON
            whole = json.loads(stored)
    yield from _leaves(whole)


def _leaves(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _leaves(one)
        case dict():
            for name, one in value.items():
                yield name
                yield from _leaves(one)
        case _:
            pass
