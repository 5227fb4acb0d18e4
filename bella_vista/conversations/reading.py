"""Reads conversation files from YAML; faults are reported with their lines."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from agents.app.faults import InputError
from bella_vista.conversations.form import Conversation
from state.menu.document import Node, read_document, read_text
from state.menu.faults import Fault, MenuFaults, did_you_mean

T = TypeVar("T")

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,30})")
_DECIMAL = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?")


class ConversationFaults(InputError):
    """The file cannot be used; all faults, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        in_order = sorted(dict.fromkeys(faults), key=lambda fault: fault.line)
        super().__init__(str(fault) for fault in in_order)


@dataclass(frozen=True)
class ConversationFile:
    """A conversation with the lines of its parts.

    Args:
        path: The file.
        conversation: The conversation.
        turn_lines: The line of each turn.
        lines: The line of each key's value.
    """

    path: Path
    conversation: Conversation
    turn_lines: tuple[int, ...]
    lines: Mapping[str, int]

    def fault(self, key: str, message: str) -> Fault:
        """Return a fault at the value of a key."""
        return Fault(str(self.path), self.lines.get(key, 1), message)


def load_conversation(path: Path) -> ConversationFile:
    """Read a conversation from a file.

    Raises:
        ConversationFaults: Everything that is wrong with it.
    """
    node = _document(path)
    if node.kind != "mapping":
        message = "a conversation has to be a mapping of keys to values"
        raise ConversationFaults([Fault(str(path), node.line, message)])
    conversation = _validated(TypeAdapter(Conversation), node, path)
    turns = _child(node, "turns") or node
    return ConversationFile(
        path,
        conversation,
        turn_lines=tuple(turn.line for turn in turns.items),
        lines={key.text: value.line for key, value in node.entries},
    )


def _document(path: Path) -> Node:
    try:
        node, faults = read_document(read_text(path), str(path))
    except MenuFaults as error:
        raise ConversationFaults(error.faults) from None
    if faults:
        raise ConversationFaults(faults)
    return node


def _validated(form: TypeAdapter[T], node: Node, path: Path) -> T:
    try:
        return form.validate_python(_data(node))
    except ValidationError as error:
        raise ConversationFaults(
            _fault(fault, node, str(path)) for fault in error.errors(include_url=False)
        ) from None


# -- values ----------------------------------------------------------------------------------------


def _data(node: Node, *, typed: bool = False) -> JsonValue:
    """Return a node as plain values: texts as written, for pydantic to parse by the field's type.

    Only a tool's arguments have no declared type and are parsed as YAML 1.2 and JSON would.
    """
    match node.kind:
        case "nothing":
            return None
        case "list":
            return [_data(item, typed=typed) for item in node.items]
        case "mapping":
            return {
                key.text: _data(value, typed=typed or key.text == "arguments")
                for key, value in node.entries
            }
        case "text":
            return _typed(node) if typed and not node.quoted else node.text


def _typed(node: Node) -> JsonValue:
    text = node.text
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text


# -- faults ----------------------------------------------------------------------------------------


def _fault(fault: Any, node: Node, source: str) -> Fault:
    steps: tuple[int | str, ...] = fault["loc"]
    if fault["type"] == "extra_forbidden":
        found, key = _at(node, steps[:-1]), str(steps[-1])
        line = next((name.line for name, _ in found.entries if name.text == key), found.line)
        hint = did_you_mean(key, _keys(steps[:-1]))
        return Fault(source, line, f'{_what(steps[:-1])} has no key "{key}"{hint}')
    found = _at(node, steps)
    if fault["type"] == "missing":
        return Fault(source, found.line, f'{_what(steps[:-1])} needs "{steps[-1]}"')
    message = str(fault["msg"]).removeprefix("Value error, ")
    return Fault(source, found.line, f"{_what(steps)}: {message[:1].lower()}{message[1:]}")


def _at(node: Node, steps: Sequence[int | str]) -> Node:
    """Return the node of a fault's location, as far down as it exists."""
    for step in steps:
        if isinstance(step, int):
            following = node.items[step] if step < len(node.items) else None
        else:
            following = _child(node, step)
        if following is None:
            break
        node = following
    return node


def _child(node: Node, name: str) -> Node | None:
    return next((value for key, value in node.entries if key.text == name), None)


def _what(steps: Sequence[int | str]) -> str:
    """Describe a location, counting from 1.

    >>> _what(("turns", 0, "state"))
    'turns 1, state'
    """
    names: list[str] = []
    for step in steps:
        if isinstance(step, int) and names:
            names[-1] += f" {step + 1}"
        else:
            names.append(f"step {step + 1}" if isinstance(step, int) else step)
    return ", ".join(names) or "a conversation"


def _keys(steps: Sequence[int | str]) -> Iterator[str]:
    """Yield the keys that are allowed at a location."""
    form: type[BaseModel] | None = Conversation
    for step in steps:
        if form is None:
            return
        if isinstance(step, str):
            form = (
                _form_of(form.model_fields[step].annotation) if step in form.model_fields else None
            )
    if form is not None:
        yield from form.model_fields


def _form_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (form for part in getattr(annotation, "__args__", ()) if (form := _form_of(part))), None
    )
