"""Reads conversation files from YAML; faults are reported with their lines."""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from agents.app.app import AnyApp
from agents.app.conversation_files.form import AnyFields, ConversationForm, ScriptStep, form_of
from agents.app.declaration import named_faults
from agents.app.faults import InputError
from agents.app.parts import Fields
from state.documents.document import Entries, Items, Text, Value, line_at, read_document, read_text
from state.documents.faults import DocumentFaults, Fault, did_you_mean
from state.shared import explained

T = TypeVar("T")

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,30})")
_DECIMAL = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?")
_STEPS = TypeAdapter(tuple[ScriptStep, ...])
_UNTYPED = frozenset({"arguments"})
"""The keys below which values have no declared types."""


class ConversationFaults(InputError):
    """The file cannot be used; all faults, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        in_order = sorted(dict.fromkeys(faults), key=lambda fault: fault.line)
        super().__init__(str(fault) for fault in in_order)


def conversation_form(app: AnyApp) -> type[ConversationForm]:
    """Return the form of an application's conversation files."""
    fields: type[Fields] = AnyFields
    if app.replay.fields is not None:
        with named_faults("replay.fields"):
            fields = app.replay.fields()
    settings = app.settings.model_fields
    options = tuple((name, _type_of(settings[name])) for name in app.command_line.options)
    return form_of(app.noun, options, fields)


def _type_of(setting: FieldInfo) -> Any:
    """Return the type of a setting with its validators; it need not be given."""
    kind: Any = setting.annotation
    for constraint in setting.metadata:
        kind = Annotated[kind, constraint]
    return kind | None


def conversation_schema(app: AnyApp) -> dict[str, Any]:
    """Return the JSON Schema of an application's conversation files."""
    schema = conversation_form(app).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@dataclass(frozen=True)
class ConversationFile:
    """A conversation with the lines of its parts.

    Args:
        turn_lines: The line of each turn.
        lines: The line of each key's value.
    """

    path: Path
    conversation: ConversationForm
    turn_lines: tuple[int, ...]
    lines: Mapping[str, int]

    def fault(self, key: str, message: str) -> Fault:
        """Return a fault at the value of a key."""
        return Fault(str(self.path), self.lines.get(key, 1), message)


def conversation_paths(arguments: Iterable[str]) -> list[Path]:
    """Return the files that arguments name: files, patterns such as ``*.yaml``, and folders.

    A folder stands for the YAML files in it, without those in its subfolders.

    Args:
        arguments: The arguments, in the order in which their files are returned.

    Raises:
        InputError: Nothing matches an argument.
    """
    paths: list[Path] = []
    faults: list[str] = []
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            found = sorted(one for one in path.iterdir() if is_conversation_name(one))
            fault = "there is no *.yaml file in this folder"
        elif glob.has_magic(argument) and not path.exists():
            found = sorted(map(Path, glob.glob(argument, recursive=True)))
            found = [one for one in found if one.is_file()]
            fault = "no file matches this pattern"
        else:
            found, fault = [path], ""
        paths += found
        if not found:
            faults.append(f"{argument}: {fault}")
    if faults:
        raise InputError(faults)
    return list(dict.fromkeys(paths))


def is_conversation_name(path: Path) -> bool:
    """Whether a file in a folder is a conversation file, by its name."""
    return path.suffix in (".yaml", ".yml") and not path.name.startswith(".") and path.is_file()


def load_conversation(app: AnyApp, path: Path) -> ConversationFile:
    """Read a conversation from a file.

    Raises:
        ConversationFaults: Everything that is wrong with it.
    """
    return _conversation(app, _document(path), path)


def parse_conversation(app: AnyApp, text: str, path: Path) -> ConversationFile:
    """Read a conversation from a text.

    Raises:
        ConversationFaults: Everything that is wrong with it.
    """
    return _conversation(app, _parsed(text, path), path)


