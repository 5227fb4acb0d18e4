"""The clinic in a terminal: ``python -m examples.clinic``, without a key."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.processes


ROOT = Path(__file__).parents[3]


async def run(folder: Path, *words: str, typed: str = "") -> tuple[int | None, str]:
    """Run a command; return its exit code and what it wrote to standard output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "examples.clinic", *words),
        cwd=ROOT,
        env={
            **os.environ,
            "CLINIC_AT": "2026-11-22T10:00",
            "CLINIC_CALENDAR": str(folder / "calendar" / "calendar.db"),
            "CLINIC_DATABASE": f"sqlite:///{folder}/visits.db",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate(typed.encode())
    finally:
        if process.returncode is None:
            process.kill()
    assert b"Traceback" not in err, err.decode()
    return process.returncode, out.decode()


async def test_a_visit_is_booked_continued_and_shown(tmp_path: Path) -> None:
    typed = "I am Ada Lovelace, born 1990-12-10\nA check-up\ntuesday 9:30\nyes\n"
    code, out = await run(tmp_path, "console", "--events", typed=typed)
    events = [json.loads(line) for line in out.splitlines()]
    visit_id = events[0]["visit_id"]

    again, more = await run(
        tmp_path, "console", "--visit", visit_id, typed="that is all\nno\n5\nbye\n"
    )
    _, written = await run(tmp_path, "visits", "show", visit_id, "--transcript")
    shown, page = await run(tmp_path, "visits", "show", visit_id, "--json")
    view: dict[str, Any] = json.loads(page)

    assert (code, again, shown) == (0, 0, 0)
    assert [event["turn"] for event in events if event["type"] == "your_turn"] == [0, 1, 2, 3, 4]
    assert events[-1]["visit"]["stage"] == "booked"
    assert "May I send you a text message" in more
    assert "Goodbye!" in more
    assert "Patient" in next(line for line in written.splitlines() if "tuesday 9:30" in line)
    assert (view["slot"], view["rating"]) == ("2026-11-24T09:30:00-06:00", 5)
    assert (view["patient"]["phone"], view["text_sent"]) == ("...0142", None)
