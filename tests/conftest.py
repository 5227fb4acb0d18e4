"""What every test may rely on."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.postgres import Server, server

if TYPE_CHECKING:
    from tests.livekit import LiveKit


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server that lives as long as the tests."""
    with server() as running:
        yield running


@pytest.fixture(scope="session")
def livekit() -> "Iterator[LiveKit]":
    """A LiveKit server that lives as long as the tests."""
    from tests.livekit import livekit_server  # what needs no room need not load what joins one

    with livekit_server() as running:
        yield running


@pytest.fixture
def room_name() -> str:
    """A room that no other test has."""
    return f"room-{secrets.token_hex(8)}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where a server and several processes take part, a busy machine may need minutes for what takes a second."""
    for item in items:
        with_server = {"livekit", "own_server", "postgresql"} & {*getattr(item, "fixturenames", ())}
        if with_server and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(autouse=True)
async def _no_task_outlives_its_test() -> AsyncIterator[None]:
    """A test that leaves an asyncio task behind has found a leak, or is one."""
    before = asyncio.all_tasks()
    yield
    for _ in range(3):
        await asyncio.sleep(0)
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        pytest.fail(f"tasks were left behind: {[str(task.get_coro()) for task in left]}")
