"""What every test of workers may rely on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.app.serving.processes import House, Running
from tests.livekit import LiveKit


@pytest.fixture
def house(livekit: LiveKit, tmp_path: Path) -> House:
    """A LiveKit server, and a name for this test's workers."""
    return House(livekit, tmp_path)


@pytest.fixture(scope="module")
def one_house(livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> House:
    """A LiveKit server, and a name for the workers of a module of tests."""
    return House(livekit, tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="module")
def one_worker(one_house: House) -> Iterator[Running]:
    """A worker for a module of tests."""
    with one_house.starting() as running:
        yield running
