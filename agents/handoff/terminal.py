"""A call in plain text lines: standard input to the agents, their replies to standard output.

For trying out agents. An application's own terminal uses ``Call.subscribe`` and ``Call.user_said``.
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
from agents.handoff.handoffs import Models
from agents.handoff.sessions import start_text, stop


async def talk(
    call: Call[Any, Any],
    model: LLM[Any],
    *,
    llm_by_agent: Models | None = None,
    lines: Iterable[str] | None = None,
    out: TextIO | None = None,
) -> EndReason:
    """Run a text call until the input or the call ends; returns why it ended.

    Each line is one user message; the next one is read when it is the user's turn. Blank lines are
    skipped. Handoffs and failed tools are shown in brackets.

    Args:
        call: The call, not started.
        model: The language model of its agents without their own.
        llm_by_agent: As for ``start_text``.
        lines: The user's messages; standard input by default.
        out: Where everything is written; standard output by default.
    """
    shown = out or sys.stdout
    typed = lines is None and sys.stdin.isatty()

    def show(event: Event) -> None:
        text = _format(event)
        if text is not None and not (typed and isinstance(event, Heard)):
            shown.write(f"{_harmless(text)}\n")
            shown.flush()

    unsubscribe = call.subscribe(show)
    next_line = _StdinLines().next_line if lines is None else _GivenLines(lines).next_line
    try:
        await start_text(call, model, llm_by_agent=llm_by_agent)
        await call.answered()
        while call.ended is None and (line := await next_line()) is not None:
            if words := line.strip():
                call.user_said(words)
                await call.answered()
        await call.slow_tools.told()
        call.end("input_ended")
    finally:
        unsubscribe()
        await stop(call)
    return call.ended or "input_ended"


def _format(event: Event) -> str | None:
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
    """Remove control characters, which a terminal would execute."""
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")


class _GivenLines:
    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    async def next_line(self) -> str | None:
        return next(self._lines, None)


class _StdinLines:
    """Reads standard input in daemon threads: the event loop runs on, the process can exit.

    Unbuffered: a thread that holds the buffer's lock at interpreter exit would abort the process.
    """

    def __init__(self) -> None:
        self._input = io.FileIO(sys.stdin.fileno(), closefd=False)

    async def next_line(self) -> str | None:
        loop = asyncio.get_running_loop()
        line_read: asyncio.Future[bytes] = loop.create_future()

        def deliver(line: bytes) -> None:
            if not line_read.done():
                line_read.set_result(line)

        def read() -> None:
            line = b""
            with contextlib.suppress(OSError):  # the terminal is gone: end of input
                line = self._input.readline()
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(deliver, line)

        threading.Thread(target=read, name="stdin", daemon=True).start()
        return (await line_read).decode(errors="replace") or None
