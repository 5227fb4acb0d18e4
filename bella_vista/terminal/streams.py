"""What a command writes: results on stdout, complaints on stderr, and never an end with a traceback."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper

_COMMANDS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")})


def make_safe() -> None:
    """Let no text end the process: what a terminal cannot show is replaced, and all else is UTF-8.

    A stream that was closed before the process began is replaced by one that nobody reads.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        if isinstance(stream, TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")


def harmless(text: str) -> str:
    r"""Take out what a terminal would carry out instead of showing it.

    >>> harmless("no such order: \x1b[2J7\x9b1m")
    'no such order: [2J71m'
    """
    return text.translate(_COMMANDS)


def say(text: str) -> None:
    """Write a result at once; who stopped reading is let go in peace.

    Raises:
        SystemExit: Nobody reads any more.
    """
    try:
        sys.stdout.write(f"{harmless(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        nobody_reads()
        sys.exit(0)


def complain(*lines: str) -> None:
    """Write what is wrong, if anybody reads that."""
    with suppress(OSError):
        for line in lines:
            sys.stderr.write(f"{harmless(line)}\n")


def nobody_reads() -> None:
    """Take note that the reader of stdout has gone.

    The interpreter flushes stdout once more when it ends, and there must find somebody.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
