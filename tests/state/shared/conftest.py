"""The databases that every promise of the journal is tried on."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Server
from tests.state.shared.patience import be_patient


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


@pytest.fixture
async def no_complaints() -> AsyncIterator[None]:
    """Run the loop in debug mode; an error that was never retrieved fails the test."""
    loop = asyncio.get_running_loop()
    complaints: list[dict[str, Any]] = []
    loop.set_debug(True)
    loop.set_exception_handler(lambda loop, context: complaints.append(context))
    yield
    gc.collect()
    assert complaints == []
