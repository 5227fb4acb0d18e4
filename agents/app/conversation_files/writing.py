"""Writes values in the YAML of conversation files, and files atomically."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.app.faults import InputError
from agents.app.terminal.stdio import json_line

_PLAIN = re.compile(r"[^\W\d_][\w .%&/'-]*(?<![ ])")
_PLAIN_LINE = re.compile(r"[^\W\d_][\w .%&/'$€£,;?!()+-]*(?<![ ])")
"""More characters may be unquoted outside brackets and braces."""

_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words, in lower case, that some YAML readers do not read as text."""

_YAML_ESCAPES = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff", 0x85: "\\u0085"}
"""Characters that JSON does not escape, and that YAML refuses or treats as a line end."""


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
    """Write the value of a key that is alone on its line.

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
    visible = text.isprintable() and json_line(text) == f'"{text}"'
    if visible and plain.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return json_line(text).translate(_YAML_ESCAPES)


class OutputFile:
    """A file that is written atomically, perhaps several times.

    Args:
        new: Whether it must not exist before the first write.

    Raises:
        InputError: It cannot be written there, or exists and must not.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._new = new
        if new and os.path.lexists(path):
            raise InputError([f"{path} exists already: name a new file, or delete this one"])
        if path.is_dir():
            raise InputError([f"{path} is a folder, not a file"])
        if not path.parent.is_dir():
            raise InputError([f"{path}: there is no folder {path.parent}"])
        if not os.access(path.parent, os.W_OK):
            raise InputError([f"{path}: the folder {path.parent} cannot be written to"])

    def write(self, data: bytes) -> None:
        """Replace the file atomically.

        Raises:
            FileExistsError: It must be new, and another program has created it meanwhile.
            OSError: It cannot be written.
        """
        if self.path.exists() and not self.path.is_file():  # a device or a pipe
            self.path.write_bytes(data)
            return
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if self._new:
                self._create(unfinished)
                self._new = False
            else:
                os.replace(unfinished, self.path)
        finally:
            with suppress(OSError):
                unfinished.unlink()

    def _create(self, unfinished: Path) -> None:
        """Give the complete file its name, unless a file of that name exists."""
        try:
            os.link(unfinished, self.path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if os.path.lexists(self.path):
                raise FileExistsError(17, "File exists", str(self.path)) from None
            os.replace(unfinished, self.path)
