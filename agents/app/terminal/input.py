"""Reads the user's lines, typed with editing or piped, without blocking the event loop.

Each read runs in a daemon thread of its own: a thread blocked in a read can be neither cancelled nor
joined, and must not keep the process from ending.
"""

import asyncio
import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator

PROMPT = "You: "

MAX_LINE = 8_000
"""The most characters of a line that are read; the rest is dropped."""

_CHUNK = 65_536


class InputLines:
    """The user's input, typed or piped.

    Args:
        read: Blocks for one line; returns ``None`` at the end. Runs in a thread.
        close: Cleans up after a read that never returns.
        hide: Removes the line that is being typed from the screen.
        redraw: Shows it again.
    """

    def __init__(
        self,
        read: Callable[[], str | None],
        *,
        close: Callable[[], None] = lambda: None,
        hide: Callable[[], None] = lambda: None,
        redraw: Callable[[], None] = lambda: None,
    ) -> None:
        self.left = False
        self.close = close
        self._hide = hide
        self._redraw = redraw
        self._read = read
        self._waiting: asyncio.Future[str | None] | None = None

    async def following(self) -> str | None:
        """Wait for the next non-blank line; ``None`` at the end or when the user has left."""
        while not self.left:
            line = await self._read_line()
            if line is None:
                return None
            if words := line.strip():
                return words[:MAX_LINE]
        return None

    def leave(self) -> None:
        """Stop reading; a waiting ``following`` returns ``None``."""
        self.left = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Write to the screen within this context; the line being typed is redrawn below the output."""
        typing = not self.left and self._waiting is not None and not self._waiting.done()
        if typing:
            self._hide()
        yield
        if typing:
            self._redraw()

    async def _read_line(self) -> str | None:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[str | None] = loop.create_future()
        self._waiting = waiting

        def read() -> None:
            try:
                line = self._read()
            except (OSError, EOFError):  # the terminal is gone, or Ctrl-D was pressed
                line = None
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(_set_result, waiting, line)

        threading.Thread(target=read, name="user input", daemon=True).start()
        return await waiting


def _set_result(waiting: "asyncio.Future[str | None]", line: str | None) -> None:
    if not waiting.done():
        waiting.set_result(line)


class PipedLines:
    """Reads lines from a file descriptor; call it for the next one.

    It does not use Python's buffer: a daemon thread that holds the buffer's lock at exit would abort
    the process. Invalid UTF-8 is replaced.

    Args:
        descriptor: Open for reading.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._first = True
        self._at_end = False

    def __call__(self) -> str | None:
        """Wait for the next line, without its end; ``None`` after the last."""
        line = bytearray()
        while True:
            found, newline, rest = self._rest.partition(b"\n")
            # A character takes at most four bytes; the rest of a long line is not kept.
            line += found[: max(0, 4 * MAX_LINE - len(line))]
            if newline or self._at_end:
                break
            self._rest = os.read(self._descriptor, _CHUNK)
            self._at_end = not self._rest
        self._rest = rest
        if not newline and not line:
            return None
        encoding, self._first = ("utf-8-sig" if self._first else "utf-8"), False
        return line.decode(encoding, errors="replace")


def is_dumb() -> bool:
    """Whether the terminal supports plain output only."""
    return os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")


def piped() -> InputLines:
    """Read lines from stdin."""
    # Without a stdin its descriptor may be that of another file.
    return InputLines(PipedLines(sys.stdin.fileno()) if sys.stdin is not None else lambda: None)


def typed(on_line: Callable[[str], None]) -> InputLines:
    """Prompt for each line, with editing and history where Python supports it.

    Args:
        on_line: Called with each line as it was typed.
    """
    typed_so_far: Callable[[], str] = str
    # With readline imported, input() edits lines. Without bracketed paste each pasted line is a turn.
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
        typed_so_far = readline.get_line_buffer

    def hide() -> None:
        rows = len(PROMPT + typed_so_far()) // shutil.get_terminal_size().columns
        up = f"\x1b[{rows}A" if rows else ""
        sys.stdout.write("\n" if is_dumb() else f"\r{up}\x1b[J")

    def redraw() -> None:
        sys.stdout.write(PROMPT + typed_so_far())
        sys.stdout.flush()

    def read() -> str:
        line = input(PROMPT)
        on_line(line)
        return line

    return InputLines(read, close=_restore_terminal_mode(), hide=hide, redraw=redraw)


def _restore_terminal_mode() -> Callable[[], None]:
    """Return a function that restores the terminal's mode, which a thread in ``input`` has changed."""
    try:
        import termios

        descriptor = sys.stdin.fileno()
        found = termios.tcgetattr(descriptor)
    except (ImportError, AttributeError, OSError, ValueError):
        return lambda: None

    def restore() -> None:
        with contextlib.suppress(termios.error, OSError, ValueError):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, found)

    return restore
