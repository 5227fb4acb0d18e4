"""Reads the steps of a scripted model from a file: ``--model script:FILE``."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from agents.app.faults import InputError

if TYPE_CHECKING:
    from agents.testing import ScriptedLLM

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,30})")
_DECIMAL = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?")


class ScriptFaults(InputError):
    """The file cannot be used as a script."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Part):
    """One tool call of the scripted model."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class ScriptStep(_Part):
    """One reply of the scripted model: what it says, what it calls, or both.

    Args:
        delay: How long it waits first, in seconds.
        error: It fails with this message after what it said.
        cut: The arguments of its last call break off in the middle.
    """

    say: str | None = None
    calls: tuple[ToolCall, ...] = ()
    delay: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = 0.0
    error: str | None = None
    cut: bool = False

    @model_validator(mode="after")
    def _does_something(self) -> "ScriptStep":
        if self.say is None and not self.calls and self.error is None:
            raise ValueError('a step needs "say", "calls" or "error"')
        if self.cut and not self.calls:
            raise ValueError('"cut" needs a call whose arguments can break off')
        return self


_STEPS = TypeAdapter(tuple[ScriptStep, ...])


def load_script(path: Path) -> tuple[ScriptStep, ...]:
    """Read the steps of a scripted model: a list of them, or any file with a ``script`` in it.

    Raises:
        ScriptFaults: Everything that is wrong with it.
    """
    steps = _steps(path)
    if not isinstance(steps, yaml.SequenceNode) or not steps.value:
        message = 'a script has to be a list of steps, or a mapping with the key "script"'
        raise ScriptFaults([f"{path}: {message}"])
    try:
        return _STEPS.validate_python(_data(steps))
    except ValidationError as error:
        raise ScriptFaults(
            f"{path}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        ) from None


def scripted(script: Iterable[ScriptStep]) -> "ScriptedLLM":
    """Build a model that replays the steps of a script."""
    # The test kit loads speech doubles; a process that serves users needs none of them.
    from agents.testing import ScriptedLLM, Step

    return ScriptedLLM(
        Step(
            say=step.say,
            calls=tuple((call.name, call.arguments) for call in step.calls),
            delay=step.delay,
            error=step.error,
            cut=step.cut,
        )
        for step in script
    )


def _steps(path: Path) -> yaml.Node | None:
    try:
        text = path.read_text(encoding="utf-8")
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.BaseLoader)
        aliases = [event for event in yaml.parse(text) if isinstance(event, yaml.AliasEvent)]
    except (OSError, UnicodeError) as error:
        raise ScriptFaults([f"{path} cannot be read: {error}"]) from None
    except yaml.YAMLError as error:
        raise ScriptFaults([f"{path} is not YAML: {error}"]) from None
    if aliases:
        raise ScriptFaults([f"{path}: an alias is not allowed: *{aliases[0].anchor}"])
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == "script"), None)
    return node


def _data(node: yaml.Node, *, typed: bool = False) -> JsonValue:
    """Return a node as plain values: texts as written, for pydantic to parse by the field's type.

    Only a tool's arguments have no declared type and are parsed as YAML 1.2 and JSON would.
    """
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, typed=typed) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return dict(_entries(node, typed))
    text: str = node.value
    if node.style is not None:
        return text
    if text in ("", "~", "null"):
        return None
    return _typed(text) if typed else text


def _entries(node: yaml.MappingNode, typed: bool) -> Iterator[tuple[str, JsonValue]]:
    for key, value in node.value:
        yield key.value, _data(value, typed=typed or key.value == "arguments")


def _typed(text: str) -> JsonValue:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
