"""The databases that every promise of the journal is tried on."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.postgres import Server
from tests.state.shared.by_hand import be_patient


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once a file and once on a server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/boards.db"
        return
    running: Server = request.getfixturevalue("postgresql")
    with running.empty_database() as lent:
        yield lent


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wait for locks and statements as long as a busy machine may need."""
    with monkeypatch.context() as limits:
        be_patient(limits.setattr)
        yield


@pytest.fixture
async def closing() -> AsyncIterator[AsyncExitStack]:
    """Closes what a test enters here, when the test is over."""
    async with AsyncExitStack() as entered:
        yield entered
