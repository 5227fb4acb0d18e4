"""Every conversation in this folder is a test, named after its file."""

from pathlib import Path

import pytest

from agents.app.replay.reading import load_conversation
from agents.app.replay.running import run_conversation
from bella_vista.app import APP

FILES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_conversation_holds(path: Path) -> None:
    assert await run_conversation(APP, load_conversation(APP, path)) == []
