"""The guest's lines, one at a time, while the event loop goes on.

Each read runs in a daemon thread of its own: a thread that is stuck in a read can neither be cancelled nor
joined, and the process must be able to end all the same.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable

LONGEST = 8_000
"""How many characters of one line are taken in; the rest of it is dropped."""

_CHUNK = 65_536


class Lines:
    """What the guest types or pipes in.

    Args:
        read: Waits for one line and returns it, or ``None`` at the end. Called in a thread.
        close: Cleans up after a read that will never come back.
    """

    def __init__(
        self, read: Callable[[], str | None], *, close: Callable[[], None] = lambda: None
    ) -> None:
        self.left = False
        self.close = close
        self._read = read
        self._waiting: asyncio.Future[str | None] | None = None

    async def following(self) -> str | None:
        """Wait for the next line that is not blank; ``None`` when there is none, or the guest left."""
        while not self.left:
            line = await self._one()
            if line is None:
                return None
            if words := line.strip():
                return words[:LONGEST]
        return None

    def leave(self) -> None:
        """Wait for no further line; who is waiting is told that there is none."""
        self.left = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _one(self) -> str | None:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[str | None] = loop.create_future()
        self._waiting = waiting

        def read() -> None:
            try:
                line = self._read()
            except (OSError, EOFError):  # the terminal is gone, or Ctrl-D was pressed
                line = None
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_hand_in, waiting, line)

        threading.Thread(target=read, name="guest", daemon=True).start()
        return await waiting


def _hand_in(waiting: "asyncio.Future[str | None]", line: str | None) -> None:
    if not waiting.done():
        waiting.set_result(line)


class PipedLines:
    """Reads lines from a file descriptor; call it for the next one.

    It reads past Python's own buffer: a daemon thread that holds that buffer's lock when the process ends
    would abort it. What is not UTF-8 is replaced.

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
            # Four bytes are the most a character takes: what lies beyond is not kept.
            line += found[: max(0, 4 * LONGEST - len(line))]
            if newline or self._at_end:
                break
            self._rest = os.read(self._descriptor, _CHUNK)
            self._at_end = not self._rest
        self._rest = rest
        if not newline and not line:
            return None
        encoding, self._first = ("utf-8-sig" if self._first else "utf-8"), False
        return line.decode(encoding, errors="replace")
