import asyncio
import os
import threading

import pytest

from agents.app.terminal.input import MAX_LINE, InputLines, PipedLines


def piped(raw: bytes) -> list[str]:
    source, sink = os.pipe()

    def write() -> None:
        with os.fdopen(sink, "wb") as out:
            out.write(raw)

    writer = threading.Thread(target=write)
    writer.start()
    lines = PipedLines(source)
    try:
        return list(iter(lines, None))
    finally:
        writer.join()
        os.close(source)


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"two pizzas\nthat is all\n", ["two pizzas", "that is all"]),
        (b"no newline at the end", ["no newline at the end"]),
        (b"\xef\xbb\xbfa mark in front\n", ["a mark in front"]),
        (b"from Windows\r\n\r\n", ["from Windows\r", "\r"]),
        (
            "caf\N{LATIN SMALL LETTER E WITH ACUTE}".encode(),
            ["caf\N{LATIN SMALL LETTER E WITH ACUTE}"],
        ),
        (b"caf\xe9, not UTF-8\n", ["caf\N{REPLACEMENT CHARACTER}, not UTF-8"]),
        (b"\x00\x1b[31m\n", ["\x00\x1b[31m"]),
    ],
)
def test_lines_come_out_of_a_pipe_as_they_went_in(raw: bytes, lines: list[str]) -> None:
    assert piped(raw) == lines


def test_a_line_without_end_is_not_kept_whole() -> None:
    lines = piped(b"a" * 1_000_000 + b"\nthe next\n")

    assert len(lines[0]) <= 4 * MAX_LINE
    assert lines[1:] == ["the next"]


async def test_blank_lines_are_no_turns() -> None:
    given = iter(["", "  \t", "hello ", None])
    lines = InputLines(lambda: next(given))

    assert await lines.following() == "hello"
    assert await lines.following() is None


async def test_the_length_of_a_line_is_limited() -> None:
    lines = InputLines(lambda: "a" * (MAX_LINE + 5))

    assert len(await lines.following() or "") == MAX_LINE


async def test_a_blocked_reader_does_not_delay_the_exit() -> None:
    stuck = threading.Event()
    lines = InputLines(lambda: "too late" if stuck.wait() else None)
    waiting = asyncio.ensure_future(lines.following())
    await asyncio.sleep(0)

    lines.leave()

    assert await waiting is None
    assert await lines.following() is None
    stuck.set()


async def test_a_terminal_that_is_gone_is_the_end() -> None:
    def read() -> str:
        raise OSError("the line is cut")

    assert await InputLines(read).following() is None
