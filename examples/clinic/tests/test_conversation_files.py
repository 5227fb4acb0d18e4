"""Every conversation file holds, as ``python -m examples.clinic replay`` says it."""

from pathlib import Path

import pytest

from agents.app.replay.reading import load_conversation
from agents.app.replay.running import run_conversation
from examples.clinic.app import APP

FILES = sorted(Path(__file__).with_name("conversations").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_conversation_holds(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_CALENDAR", str(tmp_path / "calendar.db"))

    assert await run_conversation(APP, load_conversation(APP, path)) == []
