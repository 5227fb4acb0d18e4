"""What every test of the application may rely on."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and home, with nothing set in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("MENU", "MODEL", "AT", "DATABASE"):
        monkeypatch.delenv(f"BELLA_VISTA_{name}", raising=False)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """Logging as it was found, after a command has turned it to its own ends."""
    root, livekit = logging.getLogger(), logging.getLogger("livekit")
    before = (root.handlers[:], root.level, livekit.level)
    yield
    for handler in set(root.handlers) - set(before[0]):
        handler.close()
    root.handlers[:], root.level, livekit.level = before
    logging.captureWarnings(False)
