"""Writes values as a person would write them in a conversation file."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.app.terminal.json_lines import json_line

_PLAIN = re.compile(r"[^\W\d_][\w .%&/'-]*(?<![ ])")
_PLAIN_LINE = re.compile(r"[^\W\d_][\w .%&/'$€£,;?!()+-]*(?<![ ])")
"""A text outside of brackets and braces may have more characters without quotes."""

_MEANINGS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words that some reader of YAML takes for something else than a text, in lower case."""

_NO_CHARACTERS = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff", 0x85: "\\u0085"}
"""Characters that JSON leaves as they are, and YAML refuses or takes for a line end."""


def flow(value: Any) -> str:
    """Write a value in one line, as YAML that this package reads as the same value.

    >>> flow({"name": "Margherita", "size": None, "modifications": ["no basil"], "count": 2})
    '{name: Margherita, size: null, modifications: [no basil], count: 2}'
    >>> flow(["yes", "17:30", "2", "it is ok", ""])
    '["yes", "17:30", "2", it is ok, ""]'
    """
    if isinstance(value, Mapping):
        entries = (f"{flow(str(key))}: {flow(inner)}" for key, inner in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(flow, value))}]"
    return _scalar(value, _PLAIN)


def line(value: Any) -> str:
    """Write the value of a key that has its line for itself.

    >>> line("two colas, please!"), line("note: none")
    ('two colas, please!', '"note: none"')
    """
    return _scalar(value, _PLAIN_LINE) if isinstance(value, str) else flow(value)


def block(entries: Mapping[str, Any], indent: str = "") -> str:
    """Write a mapping in lines, and each member of a list of mappings in a line of its own.

    >>> print(block({"stage": "open", "lines": [{"name": "Cola"}], "notes": []}, "  "), end="")
      stage: open
      lines:
        - {name: Cola}
      notes: []
    """
    text = ""
    for key, value in entries.items():
        text += f"{indent}{flow(key)}:"
        if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            text += "".join(f"\n{indent}  - {flow(one)}" for one in value) + "\n"
        else:
            text += f" {line(value)}\n"
    return text


def _scalar(value: Any, plain: "re.Pattern[str]") -> str:
    if value is None or isinstance(value, bool | int | float):
        return json_line(value)
    text = str(value)
    if plain.fullmatch(text) and text.lower() not in _MEANINGS and not _hidden(text):
        return text
    return json_line(text).translate(_NO_CHARACTERS)


def _hidden(text: str) -> bool:
    return not text.isprintable() or json_line(text) != f'"{text}"'
