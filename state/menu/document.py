"""A YAML text as a tree that remembers its lines and keeps every value as it was written.

YAML would read ``17:30`` as a number of minutes, ``no`` as false and ``9.10`` as a float. A menu means
what stands there, so nothing is converted here. The tree is built from the parser's events, because its own
composer recurses in C and a few thousand open brackets would end the process.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from state.menu.faults import Fault, MenuFaults

_DEEPEST = 40
_MOST_NODES = 50_000
_MOST_CHARACTERS = 4_000_000
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_STANDARD_TAG = "tag:yaml.org,2002:"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document: a text, a list, a mapping, or nothing at all.

    Args:
        line: Where it begins, from 1.
        size: The number of values in it, aliases put in.
        quoted: Whether a text stood in quotes or in a block, so that it can be nothing but a text.
    """

    line: int
    kind: Literal["text", "list", "mapping", "nothing"]
    text: str = ""
    items: tuple["Node", ...] = ()
    entries: tuple[tuple["Node", "Node"], ...] = ()
    size: int = 1
    quoted: bool = False


def read_text(path: Path) -> str:
    """Read the text of a YAML file.

    Raises:
        MenuFaults: There is no such file, or no text in it.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise MenuFaults([Fault(source, 1, "there is no such file")]) from None
    except IsADirectoryError:
        raise MenuFaults([Fault(source, 1, "this is a directory, not a file")]) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise MenuFaults([Fault(source, 1, f"the file cannot be read: {why}")]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = "the file is not UTF-8 text: save it as UTF-8"
        raise MenuFaults([Fault(source, line, message)]) from None


def read_document(text: str, source: str) -> tuple[Node, list[Fault]]:
    """Read the one document of a text; duplicate keys and the like are reported beside it.

    Raises:
        MenuFaults: It is no YAML, or no document that a person would write.
    """
    if len(text) > _MOST_CHARACTERS:
        raise MenuFaults([Fault(source, 1, "the file is too large")])
    builder = _Builder(source)
    try:
        events = yaml.parse(text.removeprefix("\ufeff"), Loader=_Loader)
        node = builder.document(iter(events))
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark  # the stubs lack None, the library does not
        line = mark.line + 1 if mark is not None else 1
        raise MenuFaults([*builder.faults, Fault(source, line, _explain(error))]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "there is a control character in this line, which YAML does not allow"
        raise MenuFaults([Fault(source, line, message)]) from None
    return node, builder.faults


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it cannot be read"
    if "\\t" in problem or "tab character" in problem:
        return "this is not valid YAML: a tab stands where only spaces may (indent with spaces)"
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
    """Builds the tree from the events of the parser."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.faults: list[Fault] = []
        self._anchors: dict[str, Node] = {}
        self._open: set[str] = set()

    def document(self, events: Iterator[Any]) -> Node:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self._stop(
                        _line(event), "a second document begins here; only one is read"
                    )
                root = self._node(next(events), events, 0)
        if root is None or root.kind == "nothing":
            raise self._stop(1, "the file is empty")
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        line = _line(event)
        if depth > _DEEPEST:
            raise self._stop(line, f"this is nested more than {_DEEPEST} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), line)
        if event.tag is not None and event.tag != "!" and not event.tag.startswith(_STANDARD_TAG):
            self._fault(line, f"the tag {event.tag} has no meaning here")
        anchor: str | None = event.anchor
        if anchor is not None:
            self._open.add(anchor)
        if isinstance(event, yaml.ScalarEvent):
            empty = not event.style and event.value in _NOTHING
            node = Node(
                line, "nothing" if empty else "text", text=event.value, quoted=bool(event.style)
            )
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(line, events, depth)
        else:
            node = self._mapping(line, events, depth)
        if node.size > _MOST_NODES:
            raise self._stop(line, "this grows too large once its aliases (*) are put in")
        if anchor is not None:
            self._open.discard(anchor)
            self._anchors[anchor] = node
        return node

    def _alias(self, anchor: str, line: int) -> Node:
        if anchor in self._open:
            raise self._stop(line, f"*{anchor} contains itself")
        if anchor not in self._anchors:
            raise self._stop(line, f"*{anchor} stands for nothing: there is no &{anchor} above")
        return self._anchors[anchor]

    def _list(self, line: int, events: Iterator[Any], depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._node(event, events, depth + 1))
        size = 1 + sum(item.size for item in items)
        return Node(line, "list", items=tuple(items), size=size)

    def _mapping(self, line: int, events: Iterator[Any], depth: int) -> Node:
        entries: dict[str, tuple[Node, Node]] = {}
        merged: list[Node] = []
        size = 1
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            merge = isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style
            key = self._node(event, events, depth + 1)
            value = self._node(next(events), events, depth + 1)
            size += 1 + value.size
            if merge:
                merged.extend(value.items if value.kind == "list" else (value,))
            elif key.kind in ("list", "mapping"):
                self._fault(key.line, "a key has to be a plain text")
            elif key.text in entries:
                first = entries[key.text][0].line
                self._fault(key.line, f'"{key.text}" stands here twice (before in line {first})')
            else:
                entries[key.text] = (key, value)
        for source in merged:
            if source.kind != "mapping":
                self._fault(source.line, "<< can only take in a mapping")
            for key, value in source.entries:
                entries.setdefault(key.text, (key, value))
        return Node(line, "mapping", entries=tuple(entries.values()), size=size)

    def _fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self.source, line, message))

    def _stop(self, line: int, message: str) -> MenuFaults:
        return MenuFaults([*self.faults, Fault(self.source, line, message)])
