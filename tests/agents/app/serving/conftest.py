"""What every test of workers may rely on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.app.serving.processes import Deployment, Running
from tests.livekit import LiveKit


@pytest.fixture
def deployment(livekit: LiveKit, tmp_path: Path) -> Deployment:
    """A LiveKit server, and a name for this test's workers."""
    return Deployment(livekit, tmp_path)


@pytest.fixture(scope="module")
def shared_deployment(livekit: LiveKit, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """A LiveKit server, and a name for the workers of a module of tests."""
    return Deployment(livekit, tmp_path_factory.mktemp("deployment"))


@pytest.fixture(scope="module")
def one_worker(shared_deployment: Deployment) -> Iterator[Running]:
    """A worker for a module of tests."""
    with shared_deployment.starting() as running:
        yield running
