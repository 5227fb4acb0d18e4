"""One mapping of a menu, read key by key; what is wrong is noted and reading goes on.

Every getter answers with a sound value even when the file has none, so that one fault never hides the next.
No menu is made as long as a fault was noted, so these stand-ins are never seen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import TypeVar

from state.menu.document import Node
from state.menu.faults import Fault, did_you_mean
from state.menu.model import Span
from state.menu.schema import keys_of, required_keys
from state.money import Cents
from state.privacy.text import clean

Word = TypeVar("Word", bound=str)

_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_WHOLE = re.compile(r"[0-9]{1,9}")
_SPAN = re.compile(r"([0-9]{1,2}):([0-9]{2})\s*[-\u2013]\s*([0-9]{1,2}):([0-9]{2})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONGEST_NAME = 200


@dataclass
class Reading:
    """What holds for a whole file: its name, the faults so far, the currency's decimals."""

    source: str
    faults: list[Fault] = field(default_factory=list)
    currency: str = "the currency"
    decimals: int | None = None

    def fault(self, line: int, message: str) -> None:
        """Note that something is wrong in this line."""
        self.faults.append(Fault(self.source, line, message))


class Form:
    """A mapping of one kind; the kinds and their keys stand in ``schema``.

    Args:
        reading: Where faults are noted.
        node: The mapping.
        kind: Which keys it may have.
        what: How a person would call it: ``the dish "Latte"``.
    """

    def __init__(self, reading: Reading, node: Node, kind: str, what: str = "") -> None:
        self.reading = reading
        self.line = node.line
        self.kind = kind
        self._what = what or _called(kind, node)
        self._known = keys_of(kind)
        self._values: dict[str, Node] = {}
        if node.kind != "mapping":
            if node.kind != "nothing" or required_keys(kind):
                reading.fault(node.line, f"{self._what} has to be a mapping of keys to values")
            return
        for key, value in node.entries:
            if key.text in self._known:
                self._values[key.text] = value
            else:
                hint = did_you_mean(key.text, self._known)
                reading.fault(key.line, f'{self._what} has no key "{key.text}"{hint}')
        for needed in required_keys(kind):
            if not self.has(needed):
                reading.fault(self.line_of(needed), f'{self._what} needs "{needed}"')

    def fault(self, line: int, message: str) -> None:
        """Note that something is wrong in this line."""
        self.reading.fault(line, message)

    def has(self, key: str) -> bool:
        """Whether a value stands behind the key."""
        node = self.value(key)
        return node is not None and node.kind != "nothing"

    def value(self, key: str) -> Node | None:
        """Return what stands behind the key, as it is."""
        if key not in self._known:
            raise KeyError(f"the schema of a {self.kind} has no key {key}")
        return self._values.get(key)

    def line_of(self, key: str) -> int:
        """Return the line of the key's value, or where the whole mapping begins."""
        node = self._values.get(key)
        return node.line if node is not None else self.line

    def text(self, key: str) -> str | None:
        """Read a text; ``None`` where there is none."""
        node = self.value(key)
        return None if node is None or node.kind == "nothing" else self.text_of(node, key)

    def text_of(self, node: Node, key: str) -> str | None:
        """Read a node as a text that is not empty, in one line, without anything that cannot be seen."""
        if node.kind in ("list", "mapping"):
            self.fault(node.line, f"{key} has to be a text")
            return None
        text = clean(node.text)
        if not text:
            self.fault(node.line, f"{key} is empty")
            return None
        return text

    def name(self, key: str = "name") -> str | None:
        """Read a name: a text that is not too long to be said."""
        text = self.text(key)
        if text is not None and len(text) > _LONGEST_NAME:
            self.fault(self.line_of(key), f"{key} is longer than {_LONGEST_NAME} characters")
        return text

    def located(self, key: str) -> list[tuple[str, int]]:
        """Read one text or a list of them, each with its line."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return []
        if node.kind == "mapping":
            self.fault(node.line, f"{key} has to be a text or a list of texts")
            return []
        items = node.items if node.kind == "list" else (node,)
        found: dict[str, tuple[str, int]] = {}
        for item in items:
            text = self.text_of(item, f"a value of {key}")
            if text is None:
                continue
            if text.casefold() in found:
                self.fault(item.line, f'"{text}" stands twice in {key}')
            else:
                found[text.casefold()] = (text, item.line)
        return list(found.values())

    def texts(self, key: str) -> tuple[str, ...]:
        """Read one text or a list of them."""
        return tuple(text for text, _ in self.located(key))

    def flag(self, key: str, default: bool) -> bool:
        """Read a yes or no."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return default
        said = node.text.casefold()
        if node.kind != "text" or said not in _TRUE | _FALSE:
            self.fault(node.line, f"{key} has to be true or false")
            return default
        return said in _TRUE

    def one_of(self, key: str, values: tuple[Word, ...], default: Word) -> Word:
        """Read one of a few words."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return default
        return self.word(node, key, values) or default

    def word(self, node: Node, key: str, values: tuple[Word, ...]) -> Word | None:
        """Read a node as one of a few words."""
        said = node.text.strip().casefold()
        for value in values if node.kind == "text" else ():
            if value == said:
                return value
        written = f'"{node.text}"' if node.kind == "text" else f"a {node.kind}"
        possible = " or ".join(values) if len(values) < 3 else "one of " + ", ".join(values)
        hint = did_you_mean(node.text, values) if len(values) > 2 else ""
        self.fault(node.line, f"{key} has to be {possible}, not {written}{hint}")
        return None

    def words(self, key: str, values: tuple[Word, ...]) -> tuple[Word, ...]:
        """Read one or several of a few words, in the order written."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return ()
        items = node.items if node.kind == "list" else (node,)
        read = (self.word(item, f"a value of {key}", values) for item in items)
        return tuple(dict.fromkeys(word for word in read if word is not None))

    def whole(self, key: str, default: int) -> int:
        """Read a whole number within the bounds that the schema has for it."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return default
        bounds = self._known[key]
        least, most = int(bounds["minimum"]), int(bounds["maximum"])
        if node.kind != "text" or not _WHOLE.fullmatch(node.text.strip()):
            self.fault(node.line, f"{key} has to be a whole number from {least} to {most}")
            return default
        number = int(node.text)
        if not least <= number <= most:
            self.fault(node.line, f"{key} has to be from {least} to {most}, not {number}")
        return number

    def number(
        self, node: Node, key: str, *, most: int, above: bool = False, unit: str = ""
    ) -> Decimal | None:
        """Read a node as a number from 0 (or above it) to ``most``."""
        text = node.text.strip().removesuffix("%").rstrip() if node.kind == "text" else ""
        number = Decimal(text) if _NUMBER.fullmatch(text) else None
        if number is None or number > most or (above and not number):
            least = "above 0" if above else "from 0"
            written = f', not "{node.text}"' if node.kind == "text" else ""
            end = f"up to {most}" if above else f"to {most}"
            self.fault(node.line, f"{key} has to be a number {least} {end}{unit}{written}")
            return None
        return number

    def percent(self, key: str, *, above: bool = False) -> Decimal | None:
        """Read a percentage from 0 to 100."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return None
        return self.number(node, key, most=100, above=above, unit=" percent")

    def money(self, key: str) -> Cents | None:
        """Read an amount of money; ``None`` where there is none."""
        node = self.value(key)
        return None if node is None or node.kind == "nothing" else self.amount(node, key)

    def amount(self, node: Node, key: str) -> Cents | None:
        """Read a node as an amount in the restaurant's currency, exactly as it is written."""
        text = node.text.strip() if node.kind == "text" else ""
        if not _NUMBER.fullmatch(text):
            self.fault(node.line, f"{key} {_why_no_amount(node, text)}")
            return None
        decimals = self.reading.decimals
        if decimals is None:  # the currency is unknown, which is a fault of its own
            return Cents(0)
        amount = Decimal(text).scaleb(decimals)
        if amount != amount.to_integral_value():
            few = f"{decimals} decimals" if decimals else "no decimals"
            self.fault(node.line, f'{key} is "{text}", but {self.reading.currency} has {few}')
            return None
        return Cents(int(amount))

    def prices(self, key: str) -> dict[str | None, Cents] | None:
        """Read one price, or one for each size; ``None`` where there is none."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return None
        return self.prices_of(node, key)

    def prices_of(self, node: Node, key: str) -> dict[str | None, Cents] | None:
        """Read a node as one price, or one for each size."""
        if node.kind != "mapping":
            amount = self.amount(node, key)
            return None if amount is None else {None: amount}
        prices: dict[str | None, Cents] = {}
        for size, price in node.entries:
            name = self.text_of(size, f"a size of {key}")
            amount = self.amount(price, f"{key} for {name}")
            if name is not None:
                prices[name] = Cents(0) if amount is None else amount
        if not node.entries:
            self.fault(node.line, f"{key} names no size")
            return None
        return prices

    def day(self, key: str) -> date | None:
        """Read a date like 2026-12-25."""
        node = self.value(key)
        return None if node is None or node.kind == "nothing" else self.day_of(node, key)

    def days(self, key: str) -> tuple[date, ...]:
        """Read one date or a list of them."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return ()
        items = node.items if node.kind == "list" else (node,)
        read = (self.day_of(item, f"a day of {key}") for item in items)
        return tuple(dict.fromkeys(day for day in read if day is not None))

    def day_of(self, node: Node, key: str) -> date | None:
        """Read a node as a date."""
        text = node.text.strip()
        try:
            if not _DATE.fullmatch(text):
                raise ValueError
            return date.fromisoformat(text)
        except ValueError:
            written = f', not "{node.text}"' if node.kind == "text" else ""
            self.fault(node.line, f"{key} has to be a date like 2026-12-25{written}")
            return None

    def spans(self, node: Node, key: str) -> tuple[Span, ...]:
        """Read a node as hours like "11:30-14:30", one or several, without overlap."""
        spans: list[Span] = []
        for item in node.items if node.kind == "list" else (node,):
            span = _span(item.text) if item.kind == "text" else None
            if span is None:
                written = f', not "{item.text}"' if item.kind == "text" else ""
                self.fault(item.line, f'{key} has to be hours like "11:30-14:30"{written}')
                continue
            if any(
                _minutes(span)[0] < _minutes(other)[1] and _minutes(other)[0] < _minutes(span)[1]
                for other in spans
            ):
                self.fault(item.line, f'"{item.text}" overlaps other hours of {key}')
            spans.append(span)
        return tuple(sorted(spans, key=lambda span: span.start))

    def entries(self, key: str) -> tuple[tuple[str, Node, int], ...]:
        """Read a mapping from names to whatever: each name, its value, and the name's line."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return ()
        if node.kind != "mapping":
            self.fault(node.line, f"{key} has to be a mapping of names to values")
            return ()
        found: list[tuple[str, Node, int]] = []
        seen: set[str] = set()
        for name_node, value in node.entries:
            name = self.text_of(name_node, f"a name in {key}")
            if name is None:
                continue
            if name.casefold() in seen:
                self.fault(name_node.line, f'"{name}" stands twice in {key}')
            seen.add(name.casefold())
            found.append((name, value, name_node.line))
        return tuple(found)

    def form(self, key: str, kind: str) -> "Form | None":
        """Read a mapping of another kind; ``None`` where there is none."""
        node = self.value(key)
        return None if node is None else Form(self.reading, node, kind)

    def forms(self, key: str, kind: str, *, single: bool = False) -> "list[Form]":
        """Read a list of mappings; a single one counts as a list of one where that is allowed."""
        node = self.value(key)
        if node is None or node.kind == "nothing":
            return []
        if node.kind != "list" and not (single and node.kind == "mapping"):
            self.fault(node.line, f"{key} has to be a list (each entry begins with a dash)")
            return []
        items = node.items if node.kind == "list" else (node,)
        return [Form(self.reading, item, kind) for item in items]


_AS_SAID: Mapping[str, str] = {
    "menu": "the menu",
    "choice_details": "a choice",
    "served_when": "served",
    "part": "a part of a combo",
    "section": "a section",
    "dish": "a dish",
    "combo": "a combo",
    "suggestion": "a suggestion",
}


def _called(kind: str, node: Node) -> str:
    """Return how a person would call a mapping: by its name, if it has one."""
    name = next((value.text for key, value in node.entries if key.text == "name"), "")
    if name and kind in ("section", "dish", "combo"):
        return f'the {kind} "{name}"'
    return _AS_SAID.get(kind, kind)


def _why_no_amount(node: Node, text: str) -> str:
    if node.kind != "text":
        return 'has to be an amount of money like "9.50"'
    if text.startswith("-") and _NUMBER.fullmatch(text[1:]):
        return f"cannot be negative: {text}"
    return f'has to be an amount of money like "9.50", digits and a point only, not "{text}"'


def _span(text: str) -> Span | None:
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        return None
    hours = tuple(int(part) for part in match.groups())
    if hours[0] > 23 or hours[1] > 59 or hours[3] > 59 or hours[2:] > (24, 0):
        return None
    return Span(start=time(hours[0], hours[1]), end=time(hours[2] % 24, hours[3]))


def _minutes(span: Span) -> tuple[int, int]:
    start = span.start.hour * 60 + span.start.minute
    end = span.end.hour * 60 + span.end.minute
    return start, end if end > start else end + 24 * 60
