"""Every conversation in this folder is a test, named after its file."""

from pathlib import Path

import pytest

from bella_vista.app import APP
from bella_vista.conversations import load_conversation
from bella_vista.menus import OWN
from bella_vista.replay import Defaults, run_conversation

FILES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_conversation_holds(path: Path) -> None:
    assert await run_conversation(load_conversation(path), Defaults(APP, menu=OWN)) == []
