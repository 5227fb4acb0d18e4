"""What every test of the application may rely on."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bella_vista.settings import Settings
from tests.postgres import Server


@pytest.fixture
def clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and home, with nothing set in the environment."""
    monkeypatch.chdir(tmp_path)
    for field in Settings.model_fields:
        monkeypatch.delenv(Settings.variable(field), raising=False)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once a file and once on a server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/orders.db"
        return
    running: Server = request.getfixturevalue("postgresql")
    with running.empty_database() as lent:
        yield lent


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
