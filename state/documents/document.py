"""Parses YAML into values with line numbers, without converting texts to other types.

YAML would read ``17:30`` as a number of minutes, ``no`` as false and ``9.10`` as a float; here each stays a
text. The tree is built from the parser's events, because the library's composer recurses in C: a few
thousand open brackets would crash the process.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from state.documents.faults import DocumentFaults, Fault

_DEEPEST = 40
_MOST_VALUES = 50_000
_MOST_CHARACTERS = 4_000_000
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_STANDARD_TAG = "tag:yaml.org,2002:"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Text(str):
    """A text with its line number; a quoted or block text is never read as another type."""

    __slots__ = ("line", "quoted")

    line: int
    quoted: bool

    def __new__(cls, text: str, line: int, quoted: bool = False) -> "Text":
        """Make the text with its line number."""
        self = super().__new__(cls, text)
        self.line, self.quoted = line, quoted
        return self


class Items(list["Value"]):
    """A list with its line number, and the number of its values with aliases expanded."""

    __slots__ = ("line", "size")

    def __init__(self, items: Iterable["Value"], line: int) -> None:
        super().__init__(items)
        self.line, self.size = line, 1


class Entries(dict[str, "Value"]):
    """A mapping with its line number and those of its keys, and its number of values as in ``Items``."""

    __slots__ = ("line", "lines", "size")

    def __init__(self, entries: Mapping[str, "Value"], line: int, lines: dict[str, int]) -> None:
        super().__init__(entries)
        self.line, self.lines, self.size = line, lines, 1


Value: TypeAlias = Text | Items | Entries | None
"""A value of a document, with its line number from 1; ``None`` if it is empty."""


def line_at(value: Value, steps: Iterable[int | str]) -> int:
    """Return the line of the value at a path, or of the last part of the path that exists.

    Args:
        value: The value where the path starts.
        steps: Keys and list indexes; a last step ``[key]`` means the line of the key before it.
    """
    line = key_line = 1 if value is None else value.line
    for step in steps:
        if step == "[key]":
            return key_line
        if isinstance(value, Items) and isinstance(step, int) and step < len(value):
            value = value[step]
        elif isinstance(value, Entries) and (key := str(step)) in value:
            line = key_line = value.lines.get(key, line)
            value = value[key]
        else:
            break
        line = line if value is None else value.line
    return line


def read_text(path: Path) -> str:
    """Read the text of a YAML file.

    Raises:
        DocumentFaults: There is no such file, or it is not text.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise DocumentFaults([Fault(source, 0, "there is no such file")]) from None
    except IsADirectoryError:
        raise DocumentFaults([Fault(source, 0, "this is a directory, not a file")]) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DocumentFaults([Fault(source, 0, f"the file cannot be read: {why}")]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = "the file is not UTF-8 text: save it as UTF-8"
        raise DocumentFaults([Fault(source, line, message)]) from None


def read_document(text: str, source: str) -> tuple[Value, list[Fault]]:
    """Read the only document of a text; returns faults such as duplicate keys with it.

    Raises:
        DocumentFaults: It is not valid YAML, or exceeds the limits of size and nesting.
    """
    if len(text) > _MOST_CHARACTERS:
        raise DocumentFaults([Fault(source, 0, "the file is too large")])
    builder = _Builder(source)
    try:
        events = yaml.parse(text.removeprefix("\ufeff"), Loader=_Loader)
        value = builder.document(iter(events))
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark  # the stubs lack None, the library does not
        line = mark.line + 1 if mark is not None else 1
        raise DocumentFaults([*builder.faults, Fault(source, line, _explain(error))]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "there is a control character in this line, which YAML does not allow"
        raise DocumentFaults([Fault(source, line, message)]) from None
    return value, builder.faults


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it cannot be read"
    if "\\t" in problem or "tab character" in problem:
        return "this is not valid YAML: a tab is where only spaces may be (indent with spaces)"
    if "mapping values are not allowed" in problem:
        return (
            "this is not valid YAML: a colon where none is expected"
            " (put texts that contain a colon in quotes, and check the indentation)"
        )
    context = f" ({error.context})" if error.context else ""
    return f"this is not valid YAML: {problem}{context}"


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    """Builds the values from the parser's events."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.faults: list[Fault] = []
        self._anchors: dict[str, Value] = {}
        self._open: set[str] = set()

    def document(self, events: Iterator[Any]) -> Value:
        root: Value = None
        begun = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if begun:
                    raise self._stop(
                        _line(event), "a second document begins here; only one is read"
                    )
                begun = True
                root = self._value(next(events), events, 0)
        if root is None:
            raise self._stop(1, "the file is empty")
        return root

    def _value(self, event: Any, events: Iterator[Any], depth: int) -> Value:
        line = _line(event)
        if depth > _DEEPEST:
            raise self._stop(line, f"this is nested more than {_DEEPEST} levels deep")
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._alias(str(event.anchor), line)
        if event.tag is not None and event.tag != "!" and not event.tag.startswith(_STANDARD_TAG):
            self._fault(line, f"the tag {event.tag} has no meaning here")
        anchor: str | None = event.anchor
        value: Value
        if kind is yaml.ScalarEvent:
            value = None
            if event.style or event.value not in _NOTHING:
                value = Text(event.value, line, bool(event.style))
        else:
            if anchor is not None:
                self._open.add(anchor)
            fill = self._items if kind is yaml.SequenceStartEvent else self._entries
            value = fill(line, events, depth)
            if value.size > _MOST_VALUES:
                raise self._stop(line, "this grows too large once its aliases (*) are put in")
        if anchor is not None:
            self._open.discard(anchor)
            self._anchors[anchor] = value
        return value

    def _alias(self, anchor: str, line: int) -> Value:
        if anchor in self._open:
            raise self._stop(line, f"*{anchor} contains itself")
        if anchor not in self._anchors:
            raise self._stop(line, f"*{anchor} refers to nothing: there is no &{anchor} above")
        return self._anchors[anchor]

    def _items(self, line: int, events: Iterator[Any], depth: int) -> Items:
        items = Items((), line)
        while type(event := next(events)) is not yaml.SequenceEndEvent:
            value = self._value(event, events, depth + 1)
            items.append(value)
            items.size += _size(value)
        return items

    def _entries(self, line: int, events: Iterator[Any], depth: int) -> Entries:
        lines: dict[str, int] = {}
        entries = Entries({}, line, lines)
        merged: list[tuple[Value, int]] = []
        while type(event := next(events)) is not yaml.MappingEndEvent:
            key = self._value(event, events, depth + 1)
            at = _line(event)
            value = self._value(next(events), events, depth + 1)
            entries.size += 1 + _size(value)
            name = getattr(event, "value", "") if key is None else key
            if name == "<<" and isinstance(event, yaml.ScalarEvent) and not event.style:
                merged += [(one, at) for one in (value if isinstance(value, Items) else (value,))]
            elif not isinstance(name, str):
                self._fault(at, "a key has to be a plain text")
            elif name in entries:
                self._fault(at, f'"{name}" is here twice (before in line {lines[name]})')
            else:
                entries[str(name)], lines[str(name)] = value, at
        for source, at in merged:
            if not isinstance(source, Entries):
                self._fault(at if source is None else source.line, "<< can only take in a mapping")
                continue
            for name, value in source.items():
                if name not in entries:
                    entries[name], lines[name] = value, source.lines[name]
        return entries

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self.source, line, message))

    def _stop(self, line: int, message: str) -> DocumentFaults:
        return DocumentFaults([*self.faults, Fault(self.source, line, message)])


def _size(value: Value) -> int:
    return value.size if isinstance(value, Items | Entries) else 1