def _conversation(app: AnyApp, document: Value, path: Path) -> ConversationFile:
    if not isinstance(document, Entries):
        message = "a conversation has to be a mapping of keys to values"
        raise ConversationFaults([Fault(str(path), line_at(document, ()), message)])
    untyped = _UNTYPED if app.replay.fields is not None else _UNTYPED | {"state", "end", app.noun}
    conversation = _validated(TypeAdapter(conversation_form(app)), document, path, untyped)
    turns = range(len(conversation.turns))
    return ConversationFile(
        path,
        conversation,
        turn_lines=tuple(line_at(document, ("turns", turn)) for turn in turns),
        lines={key: line_at(document, (key,)) for key in document},
    )


def load_script(path: Path) -> tuple[ScriptStep, ...]:
    """Read the steps of a scripted model: a list of them, or any file with a ``script`` in it.

    Raises:
        ConversationFaults: Everything that is wrong with it.
    """
    document = _document(path)
    steps = document.get("script") if isinstance(document, Entries) else document
    if not isinstance(steps, Items) or not steps:
        message = 'a script has to be a list of steps, or a mapping with the key "script"'
        raise ConversationFaults([Fault(str(path), line_at(document, ()), message)])
    return _validated(_STEPS, steps, path)


def _document(path: Path) -> Value:
    try:
        text = read_text(path)
    except DocumentFaults as error:
        raise ConversationFaults(error.faults) from None
    return _parsed(text, path)


def _parsed(text: str, path: Path) -> Value:
    try:
        document, faults = read_document(text, str(path))
    except DocumentFaults as error:
        raise ConversationFaults(error.faults) from None
    if faults:
        raise ConversationFaults(faults)
    return document


def _validated(
    form: TypeAdapter[T], document: Value, path: Path, untyped: frozenset[str] = _UNTYPED
) -> T:
    try:
        return form.validate_python(_data(document, untyped))
    except ValidationError as error:
        raise ConversationFaults(
            _fault(fault, document, str(path), form) for fault in error.errors(include_url=False)
        ) from None


# -- values ----------------------------------------------------------------------------------------


def _data(value: Value, untyped: frozenset[str], *, typed: bool = False) -> JsonValue:
    """Return plain values: texts as written, which pydantic parses by the field's type.

    Values below an untyped key are parsed as in YAML 1.2 and JSON.
    """
    if isinstance(value, Items):
        return [_data(item, untyped, typed=typed) for item in value]
    if isinstance(value, Entries):
        return {
            key: _data(inner, untyped, typed=typed or key in untyped)
            for key, inner in value.items()
        }
    return _typed(value) if typed and value is not None and not value.quoted else value


def _typed(text: Text) -> JsonValue:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text


# -- faults ----------------------------------------------------------------------------------------


def _fault(fault: Any, document: Value, source: str, form: TypeAdapter[Any]) -> Fault:
    steps: tuple[int | str, ...] = fault["loc"]
    if fault["type"] == "extra_forbidden":
        key = str(steps[-1])
        hint = did_you_mean(key, _keys(form, steps[:-1]))
        message = f'{_location(steps[:-1])} has no key "{key}"{hint}'
        return Fault(source, line_at(document, (*steps, "[key]")), message)
    line = line_at(document, steps)
    if fault["type"] == "missing":
        return Fault(source, line, f'{_location(steps[:-1])} needs "{steps[-1]}"')
    return Fault(source, line, f"{_location(steps)}: {explained(fault)}")


def _location(steps: Sequence[int | str]) -> str:
    """Describe a location, counting from 1.

    >>> _location(("turns", 0, "state"))
    'turns 1, state'
    """
    names: list[str] = []
    for step in steps:
        if isinstance(step, int) and names:
            names[-1] += f" {step + 1}"
        else:
            names.append(f"step {step + 1}" if isinstance(step, int) else step)
    return ", ".join(names) or "a conversation"


def _keys(adapter: TypeAdapter[Any], steps: Sequence[int | str]) -> Iterator[str]:
    """Yield the keys that are allowed at a location."""
    form = _form_of(getattr(adapter, "_type", None))
    for step in steps:
        if form is None:
            return
        if isinstance(step, str):
            names = {field.alias or name: field for name, field in form.model_fields.items()}
            form = _form_of(names[step].annotation) if step in names else None
    if form is not None:
        yield from (field.alias or name for name, field in form.model_fields.items())


def _form_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (form for part in getattr(annotation, "__args__", ()) if (form := _form_of(part))), None
    )
