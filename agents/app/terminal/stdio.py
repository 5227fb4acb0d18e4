"""Writes a command's results to stdout, as text or JSON lines, and its errors to stderr, without tracebacks."""

import json
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

from pydantic import JsonValue

_COMMANDS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")})


def make_streams_safe() -> None:
    """Make the standard streams accept any text.

    Characters that a terminal cannot show are replaced; pipes and files use UTF-8. A stream that
    was closed before the process started is replaced by the null device.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        if isinstance(stream, TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")


def printable(text: str) -> str:
    r"""Remove control characters that a terminal would execute.

    >>> printable("no such order: \x1b[2J7\x9b1m")
    'no such order: [2J71m'
    """
    return text.translate(_COMMANDS)


def say(text: str) -> None:
    """Write a result to stdout immediately; exit quietly if the reader has closed the pipe.

    Raises:
        SystemExit: The pipe is closed.
    """
    write_line(printable(text))


def write_line(text: str) -> None:
    """Write a line to stdout as ``say`` does, without removing control characters.

    Raises:
        SystemExit: The pipe is closed.
    """
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        sys.exit(0)


def print_error(*lines: str) -> None:
    """Write errors to stderr, if it can be written to."""
    with suppress(OSError):
        for line in lines:
            sys.stderr.write(f"{printable(line)}\n")


def discard_stdout() -> None:
    """Redirect stdout to the null device after its reader has closed it.

    The interpreter flushes stdout once more at exit, which would fail otherwise.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_UNSEEN = (
    *((0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F)),
    *((0x2028, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xE0000, 0xE007F)),
)
_ESCAPED = {
    code: json.dumps(chr(code))[1:-1] for first, last in _UNSEEN for code in range(first, last + 1)
}
"""Characters that JSON allows in a text, and that a reader may treat as a line end or a terminal
control code."""


def json_line(data: JsonValue) -> str:
    """Serialize an object as one line of UTF-8.

    >>> json_line({"text": "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "half": chr(0xD800)})
    '{"text": "café", "half": "?"}'
    >>> json_line({"by": float("inf")})
    '{"by": "Infinity"}'
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a model may send 1e999 as a tool's argument
        finite = json.loads(json.dumps(data), parse_constant=str)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8").translate(_ESCAPED)
