"""The base of a menu's parts: pydantic reads them, and faults are recorded with their lines.

Reading continues after a fault, without the faulty value or with a placeholder, so that one fault never
hides another. A menu with faults is never returned.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self, TypeVar

from annotated_types import Ge, Le
from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from state.documents.document import Entries, Items, Text, line_at
from state.documents.faults import Fault, did_you_mean
from state.shared.validation import explained

T = TypeVar("T")
Steps = tuple[int | str, ...]

KEY = "[key]"
"""The last step of a path that means a key and not its value."""

_NEEDED = object()
_NOT_WRITTEN = WithJsonSchema(None)

Needed = Annotated[T, _NEEDED]
"""Marks a required key; the field's default is only a placeholder after a fault."""

NotWritten = Annotated[T, _NOT_WRITTEN]
"""Marks a field without a key of its own: its value comes from the place of the part in the file."""

_EXPLAINED = {
    "tuple_type": "has to be a list (each entry begins with a dash)",
    "dict_type": "has to be a mapping of names to values",
}
_EXPECTED = re.compile("'([^']*)'")


class Faulty(ValueError):
    """Several faults in one value.

    Args:
        faults: For each fault its path within the value, and a message; ``{key}`` in it is replaced by the
            name of the value.
    """

    def __init__(self, faults: Iterable[tuple[Steps, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)


def refused(message: str) -> PydanticCustomError:
    """Return an error whose message is a whole sentence, without the key as a prefix."""
    return PydanticCustomError("refused", "{message}", {"message": message})


@dataclass
class MenuReading:
    """The state of reading a menu, with the data of earlier parts that later ones need.

    Args:
        source: Its file, for faults.
        faults: The faults found so far.
        places: The place of each part in the file, by its ``id()``.
        decimals: How many decimals amounts may have; ``None`` until the currency is known.
        rates: The names of the tax rates.
        groups: The names of the groups of choices.
        section: The section being read.
        sections: The names of the dishes of each section.
    """

    source: str
    faults: list[Fault]
    places: "dict[int, Place]" = field(default_factory=dict)
    currency: str = "the currency"
    decimals: int | None = None
    rates: tuple[str, ...] = ()
    groups: list[str] = field(default_factory=list)
    section: str = ""
    sections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    combos: list[str] = field(default_factory=list)

    @property
    def dishes(self) -> list[str]:
        """The names of the dishes."""
        return [dish for dishes in self.sections.values() for dish in dishes]

    def fault(self, line: int, message: str) -> None:
        """Record a fault in a line."""
        self.faults.append(Fault(self.source, line, message))


@dataclass
class Place:
    """The place of a part in the file.

    Args:
        reading: The document.
        what: Its name for messages: ``the dish "Latte"``.
        written: The mapping in the file.
        entries: The keys and values that could be read.
        sound: Whether all of them could be read.
    """

    reading: MenuReading
    what: str
    written: Entries
    entries: Entries
    sound: bool = True

    def has(self, key: str) -> bool:
        """Whether the key has a value in the file."""
        return self.written.get(key) is not None

    def line(self, *steps: int | str) -> int:
        """Return the line of a path."""
        return line_at(self.entries, steps)

    def fault(self, message: str, *steps: int | str) -> None:
        """Record a fault at a path, or of the part as a whole."""
        self.reading.fault(self.line(*steps), message)

    def refer(
        self, name: str | None, kind: str, known: Iterable[str], *steps: int | str
    ) -> str | None:
        """Return a name as it is spelled in its definition; an undefined name is a fault."""
        names = {candidate.casefold(): candidate for candidate in known}
        if not name or name.casefold() in names:
            return name and names[name.casefold()]
        hint = did_you_mean(name, names.values())
        self.fault(f'there is no {kind} "{name}"{hint}', *steps)
        return None


def _for_editors(schema: dict[str, Any], part: "type[MenuPart]") -> None:
    """Describe a mapping for editors, in JSON Schema draft 7."""
    about = (part.__doc__ or "").partition("\n")[0]
    properties = {key: _described(value) for key, value in schema["properties"].items()}
    schema.clear()
    schema.update(type="object", description=about, properties=properties)
    schema["additionalProperties"] = False
    if part.needed:
        schema["required"] = list(part.needed)


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    described = {word: schema[word] for word in schema.keys() - {"title", "default"}}
    written = [one for one in described.get("anyOf", ()) if one != {"type": "null"}]
    if len(written) == 1:  # null is the same as no value
        del described["anyOf"]
        described = {**written[0], **described}
    if "$ref" in described and len(described) > 1:  # draft 7 ignores the siblings of a $ref
        described["allOf"] = [{"$ref": described.pop("$ref")}]
    return described


class MenuPart(BaseModel):
    """A mapping in a menu file; its fields are the allowed keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        json_schema_extra=_for_editors,
    )

    called: ClassVar[str] = ""
    """Its name for messages: ``a dish``; a named one is then ``the dish "Latte"``."""
    keys: ClassVar[dict[str, FieldInfo]]
    """The allowed keys, each with its field."""
    needed: ClassVar[tuple[str, ...]]
    """The required keys."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Collect the keys."""
        cls.called = cls.__dict__.get("called") or cls.__name__.lower()
        cls.keys = {
            str(about.validation_alias or name): about
            for name, about in cls.model_fields.items()
            if _NOT_WRITTEN not in about.metadata
        }
        cls.needed = tuple(key for key, about in cls.keys.items() if _NEEDED in about.metadata)

    @classmethod
    def _written(cls, value: object, reading: MenuReading) -> Entries:
        """Return the mapping; values that come from its place in the file are added as plain ``str``."""
        if not isinstance(value, Entries):
            raise refused(f"{cls.called} has to be a mapping of keys to values")
        return value

    def _checked(self, place: Place) -> Self:
        """Record faults between the fields; return the part with each name spelled as in its definition."""
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _read(
        cls, value: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        reading = info.context
        if not isinstance(reading, MenuReading) or isinstance(value, cls):
            return handler(value)
        entries = cls._written(value, reading)
        given = Entries({}, entries.line, entries.lines)
        what = cls._what(entries.get("name") or entries.get("code"))
        faults = len(reading.faults)
        for key, inner in entries.items():
            if key not in cls.keys and type(inner) is not str:
                # "{description: Potato, bacon.}" is a description and a key without a value.
                hint = (
                    " - a text with a comma needs quotes"
                    if inner is None
                    else did_you_mean(key, cls.keys)
                )
                message = f'{what} has no key "{key}"{hint}'
                reading.fault(entries.lines[key], message)
            elif inner is not None:
                given[key] = inner
        for key in cls.needed:
            if key not in given:
                reading.fault(line_at(entries, (key,)), f'{what} needs "{key}"')
        while True:
            try:
                part = handler(given)
                break
            except ValidationError as error:
                found = [
                    one
                    for each in error.errors(include_url=False)
                    for one in cls._explained(each, what, given)
                ]
            for steps, kind, message in found:
                # A list may be too short only because faulty entries were dropped.
                if kind != "too_short" or not entries.get(str(steps[0])):
                    reading.fault(line_at(given, steps), message)
            left = _without(given, [steps for steps, *_ in found])
            # If even the placeholder is faulty the whole value is dropped.
            given = left if left != given else _without(given, [s[:1] for s, *_ in found])
        place = Place(reading, what, entries, given, len(reading.faults) == faults)
        part = part._checked(place)
        reading.places[id(part)] = place
        return part

    @classmethod
    def _what(cls, name: object) -> str:
        if isinstance(name, str) and name and cls.called.startswith("a "):
            return f'{cls.called.replace("a ", "the ", 1)} "{name}"'
        return cls.called

    @classmethod
    def _explained(
        cls, error: ErrorDetails, what: str, given: Entries
    ) -> Iterator[tuple[Steps, str, str]]:
        """Convert pydantic's error into faults: the path, the type, and a message of each."""
        steps, kind, context = error["loc"], error["type"], error.get("ctx", {})
        if isinstance(given.get(str(steps[0])), Text):  # one value instead of a list
            steps = steps[:1]
        key = _called(steps)
        message = explained(error)
        if kind == "too_short":
            message = f"{what} has no {key}"
        elif kind.startswith(("int_", "greater_", "less_")):
            about = cls.keys[key].metadata
            least = next(one.ge for one in about if isinstance(one, Ge))
            bounds = f"from {least} to {next(one.le for one in about if isinstance(one, Le))}"
            outside = f"{bounds}, not {error['input']}" if "than" in kind else ""
            message = f"{key} has to be {outside or f'a whole number {bounds}'}"
        elif kind == "literal_error":
            message = f"{key} has to be {_expected(error)}"
        elif isinstance(faulty := context.get("error"), Faulty):
            for below, one in faulty.faults:
                path = (*steps, *below)
                replaced = one.replace("{key}", key)
                yield path, kind, replaced if replaced != one else f"{_called(path)} {one}"
            return
        elif kind != "refused":
            message = f"{key} {_EXPLAINED.get(kind, message)}"
        yield steps, kind, message


def _called(steps: Steps) -> str:
    """Return the name of the value at a path, for messages.

    >>> _called(("with", 0)), _called(("price", "small"))
    ('a value of with', 'price for small')
    """
    if isinstance(steps[-1], int):
        return f"a value of {_called(steps[:-1])}"
    return " for ".join(str(step) for step in steps if step != KEY)


def _expected(error: ErrorDetails) -> str:
    values, written = _EXPECTED.findall(error.get("ctx", {})["expected"]), error["input"]
    possible = " or ".join(values) if len(values) < 3 else "one of " + ", ".join(values)
    if not isinstance(written, str):
        return possible
    hint = did_you_mean(written, values) if len(values) > 2 else ""
    return f'{possible}, not "{written}"{hint}'


def _without(entries: Entries, faulty: Iterable[Steps]) -> Entries:
    """Remove faulty values; a faulty amount becomes 0, so that its name is still known."""
    kept = Entries(entries, entries.line, entries.lines)
    below: dict[str, list[Steps]] = {}
    for first, *rest in faulty:
        if rest and rest != [KEY]:
            below.setdefault(str(first), []).append(tuple(rest))
        else:
            kept.pop(str(first), None)
    for key, paths in below.items():
        inner = kept.get(key)
        if isinstance(inner, Items):
            gone = {path[0] for path in paths}
            left = (one for at, one in enumerate(inner) if at not in gone)
            kept[key] = Items(left, inner.line)
        elif isinstance(inner, Entries):
            amounts = {
                str(path[0]): Text("0", inner.line)
                for path in paths
                if len(path) == 1 and inner.get(str(path[0])) not in (None, "0")
            }
            kept[key] = Entries(_without(inner, paths) | amounts, inner.line, inner.lines)
        else:
            kept.pop(key, None)
    return kept
