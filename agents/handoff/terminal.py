"""A call in plain text lines: what somebody types goes in, what the agents say comes out.

For trying one's agents out. An application's own terminal is made of ``Call.listen`` and ``Call.hear``.
"""

import asyncio
import contextlib
import io
import sys
import threading
from collections.abc import Iterable
from typing import Any, TextIO

from livekit.agents.llm import LLM

from agents.handoff.call import Call
from agents.handoff.events import EndReason, Event, HandedOver, Heard, Said, ToolUsed
from agents.handoff.text import start_text, stop


async def talk(
    call: Call[Any, Any],
    model: LLM[Any],
    *,
    lines: Iterable[str] | None = None,
    out: TextIO | None = None,
) -> EndReason:
    """Hold a call in text until there are no more lines or the call ends; returns why it ended.

    A line is one thing the guest says; the next one is read when it is the guest's turn. Blank lines
    are left out. Handoffs, and tools that were not carried out, are shown in brackets.

    Args:
        call: The call, not started.
        model: The language model of its agents.
        lines: What the guest says; standard input when nothing is given.
        out: Where everything is written; standard output when nothing is given.
    """
    shown = out or sys.stdout
    typed = lines is None and sys.stdin.isatty()

    def show(event: Event) -> None:
        text = _line(event)
        if text is not None and not (typed and isinstance(event, Heard)):
            shown.write(f"{_harmless(text)}\n")
            shown.flush()

    leave = call.listen(show)
    following = _Typed().following if lines is None else _Given(lines).following
    try:
        await start_text(call, model)
        await call.answered()
        while call.ended is None and (line := await following()) is not None:
            if words := line.strip():
                call.hear(words)
                await call.answered()
        call.end("input_ended")
    finally:
        leave()
        await stop(call)
    return call.ended or "input_ended"


def _line(event: Event) -> str | None:
    match event:
        case Heard():
            return f"you: {event.text}"
        case Said():
            return f"{event.agent}: {event.text}"
        case HandedOver():
            return f"[{event.source} hands over to {event.target}]"
        case ToolUsed() if event.is_error:
            return f"[{event.name}: {event.output}]"
    return None


def _harmless(text: str) -> str:
    """Take out what a terminal would carry out instead of showing it."""
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")


class _Given:
    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    async def following(self) -> str | None:
        return next(self._lines, None)


class _Typed:
    """Standard input, read in daemon threads, so that the loop goes on and the process can end.

    Not through Python's buffer: a thread that holds its lock when the process ends would abort it.
    """

    def __init__(self) -> None:
        self._input = io.FileIO(sys.stdin.fileno(), closefd=False)

    async def following(self) -> str | None:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bytes] = loop.create_future()

        def hand_in(line: bytes) -> None:
            if not waiting.done():
                waiting.set_result(line)

        def read() -> None:
            line = b""
            with contextlib.suppress(OSError):  # the terminal is gone: there are no more lines
                line = self._input.readline()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(hand_in, line)

        threading.Thread(target=read, name="guest", daemon=True).start()
        return (await waiting).decode(errors="replace") or None
