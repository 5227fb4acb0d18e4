"""The databases that every promise of the journal is tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Server, server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server that lives as long as the tests."""
    with server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, once a file and once on a server."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/boards.db"
    running: Server = request.getfixturevalue("postgresql")
    return running.new_database()
