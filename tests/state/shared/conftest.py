"""The databases that every promise of the journal is tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once a file and once on a server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/boards.db"
        return
    running: Server = request.getfixturevalue("postgresql")
    with running.empty_database() as lent:
        yield lent
